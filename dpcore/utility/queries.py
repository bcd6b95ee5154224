r"""k counting queries with normal noise, and how three theorems choose sigma for one (epsilon, delta) budget.

One person can move all k counts by 1, so the whole list is sqrt(k)/sigma-GDP, exactly. Calibrations:

- ``gdp``: the least sigma with delta(epsilon) <= delta, :math:`\sqrt k/\mu(\varepsilon,\delta)`;
- ``zcdp``: the list is :math:`\rho = k/(2\sigma^2)`-zCDP, which is (rho + 2 sqrt(rho log(1/delta)), delta)-DP;
- ``kov``: :math:`\sigma^2 = \max(4k\log(e+\varepsilon/\delta)/\varepsilon^2,\ 2k/\varepsilon)` is enough (the second term
  is printed as k/(4 epsilon), which is too small for large epsilon).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT, Choice
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.utility.additive import (
    GAUSSIAN_FLOOR,
    SMALL_DELTA,
    AdditivePair,
    additive_facts,
    gaussian_floor,
    unit_sigma,
    vector_errors,
    within_words,
)
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, Fact, UtilityMeasure, enter
from dpcore.utility.noise import CentredNoise, NormalNoise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

GDP, ZCDP, KOV = "gdp", "zcdp", "kov"
BUDGET: Final = Choice(
    "calibration",
    "text",
    label="calibration",
    meaning="which theorem chooses the noise: the exact Gaussian region, zCDP, or the sufficient condition of KOV",
    choices=(GDP, ZCDP, KOV),
)


def sigma_for(epsilon: float, delta: float, k: int, calibration: str) -> float:
    """Return the standard deviation that a theorem asks for k queries that move by 1."""
    if calibration == GDP:
        return math.sqrt(k) * unit_sigma(epsilon, delta)
    if calibration == ZCDP:
        log = -math.log(delta)
        return math.sqrt(0.5 * k) * (math.sqrt(epsilon + log) + math.sqrt(log)) / epsilon
    return math.sqrt(k * max(4.0 * math.log(math.e + epsilon / delta) / epsilon**2, 2.0 / epsilon))


@enter
@dataclass(frozen=True)
class QueriesGaussian(AdditivePair):
    """How many records reach each of k thresholds, with normal noise."""

    name = "queries_gaussian"
    title = "k counting queries with Gaussian noise"
    query = "k queries"
    mechanism = "Gaussian"
    formula = r"\#\{x_i\ge c_j\}+\mathcal N(0,\sigma^2),\quad j=1,\dots,k"
    assumptions = "One person can move every count by 1; the queries may also be chosen one after the other."
    reference = "Dong, Roth, Su 2022; Bun, Steinke 2016; Kairouz, Oh, Viswanath 2015, Theorem 4.3"
    measure = "mse"

    epsilon: float = MAIN_EPSILON.field(1.0)
    delta: float = SMALL_DELTA.field(1e-5)
    k: int = COUNT.field(10, high=10_000, meaning="how many queries")
    calibration: str = BUDGET.field(GDP)
    probability: float = MISS.field(0.05)

    @property
    def miss(self) -> float:
        """How often the error may exceed the quantile."""
        return self.probability

    @property
    def units(self) -> str:
        """Records."""
        return "records"

    @property
    def noun(self) -> str:
        """The counts."""
        return f"the {self.k} counts" if self.k > 1 else "the count"

    @property
    def sigma(self) -> float:
        """Standard deviation of every count."""
        return sigma_for(self.epsilon, self.delta, self.k, self.calibration)

    @property
    def region(self) -> TradeOff:
        """The true region of all k answers together, whatever the theorem claims."""
        return Gaussian(self.sigma) ** self.k

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Errors per query, and of the worst query."""
        within = within_words(self.miss)
        meaning = f"no query is off by more than this in {within}"
        return (
            UtilityMeasure(
                "mse", "mean squared error per query", "records²", "the squared error of one query, on average"
            ),
            UtilityMeasure("l1", "mean absolute error per query", "records", "the error of one query, on average"),
            UtilityMeasure(
                "worst", "mean error of the worst query", "records", "the largest error of any query, on average"
            ),
            UtilityMeasure("quantile", f"worst error in {within}", "records", meaning, QUANTILE, 1.0 - self.miss),
        )

    def coordinates(self, data: Dataset) -> int:  # noqa: ARG002  k, whatever the data
        """Return k."""
        return self.k

    def thresholds(self, data: Dataset) -> NDArray[np.float64]:
        """Return k values that cut the range between the bounds into k + 1 equal parts."""
        return np.linspace(data.low, data.high, self.k + 2)[1:-1]

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return what each query counts."""
        return tuple(f"at least {nearest(c)}" for c in self.thresholds(data))

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the true counts."""
        ordered = data.raw_ordered
        return (ordered.size - np.searchsorted(ordered, self.thresholds(data), side="left")).astype(np.float64)

    def centre(self, data: Dataset) -> NDArray[np.float64]:
        """Return the true counts: the thresholds lie within the bounds, which change no count."""
        return self.answer(data)

    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:  # noqa: ARG002  the counts move by 1
        """Return the noise of every count."""
        return NormalNoise(self.sigma)

    def errors(self, data: Dataset, releases: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return squared and absolute errors per query, and the largest error."""
        errors = vector_errors(releases, self.answer(data))
        return {name: value / self.k if name in ("mse", "l1") else value for name, value in errors.items()}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:  # noqa: ARG002  n does not matter
        """Return the moments and quantiles of the noise, and the bound for unbiased mechanisms."""
        one = {f.measure: f for f in additive_facts(NormalNoise(self.sigma), 1, self.miss)}
        all_k = {f.measure: f for f in additive_facts(NormalNoise(self.sigma), self.k, self.miss)}
        least = gaussian_floor(math.sqrt(self.k) / self.sigma)
        floor = Fact("mse", least, "lower", GAUSSIAN_FLOOR, r"1/(e^{k/\sigma^2}-1)", "any")
        return (one["mse"], one["l1"], all_k["worst"], all_k["quantile"], floor)
