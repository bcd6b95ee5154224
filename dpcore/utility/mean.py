r"""The mean of n records in a box of R^d, with Gaussian or Laplace noise, and how well any unbiased mechanism can do.

Let w_j be the widths of the box. A replaced record moves the mean by at most ||w||_2 / n in l2.

Gaussian: sigma = ||w||_2 s(epsilon, delta) / n in every coordinate, so the mean squared error is sigma^2 per dimension.
Laplace: column j gets scale d w_j / (n epsilon). Each coordinate is then (epsilon/d)-private whatever the widths, and the
exact region is that of d Laplace answers of epsilon/d.

*Empirical* accuracy compares a release with the mean of the data at hand, as they came: records moved to the box bias
it. *Statistical* accuracy takes the data as the population: every release sees n fresh records drawn from it, and is
compared with the population's mean. As the noise is independent of the sample, the mean squared error is that of the
noise plus Var(x)/n.

Lower bounds for unbiased epsilon-DP mechanisms of a number whose records have width w, f moving by D_k = k w/n when k
records change: the course's sup_k D_k^2 / (4 (1 + e^(2 k epsilon))) over k <= n, its corollary D_1^2 / (68 epsilon^2) for
epsilon <= 1/2 and ceil(1/(2 epsilon)) <= n, and the sharper D_1^2 / (4 sinh^2(epsilon/2)) (see `additive`). They hold on
the dataset of equal records at a corner of the box. In several dimensions they add up over the columns.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import Choice, Parameter
from dpcore.mechanisms.laplace import Laplace
from dpcore.utility.additive import (
    GAUSSIAN_FLOOR,
    PURE_FLOOR,
    SUBSTITUTION,
    Calibrated,
    bias_words,
    gaussian_floor,
    parameter_words,
    pure_floor,
    stated,
    within_words,
)
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, Fact, UtilityMeasure, UtilityPair, enter
from dpcore.utility.dataset import EXAMPLE_RECORDS, Dataset
from dpcore.utility.noise import CentredNoise, LaplaceNoise, NormalNoise, least_reach
from dpcore.utility.shifted import BIASED, Off, off_quantile
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff

EMPIRICAL, STATISTICAL = "empirical", "statistical"
MOST_COLUMNS: Final = 1000
DIMENSION: Final = Parameter(
    "d", "integer", low=1, high=MOST_COLUMNS, label="d", meaning="how many columns the data have", example=1
)
ACCURACY: Final = Choice(
    "accuracy",
    "text",
    label="accuracy",
    meaning="error against the mean of the data, or against the population they are drawn from",
    choices=(EMPIRICAL, STATISTICAL),
)


@dataclass(frozen=True)
class Mean(UtilityPair):
    """The mean of every column, with noise."""

    query = "mean"
    measure = "mse"
    clips = True
    wide_costs = True
    assumptions = "n and the box that holds every record are public; one record is replaced."

    epsilon: float = MAIN_EPSILON.field(0.5)
    d: int = DIMENSION.field(1)
    accuracy: str = ACCURACY.field(EMPIRICAL)
    probability: float = MISS.field(0.05)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Squared error in total and per dimension, and a quantile of the worst coordinate."""
        whom = "mean of the data" if self.accuracy == EMPIRICAL else "mean of the population"
        within = within_words(self.probability)
        meaning = f"no coordinate is further from the {whom} than this in {within}"
        return (
            UtilityMeasure("mse", "mean squared error", "", f"squared distance to the {whom}, on average"),
            UtilityMeasure("mse_per_dimension", "mean squared error per dimension", "", "the same, divided by d"),
            UtilityMeasure("quantile", f"error in {within}", "", meaning, QUANTILE, 1.0 - self.probability),
        )

    @abstractmethod
    def noises(self, data: Dataset, n: int) -> list[CentredNoise]:
        """Return the noise of every coordinate."""

    @abstractmethod
    def floors(self, widths: NDArray[np.float64], n: int) -> list[Fact]:
        """Return lower bounds on the empirical mean squared error of unbiased mechanisms."""

    @abstractmethod
    def least(self) -> tuple[float, str]:
        """Return the least variance of an unbiased answer that moves by 1, and which mechanisms it holds for."""

    def widths(self, data: Dataset) -> NDArray[np.float64]:
        """Return the widths of the box; data with another number of columns are refused."""
        if data.d != self.d:
            msg = f"d must be the number of columns of the data, {data.d}, got {self.d}."
            raise DomainError(msg)
        return data.upper - data.lower

    def example(self, n: int = EXAMPLE_RECORDS) -> Dataset:
        """Return made-up data with d columns."""
        return Dataset.example(n, self.d)

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the mean of every column of the records as they came."""
        data.check_numbers("A mean")
        self.widths(data)
        return data.cached("mean", lambda: data.raw_table.mean(axis=0))

    def centre(self, data: Dataset) -> NDArray[np.float64]:
        """Return the mean of every column of the values within the bounds."""
        self.widths(data)
        return data.cached("clipped mean", lambda: data.table.mean(axis=0))

    def bias(self, data: Dataset) -> NDArray[np.float64]:
        """Return by how much every column's mean is moved by the bounds; 0 where no record lies outside."""
        return self.centre(data) - self.answer(data) if data.moved else np.zeros(self.d)

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(f"column {j + 1}" for j in range(data.d)) if data.d > 1 else ("mean",)

    def width(self, data: Dataset) -> int:
        """Return how many numbers a release takes; a fresh sample costs its records."""
        if self.accuracy == EMPIRICAL:
            return self.d
        rows, _ = population(data)
        return self.d + min(len(rows), data.n * self.d)

    def depends_on_n(self) -> bool:
        """Return True: every record moves the mean by at most its width over n."""
        return True

    def release(self, data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:
        """Return the means (of the data, or of fresh samples of it) plus noise."""
        noises = self.noises(data, data.n)
        out = np.stack([noise.draws(rng, (count,)) for noise in noises], axis=1)
        out += self.centre(data) if self.accuracy == EMPIRICAL else sample_means(data, rng, count)
        return out

    def errors(self, data: Dataset, releases: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return squared and largest errors of every release."""
        off = releases - self.answer(data)
        squared = np.einsum("ij,ij->i", off, off)
        return {"mse": squared, "mse_per_dimension": squared / self.d, "quantile": np.abs(off).max(axis=1)}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the variance of the noise (plus that of the sample), quantiles, and lower bounds."""
        size = n or data.n
        widths = self.widths(data)
        noises = self.noises(data, size)
        squared = float(sum(noise.variance for noise in noises))
        bias = self.bias(data)
        off = float(np.dot(bias, bias))
        plus = " plus the squared bias of the bounds" if off else ""
        if self.accuracy == EMPIRICAL:
            if off:
                parts = [Off(noise, bias[j : j + 1]) for j, noise in enumerate(noises)]
                reach = Fact(
                    "quantile", off_quantile(parts, self.probability), "exact", f"product of the noise laws {BIASED}"
                )
            else:
                reach = Fact("quantile", joint_quantile(noises, self.probability), "exact", "product of the noise laws")
            theorem = f"the variance of the noise, σ² per dimension{plus and f',{plus}'}"
            facts = [Fact("mse", off + squared, "exact", theorem, r"b^2+\sigma^2" if off else ""), reach]
            return tuple(per_dimension([*facts, *self.floors(widths, size)], self.d))
        variance = data.cached("variance", lambda: float(data.table.var(axis=0).sum()))
        spread = squared + variance / size
        total = off + spread
        least, whom = self.least()
        ceiling = off + squared + float((widths**2).sum()) / (4.0 * size)
        # at every dataset some record can move column j by at least half its width
        floor = variance / size + least * float((widths**2).sum()) / (4.0 * size**2)
        facts = [
            Fact("mse", total, "exact", f"variance of the noise plus variance of the population over n{plus}"),
            Fact("mse", ceiling, "upper", f"any population within the bounds: its variance is at most w²/4{plus}"),
            Fact("mse", floor, "lower", f"{whom}; unbiased for every dataset, on this population", "", "any"),
            Fact("quantile", self._chebyshev(total, spread, bias), "upper", "Chebyshev"),
        ]
        return tuple(per_dimension(facts, self.d))

    def _chebyshev(self, squared: float, spread: float, bias: NDArray[np.float64]) -> float:
        """Return the better of two bounds: on the whole error, or on its spread around the bias."""
        around = float(np.abs(bias).max()) + math.sqrt(spread / self.probability)
        return min(math.sqrt(squared / self.probability), around)

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the closed forms; for a miss above 1/2 the quantile of biased errors may rise as the noise falls."""
        facts, bias = self.closed_forms(data, n), self.bias(data)
        if measure != "quantile" or parameter == "probability" or self.probability <= 0.5 or not bias.any():
            return facts
        reach = float(np.abs(bias).max()) + joint_quantile(self.noises(data, n or data.n), self.probability)
        upper = Fact("quantile", reach, "upper", "bias plus the quantile of the noise")
        return (upper,) if self.accuracy == EMPIRICAL else facts

    def sentence(self, data: Dataset) -> str:
        """Say how far one release is off."""
        facts = {f.measure: f for f in reversed(self.closed_forms(data)) if f.about == "release" and f.kind != "lower"}
        reach, kind = outward(facts["quantile"].value, 3), facts["quantile"].kind
        whom = "the mean of the data" if self.accuracy == EMPIRICAL else "the mean of the population"
        each = "" if self.d == 1 else f" in any of the {self.d} columns"
        biased = bool(self.bias(data).any())
        law = "exact, bias included" if biased else "exact"
        basis = law if kind == "exact" else "upper bound"
        return (
            f"{parameter_words(self)} and n = {data.n} the released mean is within {reach} of {whom}{each} in "
            f"{within_words(self.probability)} ({basis}, rounded up).{self._bias_words(data) if biased else ''}"
        )

    def _bias_words(self, data: Dataset) -> str:
        """Say what the bounds alone do to the mean."""
        if self.d == 1:
            return bias_words(self, data)
        worst = outward(float(np.abs(self.bias(data)).max()), 3)
        return (
            f" The bounds alone move the mean of some column by up to {worst}: {grouped(data.moved)} of "
            f"{grouped(len(data.raw))} records lie outside them (for the owner of the data; no noise hides it)."
        )


def per_dimension(facts: list[Fact], d: int) -> list[Fact]:
    """Return the facts, with those about mse repeated per dimension."""
    shares = [
        Fact("mse_per_dimension", fact.value / d, fact.kind, fact.theorem, fact.formula, fact.about)
        for fact in facts
        if fact.measure == "mse"
    ]
    return [*facts, *shares]


def joint_quantile(noises: list[CentredNoise], miss: float) -> float:
    """Return the smallest t with P(some |N_j| > t) <= miss, rounded up; the noises are independent."""

    def missed(t: float) -> float:
        at = np.array([t])
        return -math.expm1(sum(math.log1p(-min(2.0 * float(noise.above(at)[0]), 1.0)) for noise in noises))

    low, high = (max(noise.reach(p) for noise in noises) for p in (miss, -math.expm1(math.log1p(-miss) / len(noises))))
    if len(noises) == 1:
        return high
    return least_reach(missed, miss, math.nextafter(low, 0.0), high)


def population(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the different records and their shares."""

    def make() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if data.d == 1:  # sorting rows is slow
            values, counts = np.unique(data.column, return_counts=True)
            return values[:, None], counts / data.n
        rows, counts = np.unique(data.table, axis=0, return_counts=True)
        return rows, counts / data.n

    return data.cached("population", make)


def sample_means(data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:
    """Return the means of `count` samples of n records drawn with replacement."""
    rows, shares = population(data)
    if len(rows) < data.n:
        return np.asarray(rng.multinomial(data.n, shares, count) @ rows / data.n, dtype=np.float64)
    index = rng.integers(0, data.n, (count, data.n))
    return np.stack([column[index].mean(axis=1) for column in data.table.T], axis=1)


def course_floor(epsilon: float, width: float, n: int) -> float:
    """Return max over k <= n of (k w/n)^2 / (4 (1 + e^(2 k epsilon))), the bound of the course.

    k^2/(1 + e^(2 k eps)) has one maximum in k, at 2 k eps = x with x = 2 (1 + e^-x), so x = 2.2177...; the integers at its
    sides are enough.
    """
    peak = 2.217715 / (2.0 * epsilon)
    around = {min(n, max(1, math.floor(peak) + j)) for j in (-1, 0, 1, 2)}
    best = max(k * k * math.exp(-2.0 * k * epsilon) / (1.0 + math.exp(-2.0 * k * epsilon)) for k in around)
    return 0.25 * best * (width / n) ** 2


@enter
@dataclass(frozen=True)
class MeanGaussian(Calibrated, Mean):
    """Mean with normal noise."""

    name = "mean_gaussian"
    title = "mean with Gaussian noise"
    formula = r"\bar x+\mathcal N\left(0,\sigma^2 I_d\right),\quad \sigma=\frac{\|w\|_2}{n}\,s(\varepsilon,\delta)"

    @property
    def region(self) -> TradeOff:
        """The true region of the noise, whatever the dimension."""
        return stated(super().region, SUBSTITUTION)

    def sigma(self, data: Dataset, n: int | None = None) -> float:
        """Return the standard deviation of every coordinate."""
        return float(np.linalg.norm(self.widths(data))) * self.unit_sigma / (n or data.n)

    def noises(self, data: Dataset, n: int) -> list[CentredNoise]:
        """Return the same normal noise d times."""
        return [NormalNoise(self.sigma(data, n))] * self.d

    def least(self) -> tuple[float, str]:
        """Return the bound for the same Gaussian region."""
        return gaussian_floor(1.0 / self.unit_sigma), GAUSSIAN_FLOOR

    def floors(self, widths: NDArray[np.float64], n: int) -> list[Fact]:
        """Return the bound for unbiased mechanisms of the same Gaussian region."""
        least, whom = self.least()
        value = least * float((widths**2).sum()) / n**2
        return [Fact("mse", value, "lower", whom, r"\|w\|^2/(n^2(e^{\mu^2}-1))", "any")]


@enter
@dataclass(frozen=True)
class MeanLaplace(Mean):
    """Mean with Laplace noise."""

    name = "mean_laplace"
    title = "mean with Laplace noise"
    mechanism = "Laplace"
    formula = r"\bar x_j+\mathrm{Lap}\left(\frac{d\,w_j}{n\varepsilon}\right),\quad j=1,\dots,d"
    reference = "Dwork, McSherry, Nissim, Smith 2006; lower bounds: course on DP for machine learning, part 4"

    @property
    def region(self) -> TradeOff:
        """Exactly d Laplace answers of epsilon/d."""
        each = Laplace(self.epsilon / self.d)
        return stated(each if self.d == 1 else each**self.d, SUBSTITUTION)

    def noises(self, data: Dataset, n: int) -> list[CentredNoise]:
        """Return Laplace noise in proportion to the widths."""
        return [LaplaceNoise(self.d * float(w) / (n * self.epsilon)) for w in self.widths(data)]

    def least(self) -> tuple[float, str]:
        """Return the bound for epsilon-DP."""
        return pure_floor(self.epsilon), PURE_FLOOR

    def floors(self, widths: NDArray[np.float64], n: int) -> list[Fact]:
        """Return the three bounds for unbiased epsilon-DP mechanisms."""
        e, squares = self.epsilon, float((widths**2).sum())
        sharp = pure_floor(e) * squares / n**2
        course = sum(course_floor(e, float(w), n) for w in widths)
        whom = "every unbiased ε-DP mechanism, on its worst dataset"
        facts = [
            Fact("mse", sharp, "lower", PURE_FLOOR, r"\|w\|^2/(4n^2\sinh^2(\varepsilon/2))", "any"),
            Fact("mse", course, "lower", f"{whom} (course, any k)", r"\sup_k D_k^2/(4(1+e^{2k\varepsilon}))", "any"),
        ]
        if e <= 0.5 and math.ceil(1.0 / (2.0 * e)) <= n:
            value = squares / (68.0 * e * e * n * n)
            facts.append(Fact("mse", value, "lower", f"{whom} (course, k = ⌈1/(2ε)⌉)", r"D^2/(68\varepsilon^2)", "any"))
        return facts
