"""The utility chart: the error of answers, or their chance of success, as a parameter changes."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import FACTS, labelled
from dpcore.core.numerals import nearest
from dpcore.words import outward

COLUMNS = ("parameter", "value", "kind", "low", "high")
MEASURED = ("simulation", "measured")
DECADES = 1e-15  # values below this share of the largest are not drawn on a logarithmic axis


def utility_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a utility chart, checked, with a `label` for each series.

    Parameters
    ----------
    frame : DataFrame
        `parameter, value, kind, low, high` and optionally `series` or `label`. Rows of kind ``simulation`` or
        ``measured`` become points with error bars from low to high, all others a line in a band.

    Returns
    -------
    DataFrame
        `label, parameter, value, kind, low, high`.
    """
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        msg = f"A utility chart needs the columns {', '.join(COLUMNS)}; {', '.join(missing)} is missing."
        raise DomainError(msg)
    if frame.empty:
        msg = "A utility chart needs at least one row, got none."
        raise DomainError(msg)
    if "label" in frame.columns:
        return frame[["label", *COLUMNS]].reset_index(drop=True)
    several = "series" in frame.columns and len(set(frame["series"])) > 1
    label = frame["series"].astype(str) + ", " + frame["kind"] if several else frame["kind"]
    return frame.assign(label=label.to_numpy())[["label", *COLUMNS]].reset_index(drop=True)


def utility_takeaway(
    frame: pd.DataFrame, *, current: float | None = None, parameter: str = "ε", value: str = "error"
) -> str:
    """Say the value at the current parameter or at both ends, bounds rounded outward.

    Parameters
    ----------
    frame : DataFrame
        As in `utility_table`.
    current : float, optional
        The current parameter; the nearest one in the table is used.
    parameter, value : str
        Names of the axes.

    Returns
    -------
    str
        The first four series, in one sentence if all have a value at the same parameter.
    """
    table = utility_table(frame)
    name = theme.short(value)
    name = name[:1].upper() + name[1:]
    sentences: list[str] = []
    here_all: list[tuple[str, str]] = []  # of each series: the place, and its value there
    for label, rows in table.groupby("label", sort=False):
        order = rows.sort_values("parameter")
        if current is not None:
            here = order.iloc[int(np.argmin(np.abs(order["parameter"].to_numpy(dtype=np.float64) - current)))]
            places = [here]
            here_all.append(
                (nearest(here["parameter"], 4), f"{rounded(here['value'], here['kind'])} ({theme.short(str(label))})")
            )
        else:
            places = [order.iloc[0], order.iloc[-1]]
        words = " and ".join(
            f"{rounded(row['value'], row['kind'])} at {parameter} = {nearest(row['parameter'], 4)}" for row in places
        )
        sentences.append(f"{name} ({theme.short(str(label))}): {words}.")
    if len(here_all) > 1 and len({place for place, _ in here_all}) == 1:
        comma = "," if "," in name else ""
        return f"{name}{comma} at {parameter} = {here_all[0][0]}: {'; '.join(words for _, words in here_all[:4])}."
    return " ".join(sentences[:4])


