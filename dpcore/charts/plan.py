"""A planned release as a picture: what share of the budget each answer has, and how far it is off."""

from __future__ import annotations

import math

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS
from dpcore.planner.release.planned import amount
from dpcore.words import grouped, outward

MOST_ROWS = 30
_STEPS = (1.0, 2.0, 5.0, 10.0, 20.0)


def plan_figure(frame: pd.DataFrame, words: str, *, look: Look = PLAIN) -> Figure:
    """Return the shares of the budget: a bar per answer, those that are charged together in one colour, with its error.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.planner.planned_frame` returned.
    words : str
        What `dpcore.planner.plan_words` says about the plan.
    look : Look, default PLAIN
        Size, title and colours.
    """
    rows = frame.head(MOST_ROWS)
    paints = [theme.colour(int(charge) - 1, dark=look.dark) for charge in rows["charge"]]
    bars = pd.DataFrame(
        {
            "name": _names(rows),
            "share": 100 * rows["share"].to_numpy(),
            "start": 0.0,
            "paint": paints,
            "fill": [theme.pale(paint, dark=look.dark, share=0.5) for paint in paints],
            "words": [f"± {amount(float(row['halfwidth']), str(row['unit']))}" for _, row in rows.iterrows()],
            "together": [
                _together(int(count), str(column))
                for count, column in zip(rows["parallel"], rows["apart_on"], strict=True)
            ],
            "noise": rows["noise"].to_numpy(),
            "kind": rows["error_kind"].map(WORDS).to_numpy(),
        }
    )
    top = float(bars["share"].max())
    x = alt.X("share:Q", title="Share of the budget, in %", scale=alt.Scale(domain=[0, 1.04 * top], nice=False))
    y = alt.Y("name:N", title=None, sort=list(bars["name"]), axis=alt.Axis(labelLimit=170, minExtent=90))
    tips = {"name": "answer", "words": "error (95 %)", "kind": "the error is", "noise": "noise", "together": "charged"}
    base = alt.Chart(checked(bars)).encode(y=y)
    layers = [
        base.mark_bar(aria=False, height=16, strokeWidth=1.5).encode(
            x=x,
            x2=alt.X2("start:Q"),
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("paint:N", scale=None),
            tooltip=tooltips(tips),
        ),
        base.mark_text(align="left", dx=6, aria=False, fontSize=theme.SMALL, color=theme.ink(dark=look.dark)).encode(
            x=alt.XDatum(0), text=alt.Text("words:N")
        ),
    ]
    shown = described(look, words)
    chart = theme.finish(layers, shown, words="Shares of the budget and errors.", height=60 + 26 * len(bars))
    return Figure(chart, frame, words, look.title or "Plan", _notes(frame))


def plan_errors_figure(frame: pd.DataFrame, words: str, *, look: Look = PLAIN) -> Figure:
    """Return the 95 % intervals of the answers by noise, in per cent of the largest error each can have.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.planner.planned_frame` returned for a plan that states the number of records.
    words : str
        What `dpcore.planner.plan_words` says about the plan.
    look : Look, default PLAIN
        Size, title and colours.
    """
    rows = frame[frame["relative"].notna()].head(MOST_ROWS)
    if rows.empty:
        msg = (
            "The errors are compared with the largest there can be, which needs a public number of records: state rows."
        )
        raise DomainError(msg)
    notes = list(_notes(frame))
    if frame["relative"].isna().any():
        notes.append("Answers without a public number of records are in the table only.")
    if "clipping_bias" in frame:
        notes.append(
            "These errors are computed on the data, and ticks show what clipping adds: for the planner's eyes only."
        )
    chart = _error_chart(rows, look=described(look, words))
    return Figure(chart, frame, words, look.title or "Errors", tuple(notes))


