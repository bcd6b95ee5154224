"""Tables as a page shows them, and as files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

DIGITS: Final = 6
BOUNDED: Final = ("delta", "epsilon", "beta", "power", "value", "y")
MOST_SHOWN: Final = 50
SOME: Final = 25  # rows of a table that has more than that
MOST_LISTED: Final = 8
WORDS_FOR: Final = {True: "yes", False: "no", None: ""}


@dataclass(frozen=True)
class Table:
    """Some rows of a table as texts, evenly chosen if there are many: all of them, in full, are in the files."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int

    @property
    def cut(self) -> bool:
        """Whether rows are left out."""
        return self.total > len(self.rows)


def table_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return what a page shows of a table; a column in which nothing stands is left out."""
    filled = [i for i in range(len(columns)) if any(row[i] not in ("", None) for row in rows)]
    numeric = tuple(all(_is_number(row[i]) for row in rows) for i in filled)
    step = 1 if len(rows) <= MOST_SHOWN else -(-len(rows) // SOME)
    kind = list(columns).index("kind") if "kind" in columns else None
    shown = tuple(
        tuple(cell(row[i], _side(columns[i], "" if kind is None else str(row[kind]))) for i in filled)
        for row in rows[::step]
    )
    return Table(tuple(columns[i] for i in filled), numeric, shown, len(rows))


def plain_columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of a frame as JSON can hold them; it has no infinity, which becomes the text ``inf``."""
    return {str(name): [_plain(value) for value in frame[name].tolist()] for name in frame.columns}


def plain_rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the rows of a frame as JSON can hold them."""
    return [list(row) for row in zip(*plain_columns(frame).values(), strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else str(value) if math.isinf(value) else value
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)


def _is_number(value: Any) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in ("inf", "-inf", None)


def _side(column: str, kind: str) -> bool | None:
    """Return whether a number is rounded up (a bound from above), down (one from below), or None for to the nearest."""
    if column.endswith(("_lower", "_upper")):
        return column.endswith("_upper")
    return {"upper": True, "lower": False}.get(kind) if column in BOUNDED else None


def parameters_of(values: Mapping[str, Any]) -> list[str]:
    """Return parameters as texts such as ``k = 5``; of a long list the first and the last, and how many there are."""
    found = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += parameters_of(value)
        elif isinstance(value, list):
            items = [cell(item) for item in value]
            some = items if len(items) <= MOST_LISTED else [*items[:2], "…", items[-1]]
            count = "" if some is items else f" ({len(items)})"
            found.append(f"{name} = {'; '.join(some)}{count}")
        else:
            found.append(f"{name} = {cell(value)}")
    return found


def cell(value: Any, up: bool | None = None) -> str:
    """Return a cell as text: six digits, a bound rounded to its safe side; yes and no in words."""
    if isinstance(value, bool) or value is None:
        return WORDS_FOR[value]
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}" if up is None else outward(value, DIGITS, up=up)
    return str(value)
