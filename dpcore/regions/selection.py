"""The region of the best of several runs: repeat and select, with a random number of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.question import question
from dpcore.core.registry import REGION, Oracle, Parameter, register
from dpcore.curves.bound import floors, published
from dpcore.curves.selected import RunCount, Selection
from dpcore.regions.algebra import OfPart

if TYPE_CHECKING:
    from dpcore.curves.base import Curve
    from dpcore.regions.tradeoff import TradeOff

MEAN = Parameter(
    "mean", low=0.0, high=1e6, low_open=True, least=1e-6, label="m", meaning="expected number of runs", example=10.0
)
SHAPE = Parameter(
    "shape",
    low=0.0,
    high=1000.0,
    infinite=True,
    label="s",
    meaning="law of the number of runs: 0 is logarithmic, 1 geometric, inf Poisson",
    example=1.0,
)
LOGARITHMIC, GEOMETRIC, POISSON = 0.0, 1.0, math.inf


@register(
    "best_of",
    title="best of several runs",
    group="operation",
    symbol=r"\max_{i\le K}",
    formula=r"\delta'(\varepsilon)\le1-F\bigl(1-\delta(\varepsilon-c)\bigr),\quad F(x)=E[x^K],\quad "
    r"c=\sup_u\log\frac{F'(1-u)}{F'(f(u))}",
    meaning="The mechanism runs K times, K random and kept secret, and the output with the best score is published.",
    reference="Papernot, Steinke 2022; Koskela, Redberg, Wang 2024",
    assumptions="Runs are independent, the score is a function of the output, and the number of runs is drawn beforehand, without the data.",
    kind="upper",
    oracles=(
        Oracle(
            ("dp(1)", 5.0, 1.0),
            "epsilon",
            0.0,
            1.0 + 2.0 * math.log((5.0 * math.e + 1.0) / (5.0 + math.e)),
            1e-6,
            "geometric: one plus twice the r with (e - e^r) / (1 + e) = (e^r - 1) / 4",
        ),
        Oracle(("dp(1)", 1.0, 1.0), "epsilon", 0.0, 1.0, 1e-12, "one run"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class BestOf(OfPart):
    """Repeat and select with a random number of runs."""

    region: TradeOff = REGION.field()
    mean: float = MEAN.field()
    shape: float = SHAPE.field(GEOMETRIC)

    def __post_init__(self) -> None:
        """Check the numbers: except with the Poisson law, there is at least one run."""
        super().__post_init__()
        if not math.isinf(self.shape):
            MEAN.but(low=1.0, low_open=False).check(self.mean)

    @property
    def runs(self) -> RunCount:
        """The law of the number of runs."""
        return RunCount(self.mean, self.shape)

    def _pair(self) -> Curve:
        base = self.region.curve
        if self.mean == 1.0 and not math.isinf(self.shape):
            return base
        if base.q_inf >= 1.0 or float(base.delta_bounds(np.zeros(1))[1][0]) == 0.0:
            return base  # nothing to hide, or nothing that is hidden
        with question():  # both sides ask about the same stretch of the curve
            return Selection(published(base), floors(base)[-1], self.runs)
