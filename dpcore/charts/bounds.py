"""The trade-off over a public bound as a figure: bias falls, noise grows, and their total has a least value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.charts.figure import Figure, number
from dpcore.charts.theme import PLAIN, Look, described, over
from dpcore.charts.utility import least_mark, rounded, utility_chart, utility_notes
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
    """
    wanted = pair.measure_of(measure or pair.measure)
    table, notes = bound_table(pair, data, side=side, values=values, measure=wanted.name)
    axes = (f"{side} bound", f"{wanted.label} ({wanted.unit})" if wanted.unit else wanted.label)
    takeaway = bound_takeaway(pair, table, wanted, data, side)
    drawn, shown = table.drop(columns="theorem"), described(look, takeaway)
    now, log = data.high if side == "upper" else data.low, not wanted.larger_is_better
    chart = utility_chart(drawn, current=now, parameter=axes[0], value=axes[1], log_y=log, look=shown)
    if log:
        chart = over(chart, *least_mark(drawn, TOTAL, axes, shown))
    title = look.title or f"{pair.title}: {wanted.label} against the {side} bound"
    return Figure(chart, table, takeaway, title, (*notes, *utility_notes(table, log_y=log)))


def bound_takeaway(pair: UtilityPair, table: pd.DataFrame, measure: UtilityMeasure, data: Dataset, side: str) -> str:
    """Say where the total is least (for chances of success: largest) among the bounds drawn, and what it is at the present."""
    total = table[table["label"] == TOTAL].reset_index(drop=True)
    best = total.iloc[int(total["value"].argmax() if measure.larger_is_better else total["value"].argmin())]
    extreme = "largest" if measure.larger_is_better else "least"
    name = f"{measure.label[:1].upper()}{measure.label[1:]}"
    why = (
        "smaller ranges cut off more of the data, wider ones need more noise"
        if pair.wide_costs
        else "wider ranges need no more noise, but cut the line into coarser pieces"
    )
    said = f"{name} is {extreme}, {_number(best)}, at {side} bound {number(best['parameter'], 4)} of the {len(total)} drawn: {why}"
    now = total[total["parameter"] == (data.high if side == "upper" else data.low)]
    if not len(now):
        return f"{said}."
    row = now.iloc[0]
    return f"{said}; at the present bound {number(row['parameter'], 4)} it is {_number(row)}."


def _number(row: pd.Series[Any]) -> str:
    kinds = {"exact": "exact", "upper": "upper bound", "lower": "lower bound", "approximate": "approximation"}
    return f"{rounded(row['value'], row['kind'])} ({kinds[row['kind']]})"
