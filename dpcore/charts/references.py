"""Lines and points on top of a region figure: the diagonal of equal errors, a rate, a named corner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from dpcore.charts import pixels, theme
from dpcore.charts.figure import Figure, layer_table
from dpcore.charts.theme import PLAIN, Look
from dpcore.core.domains import ALPHA
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.parameter import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Pair = tuple[float, float]

LINE_KEYS, POINT_KEYS = ("alpha", "beta", "start", "end", "label"), ("alpha", "beta", "label", "open")
_RATE = ALPHA.but(name="A rate")
_RIGHT = 0.6  # beyond this, a name has more room on the left of its point
_MIDDLE, _NEAR = (
    0.25,
    0.8,
)  # the words beside the diagonal are right of the middle; a name near them is placed below its point
_PLACES: dict[str, dict[str, Any]] = {
    "right": {"align": "left", "dx": 10, "dy": -9},
    "left": {"align": "right", "dx": -10, "dy": -9},
    "below": {"align": "right", "dx": -8, "dy": 14},
}
"""Where the label of a point is placed."""


def with_references(
    figure: Figure,
    *,
    lines: Sequence[Mapping[str, Any]] = (),
    points: Sequence[Mapping[str, Any]] = (),
    axes: str = "fdp",
    log: bool = False,
    look: Look = PLAIN,
) -> Figure:
    """Return a region figure with dotted lines and named points on it.

    Parameters
    ----------
    figure : Figure
        What `region_figure` returned with the same `axes` and `log`.
    lines : sequence of mapping of str to object, default ()
        Tables with ``alpha`` (all points of this false-positive rate), ``beta``, or ``start`` and ``end`` as
        pairs (alpha, beta); and a ``label``.
    points : sequence of mapping of str to object, default ()
        Tables with ``alpha``, ``beta`` and ``label``; ``open = true`` draws a ring, for points that are not the main one.
    axes : str, default "fdp"
        As in `region_chart`.
    log : bool, default False
        As in `region_chart`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    layers: list[alt.Chart] = []
    for line in lines:
        layers += _line(list(_ends(line)), str(line.get("label", "")), axes, log=log, look=look)
    if points:
        layers += _points(points, axes, log=log, look=look)
    return replace(figure, chart=theme.over(figure.chart, *layers))


def _ends(line: Mapping[str, Any]) -> tuple[Pair, Pair]:
    """Return both ends of a line."""
    wrong = set(line) - set(LINE_KEYS)
    if not wrong and "start" in line and "end" in line:
        return _pair(line["start"]), _pair(line["end"])
    if not wrong and ("alpha" in line) != ("beta" in line):
        rate = _RATE.check(line.get("alpha", line.get("beta")))
        return ((rate, 0.0), (rate, 1.0)) if "alpha" in line else ((0.0, rate), (1.0, rate))
    msg = f"A line has alpha, or beta, or start and end, and a label; got {value_text(dict(line))}."
    raise DomainError(msg)


def _pair(value: Any) -> Pair:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        msg = f"A point is a pair [alpha, beta], got {value_text(value)}."
        raise DomainError(msg)
    return _RATE.check(value[0]), _RATE.check(value[1])


def _placed(pairs: Sequence[Pair], axes: str, *, log: bool) -> dict[str, list[Any]]:
    """Return the coordinates of points in the picture."""
    least = pixels.FLOOR if log else 0.0
    turned = pairs if axes == "fdp" else [(beta, alpha) for alpha, beta in pairs]
    return {"x": [max(x, least) for x, _ in turned], "y": [max(y, least) for _, y in turned]}


def _line(pairs: list[Pair], label: str, axes: str, *, log: bool, look: Look) -> list[alt.Chart]:
    ink = theme.ink(dark=look.dark)
    rows = _placed(pairs, axes, log=log)
    line = alt.Chart(layer_table(rows)).mark_line(color=ink, strokeWidth=1.25, strokeDash=[2, 3], aria=False)
    layers = [line.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))]
    if label:
        at = rows["y"].index(max(rows["y"]))
        top = layer_table({"x": [rows["x"][at]], "y": [rows["y"][at]], "text": [theme.short(label)]})
        right = rows["x"][at] >= _RIGHT
        word = alt.Chart(top).mark_text(
            color=ink, align="right" if right else "left", dx=-6 if right else 6, dy=10, aria=False
        )
        layers.append(word.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N")))
    return layers


def _points(points: Sequence[Mapping[str, Any]], axes: str, *, log: bool, look: Look) -> list[alt.Chart]:
    for point in points:
        if set(point) - set(POINT_KEYS) or not {"alpha", "beta"} <= set(point):
            msg = f"A point has alpha, beta, a label and open = true or false; got {value_text(dict(point))}."
            raise DomainError(msg)
    pairs = [_pair([point["alpha"], point["beta"]]) for point in points]
    rows = _placed(pairs, axes, log=log) | {
        "text": [theme.short(str(point.get("label", ""))) for point in points],
        "rates": [f"α = {nearest(alpha, 4)}, β = {nearest(beta, 4)}" for alpha, beta in pairs],
        "open": [bool(point.get("open", False)) for point in points],
    }
    ink, back = theme.ink(dark=look.dark), theme.paper(dark=look.dark)
    base = alt.Chart(layer_table(rows)).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    tips = [alt.Tooltip("text:N", title="point"), alt.Tooltip("rates:N", title="errors")]
    fill = alt.ColorValue(ink, condition={"test": "datum.open", "value": back})
    dots = base.mark_point(filled=True, size=110, opacity=1, stroke=ink, strokeWidth=2, aria=False)
    layers = [dots.encode(color=fill, tooltip=tips)]
    sides = [_side(x, y) for x, y in zip(rows["x"], rows["y"], strict=True)]
    for side, place in _PLACES.items():
        named = [i for i, text in enumerate(rows["text"]) if text and sides[i] == side]
        if named:
            some = layer_table({name: [values[i] for i in named] for name, values in rows.items()})
            words = alt.Chart(some).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
            layers += theme.halo_text(words, "text:N", dark=look.dark, fontSize=theme.SMALL, fontWeight=600, **place)
    return layers


def _side(x: float, y: float) -> str:
    """Return the side of a point for its label: inside the picture, and clear of the words beside the diagonal."""
    if x >= _RIGHT:
        return "left"
    return "below" if x >= _MIDDLE and x + y >= _NEAR else "right"
