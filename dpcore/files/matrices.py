"""A square matrix from a user's CSV, with or without the names of its rows and columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.columns import comma_sentence, is_comma_number
from dpcore.files.sheet import filled, number_in, rows_of

if TYPE_CHECKING:
    from dpcore.files.sheet import Sheet

MOST_ROWS = 200


@dataclass(frozen=True)
class NamedMatrix:
    """A square matrix.

    Attributes
    ----------
    rows : tuple of tuple of float
        Its numbers.
    names : tuple of str, default ()
        The names of its rows and columns; empty if the file has none.
    notes : tuple of str, default ()
        Anything unusual about its numbers, in sentences.
    """

    rows: tuple[tuple[float, ...], ...]
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(compare=False, default=())


def read_matrix(sheet: Sheet, what: str = "The matrix") -> NamedMatrix:
    """Return the square matrix in a file.

    The file has only numbers; or the names of the columns above them; or names above and on the left, with any text or
    nothing in the corner. Names on the left may be in any order: the rows are sorted into the order of the columns.

    Parameters
    ----------
    sheet : Sheet
        What `dpcore.files.sheet.open_csv` returned.
    what : str, default "The matrix"
        What to call it in messages.
    """
    text = io.TextIOWrapper(io.BytesIO(sheet.data), encoding=sheet.encoding, newline="")
    grid = [
        [cell.strip() for cell in row] for row in rows_of(csv.reader(text, delimiter=sheet.delimiter)) if filled(row)
    ]
    if len(grid) > MOST_ROWS + 1:
        msg = f"{what} has {len(grid)} rows; at most {MOST_ROWS} are read."
        raise DomainError(msg)
    comma = sheet.comma
    named = any(number_in(cell, comma=comma) is None for cell in grid[0])
    left = named and len(grid) == len(grid[0]) and not (len(grid) > 1 and len(grid[1]) < len(grid[0]))
    names = tuple(" ".join(cell.split()) for cell in (grid[0][1:] if left else grid[0])) if named else ()
    rows = [row[1:] if left else row for row in grid[named:]]
    size = len(rows)
    if size < 1 or (names and len(names) != size) or any(len(row) != size for row in rows):
        widths = sorted({len(row) for row in rows} | ({len(names)} if names else set()))
        msg = f"{what} must be square, got {size} row{'s' * (size != 1)} of {' and '.join(map(str, widths)) or 'no'} numbers."
        raise DomainError(msg)
    values = tuple(
        tuple(_entry(cell, (i, j), what, comma=comma) for j, cell in enumerate(row, start=1))
        for i, row in enumerate(rows, start=1)
    )
    ordered = _ordered(values, [row[0] for row in grid[1:]], names, what) if left else values
    return NamedMatrix(ordered, names, _comma_notes(rows, what) if comma else ())


def _comma_notes(rows: list[list[str]], what: str) -> tuple[str, ...]:
    cells = [(cell, i, j) for i, row in enumerate(rows, 1) for j, cell in enumerate(row, 1) if is_comma_number(cell)]
    if not cells:
        return ()
    cell, i, j = cells[0]
    values = f"{len(cells)} value{'s' * (len(cells) > 1)}"
    return (comma_sentence(values, f" of {what[:1].lower()}{what[1:]}", cell, f"row {i}, column {j}"),)


def _entry(cell: str, place: tuple[int, int], what: str, *, comma: bool) -> float:
    value = number_in(cell, comma=comma)
    if value is None:
        msg = f"{what} must hold finite numbers, got {value_text(cell)} in row {place[0]}, column {place[1]}."
        raise DomainError(msg)
    return value


def _ordered(
    values: tuple[tuple[float, ...], ...], left: list[str], names: tuple[str, ...], what: str
) -> tuple[tuple[float, ...], ...]:
    """Return the rows in the order of the columns."""
    own = [" ".join(name.split()) for name in left]
    if sorted(own) != sorted(names) or len(set(names)) < len(names):
        odd = next((name for name in own if name not in names or own.count(name) > 1), own[0])
        msg = f"{what} must have the same names on the left as above, each once, got {value_text(odd)} on the left."
        raise DomainError(msg)
    return tuple(values[own.index(name)] for name in names)
