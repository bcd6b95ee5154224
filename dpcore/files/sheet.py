"""The layout of a user's CSV: encoding, delimiter and columns, with a sentence about anything unusual."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.csv_writer import MARK, unmarked
from dpcore.files.documents import bytes_of
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 500_000_000  # bytes of a file read by the library or a command; uploads have their own limit
MOST_COLUMNS = 200
LONGEST_NAME = 60
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
ALONE = "\x1f"  # a delimiter that occurs nowhere: a file with one column
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "."})
_SAMPLE_LINES = 50  # lines that decide the delimiter
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1")
_MARKS = {
    b"\xff\xfe": ("utf-16", "The file is UTF-16 text."),
    b"\xfe\xff": ("utf-16", "The file is UTF-16 text."),
    b"\xef\xbb\xbf": ("utf-8-sig", "A byte-order mark at the start of the file was removed."),
}
_LATIN = "The file is not valid UTF-8; it was read as Latin-1, so letters with accents may be wrong."


@dataclass(frozen=True)
class Sheet:
    """A CSV file and its layout; rows are read when a column is needed."""

    data: bytes = field(repr=False, compare=False)
    columns: tuple[str, ...]
    delimiter: str
    encoding: str
    header: bool
    notes: tuple[str, ...] = ()
    digest: str = field(repr=False, default="")  # of the data: it makes two sheets the same

    @property
    def comma(self) -> bool:
        """Whether a comma may be the decimal sign of a number: it does not separate the fields."""
        return self.delimiter != ","

    def place(self, column: str) -> int:
        """Return the index of a column; the error for an unknown one lists the columns."""
        if column not in self.columns:
            msg = f"The file has the columns {', '.join(self.columns)[:200]}; there is no column {value_text(column)}."
            raise DomainError(msg)
        return self.columns.index(column)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns whose first lines contain more numbers than other texts; missing values do not count."""
        rows = list(rows_of(csv.reader(_first_lines(self.data, self.encoding), delimiter=self.delimiter)))
        names = []
        for place, name in enumerate(self.columns):
            cells = [row[place] for row in rows[self.header :] if place < len(row)]
            present = [
                number_in(cell, comma=self.comma) is not None for cell in cells if cell.strip().lower() not in MISSING
            ]
            if sum(present) > len(present) / 2:
                names.append(name)
        return tuple(names)


def open_csv(source: bytes | Path, *, delimiter: str | None = None, most_bytes: int = MOST_BYTES) -> Sheet:
    """Find the encoding, the delimiter and the columns of a CSV file.

    Parameters
    ----------
    source : bytes or Path
        The file's bytes, or its path: UTF-8, UTF-16 with a byte-order mark, or else Latin-1.
    delimiter : str, optional
        The separator of fields; by default inferred from the first lines.
    most_bytes : int, default MOST_BYTES
        Size limit.

    Returns
    -------
    Sheet
        The file and its layout.

    Raises
    ------
    DomainError
        If the file is empty, too large, not text, or has no rows.
    """
    data = bytes_of(source, most_bytes) if isinstance(source, Path) else source
    if len(data) > most_bytes:
        msg = f"The file has {grouped(len(data))} bytes; at most {grouped(most_bytes)} are read."
        raise DomainError(msg)
    if delimiter is not None and delimiter not in DELIMITERS:
        msg = f"delimiter must be one of {', '.join(map(repr, DELIMITERS))}, got {value_text(delimiter)}."
        raise DomainError(msg)
    encoding, notes = _encoding(data)
    first = list(_first_lines(data, encoding))
    separator = delimiter or _delimiter(first)
    row = next((row for row in rows_of(csv.reader(first, delimiter=separator)) if filled(row)), None)
    if row is None:
        msg = f"The file has no row: it has {grouped(len(data))} bytes, and no line with text in it."
        raise DomainError(msg)
    comma = separator != ","
    header = any(number_in(cell, comma=comma) is None and cell.strip().lower() not in MISSING for cell in row)
    notes += _layout_notes(separator, inferred=delimiter is None, header=header)
    if len(row) > MOST_COLUMNS:
        msg = f"The file has {len(row)} columns; at most {MOST_COLUMNS} are read."
        raise DomainError(msg)
    digest = hashlib.sha256(data).hexdigest()
    return Sheet(data, _names(row, header=header), separator, encoding, header, tuple(notes), digest)


