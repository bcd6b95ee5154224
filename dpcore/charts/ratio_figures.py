"""The ratio charts: near-equal curves divided by one of them, or that one subtracted, so that they can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.ratios import QUANTITIES, ladder_ratio_table, ratio_table
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, WORDS
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpcore.charts.sampling import Regions
    from dpcore.theorems.composition.theorem_regions import TheoremRegion


def ratio_figure(
    regions: Regions,
    *,
    of: str = "delta",
    over: str | None = None,
    by: str = "ratio",
    at: ArrayLike | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Return the ratio or difference of curves as a figure; the parameters are those of `ratio_table`.

    Parameters
    ----------
    regions : Regions
        At least two, in a list or a mapping from names to regions.
    of, over, by : str
        What is compared, with which region, and how.
    at : ArrayLike, optional
        Places on the axis.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    table = ratio_table(regions, of=of, over=over, by=by, at=at)
    return _drawn(table, of, by, tuple(filter(None, table.attrs["notes"])), look)


def _drawn(table: pd.DataFrame, of: str, by: str, notes: tuple[str, ...], look: Look) -> Figure:
    what = QUANTITIES[of]
    if table.empty:
        msg = f"There is no {by} of {what.sign} to draw. {' '.join(notes)}"
        raise DomainError(msg)
    base = theme.short(str(table["over"].iloc[0]))
    takeaway = _takeaway(table, what.sign, by, base)
    axis = _Axis(what.across, what.title, log=what.log)
    chart = _chart(table, axis, _title(what.sign, by, base), by, described(look, takeaway))
    return Figure(chart, table, takeaway, look.title or f"{what.sign} compared", notes)


def theorem_ratio_figure(
    ways: Sequence[TheoremRegion],
    *,
    of: str = "delta",
    over: str | None = None,
    by: str = "ratio",
    at: ArrayLike | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Return what each theorem says about the same mechanisms, divided by what one of them says.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    of, by : str
        What is compared, and how, as in `ratio_table`.
    over : str, optional
        Name of the theorem to compare with; by default the composition itself or, for a statement, `kov_optimal`.
    at : ArrayLike, optional
        Places on the axis; by default those of `ratio_table`.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes; a comparison with an approximation is one itself.
    """
    drawn = {way.name: way for way in ways if way.region is not None}
    best = next((name for name in ("exact", "kov_optimal", *drawn) if name in drawn), "")
    base = drawn[one_of("over", drawn).check(over or best)]
    regions = {way.title: way.region for way in drawn.values() if way.region is not None}
    table = ratio_table(regions, of=of, over=base.title, by=by, at=at)
    rough = {way.title for way in drawn.values() if way.kind == "approximate"}
    loose = table["label"].isin(rough | (set(table["label"]) if base.title in rough else set()))
    notes = tuple(filter(None, table.attrs["notes"]))
    return _drawn(table.assign(kind=table["kind"].where(~loose, "approximate")), of, by, notes, look)


