"""Any quantile of numbers in an interval, by the exponential mechanism: exact on the data at hand.

Between neighbouring records the count i = #{x < c} is constant, so the density is a step function: the interval between
the i-th and the next record has probability ~ width exp(-eps |i - q n| / 2) (score -|i - q n|, sensitivity 1 under
substitution). Drawing is exact: an interval first, then a uniform point in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.mechanisms.exponential import Exponential
from dpcore.utility.additive import bias_words
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, RATE, Fact, UtilityMeasure, UtilityPair, enter
from dpcore.utility.choosing import LEVEL, WITHIN, not_steady, quantile_of
from dpcore.utility.neighbourhood import RegionBound
from dpcore.utility.quantile_region import region_of_intervals
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

_DEEPEST = 746.0  # e^-746 is 0 in doubles
INTEGRAL = "sum over the intervals between records of the chance of each, for the data at hand"


@dataclass(frozen=True)
class Steps:
    """The release's law: intervals from `start` to `end` with their chances.

    `rank` is the rank error in each among the records as they came, `loss` that among the values, which makes the chance.
    """

    start: FloatArray
    end: FloatArray
    chance: FloatArray
    rank: FloatArray
    loss: FloatArray


def _intervals(data: Dataset) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start and end of the intervals of positive width between values and bounds, and how many values are below."""

    def make() -> tuple[FloatArray, FloatArray, FloatArray]:
        knots = np.concatenate(([data.low], data.ordered, [data.high]))
        use = np.flatnonzero(np.diff(knots) > 0)
        return knots[use], knots[use + 1], use.astype(np.float64)

    return data.cached("intervals", make)


