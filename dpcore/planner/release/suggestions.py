"""What a file suggests about its columns: numbers or text, their range, their categories.

A suggestion is read off the data. Bounds and categories that are taken from it reveal something about the people in the
file, whatever noise the answers get: they are a start for whoever knows the table, not public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.files.sheet import MISSING, number_in
from dpcore.planner.release.table import column_chunks
from dpcore.utility.reading import MOST_LABELS, declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.files.sheet import Sheet

NUMBERS, TEXT = "numbers", "text"
_MOSTLY: Final = 0.9  # a column counts as numbers if at least this share of its filled cells are


@dataclass(frozen=True)
class ColumnSuggestion:
    """What the cells of one column look like; read off the data.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        ``numbers`` or ``text``.
    lower, upper : float, optional
        Smallest and largest number.
    categories : tuple of str, default ()
        The different texts in alphabetical order, if there are at most 100.
    """

    name: str
    kind: str
    lower: float | None = None
    upper: float | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSuggestion:
    """What a file suggests: the number of its rows, and each of its columns."""

    rows: int
    columns: tuple[ColumnSuggestion, ...]

    def column(self, name: str) -> ColumnSuggestion | None:
        """Return the suggestion for a column, None for an unknown one."""
        return next((column for column in self.columns if column.name == name), None)


def suggest(sheet: Sheet) -> TableSuggestion:
    r"""Look through a file once and say what its columns hold.

    Parameters
    ----------
    sheet : Sheet
        What `dpcore.files.sheet.open_csv` returned.

    Returns
    -------
    TableSuggestion
        The rows and the columns. All of it is read off the data.

    Examples
    --------
    >>> from dpcore.files.sheet import open_csv
    >>> suggest(open_csv(b"team,pay\nA,10\nB,20\n")).column("pay").upper
    20.0
    """
    tallies = [_ColumnTally(name, comma=sheet.delimiter != ",") for name in sheet.columns]
    rows = 0
    for cells, count in column_chunks(sheet, range(len(tallies))):
        for tally, column in zip(tallies, cells, strict=True):
            tally.extend(column)
        rows += count
    return TableSuggestion(rows, tuple(tally.suggestion() for tally in tallies))


class _ColumnTally:
    """One column while it is looked through."""

    def __init__(self, name: str, *, comma: bool) -> None:
        self.name, self.comma = name, comma
        self.numbers, self.others = 0, 0
        self.lower, self.upper = np.inf, -np.inf
        self.texts: set[str] = set()

    def extend(self, cells: Sequence[str]) -> None:
        """Look at some cells."""
        different = set(cells)
        try:
            values = np.array(list(map(float, different)))
        except ValueError:
            values = np.array([])
        if len(values) and np.isfinite(values).all():
            self.numbers += len(cells)
            self._widen(values)
        else:
            known = {cell: number_in(cell, comma=self.comma) for cell in different}
            numbers = [value for value in known.values() if value is not None]
            if numbers:
                self._widen(np.array(numbers))
            missing = {cell for cell in different if cell.strip().lower() in MISSING}
            self.numbers += sum(known[cell] is not None for cell in cells)
            self.others += sum(known[cell] is None and cell not in missing for cell in cells)
            different -= missing
        if len(self.texts) <= MOST_LABELS:
            self.texts |= {" ".join(cell.split()) for cell in different}

    def _widen(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        self.lower, self.upper = min(self.lower, float(values.min())), max(self.upper, float(values.max()))

    def suggestion(self) -> ColumnSuggestion:
        """Return what was seen."""
        filled = self.numbers + self.others
        if filled and self.numbers >= _MOSTLY * filled:
            return ColumnSuggestion(self.name, NUMBERS, self.lower, self.upper)
        names = sorted(self.texts)
        usable = 0 < len(names) <= MOST_LABELS and _are_names(names)
        return ColumnSuggestion(self.name, TEXT, categories=tuple(names) if usable else ())


def _are_names(names: Sequence[str]) -> bool:
    """Whether texts may be declared as categories: short, and without quotation marks, which no condition can hold."""
    try:
        return declared(names) == tuple(names) and not any('"' in name for name in names)
    except DomainError:
        return False
