"""Numbers from your own table: cells, counts and sums, as the file states them."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.sheet import decoded, filled, number_in, open_csv, rows_of
from dpcore.values.quantity import NumberValue, RecordValue, TextValue, Value, given

if TYPE_CHECKING:
    from dpcore.values.evaluation import Scope

FUNCTIONS: Final = ("cell", "table")


def _rows(scope: Scope, file: str) -> tuple[tuple[str, ...], list[list[str]]]:
    sheet = open_csv(scope.content(file))
    text, _ = decoded(sheet.data)
    rows = [row for row in rows_of(csv.reader(io.StringIO(text), delimiter=sheet.delimiter)) if filled(row)]
    return sheet.columns, rows[1:] if sheet.header else rows


def _place(columns: tuple[str, ...], column: str) -> int:
    if column not in columns:
        msg = f"The file has the columns {', '.join(columns)[:200]}; there is no column {value_text(column)}."
        raise DomainError(msg)
    return columns.index(column)


def cell(scope: Scope, file: str, column: str, row: Any = 1) -> Value:
    """Return one cell of a CSV file: `row` is its number from 1, or the text in the first column."""
    columns, rows = _rows(scope, file)
    place = _place(columns, column)
    if isinstance(row, str):
        matches = [cells for cells in rows if cells and cells[0].strip() == row]
        if len(matches) != 1:
            msg = f"{len(matches)} rows have {value_text(row)} in the first column; it must be one."
            raise DomainError(msg)
        cells = matches[0]
    else:
        if not 1 <= row <= len(rows):
            msg = f"The file has rows 1 to {len(rows)}, got row {row}."
            raise DomainError(msg)
        cells = rows[int(row) - 1]
    text = cells[place].strip() if place < len(cells) else ""
    number = number_in(text)
    return TextValue(text) if number is None else given(number)


def table(scope: Scope, file: str, column: str = "") -> RecordValue:
    """Return facts about a CSV file: its number of rows, and the sum, minimum and maximum of one column of numbers."""
    columns, rows = _rows(scope, file)
    parts: dict[str, Value] = {"rows": given(len(rows)), "columns": given(len(columns))}
    if column:
        place = _place(columns, column)
        numbers = [number_in(cells[place]) if place < len(cells) else None for cells in rows]
        if any(one is None for one in numbers) or not numbers:
            at = numbers.index(None) + 1 if None in numbers else 1
            got = value_text(rows[at - 1][place]) if rows and place < len(rows[at - 1]) else "nothing"
            msg = f"Row {at}: column {value_text(column)} must hold a number, with a point as the decimal sign, got {got}."
            raise DomainError(msg)
        exact = [float(one) for one in numbers if one is not None]
        parts |= {
            "sum": NumberValue(math.fsum(exact), math.fsum(exact)),
            "least": given(min(exact)),
            "largest": given(max(exact)),
        }
    return RecordValue(f"{file}, {len(rows)} rows", parts)