@enter
@dataclass(frozen=True)
class QuantileExponential(UtilityPair):
    """A quantile in the interval between the public bounds."""

    name = "quantile_exponential"
    title = "quantile with the exponential mechanism"
    query = "quantile"
    mechanism = "exponential"
    span = (0.01, 5.0)
    formula = r"p(c)\propto e^{-\varepsilon|\#\{x_i<c\}-qn|/2}"
    assumptions = "Substitution of one record. The bounds of the data are public."
    reference = "Smith 2011; McSherry, Talwar 2007"
    measure = "distance"
    clips = True
    wide_costs = True

    epsilon: float = MAIN_EPSILON.field(0.2)
    level: float = LEVEL.field(0.5)
    within: float = WITHIN.field(25.0, meaning="rank error, in records, that counts as a miss", unit="records")
    probability: float = MISS.field(0.05)

    @property
    def region(self) -> TradeOff:
        """The worst case over all exponential mechanisms, which contains the region of every dataset."""
        return RegionBound(Exponential(self.epsilon), "bounded range of the loss: holds for every dataset")

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Distance to the true quantile, its quantile, rank error and chance of a large one."""
        sure, t = 1.0 - self.probability, nearest(self.within)
        return (
            UtilityMeasure("distance", "mean distance to the quantile", "", "In the units of the data."),
            UtilityMeasure(
                "quantile", f"distance to the quantile, {nearest(sure, 4)} quantile", "", "", QUANTILE, sure
            ),
            UtilityMeasure("rank", "mean rank error", "records", "Records between the answer and the wanted rank."),
            UtilityMeasure("miss", f"chance of a rank error ≥ {t}", "", f"The answer is {t} ranks or more off.", RATE),
        )

    def answer(self, data: Dataset) -> FloatArray:
        """Return the record of rank ⌈q n⌉ among the records as they came."""
        ordered = data.raw_ordered
        rank = min(ordered.size, max(1, math.ceil(self.level * ordered.size - 1e-9)))
        return np.array(ordered[rank - 1])

    def steps(self, data: Dataset) -> Steps:
        """Return the intervals of positive width with their exact chances; those whose chance is 0 in doubles are left out."""
        start, end, below = (part[self._window(data)] for part in _intervals(data))
        loss = np.abs(below - self.level * data.n)
        log_mass = np.log(end - start) - self.epsilon / 2 * loss
        mass = np.exp(log_mass - log_mass.max())
        return Steps(start, end, mass / mass.sum(), self._rank(data, below), loss)

    def _window(self, data: Dataset) -> slice:
        """Return where chances can be above 0: e^-746 is the least double.

        The interval whose count is next to the wanted rank has width w and loss o; the range W is no narrower than any other.
        So a loss above o + 2/eps (746 + log(W/w)) leaves nothing.
        """
        start, end, below = _intervals(data)
        target = self.level * data.n
        near = int(np.argmin(np.abs(below - target)))
        spare = _DEEPEST + math.log((data.high - data.low) / (end[near] - start[near]))
        reach = abs(below[near] - target) + 2.0 / self.epsilon * spare
        return slice(*np.searchsorted(below, (target - reach, target + reach)))

    def _rank(self, data: Dataset, below: FloatArray) -> FloatArray:
        """Return the rank error among the records as they came, between the bounds, where `below` of the values are below."""
        if len(data.raw) == data.n:  # moved to the bounds: as many are below
            return np.abs(below - self.level * data.n)
        left_out = int(np.searchsorted(data.raw_ordered, data.low, "left"))
        return np.abs(below + left_out - self.level * len(data.raw))

    def release(self, data: Dataset, rng: Generator, count: int) -> FloatArray:
        """Draw an interval, then a point in it."""
        steps = self.steps(data)
        ladder = np.cumsum(steps.chance)
        at = np.minimum(np.searchsorted(ladder, rng.random(count) * ladder[-1], side="right"), ladder.size - 1)
        return np.asarray(steps.start[at] + rng.random(count) * (steps.end - steps.start)[at], dtype=np.float64)

    def errors(self, data: Dataset, releases: FloatArray) -> dict[str, FloatArray]:
        """Return distances and rank errors, among the records as they came."""
        below = np.searchsorted(data.raw_ordered, releases, side="left")
        rank = np.abs(below - self.level * len(data.raw))
        distance = np.abs(releases - float(self.answer(data)))
        return {"distance": distance, "quantile": distance, "rank": rank, "miss": (rank >= self.within) * 1.0}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the exact numbers of the data at hand and the bound of the utility theorem."""
        if n is not None and n != data.n:
            msg = f"The quantile of {data.n} records is known for these records only, got n = {n}."
            raise DomainError(msg)
        steps, truth = self.steps(data), float(self.answer(data))
        distance = float(np.dot(steps.chance, np.abs((steps.start + steps.end) / 2 - truth)))
        far = float(steps.chance[steps.rank >= self.within].sum())
        exact = (
            Fact("distance", distance, "exact", INTEGRAL),
            Fact("quantile", self.distance_quantile(data, 1 - self.probability), "exact", INTEGRAL),
            Fact("rank", float(np.dot(steps.chance, steps.rank)), "exact", INTEGRAL),
            Fact("miss", far, "exact", INTEGRAL),
        )
        if data.moved:
            return exact  # the theorem speaks of the values within the bounds
        width = steps.end - steps.start
        best = steps.rank == steps.rank.min()
        log_bound = math.log((data.high - data.low) / width[best].sum()) - self.epsilon / 2 * (
            self.within - float(steps.rank.min())
        )
        return (
            *exact,
            Fact(
                "miss",
                math.exp(min(0.0, log_bound)),
                "upper",
                "utility theorem: W the range, W* the width of the best intervals, o their rank error",
                r"\frac{W}{W^*}e^{-\varepsilon(t-o)/2}",
            ),
        )

    def distance_quantile(self, data: Dataset, level: float, truth: float | None = None) -> float:
        """Return the smallest d with P(|release - truth| <= d) >= level; the truth is the quantile by default.

        The distribution of the distance is piecewise linear between the distances of the records and the bounds.
        """
        steps, truth = self.steps(data), float(self.answer(data)) if truth is None else truth
        edges = np.append(steps.start, steps.end[-1])
        chances = np.concatenate(([0.0], np.cumsum(steps.chance)))
        knots = np.unique(np.concatenate(([0.0], np.abs(edges - truth))))
        ladder = np.interp(truth + knots, edges, chances) - np.interp(truth - knots, edges, chances)
        at = min(int(np.searchsorted(ladder, level, side="left")), knots.size - 1)
        if at == 0 or ladder[at] == ladder[at - 1]:
            return float(knots[at])
        share = (level - ladder[at - 1]) / (ladder[at] - ladder[at - 1])
        return float(knots[at - 1] + min(1.0, max(0.0, share)) * (knots[at] - knots[at - 1]))

    def monotone_facts(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return what only grows or falls with a parameter: rank errors, and the distances that go with them.

        More epsilon tilts the chances towards smaller rank errors. Distances may grow meanwhile; the largest distance of
        all intervals with that rank error or less cannot.
        """
        by_definition = {"within": "miss", "probability": "quantile"}
        own = tuple(f for f in self.closed_forms(data, n) if f.measure == measure and f.kind == "exact")
        ranks = measure in ("rank", "miss")
        left_out = len(data.raw) != data.n  # then the rank errors differ from those the mechanism sees
        if measure == by_definition.get(parameter) or (parameter == "epsilon" and ranks and not left_out):
            return own
        if parameter != "epsilon" or ranks:
            raise not_steady(self, measure, parameter)
        steps, truth = self.steps(data), float(self.answer(data))
        order = np.argsort(steps.loss, kind="stable")
        rank = steps.loss[order]
        reach = np.maximum(np.abs(steps.start - truth), np.abs(steps.end - truth))[order]
        largest = np.maximum.accumulate(reach)[np.searchsorted(rank, rank, side="right") - 1]
        chance = steps.chance[order]
        mean = measure == "distance"
        value = float(np.dot(chance, largest)) if mean else quantile_of(largest, chance, 1 - self.probability)
        return (Fact(measure, value, "upper", "largest distance at that rank error or less: it only falls with ε"),)

    def rank_quantile(self, data: Dataset, level: float) -> float:
        """Return the smallest rank error t with P(rank error <= t) >= level."""
        steps = self.steps(data)
        return quantile_of(steps.rank, steps.chance, level)

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the region of the data at hand against every substitution, between two polygons."""
        return region_of_intervals(data, self.level, self.epsilon)

    def width(self, data: Dataset) -> int:  # noqa: ARG002  one number
        """Return a few numbers per release."""
        return 4

    def sentence(self, data: Dataset) -> str:
        """Say how far the quantile is off."""
        reach = self.distance_quantile(data, 1 - self.probability)
        ranks = self.rank_quantile(data, 1 - self.probability)
        return (
            f"At ε = {nearest(self.epsilon)} the released {nearest(self.level)} quantile of {data.n} records is off by at most "
            f"{outward(reach, 3)} in the units of the data, and by at most {outward(ranks, 3)} ranks, in "
            f"{of_100(1 - self.probability, up=False)} releases each (exact for these data)."
            f"{bias_words(self, data) if data.moved else ''}"
        )