def _encoding(data: bytes) -> tuple[str, list[str]]:
    """Return the encoding and the notes about it."""
    if data.startswith(_SPREADSHEETS):
        msg = "The file is a spreadsheet or an archive, not CSV; save it as CSV (text) first."
        raise DomainError(msg)
    encoding, words = next((entry for mark, entry in _MARKS.items() if data.startswith(mark)), ("utf-8", ""))
    has_zero = b"\0" in data
    if not data.isascii():  # then it is valid in any of them, and large files need no second copy
        try:
            has_zero = "\0" in data.decode(encoding)
        except UnicodeDecodeError:
            encoding, words = "latin-1", _LATIN
    if has_zero:
        msg = "The file holds zero bytes: it is not a text. Save the table as CSV first."
        raise DomainError(msg)
    return encoding, [words] if words else []


def decoded(data: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, without a byte-order mark, and the notes about its encoding."""
    encoding, notes = _encoding(data)
    return data.decode(encoding), notes


def _first_lines(data: bytes, encoding: str) -> Iterator[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding=encoding)
    return itertools.islice((line for line in lines if line.strip()), _SAMPLE_LINES)


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits the most lines into as many fields as the first line; ties go to more fields."""
    best = (0.0, 1, ALONE)
    for mark in DELIMITERS:
        counts = [len(row) for row in rows_of(csv.reader(lines, delimiter=mark))]
        if counts and counts[0] > 1:
            share = counts.count(counts[0]) / len(counts)
            best = max(best, (share, counts[0], mark)) if share > 0.5 else best
    return best[2]


def _layout_notes(delimiter: str, *, inferred: bool, header: bool) -> list[str]:
    notes = ["The first row gives the names of the columns."] if header else []
    if inferred and delimiter not in {",", ALONE}:
        notes.append(f"The fields are separated by {DELIMITERS[delimiter]}, not by commas.")
    if not header:
        notes.append("The first row holds values, not names: the columns are named by their place.")
    return notes


def _names(row: list[str], *, header: bool) -> tuple[str, ...]:
    """Return one unique name per column."""
    names: list[str] = []
    for place, cell in enumerate(row, start=1):
        text = "".join(sign for sign in " ".join(cell.split()) if sign.isprintable())[:LONGEST_NAME]
        base = name = (text if header else "") or f"column {place}"
        count = 1
        while name in names:  # one of this many names is free
            count += 1
            name = f"{base} ({count})"
        names.append(name)
    return tuple(names)


def number_in(cell: str, *, comma: bool = False) -> float | None:
    """Return the finite number in a cell, None for anything else; with `comma`, 1,5 is a number too."""
    try:
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        is_decimal = comma and cell.count(",") == 1 and "." not in cell
        return number_in(cell.replace(",", ".")) if is_decimal else None
    return value if math.isfinite(value) else None


def rows_of(reader: Any) -> Iterator[list[str]]:
    """Yield rows of fields with their original texts (see `dpcore.files.csv_writer`); a `DomainError` says what cannot be read."""
    try:
        for row in reader:
            # one test of the joined row is several times faster than one per cell
            yield [unmarked(cell) for cell in row] if MARK in "".join(row) else row
    except csv.Error as error:
        msg = f"The file cannot be read as CSV: {error}. A quotation mark may be missing."
        raise DomainError(msg) from None


def filled(row: list[str]) -> bool:
    """Return whether a row has a cell with text in it."""
    return bool("".join(row).strip())
