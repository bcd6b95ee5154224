"""One column of a user's CSV as numbers or as answers, with every loss counted and reported.

Nothing is kept: the bytes belong to the caller, and each function reads them from the start.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
from dpcore.files.columns import read_columns
from dpcore.files.sheet import LONGEST_NAME, MISSING, number_in, rows_of
from dpcore.utility.dataset import OTHER, Dataset
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.files.columns import CodedRows
    from dpcore.files.sheet import Sheet

MOST_LABELS = 100
OUTSIDE = ("clip", "drop")
OTHERS = ("count", "drop")
UNDECLARED = (
    "Declare the categories from what is known without the data. If they were read off the data, the mere existence of a "
    "bin such as one for a single chief executive would reveal that this person is in the data, whatever noise its count gets."
)
_NOWHERE = -1  # the bin of a cell that gives no answer
_COUNTED_OUT = "Whether a row is left out depends on its value, and the number of remaining rows is treated as public, so it reveals this."


@dataclass(frozen=True)
class ColumnReading:
    """One column, cleaned: ``rows == dataset.n + sum(dropped.values())``, so that nothing is lost silently.

    The counts depend on the data: they are for its owner, and must not be published beside a private release.

    Attributes
    ----------
    dataset : Dataset
        The numbers within their bounds, or the answers as places in their list.
    rows : int
        Data rows of the file, empty lines between them included.
    dropped : dict of str to int
        Why a row gives no value -> how many rows.
    clipped : tuple of (int, int)
        How many values were moved up to the lower and down to the upper bound.
    notes : tuple of str
        All of this in sentences.
    commas : bool, default False
        Whether a comma was read as the decimal sign.
    """

    dataset: Dataset = field(repr=False)
    rows: int
    dropped: dict[str, int]
    clipped: tuple[int, int]
    notes: tuple[str, ...]
    commas: bool = False

    @property
    def unusual(self) -> bool:
        """Whether the owner must be told: a row was lost, a value moved, or a comma read as the decimal sign."""
        return bool(self.dropped) or any(self.clipped) or self.commas


def read_numbers(sheet: Sheet, column: str, low: float, high: float, outside: str = "clip") -> ColumnReading:
    """Return a column as numbers between two bounds.

    The bounds must be chosen without looking at the data: the noise protects a person only within them.

    Parameters
    ----------
    sheet : Sheet
        What `open_csv` returned.
    column : str
        Its name.
    low, high : float
        Bounds of the values.
    outside : str, default "clip"
        ``clip`` moves a value outside to the nearer bound, ``drop`` leaves its row out; both are counted, and true
        answers are those of all numbers of the column.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        msg = f"The lower bound must be below the upper bound, both finite; got {numeral(low)} and {numeral(high)}."
        raise DomainError(msg)
    one_of("outside", OUTSIDE).check(outside)
    notes = _Tally(read_columns(sheet, [column]))
    cells = _numbers(notes, comma=sheet.comma)[notes.column.codes]
    values = cells[~np.isnan(cells)]
    below, above = int((values < low).sum()), int((values > high).sum())
    clipped = (below, above) if outside == "clip" else (0, 0)
    inside = values[(values >= low) & (values <= high)] if outside == "drop" else values
    if outside == "drop":
        notes.dropped["outside the bounds"] = below + above
    if not len(inside):
        raise notes.nothing(column, "number")
    if len(inside) < len(values):
        data = Dataset(inside, np.array(low), np.array(high), column, original=values)
    else:
        data, _ = Dataset.clipped(values, low, high, column)
    sentences = notes.words(column, data.n, "numbers")
    if any(clipped):
        sentences.append(_clipped_words(below, above, low, high))
    if outside == "drop" and below + above:
        sentences.append(_COUNTED_OUT)
    return ColumnReading(data, notes.rows, notes.lost(), clipped, tuple(sentences), bool(notes.commas))


