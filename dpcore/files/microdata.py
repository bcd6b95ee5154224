"""A whole table of texts: every column of a user's CSV as codes of its distinct texts, to save memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import unknown, value_text
from dpcore.files.columns import CodedColumn, read_columns, row_number
from dpcore.files.sheet import number_in
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dpcore.files.sheet import Sheet

LARGEST = 1e15  # of a number: beyond it doubles have no digits left for sums, bins and noise


@dataclass(frozen=True)
class Microdata:
    """A table of texts, one row per record.

    Attributes
    ----------
    digest : str
        Identifies the content: equal for equal tables.
    columns : tuple of CodedColumn
        The columns in their order.
    rows : int
        How many records there are.
    comma : bool, default False
        Whether a comma may be the decimal sign, because it does not separate the fields.
    skipped : tuple of int, default ()
        Empty rows of the file, which are not in the table; the first row of data is 1.
    notes : tuple of str, default ()
        Anything unusual about the file, in sentences.
    places : ndarray of int, optional
        Where the records were in the file, if some were left out.
    """

    digest: str
    columns: tuple[CodedColumn, ...] = field(compare=False, repr=False)
    rows: int = field(compare=False)
    comma: bool = field(compare=False, default=False)
    skipped: tuple[int, ...] = field(compare=False, default=(), repr=False)
    notes: tuple[str, ...] = field(compare=False, default=())
    places: NDArray[np.int64] | None = field(compare=False, default=None, repr=False)

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Microdata:
        """Return a data frame as a table of texts; a missing value becomes an empty text."""
        columns = tuple(
            CodedColumn.of(str(name), ["" if value is None or value != value else str(value) for value in frame[name]])  # noqa: PLR0124  # nan is not equal to itself
            for name in frame.columns
        )
        return cls(_digest(columns), columns, len(frame))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> CodedColumn:
        """Return a column; the error for an unknown one lists the columns."""
        for column in self.columns:
            if column.name == name:
                return column
        raise DomainError(unknown("column", name, self.names))

    def some(self, names: Iterable[str], what: str) -> tuple[CodedColumn, ...]:
        """Return some columns, each named once; `what` tells in error messages what they are for."""
        texts = [names] if isinstance(names, str) else list(names)
        twice = next((name for name in texts if texts.count(name) > 1), None)
        if twice is not None:
            msg = f"{what} must name each column once, got {value_text(twice)} twice."
            raise DomainError(msg)
        return tuple(self.column(name) for name in texts)

    def row_number(self, place: int) -> int:
        """Return the row in the file of a record; the first row of data is 1, and empty lines count."""
        return row_number(place if self.places is None else int(self.places[place]), self.skipped)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers.

        Raises
        ------
        DomainError
            If a cell is missing or not a number; the message names its row.
        """
        column = self.column(name)
        return np.asarray(self.parsed(column, "a number")[column.codes], dtype=np.float64)

    def parsed(self, column: CodedColumn, what: str, *, missing: bool = False) -> NDArray[np.float64]:
        """Return the number in each distinct text of a column; with `missing`, NaN for a missing value."""
        numbers = np.full(len(column.texts), np.nan)
        for place, text in enumerate(column.texts):
            value = number_in(text, comma=self.comma)
            if value is not None and abs(value) <= LARGEST:
                numbers[place] = value
            elif not (missing and column.missing[place]):
                row = self.row_number(column.row_of(place))
                got = "a missing value" if column.missing[place] else value_text(text)
                size = "" if value is None else f" (of a size up to {nearest(LARGEST)})"
                msg = f"Row {grouped(row)}: column {value_text(column.name)} must hold {what}{size}, got {got}."
                raise DomainError(msg)
        return numbers

    def comma_words(self, names: Iterable[str]) -> list[str]:
        """Say for each of these columns, which are read as numbers, where a comma was the decimal sign."""
        if not self.comma:
            return []
        return [words for name in dict.fromkeys(names) for words in self.column(name).comma_words(self.row_number)]

    def with_columns(self, columns: Iterable[CodedColumn]) -> Microdata:
        """Return the table with some columns replaced by others of the same names."""
        other = {column.name: column for column in columns}
        fresh = tuple(other.get(column.name, column) for column in self.columns)
        return Microdata(_digest(fresh), fresh, self.rows, self.comma, self.skipped, self.notes, self.places)

    def kept(self, rows: NDArray[np.bool_]) -> Microdata:
        """Return the marked records."""
        columns = tuple(CodedColumn(one.name, one.codes[rows], one.texts).merged(str) for one in self.columns)
        places = np.flatnonzero(rows) if self.places is None else self.places[rows]
        return Microdata(_digest(columns), columns, len(places), self.comma, self.skipped, self.notes, places)

    def frame(self) -> pd.DataFrame:
        """Return the table as texts."""
        return pd.DataFrame(
            {one.name: np.array(one.texts, dtype=object)[one.codes] for one in self.columns}, columns=self.names
        )


def _digest(columns: tuple[CodedColumn, ...]) -> str:
    digest = hashlib.sha256()
    for column in columns:
        digest.update(repr((column.name, len(column.codes), column.texts)).encode())
        digest.update(np.ascontiguousarray(column.codes, dtype=np.uint32).tobytes())
    return digest.hexdigest()


def read_microdata(sheet: Sheet, columns: Sequence[str] | None = None) -> Microdata:
    """Return columns of a file as texts.

    Spaces around a text and repeated spaces in it do not count; lines without any text are skipped. Anything unusual
    is in the notes.

    Parameters
    ----------
    sheet : Sheet
        What `dpcore.files.sheet.open_csv` returned.
    columns : sequence of str, optional
        Which columns; all by default.

    Raises
    ------
    DomainError
        If there are no rows, or too many.
    """
    coded = read_columns(sheet, sheet.columns if columns is None else columns)
    if not coded.rows:
        msg = "The file has 0 rows of data under its first line."
        raise DomainError(msg)
    notes = (*sheet.notes, *_notes(len(coded.empty), coded.uneven))
    return Microdata(_digest(coded.columns), coded.columns, coded.rows, sheet.comma, tuple(coded.empty), notes)


def _notes(empty: int, uneven: int) -> list[str]:
    notes = []
    if empty:
        notes.append(f"{grouped(empty)} empty line{'s were' if empty > 1 else ' was'} left out.")
    if uneven:
        notes.append(
            f"{grouped(uneven)} row{'s have' if uneven > 1 else ' has'} more or fewer fields than the first; "
            "missing ones count as empty, extra ones are not used."
        )
    return notes
