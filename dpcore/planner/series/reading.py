"""Users and times from a table with a row per user and time, or a row per user and a column per time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import value_text
from dpcore.files.sheet import number_in
from dpcore.planner.series.fit import Panel
from dpcore.planner.series.model import MOST_RELEASES
from dpcore.words import grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.files.columns import CodedColumn
    from dpcore.files.microdata import Microdata


def read_panel(data: Microdata, user: str, time: str = "", value: str = "", *, lower: float, upper: float) -> Panel:
    """Return users and times of a table.

    Parameters
    ----------
    data : Microdata
        What `dpcore.files.microdata.read_microdata` returned.
    user : str
        The column that names the users.
    time, value : str, default ""
        The columns of times and values, for a row per user and time. Without them every other column is a time, in
        its order, for a row per user.
    lower, upper : float
        Public bounds; a value outside is moved to the nearer one.

    Returns
    -------
    Panel
        Values by user and time; times in the order of their numbers, or otherwise of their texts.
    """
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        msg = f"The lower bound must be below the upper bound, both finite; got {numeral(lower)} and {numeral(upper)}."
        raise DomainError(msg)
    if bool(time) != bool(value):
        msg = "time and value belong together: name both columns, or neither if every other column is a time."
        raise DomainError(msg)
    people = data.column(user)
    if people.missing.any():
        row = data.row_number(people.row_of(int(np.argmax(people.missing))))
        msg = f"Row {grouped(row)}: column {value_text(user)} must name a user, got a missing value."
        raise DomainError(msg)
    if time:
        values, times = _long(data, people, data.column(time), data.column(value))
        measured = [data.column(value)]
    else:
        values, times = _wide(data, people)
        measured = [one for one in data.columns if one.name != people.name]
    if not 2 <= len(times) <= MOST_RELEASES:
        msg = f"A series needs 2 to {MOST_RELEASES} times, got {len(times)}."
        raise DomainError(msg)
    notes = list(data.notes)
    notes += data.comma_words([time, value] if time else [name for name in data.names if name != user])
    gaps = int(np.isnan(values).sum())
    if gaps == values.size:
        msg = "The table has no value: every cell is missing."
        raise DomainError(msg)
    if gaps:
        first = _first_gap(data, measured) or _first_pair(people, times, values)
        notes.append(f"{grouped(gaps)} of {grouped(values.size)} values are missing (the first: {first}).")
    with np.errstate(invalid="ignore"):
        outside = int(((values < lower) | (values > upper)).sum())
    if outside:
        notes.append(
            f"{grouped(outside)} value{'s' * (outside > 1)} outside [{nearest(lower)}, {nearest(upper)}] moved to the nearer bound (clipped)."
        )
    return Panel(np.clip(values, lower, upper), people.texts, times, float(lower), float(upper), tuple(notes))


def _long(
    data: Microdata, people: CodedColumn, moments: CodedColumn, column: CodedColumn
) -> tuple[FloatArray, tuple[str, ...]]:
    if moments.missing.any():
        row = data.row_number(moments.row_of(int(np.argmax(moments.missing))))
        msg = f"Row {grouped(row)}: column {value_text(moments.name)} must name a time, got a missing value."
        raise DomainError(msg)
    numbers = data.parsed(column, "a number", missing=True)[column.codes]
    order = _order(moments.texts, comma=data.comma)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    cell = people.codes.astype(np.int64) * len(order) + place[moments.codes]
    _check_once(data, people, moments, cell)
    values = np.full(len(people.texts) * len(order), np.nan)
    values[cell] = numbers
    return values.reshape(len(people.texts), len(order)), tuple(moments.texts[one] for one in order.tolist())


def _first_gap(data: Microdata, measured: list[CodedColumn]) -> str:
    """Name the first row with a missing value; return nothing if every row is complete."""
    gaps = [(int(np.argmax(one.missing[one.codes])), one.name) for one in measured if one.missing.any()]
    if not gaps:
        return ""
    place, name = min(gaps, key=lambda gap: gap[0])
    return f"row {grouped(data.row_number(place))}" + (f", column {value_text(name)}" if len(measured) > 1 else "")


def _first_pair(people: CodedColumn, times: tuple[str, ...], values: FloatArray) -> str:
    """Name the first user without a row at some time."""
    user, moment = np.argwhere(np.isnan(values))[0].tolist()
    return f"no row for user {value_text(people.texts[user])} at {value_text(times[moment])}"


def _order(times: tuple[str, ...], *, comma: bool) -> NDArray[np.int64]:
    """Return the order of the times: as numbers if all are numbers, otherwise as texts."""
    numbers = [number_in(text, comma=comma) for text in times]
    if all(number is not None for number in numbers):
        return np.argsort(np.array(numbers, dtype=np.float64), kind="stable")
    return np.argsort(np.array(times, dtype=str), kind="stable")


def _check_once(data: Microdata, people: CodedColumn, moments: CodedColumn, cell: NDArray[np.int64]) -> None:
    _, first, counts = np.unique(cell, return_index=True, return_counts=True)
    if counts.max() == 1:
        return
    which = int(cell[first[np.argmax(counts > 1)]])
    one, two = np.flatnonzero(cell == which)[:2].tolist()
    user, moment = people.texts[people.codes[two]], moments.texts[moments.codes[two]]
    msg = (
        f"Row {grouped(data.row_number(two))}: user {value_text(user)} has a value at {value_text(moment)} already, in row "
        f"{grouped(data.row_number(one))}."
    )
    raise DomainError(msg)


def _wide(data: Microdata, people: CodedColumn) -> tuple[FloatArray, tuple[str, ...]]:
    if len(people.texts) < data.rows:
        twice = int(np.argmax(people.counts > 1))
        row = data.row_number(int(np.flatnonzero(people.codes == twice)[1]))
        msg = (
            f"Row {grouped(row)}: user {value_text(people.texts[twice])} has a row already; if rows are users at one time each, "
            "name the columns of time and value."
        )
        raise DomainError(msg)
    columns = [one for one in data.columns if one.name != people.name]
    values = [data.parsed(one, "a number", missing=True)[one.codes] for one in columns]
    table = np.column_stack(values) if values else np.empty((data.rows, 0))
    return np.asarray(table, dtype=np.float64), tuple(one.name for one in columns)
