"""The error against a public bound: bias falls, noise grows, and their sum has a minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.charts.figure import Figure
from dpcore.charts.theme import PLAIN, Look, described, over
from dpcore.charts.utility import least_mark, rounded, utility_chart, utility_notes
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.utility.bounds import TOTAL, bound_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from dpcore.utility import Dataset, UtilityPair
    from dpcore.utility.base import UtilityMeasure


def bound_figure(
    pair: UtilityPair,
    data: Dataset,
    *,
    side: str = "upper",
    values: Iterable[float] | None = None,
    measure: str | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Return the error against a public bound: errors on a logarithmic axis, chances of success on a linear one.

    Parameters
    ----------
    pair, data, side, values, measure : UtilityPair or Dataset or str or iterable of float
        As in `dpcore.utility.bounds.bound_table`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    quantity = pair.measure_of(measure or pair.measure)
    table, notes = bound_table(pair, data, side=side, values=values, measure=quantity.name)
    axes = (f"{side} bound", f"{quantity.label} ({quantity.unit})" if quantity.unit else quantity.label)
    takeaway = bound_takeaway(pair, table, quantity, data, side)
    points, look = table.drop(columns="theorem"), described(look, takeaway)
    now, log = data.high if side == "upper" else data.low, not quantity.larger_is_better
    chart = utility_chart(points, current=now, parameter=axes[0], value=axes[1], log_y=log, look=look)
    if log:
        chart = over(chart, *least_mark(points, TOTAL, axes, look))
    title = look.title or f"{pair.title}: {quantity.label} against the {side} bound"
    return Figure(chart, table, takeaway, title, (*notes, *utility_notes(table, log_y=log)))


def bound_takeaway(pair: UtilityPair, table: pd.DataFrame, measure: UtilityMeasure, data: Dataset, side: str) -> str:
    """Say at which bound the total is smallest (largest for chances of success), and what it is at the current bound."""
    total = table[table["label"] == TOTAL].reset_index(drop=True)
    best = total.iloc[int(total["value"].argmax() if measure.larger_is_better else total["value"].argmin())]
    extreme = "largest" if measure.larger_is_better else "least"
    name = f"{measure.label[:1].upper()}{measure.label[1:]}"
    why = (
        "smaller ranges cut off more of the data, wider ones need more noise"
        if pair.wide_costs
        else "wider ranges need no more noise, but cut the line into coarser pieces"
    )
    sentence = f"{name} is {extreme}, {_number(best)}, at {side} bound {nearest(best['parameter'], 4)} of the {len(total)} drawn: {why}"
    now = total[total["parameter"] == (data.high if side == "upper" else data.low)]
    if not len(now):
        return f"{sentence}."
    row = now.iloc[0]
    return f"{sentence}; at the current bound {nearest(row['parameter'], 4)} it is {_number(row)}."


def _number(row: pd.Series[Any]) -> str:
    return f"{rounded(row['value'], row['kind'])} ({WORDS[row['kind']]})"
