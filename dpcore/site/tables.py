"""Tables as pages show them, and as values of JSON."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.numerals import nearest
from dpcore.files.csv_writer import unmarked
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

DIGITS: Final = 6
BOUNDED: Final = ("delta", "epsilon", "beta", "power", "value", "y")
MOST_SHOWN: Final = 50  # rows
SOME: Final = 15  # about as many rows of a longer table are shown
MOST_LISTED: Final = 8  # items of a parameter
WORDS_FOR: Final = {True: "yes", False: "no", None: ""}
TRUTHS: Final = {"True": True, "False": False}
_NUMBER: Final = re.compile(r"-?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf)")
_FLOAT: Final = re.compile(r"[.e]")


@dataclass(frozen=True)
class Table:
    """The rows of a table as texts, evenly spaced ones if there are many; the files have all of them in full.

    `same` has the columns of text that say the same in every row, with what they say.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    same: tuple[tuple[str, str], ...] = ()

    @property
    def cut(self) -> bool:
        """Whether rows are left out."""
        return self.total > len(self.rows)


def table_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table as a page shows it; empty columns are left out, and texts that never change are said once."""
    filled = [i for i in range(len(columns)) if any(row[i] not in ("", None) for row in rows)]
    constant = [
        i for i in filled if len(rows) > 2 and isinstance(rows[0][i], str) and len({row[i] for row in rows}) == 1
    ]
    constant = constant if len(constant) < len(filled) else []
    said = tuple((columns[i], cell(rows[0][i])) for i in constant)
    filled = [i for i in filled if i not in constant]
    numeric = tuple(all(_is_number(row[i]) for row in rows) for i in filled)
    step = 1 if len(rows) <= MOST_SHOWN else -(-len(rows) // SOME)
    kind = list(columns).index("kind") if "kind" in columns else None
    cells = tuple(
        tuple(cell(row[i], _side(columns[i], "" if kind is None else str(row[kind]))) for i in filled)
        for row in rows[::step]
    )
    return Table(tuple(columns[i] for i in filled), numeric, cells, len(rows), said)


def rows_of(text: str) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the columns of a CSV file that we wrote, and its rows as values of JSON."""
    names, *rows = csv.reader(io.StringIO(text))
    columns = [_values([unmarked(row[place]) for row in rows]) for place in range(len(names))]
    return names, [list(row) for row in zip(*columns, strict=True)]


def _values(cells: list[str]) -> list[Any]:
    """Return the cells of a column as numbers or truth values if all of them are; an empty cell is None."""
    filled = [cell for cell in cells if cell]
    if filled and all(cell in TRUTHS for cell in filled):
        return [TRUTHS[cell] if cell else None for cell in cells]
    if filled and all(_NUMBER.fullmatch(cell) for cell in filled):
        return [None if not cell else cell if cell.endswith("inf") else _number(cell) for cell in cells]
    return list(cells)


def _number(cell: str) -> float:
    return float(cell) if _FLOAT.search(cell) else int(cell)


def plain_columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of a frame as values of JSON, where infinity becomes the text ``inf``."""
    return {str(name): [_plain(value) for value in frame[name].tolist()] for name in frame.columns}


def plain_rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the rows of a frame as values of JSON."""
    return [list(row) for row in zip(*plain_columns(frame).values(), strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else str(value) if math.isinf(value) else value
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)


def _is_number(value: Any) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in ("inf", "-inf", None)


def _side(column: str, kind: str) -> bool | None:
    """Return True to round up (a bound from above), False to round down (one from below), None for the nearest."""
    if column.endswith(("_lower", "_upper")):
        return column.endswith("_upper")
    return {"upper": True, "lower": False}.get(kind) if column in BOUNDED else None


def parameters_of(values: Mapping[str, Any]) -> list[str]:
    """Return parameters as texts such as ``k = 5``; a long list is shortened to its ends and its length."""
    texts = []
    for name, value in values.items():
        if isinstance(value, dict):
            texts += parameters_of(value)
        elif isinstance(value, list):
            items = [cell(item) for item in value]
            some = items if len(items) <= MOST_LISTED else [*items[:2], "…", items[-1]]
            count = "" if some is items else f" ({len(items)})"
            texts.append(f"{name} = {'; '.join(some)}{count}")
        else:
            texts.append(f"{name} = {cell(value)}")
    return texts


def cell(value: Any, up: bool | None = None) -> str:
    """Return a cell as text: six digits, a bound rounded to its safe side, yes or no for a truth value."""
    if isinstance(value, bool) or value is None:
        return WORDS_FOR[value]
    if isinstance(value, float):
        return nearest(value, DIGITS) if up is None else outward(value, DIGITS, up=up)
    return str(value)
