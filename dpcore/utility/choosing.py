"""Mechanisms that choose one of finitely many candidates: everything follows from the chance of each candidate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from dpcore.errors import DomainError
from dpcore.registry import Parameter, shown
from dpcore.utility.base import QUANTILE, Fact, Measure, Pair

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.utility.dataset import Dataset

EXACT: Final = "sum over the candidates of the chance of each, for the data at hand"
SIZE = Parameter(
    "size", "integer", low=2, high=1000, label="m", meaning="number of values the answer can take", example=101
)
WITHIN = Parameter("within", low=0.0, low_open=True, label="t", meaning="error that counts as a miss", example=25.0)
LEVEL = Parameter(
    "level",
    low=0.0,
    high=1.0,
    low_open=True,
    high_open=True,
    label="q",
    meaning="share of the records below the answer; 0.5 is the median",
    example=0.5,
)
BINS = Parameter(
    "bins",
    "integer",
    low=2,
    high=1000,
    label="k",
    meaning="number of answers; numbers are cut into that many cells",
    example=5,
)


@dataclass(frozen=True)
class Choosing(Pair):
    """A pair whose release is one of the `options`, taken with its chance."""

    ladder: ClassVar[str] = "rank"  # the cost that rises with the loss of score

    @abstractmethod
    def options(self, data: Dataset) -> FloatArray:
        """Return what may be released, ascending."""

    @abstractmethod
    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the exact probability of each option."""

    @abstractmethod
    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return, for every measure, the number each option counts."""

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:  # noqa: ARG002  for those with bounds
        """Return what theorems say of the measures, beside the exact numbers."""
        return ()

    def release(self, data: Dataset, rng: Generator, count: int) -> FloatArray:
        """Draw options with their exact chances, by inversion; for simulation, since floating-point draws are attackable."""
        ladder = np.cumsum(self.chances(data))
        index = np.searchsorted(ladder, rng.random(count) * ladder[-1], side="right")
        return np.asarray(self.options(data)[np.minimum(index, ladder.size - 1)], dtype=np.float64)

    def errors(self, data: Dataset, releases: FloatArray) -> dict[str, FloatArray]:
        """Return the cost of each released option."""
        options = self.options(data)
        index = np.minimum(np.searchsorted(options, releases), options.size - 1)
        if not np.array_equal(options[index], releases):
            wrong = np.asarray(releases)[options[index] != releases]
            msg = f"A release of {self.title} must be one of its {options.size} options, got {shown(float(wrong[0]))}."
            raise DomainError(msg)
        return {name: cost[index] for name, cost in self.costs(data).items()}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the exact number of every measure, then the bounds."""
        chances, costs = self.chances(data, n), self.costs(data, n)
        exact = tuple(Fact(m.name, _statistic(m, chances, costs[m.name]), "exact", EXACT) for m in self.measures)
        return exact + self.bounds(data, n)

    # ---- the inverse question --------------------------------------------------------------------------------

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return facts about a measure that only grow or only fall with a parameter; none if no such fact is known.

        More epsilon tilts the chances towards better scores, so every cost that rises with the loss of score falls.
        """
        exact = tuple(f for f in self.closed_forms(data, n) if f.measure == measure and f.kind == "exact")
        if parameter == "epsilon" and measure == "distance":
            return (self.envelope(data),)
        by_definition = {"within": ("miss", "far"), "probability": ("quantile",)}
        return exact if parameter == "epsilon" or measure in by_definition.get(parameter, ()) else ()

    def envelope(self, data: Dataset) -> Fact:
        """Return the mean of the largest distance that goes with the loss of score of the release, or a smaller loss."""
        costs = self.costs(data)
        order = np.argsort(costs[self.ladder], kind="stable")
        loss, largest = costs[self.ladder][order], np.maximum.accumulate(costs["distance"][order])
        last = np.searchsorted(loss, loss, side="right") - 1
        value = float(np.dot(self.chances(data)[order], largest[last]))
        return Fact("distance", value, "upper", "largest distance at that rank error or less: it only falls with ε")

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the promises, or say that there is none."""
        found = self.promises(measure, parameter, data, n)
        if not found:
            raise not_steady(self, measure, parameter)
        return found

    def tail(self, data: Dataset, measure: str, at: float, n: int | None = None) -> float:
        """Return the exact probability that a cost is `at` or larger."""
        self.measure_of(measure)
        return float(self.chances(data, n)[self.costs(data, n)[measure] >= at].sum())

    def depends_on_n(self) -> bool:
        """Return True: scores grow with the number of records."""
        return True


def not_steady(pair: Pair, measure: str, parameter: str) -> DomainError:
    """Return the error of an inverse question without an answer that holds from some value on."""
    label = pair.measure_of(measure).label
    return DomainError(
        f"The {label} of {pair.title} is not known to only grow or only fall with {parameter}; no value can be promised."
    )


def slopes_bound(cost: FloatArray, rise: FloatArray, slack: float, rate: float) -> float:
    """Return a bound on a mean cost that only falls with n, for scores that fall behind at least like n rise - slack.

    The chance of a candidate is at most exp(-rate (n rise - slack)), and 1; `rise` is given times n. A candidate within the
    slack may be the best of the imagined data, so its own cost is added once: costs are measured from the best.
    """
    behind = np.maximum(0.0, rise - slack)
    return float(np.dot(cost, np.exp(-rate * behind)) + cost[behind == 0].max(initial=0.0))


def _statistic(measure: Measure, chances: FloatArray, cost: FloatArray) -> float:
    if measure.statistic == QUANTILE:
        return quantile_of(cost, chances, measure.level)
    return float(np.dot(chances, cost))


def quantile_of(values: FloatArray, chances: FloatArray, level: float) -> float:
    """Return the smallest value t with P(value <= t) >= level; rounding errors fall on the larger side."""
    order = np.argsort(values, kind="stable")
    ladder = np.cumsum(chances[order])
    ladder[-1] = max(1.0, ladder[-1])
    at = int(np.searchsorted(ladder, level, side="left"))
    return float(values[order][at])


def softmax(logits: FloatArray) -> FloatArray:
    """Return probabilities proportional to e^logits."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return logarithms of probabilities proportional to e^logits."""
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float64)


def candidates(data: Dataset, size: int) -> FloatArray:
    """Return `size` evenly spaced values from the lower to the upper bound of the data."""
    return np.linspace(data.low, data.high, size)


def counts(data: Dataset, size: int, n: int | None = None) -> FloatArray:
    """Return how many records are nearest to each candidate; with `n`, of n records with the same shares.

    Imagined data are whole records: the cumulative counts are scaled and rounded.
    """
    step = (data.high - data.low) / (size - 1)
    place = np.rint((data.column - data.low) / step).astype(np.int64)
    found = np.bincount(np.clip(place, 0, size - 1), minlength=size)
    if n is None or n == data.n:
        return found.astype(np.float64)
    whole = np.rint(np.cumsum(found) * (n / data.n))
    return np.diff(whole, prepend=0.0)


def cells(data: Dataset, bins: int, n: int | None = None) -> FloatArray:
    """Return how many records lie in each of `bins` cells of equal width; categories are cells of their own."""
    if data.categories:
        found = np.bincount(data.column.astype(np.int64), minlength=len(data.categories)).astype(np.float64)
    else:
        share = (data.column - data.low) / (data.high - data.low)
        found = np.bincount(np.minimum((share * bins).astype(np.int64), bins - 1), minlength=bins).astype(np.float64)
    return found if n is None or n == data.n else np.diff(np.rint(np.cumsum(found) * (n / data.n)), prepend=0.0)
