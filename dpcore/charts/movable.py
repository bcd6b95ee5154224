"""Charts that change in place: the ends of their axes and the names in their legends come as data.

A browser replaces the data of a chart in a few milliseconds, but rebuilds the chart if its specification changes. While
a slider is held, the specification should therefore stay the same, and everything that moves should be data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTS: Final = "facts"
"""Name of the table with one row that holds the ends and the names; the tables of layers have other names."""
ENDS: Final = "ends"
"""Name in ``usermeta`` of the ends of axes without a domain of their own: expressions, by channel."""
_FIXED: Final = (0.0, 1.0)  # ends of rates, which never move
_LAYER: Final = {
    "mark": {"type": "point", "size": 0, "strokeWidth": 0, "aria": False, "tooltip": None},
    "data": {"name": FACTS},
    "encoding": {},
}


def movable(
    spec: Mapping[str, Any], tables: Mapping[str, pd.DataFrame] | None = None
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """Return a specification without the numbers and names that may change with a slider, and the table that holds them.

    Parameters
    ----------
    spec : mapping
        The Vega-Lite specification of a layered chart; it is not changed.
    tables : mapping of str to DataFrame, optional
        Its tables by name. Axes that end where their numbers end then say so in ``usermeta`` (`ENDS`), for the zoom.

    Returns
    -------
    tuple of dict and DataFrame or None
        The specification, and the table to add to its data under the name `FACTS`; None if the chart has no such values.
    """
    facts = _Facts()
    layers = [_freed(layer, facts) for layer in spec.get("layer", ())]
    if ends := _open_ends(spec, tables or {}, facts):
        meta = spec.get("usermeta", {})
        spec = {**spec, "usermeta": {**meta, ENDS: ends}}
    if not facts.known:
        return dict(spec), None
    return {**spec, "layer": [*layers, _LAYER]}, pd.DataFrame({name: [value] for name, value in facts.known.items()})


def _open_ends(spec: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], facts: _Facts) -> dict[str, list[str]]:
    """Return the ends of axes without a domain of their own, as expressions: those of the numbers on them, and 0."""
    ends = {}
    for channel in ("x", "y"):
        parts = [layer.get("encoding", {}).get(channel, {}) for layer in spec.get("layer", ())]
        scales = [part.get("scale") or {} for part in parts]
        if any(isinstance(scale.get("domain"), list) for scale in scales):
            continue
        columns = [
            tables[layer["data"]["name"]][field].to_numpy()
            for layer in spec.get("layer", ())
            for name in (channel, f"{channel}2")
            if (field := layer.get("encoding", {}).get(name, {}).get("field")) and _has_numbers(layer, field, tables)
        ]
        values = np.concatenate(columns) if columns else np.empty(0)
        is_log = any(scale.get("type") == "log" for scale in scales)
        values = values[np.isfinite(values) & ((values > 0) | (not is_log))]
        if values.size and not is_log and all(scale.get("zero", True) for scale in scales):
            values = np.append(values, 0.0)
        if values.size and values.min() < values.max():
            pair = (("low", values.min()), ("high", values.max()))
            ends[channel] = [facts.expression(f"{channel}_{side}", float(end))["expr"] for side, end in pair]
    return ends


def _has_numbers(layer: Mapping[str, Any], field: str, tables: Mapping[str, pd.DataFrame]) -> bool:
    table = tables.get(layer.get("data", {}).get("name", ""))
    return table is not None and field in table and table[field].dtype.kind in "iuf"


class _Facts:
    """The values that are taken out of a specification, by the names under which expressions find them."""

    def __init__(self) -> None:
        self.known: dict[str, float | str] = {}

    def expression(self, stem: str, value: float | str) -> dict[str, str]:
        """Return the expression for a value; the same one in all layers, which share their scales."""
        name, more = stem, 0
        while name in self.known and self.known[name] != value:  # at most one round for each known name
            more += 1
            name = f"{stem}_{more}"
        self.known[name] = value
        return {"expr": f"data('{FACTS}')[0].{name}"}


def _freed(layer: Mapping[str, Any], facts: _Facts) -> dict[str, Any]:
    parts = {
        channel: _channel(channel, part, facts) if isinstance(part, dict) else part
        for channel, part in layer.get("encoding", {}).items()
    }
    return {**layer, "encoding": parts} if parts else dict(layer)


def _channel(name: str, part: dict[str, Any], facts: _Facts) -> dict[str, Any]:
    scale, axis = part.get("scale") or {}, part.get("axis") or {}
    free = dict(part)
    if isinstance(domain := scale.get("domain"), list):
        free["scale"] = {**scale, "domain": [_end(name, place, end, facts) for place, end in enumerate(domain)]}
    if isinstance(values := axis.get("values"), list) and not set(values) <= set(_FIXED):
        texts = [_end(f"{name}_tick", place, value, facts) for place, value in enumerate(values)]
        free["axis"] = {**axis, "values": {"expr": f"[{', '.join(map(written, texts))}]"}}
    return free


def _end(name: str, place: int, value: Any, facts: _Facts) -> Any:
    if isinstance(value, str):
        return facts.expression(f"series_{place}", value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value not in _FIXED:
        return facts.expression(f"{name}_{place}", float(value))
    return value


def written(value: Any) -> str:
    """Return an end of an axis as it is written in an expression of Vega."""
    return str(value["expr"]) if isinstance(value, dict) else repr(value)
