r"""An interval for a quantile by two noisy searches; it covers for samples of any size, from any population.

Let :math:`\theta` be the p-quantile and N(y) the number of records up to y, which moves by 1 when a record is substituted. The
search for the lower end halves the range k times: at y it asks for N(y) with noise, and goes up ("y lies below
:math:`\theta`") if the answer is at most :math:`np-c`. It is wrong only if it goes up at some :math:`y\ge\theta`, where
:math:`N(y)\ge N(\theta)`, which is binomial(n, p) or larger. So it is wrong with probability at most

.. math:: 1-E\,\big[P(Z>np-c-N)^k\big],\qquad N\sim\mathrm{binomial}(n,p)

and c is the least margin that makes this (1 - level)/2; the upper end likewise. All 2k counts have equal shares of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.domains import PROBABILITY
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.mechanisms.laplace import Laplace
from dpcore.planner.interval.base import IntervalPlan, PrivateInterval, clipped_words
from dpcore.planner.interval.laws import normal_quantile
from dpcore.regions.guarantees import GDP
from dpcore.utility.binomials import binomial_window

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

MOST_HALVINGS = 40
_NEGLIGIBLE = 1e-17
_BLOCKS = 2000  # of numbers N, each counted at its worse end
_DIGITS = 1e-6  # of a margin


@dataclass(frozen=True)
class QuantilePlan(IntervalPlan):
    """A private interval for a quantile.

    Parameters
    ----------
    probability : float, default 0.5
        Which quantile; 0.5 is the median.
    """

    probability: float = 0.5

    name: ClassVar[str] = "quantile"
    fewest: ClassVar[int] = 1
    kind: ClassVar[str] = "lower"
    assumes: ClassVar[str] = (
        "independent records; nothing is approximated, and the level is a lower bound of the coverage"
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        PROBABILITY.but(name="probability", low_open=True, high_open=True).check(self.probability)

    @property
    def covers(self) -> str:
        """What the interval is about."""
        which = "median" if self.probability == 0.5 else f"{nearest(self.probability)}-quantile"
        return f"the population {which} of {clipped_words(self.lower, self.upper)}"

    def _unit(self, halvings: int) -> float:
        """Return the size of the noise on each of the 2k counts."""
        queries = 2 * halvings
        return (math.sqrt(queries) if self.noise == "gaussian" else queries) / self.strength

    @Lazy
    def _law(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return n p - N, N binomial, at both ends of blocks of N, and the mass of each block."""
        first, masses = binomial_window(self.n, (self.probability, 1.0 - self.probability))
        matter = np.flatnonzero(masses > _NEGLIGIBLE)  # what is left out counts as a failure
        start, masses = first + int(matter[0]), masses[matter[0] : matter[-1] + 1]
        begin = np.arange(0, masses.size, math.ceil(masses.size / _BLOCKS), dtype=np.int64)
        end = np.append(begin[1:], masses.size) - 1
        off = self.n * self.probability - start
        blocks = np.asarray(np.add.reduceat(masses, begin), dtype=np.float64)
        return off - begin.astype(np.float64), off - end.astype(np.float64), blocks

    def _margin(self, halvings: int) -> float:
        """Return the least c with which one search is wrong with probability at most (1 - level)/2, for both ends."""
        most, least, masses = self._law
        unit, missed = self._unit(halvings), (1 - self.level) / 2

        def wrong(margin: float) -> float:
            lower = 1.0 - self.law.below((most - margin) / unit)
            upper = 1.0 - self.law.below((-least - margin) / unit)
            return 1.0 - min(float(masses @ lower**halvings), float(masses @ upper**halvings))

        low, high = 0.0, unit + 1.0
        while wrong(high) > missed:  # doubles: far out nothing is wrong, and a level is at most 0.9999
            low, high = high, 2 * high
        while high - low > _DIGITS * high:  # halves
            middle = 0.5 * (low + high)
            low, high = (low, middle) if wrong(middle) <= missed else (middle, high)
        return high

    @Lazy
    def halvings(self) -> int:
        """How often each search halves the range: more halvings are finer but need more noise on each count.

        Best for records spread evenly over the range, where a count is worth w/n.
        """

        def size(halvings: int) -> float:
            return self._margin(halvings) / self.n + 0.5**halvings

        low, high = 1, MOST_HALVINGS
        while low < high:  # the size falls, then rises
            middle = (low + high) // 2
            low, high = (low, middle) if size(middle) <= size(middle + 1) else (middle + 1, high)
        return low

    @Lazy
    def margin(self) -> float:
        """How far a noisy count must be from n p to move an end of the interval."""
        return self._margin(self.halvings)

    @property
    def unit(self) -> float:
        """Size of the noise on each count."""
        return self._unit(self.halvings)

    @property
    def region(self) -> TradeOff:
        """Region of all counts; a record moved from one bound to the other moves every one of them."""
        if self.noise == "gaussian":
            return GDP(self.strength)
        return Laplace(self.strength / (2 * self.halvings)) ** (2 * self.halvings)

    def parts(self) -> dict[str, float]:
        """Return the number of counts, their noise and their margin."""
        return {
            "noisy counts": float(2 * self.halvings),
            "noise on each count": self.unit,
            "margin in records": self.margin,
        }

    def truth(self, values: FloatArray, counts: FloatArray | None = None) -> float:
        """Return the least value with at least a share p of the records at or below it."""
        if counts is None:
            values, counts = np.sort(values), np.ones(values.size)
        reached = np.cumsum(counts) >= self.probability * counts.sum() * (1 - 1e-12)
        return float(values[int(np.argmax(reached))])

    def _search(self, count_below: Any, rows: int, noise: Any) -> tuple[FloatArray, FloatArray]:
        """Return both ends of several intervals; `count_below(y)` counts records up to y, `noise(rows)` draws noise."""
        target, ends = self.n * self.probability, []
        for side in (-1, 1):
            low, high = np.full(rows, float(self.lower)), np.full(rows, float(self.upper))
            for _ in range(self.halvings):
                middle = 0.5 * (low + high)
                noisy = count_below(middle) + noise(rows)
                goes_up = noisy <= target - self.margin if side < 0 else noisy < target + self.margin
                low, high = np.where(goes_up, middle, low), np.where(goes_up, high, middle)
            ends.append(low if side < 0 else high)
        return ends[0], np.maximum(ends[0], ends[1])

    def release(self, values: FloatArray, rng: Generator) -> PrivateInterval:
        """Return one interval of these records, with fresh noise; the estimate is its middle."""
        ordered = np.sort(values)
        low, high = self._search(
            lambda y: np.searchsorted(ordered, y, side="right"), 1, lambda rows: self.unit * self.law.sample(rng, rows)
        )
        return PrivateInterval(float(low[0]), float(high[0]), float(low[0] + high[0]) / 2)

    def summary(self, values: FloatArray) -> FloatArray:
        """Return the records in ascending order."""
        return np.sort(values)

    def reaches(self, summary: FloatArray) -> tuple[float, float, float]:
        """Return half-widths if every noise were 0: of the interval, of sampling alone, and what is left."""
        ordered = summary
        scale = self.n / ordered.size  # data like these, with the plan's size
        low, high = self._search(lambda y: scale * np.searchsorted(ordered, y, side="right"), 1, np.zeros)
        half = float(high[0] - low[0]) / 2
        reach = normal_quantile(self.level) * math.sqrt(self.n * self.probability * (1 - self.probability))
        ranks = (self.n * self.probability + np.array([-reach, reach])) / scale
        places = np.clip(np.ceil(ranks) - 1, 0, ordered.size - 1).astype(np.int64)
        bare = float(np.diff(ordered[places])[0]) / 2
        return half, bare, max(half - bare, 0.0)

    def simulate(
        self, values: FloatArray, counts: FloatArray, truth: float, rng: Generator
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """Return whether intervals of resampled data contain the truth, and their ends."""
        rows = counts.shape[0]
        up_to = np.concatenate((np.zeros((rows, 1)), np.cumsum(counts, axis=1)), axis=1)

        def below(y: FloatArray) -> FloatArray:
            return np.take_along_axis(up_to, np.searchsorted(values, y, side="right")[:, None], axis=1)[:, 0]

        low, high = self._search(below, rows, lambda size: self.unit * self.law.sample(rng, size))
        return (low <= truth) & (truth <= high), low, high
