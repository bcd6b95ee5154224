"""CSV files as we write them: exact, and harmless in a spreadsheet.

A spreadsheet runs a cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a line end as a formula, no matter who wrote it.
Such a text gets a leading apostrophe, as one would type it by hand; numbers stay numbers. Our own readers remove the
apostrophe again: `read_frame` for tables, `dpcore.files.sheet.rows_of` for uploads.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING, Any, Final, TextIO

from dpcore.core.errors import DomainError
from dpcore.core.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
else:
    pd = LateModule("pandas")

MARK: Final = "'"
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # full-width signs count in Chinese and Japanese spreadsheets
_MARKED: Final = re.compile(rf"{MARK}{_FORMULA.pattern}")
_QUOTED: Final = re.compile(r'[",\r\n]')
_WHOLE: Final = re.compile(r"-?[0-9]{1,300}")
_ROWS_AT_ONCE: Final = 50_000  # converting all rows at once would hold a second copy of the table


def marked(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs: with a leading apostrophe if it looks like a formula.

    A formula that already has leading apostrophes gets one more, so that `unmarked` restores every text.

    Examples
    --------
    >>> marked("=1+1"), marked("-1.5"), marked("laplace(1)")
    ("'=1+1", '-1.5', 'laplace(1)')
    """
    return MARK + text if _FORMULA.match(text) and not _is_number(text) else text


def unmarked(cell: str) -> str:
    """Return the text that `marked` turned into this cell.

    Examples
    --------
    >>> unmarked("'=1+1"), unmarked("'twas"), unmarked("-1.5")
    ('=1+1', "'twas", '-1.5')
    """
    return cell[1:] if cell[:1] == MARK and _MARKED.match(cell) and not _is_number(cell[1:]) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text[:1].isspace()


def write_rows(rows: Iterable[Sequence[object]], stream: TextIO) -> None:
    """Write rows of cells: floats by their shortest exact decimal, infinity as ``inf``, None as an empty cell, texts `marked`."""
    for row in rows:
        line = ",".join(map(_cell, row))
        stream.write(f"{line}\n" if line or len(row) != 1 else '""\n')  # an empty line would not count as a row


def write_frame(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write a table under the names of its columns; a missing value is an empty cell."""
    write_rows([[str(name) for name in frame.columns]], stream)
    write_rows(plain_rows(frame), stream)


def frame_text(frame: pd.DataFrame) -> str:
    """Return a table as the text of a CSV file."""
    out = io.StringIO()
    write_frame(frame, out)
    return out.getvalue()


def read_frame(text: str) -> pd.DataFrame:
    """Return the table of a CSV file that we wrote, with every text restored.

    Raises
    ------
    DomainError
        If the text is not such a table.

    Examples
    --------
    >>> read_frame(frame_text(pd.DataFrame({"label": ["=1+1", "a"], "value": [-1.5, 2.0]})))
      label  value
    0  =1+1   -1.5
    1     a    2.0
    """
    try:
        names, *rows = csv.reader(io.StringIO(text, newline=""))
    except (csv.Error, ValueError) as error:
        msg = f"The text cannot be read as CSV: {error}."
        raise DomainError(msg) from None
    if any(len(row) != len(names) for row in rows):
        msg = f"The text is not a table: not every row has {len(names)} cells like the first one."
        raise DomainError(msg)
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pd.DataFrame({unmarked(name): _column(cells) for name, cells in zip(names, columns, strict=True)})


def _column(cells: Sequence[str]) -> list[Any]:
    """Return the cells of a column: numbers if all cells that are not empty hold numbers, otherwise texts."""
    if all(_WHOLE.fullmatch(cell) for cell in cells):
        return [int(cell) for cell in cells]
    if all(not cell or _is_number(cell) for cell in cells):
        return [float(cell) if cell else math.nan for cell in cells]
    return [unmarked(cell) for cell in cells]


def plain_rows(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table as plain Python values, a block at a time; a missing value is None."""
    missing = pd.NA  # once: each access to a lazy module is an import
    for start in range(0, len(frame), _ROWS_AT_ONCE):
        block = frame.iloc[start : start + _ROWS_AT_ONCE]
        columns = [[_plain(value, missing) for value in block.iloc[:, at].tolist()] for at in range(len(frame.columns))]
        yield from zip(*columns, strict=True)


def _plain(value: Any, missing: object) -> Any:
    return None if value is missing or (isinstance(value, float) and math.isnan(value)) else value


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = marked(value) if isinstance(value, str) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
