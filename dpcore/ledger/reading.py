"""Ledgers from CSV or JSON files: every row is kept; a wrong row carries the reason why it is not included."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.registry import RELATIONS, value_text
from dpcore.core.results import result
from dpcore.files.documents import MOST_DATA, bytes_of, json_of
from dpcore.files.sheet import DELIMITERS, decoded, filled, rows_of
from dpcore.ledger.records import COLUMNS, MOST_ROWS, REQUIRED, Ledger, Release
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = "dpcore ledger"
_OPENING, _CLOSING = "([", ")]"
_MOST_NAMED = 5  # rows in one message
_EVERY = 500  # rows between two reports of progress
_STATED = re.compile(r"\s*sep=([,;|\t])[ \t]*(?:\r\n|\n|\r)", re.IGNORECASE)


@dataclass(frozen=True)
class LedgerEntry:
    """One row of a file: its number, its cells as they were, and the release or what is wrong with it.

    Attributes
    ----------
    row : int
        Its number in the file, the first row of data being 1.
    cells : mapping of str to object
        Column -> value, all of them, known or not.
    release : Release or None
        None if the row is wrong.
    problem : str, default ""
        Why, as a sentence that begins with the row; empty if nothing is wrong.
    """

    row: int
    cells: Mapping[str, Any]
    release: Release | None
    problem: str = ""


@dataclass(frozen=True)
class LedgerReading:
    """All rows of a file, and what was unusual about it.

    Attributes
    ----------
    entries : tuple of LedgerEntry
        Every row in its order, good or wrong.
    relation : str, default ""
        The neighbouring relation a JSON file states; empty otherwise.
    messages : tuple of str, default ()
        Sentences about the file: a byte-order mark, semicolons, clamped values.
    """

    entries: tuple[LedgerEntry, ...]
    relation: str = ""
    messages: tuple[str, ...] = field(default=())

    @property
    def ledger(self) -> Ledger:
        """The good rows."""
        return Ledger(tuple(entry.release for entry in self.entries if entry.release is not None), self.relation)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for every row that is not included."""
        return tuple(entry.problem for entry in self.entries if entry.problem)


def read_ledger(data: bytes | str, *, most_bytes: int = MOST_DATA) -> LedgerReading:
    """Read a ledger from the content of a CSV or JSON file.

    A CSV file has the columns ``label, expression, count`` and, if wanted, ``date, note, group, group_limit``; other
    columns are kept. Fields may be separated by commas, semicolons, tabs or bars, with or without a byte-order mark. An
    expression with commas need not be quoted: fields are joined while its brackets are open. A JSON file is a list of
    objects with the same names, or an object with ``rows`` and ``relation``.

    Parameters
    ----------
    data : bytes or str
        Bytes of the file, or its text.
    most_bytes : int, default MOST_DATA
        A larger file is refused.

    Returns
    -------
    LedgerReading
        All rows, good and wrong, and messages about the file.

    Raises
    ------
    DomainError
        The file is too large, not a text, or its columns are wrong. Wrong rows raise nothing; they are in
        `LedgerReading.problems`.
    """
    content = data.encode() if isinstance(data, str) else data
    if len(content) > most_bytes:
        msg = f"The file has {grouped(len(content))} bytes; at most {grouped(most_bytes)} are read."
        raise DomainError(msg)
    if content.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")[:1] in (b"{", b"["):
        return _read_json(content)
    return _read_csv(content)


def open_ledger(source: Path | bytes | str, relation: str = "") -> Ledger:
    r"""Return the ledger of a CSV or JSON file all of whose rows can be read.

    Parameters
    ----------
    source : Path or bytes or str
        The path of the file, its bytes, or its text.
    relation : str, default ""
        The neighbouring relation under which all rows hold; empty takes it from the file, or from the rows.

    Returns
    -------
    Ledger
        Its rows.

    Raises
    ------
    DomainError
        A row cannot be read, since without it every epsilon would be too small; or there is none.

    Examples
    --------
    >>> len(open_ledger("label,expression,count\nvisits,laplace(0.1),100\n"))
    1
    """
    reading = result(read_ledger, bytes_of(source) if isinstance(source, Path) else source)
    if reading.problems:
        rest = len(reading.problems) - _MOST_NAMED
        more = f" (and {rest} more rows)" if rest > 0 else ""
        msg = f"{' '.join(reading.problems[:_MOST_NAMED])}{more}"
        raise DomainError(msg)
    if not reading.entries:
        msg = "The ledger has no row: there is nothing to add up."
        raise DomainError(msg)
    return replace(reading.ledger, relation=relation or reading.relation)


# ---- rows ----------------------------------------------------------------------------------------------------


def _collected(rows: Iterator[tuple[int, dict[str, Any], str]]) -> tuple[tuple[LedgerEntry, ...], list[str]]:
    """Return the entries of (number, cells, problem), and the warnings."""
    entries: list[LedgerEntry] = []
    messages: list[str] = []
    for number, cells, problem in rows:
        if len(entries) >= MOST_ROWS:
            msg = f"The file has more than {grouped(MOST_ROWS)} rows, the most a ledger holds."
            raise DomainError(msg)
        if number % _EVERY == 0:
            checkpoint(min(0.9, number / MOST_ROWS))
        entry, warned = entry_of(number, cells, problem)
        entries.append(entry)
        messages += warned
    return tuple(entries), messages


def entry_of(number: int, cells: dict[str, Any], problem: str = "") -> tuple[LedgerEntry, list[str]]:
    """Return the entry of one row, and the warnings while reading it."""
    name = f"Row {number}"
    label = str(cells.get("label") or "").strip()
    if label:
        name += f" ({label[:40]})"
    release = None
    if not problem:
        try:
            release = _release(cells)
        except DpcoreError as error:
            problem = str(error)
    messages = [f"{name}: {words}" for words in release.messages] if release is not None else []
    return LedgerEntry(number, cells, release, f"{name} is not included: {problem}" if problem else ""), messages


def _release(cells: Mapping[str, Any]) -> Release:
    text = {name: _text(cells.get(name), name) for name in COLUMNS if name not in ("count", "group_limit")}
    count, limit = cells.get("count"), cells.get("group_limit")
    if count is None or (isinstance(count, str) and not count.strip()):
        msg = "count is empty; write how many such releases there were, from 1 upwards."
        raise DomainError(msg)
    empty = limit is None or (isinstance(limit, str) and not limit.strip())
    extra = tuple((name, value) for name, value in cells.items() if name not in COLUMNS)
    return Release(count=count, group_limit=None if empty else limit, extra=extra, quiet=True, **text)


def _text(value: Any, name: str) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)  # a label or a date that JSON holds as a number
    msg = f"{name} must be a text, got {value_text(value)}."
    raise DomainError(msg)


# ---- CSV -----------------------------------------------------------------------------------------------------


def _read_csv(content: bytes) -> LedgerReading:
    text, messages = decoded(content)
    separator = _STATED.match(text)  # Excel's own way to say what separates the fields
    body = text[separator.end() :] if separator else text
    delimiter = separator[1] if separator else _delimiter(body)
    if delimiter != ",":
        messages.append(f"The fields are separated by {DELIMITERS[delimiter]}, not by commas.")
    rows = (row for row in rows_of(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)) if filled(row))
    first = next(rows, None)
    if first is None:
        msg = f"The file has no row: it has {grouped(len(content))} bytes, and no line with text in it."
        raise DomainError(msg)
    entries, warned = _collected(_cells(rows, _columns(first), delimiter))
    return LedgerReading(entries, "", (*messages, *warned))


