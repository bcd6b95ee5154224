"""The median of yes-no answers: what most people say.

With s yes of n, the exponential mechanism with score (2y - 1)(s - n/2) says yes with probability
p(s) = 1 / (1 + exp(-(s - n/2) eps)). The inverse-sensitivity mechanism needs no 1/2 in its exponent when there are two
answers: it is right with probability 1 / (1 + exp(-eps D)), D records away from the other answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter
from dpcore.mechanisms.exponential import Exponential
from dpcore.regions.guarantees import DP
from dpcore.utility.base import MAIN_EPSILON, RATE, Fact, UtilityMeasure, enter
from dpcore.utility.choosing import Choosing
from dpcore.utility.dataset import OTHER
from dpcore.utility.median import AT_HAND
from dpcore.utility.neighbourhood import DataRegion, RegionBound, region_of_pairs
from dpcore.words import of_100

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

CUT = Parameter(
    "cut",
    low=0.0,
    high=1.0,
    high_open=True,
    label="cut",
    meaning="records above this share of the range say yes",
    example=0.5,
)
UNBIASED = "every ε-DP mechanism that is right at least as often as wrong on every dataset (course, part 3)"
SYMMETRIC = "every ε-DP mechanism that treats yes and no alike, p(n-s) = 1-p(s) (course, part 3)"


def yes(data: Dataset, cut: float, n: int | None = None) -> tuple[int, int]:
    """Return how many records say yes, and how many there are (scaled to n records with the same share)."""
    if OTHER in data.categories:
        msg = (
            f"A yes-no question needs ordered answers, from no to yes; the bin {OTHER!r} has no place in that order: leave "
            f"other answers out. Got {', '.join(data.categories)[:200]}."
        )
        raise DomainError(msg)
    s = int(np.count_nonzero(data.column > data.low + cut * (data.high - data.low)))
    return (s, data.n) if n is None or n == data.n else (round(s * (n / data.n)), n)


def steps_to_flip(s: int, n: int) -> int:
    """Return D, how many of n answers with s yes must change until the majority (yes from n/2 upwards) changes."""
    need = (n + 1) // 2
    return s - need + 1 if s >= need else need - s


@dataclass(frozen=True)
class Majority(Choosing):
    """What both mechanisms share."""

    query = "majority"
    span = (0.005, 5.0)
    measure = "miss"
    assumptions = "Substitution of one record. The majority is yes from n/2 yes on."

    epsilon: float = MAIN_EPSILON.field(0.1)
    cut: float = CUT.field(0.4)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """The chance of the wrong answer."""
        return (
            UtilityMeasure(
                "miss", "chance of the wrong answer", meaning="The release is not the majority.", statistic=RATE
            ),
        )

    def options(self, data: Dataset) -> FloatArray:  # noqa: ARG002  always no and yes
        """Return 0 (no) and 1 (yes)."""
        return np.array([0.0, 1.0])

    def logit(self, s: int, n: int) -> float:
        """Return the log-odds of yes."""
        raise NotImplementedError

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the chances of no and yes."""
        logit = self.logit(*yes(data, self.cut, n))
        return np.array([expit(-logit), expit(logit)])

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return 1 for the wrong answer."""
        s, total = yes(data, self.cut, n)
        return {"miss": np.array([1.0, 0.0]) if 2 * s >= total else np.array([0.0, 1.0])}

    def answer(self, data: Dataset) -> FloatArray:
        """Return 1 if at least half of the records say yes."""
        s, n = yes(data, self.cut)
        return np.array(1.0 if 2 * s >= n else 0.0)

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the least error of unbiased and of symmetric mechanisms."""
        s, total = yes(data, self.cut, n)
        unbiased = float(expit(-2 * self.epsilon * steps_to_flip(s, total)))
        out = [Fact("miss", unbiased, "lower", UNBIASED, r"1/(1+e^{2\varepsilon D})", about="any")]
        if self.is_symmetric(total):
            value = float(expit(-self.epsilon * abs(2 * s - total)))
            out.append(Fact("miss", value, "lower", SYMMETRIC, r"1/(1+e^{|2s-n|\varepsilon})", about="any"))
        return tuple(out)

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add the miss as the records become more: s is within 1/2 of its share of n."""
        if parameter != "n":
            return super().promises(measure, parameter, data, n)
        s, total = yes(data, self.cut)
        lead = abs(s / total - 0.5) * (n or total)
        value = float(expit(-self.epsilon * max(0.0, lead - 0.5)))
        return (
            Fact("miss", value, "upper", "yes and no at least |s/n - 1/2| n - 1/2 apart from a tie: only falls with n"),
        )

    def is_symmetric(self, n: int) -> bool:
        """Whether yes and no are treated alike for n records."""
        return n % 2 == 1

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the exact region of the data at hand: one yes more, or one less."""
        s, n = yes(data, self.cut)
        others = [t for t in (s - 1, s + 1) if 0 <= t <= n]
        first = np.array([[expit(-self.logit(s, n)), expit(self.logit(s, n))]] * len(others))
        second = np.array([[expit(-self.logit(t, n)), expit(self.logit(t, n))] for t in others])
        return DataRegion(region_of_pairs(first, second), "majority of the data at hand", "substitution", AT_HAND)

    def labels(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002  one answer
        """Return the name of the one coordinate."""
        return ("majority",)

    def sentence(self, data: Dataset) -> str:
        """Say how often the majority is reported wrongly."""
        s, n = yes(data, self.cut)
        miss = float(self.closed_forms(data)[0].value)
        return (
            f"At ε = {nearest(self.epsilon)} the majority of {n} answers ({s} yes) is reported wrongly in at most {of_100(miss)} "
            "releases (exact for these data)."
        )


@enter
@dataclass(frozen=True)
class MajorityExponential(Majority):
    """p(s) = 1 / (1 + exp(-(s - n/2) eps))."""

    name = "majority_exponential"
    title = "majority with the exponential mechanism"
    mechanism = "exponential"
    formula = r"P(\text{yes})=\frac{1}{1+e^{-(s-n/2)\varepsilon}}"
    reference = "McSherry, Talwar 2007; course, part 3"

    def logit(self, s: int, n: int) -> float:
        """Return (s - n/2) eps."""
        return (s - n / 2) * self.epsilon

    def is_symmetric(self, n: int) -> bool:  # noqa: ARG002  for every n
        """Return True: p(n - s) = 1 - p(s)."""
        return True

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add the textbook bound 2 exp(-|s - n/2| eps)."""
        s, total = yes(data, self.cut, n)
        value = min(1.0, 2 * math.exp(-abs(s - total / 2) * self.epsilon))
        text = Fact("miss", value, "upper", "utility theorem of the exponential mechanism", r"2e^{-|s-n/2|\varepsilon}")
        return (text, *super().bounds(data, n))

    @property
    def region(self) -> TradeOff:
        """The bounded-range region; log-odds that move by eps are its extreme pairs, here on a lattice of odds."""
        lattice = self.epsilon * np.arange(-200, 200) / 2
        p = np.stack((expit(lattice), expit(-lattice)), axis=1)
        q = np.stack((expit(lattice + self.epsilon), expit(-lattice - self.epsilon)), axis=1)
        reason = "bounded range of the loss: holds for every dataset of every size"
        return RegionBound(Exponential(self.epsilon), reason, inside=(region_of_pairs(p, q),))


@enter
@dataclass(frozen=True)
class MajorityInverse(Majority):
    """Right with probability 1 / (1 + exp(-eps D)): two answers need no 1/2 in the exponent."""

    name = "majority_inverse"
    title = "majority with the inverse-sensitivity mechanism"
    mechanism = "inverse sensitivity"
    formula = r"P(M=f)=\frac{1}{1+e^{-\varepsilon D}}"
    reference = "Asi, Duchi 2020; course, part 3"

    def logit(self, s: int, n: int) -> float:
        """Return eps D, with the sign of the majority."""
        return self.epsilon * steps_to_flip(s, n) * (1 if 2 * s >= n else -1)

    @property
    def region(self) -> TradeOff:
        """Exactly the (eps, 0) region: where one record flips the majority the odds go from e^-eps to e^eps."""
        return DP(self.epsilon)
