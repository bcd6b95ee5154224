"""The ladder chart: epsilon at one delta as the number of mechanisms grows, one line per theorem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, rounded_up, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.theorems.composition.verdict import best_place
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = {"exact": "exact", "upper": "an upper bound", "approximate": "an approximation, no bound"}


def ladder_takeaway(frame: pd.DataFrame, *, delta: float) -> str:
    """Say the best epsilon at some k, and what simply adding up gives."""
    columns = {name: frame[name].tolist() for name in ("k", "theorem", "title", "epsilon", "kind")}
    places: dict[int, list[int]] = {}
    for place, count in enumerate(columns["k"]):
        places.setdefault(count, []).append(place)
    parts = []
    for k in _some(sorted(places)):
        own = places[k]
        best = best_place(*([columns[name][place] for place in own] for name in ("epsilon", "kind")))
        if best is not None:
            epsilon, title, kind = (columns[name][own[best]] for name in ("epsilon", "title", "kind"))
            parts.append(f"{grouped(outward(epsilon, 4))} for k = {grouped(k)} ({title}, {_KINDS[kind]})")
    if not parts:
        return f"No theorem reaches δ = {outward(delta, 6)} for any k shown."
    plain = [
        (epsilon, k)
        for theorem, epsilon, k in zip(columns["theorem"], columns["epsilon"], columns["k"], strict=True)
        if theorem == "basic" and epsilon < math.inf
    ]
    sum_ = f" Adding up gives {grouped(outward(plain[-1][0], 4))} for k = {grouped(plain[-1][1])}." if plain else ""
    return f"At δ = {outward(delta, 6)} the best ε is at most {', '.join(parts)}.{sum_}"


def _some(counts: list[int]) -> list[int]:
    """Return the powers of ten, or about four evenly spread numbers."""
    tens = [count for count in counts if str(count).rstrip("0") == "1"]
    return tens if len(tens) > 2 else counts[:: max(1, -(-len(counts) // 4))]


def ladder_figure(
    frame: pd.DataFrame,
    *,
    delta: float,
    k: int | None = None,
    titles: Sequence[str] | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Return chart, table, sentence and notes of a ladder.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.theorems.composition.ladder` returns.
    delta : float
        The delta of the frame.
    k : int, optional
        The current number of mechanisms, drawn as a dotted line.
    titles : sequence of str, optional
        Titles of the theorems to draw, in the order of the colours; all by default.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    titles = list(dict.fromkeys(frame["title"])) if titles is None else list(titles)
    rows = frame[frame["title"].isin(titles)]
    takeaway = ladder_takeaway(rows, delta=delta)
    chart = ladder_chart(rows, k=k, titles=titles, look=described(look, takeaway))
    return Figure(chart, frame, takeaway, look.title or "ε as k grows", _silences(rows))


def _silences(rows: pd.DataFrame) -> tuple[str, ...]:
    """Say which theorems have no line, or none beyond some k; each reason is given once."""
    parts: dict[str, list[tuple[int, float, str]]] = {}
    for title, *facts in zip(*(rows[name].tolist() for name in ("title", "k", "epsilon", "note")), strict=True):
        parts.setdefault(title, []).append((facts[0], facts[1], facts[2]))
    reasons: dict[tuple[int, str], list[str]] = {}
    for title, part in parts.items():
        missing = [(k, why) for k, epsilon, why in part if not math.isfinite(epsilon)]
        if missing:
            first = 0 if len(missing) == len(part) else missing[0][0]
            reasons.setdefault((first, missing[0][1]), []).append(title)
    return tuple(
        f"Not drawn{f' from k = {grouped(first)} on' if first else ''}: {', '.join(names)}. {why}"
        for (first, why), names in reasons.items()
    )


def ladder_chart(
    frame: pd.DataFrame,
    *,
    k: int | None = None,
    titles: Sequence[str] | None = None,
    legend: bool = True,
    counts: str = "Number of mechanisms k",
    look: Look = PLAIN,
) -> alt.LayerChart:
    """Draw epsilon against k, both logarithmic; epsilon is linear if one of its values is 0.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.theorems.composition.ladder` returns.
    k : int, optional
        The current number of mechanisms, drawn as a dotted line.
    titles : sequence of str, optional
        Titles of the theorems to draw, in the order of the colours; all by default.
    legend : bool, default True
        Draw the legend.
    counts : str, default "Number of mechanisms k"
        Title of the axis; its last word is the symbol.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    rows = frame[np.isfinite(frame["epsilon"])]
    if rows.empty:
        msg = "No theorem reaches this δ for any k shown: there is nothing to draw."
        raise DomainError(msg)
    present = set(rows["title"])
    series = Series([t for t in (titles or list(dict.fromkeys(rows["title"]))) if t in present], dark=look.dark)
    label, paint = [series.name_of[title] for title in rows["title"].tolist()], series.paint()
    points = pd.DataFrame(
        {
            "label": label,
            "paint": [paint[name] for name in label],
            "k": rows["k"].to_numpy(dtype=np.float64),
            "epsilon": rows["epsilon"].to_numpy(),
            "k_text": [grouped(count) for count in rows["k"].tolist()],
            "epsilon_text": [rounded_up(*pair, 5) for pair in zip(rows["epsilon"], rows["kind"], strict=True)],
            "kind": [_KINDS[kind] for kind in rows["kind"].tolist()],
        }
    )
    x = alt.X("k:Q", title=counts, scale=_scale(rows["k"]), axis=_axis(rows["k"]))
    y = alt.Y(
        "epsilon:Q",
        title=f"{theme.EPSILON_TITLE} of all together",
        scale=_scale(rows["epsilon"]),
        axis=_axis(rows["epsilon"]),
    )
    names = {"label": "by", "k_text": counts.rsplit(maxsplit=1)[-1], "epsilon_text": "ε", "kind": "ε is"}
    tips = tooltips(names)
    base = alt.Chart(checked(points)).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=2, aria=False).encode(**series.strokes(legend=legend)),
        base.mark_point(filled=True, size=34, opacity=1, aria=False).encode(
            color=alt.Color("paint:N", scale=None), tooltip=tips
        ),
    ]
    if k is not None and float(rows["k"].min()) <= k <= float(rows["k"].max()):
        mark = alt.Chart(checked(pd.DataFrame({"k": [float(k)]})))
        layers.append(mark.mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color=theme.ink(dark=look.dark)).encode(x=x))
    return theme.finish(layers, look, words="ε against k, one line per theorem.", height=400)


def _scale(values: pd.Series) -> alt.Scale:
    """Return a logarithmic scale for all values, or a linear one if a value is 0."""
    low, high = float(values.min()), float(values.max())
    if low <= 0:
        return alt.Scale(domain=[0.0, high or 1.0], nice=True)
    if high / low < 1.01:
        low, high = low / 2, high * 2
    return alt.Scale(type="log", domain=[low, high], nice=False)


def _axis(values: pd.Series) -> alt.Axis:
    """Return ticks at powers of ten, denser over few decades."""
    low, high = float(values.min()), float(values.max())
    if low <= 0:
        return alt.Axis(tickCount=6)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 3, 5) if high / low <= 100 else (1,)
    every = max(1, len(decades) // 7)
    ticks = [float(f"{step}e{power}") for power in decades for step in steps]
    return alt.Axis(values=ticks[::every], labelExpr=theme.NUMERALS)
