"""The utility chart: how good answers are as a parameter moves."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, number
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.errors import DomainError

COLUMNS = ("parameter", "value", "kind", "low", "high")
MEASURED = ("simulation", "measured")


def utility_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows drawn: the columns of a utility chart, checked, with a `label` for each series.

    Parameters
    ----------
    frame : `parameter, value, kind, low, high` and optionally `series`. Rows of kind ``simulation`` or ``measured``
        become points with error bars from low to high, all others a line in a band.
    """
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        msg = f"A utility chart needs the columns {', '.join(COLUMNS)}; {', '.join(missing)} is missing."
        raise DomainError(msg)
    if frame.empty:
        msg = "A utility chart needs at least one row, got none."
        raise DomainError(msg)
    several = "series" in frame.columns and len(set(frame["series"])) > 1
    label = frame["series"].astype(str) + ", " + frame["kind"] if several else frame["kind"]
    return frame.assign(label=label.to_numpy())[["label", *COLUMNS]].reset_index(drop=True)


def utility_takeaway(
    frame: pd.DataFrame, *, current: float | None = None, parameter: str = "ε", value: str = "error"
) -> str:
    """Say the value at the current parameter, or at both ends; each number with what it is."""
    table = utility_table(frame)
    said = []
    for label, rows in table.groupby("label", sort=False):
        order = rows.sort_values("parameter")
        if current is not None:
            nearest = order.iloc[int(np.argmin(np.abs(order["parameter"].to_numpy(dtype=np.float64) - current)))]
            chosen = [nearest]
        else:
            chosen = [order.iloc[0], order.iloc[-1]]
        words = " and ".join(
            f"{number(row['value'], 3)} at {parameter} = {number(row['parameter'], 4)}" for row in chosen
        )
        said.append(f"{theme.short(value)} ({theme.short(str(label))}): {words}.")
    return " ".join(said[:4])


def utility_figure(
    frame: pd.DataFrame,
    *,
    current: float | None = None,
    parameter: str = "ε",
    value: str = "error",
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return chart, table and sentence; `options` are those of `utility_chart`."""
    table = utility_table(frame)
    takeaway = utility_takeaway(frame, current=current, parameter=parameter, value=value)
    chart = utility_chart(
        table, current=current, parameter=parameter, value=value, look=described(look, takeaway), **options
    )
    return Figure(chart, table, takeaway, look.title or f"{value} against {parameter}")


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
    table : what `utility_table` returns.
    current : the parameter chosen at the moment.
    parameter, value : titles of the axes.
    log_x, log_y : logarithmic axes; an axis with a value of 0 or below is drawn linear.
    """
    series = Series(table["label"], dark=look.dark)
    drawn = table.assign(
        label=table["label"].map(series.shown),
        paint=table["label"].map(series.shown).map(series.paint()),
        parameter_text=[number(v) for v in table["parameter"]],
        value_text=[f"{number(v)} ({number(a)} to {number(b)})" for v, a, b in _triples(table)],
    )
    x_log, y_log = log_x and _positive(table, "parameter"), log_y and _positive(table, "value", "low", "high")
    x = alt.X(
        "parameter:Q",
        title=theme.short(parameter),
        scale=_scale(log=x_log),
        axis=_axis(table, ("parameter",), log=x_log),
    )
    y = alt.Y(
        "value:Q",
        title=theme.short(value),
        scale=_scale(log=y_log),
        axis=_axis(table, ("low", "high", "value"), log=y_log),
    )
    tips = [
        alt.Tooltip(f"{n}:N", title=t)
        for n, t in {
            "label": "series",
            "parameter_text": theme.short(parameter),
            "value_text": theme.short(value),
        }.items()
    ]
    paint = alt.Color("paint:N", scale=None)
    measured = drawn["kind"].isin(MEASURED)
    layers: list[alt.Chart] = []
    lines, dots = drawn[~measured], drawn[measured]
    low = alt.Y(
        "low:Q",
        title=theme.short(value),
        scale=_scale(log=y_log),
        axis=_axis(table, ("low", "high", "value"), log=y_log),
    )
    if len(lines):
        base = alt.Chart(checked(lines)).encode(x=x)
        band = base.mark_area(opacity=0.2, aria=False).encode(y=low, y2="high:Q", color=paint)
        layers += [
            band,
            base.mark_line(strokeWidth=2, aria=False).encode(y=y, **series.strokes(legend=legend)),
            base.mark_point(filled=True, opacity=0, size=90, aria=False).encode(y=y, color=paint, tooltip=tips),
        ]
    if len(dots):
        base = alt.Chart(checked(dots)).encode(x=x)
        shown = {} if len(lines) else series.strokes(legend=legend)
        layers += [
            base.mark_rule(strokeWidth=1.5, aria=False).encode(y=low, y2="high:Q", color=paint),
            base.mark_point(filled=True, size=45, opacity=1, aria=False).encode(
                y=y, color=paint, tooltip=tips, **shown
            ),
        ]
    if current is not None:
        mark = pd.DataFrame({"parameter": [float(current)]})
        rule = alt.Chart(checked(mark)).mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color=theme.ink(dark=look.dark))
        layers.append(rule.encode(x=x))
    text = f"{theme.short(value)} against {theme.short(parameter)}."
    return theme.finish(layers, look, words=text, height=360)


def _triples(table: pd.DataFrame) -> zip[tuple[float, float, float]]:
    return zip(table["value"], table["low"], table["high"], strict=True)


def _positive(table: pd.DataFrame, *names: str) -> bool:
    return all(bool((table[name] > 0).all()) for name in names)


def _scale(*, log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False, nice=True)


def _axis(table: pd.DataFrame, names: tuple[str, ...], *, log: bool) -> alt.Axis:
    """Return an axis; a logarithmic one has ticks at 1, 2, 5 over few decades and at powers of ten over many."""
    if not log:
        return alt.Axis(format=".6~g", tickCount=6)
    low = np.log10(min(float(table[name].min()) for name in names))
    high = np.log10(max(float(table[name].max()) for name in names))
    decades = np.arange(np.floor(low), np.ceil(high) + 1)
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    values = [float(f"{step * 10.0**k:.6g}") for k in decades for step in steps]
    return alt.Axis(format=".6~g", values=values)
