"""Gaussian noise on a Poisson sample that is cut to a largest batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import bdtr, bdtrc

from dpcore.core.registry import COUNT, PROBABILITY, SIGMA, Oracle, register
from dpcore.curves.bound import Outer
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.subsampled import subsampled
from dpcore.curves.visible_choice import VisibleChoice
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_NEVER = 1e-250  # chance of a full batch that is no chance: below any delta
_RAREST = 1e-300  # smallest chance whose inverse is a double


@register(
    "truncated_poisson",
    title="Gaussian noise on samples cut to a largest batch",
    group="mechanism",
    symbol=r"G_{1/\sigma}^{q\le B/N}",
    formula=r"\delta = (1-\tau)\,\delta_{G_{1/\sigma}^{q}} + \tau\,\delta_{G_{2/\sigma}^{p}},\quad "
    r"\tau=P(\mathrm{Bin}(N-1,q)\ge B),\ p=\tfrac{B}{N\tau}P(\mathrm{Bin}(N,q)>B)",
    meaning="Each record is used with probability q; of more than B records a random B are kept; the sum gets normal noise σ.",
    assumptions="Each record moves the sum by at most 1; the larger of the two datasets has N records.",
    reference="Ganesh et al. 2025 (arXiv 2508.15089); dominating pair proved in the guide",
    neighbours="add/remove",
    kind="upper",
    oracles=(
        Oracle((1.0, 0.1, 100, 100), "delta", 0.05, 0.02614366, 1e-8, "never cut: poisson_gaussian(1, 0.1)"),
        Oracle(
            (1.0, 1.0, 1, 2),
            "delta",
            0.0,
            0.5 * math.erf(2 / math.sqrt(8)),
            1e-12,
            "one of two records: half of gdp(2)",
        ),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class TruncatedPoisson(Mechanism):
    """Gaussian noise on a Poisson sample of at most `batch` records."""

    sigma: float = SIGMA.field()
    q: float = PROBABILITY.but(name="q", example=0.5).field(
        least=1e-300, meaning="probability that a record is sampled"
    )
    batch: int = COUNT.but(name="batch").field(high=10**9, meaning="most records of a batch", label="B")
    examples: int = COUNT.but(name="examples").field(high=10**9, meaning="records of the dataset", label="N")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1),)

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    @property
    def shares(self) -> tuple[float, float, float]:
        """Chance that the others fill the batch, chance that the record is then in, and chance that it is in at all."""
        others, size, q = self.examples - 1, self.batch, self.q
        if size > others:
            return 0.0, 0.0, q
        full = float(bdtrc(size - 1, others, q)) if q < 1.0 else 1.0
        over = float(bdtrc(size, self.examples, q)) if q < 1.0 else 1.0
        if full < _NEVER:
            return 0.0, 0.0, q
        inside = min(1.0, size / self.examples * (over / full))
        open_ = float(bdtr(size - 1, others, q)) if q < 1.0 else 0.0
        return full, inside, q * open_ + full * inside

    def _pair(self) -> Curve:
        if self.q == 0.0 or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        full, inside, at_all = self.shares
        plain = subsampled(GaussianCurve(1.0 / self.sigma), self.q)
        if full == 0.0:
            return plain
        cut = subsampled(GaussianCurve(2.0 / self.sigma), max(inside, _RAREST))  # a smaller chance is rounded up
        parts = [(1.0 - full, plain), (full, cut)] if full < 1.0 else [(1.0, cut)]
        outer = VisibleChoice(parts, "a full batch is visible") if full < 1.0 else cut
        attained = subsampled(GaussianCurve(1.0 / self.sigma), min(at_all, 1.0))
        return Outer(outer, [attained], "whether the batch is full counts as visible")
