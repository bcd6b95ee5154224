"""Private intervals: their width as n or epsilon changes, and simulated ones beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_notes
from dpcore.core.domains import COUNT, SEED
from dpcore.core.numerals import nearest
from dpcore.planner.interval.tables import interval_table, width_table
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.planner.interval import IntervalPlan
    from dpcore.utility.dataset import Dataset

DRAWN = 60
HOLDS, MISSES = "contains the truth", "misses it"
_AXES = {"n": "Number of records n", "epsilon": "ε of the budget"}


def interval_width_figure(plan: IntervalPlan, data: Dataset, *, against: str = "n", look: Look = PLAIN) -> Figure:
    """Return the half-width of a private interval as n or epsilon changes, beside sampling alone and noise alone.

    Parameters
    ----------
    plan : IntervalPlan
        What `dpcore.planner.interval.interval_plan` returned.
    data : Dataset
        The data.
    against : str, default "n"
        ``n`` or ``epsilon``.
    look : Look, default PLAIN
        Size, title and colours.
    """
    table = width_table(plan, data, against=against)
    now = float(plan.n if against == "n" else plan.epsilon)
    takeaway = f"{width_words(plan, data)} It covers {plan.covers}."
    chart = utility_chart(
        table, current=now, parameter=_AXES[against], value="Half-width", look=described(look, takeaway)
    )
    title = look.title or f"Private interval for the {plan.name}: half-width against {against}"
    return Figure(chart, table, takeaway, title, (*moved_words(plan, data), *utility_notes(table)))


def moved_words(plan: IntervalPlan, data: Dataset) -> tuple[str, ...]:
    """Say what moving values to the bounds does to the statistic; for the owner of the data."""
    if not data.moved:
        return ()
    inside, came = plan.truth(data.column), plan.truth(data.raw_column)
    words = (
        f"{grouped(data.moved)} values lie outside the bounds. The {plan.name} of the data is {nearest(came, 4)} before clipping and "
        f"{nearest(inside, 4)} within the bounds; the interval is about the latter."
    )
    return (words,)


def width_words(plan: IntervalPlan, data: Dataset) -> str:
    """Say how wide an interval of these data is, and how much of that is the price of privacy."""
    half, bare, _ = plan.typical(data.column)
    more = f", {nearest(half / bare, 3)} times that without privacy" if bare > 0 else ""
    return (
        f"With {grouped(plan.n)} records and ε = {nearest(plan.epsilon)} an interval of level {nearest(plan.level)} reaches "
        f"about {nearest(half, 3)} to each side{more}."
    )


def interval_coverage_figure(
    plan: IntervalPlan, data: Dataset, *, releases: int = 2000, seed: int = 0, look: Look = PLAIN
) -> Figure:
    """Return simulated intervals of resampled data beside the truth, and how many of them hold it.

    Parameters
    ----------
    plan, data : IntervalPlan or Dataset
        As in `interval_width_figure`.
    releases : int, default 2000
        How many intervals are simulated; the first ones are drawn.
    seed : int, default 0
        Of the simulation.
    look : Look, default PLAIN
        Size, title and colours.

    Returns
    -------
    Figure
        The table is that of `dpcore.planner.interval.interval_table`.
    """
    table = interval_table(plan, data, releases=releases, seed=seed)
    rng = np.random.default_rng([SEED.check(seed), 1])
    drawn = plan.coverage(data.column, rng, COUNT.check(min(releases, DRAWN)), DRAWN)
    truth = plan.truth(data.column)
    ends = pd.DataFrame({"place": np.arange(1, drawn.low.size + 1), "low": drawn.low, "high": drawn.high})
    ends["outcome"] = np.where((ends["low"] <= truth) & (truth <= ends["high"]), HOLDS, MISSES)
    ends["words"] = [f"{nearest(a, 4)} to {nearest(b, 4)}" for a, b in zip(ends["low"], ends["high"], strict=True)]
    takeaway = coverage_words(plan, table, releases)
    chart = _chart(ends, truth, plan, described(look, takeaway))
    notes = (
        f"{len(ends)} of the intervals are drawn; each comes from a fresh sample of the data with fresh noise. A simulation, not a release.",
        f"Assumed: {plan.assumes}.",
    )
    return Figure(chart, table, takeaway, look.title or f"Simulated intervals for the {plan.name}", notes)


def coverage_words(plan: IntervalPlan, table: pd.DataFrame, releases: int) -> str:
    """Say how many simulated intervals held the truth, and what the truth is."""
    row = table[table["quantity"] == "coverage"].iloc[0]
    share, error = float(row["value"]), float(row["error"])
    verdict = (
        f"; that is below the level {nearest(plan.level)}: the sampling error of these data is not close to normal, so take more "
        "records or tighter bounds"
        if share < plan.level - 3 * error
        else f", against a level of {nearest(plan.level)}"
    )
    return (
        f"{grouped(round(share * releases))} of {grouped(releases)} simulated intervals contain {plan.covers} "
        f"({nearest(100 * share, 3)} %, standard error {nearest(100 * error, 2)} %; simulation){verdict}."
    )


def _chart(ends: pd.DataFrame, truth: float, plan: IntervalPlan, look: Look) -> alt.LayerChart:
    """Draw a line per interval and the truth across all of them."""
    colours = alt.Scale(
        domain=[HOLDS, MISSES], range=[theme.colour(0, dark=look.dark), theme.colour(1, dark=look.dark)]
    )
    base = alt.Chart(checked(ends)).encode(
        x=alt.X("place:Q", title="Simulated interval", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6)),
        y=alt.Y("low:Q", title=plan.name, scale=alt.Scale(zero=False, nice=True)),
        y2=alt.Y2("high:Q"),
    )
    rules = base.mark_rule(strokeWidth=3, aria=False).encode(
        color=alt.Color("outcome:N", title=None, scale=colours),
        tooltip=tooltips({"words": "interval", "outcome": "outcome"}),
    )
    mark = alt.Chart(checked(pd.DataFrame({"truth": [truth]}))).mark_rule(
        strokeDash=[6, 3], strokeWidth=1.5, color=theme.ink(dark=look.dark), aria=False
    )
    return theme.finish(
        [rules, mark.encode(y=alt.Y("truth:Q", title=plan.name))],
        look,
        words=f"Simulated intervals for the {plan.name}.",
        height=360,
    )
