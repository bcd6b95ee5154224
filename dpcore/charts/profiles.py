"""The profile chart: the smallest delta for each epsilon, on a logarithmic axis."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import pixels, theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.sampling import Regions, named
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.domains import POSITIVE
from dpcore.core.effort import checkpoint
from dpcore.core.kinds import WORDS, facts, kind, kinds
from dpcore.core.numerals import nearest
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions import gate
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

MOST_SENTENCES = 4
MOST_EPSILON = 1e5
PLAIN_FROM = 0.01  # larger values of δ are written without an exponent
_FIRST = 41  # points before refinement
_CORNERS = 100  # of a polygon that are among them
_TOLERANCE = 0.15  # px off the curve, below the half pixel that can be seen


def profile_table(regions: Regions, *, epsilon_max: float | None = None) -> pd.DataFrame:
    """Return the points drawn.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    epsilon_max : float, optional
        The right end of the axis; by default where every delta is below 1e-12 or no longer falls.

    Returns
    -------
    DataFrame
        `region, label, epsilon, delta, kind, theorem, neighbours`; `delta` is ``exact`` or an ``upper`` bound.
    """
    items = named(regions)
    top = POSITIVE.but(name="epsilon_max").check(profile_top(items) if epsilon_max is None else epsilon_max)
    parts = []
    for label, region in items.items():
        epsilon, lower, delta = _sampled(region, top)
        what = kinds((lower, delta), "upper")
        columns = {"region": str(region), "label": label, "epsilon": epsilon, "delta": delta + 0.0, "kind": what}
        parts.append(pd.DataFrame({**columns, **facts(region)}))
    return pd.concat(parts, ignore_index=True)


def profile_top(regions: Mapping[str, TradeOff]) -> float:
    """Return the epsilon at which every delta is below 1e-12 or no longer falls."""
    return max(_end(region) for region in regions.values())


def profile_takeaway(regions: Regions, *, delta: float = 1e-6) -> str:
    """Say which epsilon each region needs for this delta, rounded up.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    delta : float, default 1e-6
        The delta.

    Returns
    -------
    str
        A sentence for each of the first four regions.

    Examples
    --------
    >>> from dpcore import gdp
    >>> profile_takeaway(gdp(1))
    'Gaussian DP, μ = 1: for δ = 1e-6, ε is at most 4.89 (exact).'
    """
    items = named(regions)
    sentences = []
    for label, region in list(items.items())[:MOST_SENTENCES]:
        least, epsilon = (float(bound[0]) for bound in region.epsilon_bounds(delta))
        what = WORDS[kind(least, epsilon, "upper")]
        if np.isinf(epsilon):
            low, floor = (float(bound[0]) for bound in region.delta_bounds(np.inf))
            what = WORDS[kind(low, floor, "upper")]
            sentences.append(
                f"{theme.short(label)}: no ε reaches δ = {nearest(delta)}; δ stays at {outward(floor, 3)} (rounded up, {what})."
            )
        else:
            sentences.append(
                f"{theme.short(label)}: for δ = {nearest(delta)}, ε is at most {outward(epsilon, 3)} ({what})."
            )
    rest = len(items) - len(sentences)
    if rest:
        sentences.append("One more region is in the table." if rest == 1 else f"{rest} more regions are in the table.")
    return " ".join(sentences)


def profile_figure(
    regions: Regions, *, delta: float = 1e-6, epsilon_max: float | None = None, look: Look = PLAIN, **options: Any
) -> Figure:
    """Return the profiles of some regions as a figure.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    delta : float, default 1e-6
        The delta of the sentence.
    epsilon_max : float, optional
        The right end of the axis, as in `profile_table`.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `profile_chart`.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    table = profile_table(regions, epsilon_max=epsilon_max)
    takeaway = profile_takeaway(regions, delta=delta)
    chart = profile_chart(table, look=described(look, takeaway), **options)
    below = bool((table["delta"] < pixels.FLOOR).any())
    notes = ("Values of δ below 1e-12 lie below the picture; the table has them.",) if below else ()
    return Figure(chart, table, takeaway, look.title or "Privacy profiles δ(ε)", notes)


