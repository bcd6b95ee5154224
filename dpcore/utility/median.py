"""The median of a line of values, chosen by the exponential mechanism.

Score -|S(c)| with S(c) = #{x < c} - #{x > c}; one substitution moves S(c) by at most 2, so P(c) ~ exp(-eps |S(c)| / 4).
With the mid-rank position(c) = #{x < c} + #{x = c} / 2, S(c) = 2 (position(c) - n/2) exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.mechanisms.exponential import Exponential
from dpcore.utility.additive import bias_words
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, RATE, Fact, UtilityMeasure, enter
from dpcore.utility.choosing import (
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
from dpcore.utility.neighbourhood import DataRegion, Moves, RegionBound, moved_records
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

MORE_RECORDS = "sum over the values of distance times largest chance: it only falls with n"
AT_HAND = "the data at hand against every substitution of one record, both directions (exact)"


@enter
@dataclass(frozen=True)
class MedianExponential(Choosing):
    """The median among m evenly spaced values; records count at the nearest of them."""

    name = "median_exponential"
    title = "median with the exponential mechanism"
    query = "median"
    mechanism = "exponential"
    span = (0.001, 5.0)
    formula = r"P(c)\propto e^{-\varepsilon|S(c)|/4},\quad S(c)=\#\{x_i<c\}-\#\{x_i>c\}"
    assumptions = (
        "Substitution of one record. Records are moved to the nearest of m values; errors are ranks among these. "
        "Bounds and number of values are public."
    )
    reference = "McSherry, Talwar 2007; privacy-visualisation thesis, Proposition 51, corrected"
    measure = "miss"
    clips = True

    epsilon: float = MAIN_EPSILON.field(0.05)
    size: int = SIZE.field(101)
    within: float = WITHIN.field(25.0, meaning="rank error, in records, that counts as a miss", unit="records")
    probability: float = MISS.field(0.05)

    @property
    def region(self) -> TradeOff:
        """The worst case over all exponential mechanisms, which contains the region of every dataset."""
        return RegionBound(Exponential(self.epsilon), "bounded range of the loss: holds for every dataset")

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Chance of a rank error of at least t, rank error, distance."""
        t = nearest(self.within)
        sure = 1.0 - self.probability
        return (
            UtilityMeasure(
                "miss", f"chance of a rank error ≥ {t}", meaning=f"The answer is {t} ranks or more off.", statistic=RATE
            ),
            UtilityMeasure(
                "rank", "mean rank error", "records", "How many records lie between the answer and the middle."
            ),
            UtilityMeasure("quantile", f"rank error, {nearest(sure, 4)} quantile", "records", "", QUANTILE, sure),
            UtilityMeasure("distance", "mean distance to the median", "", "In the units of the data."),
        )

    def options(self, data: Dataset) -> FloatArray:
        """Return the m values."""
        return candidates(data, self.size)

    def balance(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return S(c) = #{x < c} - #{x > c} of every candidate, ascending integers."""
        records = counts(data, self.size, n)
        below = np.cumsum(records) - records
        return np.asarray(2 * below + records - records.sum(), dtype=np.float64)

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return exp(-eps |S(c)| / 4), normalised."""
        return np.exp(log_softmax(-self.epsilon / 4 * np.abs(self.balance(data, n))))

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return miss, rank error and distance of every candidate, among the records as they came."""
        unbalance = np.abs(self.true_balance(data, n))
        rank = unbalance / 2
        distance = np.abs(self.options(data) - self.truth(data, n))
        return {"miss": (rank >= self.within) * 1.0, "rank": rank, "quantile": rank, "distance": distance}

    def loss(self, data: Dataset) -> FloatArray:
        """Return |S(c)| of the values within the bounds."""
        return np.abs(self.balance(data))

    def true_balance(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return S(c) of the records as they came: those outside the bounds lie below or above every candidate."""
        records = true_counts(data, self.size, n)
        below = np.cumsum(records) - records
        return np.asarray(2 * below + records - records.sum(), dtype=np.float64)[1:-1]

    def truth(self, data: Dataset, n: int | None = None) -> float:
        """Return the smallest value with the least |S|: a candidate, or one of their line continued beyond the bounds."""
        if data.moved:
            return data.cached(("median", self.size), lambda: self._beyond(data))
        return float(self.options(data)[np.argmin(np.abs(self.balance(data, n)))])

    def _beyond(self, data: Dataset) -> float:
        """Return the median on the line continued beyond the bounds: one of the records' places, or the next one."""
        place = places(data.raw_ordered, data, self.size)
        spot = np.union1d(place, place + 1)
        balance = np.searchsorted(place, spot, "left") + np.searchsorted(place, spot, "right") - place.size
        return float(data.low + spot[np.argmin(np.abs(balance))] * (data.high - data.low) / (self.size - 1))

    def answer(self, data: Dataset) -> FloatArray:
        """Return the smallest candidate with the best score, or the median beyond the bounds if it lies there."""
        return np.array(self.truth(data))

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the corrected bound and the printed one, which fails where ties leave no balanced median."""
        unbalance = np.abs(self.balance(data, n))
        least, best = float(unbalance.min()), int(np.sum(unbalance == unbalance.min()))
        right = corrected_bound(self.epsilon, self.size, self.within, least, best)
        printed = printed_bound(self.epsilon, self.size, self.within)
        return (
            Fact(
                "miss",
                right,
                "upper",
                "thesis, Proposition 51, corrected: o = least |S|, C* its minimisers",
                r"\frac{m}{|C^*|}e^{-\varepsilon(2t-o)/4}",
            ),
            Fact(
                "miss",
                printed,
                "upper" if right <= printed else "approximate",
                "thesis, Proposition 51, as printed: a bound where it is above the corrected one, false in general",
                r"m\,e^{-\varepsilon t/4}",
            ),
        )

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add the mean distance as the records become more: each |S| is off by at most 1 from its share of n."""
        if parameter != "n":
            return super().promises(measure, parameter, data, n)
        if measure != "distance":
            return ()
        behind = np.abs(self.balance(data))
        rise = (behind - behind.min()) * ((n or data.n) / data.n)
        value = slopes_bound(self.costs(data)["distance"], rise, 2.0, self.epsilon / 4)
        return (Fact("distance", value, "upper", MORE_RECORDS),)

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the exact region of the data at hand against all their neighbours under substitution."""
        balance = self.balance(data)
        up = line_changes(balance)
        down = line_changes(-balance[::-1])
        occupied = counts(data, self.size) > 0
        log_p = log_softmax(-self.epsilon / 4 * np.abs(balance))
        polygon = moved_records(log_p, self.epsilon / 4, occupied, up, down)
        return DataRegion(polygon, "median of the data at hand", "substitution", AT_HAND)

    def sentence(self, data: Dataset) -> str:
        """Say how many ranks the answer is off."""
        facts = {fact.measure: fact.value for fact in self.closed_forms(data) if fact.kind == "exact"}
        return (
            f"At ε = {nearest(self.epsilon)} the released median of {data.n} records, rounded to {self.size} values, is off by at most "
            f"{outward(facts['quantile'], 3)} ranks in {of_100(1 - self.probability, up=False)} releases (exact for these "
            f"data); by {nearest(self.within)} or more in at most {of_100(min(1.0, facts['miss']))}."
            f"{bias_words(self, data) if data.moved else ''}"
        )


def line_changes(balance: FloatArray) -> Moves:
    """Return the change of -|S| when a record moves up: S falls by 2 between the two places and by 1 at each of them."""
    inside = np.abs(balance) - np.abs(balance - 2)
    end = np.abs(balance) - np.abs(balance - 1)
    return Moves(end, inside, end)


def printed_bound(epsilon: float, size: int, within: float) -> float:
    """Return min(1, m exp(-eps t / 4)), as the thesis prints it for every dataset."""
    return min(1.0, size * math.exp(-epsilon * within / 4))


def corrected_bound(epsilon: float, size: int, within: float, least: float, best: int) -> float:
    """Return min(1, (m / |C*|) exp(-eps (2t - o) / 4)): P(|position - n/2| >= t) is at most this.

    Parameters
    ----------
    least : float
        o, the smallest |S(c)|; 0 if the median is balanced.
    best : int
        |C*|, how many candidates attain it.
    """
    return math.exp(min(0.0, math.log(size / best) - epsilon * (2 * within - least) / 4))
