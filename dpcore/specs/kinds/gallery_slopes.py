"""The lines that bound a composed region, by whether their slope is an odd or an even power of e^ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked
from dpcore.charts.regions import TITLES, region_takeaway
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import labelled
from dpcore.core.numerals import nearest
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import call, draws

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

WITH, ALONE = "ε-DP with η", "ε-DP alone"
COLUMNS: Final = ("label", "segment", "j", "alpha", "beta", "kind")
_WHOLE: Final = 1e-9  # how far a slope may be from an integer power: far above the rounding of a few corners


def slopes_table(region: TradeOff, step: float, name: str = "lines") -> pd.DataFrame:
    r"""Tabulate the two ends of each line of a polygon, with the integer j of its slope -e^(j step).

    Parameters
    ----------
    region : TradeOff
        A polygon whose losses are integer multiples of `step`.
    step : float
        The ε of one mechanism.
    name : str, default "lines"
        Name of the lines; ``, j odd`` or ``, j even`` is added.

    Returns
    -------
    DataFrame
        `label, segment, j, alpha, beta, kind, theorem, neighbours`, two rows per line, from left to right.
    """
    alpha, beta = region.vertices()
    rise, run = -np.diff(beta), np.diff(alpha)
    sloped = (rise > 0) & (run > 0)
    slopes = np.log(rise[sloped] / run[sloped]) / step
    j = np.rint(slopes)
    if sloped.sum() == 0 or float(np.max(np.abs(slopes - j))) > _WHOLE:
        msg = f"Each slope of the region must be an integer power of e^{nearest(step)}; {region} has others."
        raise DomainError(msg)
    rows = []
    for segment, (at, power) in enumerate(zip(np.flatnonzero(sloped), j.astype(int), strict=True)):
        label = f"{name}, j {'even' if power % 2 == 0 else 'odd'}"
        rows += [(label, segment, int(power), alpha[end], beta[end], region.kind) for end in (at, at + 1)]
    return labelled(pd.DataFrame(rows, columns=list(COLUMNS)), region)


def slopes_figure(region: TradeOff, beside: TradeOff, step: float, *, look: Look = PLAIN) -> Figure:
    """Return the lines of a region, with odd and even powers apart, over a second region.

    Parameters
    ----------
    region, beside : TradeOff
        Polygons; `beside` is drawn as one line.
    step : float
        The ε of one mechanism.
    look : Look, default PLAIN
        Size, title and colours.
    """
    own = slopes_table(region, step, WITH)
    alpha, beta = beside.vertices()
    other = pd.DataFrame({"label": ALONE, "segment": -1, "j": "", "alpha": alpha, "beta": beta})
    other = labelled(other, beside, kind=beside.kind)
    table = pd.concat([other, own.astype({"j": str})], ignore_index=True)
    takeaway = region_takeaway({WITH: region, ALONE: beside})
    chart = slopes_chart(table, look=described(look, takeaway))
    return Figure(chart, table, takeaway, look.title or "Lines of a composed region")


def slopes_chart(table: pd.DataFrame, *, look: Look = PLAIN) -> alt.LayerChart:
    """Draw what `slopes_figure` tabulates: a line per segment, its corners, and blind guessing."""
    series = Series(table["label"], dark=look.dark)
    rows = table.assign(
        label=table["label"].map(series.name_of),
        paint=table["label"].map(series.name_of).map(series.paint()),
        point=[f"α = {nearest(a, 4)}, β = {nearest(b, 4)}" for a, b in zip(table["alpha"], table["beta"], strict=True)],
    ).drop(columns="kind")
    scale, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(tickCount=6)
    x = alt.X("alpha:Q", title=TITLES["alpha"], scale=scale, axis=axis)
    y = alt.Y("beta:Q", title=TITLES["beta"], scale=scale, axis=axis)
    guess = alt.Chart(checked(pd.DataFrame({"alpha": [0.0, 1.0], "beta": [1.0, 0.0]})))
    base = alt.Chart(checked(rows)).encode(x=x, y=y)
    dotted: dict[str, Any] = {
        "color": theme.quiet(dark=look.dark),
        "strokeWidth": 1.5,
        "strokeDash": [3, 3],
        "aria": False,
    }
    tips = [alt.Tooltip("label:N", title="line"), alt.Tooltip("j:N"), alt.Tooltip("point:N", title="errors")]
    layers = [
        guess.mark_line(**dotted).encode(x=x, y=y),
        base.mark_line(strokeWidth=3, aria=False).encode(detail="segment:N", **series.strokes(legend=True)),
        base.mark_point(filled=True, size=40, opacity=1, aria=False).encode(
            color=alt.Color("paint:N", scale=None), tooltip=tips
        ),
    ]
    return theme.finish(layers, look, words="Lines that bound a composed region.", height=440)


@enter
@dataclass(frozen=True, kw_only=True)
class SlopesDrawer(Drawer):
    """Odd and even lines of a composed region."""

    kind: ClassVar[str] = "slopes"
    meaning: ClassVar[str] = "the lines of a composed region, odd and even powers of e^ε apart, over another region"

    region: str = fields.expression()
    beside: str = fields.expression(words="the region of ε-DP alone")
    step: float = fields.above_zero(fields.REQUIRED)

    def recipe(self) -> Any:
        """Return the figure of the lines."""
        region, beside = (call("dpcore.language:parse", text) for text in (self.region, self.beside))
        return draws("dpcore.specs.kinds.gallery_slopes:slopes_figure", region, beside, self.step)
