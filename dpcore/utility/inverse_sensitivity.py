"""The inverse-sensitivity mechanism for any quantile, and how close it is to the best possible.

D(y) is how many records must be replaced before y becomes the true answer. It has sensitivity 1, so
P(y) ~ exp(-eps D(y) / 2) is eps-DP. For the r-th smallest of n records, L(y) = #{x < y} and K(y) = #{x <= y},

    D(y) = max(0, L(y) - r + 1, r - K(y)):

too many records below must come up to y, or too few up to y must come down to it; nothing else has to change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.mechanisms.exponential import Exponential
from dpcore.utility.additive import bias_words
from dpcore.utility.base import MAIN_EPSILON, RATE, Fact, UtilityMeasure, enter
from dpcore.utility.choosing import (
    LEVEL,
    SIZE,
    WITHIN,
    Choosing,
    candidates,
    counts,
    log_softmax,
    places,
    slopes_bound,
    true_counts,
)
from dpcore.utility.median import AT_HAND, MORE_RECORDS
from dpcore.utility.neighbourhood import DataRegion, Moves, RegionBound, moved_records
from dpcore.words import of_100

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset


@enter
@dataclass(frozen=True)
class QuantileInverse(Choosing):
    """A quantile among m evenly spaced values, chosen by the number of records that must change."""

    name = "quantile_inverse"
    title = "quantile with the inverse-sensitivity mechanism"
    query = "quantile"
    mechanism = "inverse sensitivity"
    span = (0.01, 5.0)
    formula = r"P(y)\propto e^{-\varepsilon D(y)/2},\quad D(y)=\min\{d(x,x'): f(x')=y\}"
    assumptions = (
        "Substitution of one record. Records are moved to the nearest of m values; the answer is the record of rank "
        "⌈q n⌉ among these. Bounds and number of values are public."
    )
    reference = "Asi, Duchi 2020; course, part 3"
    measure = "miss"
    clips = True

    epsilon: float = MAIN_EPSILON.field(0.2)
    level: float = LEVEL.field(0.5)
    size: int = SIZE.field(101)
    within: float = WITHIN.field(25.0, meaning="records to replace that count as far off", unit="records")

    @property
    def region(self) -> TradeOff:
        """The worst case over all exponential mechanisms, which contains the region of every dataset."""
        return RegionBound(Exponential(self.epsilon), "bounded range of the loss: holds for every dataset")

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Chance of another value, of a far one, records to replace, distance."""
        return (
            UtilityMeasure(
                "miss", "chance of another value", meaning="The answer is not the true quantile.", statistic=RATE
            ),
            UtilityMeasure(
                "far",
                f"chance of D ≥ {nearest(self.within)}",
                meaning="That many records would have to change.",
                statistic=RATE,
            ),
            UtilityMeasure("steps", "mean number of records to replace", "records", "Until the answer would be true."),
            UtilityMeasure("distance", "mean distance to the quantile", "", "In the units of the data."),
        )

    def options(self, data: Dataset) -> FloatArray:
        """Return the m values."""
        return candidates(data, self.size)

    def rank(self, n: int) -> int:
        """Return r = ⌈q n⌉, the rank of the answer among n records."""
        return min(n, max(1, math.ceil(self.level * n - 1e-9)))

    def steps(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return D(y), the number of values to replace, of every candidate."""
        records = counts(data, self.size, n)
        upto = np.cumsum(records)
        return _steps(upto - records, upto, self.rank(int(upto[-1])))

    def loss(self, data: Dataset) -> FloatArray:
        """Return D(y)."""
        return self.steps(data)

    def true_steps(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return D(y) among the records as they came: those outside the bounds lie below or above every candidate."""
        records = true_counts(data, self.size, n)
        upto = np.cumsum(records)
        return _steps(upto - records, upto, self.rank(int(upto[-1])))[1:-1]

    def truth(self, data: Dataset, n: int | None = None) -> float:
        """Return the record of rank ⌈q n⌉ on the line of candidates, which may lie beyond the bounds."""
        if not data.moved:
            return float(self.options(data)[np.argmin(self.steps(data, n))])
        ordered = data.raw_ordered
        place = places(ordered[self.rank(ordered.size) - 1 : self.rank(ordered.size)], data, self.size)
        return float(data.low + place[0] * (data.high - data.low) / (self.size - 1))

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return exp(-eps D / 2), normalised."""
        return np.exp(log_softmax(-self.epsilon / 2 * self.steps(data, n)))

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return whether an option is wrong or far, its D and its distance, among the records as they came."""
        steps = self.true_steps(data, n)
        distance = np.abs(self.options(data) - self.truth(data, n))
        return {"miss": (steps > 0) * 1.0, "far": (steps >= self.within) * 1.0, "steps": steps, "distance": distance}

    def answer(self, data: Dataset) -> FloatArray:
        """Return the value of the record of rank ⌈q n⌉."""
        return np.array(self.truth(data))

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the tail bound, and the least error of unbiased mechanisms with epsilon."""
        steps = self.steps(data, n)
        far = math.exp(min(0.0, math.log(self.size - 1) - self.epsilon * self.within / 2))
        return (
            Fact("far", far, "upper", "m - 1 other values, each at most e^(-εt/2)", r"(m-1)e^{-\varepsilon t/2}"),
            Fact(
                "miss",
                least_miss(self.epsilon, steps),
                "lower",
                "every ε-DP mechanism that never prefers a wrong value to the true one (course, part 3)",
                r"1-1/\sum_y e^{-2\varepsilon D(y)}",
                about="any",
            ),
        )

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add miss and mean distance as the records become more: D is at least its share of n, less 1/2."""
        if parameter != "n":
            return super().promises(measure, parameter, data, n)
        if measure not in ("miss", "distance"):
            return ()
        records = counts(data, self.size)
        upto = np.cumsum(records) / data.n
        rise = (n or data.n) * np.maximum(0.0, np.maximum(upto - records / data.n - self.level, self.level - upto))
        value = slopes_bound(self.costs(data)[measure], rise, 0.5 + 1e-6, self.epsilon / 2)
        return (Fact(measure, min(1.0, value) if measure == "miss" else value, "upper", MORE_RECORDS),)

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the exact region of the data at hand against all their neighbours under substitution."""
        records = counts(data, self.size)
        upto = np.cumsum(records)
        below, n = upto - records, int(upto[-1])
        rank = self.rank(n)
        up = _changes(below, upto, rank)
        down = _changes((n - upto)[::-1], (n - below)[::-1], n + 1 - rank)
        log_p = log_softmax(-self.epsilon / 2 * _steps(below, upto, rank))
        polygon = moved_records(log_p, self.epsilon / 2, records > 0, up, down)
        return DataRegion(polygon, "quantile of the data at hand", "substitution", AT_HAND)

    def sentence(self, data: Dataset) -> str:
        """Say how often the answer is the true one."""
        facts = {fact.measure: fact.value for fact in self.closed_forms(data) if fact.kind == "exact"}
        sentence = (
            f"At ε = {nearest(self.epsilon)} the release is not the true {nearest(self.level)} quantile of these {data.n} records, rounded to {self.size} "
            f"values, in at most {of_100(min(1.0, facts['miss']))} releases (exact for these data)"
        )
        if data.moved:
            return f"{sentence}.{bias_words(self, data)}"
        bound = least_miss(self.epsilon, self.steps(data))
        return f"{sentence}; no unbiased ε-DP mechanism misses less often than {of_100(bound, up=False)}."


def _steps(below: FloatArray, upto: FloatArray, rank: int) -> FloatArray:
    return np.asarray(np.maximum(0.0, np.maximum(below - rank + 1, rank - upto)), dtype=np.float64)


def _changes(below: FloatArray, upto: FloatArray, rank: int) -> Moves:
    """Return the change of -D when a record moves up from a to b: L falls at a < c <= b, K at a <= c < b."""
    now = _steps(below, upto, rank)
    return Moves(
        now - _steps(below, upto - 1, rank),
        now - _steps(below - 1, upto - 1, rank),
        now - _steps(below - 1, upto, rank),
    )


def least_miss(epsilon: float, steps: FloatArray) -> float:
    """Return 1 - 1 / sum_y exp(-2 eps D(y)), the least chance of a wrong answer of an unbiased eps-DP mechanism.

    Unbiased means P(M(x) = y) <= P(M(x) = f(x)) for all data x and values y. Moving to data where y is true and back
    costs a factor exp(-eps D) each way.
    """
    weights = np.exp(-2 * epsilon * steps)
    return float(weights[steps > 0].sum() / weights.sum())
