"""The loss chart: how much an answer gives away, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.kinds import facts
from dpcore.core.numerals import nearest
from dpcore.curves.polygon import Polygon
from dpcore.regions import gate
from dpcore.words import kind_of, of_100, outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

MOST_BARS = 200
_NEGLIGIBLE = 1e-7  # the mass at either end that shares its last bar: no bar of it would be visible
_CELLS = 80  # bars of a smooth region: narrow enough to show its shape, wide enough for differences of the profile


def loss_table(region: TradeOff) -> pd.DataFrame:
    """Return the distribution of the loss when the person is in the data (P1), a row per bar.

    Parameters
    ----------
    region : TradeOff
        The region.

    Returns
    -------
    DataFrame
        `region, low, high, loss_label, mass, kind, theorem, neighbours`. A polygon has atoms (low = high = the loss),
        ``exact``; more than 50 of them are merged with their neighbours into at most 200 bars, and what is rarer than
        1e-7 at either end joins the last bar. A smooth region has cells, ``approximate`` by differences of its profile.
        Mass at infinity is a row of its own with the label ``inf``.
    """
    curve = region.curve
    if isinstance(curve, Polygon):
        region.dual  # noqa: B018  checks the masses once
        low, high, mass = _atoms(curve)
    else:
        low, high, mass = _cells(region)
    label = [nearest(a, 4) if a == b else f"{nearest(a, 4)} to {nearest(b, 4)}" for a, b in zip(low, high, strict=True)]
    kind = "exact" if isinstance(curve, Polygon) else "approximate"
    rows = pd.DataFrame({"low": low, "high": high, "loss_label": label, "mass": mass, "kind": kind})
    if curve.q_inf > 0:
        sure = "exact" if curve.exact and region.fails else "upper"
        end = {"low": np.inf, "high": np.inf, "loss_label": "inf", "mass": curve.q_inf, "kind": sure}
        rows = pd.concat([rows, pd.DataFrame([end])], ignore_index=True)
    rows.insert(0, "region", str(region))
    return rows.assign(**facts(region))


def loss_takeaway(region: TradeOff) -> str:
    """Say how often the loss is infinite, and how large it is otherwise.

    Parameters
    ----------
    region : TradeOff
        The region.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> from dpcore import dp
    >>> loss_takeaway(dp(1, 0.05))
    'DP, ε = 1, δ = 0.05: in at most 5 of 100 answers the loss is infinite; in the others it is at most 1 (exact).'
    """
    curve = region.curve
    name = theme.short(region.legend)
    most = f"at most {outward(curve.max_loss, 4)}" if np.isfinite(curve.max_loss) else "without an upper limit"
    if curve.q_inf >= 1:
        return f"{name}: every answer may give a person away for certain; the loss is infinite (exact)."
    if region.fails:
        return f"{name}: in at most {of_100(curve.q_inf)} answers the loss is infinite; in the others it is {most} ({kind_of(region)})."
    return f"{name}: the loss is never infinite; it is {most} ({kind_of(region)})."


def loss_figure(region: TradeOff, *, look: Look = PLAIN, **options: Any) -> Figure:
    """Return the loss distribution of a region as a figure.

    Parameters
    ----------
    region : TradeOff
        The region.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `loss_chart`.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    table = loss_table(region)
    takeaway = loss_takeaway(region)
    chart = loss_chart(table, look=described(look, takeaway), **options)
    rough = bool((table["kind"] == "approximate").any())
    notes = ("Bars are an approximation: differences of the profile δ(ε).",) if rough else ()
    return Figure(chart, table, takeaway, look.title or "Loss distribution", notes)


