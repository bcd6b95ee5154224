"""What a file suggests about its columns: numbers or text, their range, their categories.

A suggestion is read off the data. Bounds and categories taken from it reveal something about the people in the
file, whatever noise the answers get: they are a starting point for someone who knows the table, not public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.files.columns import read_columns
from dpcore.files.sheet import number_in
from dpcore.utility.reading import MOST_LABELS, declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.files.columns import CodedColumn
    from dpcore.files.sheet import Sheet

NUMBERS, TEXT = "numbers", "text"
_MOSTLY: Final = 0.9  # a column counts as numbers if at least this share of its nonempty cells are numbers


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
    r"""Read a file once and say what its columns contain.

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
    data, comma = read_columns(sheet, sheet.columns), sheet.comma
    return TableSuggestion(data.rows, tuple(_suggestion(column, comma=comma) for column in data.columns))


def _suggestion(column: CodedColumn, *, comma: bool) -> ColumnSuggestion:
    """Say what one column contains."""
    values = np.array([np.nan if (one := number_in(text, comma=comma)) is None else one for text in column.texts])
    is_number = ~np.isnan(values)
    others = ~is_number & ~column.missing
    numbers = int(column.counts[is_number].sum())
    if numbers and numbers >= _MOSTLY * (numbers + int(column.counts[others].sum())):
        return ColumnSuggestion(column.name, NUMBERS, float(values[is_number].min()), float(values[is_number].max()))
    texts = [text for text, missing in zip(column.texts, column.missing, strict=True) if not missing]
    names = sorted(texts) if len(texts) <= MOST_LABELS else []
    return ColumnSuggestion(column.name, TEXT, categories=tuple(names) if names and _are_names(names) else ())


def _are_names(names: Sequence[str]) -> bool:
    """Whether texts may be declared as categories: short, and no quotation marks, which conditions cannot contain."""
    try:
        return declared(names) == tuple(names) and not any('"' in name for name in names)
    except DomainError:
        return False
