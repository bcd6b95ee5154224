"""Ledgers to CSV and JSON files that read back unchanged, wrong rows and unknown columns included."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.files.csv_writer import write_rows
from dpcore.ledger.reading import FORMAT, LedgerReading
from dpcore.ledger.records import COLUMNS, REQUIRED, Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.ledger.records import Release


def cells_of(release: Release) -> dict[str, Any]:
    """Return the cells of a row, in the order of the columns; empty ones are left out."""
    cells = {name: getattr(release, name) for name in COLUMNS}
    filled = {name: value for name, value in cells.items() if name in REQUIRED or value not in ("", None)}
    return {**filled, **dict(release.extra)}


def all_cells(source: Ledger | LedgerReading) -> list[Mapping[str, Any]]:
    """Return the cells of every row, wrong rows of a file included."""
    if isinstance(source, Ledger):
        return [cells_of(release) for release in source.rows]
    return [entry.cells if entry.release is None else cells_of(entry.release) for entry in source.entries]


def to_frame(source: Ledger | LedgerReading) -> pd.DataFrame:
    """Return the table: ``label, expression, count, date, note, group, group_limit`` and the unknown columns.

    Missing cells are empty texts; `count` and `group_limit` are texts too, because a wrong row may hold anything.

    Parameters
    ----------
    source : Ledger or LedgerReading
        A ledger, or a file with its wrong rows.

    Returns
    -------
    DataFrame
        One row for each row, all cells as text.
    """
    rows = all_cells(source)
    names = list(dict.fromkeys([*COLUMNS, *(name for row in rows for name in row)]))
    return pd.DataFrame([[_cell(row.get(name)) for name in names] for row in rows], columns=names, dtype=str)


def to_csv(source: Ledger | LedgerReading) -> str:
    """Return the ledger as CSV; columns that no row uses are left out, except the three required ones.

    Parameters
    ----------
    source : Ledger or LedgerReading
        A ledger, or a file with its wrong rows.

    Returns
    -------
    str
        The content of the file.
    """
    return cells_to_csv(all_cells(source))


def cells_to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of cells as CSV."""
    filled = {name for row in rows for name, value in row.items() if _cell(value)}
    standard = [name for name in COLUMNS if name in REQUIRED or name in filled]
    names = list(dict.fromkeys([*standard, *(name for row in rows for name in row if name not in COLUMNS)]))
    out = io.StringIO()
    write_rows([names, *([_cell(row.get(name)) for name in names] for row in rows)], out)
    return out.getvalue()


def to_json(source: Ledger | LedgerReading) -> str:
    """Return the ledger as JSON: the relation, if one was stated, and a list of rows.

    Parameters
    ----------
    source : Ledger or LedgerReading
        A ledger, or a file with its wrong rows.

    Returns
    -------
    str
        The content of the file.
    """
    body = {"format": FORMAT, "version": 1, "relation": source.relation, "rows": all_cells(source)}
    return json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _cell(value: Any) -> str:
    """Return a cell as text; anything but a text or a number is written as JSON."""
    if value is None:
        return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value).replace("\r\n", "\n").replace("\r", "\n")
    return json.dumps(value, ensure_ascii=False)
