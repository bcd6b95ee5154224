r"""Histograms with noise in every bin: counts or frequencies, as they come, clipped at 0, or made to sum to 1.

A replaced record moves two bins by one (l1 sensitivity 2, l2 sensitivity sqrt 2), one that comes or goes moves one bin.
Since every bin has its own noise, the exact region is that of the bins that move: two under substitution, one under
add/remove. Frequencies are counts over n, so their noise is that of the counts over n.

Renormalised frequencies. Let c be the true counts, v >= 0 the clipped ones, S their sum and L the l1 distance of v and
c. Then v/S - c/n = (v - c)/n + (v/S)(n - S)/n. Hence the l1 error is at most L/n + abs(S - n)/n <= 2 L/n; a difference of
two distributions has l2^2 <= l1^2/2 and max <= l1/2; and l2 and max are at most those of (v - c)/n plus abs(S - n)/n,
because v/S has norm at most 1. With T = abs(S - n)/n < 1 and v/S = c/n + e the last term of coordinate j is at most
(c_j/n + abs(e_j)) T, so that max abs(e) <= (max abs(v - c)/n + T max c/n)/(1 - T). If S = 0 the uniform distribution is
released: L = n then, and its errors are at most those that the bounds give. The bounds take expectations by Minkowski,
and tails by Cantelli or Chebyshev.

From below: by the same identity the l1 error is at least L/n - abs(S - n)/n, and with k bins l2^2 >= l1^2/k and
max >= l1/k. This says something where the bins are many or full, so that the errors of S cancel and those of L add up.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import Choice, Parameter
from dpcore.mechanisms.geometric import Geometric
from dpcore.mechanisms.laplace import Histogram, Laplace
from dpcore.utility.additive import (
    ADD_REMOVE,
    GAUSSIAN_FLOOR,
    MOST_BINS,
    NEIGHBOURS,
    PURE_FLOOR,
    SUBSTITUTION,
    AdditivePair,
    Calibrated,
    additive_facts,
    gaussian_floor,
    parameter_words,
    pure_floor,
    stated,
    vector_measures,
    within_words,
)
from dpcore.utility.base import MAIN_EPSILON, MISS, Fact, UtilityMeasure, enter
from dpcore.utility.noise import CentredNoise, GeometricNoise, LaplaceNoise, NormalNoise, worst_mean, worst_quantile
from dpcore.utility.shifted import Off, off_facts
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

COUNTS, FREQUENCIES = "counts", "frequencies"
NOTHING, CLIP, RENORMALISE = "nothing", "clip", "renormalise"
BINS: Final = Parameter(
    "bins", "integer", low=2, high=MOST_BINS, label="bins", meaning="how many bins of equal width", example=10
)
UNIT: Final = Choice(
    "unit", "text", label="unit", meaning="counts, or frequencies (counts over n)", choices=(COUNTS, FREQUENCIES)
)
AFTER: Final = Choice(
    "after",
    "text",
    label="post-processing",
    meaning="what is done to the noisy counts: nothing, clip at 0, or clip and make them sum to n (to 1)",
    choices=(NOTHING, CLIP, RENORMALISE),
)


def bin_edges(data: Dataset, bins: int) -> NDArray[np.float64]:
    """Return the edges of equal bins between the public bounds."""
    return np.linspace(data.low, data.high, bins + 1)


@dataclass(frozen=True)
class NoisyHistogram(AdditivePair):
    """Counts of equal bins, or of the categories of categorical data, with noise."""

    query = "histogram"
    measure = "mse"
    of_numbers = ("bins",)
    clips = True
    assumptions = "Bins and bounds are public; frequencies and renormalised counts need a public n (substitution)."

    epsilon: float = MAIN_EPSILON.field(0.5)
    bins: int = BINS.field(10)
    neighbours: str = NEIGHBOURS.field(SUBSTITUTION)
    unit: str = UNIT.field(COUNTS)
    after: str = AFTER.field(NOTHING)
    probability: float = MISS.field(0.05)

    def __post_init__(self) -> None:
        """Check the fields, and that n is public where it is needed."""
        super().__post_init__()
        if self.neighbours == SUBSTITUTION or (self.unit, self.after) in ALLOWED_WITHOUT_N:
            return
        msg = (
            "Under add/remove the number of records is not public: counts can be clipped but not made to sum to n, and "
            f"frequencies need after = {RENORMALISE}; got unit = {self.unit}, after = {self.after}."
        )
        raise DomainError(msg)

    @property
    def miss(self) -> float:
        """How often the error may exceed the quantile."""
        return self.probability

    @property
    def units(self) -> str:
        """Records, or shares."""
        return "records" if self.unit == COUNTS else ""

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Total squared, total absolute, worst error and its quantile."""
        return vector_measures(self.units, self.miss, "bin")

    @abstractmethod
    def noise_of_counts(self) -> CentredNoise:
        """Return the noise of a count."""

    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:  # noqa: ARG002  counts first, frequencies later
        """Return the noise of a count."""
        return self.noise_of_counts()

    def floor_of_counts(self) -> tuple[float, str, str]:
        """Return the least variance of an unbiased count, which mechanisms it holds for, and its formula."""
        return pure_floor(self.epsilon), PURE_FLOOR, r"k/(4\sinh^2(\varepsilon/2))"

    def coordinates(self, data: Dataset) -> int:
        """Return the number of bins."""
        return len(data.categories) or self.bins

    def counts(self, data: Dataset) -> NDArray[np.float64]:
        """Return the counts to which noise is added: records moved to a bound are in the bin beside it."""
        bins = self.coordinates(data)
        return data.cached(("histogram", bins), lambda: tally(data, bins))

    def true_counts(self, data: Dataset) -> NDArray[np.float64]:
        """Return the counts of the records as they came: one outside the bounds is in no bin."""
        bins = self.coordinates(data)
        if not data.moved:
            return self.counts(data)
        return data.cached(("true histogram", bins), lambda: tally(data, bins, raw=True))

    def bias(self, data: Dataset) -> NDArray[np.float64]:
        """Return by how much every count is off before any noise; frequencies are meant as shares of n records."""
        if not data.moved:
            return np.zeros(self.coordinates(data))
        people = 1.0 if self.unit == COUNTS else data.n / len(data.raw)
        return self.counts(data) - self.true_counts(data) * people

    def scale(self, n: int) -> float:
        """Return what a count is multiplied by before it is released."""
        return 1.0 if self.unit == COUNTS else 1.0 / n

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the true counts or frequencies."""
        return self.true_counts(data) * self.scale(len(data.raw))

    def centre(self, data: Dataset) -> NDArray[np.float64]:
        """Return the counts or frequencies of the values within the bounds."""
        return self.counts(data) * self.scale(data.n)

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return the categories, or the bounds of each bin."""
        if data.categories:
            return data.categories
        edges = [nearest(edge) for edge in bin_edges(data, self.bins)]
        return tuple(f"{a} to {b}" for a, b in pairwise(edges))

    def release(self, data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:
        """Return noisy histograms, treated as the parameters say."""
        counts = self.counts(data)
        out = self.noise_of_counts().draws(rng, (count, len(counts)))
        out += counts
        if self.after != NOTHING:
            np.maximum(out, 0.0, out=out)
        if self.after == RENORMALISE:
            total = out.sum(axis=1, keepdims=True)
            out[total[:, 0] == 0.0] = 1.0
            out /= np.where(total == 0.0, float(len(counts)), total)
            return out if self.unit == FREQUENCIES else out * data.n
        return out if self.unit == COUNTS else out / data.n

    def depends_on_n(self) -> bool:
        """Return whether frequencies are released, or clipping makes the true counts matter."""
        return self.unit == FREQUENCIES or self.after != NOTHING

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return exact laws of plain and clipped counts, and bounds after renormalising."""
        size = n or data.n
        order = np.argsort(self.counts(data), kind="stable")
        counts = self.counts(data)[order] * (size / data.n)
        bias = self.bias(data)[order] * (size / data.n)
        noise, k = self.noise_of_counts(), len(counts)
        if noise.integer:
            truth, counts = np.rint(counts - bias), np.rint(counts)
            bias = counts - truth if self.unit == COUNTS else bias
        plain = not bias.any()
        if self.after == NOTHING:
            value, theorem, formula = self.floor_of_counts()
            floor = Fact("mse", k * value, "lower", theorem, formula, "any")
            plain_facts = additive_facts(noise, k, self.miss) if plain else off_facts(Off(noise, bias), self.miss)
            facts = [*plain_facts, floor]
        elif self.after == CLIP:
            clipped = Off(noise, bias, counts)
            facts = clipped_facts(noise, counts, self.miss) if plain else off_facts(clipped, self.miss)
        else:
            # frequencies of the true counts over all records: b is what is left beside those of the values
            facts = renormalised_facts(noise, counts, size, self.miss)
            facts = facts if plain else biased_facts(facts, bias / size)
            return tuple(rescaled(fact, 1.0 if self.unit == FREQUENCIES else float(size)) for fact in facts)
        return tuple(rescaled(fact, self.scale(size)) for fact in facts)

    def sentence(self, data: Dataset) -> str:
        """Say how far the bins of one release are off."""
        facts = {f.measure: f for f in self.closed_forms(data) if f.about == "release" and f.kind != "lower"}
        reach, mean = (outward(facts[name].value, 3) for name in ("quantile", "worst"))
        unit = f" {self.units}" if self.units else ""
        basis = "exact" if {facts[name].kind for name in ("quantile", "worst")} == {"exact"} else "upper bound"
        return (
            f"{parameter_words(self)} no bin of the histogram is off by more than {reach}{unit} in "
            f"{within_words(self.miss)}; the worst of the {self.coordinates(data)} bins is off by at most {mean}{unit} "
            f"on average ({basis}, rounded up).{self._bias_words(data) if self.bias(data).any() else ''}"
        )

    def _bias_words(self, data: Dataset) -> str:
        """Say what the bounds alone do to the bins."""
        fate = "left out" if len(data.raw) != data.n else "counted in the bin beside the bound"
        return (
            f" {grouped(data.moved)} of {grouped(len(data.raw))} values lie outside [{nearest(data.low)}, {nearest(data.high)}] and are {fate}, "
            f"which puts some bin off by {outward(float(np.abs(self.centre(data) - self.answer(data)).max()), 3)} before any "
            "noise (for the owner of the data; no noise hides it)."
        )

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the closed forms; for biased bins those that are sure to fall with the noise."""
        facts, bias = self.closed_forms(data, n), self.bias(data)
        if measure != "quantile" or parameter == "probability" or self.after == RENORMALISE or not bias.any():
            return facts
        size = n or data.n
        noise, scale = self.noise_of_counts(), self.scale(size)
        if not noise.integer and self.miss <= 0.5 and self.after == NOTHING:
            return facts
        reach = float(np.abs(bias).max()) * (size / data.n) + worst_quantile(noise, bias.size, self.miss)
        return (Fact("quantile", scale * reach, "upper", "largest bias plus the quantile of the largest noise"),)


ALLOWED_WITHOUT_N: Final = ((COUNTS, NOTHING), (COUNTS, CLIP), (FREQUENCIES, RENORMALISE))


def tally(data: Dataset, bins: int, *, raw: bool = False) -> NDArray[np.float64]:
    """Return how many records each bin holds; the last bin holds its right end as well.

    Parameters
    ----------
    raw : bool, default False
        Count the records as they came; one outside the bounds is in no bin.
    """
    if data.categories:
        return np.bincount(data.column.astype(np.int64), minlength=bins).astype(np.float64)
    records = data.raw_column if raw else data.column
    return np.histogram(records, bins_or_edges(data, bins))[0].astype(np.float64)


def bins_or_edges(data: Dataset, bins: int) -> NDArray[np.float64]:
    """Return the edges; bins too narrow for a double are refused."""
    edges = bin_edges(data, bins)
    if not (np.diff(edges) > 0).all():
        msg = f"bins must be few enough to tell their edges apart between {numeral(data.low)} and {numeral(data.high)}, got {bins}."
        raise DomainError(msg)
    return edges


def rescaled(fact: Fact, factor: float) -> Fact:
    """Return a fact about counts as one about counts times a factor."""
    value = fact.value * (factor**2 if fact.measure == "mse" else factor)
    return Fact(fact.measure, value, fact.kind, fact.theorem, fact.formula, fact.about)


def clipped_facts(noise: CentredNoise, counts: NDArray[np.float64], miss: float) -> list[Fact]:
    """Return the exact error of sorted counts clipped at 0."""
    law, k = noise.name, len(counts)
    absolute, squared = noise.clipped(counts)
    return [
        Fact("mse", float(squared.sum()), "exact", f"second moments of clipped {law} errors, summed over the bins"),
        Fact("l1", float(absolute.sum()), "exact", f"first moments of clipped {law} errors, summed over the bins"),
        Fact("worst", worst_mean(noise, k, counts), "exact", f"integral of P(max > t) over {k} clipped {law} errors"),
        Fact("quantile", worst_quantile(noise, k, miss, counts), "exact", f"largest of {k} clipped {law} errors"),
    ]


def renormalised_facts(noise: CentredNoise, counts: NDArray[np.float64], n: int, miss: float) -> list[Fact]:
    """Return upper bounds for renormalised frequencies, the better of two ways each, and lower ones (see the module)."""
    absolute, squared = noise.clipped(counts)
    distance = float(absolute.sum()) / n  # E L / n
    spread = max(0.0, float((squared - absolute**2).sum())) / n**2
    bias = noise.excess(counts)  # E max(N, -c): what clipping adds on average
    total = (max(0.0, float((squared - bias**2).sum())) + float(bias.sum()) ** 2) / n**2  # E (S - n)^2 / n^2
    length = math.sqrt(float(squared.sum())) / n
    cantelli = distance + math.sqrt(spread * (1.0 / miss - 1.0))
    off = worst_quantile(noise, len(counts), 0.5 * miss, counts) / n  # max |v - c| / n, and T: each fails in miss/2
    shift = math.sqrt(2.0 * total / miss)
    shares = (off + float(counts[-1]) / n * shift) / (1.0 - shift) if shift < 1 else math.inf
    halves = min(off + shift, shares)
    worst = worst_mean(noise, len(counts), counts) / n + math.sqrt(total)
    identity = "v/S - c/n = (v-c)/n + (v/S)(n-S)/n for clipped counts v of sum S"
    return [
        Fact("mse", min(2.0, 2.0 * (spread + distance**2), (length + math.sqrt(total)) ** 2), "upper", identity),
        Fact("l1", min(2.0, 2.0 * distance, distance + math.sqrt(total)), "upper", identity),
        Fact("worst", min(1.0, distance, worst), "upper", identity),
        Fact("quantile", min(1.0, cantelli, halves), "upper", f"{identity}; Cantelli, or Chebyshev for S"),
        *least_facts(distance - math.sqrt(total), len(counts)),
    ]


def biased_facts(facts: list[Fact], bias: NDArray[np.float64]) -> list[Fact]:
    """Return bounds for frequencies that are off by a known vector as well: the triangle inequality of each norm."""
    total, length, worst = float(np.abs(bias).sum()), float(np.linalg.norm(bias)), float(np.abs(bias).max())
    shift = {"l1": total, "worst": worst, "quantile": worst}
    out = []
    for fact in facts:
        sign = 1.0 if fact.kind == "upper" else -1.0
        if fact.measure == "mse":
            value = max(0.0, math.sqrt(fact.value) + sign * length) ** 2
        else:
            value = max(0.0, fact.value + sign * shift[fact.measure])
        if value > 0 or sign > 0:
            out.append(Fact(fact.measure, value, fact.kind, f"{fact.theorem}; triangle inequality with the bias"))
    return out


def least_facts(distance: float, k: int) -> list[Fact]:
    """Return lower bounds for k renormalised frequencies whose l1 error is at least `distance` on average."""
    if not distance > 0:
        return []
    reason = "the noise of the bins less that of their sum, on average"
    return [
        Fact("mse", distance**2 / k, "lower", f"{reason}, squared over the number of bins"),
        Fact("l1", distance, "lower", reason),
        Fact("worst", distance / k, "lower", f"{reason}, over the number of bins"),
    ]


@enter
@dataclass(frozen=True)
class HistogramLaplace(NoisyHistogram):
    """Histogram with Laplace noise of scale 2/epsilon (substitution) or 1/epsilon (add/remove)."""

    name = "histogram_laplace"
    title = "histogram with Laplace noise"
    mechanism = "Laplace"
    formula = r"\mathrm{count}_j+\mathrm{Lap}(2/\varepsilon)\ \text{(substitution)},\quad \mathrm{Lap}(1/\varepsilon)\ \text{(add/remove)}"
    reference = "Dwork, McSherry, Nissim, Smith 2006; exact region: two Laplace coordinates"

    @property
    def region(self) -> TradeOff:
        """Two Laplace cells of epsilon/2, or one of epsilon."""
        one = self.neighbours == ADD_REMOVE
        return stated(Laplace(self.epsilon), ADD_REMOVE) if one else Histogram(self.epsilon)

    def noise_of_counts(self) -> CentredNoise:
        """Return the noise of a count."""
        return LaplaceNoise((1.0 if self.neighbours == ADD_REMOVE else 2.0) / self.epsilon)


@enter
@dataclass(frozen=True)
class HistogramGeometric(NoisyHistogram):
    """Histogram with geometric noise of rate epsilon/2 (substitution) or epsilon (add/remove)."""

    name = "histogram_geometric"
    title = "histogram with geometric noise"
    mechanism = "geometric"
    formula = r"\mathrm{count}_j+N_j,\quad P(N_j=i)\propto e^{-\varepsilon|i|/2}\ \text{(substitution)},\ e^{-\varepsilon|i|}\ \text{(add/remove)}"
    reference = "Ghosh, Roughgarden, Sundararajan 2012"

    @property
    def region(self) -> TradeOff:
        """Two geometric cells of epsilon/2, or one of epsilon."""
        one = self.neighbours == ADD_REMOVE
        cells = Geometric(self.epsilon) if one else Geometric(self.epsilon / 2) ** 2
        return stated(cells, self.neighbours)

    def noise_of_counts(self) -> CentredNoise:
        """Return the noise of a count."""
        return GeometricNoise(self.epsilon * (1.0 if self.neighbours == ADD_REMOVE else 0.5))


@enter
@dataclass(frozen=True)
class HistogramGaussian(Calibrated, NoisyHistogram):
    """Histogram with normal noise for l2 sensitivity sqrt 2 (substitution) or 1 (add/remove)."""

    name = "histogram_gaussian"
    title = "histogram with Gaussian noise"
    formula = r"\mathrm{count}_j+\mathcal N(0,\Delta_2^2\sigma^2),\quad \Delta_2=\sqrt2\ \text{(substitution)},\ 1\ \text{(add/remove)}"

    @property
    def region(self) -> TradeOff:
        """The true region of the noise."""
        return stated(super().region, self.neighbours)

    def noise_of_counts(self) -> CentredNoise:
        """Return the noise of a count."""
        return NormalNoise(self.unit_sigma * (1.0 if self.neighbours == ADD_REMOVE else math.sqrt(2.0)))

    def floor_of_counts(self) -> tuple[float, str, str]:
        """Return the least variance of an unbiased count in the same Gaussian region."""
        return gaussian_floor(1.0 / self.unit_sigma), GAUSSIAN_FLOOR, r"k/(e^{\mu^2}-1)"