def read_column(
    sheet: Sheet,
    column: str = "",
    *,
    lower: float | None = None,
    upper: float | None = None,
    outside: str = OUTSIDE[0],
    categories: str | Sequence[str] = (),
    others: str = OTHERS[0],
) -> ColumnReading:
    """Return a column as numbers between two bounds, or as answers from a declared list.

    Parameters
    ----------
    sheet : Sheet
        What `open_csv` returned.
    column : str, default ""
        Its name; the first column by default.
    lower, upper : float, optional
        Bounds of numbers, as in `read_numbers`.
    outside : str, default "clip"
        As in `read_numbers`.
    categories : str or sequence of str, default ()
        The answers there may be, as in `read_labels`.
    others : str, default "count"
        As in `read_labels`.

    Returns
    -------
    ColumnReading
        The data, and what became of every row.
    """
    name = column or sheet.columns[0]
    if (lower is None) != (upper is None):
        msg = "lower and upper, the public bounds of the column, belong together: give both."
        raise DomainError(msg)
    if lower is not None and upper is not None:
        return read_numbers(sheet, name, lower, upper, outside)
    if not categories:
        msg = f"Give lower and upper for numbers, or categories for answers. {UNDECLARED}"
        raise DomainError(msg)
    return read_labels(sheet, name, categories, others)


def declared(categories: str | Sequence[str], most: int = MOST_LABELS) -> tuple[str, ...]:
    """Return a list of categories, checked: a sequence, or one text with commas between them (a CSV row).

    Parameters
    ----------
    categories : str or sequence of str
        The answers there may be, declared before the data are seen, in the order of their bins.
    most : int, default MOST_LABELS
        How many are allowed.
    """
    rows = (
        list(rows_of(csv.reader([categories], skipinitialspace=True))) if isinstance(categories, str) else [categories]
    )
    names = tuple(" ".join(str(name).split()) for row in rows for name in row)
    if not 1 <= len(names) <= most or "" in names:
        msg = f'categories must be 1 to {most} names such as "A,B,C", none of them empty, got {value_text(categories)}.'
        raise DomainError(msg)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"categories must be different from each other, got {value_text(twice)} twice."
        raise DomainError(msg)
    longest = max(names, key=len)
    if len(longest) > LONGEST_NAME:
        msg = f"A category may have at most {LONGEST_NAME} characters, got {value_text(longest)}."
        raise DomainError(msg)
    return names


def read_labels(
    sheet: Sheet, column: str, categories: str | Sequence[str] = (), others: str = OTHERS[0]
) -> ColumnReading:
    """Return a column as answers from a declared list.

    The list must be declared before the data are seen. If it were read off the data, the existence of a bin would say that
    somebody gave that answer, and no noise in the bin could hide it.

    Parameters
    ----------
    sheet : Sheet
        What `open_csv` returned.
    column : str
        Its name.
    categories : str or sequence of str, default ()
        The answers there may be, in the order of their bins; see `declared`. Without them nothing is read.
    others : str, optional
        ``count`` puts every other answer into a bin called other, which is there whether somebody is in it or not;
        ``drop`` leaves its row out. Both are reported.
    """
    names = _bins(categories, others)
    notes, place_of = _Tally(read_columns(sheet, [column])), {name: place for place, name in enumerate(names)}
    other = place_of[OTHER] if others == OTHERS[0] else None
    bins, undeclared = np.full(len(notes.column.texts), _NOWHERE), 0
    for place, text in enumerate(notes.column.texts):
        if text in place_of:
            bins[place] = place_of[text]
        elif text.lower() in MISSING:
            notes.drop("empty" if not text else "marked as missing", place)
        elif other is None:
            notes.drop("not in the list", place)
        else:
            undeclared += int(notes.column.counts[place])
            bins[place] = other
    cells = bins[notes.column.codes]
    if not np.any(cells != _NOWHERE):
        raise notes.nothing(column, "answer")
    data = Dataset.coded(cells[cells != _NOWHERE], names, column)
    sentences = notes.words(column, data.n, "answers")
    sentences.append(f"Declared: {', '.join(names)}.")
    if notes.dropped.get("not in the list"):
        sentences.append(_COUNTED_OUT)
    if other is not None:
        sentences.append(
            f"{_values(undeclared, 'answer')} not in the list counted as {OTHER!r}, a bin that always exists."
        )
    return ColumnReading(data, notes.rows, notes.lost(), (0, 0), tuple(sentences))


def _bins(categories: str | Sequence[str], others: str) -> tuple[str, ...]:
    """Return the names of the bins: those declared, and one for others if they are counted."""
    if not len(categories):
        raise DomainError(UNDECLARED)
    names = declared(categories)
    one_of("others", OTHERS).check(others)
    if others == OTHERS[0] and OTHER not in names:
        names = (*names, OTHER)
    if len(names) < 2:
        msg = (
            f"categories must give at least two bins, that of other answers included; got {value_text(names[0])} alone."
        )
        raise DomainError(msg)
    return names


