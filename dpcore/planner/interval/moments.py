r"""Intervals of a mean and of a variance: a noisy estimate, and a noisy number from which its sampling error follows.

With w the distance between the bounds, n records and central moments :math:`m_k`, one substituted record moves

========  ====================  ========  =========================================  ========
interval  estimate              by        second number: n times sampling variance   by
========  ====================  ========  =========================================  ========
mean      :math:`\bar x`        w/n       :math:`S^2`                                w²/n
variance  :math:`S^2`           w²/n      :math:`T=m_4-m_2^2`                        w⁴/n
========  ====================  ========  =========================================  ========

:math:`S^2` (divisor n - 1) is the mean of :math:`(x_i-x_j)^2/2` over all pairs, of which one record is in 2/n. For T let b be the
distance of the substituted record from the mean of the others, which have the variance s² and the third moment :math:`\mu_3`. Then

.. math:: T=\tfrac{n-1}n\big[V_0+\tfrac1nG(b)\big],\quad
          G(b)=(b^2-s^2)^2-4b\mu_3-\tfrac4nb^2(b^2-2s^2)+\tfrac4{n^2}b^4

With the mean at a share :math:`a\le\frac12` of the range, :math:`|b|\le(1-a)w` and :math:`|\mu_3|\le a(1-a)(1-2a)w^3` (at most
:math:`w^3/(6\sqrt3)` for :math:`a>\frac13`), so that G varies by at most :math:`(1-a)^4+4|\mu_3|\le1` times w⁴.

The interval holds every value that a test at the level accepts. Moving one of n records from one bound to the other, all at
the same bound, moves estimate and second number of the mean as far as possible, so the product of both noises is the exact
region there; for the variance it is the region up to terms of order 1/n in its second part, and an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.domains import POSITIVE
from dpcore.core.lazy import Lazy
from dpcore.mechanisms.laplace import Laplace
from dpcore.planner.interval.allowance import allowance
from dpcore.planner.interval.base import IntervalPlan, PrivateInterval, clipped_words
from dpcore.planner.interval.laws import normal_quantile, student_factor
from dpcore.regions.guarantees import GDP

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

_SHAVED = 1 - 1e-15  # so that rounding never spends more than the budget
_PER_DECADE = 10  # candidates of the split
_STEPS = 50  # bisections of an end


@dataclass(frozen=True)
class MomentPlan(IntervalPlan):
    """A plan with two releases; the budget is split between them so that the interval is as short as possible.

    Parameters
    ----------
    spread : float, optional
        A public guess of the standard deviation of the records, for which the split is best; by default that of
        records spread evenly over the range. A wrong guess costs width, never coverage.
    """

    spread: float | None = None

    power: ClassVar[int]
    kind: ClassVar[str] = "approximate"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.spread is not None:
            POSITIVE.but(name="spread", high=self.width / 2, high_open=False).check(self.spread)

    # --- the split ---------------------------------------------------------------------------------------------

    def _strengths(self, k: float) -> tuple[float, float]:
        """Return the strengths of the two releases with first²/second = k that use the whole budget."""
        total = self.strength * _SHAVED
        if self.noise == "gaussian":  # squares add up
            second = 2 * total**2 / (k + math.hypot(k, 2 * total))
            return math.sqrt(k * second), second
        first = 2 * k * total / (k + math.sqrt(k * k + 4 * k * total))
        return first, first**2 / k

    def _half_width(self, k: float, sampling: float) -> float:
        """Return the half-width with this split if the sampling variance of the estimate is `sampling`."""
        if k == math.inf:
            unit, used = self.sensitivity / self.strength, self._most_sampling
        else:
            unit = self.sensitivity / self._strengths(k)[0]
            used = self._factor**2 * (sampling + allowance(self.noise, self.level, k) * unit**2)
        return unit * float(self.law.quick_reach(self.level, math.sqrt(used) / unit))

    @Lazy
    def k(self) -> float:
        """The best split as first²/second; infinite if a bound of the sampling variance beats a second release."""
        guess = self._guess
        places = np.arange(-3 * _PER_DECADE, 6 * _PER_DECADE + 1)

        def size(place: int) -> float:
            return self._half_width(10.0 ** (place / _PER_DECADE), guess)

        low, high = 0, places.size - 1
        while high - low > 2:  # the half-width falls, then rises
            third = (high - low) // 3
            left, right = low + third, high - third
            low, high = (low, right) if size(int(places[left])) <= size(int(places[right])) else (left, high)
        best = min(map(int, places[low : high + 1]), key=size)
        return math.inf if self._half_width(math.inf, guess) <= size(best) else 10.0 ** (best / _PER_DECADE)

    @Lazy
    def strengths(self) -> tuple[float, float]:
        """Strengths of the two releases; the second is 0 if there is none."""
        return (self.strength, 0.0) if math.isinf(self.k) else self._strengths(self.k)

    @property
    def share(self) -> float:
        """Share of the budget that the estimate gets: of mu² for Gaussian noise, of epsilon for Laplace noise."""
        ratio = self.strengths[0] / self.strength
        return ratio**2 if self.noise == "gaussian" else ratio

    @property
    def unit(self) -> float:
        """Size of the noise on the estimate: its standard deviation, or its scale for Laplace noise."""
        return self.sensitivity / self.strengths[0]

    @property
    def second_unit(self) -> float:
        """Size of the noise on the second number; infinite if it is not released."""
        return self.second_sensitivity / self.strengths[1] if self.strengths[1] else math.inf

    @Lazy
    def added(self) -> float:
        """What is added to the noisy sampling variance so that the level holds."""
        return 0.0 if math.isinf(self.k) else allowance(self.noise, self.level, self.k) * self.unit**2

    @property
    def region(self) -> TradeOff:
        """The product of both releases, attained by one pair of neighbours."""
        if self.noise == "gaussian":
            return GDP(self.strength)
        first, second = self.strengths
        return Laplace(first) * Laplace(second) if second else Laplace(first)

    def parts(self) -> dict[str, float]:
        """Return shares and sizes of the noise."""
        known = {"share of the budget for the estimate": self.share, "noise on the estimate": self.unit}
        if self.strengths[1]:
            known |= {f"noise on the {self.second}": self.second_unit, "added to the sampling variance": self.added}
        return known

    # --- what a kind of interval says ---------------------------------------------------------------------------

    second: ClassVar[str]

    @property
    def sensitivity(self) -> float:
        """How far the estimate moves when one record is substituted."""
        return self.width**self.power / self.n

    @property
    def second_sensitivity(self) -> float:
        """How far the second number, n times the sampling variance, moves."""
        return self.width ** (2 * self.power) / self.n

    @property
    def _factor(self) -> float:
        return 1.0

    @property
    def _guess(self) -> float:
        raise NotImplementedError

    @property
    def _most_sampling(self) -> float:
        raise NotImplementedError

    def _bound(self, value: FloatArray) -> FloatArray:
        """Return the largest sampling variance that a statistic of this value allows."""
        raise NotImplementedError

    def _scatter(self, second: float, fourth: float) -> float:
        """Return the second number of data with these central moments."""
        raise NotImplementedError

    def answers(self, values: FloatArray, counts: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return both numbers before noise; `counts` (resamples, values) says how often each value occurs."""
        raise NotImplementedError

    # --- intervals ----------------------------------------------------------------------------------------------

    def accepts(self, first: Any, second: Any, value: Any) -> Any:
        """Whether the noisy numbers are compatible with a value of the statistic."""
        first, value = np.asarray(first, dtype=np.float64), np.asarray(value, dtype=np.float64)
        if math.isinf(self.k):
            used = self._bound(value)
        else:
            noisy = np.asarray(second, dtype=np.float64) / self.n + self.added
            used = self._factor**2 * np.maximum(noisy, 0.0)
        reach = self.unit * self.law.quick_reach(self.level, np.sqrt(used) / self.unit)
        return np.abs(first - value) <= reach

    def interval(self, first: Any, second: Any) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the accepted values; if none is accepted, both are the nearest possible value."""
        first, second = np.broadcast_arrays(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
        centre = np.clip(first, *self.ends)
        ends = []
        for end in self.ends:
            inner, outer = centre, np.full_like(centre, end)
            whole = self.accepts(first, second, outer)
            for _ in range(_STEPS):
                middle = 0.5 * (inner + outer)
                inside = self.accepts(first, second, middle)
                inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
            ends.append(np.where(whole, end, outer))
        nothing = ~self.accepts(first, second, centre)
        return np.where(nothing, centre, ends[0]), np.where(nothing, centre, ends[1])

    def release(self, values: FloatArray, rng: Generator) -> PrivateInterval:
        """Return one interval of these records, with fresh noise."""
        first, second = (float(answer) for answer in self.answers(values))
        noise = self.law.sample(rng, 2)
        first += self.unit * float(noise[0])
        second = second + self.second_unit * float(noise[1]) if self.strengths[1] else math.nan
        low, high = (float(end) for end in self.interval(first, second))
        return PrivateInterval(low, high, min(max(first, self.ends[0]), self.ends[1]))

    def summary(self, values: FloatArray) -> FloatArray:
        """Return the central moments of order two and four."""
        return np.array([float(moment) for moment in _moments(values, None)[1:]])

    def reaches(self, summary: FloatArray) -> tuple[float, float, float]:
        """Return half-widths without the draw of the noise: of the interval, of sampling alone, of noise alone."""
        sampling = self._scatter(float(summary[0]), float(summary[1])) / self.n
        bare = self._factor * math.sqrt(sampling) * normal_quantile(self.level)
        return self._half_width(self.k, sampling), bare, self.unit * float(self.law.reach(self.level, 0.0))

    def simulate(
        self, values: FloatArray, counts: FloatArray, truth: float, rng: Generator
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """Return whether intervals of resampled data contain the truth, and their ends."""
        first, second = self.answers(values, counts)
        first = first + self.unit * self.law.sample(rng, first.shape)
        if self.strengths[1]:
            second = second + self.second_unit * self.law.sample(rng, second.shape)
        low, high = self.interval(first, second)
        return (low <= truth) & (truth <= high), low, high


@dataclass(frozen=True)
class MeanPlan(MomentPlan):
    """A private interval for a mean."""

    name: ClassVar[str] = "mean"
    second: ClassVar[str] = "variance"
    power: ClassVar[int] = 1
    assumes: ClassVar[str] = (
        "independent records; the mean of n of them is close to normal (central limit theorem); the laws of both noises are exact"
    )

    @property
    def covers(self) -> str:
        """What the interval is about."""
        return f"the population mean of {clipped_words(self.lower, self.upper)}"

    @property
    def _factor(self) -> float:
        return student_factor(self.level, self.n)

    @property
    def _guess(self) -> float:
        spread = self.width / math.sqrt(12) if self.spread is None else self.spread
        return spread**2 / self.n

    @property
    def _most_sampling(self) -> float:
        return self.width**2 / (4 * self.n)

    def _bound(self, value: FloatArray) -> FloatArray:
        return (
            (self.upper - value) * (value - self.lower) / self.n
        )  # the variance of records with this mean (Bhatia, Davis)

    def _scatter(self, second: float, fourth: float) -> float:  # noqa: ARG002  # the variance alone
        return second * self.n / (self.n - 1)

    def truth(self, values: FloatArray, counts: FloatArray | None = None) -> float:
        """Return the mean."""
        return float(np.average(values, weights=counts))

    def answers(self, values: FloatArray, counts: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (divisor n - 1)."""
        mean, second, _ = _moments(values, counts)
        return mean, second * self.n / (self.n - 1)