def utility_figure(
    frame: pd.DataFrame,
    *,
    current: float | None = None,
    parameter: str = "ε",
    value: str = "error",
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return a utility chart as a figure.

    Parameters
    ----------
    frame : DataFrame
        As in `utility_table`.
    current : float, optional
        The current parameter, drawn as a dotted line.
    parameter, value : str
        Titles of the axes.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `utility_chart`.

    Returns
    -------
    Figure
        The table has the columns of `utility_table`; numbers of regions also have `theorem` and `neighbours`.
    """
    table = utility_table(frame)
    takeaway = utility_takeaway(frame, current=current, parameter=parameter, value=value)
    chart = utility_chart(
        table, current=current, parameter=parameter, value=value, look=described(look, takeaway), **options
    )
    notes = utility_notes(table, log_y=options.get("log_y", True))
    if set(FACTS) <= set(frame.columns):
        table = labelled(table, theorem=frame["theorem"].to_numpy(), neighbours=frame["neighbours"].to_numpy())
    return Figure(chart, table, takeaway, look.title or f"{value} against {parameter}", notes)


def utility_notes(table: pd.DataFrame, *, log_y: bool = True) -> tuple[str, ...]:
    """Say how many values have no place on a logarithmic axis."""
    count = len(table) - len(_drawable(table, log=log_y)[0])
    what = "One value of 0 or close to it has" if count == 1 else f"{count} values of 0 or close to it have"
    return (f"{what} no place on the log axis; all are in the table.",) * bool(count)


def rounded(value: float, kind: str) -> str:
    """Return three digits: bounds rounded to the safe side, other numbers to the nearest."""
    return outward(value if kind in ("upper", "lower") else float(nearest(value, 3)), 3, up=kind != "lower")


def utility_chart(
    table: pd.DataFrame,
    *,
    current: float | None = None,
    parameter: str = "ε",
    value: str = "error",
    log_x: bool = True,
    log_y: bool = True,
    legend: bool = True,
    look: Look = PLAIN,
) -> alt.LayerChart:
    """Draw a line in its band, measured points with error bars, and a dotted line at the current value.

    Parameters
    ----------
    table : DataFrame
        What `utility_table` returns.
    current : float, optional
        The current parameter.
    parameter, value : str
        Titles of the axes.
    log_x, log_y : bool, default True
        Logarithmic axes. Across, a value of 0 or below makes the axis linear. Up, what is below
        1e-15 of the largest value has no place: such values are left out, bars and bands end at the bottom, and the
        axis is linear if more than half of the values would be lost.
    legend : bool, default True
        Draw the legend.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    table, y_log = _drawable(table, log=log_y)
    series = Series(table["label"], dark=look.dark)
    data = table.assign(
        label=table["label"].map(series.name_of),
        paint=table["label"].map(series.name_of).map(series.paint()),
        parameter_text=[nearest(v) for v in table["parameter"]],
        value_text=[
            nearest(v) if a == b else f"{nearest(v)} ({nearest(a)} to {nearest(b)})" for v, a, b in _triples(table)
        ],
    )
    x, y = _channels(table, parameter, value, log=(log_x and bool((table["parameter"] > 0).all()), y_log))
    tips = tooltips({"label": "series", "parameter_text": theme.short(parameter), "value_text": theme.short(value)})
    paint = alt.Color("paint:N", scale=None)
    measured = data["kind"].isin(MEASURED)
    layers: list[alt.Chart] = []
    lines, dots = data[~measured], data[measured]
    drawn_as_lines = set(lines["label"])
    alone = series.only(name for name in series.names if name not in drawn_as_lines)
    low = alt.Y(
        "low:Q",
        title=theme.short(value),
        scale=_scale(log=y_log),
        axis=_axis(table, ("low", "high", "value"), log=y_log),
    )
    if len(lines):
        base = alt.Chart(checked(lines)).encode(x=x)
        band = base.mark_area(opacity=0.2, aria=False).encode(y=low, y2=alt.Y2("high:Q"), color=paint)
        layers += [
            band,
            base.mark_line(strokeWidth=2, aria=False).encode(y=y, **series.only(drawn_as_lines).strokes(legend=legend)),
            base.mark_point(filled=True, opacity=0, size=90, aria=False).encode(y=y, color=paint, tooltip=tips),
        ]
    if len(dots):
        base = alt.Chart(checked(dots)).encode(x=x)
        rules = base.mark_rule(strokeWidth=1.5, aria=False).encode(y=low, y2=alt.Y2("high:Q"), color=paint)
        points = base.mark_point(filled=True, size=45, opacity=1, aria=False).encode(y=y, color=paint, tooltip=tips)
        layers += [rules, points]
        if alone.labels:  # draw their points again, in front, with a legend of points
            own = alt.Chart(checked(dots[dots["label"].isin(alone.names)])).encode(x=x)
            layers.append(
                own.mark_point(filled=True, size=45, opacity=1, aria=False).encode(
                    y=y, tooltip=tips, **alone.dots(legend=legend)
                )
            )
    if current is not None:
        mark = pd.DataFrame({"parameter": [float(current)]})
        rule = alt.Chart(checked(mark)).mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color=theme.ink(dark=look.dark))
        layers.append(rule.encode(x=x))
    text = f"{theme.short(value)} against {theme.short(parameter)}."
    return theme.finish(layers, look, words=text, height=360)


