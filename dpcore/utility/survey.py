"""Surveys by randomized response: "Are you a cheater?", asked so that every answer can be denied.

Each person tells the truth with probability p = e^eps / (e^eps + k - 1) and names each other answer with probability
o = 1 / (e^eps + k - 1). The share of an answer is estimated without bias by (Y/n - o) / (p - o).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter
from dpcore.mechanisms.randomized_response import RandomizedResponse, from_nu
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, RATE, Fact, UtilityMeasure, UtilityPair, enter
from dpcore.utility.binary_median import CUT, yes
from dpcore.utility.binomials import TwoBinomials
from dpcore.utility.choosing import not_steady
from dpcore.words import about, of_100, outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

OFF = Parameter(
    "within",
    low=0.0,
    high=1.0,
    low_open=True,
    high_open=True,
    label="e",
    meaning="error of the share that counts as a miss",
    example=0.05,
)
MOST_EXACT = 2_000_000  # people; for more, the exact law is not worth its time beside Hoeffding's bound
ASSUMPTIONS = (
    "Each person randomizes alone before anybody sees the answer; every randomized answer may be published. "
    "Substitution of one record."
)
CHEBYSHEV = "Chebyshev's inequality with the exact variance"
HOEFFDING = "Hoeffding's inequality"
CENTRAL = "every unbiased ε-DP estimate of the share, even with all data in one place (Hammersley-Chapman-Robbins)"


def survey_measures(within: float, probability: float, what: str) -> tuple[UtilityMeasure, ...]:
    """Return squared error, chance of a large error, quantile of the error."""
    sure = 1.0 - probability
    return (
        UtilityMeasure("mse", f"mean squared error of {what}", "", "Squared distance from the true share, on average."),
        UtilityMeasure(
            "miss", f"chance of an error ≥ {nearest(within)}", "", f"The share is {nearest(within)} or more off.", RATE
        ),
        UtilityMeasure(
            "quantile",
            f"error, {nearest(sure, 4)} quantile",
            "",
            "Errors stay below in that share of surveys.",
            QUANTILE,
            sure,
        ),
    )


@enter
@dataclass(frozen=True)
class Survey(UtilityPair):
    """The share of yes among yes-no answers."""

    name = "survey_rr"
    title = "survey by randomized response"
    query = "survey"
    mechanism = "randomized response"
    formula = r"\hat\theta=\frac{Y/n-(1-p)}{2p-1},\quad p=\frac{e^{\varepsilon}}{1+e^{\varepsilon}}"
    assumptions = ASSUMPTIONS
    reference = "Warner 1965; course, part 1; thesis, section 2.1.3"
    measure = "mse"

    epsilon: float = MAIN_EPSILON.field(1.0)
    cut: float = CUT.field(0.4)
    within: float = OFF.field(0.05)
    probability: float = MISS.field(0.05)

    @classmethod
    def from_nu(cls, nu: float, **others: float) -> Survey:
        """Return the survey in which a coin of probability nu asks for the truth, otherwise a fair coin answers."""
        return cls(from_nu(nu).epsilon_, **others)

    @property
    def truth(self) -> float:
        """Probability of the true answer, 1/2 + gamma."""
        return RandomizedResponse(self.epsilon).truth

    @property
    def lie(self) -> float:
        """Probability of the false answer, 1/2 - gamma."""
        return RandomizedResponse(self.epsilon).truth * math.exp(-self.epsilon)

    @property
    def nu(self) -> float:
        """Probability that the coin asks for the truth: tanh(eps / 2) = 2 gamma = 2 p - 1."""
        return math.tanh(self.epsilon / 2)

    @property
    def region(self) -> TradeOff:
        """Exactly randomized response: one record is one answer, and all answers are published."""
        return RandomizedResponse(self.epsilon)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Squared error, chance of a large error, quantile of the error."""
        return survey_measures(self.within, self.probability, "the share")

    def answer(self, data: Dataset) -> FloatArray:
        """Return the true share of yes."""
        s, n = yes(data, self.cut)
        return np.array(s / n)

    def law(self, s: int, n: int) -> TwoBinomials:
        """Return the exact law of the number of yes among the randomized answers."""
        p, o = self.truth, self.lie
        return TwoBinomials(s, (p, o), n - s, (o, p))

    def release(self, data: Dataset, rng: Generator, count: int) -> FloatArray:
        """Return debiased shares; they may lie outside [0, 1]."""
        s, n = yes(data, self.cut)
        answers = rng.binomial(s, self.truth, count) + rng.binomial(n - s, self.lie, count)
        return np.asarray((answers / n - self.lie) / self.nu, dtype=np.float64)

    def errors(self, data: Dataset, releases: FloatArray) -> dict[str, FloatArray]:
        """Return squared errors, misses and absolute errors."""
        return survey_errors(np.abs(releases - float(self.answer(data))), self.within)

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return exact variance, tail and quantile, the usual bounds and what no mechanism can beat."""
        s, total = yes(data, self.cut, n)
        law, scale = self.law(s, total), total * self.nu
        mse = self.variance(total)
        gamma, off = self.nu / 2, self.within
        best = 1 / (4 * total**2 * math.sinh(min(self.epsilon, 700.0) / 2) ** 2)
        return (
            Fact(
                "mse", mse, "exact", "variance of a sum of independent answers", r"\frac{1}{4n\sinh^2(\varepsilon/2)}"
            ),
            Fact("mse", best, "lower", CENTRAL, r"\frac{1}{4n^2\sinh^2(\varepsilon/2)}", about="any"),
            *exact_tail(law, scale, off, self.probability),
            Fact("miss", min(1.0, mse / off**2), "upper", CHEBYSHEV, r"\frac{p(1-p)}{(2p-1)^2e^2n}"),
            Fact(
                "miss",
                min(1.0, 1 / (16 * gamma**2 * off**2 * total)),
                "upper",
                "Chebyshev's inequality with p(1-p) ≤ 1/4 (thesis, section 2.1.3)",
                r"\frac{1}{16\gamma^2e^2n}",
            ),
            *hoeffding(total, self.nu, off, self.probability),
        )

    def variance(self, n: int) -> float:
        """Return the variance of the estimate on fixed data: p (1 - p) / (n (2p - 1)^2) = 1 / (4 n sinh^2(eps / 2)).

        It does not depend on the answers.
        """
        return 1 / (4 * n * math.sinh(min(self.epsilon, 700.0) / 2) ** 2)

    def statistical_mse(self, theta: float, n: int) -> float:
        """Return the mean squared error against the share `theta` of a population from which n people are drawn.

        theta (1 - theta) / n is added by the draw: l (1 - l) / (n nu^2) with l = (1 - nu)/2 + nu theta.
        """
        return theta * (1 - theta) / n + self.variance(n)

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return what only grows or falls with a parameter; see `survey_promises`."""
        s, total = yes(data, self.cut, n)
        law = self.law(s, total)
        return survey_promises(self, measure, parameter, (law, total * self.nu), self.closed_forms(data, n))

    def depends_on_n(self) -> bool:
        """Return True: the variance falls like 1/n."""
        return True

    def labels(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002  one answer
        """Return the name of the one coordinate."""
        return ("share of yes",)

    def sentence(self, data: Dataset) -> str:
        """Say how far the share is off, and how often people tell the truth."""
        reach, how = best_quantile(self.closed_forms(data))
        return (
            f"At ε = {nearest(self.epsilon)} each person tells the truth with a chance of {about(self.truth)} and lies otherwise; "
            f"the share of yes among {data.n} people is off by at most {outward(100 * reach, 3)} percentage points in "
            f"{of_100(1 - self.probability, up=False)} surveys ({how})."
        )


def best_quantile(facts: tuple[Fact, ...]) -> tuple[float, str]:
    """Return the smallest quantile of the error that is known, and whether it is exact or a bound."""
    value, kind = min((fact.value, fact.kind) for fact in facts if fact.measure == "quantile")
    return value, "exact" if kind == "exact" else "upper bound"


def exact_tail(law: TwoBinomials, scale: float, within: float, probability: float) -> tuple[Fact, ...]:
    """Return chance of a miss and quantile of the error, exactly; nothing for more people than that is computed for."""
    if law.first + law.second > MOST_EXACT:
        return ()
    how = "sum of two binomials"
    return (
        Fact("miss", law.tail(within * scale), "exact", how),
        Fact("quantile", law.quantile(1 - probability) / scale, "exact", how),
    )


def survey_promises(
    survey: UtilityPair, measure: str, parameter: str, law: tuple[TwoBinomials, float], facts: tuple[Fact, ...]
) -> tuple[Fact, ...]:
    """Return facts that only grow or only fall with a parameter, for the inverse question.

    The exact chance of a miss goes up and down a little, since counts are whole. But a survey with more epsilon is the same
    survey with less zero-mean noise added, so the mean of every convex function of the error falls: the mean squared error,
    and the mean error in the worst part of the surveys, which is at least the quantile.
    """
    own = tuple(f for f in facts if f.measure == measure)
    counts, scale = law
    by_definition = {"within": "miss", "probability": "quantile"}
    if measure == by_definition.get(parameter) or (measure == "mse" and parameter in ("epsilon", "n")):
        return tuple(f for f in own if f.kind == "exact")
    if parameter == "n":
        return tuple(f for f in own if f.kind == "upper" and f.theorem != CHEBYSHEV)
    if parameter != "epsilon" or counts.first + counts.second > MOST_EXACT:
        raise not_steady(survey, measure, parameter)
    within, probability = getattr(survey, "within", 0.0), getattr(survey, "probability", 0.5)
    how = "mean error of the worst surveys, which only falls with ε"
    if measure == "quantile":
        return (Fact(measure, counts.shortfall(1 - probability) / scale, "upper", how),)
    return (Fact(measure, counts.excess(within * scale), "upper", how),)


def hoeffding(n: int, weight: float, within: float, probability: float) -> tuple[Fact, Fact]:
    """Return what Hoeffding's inequality says of a miss and of the quantile, for answers that keep the truth with this `weight`."""
    miss = min(1.0, 2 * math.exp(-2 * n * (weight * within) ** 2))
    reach = math.sqrt(math.log(2 / probability) / (2 * n)) / weight
    return (
        Fact("miss", miss, "upper", HOEFFDING, r"2e^{-2n\nu^2e^2}"),
        Fact("quantile", reach, "upper", HOEFFDING, r"\sqrt{\log(2/p)/2n}\,/\nu"),
    )


def survey_errors(off: FloatArray, within: float) -> dict[str, FloatArray]:
    """Return the three measures of absolute errors; an error equal to `within` up to rounding is a miss."""
    return {"mse": np.square(off), "miss": (off >= within * (1 - 1e-12)) * 1.0, "quantile": off}