def ladder_ratio_figure(
    frame: pd.DataFrame, *, delta: float, over: str | None = None, by: str = "ratio", look: Look = PLAIN
) -> Figure:
    """Return the ratio or difference of the theorems' epsilons as k grows; see `ladder_ratio_table`.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.theorems.composition.ladder` returns.
    delta : float
        The delta of the frame.
    over, by : str
        The theorem to compare with, and how.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    table = ladder_ratio_table(frame, over=over, by=by)
    if table.empty:
        msg = f"There is nothing to compare: {' '.join(table.attrs['notes']) or 'the theorems have no k in common.'}"
        raise DomainError(msg)
    base = str(table["over"].iloc[0])
    drawn = table.rename(columns={"title": "label"}).assign(k=table["k"].astype(float))
    takeaway = f"At δ = {outward(delta, 6)}: " + _takeaway(drawn, "ε", by, base)
    chart = _chart(
        drawn, _Axis("k", "Number of mechanisms k", log=True), _title("ε", by, base), by, described(look, takeaway)
    )
    return Figure(
        chart, table, takeaway, look.title or "ε compared as k grows", tuple(filter(None, table.attrs["notes"]))
    )


# ---- the chart -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    column: str
    title: str
    log: bool


def _title(sign: str, by: str, base: str) -> str:
    return f"{sign} divided by {sign} of {base}" if by == "ratio" else f"{sign} minus {sign} of {base}"


def _takeaway(table: pd.DataFrame, sign: str, by: str, base: str) -> str:
    """Say between which numbers each curve lies, compared with one of them."""
    sentences = []
    for label, part in table.groupby("label", sort=False):
        low = float(part[f"{by}_lower" if f"{by}_lower" in part.columns else by].min())
        ends = outward(low, 4, up=False), outward(float(part[by].max()), 4)
        span = " to ".join(dict.fromkeys(ends))
        kind = WORDS[next((one for one in part["kind"] if one != EXACT), EXACT)]
        words = f"is {span} times that of {base}" if by == "ratio" else f"minus that of {base} is {span}"
        sentences.append(f"{theme.short(str(label))}: {sign} {words} ({kind}).")
    shown = sentences[:4]
    more = len(sentences) - len(shown)
    return " ".join([*shown, *([f"{more} more are in the table."] if more else [])])


def _chart(table: pd.DataFrame, axis: _Axis, title: str, by: str, look: Look) -> alt.LayerChart:
    """Draw a line per curve over the band of its two sides, and the line of equality."""
    log = axis.log and bool((table[axis.column] > 0).all())
    rows = table[table[axis.column] > 0] if axis.log and not log else table
    series = Series(rows["label"].tolist(), dark=look.dark)
    names = [series.name_of[label] for label in rows["label"].tolist()]
    lower = rows[f"{by}_lower"] if f"{by}_lower" in rows.columns else rows[by]
    points = pd.DataFrame(
        {
            "label": names,
            "paint": [series.paint()[name] for name in names],
            "fill": [series.fills()[name] for name in names],
            "x": rows[axis.column].to_numpy(dtype=np.float64),
            "y": rows[by].to_numpy(dtype=np.float64),
            "low": lower.to_numpy(dtype=np.float64),
            "x_text": [nearest(value) for value in rows[axis.column].tolist()],
            "y_text": [nearest(value, 6) for value in rows[by].tolist()],
            "kind": [WORDS[kind] for kind in rows["kind"]],
        }
    )
    wide = points[points["y"] - points["low"] > 1e-9 * np.abs(points["y"])]
    scale = alt.Scale(type="log", nice=False) if axis.log else alt.Scale(nice=False)
    form = {"delta": ".0e", "k": "~s"}.get(axis.column, ".6~g")
    x = alt.X("x:Q", title=axis.title, scale=scale, axis=alt.Axis(tickCount=8, format=form))
    large = by == "ratio" and bool((points["low"] > 0).all()) and points["y"].max() > 20 * points["low"].min()
    y = alt.Y(
        "y:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False) if large else alt.Scale(zero=False, nice=True),
        axis=alt.Axis(tickCount=6, format=".6~g"),
    )
    base = alt.Chart(checked(points)).encode(x=x, y=y)
    equal = pd.DataFrame({"y": [1.0 if by == "ratio" else 0.0]})
    rule = alt.Chart(checked(equal)).mark_rule(color=theme.quiet(dark=look.dark), strokeDash=[3, 3], strokeWidth=1.5)
    layers = [rule.encode(y=alt.Y("y:Q"))]
    if len(wide):
        band = alt.Chart(checked(wide)).mark_area(opacity=0.6, line=False, aria=False)
        fill = alt.Fill("fill:N", scale=None)
        layers.append(band.encode(x=x, y=y, y2=alt.Y2("low:Q"), detail=alt.Detail("label:N"), fill=fill))
    layers.append(base.mark_line(strokeWidth=2, aria=False).encode(**series.strokes(legend=True)))
    tips = tooltips({"label": "region", "x_text": _signs(axis.column), "y_text": by, "kind": f"the {by} is"})
    paint = alt.Color("paint:N", scale=None)
    layers.append(base.mark_point(filled=True, opacity=0, size=90, aria=False).encode(color=paint, tooltip=tips))
    return theme.finish(layers, look, words=f"{title}.", height=400)


def _signs(column: str) -> str:
    return {"epsilon": "ε", "delta": "δ", "alpha": "α"}.get(column, column)
