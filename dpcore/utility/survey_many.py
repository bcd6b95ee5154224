"""Surveys with k possible answers by randomized response: the shares of all answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.utility.base import MAIN_EPSILON, MISS, Fact, UtilityMeasure, UtilityPair, enter
from dpcore.utility.binomials import TwoBinomials
from dpcore.utility.choosing import BINS, cells, not_steady
from dpcore.utility.survey import (
    ASSUMPTIONS,
    CHEBYSHEV,
    OFF,
    best_quantile,
    exact_tail,
    hoeffding,
    survey_errors,
    survey_measures,
    survey_promises,
)
from dpcore.words import about, of_100, outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset


@enter
@dataclass(frozen=True)
class SurveyMany(UtilityPair):
    """The shares of k answers; misses and quantiles are those of the most common answer."""

    name = "survey_many_rr"
    title = "survey with k answers by randomized response"
    query = "survey with k answers"
    mechanism = "randomized response"
    formula = r"\hat\theta_j=\frac{Y_j/n-o}{p-o},\quad p=e^{\varepsilon}o,\ o=\frac{1}{e^{\varepsilon}+k-1}"
    assumptions = ASSUMPTIONS + " Numbers are cut into k cells of equal width."
    reference = "Warner 1965; Kairouz, Oh, Viswanath 2016; region: Ghazi, Issa 2023"
    measure = "mse"
    clips = True

    epsilon: float = MAIN_EPSILON.field(1.0)
    bins: int = BINS.field(5)
    within: float = OFF.field(0.1)
    probability: float = MISS.field(0.05)

    @property
    def region(self) -> TradeOff:
        """Exactly randomized response among k answers."""
        return RandomizedResponse(self.epsilon, self.bins)

    def table(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return how many people would truly give each of the k answers; answers beyond the categories are given by none."""
        if len(data.categories) > self.bins:
            msg = f"bins must be at least {len(data.categories)}, the number of answers in the data, got {self.bins}."
            raise DomainError(msg)
        counts = cells(data, self.bins, n)
        return np.pad(counts, (0, self.bins - counts.size))

    def shares(self, data: Dataset) -> FloatArray:
        """Return the true shares of the answers: those of the records as they came, one outside the bounds is in no cell."""
        if not data.moved:
            return self.table(data) / data.n
        return cells(data, self.bins, raw=True) / len(data.raw)

    def _odds(self, size: int) -> tuple[float, float]:
        """Return the probabilities of the true answer and of each other one."""
        truth = RandomizedResponse(self.epsilon, size).truth
        return truth, truth * math.exp(-self.epsilon)

    def law(self, own: int, n: int, size: int) -> TwoBinomials:
        """Return the exact law of how often an answer is given that `own` of n people would give truly."""
        p, o = self._odds(size)
        return TwoBinomials(own, (p, (size - 1) * o), n - own, (o, p + (size - 2) * o))

    def _weight(self, size: int) -> float:
        """Return p - o = (e^eps - 1) / (e^eps + k - 1), the weight of the truth, without cancellation."""
        return RandomizedResponse(self.epsilon, size).truth * -math.expm1(-self.epsilon)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Squared error over all answers; large errors of the most common one."""
        return survey_measures(self.within, self.probability, "all shares")

    def answer(self, data: Dataset) -> FloatArray:
        """Return the true shares."""
        return self.shares(data)

    def centre(self, data: Dataset) -> FloatArray:
        """Return the shares of the answers that people give: those outside the bounds give that of the nearer bound."""
        return self.table(data) / data.n

    def release(self, data: Dataset, rng: Generator, count: int) -> FloatArray:
        """Return debiased shares, one row per survey."""
        counts = self.table(data).astype(np.int64)
        p, o = self._odds(counts.size)
        answers = np.zeros((count, counts.size))
        for j, people in enumerate(counts):
            odds = np.full(counts.size, o)
            odds[j] = p
            answers += rng.multinomial(people, odds / odds.sum(), count)
        return np.asarray((answers / data.n - o) / self._weight(counts.size), dtype=np.float64)

    def errors(self, data: Dataset, releases: FloatArray) -> dict[str, FloatArray]:
        """Return summed squared errors, and misses of the most common answer."""
        truth = self.answer(data)
        gap = releases - truth
        out = survey_errors(np.abs(gap[:, int(np.argmax(truth))]), self.within)
        return {**out, "mse": np.sum(gap**2, axis=1)}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the exact variance, summed over the answers, and the exact tail of the most common answer."""
        counts = self.table(data, n)
        bias, common = self.centre(data) - self.shares(data), int(np.argmax(self.shares(data)))
        total, top = int(counts.sum()), int(counts[common]) if data.moved else int(counts.max())
        p, o = self._odds(counts.size)
        law, scale = self.law(top, total, counts.size), total * self._weight(counts.size)
        spread = total * (counts.size - 1) * o * (p + (p + (counts.size - 2) * o))
        own = law.variance / scale**2
        spread_words = "variance of a sum of independent answers; it does not depend on the answers"
        formula = r"\frac{p(1-p)+(k-1)o(1-o)}{n(p-o)^2}"
        off = float(abs(bias[common]))
        margin = self.within - off  # what the noise may add to the bias of the most common answer
        if not data.moved:
            squared = Fact("mse", spread / scale**2, "exact", spread_words, formula)
        else:
            both = spread / scale**2 + float(np.dot(bias, bias))
            squared = Fact(
                "mse", both, "exact", "variance of a sum of independent answers plus the squared bias of the bounds"
            )
        tails = (
            *exact_tail(law, scale, max(margin, 0.0), self.probability),
            Fact("miss", min(1.0, own / margin**2) if margin > 0 else 1.0, "upper", CHEBYSHEV),
            *hoeffding(total, self._weight(counts.size), max(margin, 0.0), self.probability),
        )
        return (squared, *(tails if not data.moved else _beside(off, tails)))

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return what only grows or falls with a parameter; see `survey_promises`."""
        if data.moved:
            if measure != "mse" or parameter not in ("epsilon", "n"):
                raise not_steady(self, measure, parameter)
            return tuple(f for f in self.closed_forms(data, n) if f.measure == measure)
        counts = self.table(data, n)
        law = self.law(int(counts.max()), int(counts.sum()), counts.size)
        scale = float(counts.sum()) * self._weight(counts.size)
        return survey_promises(self, measure, parameter, (law, scale), self.closed_forms(data, n))

    def depends_on_n(self) -> bool:
        """Return True: the variance falls like 1/n."""
        return True

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return the categories, or the cells by their ends."""
        if data.categories:
            return (*data.categories, *(f"no one {i + 1}" for i in range(self.bins - len(data.categories))))
        ends = np.linspace(data.low, data.high, self.bins + 1)
        return tuple(f"{nearest(a)} to {nearest(b)}" for a, b in pairwise(ends))

    def width(self, data: Dataset) -> int:  # noqa: ARG002  k answers
        """Return three numbers per answer: counts, draws and shares."""
        return 3 * self.bins

    def sentence(self, data: Dataset) -> str:
        """Say how far the most common share is off."""
        reach, how = best_quantile(self.closed_forms(data))
        lie = 1 - RandomizedResponse(self.epsilon, self.bins).truth
        return (
            f"At ε = {nearest(self.epsilon)} {about(lie)} answers are lies; the share of the most common answer among "
            f"{data.n} people is off by at most {outward(100 * reach, 3)} percentage points in "
            f"{of_100(1 - self.probability, up=False)} surveys ({how})."
        )


def _beside(bias: float, tails: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return bounds for errors that have a bias as well, from facts about the deviation that is left beside it.

    An error of `within` needs a deviation of within - |b|; facts about a miss are given for that, those about the quantile
    get |b| added.
    """
    addition = "beside the bias of the bounds (triangle inequality)"
    shifted = [
        Fact(f.measure, f.value + bias, "upper", f"{f.theorem}, {addition}") for f in tails if f.measure == "quantile"
    ]
    missed = [Fact("miss", f.value, "upper", f"{f.theorem}, {addition}") for f in tails if f.measure == "miss"]
    return (*missed, *shifted)
