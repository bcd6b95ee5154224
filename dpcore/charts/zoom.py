"""Zoom: a chart that a reader can enlarge and move, in the page and without a server.

Ctrl and the wheel (or two fingers on a touchpad) zoom around the pointer, dragging moves, a double click resets. The
wheel alone and a finger still scroll the page: a chart must not trap a reader who scrolls past it. Beyond the ends of
the whole picture, such as rates below 0 or above 1, there is nothing to see: the zoom stops there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dpcore.charts.movable import ENDS, written

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ZOOM: Final = "zoom"
"""Name of the selection; nobody else may use it, and pages that listen to clicks name their own selection."""
_WHEEL: Final = "wheel![event.ctrlKey || event.metaKey]"  # a pinch on a touchpad arrives as a wheel with Ctrl
_DRAG: Final = (
    "[pointerdown[event.pointerType != 'touch' && event.button == 0], window:pointerup] > window:pointermove!"
)
_SELECTION: Final[dict[str, Any]] = {
    "name": ZOOM,
    "select": {"type": "interval", "zoom": _WHEEL, "translate": _DRAG, "clear": "dblclick"},
    "bind": "scales",
}


def zoomable(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification whose axes follow the wheel and the pointer.

    Until the reader zooms, the picture is the same as before: marks at the edge are not cut, and ticks stay where the
    chart has placed them. Zoomed, everything outside the frame is cut off, and the axes choose their own ticks.

    Parameters
    ----------
    spec : mapping
        The Vega-Lite specification of a layered chart; it is not changed.

    Returns
    -------
    dict
        The specification with the selection `ZOOM`, or as it was if no layer has two continuous axes: in a list of bars
        there is nothing to enlarge.
    """
    layers = list(spec.get("layer", ()))
    places = [place for place, layer in enumerate(layers) if _both_continuous(layer)]
    if not places:
        return dict(spec)
    bearer = places[0]  # the scales are shared by all layers: one of them carries the selection
    views = {name: f"{ZOOM}[{layers[bearer]['encoding'][name]['field']!r}]" for name in ("x", "y")}
    ends = spec.get("usermeta", {}).get(ENDS, {})
    logs = {name for layer in layers for name in views if _log(layer["encoding"].get(name, {}))}
    layers = [_following(layer, views, ends, logs) for layer in layers]
    layers[bearer] = {**layers[bearer], "params": [*layers[bearer].get("params", ()), _SELECTION]}
    frame = {**spec.get("view", {}), "fill": "transparent"}  # without a fill, the empty part ignores the pointer
    return {**spec, "layer": layers, "view": frame}


def _both_continuous(layer: Mapping[str, Any]) -> bool:
    return all(_continuous(layer.get("encoding", {}).get(channel, {})) for channel in ("x", "y"))


def _continuous(channel: Mapping[str, Any]) -> bool:
    """Whether a channel shows plain numbers of a column."""
    return channel.get("type") == "quantitative" and "field" in channel and not {"bin", "aggregate"} & channel.keys()


def _log(channel: Mapping[str, Any]) -> bool:
    return (channel.get("scale") or {}).get("type") == "log"


def _following(
    layer: Mapping[str, Any], views: Mapping[str, str], ends: Mapping[str, list[str]], logs: Collection[str]
) -> dict[str, Any]:
    """Return a layer that is cut at the frame, and whose axes are free, while the reader has zoomed.

    `views` are the parts of the two axes in view, `ends` those of axes without a domain of their own, as expressions;
    `logs` are the logarithmic axes, which all layers share.
    """
    mark = layer["mark"]
    mark = {"type": mark} if isinstance(mark, str) else mark
    encoding = {
        name: _freed(part, views[name], f"isValid({views['x']})", ends.get(name), log=name in logs)
        if name in views
        else part
        for name, part in layer["encoding"].items()
    }
    clip = mark.get("clip") or {"expr": f"isValid({views['x']})"}
    return {**layer, "mark": {**mark, "clip": clip}, "encoding": encoding}


def _bounded(view: str, low: str, high: str, *, log: bool) -> str:
    """Return the part of the axis in view: never beyond the whole axis; a part that is moved to the end keeps its size."""
    start, end = f"max({low}, {view}[0])", f"min({high}, {view}[1])"
    if not log:
        size = f"min({high} - {low}, {view}[1] - {view}[0])"
        start, end = f"clamp({view}[0], {low}, {high} - {size})", f"clamp({view}[1], {low} + {size}, {high})"
    return f"isValid({view}) ? [{start}, {end}] : null"


def _freed(channel: Mapping[str, Any], view: str, active: str, ends: list[str] | None, *, log: bool) -> dict[str, Any]:
    """Return a position whose ticks and clamped ends hold only for the whole picture."""
    free = dict(channel)
    axis, scale = dict(channel.get("axis") or {}), dict(channel.get("scale") or {})
    if (values := axis.get("values")) is not None:
        whole = values["expr"] if isinstance(values, dict) else json.dumps(values)
        axis["values"] = {"expr": f"{active} ? null : {whole}"}
    if "labelExpr" in axis:
        axis["labelExpr"] = f"{active} ? format(datum.value, '.6~g') : ({axis['labelExpr']})"
    if scale.get("clamp"):
        scale["clamp"] = {"expr": f"!{active}"}
    domain = scale.get("domain")
    if isinstance(domain, list) and all(isinstance(end, (int, float, dict)) for end in domain):
        ends = [written(end) for end in domain]
    if ends is not None and _continuous(channel):
        low, high = ends
        scale["domainRaw"] = {"expr": _bounded(view, low, high, log=log)}
    free |= {name: part for name, part in (("axis", axis), ("scale", scale)) if part}
    return free
