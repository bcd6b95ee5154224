"""The pictures of a lab: series labelled with what their numbers are, bars, and regions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked
from dpcore.charts.regions import region_figure
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import MEASURED, utility_chart, utility_notes
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot

if TYPE_CHECKING:
    from dpcore.labs.base import Picture

HEIGHT = 380
LINE = 26  # px of a line of the legend
_TWO_LINES = r"split(datum.label, regexp(', |\\+'))"  # breaks a name such as "Table 3.3, both" or "A1+N1"
_WORDS = {**WORDS, "simulation": "simulation", "printed": "as printed"}


def lab_figure(picture: Picture, look: Look = PLAIN) -> Figure:
    """Return a picture of a lab as a figure."""
    look = described(replace(look, height=look.height or _height(picture)), picture.takeaway)
    if not isinstance(picture, Plot):
        figure = region_figure(dict(picture.regions), log=picture.log, look=look)
        return replace(figure, takeaway=picture.takeaway, title=picture.title, notes=(*picture.notes, *figure.notes))
    rows = labelled(picture.frame)
    if (rows["mark"] == "bar").any() or not pd.api.types.is_numeric_dtype(rows["x"]):
        chart = group_chart(rows, picture, look)
        notes: tuple[str, ...] = ()
    else:
        table = _utility_rows(rows, picture)
        notes = (*_dots(rows), *utility_notes(table, log_y=picture.log_y))
        chart = utility_chart(
            table,
            parameter=picture.x_label,
            value=picture.y_label,
            log_x=picture.log_x,
            log_y=picture.log_y,
            look=look,
        )
    return Figure(chart, picture.frame, picture.takeaway, picture.title, (*picture.notes, *notes))


def _dots(rows: pd.DataFrame) -> tuple[str, ...]:
    """Name the series drawn as dots where others are lines: the legend shows a stroke for each."""
    dots = rows["mark"] == "point"
    return (f"Dots: {'; '.join(dict.fromkeys(rows.loc[dots, 'label']))}.",) if dots.any() and not dots.all() else ()


def _height(picture: Picture) -> int:
    """Return the height of a chart together with the legend below it, as a page counts it."""
    if isinstance(picture, Plot):
        count = len(set(picture.frame["series"])) + len(picture.reference)
    else:
        count = len(picture.regions)
    return HEIGHT + LINE * count


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a `label`: the name of the series and what its numbers are, unless the name says so already."""
    words = frame["kind"].map(_WORDS)
    pairs = zip(frame["series"].astype(str), words, strict=True)
    return frame.assign(label=[name if _says(name, word) else f"{name} ({word})" for name, word in pairs])


def _says(name: str, word: str) -> bool:
    """Whether a name says what its numbers are, as in "formula as printed" or "simulated"."""
    return word.removeprefix("as ").removesuffix("ion").removesuffix("at") in name


def _utility_rows(rows: pd.DataFrame, picture: Plot) -> pd.DataFrame:
    """Return the rows as the utility chart expects them; a reference line is a series from end to end."""
    kinds = rows["kind"].where(rows["mark"] != "point", MEASURED[0])
    table = pd.DataFrame(
        {
            "label": rows["label"],
            "parameter": rows["x"].astype(float),
            "value": rows["y"],
            "kind": kinds,
            "low": rows["low"],
            "high": rows["high"],
        }
    )
    ends = [float(table["parameter"].min()), float(table["parameter"].max())]
    lines = [
        pd.DataFrame({"label": name, "parameter": ends, "value": y, "kind": "reference", "low": y, "high": y})
        for name, y in picture.reference.items()
    ]
    return pd.concat([table, *lines], ignore_index=True)


def group_chart(rows: pd.DataFrame, picture: Plot, look: Look) -> alt.LayerChart:
    """Draw groups of bars or points side by side, with error bars and dotted reference lines."""
    series = Series(rows["label"], dark=look.dark)
    points = rows.assign(
        label=rows["label"].map(series.name_of),
        x=rows["x"].astype(str),
        value_text=[f"{nearest(y)} ({nearest(a)} to {nearest(b)})" for y, a, b in _triples(rows)],
    )
    order = list(dict.fromkeys(points["x"]))
    axis = alt.Axis(labelAngle=0, labelLimit=120, labelExpr=_TWO_LINES)
    x = alt.X("x:N", title=theme.short(picture.x_label), sort=order, axis=axis)
    offset = alt.XOffset("label:N", sort=series.names)
    logarithmic = picture.log_y and bool((rows["y"] > 0).all()) and bool((rows["low"] > 0).all())
    bars = bool((rows["mark"] == "bar").any())
    scale = alt.Scale(type="log") if logarithmic else alt.Scale(zero=bars)
    y = alt.Y("y:Q", title=theme.short(picture.y_label), scale=scale)
    tips = [alt.Tooltip("label:N", title="series"), alt.Tooltip("x:N"), alt.Tooltip("value_text:N", title="value")]
    base = alt.Chart(checked(points)).encode(x=x, xOffset=offset)
    fill = alt.Color("label:N", title=None, scale=series.colours(), legend=_legend(series))
    drawing = base.mark_bar(aria=False) if bars else base.mark_point(filled=True, size=60, opacity=1, aria=False)
    layers = [drawing.encode(y=y, color=fill, tooltip=tips)]
    if (rows["high"] > rows["low"]).any():
        ink = theme.ink(dark=look.dark)
        layers.append(
            base.mark_rule(strokeWidth=1.5, color=ink, aria=False).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
        )
    for index, (name, height) in enumerate(picture.reference.items()):
        layers += _reference(name, height, index, dark=look.dark)
    return theme.finish(layers, look, words=picture.takeaway, height=HEIGHT)


def _reference(name: str, height: float, index: int, *, dark: bool) -> list[alt.Chart]:
    """Return a dotted line over all bars with its name above it."""
    place = alt.Chart(pd.DataFrame({"y": [float(height)], "name": [theme.short(name)]})).encode(y=alt.Y("y:Q"))
    line = place.mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color=theme.ink(dark=dark), aria=False)
    text = place.mark_text(align="left", baseline="bottom", dx=4 + 90 * index, dy=-2, aria=False)
    return [line, text.encode(x=alt.value(0), text=alt.Text("name:N"))]


def _legend(series: Series) -> alt.Legend | None:
    legend = series.legend()
    return (
        None if legend is None else alt.Legend(title=None, orient="bottom", columns=legend["columns"], labelLimit=290)
    )


def _triples(rows: pd.DataFrame) -> zip[tuple[float, float, float]]:
    return zip(rows["y"], rows["low"], rows["high"], strict=True)
