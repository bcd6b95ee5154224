r"""What all answers with added noise share: measures, errors, closed forms and lower bounds.

Lower bounds for unbiased mechanisms (Hammersley, Chapman, Robbins): if the answer moves by D between two neighbours
with output laws P and Q, every M with E M = f has

.. math:: \mathrm{Var}_P(M) \ge \frac{D^2}{\chi^2(Q\|P)} .

Under epsilon-DP the likelihood ratio lies in :math:`[e^{-\varepsilon}, e^{\varepsilon}]` and has mean 1, so its variance
:math:`\chi^2` is at most :math:`(e^\varepsilon-1)(1-e^{-\varepsilon}) = 4\sinh^2(\varepsilon/2)`. Under mu-GDP both laws
are made from N(0,1) and N(mu,1) by one channel, so :math:`\chi^2 \le e^{\mu^2}-1`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import DELTA, Choice
from dpcore.mechanisms.gaussian import GaussianAnalytic, GaussianClassic, largest_mu
from dpcore.regions.algebra import Assume
from dpcore.utility.base import MAIN_EPSILON, QUANTILE, Fact, UtilityMeasure, UtilityPair
from dpcore.utility.noise import CentredNoise, worst_mean, worst_quantile
from dpcore.utility.shifted import Off, off_facts, off_quantile
from dpcore.words import grouped, of_100, outward

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

ADD_REMOVE, SUBSTITUTION = "add/remove", "substitution"
ANALYTIC, CLASSICAL = "analytic", "classical"
NEIGHBOURS: Final = Choice(
    "neighbours",
    "text",
    label="neighbours",
    meaning="how one person can change the data: be replaced, or be added or removed",
    choices=(SUBSTITUTION, ADD_REMOVE),
)
CALIBRATION: Final = Choice(
    "calibration",
    "text",
    label="calibration",
    meaning="how σ is chosen: the least that is (ε, δ)-private, or the textbook formula (proved below ε = 1 only)",
    choices=(ANALYTIC, CLASSICAL),
)
SMALL_DELTA: Final = DELTA.but(low=1e-300, high=1.0, high_open=True)
MOST_BINS: Final = 10_000


@lru_cache(maxsize=4096)
def unit_sigma(epsilon: float, delta: float, calibration: str = ANALYTIC) -> float:
    """Return the standard deviation for an answer that moves by 1: exact and rounded up, or the classical formula."""
    if calibration == CLASSICAL:
        return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    return math.nextafter(1.0 / largest_mu(epsilon, delta), math.inf)


def gaussian_region(epsilon: float, delta: float, calibration: str) -> TradeOff:
    """Return the true region of normal noise calibrated to (epsilon, delta), whatever the formula claims."""
    return GaussianClassic(epsilon, delta) if calibration == CLASSICAL else GaussianAnalytic(epsilon, delta)


def stated(region: TradeOff, neighbours: str) -> TradeOff:
    """Return the region with the neighbouring relation it was computed for."""
    return region if region.neighbours == neighbours else Assume(region, neighbours)


def pure_floor(epsilon: float) -> float:
    """Return 1 / (4 sinh^2(eps/2)): the least variance of an unbiased epsilon-DP answer that moves by 1."""
    return math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def gaussian_floor(mu: float) -> float:
    """Return 1 / (e^(mu^2) - 1): the least variance of an unbiased mu-GDP answer that moves by 1."""
    return 1.0 / math.expm1(mu * mu) if mu < 26.0 else 0.0


@dataclass(frozen=True)
class Calibrated(UtilityPair):
    """Normal noise chosen for (epsilon, delta)."""

    mechanism = "Gaussian"
    reference = "Balle, Wang 2018 (analytic); Dwork, Roth 2014, Theorem 3.22 (classical)"

    epsilon: float = MAIN_EPSILON.field(0.5)
    delta: float = SMALL_DELTA.field(1e-5)
    calibration: str = CALIBRATION.field(ANALYTIC)

    @property
    def unit_sigma(self) -> float:
        """Standard deviation for an answer that moves by 1."""
        return unit_sigma(self.epsilon, self.delta, self.calibration)

    @property
    def region(self) -> TradeOff:
        """The true region of the noise."""
        return gaussian_region(self.epsilon, self.delta, self.calibration)


PURE_FLOOR = "every unbiased ε-DP mechanism, on its worst dataset (Hammersley-Chapman-Robbins)"
GAUSSIAN_FLOOR = "every unbiased mechanism of this μ-GDP region, on its worst dataset (Hammersley-Chapman-Robbins)"


def parameter_words(pair: UtilityPair) -> str:
    """Return ``At ε = 0.5`` or ``At ε = 0.5, δ = 1e-5``."""
    named = [("ε", "epsilon"), ("δ", "delta")]
    return "At " + ", ".join(f"{s} = {nearest(getattr(pair, n))}" for s, n in named if hasattr(pair, n))


def within_words(miss: float) -> str:
    """Return ``95 of 100 releases``, rounded down."""
    return f"{of_100(1.0 - miss, up=False)} releases"


@dataclass(frozen=True)
class AdditivePair(UtilityPair):
    """An answer with independent noise of one law on every coordinate; subclasses say which answer and which law."""

    @property
    @abstractmethod
    def miss(self) -> float:
        """How often the error may exceed the quantile."""

    @property
    def units(self) -> str:
        """What the answer counts."""
        return ""

    @property
    def noun(self) -> str:
        """The answer in a sentence."""
        return self.query

    @abstractmethod
    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:
        """Return the noise of every coordinate, in units of the answer, for data of n records."""

    def coordinates(self, data: Dataset) -> int:
        """Return how many coordinates the answer has."""
        return max(1, int(np.size(self.answer(data))))

    def floor(self, data: Dataset, n: int | None = None) -> Fact | None:  # noqa: ARG002  none is known by default
        """Return a lower bound on the mean squared error of a class of mechanisms."""
        return None

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Quantile of the error, mean squared and mean absolute error."""
        return scalar_measures(self.units, self.miss)

    def width(self, data: Dataset) -> int:
        """Return the coordinates of the answer."""
        return self.coordinates(data)

    def release(self, data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:
        """Return the answer of the values within the bounds, plus noise."""
        centre = self.centre(data)
        out = self.noise(data).draws(rng, (count, *centre.shape))
        out += centre
        return out

    def bias(self, data: Dataset) -> NDArray[np.float64]:
        """Return by how much each coordinate is off before any noise: what clipping to the bounds moves."""
        return (self.centre(data) - self.answer(data)).ravel() if data.moved else np.zeros(self.coordinates(data))

    def errors(self, data: Dataset, releases: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return squared, absolute and largest errors of every release."""
        return vector_errors(releases, self.answer(data))

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return exact moments and quantiles of the noise, and the lower bound if there is one."""
        noise, bias = self.noise(data, n), self.bias(data)
        plain = not bias.any()
        facts = additive_facts(noise, bias.size, self.miss) if plain else off_facts(Off(noise, bias), self.miss)
        floor = self.floor(data, n)
        names = {m.name for m in self.measures}
        return tuple(f for f in [*facts, *([floor] if floor else [])] if f.measure in names)

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the closed forms; the quantile of biased errors by a bound that is sure to fall with the noise."""
        facts = self.closed_forms(data, n)
        if measure != "quantile" or parameter == "probability" or not self.bias(data).any():
            return facts
        return (biased_reach(float(np.abs(self.bias(data)).max()), self.noise(data, n), self.miss, facts),)

    def sentence(self, data: Dataset) -> str:
        """Say how far one release is off."""
        noise, many, bias = self.noise(data), self.coordinates(data), self.bias(data)
        biased = bool(bias.any())
        errors = Off(noise, bias)
        reach = outward(off_quantile([errors], self.miss) if biased else worst_quantile(noise, many, self.miss), 3)
        mean = outward(errors.absolute if biased else noise.mean_abs, 3)
        unit = f" {self.units}" if self.units else ""
        each = "" if many == 1 else "each "
        off = f"{self.noun} is off by at most" if many == 1 else f"none of {self.noun} is off by more than"
        law = "exact, bias included" if biased else "exact"
        return (
            f"{parameter_words(self)} {off} {reach}{unit} in {within_words(self.miss)}, and {each}by at most {mean}{unit} on "
            f"average ({law}, rounded up).{bias_words(self, data) if biased else ''}"
        )


def bias_words(pair: UtilityPair, data: Dataset) -> str:
    """Say what the bounds alone do to one number, in a sentence for the owner of the data."""
    truth, clipped = (float(np.ravel(query(data))[0]) for query in (pair.answer, pair.centre))
    fate = "left out" if len(data.raw) != data.n else "moved to the nearer bound"
    if truth == clipped:
        return (
            f" The bounds [{nearest(data.low)}, {nearest(data.high)}] do not change the true answer, {nearest(truth)}, though "
            f"{grouped(data.moved)} of {grouped(len(data.raw))} values are {fate} (for the owner of the data)."
        )
    return (
        f" The bounds [{nearest(data.low)}, {nearest(data.high)}] alone turn the true answer {nearest(truth)} into {nearest(clipped)}: "
        f"{grouped(data.moved)} of {grouped(len(data.raw))} values are {fate} (for the owner of the data; no noise hides it)."
    )


def biased_reach(bias: float, noise: CentredNoise, miss: float, facts: tuple[Fact, ...]) -> Fact:
    """Return how far biased errors of one number reach, by a fact that only falls as the noise does.

    For a miss of at most 1/2 and noise with a density the quantile is at least |b|, where both tails P(N > t - b) and
    P(N > t + b) grow with the scale: then it is the exact one. Otherwise bias and quantile of the noise are added.
    """
    exact = next(fact for fact in facts if fact.measure == "quantile")
    if not noise.integer and miss <= 0.5:
        return exact
    return Fact("quantile", bias + noise.reach(miss), "upper", "bias plus the quantile of the noise")


def scalar_measures(unit: str, miss: float) -> tuple[UtilityMeasure, ...]:
    """Return the measures of a single number."""
    squared = f"{unit}²" if unit else ""
    meaning = f"the error is at most this in {within_words(miss)}"
    return (
        UtilityMeasure("quantile", f"error in {within_words(miss)}", unit, meaning, QUANTILE, 1.0 - miss),
        UtilityMeasure("l1", "mean absolute error", unit, "the error of a release, on average"),
        UtilityMeasure("mse", "mean squared error", squared, "the squared error of a release, on average"),
    )


def vector_measures(unit: str, miss: float, each: str) -> tuple[UtilityMeasure, ...]:
    """Return the measures of a vector; `each` names a coordinate."""
    squared = f"{unit}²" if unit else ""
    meaning = f"no {each} is off by more than this in {within_words(miss)}"
    return (
        UtilityMeasure(
            "mse", "mean squared error, total", squared, f"squared errors of all {each}s together, on average"
        ),
        UtilityMeasure(
            "l1", "mean absolute error, total", unit, f"absolute errors of all {each}s together, on average"
        ),
        UtilityMeasure(
            "worst", f"mean error of the worst {each}", unit, f"the largest error of any {each}, on average"
        ),
        UtilityMeasure("quantile", f"worst error in {within_words(miss)}", unit, meaning, QUANTILE, 1.0 - miss),
    )


def vector_errors(releases: NDArray[np.float64], answer: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return mse, l1, worst and quantile of every release, in two arrays of the size of the releases."""
    off = (releases - answer).reshape(len(releases), -1)
    squared = np.einsum("ij,ij->i", off, off)
    np.abs(off, out=off)
    worst = off.max(axis=1)
    return {"mse": squared, "l1": off.sum(axis=1), "worst": worst, "quantile": worst}


def additive_facts(noise: CentredNoise, many: int, miss: float) -> list[Fact]:
    """Return what is known of `many` coordinates with independent noise of this law."""
    law = noise.name
    times = "" if many == 1 else f"{many} times "
    largest = f"{law} noise" if many == 1 else f"the largest of {many} {law} errors"
    return [
        Fact("mse", many * noise.variance, "exact", f"{times}the variance of {law} noise"),
        Fact("l1", many * noise.mean_abs, "exact", f"{times}the mean absolute value of {law} noise"),
        Fact("worst", worst_mean(noise, many), "exact", f"mean of {largest}"),
        Fact("quantile", worst_quantile(noise, many, miss), "exact", f"quantile of {largest}"),
    ]
