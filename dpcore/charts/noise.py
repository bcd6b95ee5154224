"""The noise chart: one noisy answer on two neighbouring datasets, a threshold, and the two errors of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, layer_table, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.words import about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.audit.threshold import Test
    from dpcore.curves.base import FloatArray

MOST_BARS = 60  # more integers than this are drawn as a line
GRID = 241
COLUMNS = ("dataset", "answer", "density", "accused", "kind")
_HOVER = 3  # every third point of the grid answers the pointer
Window = tuple[float, float]
Columns: TypeAlias = "dict[str, NDArray[Any]]"


def noise_table(test: Test, *, window: Window | None = None) -> pd.DataFrame:
    """Return the points drawn.

    Returns
    -------
    DataFrame
        `dataset, answer, density, accused, kind`: the density of the answer (its probability where answers are
        discrete) on each dataset, and the probability that this answer is accused. For randomized response, `answer`
        is the position of a named answer.
    """
    low, high = _window(test, window)
    names: list[str] = []
    parts = []
    for inside, name in enumerate(test.pair.names):
        answer = _answers(test, low, high, inside=bool(inside))
        parts.append((answer, test.pair.density(answer, inside=bool(inside)), test.accused(answer)))
        names += [name] * answer.size
    answer, density, accused = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = {"dataset": names, "answer": answer, "density": density, "accused": accused, "kind": "exact"}
    return pd.DataFrame(rows, columns=list(COLUMNS))


def noise_takeaway(test: Test) -> str:
    """Say how often the test makes each of the two errors."""
    without, within = test.pair.names
    return (
        f"{_rule(test)}, an attacker wrongly accuses {about(test.alpha)} people ({without}: false positives "
        f"{nearest(test.alpha, 4)}, exact) and misses {about(test.beta)} people ({within}: false negatives "
        f"{nearest(test.beta, 4)}, exact)."
    )


def noise_figure(test: Test, *, window: Window | None = None, look: Look = PLAIN, **options: Any) -> Figure:
    """Return one test as a figure; `options` are those of `noise_chart`."""
    table = noise_table(test, window=window)
    takeaway = noise_takeaway(test)
    chart = noise_chart(table, test, window=window, look=described(look, takeaway), **options)
    notes = [test.pair.note]
    low, high = _window(test, window)
    if not low <= test.threshold <= high and not test.pair.labels:
        notes.append(f"The threshold {nearest(test.threshold)} lies outside the picture.")
    if test.pair.discrete and not _bars(test, low, high):
        notes.append("Answers are integers; their probabilities are drawn as a line.")
    return Figure(chart, table, takeaway, look.title or "One noisy answer", tuple(text for text in notes if text))


def noise_chart(
    table: pd.DataFrame,
    test: Test,
    *,
    window: Window | None = None,
    observed: float | None = None,
    legend: bool = True,
    look: Look = PLAIN,
) -> alt.LayerChart:
    """Draw both densities with the errors shaded: right of the threshold without the person, left of it with.

    Parameters
    ----------
    table : DataFrame
        What `noise_table` returns.
    test : Test
        The threshold, and which answers it accuses.
    window : Window, optional
        Smallest and largest answer drawn.
    observed : float, optional
        One answer to mark on the axis.
    legend : bool, default True
        Draw the legend.
    look : Look, default PLAIN
        Size, title and colours.
    """
    low, high = _window(test, window)
    series = Series(test.pair.names, dark=look.dark)
    points = {name: table[name].to_numpy() for name in ("answer", "density", "accused")}
    points["label"] = np.array([series.name_of[name] for name in table["dataset"].tolist()], dtype=object)
    top = 1.18 * float(points["density"].max())
    if not 0.0 < top < np.inf:
        msg = f"The noise is too wide or too narrow to be drawn: its largest density is {numeral(top)}."
        raise DomainError(msg)
    x, y = _axes(test, (low, high), top)
    draw = _as_bars if _bars(test, low, high) else _as_lines
    layers = draw(points, test, series, x, y, legend=legend)
    layers += _threshold(test, (low, high), top, x, y, dark=look.dark)
    if observed is not None:
        layers.append(_observed_mark(observed, (low, high), x, y, dark=look.dark))
    text = f"Probability of each answer {test.pair.names[0]} and {test.pair.names[1]}, with the threshold of a test."
    return theme.finish(layers, look, words=text, height=360)


# ---- what is drawn -------------------------------------------------------------------------------------------


def _window(test: Test, window: Window | None) -> Window:
    """Return the range of answers drawn; it is extended to a threshold close by."""
    low, high = window or test.pair.window()
    if window is None and np.isfinite(test.threshold) and not test.pair.labels:
        room = 0.6 * (high - low)
        if low - room < test.threshold < low or high < test.threshold < high + room:
            margin = 0.05 * (high - low)
            low, high = min(low, test.threshold - margin), max(high, test.threshold + margin)
    return (np.floor(low) - 0.5, np.ceil(high) + 0.5) if test.pair.discrete and not test.pair.labels else (low, high)


def _bars(test: Test, low: float, high: float) -> bool:
    return test.pair.discrete and high - low <= MOST_BARS


def _answers(test: Test, low: float, high: float, *, inside: bool) -> FloatArray:
    """Return the answers of one curve: an even grid, its kinks and jumps, and the threshold."""
    if test.pair.labels:
        return np.arange(len(test.pair.labels), dtype=np.float64)
    if test.pair.discrete:
        whole = np.round(np.linspace(np.ceil(low), np.floor(high), GRID))
        every = np.arange(np.ceil(low), np.floor(high) + 1) if _bars(test, low, high) else np.unique(whole)
        return np.asarray(every, dtype=np.float64)
    places: list[FloatArray] = [np.linspace(low, high, GRID)]
    law, tiny = test.pair.law(inside=inside), 1e-9 * (high - low)
    jumps = law.edges(low, high)
    places += [np.array([law.centre]), jumps - tiny, jumps + tiny]
    if np.isfinite(test.threshold):
        places.append(np.array([test.threshold, np.nextafter(test.threshold, np.inf)]))
    answers = np.unique(np.concatenate(places))
    return np.asarray(answers[(answers >= low) & (answers <= high)], dtype=np.float64)


def _axes(test: Test, window: Window, top: float) -> tuple[alt.X, alt.Y]:
    axis = alt.Axis(tickCount=8, grid=False)
    if test.pair.labels:
        names = "[" + ", ".join(repr(label) for label in test.pair.labels) + "]"
        axis = alt.Axis(values=list(range(len(test.pair.labels))), labelExpr=f"{names}[datum.value]", grid=False)
    what = "Probability of the answer" if test.pair.discrete else "Density of the answer"
    sides = f" (left bar: {test.pair.names[0]}, right bar: {test.pair.names[1]})" if _bars(test, *window) else ""
    scale = alt.Scale(domain=[float(w) for w in window], nice=False)
    x = alt.X("answer:Q", title=f"Noisy answer{sides}", scale=scale, axis=axis)
    y = alt.Y("density:Q", title=what, scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(tickCount=5))
    return x, y


def _tips(rows: Columns, test: Test) -> dict[str, list[str]]:
    """Return the texts of the tooltips of points."""
    names = test.pair.labels
    return {
        "answer_text": [names[int(v)] if names else nearest(v) for v in rows["answer"].tolist()],
        "density_text": [nearest(v) for v in rows["density"].tolist()],
        "accused_text": [nearest(v, 3) for v in rows["accused"].tolist()],
    }


def _tooltip(test: Test) -> list[alt.Tooltip]:
    what = "probability" if test.pair.discrete else "density"
    texts = {"label": "dataset", "answer_text": "answer", "density_text": what, "accused_text": "accused with chance"}
    return tooltips(texts)


def _as_lines(data: Columns, test: Test, series: Series, x: alt.X, y: alt.Y, *, legend: bool) -> list[alt.Chart]:
    """Draw densities as lines, the errors as areas under them."""
    layers, paint = [], series.paint()
    for name, wrong in zip(series.names, (data["accused"] > 0, data["accused"] < 1), strict=True):
        shaded = (data["label"] == name) & wrong
        if shaded.any():
            rows = layer_table({column: data[column][shaded] for column in ("answer", "density")})
            area = alt.Chart(rows).mark_area(color=paint[name], opacity=0.35, line=False, aria=False)
            layers.append(area.encode(x=x, y=_unstacked(y)))
    lines = layer_table({column: data[column] for column in ("label", "answer", "density")})
    line = alt.Chart(lines).mark_line(strokeWidth=2.5, aria=False)
    layers.append(line.encode(x=x, y=y, order=alt.Order("answer:Q"), **series.strokes(legend=legend)))
    some = {column: values[::_HOVER] for column, values in data.items()}
    hover = layer_table({**{name: some[name] for name in ("answer", "density", "label")}, **_tips(some, test)})
    points = alt.Chart(hover).mark_point(filled=True, size=90, opacity=0, aria=False)
    layers.append(points.encode(x=x, y=y, tooltip=_tooltip(test)))
    return layers


def _unstacked(y: alt.Y) -> alt.Y:
    """Return an axis on which two points at a jump do not add up."""
    return alt.Y(**{name: y[name] for name in ("shorthand", "title", "scale", "axis")}, stack=None)


def _as_bars(data: Columns, test: Test, series: Series, x: alt.X, y: alt.Y, *, legend: bool) -> list[alt.Chart]:
    """Draw probabilities as bars side by side, with the errors filled."""
    first, paint = data["label"] == series.names[0], series.paint()
    left = data["answer"] + np.where(first, -0.4, 0.02)
    wrong = np.where(first, data["accused"], 1.0 - data["accused"])
    sides = {"answer": left, "right": left + 0.38, "paint": [paint[name] for name in data["label"].tolist()]}
    rows = {**sides, "density": data["density"], "label": data["label"], **_tips(data, test)}
    where = {"x": x, "x2": alt.X2("right:Q"), "y": y, "y2": alt.Y2Datum(0)}
    filled = alt.Fill("paint:N", scale=None)
    part = layer_table({**sides, "density": wrong * data["density"]})
    shade = alt.Chart(part).mark_rect(opacity=0.45, aria=False).encode(fill=filled, **where)
    whole = alt.Chart(layer_table(rows)).mark_bar(fillOpacity=0, strokeWidth=2, aria=False)  # a mark_rect has no dashes
    outline = whole.encode(tooltip=_tooltip(test), **where, **series.strokes(legend=legend))
    return [shade, outline]


def _threshold(test: Test, window: Window, top: float, x: alt.X, y: alt.Y, *, dark: bool) -> list[alt.Chart]:
    """Draw the threshold and name the accused side; a threshold outside the picture is drawn at its edge."""
    place = test.threshold
    if _bars(test, *window):
        place += 0.5 - test.share  # the accused part of the bar at the threshold lies to the right
    place = float(np.clip(place, *window))
    ink = theme.ink(dark=dark)
    at = layer_table({"answer": [place], "density": [top]})
    layers = [alt.Chart(at).mark_rule(color=ink, strokeWidth=2.5, aria=False).encode(x=x)]
    share = (place - window[0]) / (window[1] - window[0])
    sides: list[tuple[float, dict[str, Any], str]] = [
        (share, {"align": "right", "dx": -8}, "← not accused"),
        (1.0 - share, {"align": "left", "dx": 8}, "accused →"),
    ]
    for room, side, words in sides:
        if room <= 0.2:
            continue
        text = alt.Chart(at).mark_text(baseline="top", dy=4, color=ink, fontSize=theme.TEXT, aria=False, **side)
        layers.append(text.encode(x=x, y=y, text=alt.TextValue(words)))
    return layers


def _observed_mark(observed: float, window: Window, x: alt.X, y: alt.Y, *, dark: bool) -> alt.Chart:
    """Mark one answer on the axis."""
    rows = layer_table(
        {"answer": [float(np.clip(observed, *window))], "density": [0.0], "text": [nearest(observed, 4)]}
    )
    chart: alt.Chart = (
        alt.Chart(rows)
        .mark_point(
            shape="triangle-up", filled=True, size=220, yOffset=-7, color=theme.ink(dark=dark), opacity=1, aria=False
        )
        .encode(x=x, y=y, tooltip=[alt.Tooltip("text:N", title="this answer")])
    )
    return chart


def _rule(test: Test) -> str:
    """Say at which answers the test accuses."""
    names, place, share = test.pair.labels, test.threshold, test.share
    if names:
        whole = [names[i] for i in range(len(names)) if i > place]
        accused = " or ".join(whole) if whole else "nobody"
        if share > 0:
            part = f"{names[int(place)]} with a chance of {nearest(share, 3)}"
            accused = f"{accused}, and at {part}" if whole else part
        return f"Accusing at the answer {accused}" if whole or share > 0 else "Accusing nobody"
    if np.isinf(place):
        return "Accusing nobody" if place > 0 else "Accusing everybody"
    extra = f", and at {nearest(place)} with a chance of {nearest(share, 3)}" if share > 0 else ""
    return f"Accusing at answers above {nearest(place, 4)}{extra}"
