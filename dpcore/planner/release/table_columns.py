"""Columns of a table as a plan uses them: every cell without a usable value is counted, and the first one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.sheet import number_in
from dpcore.utility.dataset import OTHER
from dpcore.words import grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.files.columns import CodedColumn
    from dpcore.files.microdata import Microdata

    Places = NDArray[np.signedinteger[Any]]
    FloatArray = NDArray[np.float64]
    Flags = NDArray[np.bool_]

EMPTY: Final = -1  # the index of a cell without text


def number_cells(data: Microdata, column: CodedColumn) -> tuple[FloatArray, list[str]]:
    """Return the numbers of a column, nan where there is none, and sentences about those cells; a column without any is refused."""
    values = [number_in(text, comma=data.comma) for text in column.texts]
    wrong: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        if value is None:
            wrong.setdefault("empty" if column.missing[place] else "not a number", []).append(place)
    parts = []
    for why, places in wrong.items():  # distinct texts come in the order of their first rows
        row, text = data.row_number(column.row_of(places[0])), column.texts[places[0]]
        example = f": {value_text(text)}" if text else ""
        parts.append(f"{grouped(int(column.counts[places].sum()))} {why} (the first in row {grouped(row)}{example})")
    if all(value is None for value in values):
        msg = f"Column {value_text(column.name)} gives no number: of its {grouped(data.rows)} rows, {', '.join(parts)}."
        raise DomainError(msg)
    cells = np.array([np.nan if value is None else value for value in values])[column.codes]
    words = f"Cells of column {value_text(column.name)} without a number: {', '.join(parts)}; they are left out."
    return cells, [*([words] if parts else []), *data.comma_words([column.name])]


def text_cells(data: Microdata, column: CodedColumn) -> tuple[Places, tuple[str, ...], list[str]]:
    """Return the place of each cell among the texts of a column, the texts, and sentences about empty cells."""
    names = [text for text, missing in zip(column.texts, column.missing, strict=True) if not missing]
    places = np.where(column.missing, EMPTY, np.cumsum(~column.missing) - 1).astype(np.int32)
    empty = int(column.counts[column.missing].sum())
    if empty == data.rows:
        msg = f"Column {value_text(column.name)} has no text: all its {grouped(data.rows)} rows are empty."
        raise DomainError(msg)
    words = f"{_cells(empty, 'empty cell')} in column {value_text(column.name)}: no condition holds there."
    return places[column.codes], tuple(names), [words] if empty else []


def undeclared(data: Microdata, column: CodedColumn, names: tuple[str, ...]) -> list[str]:
    """Say how many cells of a column contain an answer that was not declared."""
    known = {*names}
    others = [place for place, text in enumerate(column.texts) if text not in known and not column.missing[place]]
    if not others:
        return []
    row = grouped(data.row_number(column.row_of(others[0])))
    first = f"(the first in row {row}: {value_text(column.texts[others[0]])})"
    count = _cells(int(column.counts[others].sum()), "answer")
    return [f"{count} of column {value_text(column.name)} not declared {first}: counted as {OTHER!r}."]


def _cells(count: int, what: str) -> str:
    return f"{grouped(count)} {what}{'s' * (count != 1)}"


def bounded(data: Microdata, persons: CodedColumn, limit: int) -> tuple[Flags, list[str]]:
    """Return which records are among the first `limit` of their person, and sentences about the others."""
    known = ~persons.missing[persons.codes]
    if not known.any():
        msg = f"No record has a person in column {value_text(persons.name)}: there is nothing to release."
        raise DomainError(msg)
    order = np.argsort(persons.codes, kind="stable")
    ordered = persons.codes[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered, side="left")
    beyond, counts = known & (rank >= limit), persons.counts[~persons.missing]
    words = [
        f"{grouped(len(counts))} persons in column {value_text(persons.name)}, at most {grouped(int(counts.max()))} records each."
    ]
    if beyond.any():
        row = grouped(data.row_number(int(np.argmax(beyond))))
        words.append(
            f"{grouped(int((counts > limit).sum()))} persons have more than {limit} records: {grouped(int(beyond.sum()))} records "
            f"beyond are left out (the first in row {row})."
        )
    if not known.all():
        row = grouped(data.row_number(int(np.argmin(known))))
        words.append(f"{grouped(int((~known).sum()))} records without a person are left out (the first in row {row}).")
    return known & ~beyond, words