def _error_chart(rows: pd.DataFrame, *, look: Look) -> alt.LayerChart:
    """Draw an interval around 0 for every answer; answers that are charged together have one colour."""
    width = 100 * rows["relative"].to_numpy(dtype=float)
    bias = np.zeros(len(rows))
    if "clipping_bias" in rows:
        scales = np.divide(width, rows["halfwidth"], out=np.zeros(len(rows)), where=rows["halfwidth"].to_numpy() > 0)
        bias = rows["clipping_bias"].to_numpy() * scales
    paints = [theme.colour(int(charge) - 1, dark=look.dark) for charge in rows["charge"]]
    names = _names(rows)
    bars = pd.DataFrame(
        {
            "name": names,
            "low": -width,
            "high": width,
            "bias": bias,
            "paint": paints,
            "fill": [theme.pale(paint, dark=look.dark, share=0.5) for paint in paints],
            "words": [f"± {amount(float(row['halfwidth']), str(row['unit']))}" for _, row in rows.iterrows()],
            "percent": [f"± {outward(value, 3)} %" for value in width],
            "together": [
                _together(int(count), str(column))
                for count, column in zip(rows["parallel"], rows["apart_on"], strict=True)
            ],
            "noise": rows["expression"].to_numpy(),
            "kind": rows["error_kind"].map(WORDS).to_numpy(),
        }
    )
    end = _end(float(max(np.max(width), np.max(np.abs(bias)))))
    scale = alt.Scale(domain=[-end, 1.75 * end], nice=False)  # room for the words at the right
    axis = alt.Axis(values=[-end, -end / 2, 0.0, end / 2, end])
    x = alt.X("low:Q", title="95 % error, in % of the largest possible", scale=scale, axis=axis)
    y = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=170, minExtent=90))
    tips = {
        "name": "answer",
        "words": "error (95 %)",
        "kind": "the error is",
        "percent": "of the largest",
        "noise": "noise",
        "together": "charged",
    }
    base, ink = alt.Chart(checked(bars)).encode(y=y), theme.ink(dark=look.dark)
    layers = [
        base.mark_bar(aria=False, height=16, strokeWidth=1.5).encode(
            x=x,
            x2=alt.X2("high:Q"),
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("paint:N", scale=None),
            tooltip=tooltips(tips),
        ),
        alt.Chart(checked(pd.DataFrame({"low": [0.0]}))).mark_rule(strokeWidth=1.5, color=ink, aria=False).encode(x=x),
        base.mark_text(align="right", aria=False, fontSize=theme.SMALL, color=ink).encode(
            x=alt.value("width"), text=alt.Text("words:N")
        ),
    ]
    if np.any(bias):
        moved = alt.Chart(checked(bars[bars["bias"] != 0])).encode(y=y, x=alt.X("bias:Q", scale=scale))
        layers.append(moved.mark_tick(thickness=3, height=22, color=ink, aria=False))
    return theme.finish(layers, look, words="Errors of the answers.", height=60 + 26 * len(bars))


def _end(widest: float) -> float:
    """Return the end of an axis: the next of 1, 2, 5, 10, ..., so that the bars move and not the axis."""
    if not widest:
        return 1.0
    power = 10.0 ** math.floor(math.log10(widest))
    return next(power * step for step in _STEPS if power * step >= 1.05 * widest or step == _STEPS[-1])


def _names(rows: pd.DataFrame) -> list[str]:
    """Return one different name per answer, short enough for an axis."""
    names: list[str] = []
    for place, label in enumerate(rows["answer"].astype(str), start=1):
        name = theme.short(label, 34)
        names.append(name if name not in names else f"{place}  {theme.short(label, 30)}")
    return names


def _together(count: int, column: str) -> str:
    return f"once with {count - 1} other answers about disjoint {column}" if count > 1 else "alone"


def _notes(frame: pd.DataFrame) -> tuple[str, ...]:
    if len(frame) <= MOST_ROWS:
        return ()
    return (f"The first {MOST_ROWS} of {grouped(len(frame))} answers are drawn; all are in the table.",)
