"""The region chart: the false positives and false negatives that an attacker can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import pixels, theme
from dpcore.charts.figure import Figure, Series, layer_table, tooltips
from dpcore.charts.sampling import Regions, area, label_of, named, note, sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.words import attack_sentence, attacks_sentence, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

Axes = Literal["thesis", "fdp"]
Columns: TypeAlias = "dict[str, NDArray[Any]]"
AXES = ("thesis", "fdp")
TITLES = {
    "alpha": "False positives α (outside the data, accused)",
    "beta": "False negatives β (inside the data, missed)",
}
MOST_CORNERS_DRAWN = 60
MOST_HOVER_POINTS = 100
MOST_SENTENCES = 4
_TICKS = [1e-12, 1e-9, 1e-6, 1e-3, 1.0]
# points that make the diagonal look round in the log view
_LOG_DIAGONAL = np.concatenate(([pixels.FLOOR, 1e-3], np.linspace(0.01, 0.98, 60), 1.0 - np.geomspace(0.01, 1e-12, 41)))
_COLUMNS = ("label", "alpha", "beta", "power", "epsilon_label", "kind", "corner")
_LEFT_EDGE = {"beta": 1.0, "power": 0.0, "epsilon_label": "inf", "corner": False}
_LOG_LABEL = "datum.value == 1 ? '1' : format(datum.value, '.0e')"


def region_table(regions: Regions) -> pd.DataFrame:
    """Return the points drawn of all regions.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.

    Returns
    -------
    DataFrame
        Columns as in `dpcore.charts.sampling.sample`.
    """
    parts = [sample(region, label) for label, region in named(regions).items()]
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def region_takeaway(regions: Regions, *, fpr: float = 0.05, selected: str | None = None) -> str:
    """Say what the best attacker finds: for the selected region, or for each of the first four.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    fpr : float, default 0.05
        The false-positive rate of the attacker.
    selected : str, optional
        Label or expression of the region to speak of.

    Returns
    -------
    str
        One or more sentences.
    """
    items = named(regions)
    front = list(items)[:MOST_SENTENCES] if (label := label_of(selected, items)) is None else [label]
    selection = {label: items[label] for label in front}
    if len(selection) == 1:
        sentences = [
            f"{theme.short(label)}: {_continued(attack_sentence(region, fpr))}" for label, region in selection.items()
        ]
    else:
        sentences = [attacks_sentence({theme.short(label): region for label, region in selection.items()}, fpr)]
    rest = len(items) - len(selection)
    if rest:
        sentences.append("One more region is in the table." if rest == 1 else f"{rest} more regions are in the table.")
    return " ".join(sentences)


def _continued(sentence: str) -> str:
    """Return a sentence as it goes on after a colon."""
    return sentence[0].lower() + sentence[1:]


def region_figure(
    regions: Regions,
    *,
    fpr: float | None = None,
    selected: str | None = None,
    log: bool = False,
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return some regions as a figure.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    fpr : float, optional
        The false-positive rate of the sentence; by default 0.05, or 1e-6 in the log-log view.
    selected : str, optional
        Label or expression of the region to draw in front and to speak of.
    log : bool, default False
        Both axes logarithmic down to 1e-12.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `region_chart`.

    Returns
    -------
    Figure
        The chart with its table, its sentence and its notes.
    """
    items = named(regions)
    table = region_table(items)
    rate = fpr if fpr is not None else 1e-6 if log else 0.05
    selected = label_of(selected, items)
    takeaway = region_takeaway(items, fpr=rate, selected=selected)
    chart = region_chart(table, log=log, selected=selected, look=described(look, takeaway), **options)
    notes = tuple(text for label, region in items.items() if (text := note(region, table[table["label"] == label])))
    return Figure(chart, table, takeaway, look.title or "Privacy regions", notes)