def _delimiter(text: str) -> str:
    """Return the separator with which the first line with text has the most known names."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    matches = {}
    for mark in DELIMITERS:
        names = next(rows_of(csv.reader([first], delimiter=mark)), [])
        matches[mark] = len({name.strip().lower() for name in names} & set(COLUMNS))
    return max(matches, key=matches.__getitem__)


def column_name(name: str) -> str:
    """Return the name of a column on one line, a known one in lower case."""
    line = " ".join(name.split())
    return line.lower() if line.lower() in COLUMNS else line


def _columns(names: list[str]) -> list[str]:
    """Return the names of the columns, the known ones in lower case; wrong ones are refused."""
    columns = [column_name(name) for name in names]
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        msg = (
            f"The first line must name the columns {', '.join(REQUIRED)} (and, if wanted, {', '.join(COLUMNS[3:])}); "
            f"it has {value_text(', '.join(columns))}, without {' and '.join(missing)}."
        )
        raise DomainError(msg)
    while columns and not columns[-1]:  # Excel writes empty columns at the right
        columns.pop()
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        msg = f"The first line names the column {value_text(twice[0])} {columns.count(twice[0])} times; each name may appear once."
        raise DomainError(msg)
    return [name or f"column {place}" for place, name in enumerate(columns, start=1)]


def _cells(rows: Iterator[list[str]], columns: list[str], delimiter: str) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yield (number, cells, problem) of each row; fields beyond the last column are kept under their place."""
    at = columns.index("expression")
    for number, fields in enumerate(rows, start=1):
        row = _joined(fields, at, delimiter)
        names = [*columns, *(f"column {place}" for place in range(len(columns) + 1, len(row) + 1))]
        cells = {name: value for name, value in zip(names, row, strict=False) if name in columns or value.strip()}
        yield number, cells, ""


def _joined(row: list[str], at: int, delimiter: str) -> list[str]:
    """Join the fields of an expression that was split at its own commas, as long as a bracket is open.

    The brackets of each field are counted once, so a bracket that is never closed costs no more than the others.
    """
    open_ = 0
    for end, field_ in enumerate(row[at:], start=at + 1):
        open_ += sum(map(field_.count, _OPENING)) - sum(map(field_.count, _CLOSING))
        if open_ <= 0:
            return [*row[:at], delimiter.join(row[at:end]), *row[end:]]
    return row


# ---- JSON ----------------------------------------------------------------------------------------------------


def _read_json(content: bytes) -> LedgerReading:
    text, messages = decoded(content)
    try:
        body = json_of(text)
    except ValueError as error:
        msg = f"The file cannot be read as JSON: {str(error).rstrip('.')}."
        raise DomainError(msg) from None
    relation = ""
    if isinstance(body, dict):
        relation = body.get("relation") or ""
        if not isinstance(relation, str) or relation not in ("", *RELATIONS[1:]):
            msg = f"relation must be empty, {' or '.join(RELATIONS[1:])}, got {value_text(relation)}."
            raise DomainError(msg)
        body = body.get("rows")
    if not isinstance(body, list):
        msg = 'A JSON ledger is a list of rows, or an object whose "rows" is one; each row is an object with ' + (
            ", ".join(REQUIRED) + "."
        )
        raise DomainError(msg)
    entries, warned = _collected(_objects(body))
    return LedgerReading(entries, relation, (*messages, *warned))


def _objects(body: list[Any]) -> Iterator[tuple[int, dict[str, Any], str]]:
    for number, item in enumerate(body, start=1):
        if not isinstance(item, dict):
            yield number, {"value": item}, f"it must be an object with {', '.join(REQUIRED)}, got {value_text(item)}."
            continue
        cells = {
            column_name(key) or f"column {place}": value for place, (key, value) in enumerate(item.items(), start=1)
        }
        missing = [name for name in REQUIRED if name not in cells]
        yield number, cells, f"it has no {' and no '.join(missing)}." if missing else ""
