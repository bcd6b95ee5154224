r"""An interval for a proportion by the exact law of a noisy count: a binomial plus the noise, nothing approximated.

The count K of n records is binomial(n, p) and moves by 1 when a record is substituted. All of the budget goes to it. With F
the distribution function of :math:`K+Z`, which falls as p grows, the interval holds every p with
:math:`\frac{1-level}2\le F_p(\text{release})\le\frac{1+level}2`: since the noise is continuous it covers p exactly at the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.mechanisms.laplace import Laplace
from dpcore.planner.interval.base import IntervalPlan, PrivateInterval
from dpcore.planner.interval.laws import normal_quantile
from dpcore.regions.guarantees import GDP
from dpcore.utility.binomials import binomial_window

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

_STEPS = 50  # bisections of an end
_PLACES = 65  # releases at which the ends are solved when a picture shows many intervals
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class ProportionPlan(IntervalPlan):
    """A private interval for the share of ones among records that are 1 or 0."""

    name: ClassVar[str] = "proportion"
    fewest: ClassVar[int] = 1
    kind: ClassVar[str] = "exact"
    assumes: ClassVar[str] = "independent records; the laws of the count and of the noise are exact"

    @property
    def covers(self) -> str:
        """What the interval is about."""
        return "the share of the population that meets the condition"

    @property
    def region(self) -> TradeOff:
        """Region of the noisy count."""
        return GDP(self.strength) if self.noise == "gaussian" else Laplace(self.strength)

    @property
    def unit(self) -> float:
        """Size of the noise on the count."""
        return 1.0 / self.strength

    def parts(self) -> dict[str, float]:
        """Return shares and sizes of the noise."""
        return {"share of the budget for the estimate": 1.0, "noise on the estimate": self.unit / self.n}

    def truth(self, values: FloatArray, counts: FloatArray | None = None) -> float:
        """Return the share of ones."""
        return float(np.average(values, weights=counts))

    def below(self, count: Any, p: float) -> FloatArray:
        """Return the exact probability that a noisy count is at most `count` if the proportion is p."""
        first, masses = binomial_window(self.n, (p, 1.0 - p))
        places = first + np.arange(masses.size)
        at = np.atleast_1d(np.asarray(count, dtype=np.float64))
        rows = max(1, _AT_ONCE // masses.size)
        return np.concatenate(
            [self.law.below((at[i : i + rows, None] - places) / self.unit) @ masses for i in range(0, at.size, rows)]
        )

    def ends_of(self, count: float) -> tuple[float, float]:
        """Return the ends of the interval of one noisy count."""
        return self._end(count, (1 + self.level) / 2, 0.0), self._end(count, (1 - self.level) / 2, 1.0)

    def _end(self, count: float, chance: float, outer: float) -> float:
        """Return the p at which a noisy count is at most this one with a given probability, rounded outward."""
        if (self._lone(count, outer) <= chance) if outer == 0.0 else (self._lone(count, outer) >= chance):
            return outer  # even there the release is plausible
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._lone(count, middle) > chance else (low, middle)
        return low if outer == 0.0 else high

    def _lone(self, count: float, p: float) -> float:
        return float(self.below(count, p)[0])

    def release(self, values: FloatArray, rng: Generator) -> PrivateInterval:
        """Return one interval of these records, with fresh noise."""
        count = float(values.sum()) + self.unit * float(self.law.sample(rng, 1)[0])
        return PrivateInterval(*self.ends_of(count), min(max(count / self.n, 0.0), 1.0))

    def summary(self, values: FloatArray) -> FloatArray:
        """Return the share of ones."""
        return np.array([self.truth(values)])

    def reaches(self, summary: FloatArray) -> tuple[float, float, float]:
        """Return half-widths at the count of these data: of the interval, of sampling alone, of noise alone."""
        share = float(summary[0])
        low, high = self.ends_of(share * self.n)
        bare = normal_quantile(self.level) * np.sqrt(share * (1 - share) / self.n)
        return (high - low) / 2, float(bare), self.unit / self.n * float(self.law.reach(self.level, 0.0))

    def simulate(
        self, values: FloatArray, counts: FloatArray, truth: float, rng: Generator
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """Return whether intervals of resampled data contain the truth, by the test defining them, and their ends."""
        noisy = counts @ values + self.unit * self.law.sample(rng, counts.shape[0])
        chance = self.below(noisy, truth)
        inside = (chance >= (1 - self.level) / 2) & (chance <= (1 + self.level) / 2)
        places = np.linspace(noisy.min(), noisy.max() + 1e-9, _PLACES)
        ends = np.array([self.ends_of(float(place)) for place in places])
        low, high = (np.asarray(np.interp(noisy, places, end), dtype=np.float64) for end in ends.T)
        return inside, low, high