def region_chart(  # noqa: PLR0913  each is a choice of its own about the picture
    table: pd.DataFrame,
    *,
    axes: Axes = "fdp",
    log: bool = False,
    filled: bool = True,
    selected: str | None = None,
    legend: bool = True,
    corners: bool = True,
    places: Sequence[int] = (),
    look: Look = PLAIN,
) -> alt.LayerChart:
    """Draw regions, the larger ones behind, over the diagonal of blind guessing.

    Parameters
    ----------
    table : DataFrame
        What `region_table` returns.
    axes : Axes, default "fdp"
        ``fdp`` (across: false positives alpha, up: false negatives beta) or ``thesis`` (the other way round).
    log : bool, default False
        Both axes logarithmic down to 1e-12.
    filled : bool, default True
        Fill each region; otherwise lines only.
    selected : str, optional
        Label of the region to draw in front.
    legend : bool, default True
        Draw the legend.
    corners : bool, default True
        Mark the exact corners of polygons that have at most 60.
    places : sequence of int, default ()
        Numbers of the colours of the regions, in their order; 0, 1, 2, ... by default.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    one_of("axes", AXES).check(axes)
    columns = {name: table[name].to_numpy() for name in _COLUMNS}
    columns["label"] = np.asarray(columns["label"], dtype=object)
    series = Series(columns["label"].tolist(), dark=look.dark, places=places)
    points = _placed(columns, _order(columns, series, selected), series, axes=axes, log=log)
    x, y = _axes(axes, log=log)
    curves = _curves(points, series)
    layers = [_fill(curves, x, y, log=log)] if filled else []
    layers += _guessing(x, y, log=log, dark=look.dark)
    layers.append(_lines(curves, series, x, y, selected=series.name_of.get(selected or ""), legend=legend))
    layers.append(_points(points, series, x, y, corners=corners))
    text = f"Privacy regions of {', '.join(series.names)}: false negatives against false positives."
    return theme.finish(layers, look, words=text, height=460)


def blank_figure(*, axes: Axes = "fdp", log: bool = False, look: Look = PLAIN) -> Figure:
    """Return the chart before any region is added: the axes and the line of blind guessing."""
    x, y = _axes(axes, log=log)
    words = "An empty chart: only the line of blind guessing, the errors of an attacker who knows nothing."
    chart = theme.finish(_guessing(x, y, log=log, dark=look.dark), described(look, words), words=words, height=460)
    facts = {"kind": "exact", "theorem": "blind guessing", "neighbours": "any"}
    table = pd.DataFrame({"alpha": [0.0, 1.0], "beta": [1.0, 0.0], **facts})
    return Figure(chart, table, words, "Privacy regions")


def _order(columns: Columns, series: Series, selected: str | None) -> list[tuple[str, NDArray[np.int64]]]:
    """Return the labels from back to front with their rows: by area, the selected one last."""
    rows = {label: np.flatnonzero(columns["label"] == label) for label in series.labels}
    sizes = {label: area(columns["alpha"][at], columns["beta"][at]) for label, at in rows.items()}
    return sorted(rows.items(), key=lambda pair: (pair[0] == selected, -sizes[pair[0]]))


def _placed(
    columns: Columns, order: list[tuple[str, NDArray[np.int64]]], series: Series, *, axes: Axes, log: bool
) -> Columns:
    """Return the points in drawing order with their coordinates, blind guessing at x, and what the tooltip needs.

    The result is a dict of columns: a DataFrame would take more time at each step than the numbers do.
    """
    parts: list[Columns] = []
    across, up = ("alpha", "beta") if axes == "fdp" else ("beta", "alpha")
    for label, at in order:
        points = {name: values[at] for name, values in columns.items()}
        if points["beta"][0] < 1.0:  # the curve starts down the left edge, as it ends along the bottom
            edge = {**{name: values[0] for name, values in points.items()}, **_LEFT_EDGE}
            points = {name: np.insert(values, 0, edge[name]) for name, values in points.items()}
        if axes == "thesis":
            points = {name: values[::-1] for name, values in points.items()}
        x, y = (_clamped(points[name], log=log) for name in (across, up))
        # corners without the two ends that every region shares
        corner = points["corner"] & (points["alpha"] < 1.0) & (points["beta"] < 1.0)
        points |= {
            "label": np.full(x.size, series.name_of[label], dtype=object),
            "x": x,
            "y": y,
            "guess": _guess(points[across], log=log),
            "corner": corner & (int(corner.sum()) <= MOST_CORNERS_DRAWN),
            "hover": _spread(x, y, log=log),
            "step": np.arange(x.size),
        }
        parts.append(points)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _clamped(rate: FloatArray, *, log: bool) -> FloatArray:
    return np.asarray(np.maximum(rate, pixels.FLOOR) if log else rate, dtype=np.float64)


def _guess(rate: FloatArray, *, log: bool) -> FloatArray:
    return _clamped(1.0 - rate, log=log)


def _spread(x: FloatArray, y: FloatArray, *, log: bool) -> NDArray[np.bool_]:
    """Choose at most 100 points, about evenly along the drawn line, that carry tooltips."""
    view = pixels.logarithmic if log else pixels.linear
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(view(x)), np.diff(view(y))))))
    cell = np.floor(along / max(float(along[-1]), 1.0) * (MOST_HOVER_POINTS - 1))
    return np.concatenate(([True], np.diff(cell) > 0))


def _axes(axes: Axes, *, log: bool) -> tuple[alt.X, alt.Y]:
    """Return the two axes."""
    across, up = ("alpha", "beta") if axes == "fdp" else ("beta", "alpha")
    if log:
        scale = alt.Scale(type="log", domain=[pixels.FLOOR, 1], nice=False, clamp=True)
        axis = alt.Axis(values=_TICKS, labelExpr=_LOG_LABEL)
    else:
        scale = alt.Scale(domain=[0, 1], nice=False)
        axis = alt.Axis(tickCount=6)
    x = alt.X("x:Q", title=TITLES[across], scale=scale, axis=axis)
    return x, alt.Y("y:Q", title=TITLES[up], scale=scale, axis=axis)


def _curves(points: Columns, series: Series) -> pd.DataFrame:
    """Return the points of lines and fills, which share one table."""
    paint = series.fills()
    fills = [paint[label] for label in points["label"].tolist()]
    return layer_table({**{name: points[name] for name in ("label", "x", "y", "guess", "step")}, "paint": fills})


def _fill(curves: pd.DataFrame, x: alt.X, y: alt.Y, *, log: bool) -> alt.Chart:
    """Fill between each curve and blind guessing; in the log view the far end needs extra points."""
    chart: alt.Chart = (
        alt.Chart(layer_table(_far_ends(curves)) if log else curves)
        .mark_area(opacity=1, line=False, aria=False)
        .encode(x=x, y=y, y2=alt.Y2("guess:Q"), detail=alt.Detail("label:N"), fill=alt.Fill("paint:N", scale=None))
    )
    return chart


def _far_ends(curves: pd.DataFrame) -> Columns:
    """Add the points that make the diagonal look round in the log view; each region is sorted along x."""
    columns: Columns = {name: curves[name].to_numpy() for name in ("label", "x", "y", "guess", "paint")}
    parts: list[Columns] = []
    for label in dict.fromkeys(columns["label"].tolist()):
        own = columns["label"] == label
        x, y, guess = (columns[name][own] for name in ("x", "y", "guess"))
        more = _LOG_DIAGONAL[x.min() < _LOG_DIAGONAL]
        height = np.exp(np.interp(np.log(more), np.log(x), np.log(y)))
        across = np.concatenate((x, more))
        order = np.argsort(across, kind="stable")
        parts.append(
            {
                "label": np.full(across.size, label, dtype=object),
                "x": across[order],
                "y": np.concatenate((y, height))[order],
                "guess": np.concatenate((guess, _guess(more, log=True)))[order],
                "paint": np.full(across.size, columns["paint"][own][0], dtype=object),
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in columns}


def _guessing(x: alt.X, y: alt.Y, *, log: bool, dark: bool) -> list[alt.Chart]:
    """Draw the diagonal of blind guessing with its name."""
    at = _LOG_DIAGONAL if log else np.array([0.0, 1.0])
    line = layer_table({"x": _clamped(at, log=log), "y": _guess(at, log=log)})
    words = "dotted: blind guessing" if log else "blind guessing"
    place = layer_table({"x": [0.4 if log else 0.52], "y": [1e-10 if log else 0.5]})
    quiet = theme.quiet(dark=dark)
    rule = alt.Chart(line).mark_line(color=quiet, strokeWidth=1.5, strokeDash=[3, 3], aria=False)
    align: Literal["right", "left"] = "right" if log else "left"
    word = alt.Chart(place).mark_text(align=align, dx=-6 if log else 6, dy=-6, color=quiet, aria=False)
    return [rule.encode(x=x, y=y), word.encode(x=x, y=y, text=alt.TextValue(words))]


def _lines(
    curves: pd.DataFrame, series: Series, x: alt.X, y: alt.Y, *, selected: str | None, legend: bool
) -> alt.Chart:
    """Draw the curves; the selected one is thicker."""
    width: Any = alt.StrokeWidthValue(2)
    if selected is not None:
        width = alt.StrokeWidthValue(2, condition={"test": {"field": "label", "equal": selected}, "value": 3.5})
    chart: alt.Chart = (
        alt.Chart(curves)
        .mark_line(aria=False, strokeJoin="round")
        .encode(x=x, y=y, order=alt.Order("step:Q"), strokeWidth=width, **series.strokes(legend=legend))
    )
    return chart


def _points(points: Columns, series: Series, x: alt.X, y: alt.Y, *, corners: bool) -> alt.Chart:
    """Draw corners as points, and invisible points between them, for the tooltips."""
    places = np.flatnonzero(points["hover"] | points["corner"])
    rows = {name: values[places] for name, values in points.items()}
    visible, paint = rows["corner"] & corners, series.paint()
    names = {
        "label": "region",
        "alpha_text": "false positives α",
        "beta_text": "false negatives β",
        "power_text": "attacker finds",
        "segment": "ε of the segment",
        "kind": "β is",
    }
    kinds = rows["kind"].tolist()
    wording = {"exact": "exact", "lower": "a lower bound (safe side)", "approximate": "an approximation, no bound"}
    table = layer_table(
        {
            "x": rows["x"],
            "y": rows["y"],
            "seen": visible.astype(float),
            "size": np.where(visible, 38, 90),
            "paint": [paint[label] for label in rows["label"].tolist()],
            "label": rows["label"],
            "alpha_text": [nearest(v) for v in rows["alpha"].tolist()],
            "beta_text": [_rate(v, kind, up=False) for v, kind in zip(rows["beta"].tolist(), kinds, strict=True)],
            "power_text": [_rate(v, kind, up=True) for v, kind in zip(rows["power"].tolist(), kinds, strict=True)],
            "segment": rows["epsilon_label"],
            "kind": [wording[kind] for kind in kinds],
        }
    )
    chart: alt.Chart = (
        alt.Chart(table)
        .mark_point(filled=True, aria=False)
        .encode(
            x=x,
            y=y,
            color=alt.Color("paint:N", scale=None),
            opacity=alt.Opacity("seen:Q", scale=None, legend=None),
            size=alt.Size("size:Q", scale=None, legend=None),
            tooltip=tooltips(names),
        )
    )
    return chart


def _rate(value: float, kind: str, *, up: bool) -> str:
    """Return a rate for a tooltip, which says whether it is exact, a bound or an approximation."""
    if kind == "approximate":
        return f"about {nearest(value, 4)}"
    return ("" if kind == "exact" else "at most " if up else "at least ") + outward(value, 5, up=up)
