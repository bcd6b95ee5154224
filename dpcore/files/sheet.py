"""The layout of a user's CSV: its encoding, its delimiter and its columns, with a sentence for whatever is unusual."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError
from dpcore.core.registry import shown
from dpcore.files.csv_writer import MARK, unmarked
from dpcore.files.documents import MOST_DATA
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = MOST_DATA
MOST_COLUMNS = 200
LONGEST_NAME = 60
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
ALONE = "\x1f"  # separates nothing: a file of one column
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "."})
_LOOKED_AT = 50  # lines that decide about the delimiter
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1")
_MARKS = {
    b"\xff\xfe": ("utf-16", "The file is UTF-16 text."),
    b"\xfe\xff": ("utf-16", "The file is UTF-16 text."),
    b"\xef\xbb\xbf": ("utf-8-sig", "A byte-order mark at the start of the file was removed."),
}
_LATIN = "The file is not valid UTF-8; it was read as Latin-1, so letters with accents may be wrong."


@dataclass(frozen=True)
class Sheet:
    """A CSV file whose layout is known; the rows are read when a column is asked for."""

    data: bytes = field(repr=False)
    columns: tuple[str, ...]
    delimiter: str
    encoding: str
    header: bool
    told: tuple[str, ...] = ()

    def place(self, column: str) -> int:
        """Return the place of a column, or say which there are."""
        if column not in self.columns:
            msg = f"The file has the columns {', '.join(self.columns)[:200]}; there is no column {shown(column)}."
            raise DomainError(msg)
        return self.columns.index(column)


def open_csv(data: bytes, *, delimiter: str | None = None, most_bytes: int = MOST_BYTES) -> Sheet:
    """Find the encoding, the delimiter and the columns of a CSV file.

    Parameters
    ----------
    data : the file's bytes: UTF-8, UTF-16 with its mark, or else Latin-1.
    delimiter : what separates fields; found from the first lines by default.
    most_bytes : size limit.

    Raises
    ------
    DomainError : the file is empty, too large, no text, or has no row.
    """
    if len(data) > most_bytes:
        msg = f"The file has {grouped(len(data))} bytes; at most {grouped(most_bytes)} are read."
        raise DomainError(msg)
    if delimiter is not None and delimiter not in DELIMITERS:
        msg = f"delimiter must be one of {', '.join(map(repr, DELIMITERS))}, got {shown(delimiter)}."
        raise DomainError(msg)
    encoding, told = _encoding(data)
    first = list(_first_lines(data, encoding))
    found = delimiter or _delimiter(first)
    row = next((row for row in rows_of(csv.reader(first, delimiter=found)) if filled(row)), None)
    if row is None:
        msg = f"The file has no row: it has {grouped(len(data))} bytes, and no line with text in it."
        raise DomainError(msg)
    header = any(number_in(cell) is None and cell.strip().lower() not in MISSING for cell in row)
    told += _layout_words(found, chosen=delimiter is not None, header=header)
    if len(row) > MOST_COLUMNS:
        msg = f"The file has {len(row)} columns; at most {MOST_COLUMNS} are read."
        raise DomainError(msg)
    return Sheet(data, _names(row, header=header), found, encoding, header, tuple(told))


def _encoding(data: bytes) -> tuple[str, list[str]]:
    """Return the encoding and what is to be said about it."""
    if data.startswith(_SPREADSHEETS):
        msg = "The file is a spreadsheet or an archive, no CSV; save it as CSV (text) first."
        raise DomainError(msg)
    encoding, words = next((found for mark, found in _MARKS.items() if data.startswith(mark)), ("utf-8", ""))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding, words = "latin-1", _LATIN
        text = data.decode(encoding)
    if "\0" in text:
        msg = "The file holds zero bytes: it is no text. Save the table as CSV first."
        raise DomainError(msg)
    return encoding, [words] if words else []


def decoded(data: bytes) -> tuple[str, list[str]]:
    """Return the text of a file and what is to be said about its encoding; a byte-order mark is left out."""
    encoding, told = _encoding(data)
    return data.decode(encoding), told


def _first_lines(data: bytes, encoding: str) -> Iterator[str]:
    found = 0
    for line in io.TextIOWrapper(io.BytesIO(data), encoding=encoding):
        if line.strip():
            found += 1
            yield line
        if found == _LOOKED_AT:
            return


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits most lines into as many fields as the first one, and that into most."""
    best = (0.0, 1, ALONE)
    for mark in DELIMITERS:
        counts = [len(row) for row in rows_of(csv.reader(lines, delimiter=mark))]
        if counts and counts[0] > 1:
            share = counts.count(counts[0]) / len(counts)
            best = max(best, (share, counts[0], mark)) if share > 0.5 else best
    return best[2]


def _layout_words(delimiter: str, *, chosen: bool, header: bool) -> list[str]:
    told = ["The first row gives the names of the columns."] if header else []
    if delimiter not in {",", ALONE} and not chosen:
        told.append(f"The fields are separated by {DELIMITERS[delimiter]}, not by commas.")
    if not header:
        told.append("The first row holds values, not names: the columns are named by their place.")
    return told


def _names(row: list[str], *, header: bool) -> tuple[str, ...]:
    """Return one name per column, all different."""
    names: list[str] = []
    for place, cell in enumerate(row, start=1):
        text = "".join(sign for sign in " ".join(cell.split()) if sign.isprintable())[:LONGEST_NAME]
        base = name = (text if header else "") or f"column {place}"
        count = 1
        while name in names:
            count += 1
            name = f"{base} ({count})"
        names.append(name)
    return tuple(names)


def number_in(cell: str) -> float | None:
    """Return the finite number a cell holds, None for anything else."""
    try:
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def rows_of(reader: Any) -> Iterator[list[str]]:
    """Read rows of fields as the texts they were (see `dpcore.files.csv_writer`); what the reader refuses is one of our errors."""
    try:
        for row in reader:
            yield [unmarked(cell) for cell in row] if any(cell[:1] == MARK for cell in row) else row
    except csv.Error as error:
        msg = f"The file is no CSV that can be read: {error}. A quotation mark may be missing."
        raise DomainError(msg) from None


def filled(row: list[str]) -> bool:
    """Whether a row has a cell with text in it."""
    return any(cell.strip() for cell in row)