def profile_chart(
    table: pd.DataFrame, *, legend: bool = True, places: Sequence[int] = (), look: Look = PLAIN
) -> alt.LayerChart:
    """Draw delta(epsilon) with delta on a logarithmic axis that ends at 1e-12 or where the curves do.

    Parameters
    ----------
    table : DataFrame
        What `profile_table` returns.
    legend : bool, default True
        Draw the legend.
    places : sequence of int, default ()
        Numbers of the colours of the regions, in their order; 0, 1, 2, ... by default.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    top = float(table["epsilon"].max())
    series = Series(table["label"], dark=look.dark, places=places)
    above = (table["delta"] >= pixels.FLOOR).groupby(table["label"], sort=False)
    table = table[above.shift(1, fill_value=True)]  # each curve ends where it leaves the picture
    curves = table.assign(
        label=table["label"].map(series.name_of),
        shown=np.maximum(table["delta"], pixels.FLOOR),
        epsilon_text=[nearest(v) for v in table["epsilon"]],
        delta_text=[outward(v, 5) for v in table["delta"]],
        paint=table["label"].map(series.name_of).map(series.paint()),
    )[["label", "paint", "epsilon", "shown", "epsilon_text", "delta_text", "kind"]]
    decades = max(1, int(np.ceil(-np.log10(float(curves["shown"].min())) - 1e-9)))
    ticks = [10.0**-k for k in range(0, decades + 1, max(1, round(decades / 6)))]
    ticks += [part * 10.0**-k for k in range(1, decades + 1) for part in (2, 5)] if decades <= 2 else []
    axis = alt.Axis(tickCount=8)
    x = alt.X("epsilon:Q", title=theme.EPSILON_TITLE, scale=alt.Scale(domain=[0, top], nice=False), axis=axis)
    y = alt.Y(
        "shown:Q",
        title=theme.DELTA_TITLE,
        scale=alt.Scale(type="log", domain=[10.0**-decades, 1], clamp=True),
        axis=alt.Axis(
            values=ticks,
            labelExpr=f"datum.value >= {PLAIN_FROM} ? format(datum.value, '.6~g') : format(datum.value, '.0e')",
        ),
    )
    names = {"label": "region", "epsilon_text": "ε", "delta_text": "δ", "kind": "δ is"}
    base = alt.Chart(checked(curves)).encode(x=x, y=y)
    paint = alt.Color("paint:N", scale=None)
    lines = base.mark_line(strokeWidth=2, aria=False).encode(**series.strokes(legend=legend))
    tips = tooltips(names)
    points = base.mark_point(filled=True, opacity=0, size=90, aria=False).encode(color=paint, tooltip=tips)
    text = f"Smallest δ for each ε of {', '.join(series.names)}."
    return theme.finish([lines, points], look, words=text, height=400)


def _delta(region: TradeOff, epsilon: float) -> float:
    return float(gate.delta_bounds(region, np.array([epsilon]))[1][0])


def _end(region: TradeOff) -> float:
    """Return where the profile ends: at its largest loss, or where delta is at most 1e-12 above its limit."""
    limit = region.curve.q_inf

    def first(grid: FloatArray) -> int:
        """Return the first place where delta has come down, the size of the grid if none; delta falls, so halving finds it."""
        return bisect_left(grid, True, key=lambda epsilon: bool(_delta(region, epsilon) <= limit + pixels.FLOOR))

    grid = np.geomspace(0.01, MOST_EPSILON, 29)
    last = first(grid)
    if last == grid.size:
        return MOST_EPSILON
    fine = np.linspace(float(grid[last - 1]) if last else 0.0, float(grid[last]), 13)[1:]
    end = float(fine[first(fine[:-1])])
    return 1.1 * end if limit > 0 else end


def _sampled(region: TradeOff, top: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return epsilon and both sides of delta, denser where the log of delta bends; a bracket of any width is drawn, as a bound."""
    epsilon = np.linspace(0.0, top, _FIRST)
    curve = published(region.curve)
    if isinstance(curve, Polygon):
        inside = curve.loss[(curve.loss > 0) & (curve.loss < top)]
        epsilon = np.union1d(epsilon, inside[:: max(1, -(-inside.size // _CORNERS))])
    if 0.0 < curve.max_loss < top:
        epsilon = np.union1d(epsilon, [curve.max_loss])
    lower, delta = gate.delta_bounds(region, epsilon)
    fresh = np.ones(epsilon.size - 1, dtype=bool)
    for step in range(7):
        checkpoint(step / 7)
        middle = 0.5 * (epsilon[1:] + epsilon[:-1])
        inside_lower, inside_delta = np.zeros((2, middle.size))
        inside_lower[fresh], inside_delta[fresh] = gate.delta_bounds(region, middle[fresh])
        px, py = pixels.WIDTH / top * epsilon, pixels.logarithmic(delta)
        ends = (px[:-1], py[:-1], px[1:], py[1:])
        off = pixels.off_chord(pixels.WIDTH / top * middle, pixels.logarithmic(inside_delta), ends)
        bad = np.flatnonzero(fresh & (off > _TOLERANCE))
        if bad.size == 0 or epsilon.size + bad.size > pixels.MOST_POINTS:
            break
        epsilon, lower = np.insert(epsilon, bad + 1, middle[bad]), np.insert(lower, bad + 1, inside_lower[bad])
        delta = np.insert(delta, bad + 1, inside_delta[bad])
        added = bad + 1 + np.arange(bad.size)
        fresh = np.zeros(epsilon.size - 1, dtype=bool)
        fresh[added] = fresh[added - 1] = True
    return epsilon, lower, delta
