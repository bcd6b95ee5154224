"""The release chart: one private answer beside the true one, as bars, among its chances, or on a line of releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.utility.choosing import Choosing

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.utility import Dataset, UtilityPair

COLUMNS = ("answer", "true", "released", "difference")
MOST_BARS = 60  # more coordinates than this are drawn as lines
OTHERS = 60  # further releases drawn small beside a single number
TRUE, RELEASED = "true answer", "this release"


def release_table(pair: UtilityPair, data: Dataset, seed: int = 0) -> pd.DataFrame:
    """Return one release beside the true answer, one row per coordinate: `answer, true, released, difference`."""
    truth = np.asarray(pair.answer(data), dtype=np.float64).ravel()
    release = np.asarray(pair.release(data, np.random.default_rng(seed), 1), dtype=np.float64)[0].ravel()
    if truth.size != release.size:
        msg = f"A release of {pair.title} has {release.size} numbers, its true answer {truth.size}."
        raise DomainError(msg)
    rows = {"answer": list(pair.labels(data)), "true": truth, "released": release, "difference": release - truth}
    return pd.DataFrame(rows, columns=list(COLUMNS))


def release_takeaway(table: pd.DataFrame, title: str) -> str:
    """Say how far this release is off."""
    if len(table) == 1:
        row = table.iloc[0]
        return (
            f"This release of the {title} says {nearest(row['released'])}; the true answer is {nearest(row['true'])}, "
            f"so it is off by {nearest(abs(row['difference']), 3)} (a simulation, not a promise)."
        )
    far = table.iloc[int(np.argmax(np.abs(table["difference"].to_numpy())))]
    return (
        f"In this release of the {title} the number for {far['answer']} is furthest off: {nearest(far['released'])} instead "
        f"of {nearest(far['true'])}; the {len(table)} numbers are off by "
        f"{nearest(float(table['difference'].abs().mean()), 3)} on average (a simulation, not a promise)."
    )


def release_figure(pair: UtilityPair, data: Dataset, *, seed: int = 0, look: Look = PLAIN) -> Figure:
    """Return chart, table and sentence of one release.

    Parameters
    ----------
    pair, data : UtilityPair or Dataset
        Query with mechanism, and the data.
    seed : int, default 0
        Of the release; the same seed gives the same release.
    look : Look, default PLAIN
        Size, title and colours.
    """
    table = release_table(pair, data, seed)
    if isinstance(pair, Choosing):
        return _choice_figure(pair, data, table, look)
    takeaway = release_takeaway(table, pair.title)
    look = described(look, takeaway)
    if len(table) == 1:
        many = np.asarray(pair.release(data, np.random.default_rng([seed, 1]), OTHERS), dtype=np.float64).ravel()
        chart = _line(table, many, look)
        notes: tuple[str, ...] = (f"The small marks are {OTHERS} other releases.",)
    else:
        chart, notes = _bars(table, look) if len(table) <= MOST_BARS else _curves(table, look), ()
    return Figure(chart, table, takeaway, look.title or f"One release: {pair.title}", notes)


def _choice_figure(pair: Choosing, data: Dataset, table: pd.DataFrame, look: Look) -> Figure:
    """Return a choice among candidates: the exact chance of each, with marks at the true and the released one."""
    options, chances = pair.options(data), pair.chances(data)
    names = _option_names(pair, data, len(options)) or [nearest(value) for value in options]
    true, released = float(table["true"].iloc[0]), float(table["released"].iloc[0])
    rows = pd.DataFrame(
        {
            "option": names,
            "chance": chances,
            "kind": "exact",
            "true": options == true,
            "released": options == released,
        }
    )
    places = [int(np.argmin(np.abs(options - value))) for value in (true, released)]
    truth, answer = ((names[place], _chance(chances[place])) for place in places)
    if not rows["true"].any():  # records outside the bounds
        other = f"the true answer is {nearest(true)}, which no release can equal: it lies outside the bounds"
        places = [-1, places[1]]
    elif truth == answer:
        other = "that is the true answer"
    else:
        other = f"the true answer is {truth[0]}, with a chance of {truth[1]}"
    takeaway = f"This release of the {pair.title} says {answer[0]}, which had a chance of {answer[1]} (exact); {other}."
    chart = _chances(rows, options, places, described(look, takeaway))
    return Figure(chart, rows, takeaway, look.title or f"One release: {pair.title}")


def _chance(value: float) -> str:
    """Return a chance with three digits; only a certain one is called 1."""
    text = nearest(float(value), 3)
    return "almost 1" if text == "1" and value < 1 else text


def _option_names(pair: Choosing, data: Dataset, count: int) -> list[str]:
    """Return the names of the candidates if their numbers are only codes."""
    if pair.uses_data and len(data.categories) == count:
        return list(data.categories)
    return ["no", "yes"] if pair.query == "majority" else []


def _chances(rows: pd.DataFrame, options: FloatArray, places: list[int], look: Look) -> alt.LayerChart:
    """Draw the chance of each candidate, with marks over the true one (unless its place is -1) and the released one."""
    few = len(options) <= MOST_BARS
    at = np.arange(len(options), dtype=np.float64) if few else options
    texts = [f"{name}: {nearest(chance, 4)}" for name, chance in zip(rows["option"], rows["chance"], strict=True)]
    candidates = pd.DataFrame(
        {"place": at, "left": at - 0.4, "right": at + 0.4, "chance": rows["chance"], "text": texts}
    )
    top = float(rows["chance"].max())
    where = _named_axis(rows["option"]) if few else _number_axis()
    y = alt.Y(
        "chance:Q", title="Chance", scale=alt.Scale(domain=[0, 1.25 * top], nice=False), axis=alt.Axis(tickCount=4)
    )
    base, grey, tip = (
        alt.Chart(checked(candidates)),
        theme.quiet(dark=look.dark),
        [alt.Tooltip("text:N", title="chance of")],
    )
    if few:
        bars = base.mark_rect(fill=theme.pale(grey, dark=look.dark), stroke=grey, aria=False)
        layers = [bars.encode(x=alt.X("left:Q", **where), x2=alt.X2("right:Q"), y=y, y2=alt.Y2Datum(0), tooltip=tip)]
    else:
        x = alt.X("place:Q", **where)
        points = base.mark_point(filled=True, opacity=0, size=60, aria=False).encode(x=x, y=y, tooltip=tip)
        layers = [base.mark_line(color=grey, strokeWidth=1.5, aria=False).encode(x=x, y=y), points]
    for rank, (place, name, height) in enumerate(((places[0], TRUE, 1.19), (places[1], RELEASED, 1.08))):
        if place < 0:
            continue
        row = pd.DataFrame({"place": [at[place]], "chance": [height * top], "text": [texts[place]], "name": [name]})
        mark = alt.Chart(checked(row)).encode(x=alt.X("place:Q", **where), y=y)
        layers += [_dot(mark, rank, look).encode(tooltip=tip), *_word(mark, "name:N", look, left=place < len(at) / 2)]
    return theme.finish(layers, look, words="The chance of each answer.", height=260)


def _named_axis(names: pd.Series[str]) -> dict[str, Any]:
    """Return title, scale and axis of places 0, 1, ... that have names."""
    labels = "[" + ", ".join(repr(theme.short(name, 14)) for name in names) + "]"
    places = list(range(len(names)))
    axis = alt.Axis(
        values=places, labelExpr=f"{labels}[datum.value]", grid=False, ticks=False, labelAngle=_angle(names)
    )
    return {"title": None, "scale": alt.Scale(domain=[-0.6, len(names) - 0.4], nice=False), "axis": axis}


def _number_axis(scale: alt.Scale | None = None) -> dict[str, Any]:
    axis = alt.Axis(tickCount=6, grid=False)
    return {"title": "Answer", "scale": scale or alt.Scale(zero=False, nice=False), "axis": axis}


def _angle(names: pd.Series[str]) -> int:
    """Return the angle of the names: level if they are few and short."""
    longest = max(len(theme.short(text, 14)) for text in names)
    return 0 if len(names) * longest <= 40 else -60


def _dot(base: alt.Chart, rank: int, look: Look) -> alt.Chart:
    """Return the mark of the true answer (rank 0) or of the release."""
    shape, colour = ("diamond", "circle")[rank], theme.colour(rank, dark=look.dark)
    dot: alt.Chart = base.mark_point(filled=True, size=140, color=colour, shape=shape, opacity=1, aria=False)
    return dot


def _word(base: alt.Chart, text: str, look: Look, *, left: bool) -> list[alt.Chart]:
    """Return a text beside a mark that is readable over lines."""
    side: dict[str, Any] = {"align": "left" if left else "right", "dx": 12 if left else -12, "fontSize": theme.TEXT}
    return theme.halo_text(base, text, dark=look.dark, halo=0.8, **side)


def _long(table: pd.DataFrame, series: Series) -> pd.DataFrame:
    """Return one row per coordinate and kind of answer, with its texts."""
    parts = []
    for rank, (column, name) in enumerate((("true", TRUE), ("released", RELEASED))):
        parts.append(
            pd.DataFrame(
                {
                    "place": np.arange(len(table), dtype=np.float64),
                    "answer": [theme.short(text, 40) for text in table["answer"]],
                    "value": table[column].to_numpy(dtype=np.float64),
                    "label": series.name_of[name],
                    "rank": rank,
                    "value_text": [nearest(v) for v in table[column]],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _tips() -> list[alt.Tooltip]:
    texts = {"answer": "answer to", "label": "which", "value_text": "value"}
    return tooltips(texts)


def _bars(table: pd.DataFrame, look: Look) -> alt.LayerChart:
    """Draw two bars per coordinate."""
    series = Series((TRUE, RELEASED), dark=look.dark)
    rows = _long(table, series)
    left = rows["place"] + np.where(rows["rank"] == 0, -0.42, 0.02)
    rows = rows.assign(left=left, right=left + 0.4, paint=rows["label"].map(series.fills()))
    y = alt.Y("value:Q", title="Answer", axis=alt.Axis(tickCount=5))
    bars = alt.Chart(checked(rows)).mark_bar(strokeWidth=2, aria=False)  # a mark_rect has no dashes
    layer = bars.encode(
        x=alt.X("left:Q", **_named_axis(table["answer"])),
        x2=alt.X2("right:Q"),
        y=y,
        y2=alt.Y2Datum(0),
        fill=alt.Fill("paint:N", scale=None),
        tooltip=_tips(),
        **series.strokes(legend=True),
    )
    zero = alt.Chart(checked(pd.DataFrame({"value": [0.0]}))).mark_rule(color=theme.quiet(dark=look.dark), aria=False)
    return theme.finish(
        [layer, zero.encode(y=alt.Y("value:Q"))], look, words="A release beside the true answer.", height=320
    )


def _curves(table: pd.DataFrame, look: Look) -> alt.LayerChart:
    """Draw both answers as lines over the coordinates."""
    series = Series((TRUE, RELEASED), dark=look.dark)
    rows = _long(table, series)
    x = alt.X("place:Q", title="Coordinate", axis=alt.Axis(format="d", tickCount=8, grid=False))
    y = alt.Y("value:Q", title="Answer", axis=alt.Axis(tickCount=5))
    lines = alt.Chart(checked(rows)).mark_line(strokeWidth=1.5, aria=False)
    layer = lines.encode(x=x, y=y, order=alt.Order("place:Q"), **series.strokes(legend=True))
    points = alt.Chart(checked(rows)).mark_point(filled=True, size=60, opacity=0, aria=False)
    return theme.finish(
        [layer, points.encode(x=x, y=y, tooltip=_tips())], look, words="A release beside the true answer.", height=320
    )


def _line(table: pd.DataFrame, many: FloatArray, look: Look) -> alt.LayerChart:
    """Draw the true number, this release, and other releases on one line."""
    true, released = float(table["true"].iloc[0]), float(table["released"].iloc[0])
    low, high = float(min(many.min(), true, released)), float(max(many.max(), true, released))
    margin = 0.06 * (high - low) or max(1.0, abs(true)) * 0.05
    x = alt.X("value:Q", **_number_axis(alt.Scale(domain=[low - margin, high + margin], nice=False)))
    y = alt.Y("height:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1]))
    ticks = pd.DataFrame({"value": many, "text": [f"{nearest(v)} (another release)" for v in many], "height": 0.2})
    tip = [alt.Tooltip("text:N", title="answer")]
    grey = theme.quiet(dark=look.dark)
    small = alt.Chart(checked(ticks)).mark_tick(thickness=2, size=26, color=grey, opacity=0.45, aria=False)
    layers = [small.encode(x=x, y=y, tooltip=tip)]
    words = []
    for rank, (value, name, height) in enumerate(((true, TRUE, 0.78), (released, RELEASED, 0.5))):
        row = pd.DataFrame({"value": [value], "text": [f"{name} {nearest(value)}"], "height": [height]})
        base = alt.Chart(checked(row)).encode(x=x)
        colour, dash = theme.colour(rank, dark=look.dark), ([1, 0], [5, 3])[rank]
        layers.append(base.mark_rule(color=colour, strokeWidth=2, strokeDash=dash, aria=False))
        at = base.encode(y=y)
        words += [_dot(at, rank, look).encode(tooltip=tip), *_word(at, "text:N", look, left=value < 0.5 * (low + high))]
    return theme.finish([*layers, *words], look, words="A release beside the true answer and others.", height=180)
