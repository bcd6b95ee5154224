"""Ledgers to files: CSV and JSON that read back as they were, wrong rows and unknown columns included."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.files.csv_writer import write_rows
from dpcore.ledger.reading import FORMAT, LedgerReading
from dpcore.ledger.records import COLUMNS, NEEDED, Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.ledger.records import Release


def cells_of(release: Release) -> dict[str, Any]:
    """Return the cells of a row, in the order of the columns; what is empty is left out."""
    known = {name: getattr(release, name) for name in COLUMNS}
    kept = {name: value for name, value in known.items() if name in NEEDED or value not in ("", None)}
    return {**kept, **dict(release.extra)}


def all_cells(given: Ledger | LedgerReading) -> list[Mapping[str, Any]]:
    """Return the cells of every row; of a reading also those of the rows that do not count."""
    if isinstance(given, Ledger):
        return [cells_of(release) for release in given.rows]
    return [entry.cells if entry.release is None else cells_of(entry.release) for entry in given.entries]


def to_frame(given: Ledger | LedgerReading) -> pd.DataFrame:
    """Return the table: ``label, expression, count, date, note, group, group_limit`` and the unknown columns.

    Cells that are not there are empty texts; `count` and `group_limit` are texts too, for a wrong row may hold anything.
    """
    rows = all_cells(given)
    names = list(dict.fromkeys([*COLUMNS, *(name for row in rows for name in row)]))
    return pd.DataFrame([[_cell(row.get(name)) for name in names] for row in rows], columns=names, dtype=str)


def to_csv(given: Ledger | LedgerReading) -> str:
    """Return the ledger as CSV; columns that no row uses are left out, except the three every ledger has."""
    return cells_to_csv(all_cells(given))


def cells_to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of cells as CSV."""
    used = {name for row in rows for name, value in row.items() if _cell(value)}
    named = [name for name in COLUMNS if name in NEEDED or name in used]
    names = list(dict.fromkeys([*named, *(name for row in rows for name in row if name not in COLUMNS)]))
    out = io.StringIO()
    write_rows([names, *([_cell(row.get(name)) for name in names] for row in rows)], out)
    return out.getvalue()


def to_json(given: Ledger | LedgerReading) -> str:
    """Return the ledger as JSON: the relation, if one was stated, and a list of rows."""
    body = {"format": FORMAT, "version": 1, "relation": given.relation, "rows": all_cells(given)}
    return json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _cell(value: Any) -> str:
    """Return a cell as text; what is no text or number is written as JSON."""
    if value is None:
        return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value).replace("\r\n", "\n").replace("\r", "\n")
    return json.dumps(value, ensure_ascii=False)
