"""Mechanisms that choose one of finitely many candidates: everything follows from the chance of each candidate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter, value_text
from dpcore.utility.base import QUANTILE, Fact, UtilityMeasure, UtilityPair

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
class Choosing(UtilityPair):
    """A pair whose release is one of the `options`, taken with its chance."""

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
        """Return what theorems say of the measures, beside the exact numbers; they speak of the values within the bounds."""
        return ()

    def loss(self, data: Dataset) -> FloatArray:  # noqa: ARG002  for those whose chances depend on it alone
        """Return how much score each option falls behind: the chances depend on nothing else. None is known by default."""
        raise not_steady(self, self.measure, "epsilon")

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
            msg = f"A release of {self.title} must be one of its {options.size} options, got {value_text(float(wrong[0]))}."
            raise DomainError(msg)
        return {name: cost[index] for name, cost in self.costs(data).items()}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the exact number of every measure, then the bounds."""
        chances, costs = self.chances(data, n), self.costs(data, n)
        exact = tuple(Fact(m.name, _statistic(m, chances, costs[m.name]), "exact", EXACT) for m in self.measures)
        return exact if self.biased(data) else exact + self.bounds(data, n)

    def biased(self, data: Dataset) -> bool:
        """Return whether records outside the bounds make the true answer another one than that of the values."""
        return self.clips and data.moved > 0

    # ---- the inverse question --------------------------------------------------------------------------------

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return facts about a measure that only grow or only fall with a parameter; none if no such fact is known.

        More epsilon tilts the chances towards better scores, so every cost that rises with the loss of score falls.
        """
        exact = tuple(f for f in self.closed_forms(data, n) if f.measure == measure and f.kind == "exact")
        if parameter == "epsilon" and self.biased(data) and self.measure_of(measure).larger_is_better:
            return ()  # a choice that is right for the values may be wrong for the records
        if parameter == "epsilon" and (measure == "distance" or self.biased(data)):
            return (self.envelope(measure, data),)
        by_definition = {"within": ("miss", "far"), "probability": ("quantile",)}
        return exact if parameter == "epsilon" or measure in by_definition.get(parameter, ()) else ()

    def envelope(self, measure: str, data: Dataset) -> Fact:
        """Return a measure of the largest cost that goes with the loss of score of the release, or a smaller loss."""
        loss = self.loss(data)
        order = np.argsort(loss, kind="stable")
        largest = np.maximum.accumulate(self.costs(data)[measure][order])
        last = np.searchsorted(loss[order], loss[order], side="right") - 1
        value = _statistic(self.measure_of(measure), self.chances(data)[order], largest[last])
        what = "distance at that rank error" if measure == "distance" else "cost at that loss of score"
        return Fact(measure, value, "upper", f"largest {what} or less: it only falls with ε")

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the promises, or say that there are none."""
        promises = () if parameter == "n" and self.biased(data) else self.promises(measure, parameter, data, n)
        if not promises:
            raise not_steady(self, measure, parameter)
        return promises

    def tail(self, data: Dataset, measure: str, at: float, n: int | None = None) -> float:
        """Return the exact probability that a cost is `at` or larger."""
        self.measure_of(measure)
        return float(self.chances(data, n)[self.costs(data, n)[measure] >= at].sum())

    def depends_on_n(self) -> bool:
        """Return True: scores grow with the number of records."""
        return True


def not_steady(pair: UtilityPair, measure: str, parameter: str) -> DomainError:
    """Return the error for an inverse question about a measure that is not known to be monotone."""
    label = pair.measure_of(measure).label
    return DomainError(
        f"The {label} of {pair.title} is not known to be monotone in {parameter}, so no value can be promised."
    )


def slopes_bound(cost: FloatArray, rise: FloatArray, slack: float, rate: float) -> float:
    """Return a bound on a mean cost that only falls with n, for scores that fall behind at least like n rise - slack.

    The chance of a candidate is at most exp(-rate (n rise - slack)), and 1; `rise` is given times n. A candidate within the
    slack may be the best of the imagined data, so its own cost is added once: costs are measured from the best.
    """
    behind = np.maximum(0.0, rise - slack)
    return float(np.dot(cost, np.exp(-rate * behind)) + cost[behind == 0].max(initial=0.0))


def _statistic(measure: UtilityMeasure, chances: FloatArray, cost: FloatArray) -> float:
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


def places(records: FloatArray, data: Dataset, size: int) -> FloatArray:
    """Return the number of the nearest candidate of each record: below 0 or above size - 1 outside the bounds."""
    return np.asarray(np.rint((records - data.low) / ((data.high - data.low) / (size - 1))), dtype=np.float64)


def counts(data: Dataset, size: int, n: int | None = None) -> FloatArray:
    """Return how many values are nearest to each candidate; with `n`, of n records with the same shares.

    Imagined data are whole records: the cumulative counts are scaled and rounded.
    """

    def make() -> FloatArray:
        place = places(data.column, data, size).astype(np.int64)
        return np.bincount(np.clip(place, 0, size - 1), minlength=size).astype(np.float64)

    return _imagined(data.cached(("counts", size), make), data, n)


def true_counts(data: Dataset, size: int, n: int | None = None) -> FloatArray:
    """Return how many records as they came are below all candidates, nearest to each, and above all."""

    def make() -> FloatArray:
        place = np.clip(places(data.raw_column, data, size), -1, size).astype(np.int64) + 1
        return np.bincount(place, minlength=size + 2).astype(np.float64)

    return _imagined(data.cached(("true counts", size), make), data, n)


def _imagined(counts: FloatArray, data: Dataset, n: int | None) -> FloatArray:
    if n is None or n == data.n:
        return counts
    return np.diff(np.rint(np.cumsum(counts) * (n / data.n)), prepend=0.0)


def cells(data: Dataset, bins: int, n: int | None = None, *, raw: bool = False) -> FloatArray:
    """Return how many records lie in each of `bins` cells of equal width; categories are cells of their own.

    Parameters
    ----------
    raw : bool, default False
        Count the records as they came; one outside the bounds is in no cell. Otherwise it is in the last one.
    """
    if data.categories:
        counts = np.bincount(data.column.astype(np.int64), minlength=len(data.categories)).astype(np.float64)
    else:
        records = data.raw_column if raw else data.column
        records = records[(records >= data.low) & (records <= data.high)] if raw else records
        share = (records - data.low) / (data.high - data.low)
        counts = np.bincount(np.minimum((share * bins).astype(np.int64), bins - 1), minlength=bins).astype(np.float64)
    return _imagined(counts, data, n)