def loss_chart(table: pd.DataFrame, *, look: Look = PLAIN) -> alt.LayerChart:
    """Draw bars over the loss; mass at infinity is set apart on the right, with a label.

    Parameters
    ----------
    table : DataFrame
        What `loss_table` returns.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    finite = np.isfinite(table["low"].to_numpy(dtype=np.float64))
    some, never = table[finite], table[~finite]
    start, end = (float(some["low"].min()), float(some["high"].max())) if len(some) else (-1.0, 1.0)
    span = max(end - start, 0.5)
    place = end + 0.16 * span
    thin = 0.5 * _bar_width(some, span)
    wide = some["low"] < some["high"]
    bars = pd.DataFrame(
        {
            "left": np.where(wide, some["low"], some["low"] - thin),
            "right": np.where(wide, some["high"], some["low"] + thin),
            "mass": some["mass"],
            "loss_text": some["loss_label"],
            "mass_text": [nearest(v) for v in some["mass"]],
            "kind": some["kind"],
        }
    )
    outside = pd.DataFrame(
        {
            "left": place - 0.02 * span,
            "right": place + 0.02 * span,
            "mass": never["mass"],
            "loss_text": "inf",
            "mass_text": [nearest(v) for v in never["mass"]],
            "kind": never["kind"],
        }
    )
    x = alt.X(
        "left:Q",
        title="Loss (log likelihood ratio)",
        axis=alt.Axis(values=_ticks(start, end)),
        scale=alt.Scale(
            domain=[start - 0.06 * span, (place + 0.12 * span) if len(never) else end + 0.06 * span], nice=False
        ),
    )
    most = float(table["mass"].max())
    y = alt.Y(
        "mass:Q",
        title="Probability per bar (in the data)",
        scale=alt.Scale(domain=[0, 1.12 * most], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    names = {"loss_text": "loss", "mass_text": "probability", "kind": "is"}
    tips = tooltips(names)
    colours = theme.palette(look.dark)
    where = {"x": x, "x2": alt.X2("right:Q"), "y": y, "y2": alt.Y2Datum(0)}
    layers = [alt.Chart(checked(bars)).mark_rect(color=colours[0], aria=False).encode(tooltip=tips, **where)]
    if len(never):
        layers.append(alt.Chart(checked(outside)).mark_rect(color=colours[1], aria=False).encode(tooltip=tips, **where))
        words = outside.assign(left=place, words=[f"inf: {outward(v, 3)}" for v in outside["mass"]])
        text = alt.Chart(checked(words)).mark_text(dy=-8, color=theme.ink(dark=look.dark), aria=False)
        layers.append(text.encode(x=x, y=y, text=alt.Text("words:N")))
    summary = "How often each loss occurs when the person is in the data."
    return theme.finish(layers, look, words=summary, height=300)


def _bar_width(some: pd.DataFrame, span: float) -> float:
    """Return the width of the bar of an atom: most of the way to its nearest neighbour, within limits."""
    gaps = np.diff(some["low"].to_numpy(dtype=np.float64))
    nearest = float(gaps[gaps > 0].min()) if (gaps > 0).any() else span
    return float(np.clip(0.8 * nearest, 0.003 * span, 0.03 * span))


def _ticks(start: float, end: float) -> list[float]:
    """Return round losses in the finite part of the axis, so that none is under the bar at infinity."""
    step = max(end - start, 0.5) / 6
    step = next((s for s in _round_steps(step) if s >= step), step)
    first, last = np.ceil(start / step - 1e-9), np.floor(end / step + 1e-9)
    return [float(f"{k * step:.10g}") + 0.0 for k in np.arange(first, last + 1)]


def _round_steps(step: float) -> list[float]:
    decade = 10.0 ** np.floor(np.log10(step))
    return [decade, 2 * decade, 5 * decade, 10 * decade]


def _atoms(curve: Polygon) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (low, high, mass) of the atoms, with rare ends and close neighbours merged."""
    present = curve.q > 0
    loss, mass = curve.loss[present], curve.q[present]
    if loss.size <= MOST_BARS // 4:
        return loss, loss, mass
    below, above = np.cumsum(mass), np.cumsum(mass[::-1])[::-1]
    first = int(np.searchsorted(below, _NEGLIGIBLE))
    last = int(loss.size - np.searchsorted(above[::-1], _NEGLIGIBLE))
    starts = np.arange(first, max(last, first + 1), -(-max(last - first, 1) // MOST_BARS))
    cuts = np.concatenate(([0], starts[1:])).astype(np.int64)
    ends = np.append(cuts[1:], loss.size) - 1
    total = np.add.reduceat(mass, cuts)
    # a rare end counts in the mass of its bar, not in its position
    low, high = loss[np.maximum(cuts, first)], loss[np.minimum(ends, max(last - 1, first))]
    return low, high, np.asarray(total, dtype=np.float64)


def _cells(region: TradeOff) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (low, high, mass) of cells by differences of the profile.

    With delta' the slope, P0(L > e) = -e^-e delta'(e) and P1(L > e) = delta(e) - delta'(e). The slope between two
    grid points in e^e is minus a tail of P0 somewhere between them, so a cell's mass is right up to its width.
    """
    curve = region.curve
    edge = _range(region)
    step = 2.0 * edge / (_CELLS - 1)  # both ends are grid points, so that an atom there falls into one cell
    grid = np.concatenate(([-edge - step], np.linspace(-edge, edge, _CELLS), [edge + step]))
    delta = 0.5 * np.add(*gate.delta_bounds(region, grid))
    middle = 0.5 * (grid[1:] + grid[:-1])
    at_middle = np.interp(middle, grid, delta)
    # e^middle times the slope in e^e, with the large factors cancelled
    fall = -np.diff(delta) / (2.0 * np.sinh(np.minimum(0.5 * np.diff(grid), 700.0)))
    tail1 = np.clip(at_middle + fall, curve.q_inf, 1.0)
    tail1 = np.minimum.accumulate(tail1)
    tail1[0], tail1[-1] = 1.0, curve.q_inf
    mass = -np.diff(tail1)
    return middle[:-1], middle[1:], np.asarray(np.maximum(mass, 0.0), dtype=np.float64)


def _range(region: TradeOff) -> float:
    """Return a loss beyond which there is almost no mass."""
    curve = region.curve
    if np.isfinite(curve.max_loss):
        return float(max(curve.max_loss, 1e-3))
    grid = np.geomspace(1e-3, 1e5, 49)
    gone = gate.delta_bounds(region, grid)[1] <= curve.q_inf + 1e-5
    return float(grid[np.argmax(gone)]) if gone.any() else 1e5