def _channels(table: pd.DataFrame, parameter: str, value: str, *, log: tuple[bool, bool]) -> tuple[alt.X, alt.Y]:
    x = alt.X(
        "parameter:Q",
        title=theme.short(parameter),
        scale=_scale(log=log[0]),
        axis=_axis(table, ("parameter",), log=log[0]),
    )
    y = alt.Y(
        "value:Q",
        title=theme.short(value),
        scale=_scale(log=log[1]),
        axis=_axis(table, ("low", "high", "value"), log=log[1]),
    )
    return x, y


def least_mark(table: pd.DataFrame, label: str, axes: tuple[str, str], look: Look = PLAIN) -> list[alt.Chart]:
    """Return the layers that mark the least value of one line of a utility chart with logarithmic axes.

    Parameters
    ----------
    table : DataFrame
        What the chart draws.
    label : str
        The line.
    axes : tuple of (str, str)
        Titles of the axes, as in the chart.
    look : Look, default PLAIN
        Size, title and colours.
    """
    visible, y_log = _drawable(table, log=True)
    x, y = _channels(visible, *axes, log=(bool((visible["parameter"] > 0).all()), y_log))
    own = visible[visible["label"] == label]
    place = own.iloc[[int(own["value"].argmin())]].assign(text=f"least {label}")
    base, ink = alt.Chart(checked(place)).encode(x=x, y=y), theme.ink(dark=look.dark)
    mark = base.mark_point(filled=True, size=130, shape="diamond", color=ink, opacity=1, aria=False)
    side: dict[str, Any] = {"align": "left", "dx": 12, "dy": 14, "fontSize": theme.TEXT}
    return [mark, *theme.halo_text(base, "text:N", dark=look.dark, halo=0.8, **side)]


def _triples(table: pd.DataFrame) -> zip[tuple[float, float, float]]:
    return zip(table["value"], table["low"], table["high"], strict=True)


def _floor(table: pd.DataFrame) -> float:
    """Return the least value drawn on a logarithmic axis; infinity if the axis should be linear."""
    values = table["value"].to_numpy(dtype=np.float64)
    top = float(max(table["high"].max(), values.max()))
    if top <= 0:
        return np.inf
    visible = values[values >= top * DECADES]
    return float(visible.min()) if 2 * len(visible) >= len(values) else np.inf


def _drawable(table: pd.DataFrame, *, log: bool) -> tuple[pd.DataFrame, bool]:
    """Return the rows that fit the axis, and whether it is logarithmic."""
    floor = _floor(table) if log else np.inf
    if not np.isfinite(floor):
        return table, False
    rows = table[table["value"] >= floor]
    return rows.assign(low=rows["low"].clip(lower=0.5 * floor), high=rows["high"].clip(lower=0.5 * floor)), True


def _scale(*, log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False, nice=True)


def _axis(table: pd.DataFrame, names: tuple[str, ...], *, log: bool) -> alt.Axis:
    """Return an axis; a logarithmic one has ticks at 1, 2, 5 of few decades, at powers of ten of many."""
    if not log:
        return alt.Axis(tickCount=6)
    low = np.log10(min(float(table[name].min()) for name in names))
    high = np.log10(max(float(table[name].max()) for name in names))
    decades = np.arange(np.floor(low), np.ceil(high) + 1)
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    values = [float(f"{step * 10.0**k:.6g}") for k in decades for step in steps]
    return alt.Axis(values=values, labelExpr=theme.NUMERALS)
