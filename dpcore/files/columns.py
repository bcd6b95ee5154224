"""The columns of a user's CSV as codes of their distinct texts, a block of rows at a time; all tables are read here."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.effort import checkpoint, claim
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import value_text
from dpcore.files.csv_writer import MARK, unmarked
from dpcore.files.sheet import MISSING, filled, number_in, rows_of
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dpcore.files.sheet import Sheet

    Codes = NDArray[np.unsignedinteger[Any]]
    Flags = NDArray[np.bool_]

MOST_ROWS: Final = 5_000_000
_ROWS: Final = 50_000  # rows read at a time, if they are read one by one
_BYTES: Final = 2**20  # read at a time, if lines are found by their ends
_LONGEST: Final = 100_000  # bytes of a line: Python's own reader, which refuses longer fields, says what is wrong
_TEXT: Final = 80  # bytes of memory for a short text and its entry in a list


@dataclass(frozen=True)
class CodedColumn:
    """One column: the index of every row's text in the list of distinct texts.

    Attributes
    ----------
    name : str
        Its name.
    codes : ndarray of unsigned int, shape (rows,)
        Indices into `texts`.
    texts : tuple of str
        The distinct texts, in the order of their first rows.
    """

    name: str
    codes: Codes
    texts: tuple[str, ...]

    @classmethod
    def of(cls, name: str, texts: Iterable[str]) -> CodedColumn:
        """Return a column with these texts, one per row."""
        codes, values = pd.factorize(np.array(list(texts), dtype=object), use_na_sentinel=False)
        whole = cls(name, codes.astype(_smallest(len(values))), tuple(map(str, values)))
        return whole.merged(lambda text: " ".join(text.split()))

    def merged(self, change: Callable[[str], str], name: str = "") -> CodedColumn:
        """Return the column with every distinct text changed; texts that become equal become one."""
        return self.replaced([change(value) for value in self.texts], name)

    def replaced(self, texts: Sequence[str], name: str = "") -> CodedColumn:
        """Return the column with other texts in place of its distinct texts, in the same order."""
        places, values = pd.factorize(np.array([*texts], dtype=object), use_na_sentinel=False)
        codes = places.astype(_smallest(len(values)))[self.codes] if len(texts) else self.codes
        return CodedColumn(name or self.name, codes, tuple(map(str, values)))

    @Lazy
    def missing(self) -> Flags:
        """Whether each distinct text stands for a missing value."""
        return np.array([value.lower() in MISSING for value in self.texts], dtype=np.bool_)

    @Lazy
    def counts(self) -> NDArray[np.int64]:
        """How often each distinct text occurs."""
        return np.bincount(self.codes, minlength=len(self.texts))

    def row_of(self, place: int) -> int:
        """Return the index of the first row with a distinct text."""
        return int(np.argmax(self.codes == place))

    def comma_words(self, number: Callable[[int], int]) -> list[str]:
        """Say in how many rows a decimal comma makes the text a number; return nothing if there are none.

        Parameters
        ----------
        number : callable
            Takes the index of a record and returns the number of its row in the file.
        """
        places = [place for place, text in enumerate(self.texts) if is_comma_number(text)]
        if not places:
            return []
        count = int(self.counts[places].sum())
        row = grouped(number(self.row_of(places[0])))
        values = f"{grouped(count)} value{'s' * (count > 1)}"
        return [comma_sentence(values, f" of column {value_text(self.name)}", self.texts[places[0]], f"row {row}")]


def is_comma_number(text: str) -> bool:
    """Whether a text is a number only because a comma may be the decimal sign."""
    return "," in text and number_in(text) is None and number_in(text, comma=True) is not None


def comma_sentence(values: str, where: str, first: str, place: str) -> str:
    """Say that a decimal comma was read as such, as every reader of numbers does unless commas separate the fields."""
    return f"In {values}{where} the comma was read as the decimal sign (the first: {value_text(first)} in {place})."


def _smallest(count: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that can hold `count`."""
    return np.uint8 if count <= 2**8 else np.uint16 if count <= 2**16 else np.uint32


@dataclass(frozen=True)
class CodedRows:
    """The rows of a file, restricted to some columns.

    Attributes
    ----------
    columns : tuple of CodedColumn
        The columns, without rows that have no text at all; surrounding and repeated spaces do not count.
    rows : int
        How many records there are.
    empty : tuple of int
        Rows of the file without any text; the first row of data is 1.
    uneven : int
        How many records have more or fewer fields than the first line; missing fields are empty, extra ones ignored.
    breaks : int
        How many line ends are inside quotation marks.
    """

    columns: tuple[CodedColumn, ...]
    rows: int
    empty: tuple[int, ...]
    uneven: int
    breaks: int

    def row_number(self, place: int) -> int:
        """Return the row in the file of a record; the first row of data is 1, and empty lines count."""
        return row_number(place, self.empty)


def row_number(place: int, empty: Sequence[int]) -> int:
    """Return the row in the file of the record at an index, given the empty rows of the file."""
    number = place + 1
    for row in empty:
        if row > number:
            break
        number += 1
    return number