@dataclass(frozen=True)
class VariancePlan(MomentPlan):
    """A private interval for a variance."""

    name: ClassVar[str] = "variance"
    second: ClassVar[str] = "variance of squared deviations"
    power: ClassVar[int] = 2
    fewest: ClassVar[int] = 2
    assumes: ClassVar[str] = (
        "independent records; the sample variance of n of them is close to normal (central limit theorem); the laws of both "
        "noises are exact"
    )

    @property
    def ends(self) -> tuple[float, float]:
        """A variance lies between 0 and a quarter of the squared range."""
        return 0.0, self.width**2 / 4

    @property
    def covers(self) -> str:
        """What the interval is about."""
        return f"the population variance of {clipped_words(self.lower, self.upper)}"

    @property
    def _guess(self) -> float:
        spread = self.width / math.sqrt(12) if self.spread is None else self.spread
        return 0.8 * spread**4 / self.n  # (kurtosis - 1) sigma⁴/n, kurtosis 1.8 of evenly spread records

    @property
    def _most_sampling(self) -> float:
        return 3 * self.width**4 / (16 * self.n)  # the bound at the largest variance

    def _bound(self, value: FloatArray) -> FloatArray:
        return value * (self.width**2 - value) / self.n  # squared deviations lie in [0, w²] and have this mean

    def _scatter(self, second: float, fourth: float) -> float:
        return fourth - second**2

    def truth(self, values: FloatArray, counts: FloatArray | None = None) -> float:
        """Return the variance of the records as a population: divisor n."""
        mean = np.average(values, weights=counts)
        return float(np.average((values - mean) ** 2, weights=counts))

    def answers(self, values: FloatArray, counts: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the variance (divisor n - 1) and the variance of squared deviations."""
        _, second, fourth = _moments(values, counts)
        return second * self.n / (self.n - 1), fourth - second**2


def _moments(values: FloatArray, counts: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, second and fourth central moment of the records, or of every row of counts."""
    about = float(np.mean(values))
    off = values - about
    powers = np.stack([off, off**2, off**3, off**4])
    raw = powers.mean(axis=1) if counts is None else (counts @ powers.T / counts.sum(axis=1)[:, None]).T
    first = raw[0]
    second = np.maximum(raw[1] - first**2, 0.0)
    fourth = raw[3] - 4 * first * raw[2] + 6 * first**2 * raw[1] - 3 * first**4
    return np.asarray(about + first), np.asarray(second), np.asarray(np.maximum(fourth, second**2))