def _numbers(notes: _Tally, *, comma: bool) -> NDArray[np.float64]:
    """Return the number in each distinct text of a column; nan, counted with its reason, where there is none."""
    values = np.full(len(notes.column.texts), np.nan)
    notes.commas = notes.column.comma_words(notes.coded.row_number) if comma else []
    for place, text in enumerate(notes.column.texts):
        value = number_in(text, comma=comma)
        if value is not None:
            values[place] = value
        elif text.lower() in MISSING:
            notes.drop("empty" if not text else "marked as missing", place)
        elif _overflows(text):
            notes.drop("not finite", place)
        else:
            notes.drop("no number", place)
    return values


def _overflows(text: str) -> bool:
    try:
        return "_" not in text and math.isinf(float(text))
    except ValueError:
        return False


def _clipped_words(below: int, above: int, low: float, high: float) -> str:
    parts = [f"{_values(below)} below {nearest(low)}"] * bool(below) + [
        f"{_values(above)} above {nearest(high)}"
    ] * bool(above)
    return f"{' and '.join(parts)} moved to the nearer bound (clipped)."


class _Tally:
    """What is counted while a column is read."""

    def __init__(self, coded: CodedRows) -> None:
        self.coded, (self.column,) = coded, coded.columns
        self.commas: list[str] = []
        self.dropped: dict[str, int] = {}
        self.first: dict[str, tuple[int, str]] = {}  # why -> first row and its text
        if coded.empty:
            self.dropped["empty"], self.first["empty"] = len(coded.empty), (coded.empty[0], "")

    @property
    def rows(self) -> int:
        """Rows of the file, empty lines between them included."""
        return self.coded.rows + len(self.coded.empty)

    def drop(self, why: str, place: int) -> None:
        """Count the rows with a distinct text that gives no value."""
        text = self.column.texts[place]
        self.dropped[why] = self.dropped.get(why, 0) + int(self.column.counts[place])
        if why not in self.first or not text:  # distinct texts come in the order of their first rows
            example = (self.coded.row_number(self.column.row_of(place)), text)
            self.first[why] = min(example, self.first.get(why, example))

    def lost(self) -> dict[str, int]:
        """Return why rows were dropped -> how many, in the order of their first rows."""
        order = sorted(self.dropped, key=lambda why: self.first.get(why, (math.inf, "")))
        return {why: self.dropped[why] for why in order if self.dropped[why]}

    def reasons(self) -> str:
        """Say why rows were dropped, with the first row and cell of each kind."""
        return ", ".join(f"{grouped(count)} {why}{self._first(why)}" for why, count in self.lost().items())

    def _first(self, why: str) -> str:
        if why not in self.first:
            return ""
        row, cell = self.first[why]
        return f" (the first: {value_text(cell)} in row {row})" if cell else f" (the first: row {row})"

    def nothing(self, column: str, what: str) -> DomainError:
        """Return the error of a column without any value."""
        if not self.rows:
            return DomainError(
                f"The file has 0 rows of data under its first line, so column {value_text(column)} is empty."
            )
        rows = f"{grouped(self.rows)} row{'s' * (self.rows != 1)}"
        return DomainError(f"Column {value_text(column)} gives no {what}: of its {rows}, {self.reasons()}.")

    def words(self, column: str, count: int, what: str) -> list[str]:
        """Say how many values there are, and what became of the other rows."""
        values = f"{grouped(count)} {what if count != 1 else what.removesuffix('s')}"
        rows = f"{grouped(self.rows)} row{'s' * (self.rows != 1)}"
        sentences = [f"{values} read from {rows} of column {value_text(column)}."]
        if self.lost():
            sentences.append(f"{_values(sum(self.dropped.values()))} dropped: {self.reasons()}.")
        sentences += self.commas
        if self.coded.uneven:
            sentences.append(
                f"{_values(self.coded.uneven, 'row')} with more or fewer fields than the first; extra ones not used."
            )
        if self.coded.breaks:
            sentences.append(
                f"{_values(self.coded.breaks, 'line break')} inside quotation marks: check whether a mark is missing."
            )
        return sentences


def _values(count: int, what: str = "value") -> str:
    return f"{grouped(count)} {what}{'s' * (count != 1)}"