def read_columns(sheet: Sheet, names: Sequence[str]) -> CodedRows:
    """Read some columns of a file.

    Parameters
    ----------
    sheet : Sheet
        What `dpcore.files.sheet.open_csv` returned.
    names : sequence of str
        The columns.

    Raises
    ------
    DomainError
        If a column is unknown, the file cannot be read as CSV, or it has too many rows.
    """
    places = [sheet.place(name) for name in names]
    values: list[dict[str, int]] = [{} for _ in places]
    codes: list[list[Codes]] = [[] for _ in places]
    empty: list[int] = []
    number = uneven = breaks = 0
    for block in _blocks(sheet, places):
        for own, known, (coded, texts) in zip(codes, values, block.columns, strict=True):
            merged = [known.setdefault(" ".join(text.split()), len(known)) for text in texts]
            own.append(np.array(merged, dtype=_smallest(len(known)))[coded])
        empty += (np.flatnonzero(block.empty) + number + 1).tolist()
        number, uneven, breaks = number + len(block.empty), uneven + block.uneven, breaks + block.breaks
        claim(sum(_TEXT * len(known) for known in values), "The texts of this table")
        if number >= MOST_ROWS:
            msg = f"The file has {grouped(MOST_ROWS)} rows or more; files with fewer are read."
            raise DomainError(msg)
    columns = tuple(
        CodedColumn(name, np.concatenate([np.empty(0, np.uint8), *own]).astype(_smallest(len(known))), tuple(known))
        for name, own, known in zip(names, codes, values, strict=True)
    )
    return CodedRows(columns, number - len(empty), tuple(empty), uneven, breaks)


# ---- blocks of rows --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Some rows: the codes and distinct texts of each column, and which rows are empty and therefore left out."""

    columns: list[tuple[Codes, list[str]]]
    empty: Flags
    uneven: int = 0
    breaks: int = 0


def _blocks(sheet: Sheet, places: Sequence[int]) -> Iterator[_Block]:
    """Yield the rows below the names, in blocks.

    Without quotation marks a line is a row, so many lines are checked and split at once, ten times as fast as row
    by row. Lines that are not all alike, and files with quotation marks, are left to Python's own reader.
    """
    data = sheet.data
    if sheet.encoding == "utf-16" or b'"' in data or data.count(b"\r") != data.count(b"\r\n"):
        yield from _streamed(sheet, data, places)
        return
    if sheet.encoding == "utf-8-sig":  # a mark at the start of a later block is no byte-order mark
        data = data.removeprefix(BOM_UTF8)
        sheet = replace(sheet, data=data, encoding="utf-8")
    begin = _below_names(sheet)
    while begin < len(data):  # at least one line per round
        end = (data.rfind(b"\n", begin, begin + _BYTES) + 1) or (data.find(b"\n", begin) + 1) or len(data)
        block = _even(sheet, data[begin:end], places)
        yield from [block] if block is not None else _streamed(sheet, data[begin:end], places, below=True)
        begin = end
        checkpoint(begin / len(data))


def _below_names(sheet: Sheet) -> int:
    """Return where the first row of data begins: empty lines above the table do not count."""
    begin, data = 0, sheet.data
    while begin < len(data):  # a line each round
        end = (data.find(b"\n", begin) + 1) or len(data)
        if filled(data[begin:end].decode(sheet.encoding).split(sheet.delimiter)):
            return end if sheet.header else begin
        begin = end
    return begin


def _even(sheet: Sheet, data: bytes, places: Sequence[int]) -> _Block | None:
    """Return the lines if all of them have some text and as many fields as there are names, otherwise None."""
    signs, mark = np.frombuffer(data, dtype=np.uint8), ord(sheet.delimiter)
    ends = np.flatnonzero(signs == ord("\n"))
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(signs))
    starts = np.append(0, ends[:-1] + 1)
    fields = np.diff(np.searchsorted(np.flatnonzero(signs == mark), ends), prepend=0) + 1
    texts = np.logical_or.reduceat((signs > ord(" ")) & (signs < 127) & (signs != mark), starts)
    if np.any(fields != len(sheet.columns)) or not texts.all() or int((ends - starts).max()) > _LONGEST:
        return None
    if data.startswith(BOM_UTF8):  # pandas would drop it
        return None
    frame = pd.read_csv(
        io.BytesIO(data),
        sep=sheet.delimiter,
        header=None,
        usecols=sorted(set(places)),
        dtype=object,
        na_filter=False,
        quoting=csv.QUOTE_NONE,
        encoding=sheet.encoding,
        engine="c",
    )
    columns = {}
    for place in set(places):
        codes, cells = _coded(frame[place].to_numpy())
        columns[place] = codes, [unmarked(text) for text in cells] if MARK.encode() in data else cells
    return _Block([columns[place] for place in places], np.zeros(len(ends), dtype=np.bool_))


def _streamed(sheet: Sheet, data: bytes, places: Sequence[int], *, below: bool = False) -> Iterator[_Block]:
    """Yield rows one by one as Python reads them; `below` the names, every line is a row."""
    source = io.BytesIO(data)
    reader = csv.reader(io.TextIOWrapper(source, encoding=sheet.encoding, newline=""), delimiter=sheet.delimiter)
    width, begun = len(sheet.columns), below
    rows: list[list[str]] = []
    empty: list[bool] = []
    uneven = breaks = before = 0

    def block() -> _Block:
        cells = list(zip(*rows, strict=True)) if rows else [()] * width
        columns = [_coded(np.array(cells[place], dtype=object)) for place in places]
        return _Block(columns, np.array(empty, dtype=np.bool_), uneven, breaks)

    for row in rows_of(reader):
        breaks += reader.line_num - before - 1
        before = reader.line_num
        if not begun:  # empty lines above the table, then the names
            begun = filled(row)
            if sheet.header or not begun:
                continue
        empty.append(not filled(row))
        if not empty[-1]:
            uneven += len(row) != width
            rows.append(row if len(row) == width else (row + [""] * width)[:width])
        if len(empty) == _ROWS:
            yield block()
            rows, empty, uneven, breaks = [], [], 0, 0
            if not below:
                checkpoint(source.tell() / len(data))
    yield block()


def _coded(cells: NDArray[np.object_]) -> tuple[Codes, list[str]]:
    """Return cells as codes of their distinct texts."""
    codes, values = pd.factorize(cells)
    return codes.astype(_smallest(len(values))), list(values)
