"""Tables edited on a page: the changes that an editor reports, applied to the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def changed_rows(
    rows: Sequence[Mapping[str, Any]],
    changes: Mapping[str, Any],
    *,
    ignored: Collection[str] = (),
    fresh: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows after the changes that `st.data_editor` reports; empty new rows are left out.

    Parameters
    ----------
    rows : sequence of mapping
        The cells as they were.
    changes : mapping
        What the editor stores under its key.
    ignored : collection of str, default ()
        Columns that are only displayed.
    fresh : mapping of str to str, optional
        Default cells of a new row.
    """
    new = [dict(row) for row in rows]
    for place, cells in changes.get("edited_rows", {}).items():
        if 0 <= int(place) < len(new):
            new[int(place)].update({name: _typed(value) for name, value in cells.items() if name not in ignored})
    gone = {int(place) for place in changes.get("deleted_rows", [])}
    table = [row for place, row in enumerate(new) if place not in gone]
    for cells in changes.get("added_rows", []):
        typed = {name: _typed(value) for name, value in cells.items() if name not in ignored and _typed(value)}
        if typed:
            table.append({**(fresh or {}), **typed})
    return table


def _typed(value: Any) -> str:
    return "" if value is None else str(value).strip()
