"""Sensitivities of a column, and the errors of the mechanisms that may follow them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_notes
from dpcore.core.numerals import nearest
from dpcore.planner.sensitivity.tables import mechanism_table, smooth_table
from dpcore.words import grouped

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.planner.sensitivity import SensitiveQuery
    from dpcore.utility.dataset import Dataset

ROW = 46  # points of height of one mechanism


def sensitivity_error_figure(
    data: Dataset,
    query: SensitiveQuery,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    blocks: int | None = None,
    seed: int = 0,
    look: Look = PLAIN,
) -> Figure:
    """Return the errors of every mechanism that answers a query about these data, on a logarithmic axis.

    Parameters
    ----------
    data : Dataset
        One column of numbers within public bounds.
    query : SensitiveQuery
        What `dpcore.planner.sensitivity.sensitive_query` returned.
    epsilon, delta, blocks, seed : float or int
        As in `dpcore.planner.sensitivity.mechanism_table`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    table = mechanism_table(data, query, epsilon=epsilon, delta=delta, blocks=blocks, seed=seed)
    takeaway = error_words(table, query, data)
    chart = _bars(table, described(look, takeaway))
    notes = (
        "Half of the releases are off by less than the left end of a bar, 95 of 100 by less than its right end. Errors are against "
        "the statistic of the values within the bounds; they depend on the data and are for their owner."
    )
    moved = (f"{grouped(data.moved)} values lie outside the bounds and count as the nearer bound.",) * bool(data.moved)
    return Figure(chart, table, takeaway, look.title or f"Errors of a private {query.label}", (notes, *moved))


def error_words(table: pd.DataFrame, query: SensitiveQuery, data: Dataset) -> str:
    """Say which mechanism is best, and what the usual one would do."""
    best, usual = table.iloc[int(table["error_95"].argmin())], table.iloc[0]
    words = (
        f"Least error of the {query.label} of these {grouped(data.n)} records: {best['mechanism']}, off by at most "
        f"{size_words(best['error_95'])} in 95 of 100 releases ({best['errors']})"
    )
    if best["mechanism"] == usual["mechanism"]:
        return f"{words}; no data-dependent noise does better."
    delta = f", δ = {nearest(best['delta'], 3)}" if best["delta"] else ""
    return (
        f"{words}, where Laplace noise by the global sensitivity needs {size_words(usual['error_95'])}. It keeps "
        f"ε = {nearest(best['epsilon'])}{delta}."
    )


def size_words(value: float) -> str:
    """Return an error with three digits."""
    return grouped(nearest(float(value), 3))


def _bars(table: pd.DataFrame, look: Look) -> alt.LayerChart:
    """Draw a bar from the median error to the 95 % error of each mechanism."""
    floor = max(float(table["error_95"].max()) * 1e-9, 1e-300)
    data = table.assign(
        low=table["error_50"].clip(lower=floor),
        high=table["error_95"].clip(lower=floor),
        half=[size_words(value) for value in table["error_50"]],
        most=[size_words(value) for value in table["error_95"]],
        promise=[f"({nearest(e)}, {nearest(d, 3)})" for e, d in zip(table["epsilon"], table["delta"], strict=True)],
    )[["mechanism", "low", "high", "half", "most", "promise", "errors"]]
    order = list(table.sort_values("error_95")["mechanism"])
    scale = alt.Scale(type="log", nice=True)
    base = alt.Chart(checked(data)).encode(
        y=alt.Y("mechanism:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False)),
    )
    tips = tooltips(
        {
            "mechanism": "mechanism",
            "half": "half of releases within",
            "most": "95 of 100 within",
            "promise": "(ε, δ)",
            "errors": "errors",
        }
    )
    colour = theme.colour(0, dark=look.dark)
    decades = range(math.floor(math.log10(data["low"].min())), math.ceil(math.log10(data["high"].max())) + 1)
    axis = alt.Axis(values=[10.0**decade for decade in decades], labelExpr=theme.NUMERALS)
    bars = base.mark_rule(strokeWidth=9, color=colour, aria=False).encode(
        x=alt.X("low:Q", scale=scale, title="error in units of the data", axis=axis), x2=alt.X2("high:Q"), tooltip=tips
    )
    dots = base.mark_point(filled=True, size=90, color=colour, opacity=1, aria=False).encode(
        x=alt.X("high:Q", scale=scale, title="error in units of the data", axis=axis), tooltip=tips
    )
    texts = theme.halo_text(
        base.encode(x=alt.X("high:Q", scale=scale, title="error in units of the data", axis=axis)),
        "most:N",
        dark=look.dark,
        align="left",
        dx=10,
    )
    return theme.finish([bars, dots, *texts], look, words="Errors of mechanisms.", height=ROW * len(table))


def smooth_sensitivity_figure(data: Dataset, query: SensitiveQuery, *, look: Look = PLAIN) -> Figure:
    """Return the smooth sensitivity against beta, between the local and the global one.

    Parameters
    ----------
    data, query : Dataset or SensitiveQuery
        As in `sensitivity_error_figure`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    table = smooth_table(data, query)
    ends = {name: float(table[table["label"] == name]["value"].iloc[0]) for name in ("local", "global")}
    takeaway = (
        f"One record moves the {query.label} of these data by at most {size_words(ends['local'])} (local), that of any data with the "
        f"same n and bounds by {size_words(ends['global'])} (global). Noise may follow the curve between them: the faster it may "
        "change, the less of ε is left for the noise."
    )
    chart = utility_chart(
        table,
        parameter="β, change per record",
        value=f"sensitivity of the {query.label}",
        look=described(look, takeaway),
    )
    return Figure(
        chart, table, takeaway, look.title or f"Smooth sensitivity of the {query.label}", utility_notes(table)
    )
