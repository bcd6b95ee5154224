"""The map: one measure over two parameters, as shades with contour lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.contours import contour, levels
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

MOST_CELLS = 10_000
"""Cells of one map: as many rectangles as a browser draws at once."""

_EVEN = 0.02
"""Coordinates get a logarithmic axis if their logarithms, but not they themselves, are spaced this evenly."""

_SHADES = (0.06, 0.9)
"""Opacity of the smallest and of the largest value."""


def map_figure(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    measure: str = "value",
    titles: tuple[str, str] = ("", ""),
    look: Look = PLAIN,
) -> Figure:
    """Return the map of a sweep.

    Parameters
    ----------
    table : DataFrame
        What `dpcore.sweeps.sweep` returns, over two holes with at least two values each.
    x, y : str
        The holes to draw across and up.
    measure : str
        What is measured, for the sentence and the tooltips.
    titles : tuple of (str, str)
        Titles of the axes; the names of the holes by default.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The table is the sweep's own.
    """
    _check(table, x, y)
    names = titles[0] or x, titles[1] or y
    drawn = table[table["value"].notna() & np.isfinite(table["value"].astype("float64").to_numpy(na_value=np.nan))]
    if drawn.empty:
        reason = next((text for text in table["error"] if text), "All values are infinite.")
        msg = f"No cell of this map has a finite value. {reason}"
        raise DomainError(msg)
    takeaway = _takeaway(drawn, x, y, names, measure)
    chart = _chart(table, drawn, x, y, names, measure, described(look, takeaway))
    return Figure(
        chart, table, takeaway, look.title or f"{measure} over {names[0]} and {names[1]}", _notes(table, drawn)
    )


def _check(table: pd.DataFrame, x: str, y: str) -> None:
    for name in (x, y):
        if name not in table.columns or table[name].dtype.kind not in "if" or table[name].nunique() < 2:
            msg = f"A map needs at least two numbers for {name!r}."
            raise DomainError(msg)
        endless = table[name][~np.isfinite(table[name])]
        if len(endless):
            msg = f"A map needs finite numbers for {name!r}, got {nearest(float(endless.iloc[0]))}."
            raise DomainError(msg)
    if x == y or table.duplicated([x, y]).any():
        msg = "A map has two different parameters that vary; every other one has a single value."
        raise DomainError(msg)
    COUNT.but(name="cells", high=MOST_CELLS).check(len(table))


def _notes(table: pd.DataFrame, drawn: pd.DataFrame) -> tuple[str, ...]:
    blank = len(table) - len(drawn)
    if not blank:
        return ()
    what = "One cell has" if blank == 1 else f"{blank} cells have"
    return (f"{what} no finite value; the table says why.",)


def _takeaway(drawn: pd.DataFrame, x: str, y: str, names: tuple[str, str], measure: str) -> str:
    """Say the least and the largest value and where they are."""
    words = []
    values = drawn["value"].astype("float64").to_numpy()
    for place in (int(values.argmin()), int(values.argmax())):
        row = drawn.iloc[place]
        bound = {"upper": "at most ", "lower": "at least ", "approximate": "about "}.get(row["kind"], "")
        number = outward(float(row["value"]), 3, up=row["kind"] != "lower")
        words.append(f"{bound}{number} at {names[0]} = {_place(row[x])}, {names[1]} = {_place(row[y])}")
    return f"{measure}: {words[0]}; {words[1]}."


def _chart(
    table: pd.DataFrame, drawn: pd.DataFrame, x: str, y: str, names: tuple[str, str], measure: str, look: Look
) -> alt.LayerChart:
    across, up = (np.sort(table[name].unique()).astype(np.float64) for name in (x, y))
    logs = _is_log(across), _is_log(up)
    values = drawn["value"].to_numpy(dtype=np.float64)
    shade = _shades(values)
    cells = pd.DataFrame(
        {
            **_sides("x", drawn[x].to_numpy(dtype=np.float64), across, log=logs[0]),
            **_sides("y", drawn[y].to_numpy(dtype=np.float64), up, log=logs[1]),
            "shade": shade,
            "across": [_place(v, 6) for v in drawn[x]],
            "up": [_place(v, 6) for v in drawn[y]],
            "number": [outward(v, 5, up=k != "lower") for v, k in zip(values.tolist(), drawn["kind"], strict=True)],
            "kind": [WORDS.get(kind, kind) for kind in drawn["kind"]],
        }
    )
    axis_x, axis_y = (_channel(*one) for one in zip((alt.X, alt.Y), ("x", "y"), names, logs, (across, up), strict=True))
    tips = tooltips({"across": names[0], "up": names[1], "number": measure, "kind": "what it is"})
    rectangles = (
        alt.Chart(checked(cells))
        .mark_rect(color=theme.colour(0, dark=look.dark), aria=False)
        .encode(
            x=axis_x,
            x2=alt.X2("x_end:Q"),
            y=axis_y,
            y2=alt.Y2("y_end:Q"),
            opacity=alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=list(_SHADES)), legend=None),
            tooltip=tips,
        )
    )
    layers = [rectangles, *_lines(drawn, x, y, (across, up), logs, (axis_x, axis_y), look)]
    return theme.finish(layers, look, words=f"{measure} over {names[0]} and {names[1]}.", height=400)


def _lines(
    drawn: pd.DataFrame,
    x: str,
    y: str,
    grid: tuple[FloatArray, FloatArray],
    logs: tuple[bool, bool],
    axes: tuple[alt.X, alt.Y],
    look: Look,
) -> list[alt.Chart]:
    """Return the contour lines with their numbers; none where values are not positive."""
    across, up = grid
    z = np.full((up.size, across.size), np.nan)
    rows, columns = np.searchsorted(up, drawn[y]), np.searchsorted(across, drawn[x])
    values = drawn["value"].astype("float64").to_numpy()
    positive = values > 0
    if not positive.any() or values[positive].min() == values.max():
        return []
    z[rows[positive], columns[positive]] = np.log(values[positive])
    places = [np.log(side) if log else side for side, log in zip(grid, logs, strict=True)]
    points: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for level in levels(float(values[positive].min()), float(values.max())):
        for number, line in enumerate(contour(places[0], places[1], z, float(np.log(level)))):
            ends = [[float(np.exp(v)) if log else v for v, log in zip(point, logs, strict=True)] for point in line]
            name = f"{nearest(level)} {number}"
            points += [{"line": name, "order": i, "x": a, "y": b} for i, (a, b) in enumerate(ends)]
            if len(line) > max(across.size, up.size) // 5:
                middle = ends[len(ends) // 2]
                labels.append({"x": middle[0], "y": middle[1], "text": nearest(level)})
    if not points:
        return []
    ink = theme.ink(dark=look.dark)
    lines = (
        alt.Chart(checked(pd.DataFrame(points)))
        .mark_line(color=ink, strokeWidth=1.2, aria=False)
        .encode(x=axes[0], y=axes[1], detail="line:N", order="order:Q")
    )
    if not labels:
        return [lines]
    base = alt.Chart(checked(pd.DataFrame(labels))).encode(x=axes[0], y=axes[1])
    return [lines, *theme.halo_text(base, "text:N", dark=look.dark, halo=0.8, fontSize=theme.SMALL)]


def _is_log(values: FloatArray) -> bool:
    """Return whether coordinates are more even on a logarithmic axis than on a linear one."""
    if values[0] <= 0 or values.size < 3:
        return bool(values[0] > 0 and values[-1] >= 10 * values[0])
    plain, logs = np.diff(values), np.diff(np.log(values))
    return bool(np.ptp(logs) / logs.mean() < np.ptp(plain) / plain.mean() - _EVEN)


def _shades(values: FloatArray) -> FloatArray:
    """Return a share between 0 and 1 for each value, by its logarithm if all are positive."""
    sizes = np.log(values) if values.min() > 0 else values
    width = float(np.ptp(sizes))
    return (sizes - sizes.min()) / width if width > 0 else np.full(values.size, 0.5)


def _sides(name: str, at: FloatArray, grid: FloatArray, *, log: bool) -> dict[str, FloatArray]:
    """Return the two sides of each cell: half-way to its neighbours."""
    places = np.log(grid) if log else grid
    middle = 0.5 * (places[1:] + places[:-1])
    edges = np.concatenate((2 * places[:1] - middle[:1], middle, 2 * places[-1:] - middle[-1:]))
    edges = np.exp(edges) if log else edges
    index = np.searchsorted(grid, at)
    return {name: edges[index], f"{name}_end": edges[index + 1]}


def _place(value: float, digits: int = 4) -> str:
    """Return a value of an axis for a sentence or a tooltip; a large integer has the axis's thousands separators."""
    return grouped(int(value)) if value == int(value) and 1000 <= value < 1e15 else nearest(value, digits)


def _channel(channel: Any, name: str, title: str, log: bool, grid: FloatArray) -> Any:  # log: one of five facts
    sides = _sides(name, grid[[0, -1]], grid, log=log)
    domain = [float(sides[name][0]), float(sides[f"{name}_end"][1])]
    scale = alt.Scale(type="log" if log else "linear", domain=domain, nice=False, zero=alt.Undefined if log else False)
    axis = alt.Axis(grid=False, tickCount=6)
    return channel(f"{name}:Q", title=theme.short(title), scale=scale, axis=axis)
