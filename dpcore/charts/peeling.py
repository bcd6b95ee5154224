"""Peeling as a picture: the weight of each level, and how much of it the factors found so far explain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.constraints import Split, level_table
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LEVELS = 400
_CROSS = "M-1,-1L1,1M-1,1L1,-1"
REGION, EXPLAINED = "weight in the region", "explained by the factors found"


def peeling_figure(answer: Split, step: int | None = None, *, look: Look = PLAIN) -> Figure:
    """Return the levels of a region after some steps of its peeling.

    Parameters
    ----------
    answer : Split
        What `dpcore.constraints.split` returned.
    step : int, optional
        The number of rows of `answer.steps` to use; all by default.
    look : Look, default PLAIN
        Size, title and colours.
    """
    count = len(answer.steps) if step is None else min(max(step, 0), len(answer.steps))
    steps = answer.steps.iloc[:count]
    factors = [(float(e), int(c)) for e, c in zip(steps["factor_epsilon"], steps["copies"], strict=True) if c > 0]
    table = level_table(answer.region, factors)
    if table.empty:
        msg = "The region has no loss above 0: there is nothing to peel."
        raise DomainError(msg)
    takeaway = _takeaway(answer, factors, count)
    levels = table.head(MOST_LEVELS)
    notes = () if len(table) <= MOST_LEVELS else (f"The first {MOST_LEVELS} of {len(table)} levels are drawn.",)
    chart = peeling_chart(levels, look=described(look, takeaway))
    return Figure(chart, table, takeaway, look.title or "Peeling", notes)


def _takeaway(answer: Split, factors: Sequence[tuple[float, int]], count: int) -> str:
    """Say which factors were found, and what comes next."""
    names = ", ".join(f"ε = {nearest(e)}" + (f" ({c} times)" if c > 1 else "") for e, c in factors)
    start = f"Found after {_steps(count)}: {names}." if names else f"Nothing was found after {_steps(count)}."
    if count < len(answer.steps):
        row = answer.steps.iloc[count]
        return (
            f"{start} The first level that is not explained is loss {nearest(row['loss'])}: weight {nearest(row['weight'], 7)}, "
            f"explained {nearest(row['explained'], 7)}."
        )
    if answer.is_product:
        return f"{start} Every weight is explained."
    return f"{start} {answer.reason}"


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def peeling_chart(table: pd.DataFrame, *, look: Look = PLAIN) -> alt.LayerChart:
    """Draw weights as circles and their explained parts as crosses; where the two meet, nothing is missing."""
    shades = theme.palette(look.dark)
    weight = table["weight"].to_numpy(dtype=np.float64)
    low = min(0.7, 0.7 * float(weight.min()))
    explained = table["explained"].to_numpy(dtype=np.float64)
    rows = pd.concat(
        [
            _points(table, weight, REGION, table["weight"]),
            _points(table, np.maximum(explained, low), EXPLAINED, table["explained"]),
        ],
        ignore_index=True,
    )
    x = alt.X(
        "drop:Q",
        title="Half the distance to the largest loss, u",
        axis=alt.Axis(tickCount=7),
    )
    high = 1.5 * max(1.0, float(weight.max()), float(explained.max()))
    # a level without explanation lies at the lower edge
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    y = alt.Y("height:Q", title="Weight (sign patterns)", scale=scale, axis=alt.Axis(values=_ticks(low, high)))
    names = {"label": "what", "loss_text": "loss", "drop_text": "half the distance u", "value_text": "value"}
    tips = tooltips(names)
    domain, colours = [REGION, EXPLAINED], [shades[0], shades[1]]
    legend = alt.Legend(title=None, orient="bottom", symbolSize=120, labelLimit=300, columns=1)
    shape = alt.Shape("label:N", title=None, scale=alt.Scale(domain=domain, range=["circle", _CROSS]), legend=legend)
    colour = alt.Stroke("label:N", title=None, scale=alt.Scale(domain=domain, range=colours), legend=legend)
    points = alt.Chart(checked(rows)).mark_point(size=80, strokeWidth=2, fillOpacity=0, aria=False)
    return theme.finish(
        [points.encode(x=x, y=y, shape=shape, stroke=colour, tooltip=tips)],
        look,
        words="Weights of the levels of a region and what its factors explain.",
        height=300,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return 1, 2, 3, 5 of few decades or powers of ten of many; only inside the axis, which would clamp the others."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if len(decades) > 4 else (1, 2, 3, 5)
    every = -(-len(decades) // 8)
    ticks = [step * 10.0**power for power in decades if power % every == 0 for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _points(table: pd.DataFrame, height: object, label: str, value: pd.Series[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "drop": table["drop"],
            "height": height,
            "label": label,
            "loss_text": [nearest(v) for v in table["loss"]],
            "drop_text": [nearest(v) for v in table["drop"]],
            "value_text": [nearest(v, 8) for v in value],
        }
    )
