"""Above threshold (the sparse vector technique): the first query that exceeds a threshold.

T + Lap(2Δ/eps) is drawn once; queries are asked in order, each with its own Lap(4Δ/eps), until one reaches the noisy
threshold. Given the answers f_i the chance to stop at i is, with rho and F the density and distribution of the two noises,

    P(i) = int rho(z) prod_{j < i} F(T + z - f_j) (1 - F(T + z - f_i)) dz,

which is integrated panel by panel between the points where the integrand is not smooth.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import SENSITIVITY, Parameter
from dpcore.regions.guarantees import DP
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, RATE, Fact, UtilityMeasure, enter
from dpcore.utility.choosing import BINS, WITHIN, Choosing, cells
from dpcore.utility.neighbourhood import RegionBound
from dpcore.utility.winners import MOST, panels
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

THRESHOLD = Parameter("threshold", label="T", meaning="what an answer is compared with", example=100.0)
QUERIES = Parameter(
    "answers", "numbers", most=MOST, meaning="true answers of the queries, in the order asked", example=(3.0, 9.0)
)
_REACH = 60.0  # scales of the threshold's noise on both sides; the rest has a mass of e^-60


def stops(answers: FloatArray, threshold: float, scale: float) -> FloatArray:
    """Return the exact chances to stop at query 0, 1, ..., k - 1, and at none of them.

    Parameters
    ----------
    answers : ndarray of float
        True answers, in order.
    scale : float
        4Δ/eps, scale of the noise of the answers; that of the threshold is half of it.
    """
    gap = (np.asarray(answers, dtype=np.float64) - threshold) / scale
    reach = _REACH / 2
    edges = np.unique(np.clip(np.concatenate((gap, [-reach, 0.0, reach])), -reach, reach))
    z, w = panels(edges, gap.size)
    away = z - gap[:, None]
    half = np.exp(-np.abs(away)) / 2
    passed, stopped = np.where(away < 0, half, 1 - half), np.where(away < 0, 1 - half, half)
    upto = np.cumprod(passed, axis=0)
    before = np.concatenate((np.ones((1, z.size)), upto[:-1]))
    mass = w * np.exp(-2 * np.abs(z))  # density of the threshold's noise, scale 1/2
    return np.append((before * stopped) @ mass, upto[-1] @ mass)


def slack(answers: FloatArray, threshold: float) -> FloatArray:
    """Return for each outcome how far it is off: how much the threshold must move to make it right.

    Stopping at i needs f_i >= T and no earlier answer above T; stopping nowhere needs no answer above T.
    """
    above = np.asarray(answers, dtype=np.float64) - threshold
    passed = np.concatenate(([-np.inf], np.maximum.accumulate(above)))
    return np.asarray(np.maximum(0.0, np.maximum(passed, np.append(-above, -np.inf))), dtype=np.float64)


@dataclass(frozen=True)
class Threshold(Choosing):
    """What lists of answers and counts of cells share."""

    mechanism = "above threshold"
    formula = r"\min\{i: f_i+\mathrm{Lap}(4\Delta/\varepsilon)\ge T+\mathrm{Lap}(2\Delta/\varepsilon)\}"
    reference = "Dwork, Roth 2014, Algorithm 1 and Theorem 3.24; course, part 4"
    measure = "right"
    span = (0.05, 20.0)

    epsilon: float = MAIN_EPSILON.field(1.0)
    within: float = WITHIN.field(20.0, meaning="error of the threshold that counts as a miss")
    probability: float = MISS.field(0.05)

    @abstractmethod
    def queries(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the answers to which noise is added, in the order asked."""

    def true_queries(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the answers by which an outcome is judged: those of the records as they came."""
        return self.queries(data, n)

    @property
    @abstractmethod
    def line(self) -> float:
        """The threshold T."""

    @property
    def spread(self) -> float:
        """Sensitivity Δ of each query."""
        return 1.0

    @property
    def scale(self) -> float:
        """Scale 4Δ/ε of the noise of each answer."""
        return 4 * self.spread / self.epsilon

    @property
    def region(self) -> TradeOff:
        """Eps-DP, whatever the queries: a bound."""
        return RegionBound(
            DP(self.epsilon), "ε-DP of above threshold, for any number of queries (Dwork, Roth 2014)", "any"
        )

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Chance of the right answer, of a far one, and the error of the threshold."""
        sure = 1.0 - self.probability
        off = nearest(self.within)
        return (
            UtilityMeasure(
                "right", "chance of the right answer", "", "The first query from T on.", RATE, larger_is_better=True
            ),
            UtilityMeasure("miss", f"chance of an error ≥ {off}", "", f"Right only for a threshold {off} away.", RATE),
            UtilityMeasure("slack", "mean error of the threshold", "", "How far T must move to make the answer right."),
            UtilityMeasure("quantile", f"error of the threshold, {nearest(sure, 4)} quantile", "", "", QUANTILE, sure),
        )

    def options(self, data: Dataset) -> FloatArray:
        """Return the numbers of the queries, and one more for none."""
        return np.arange(self.queries(data).size + 1, dtype=np.float64)

    def answer(self, data: Dataset) -> FloatArray:
        """Return the first query with an answer of at least T; as many as there are queries for none."""
        return np.array(float(_first(self.true_queries(data), self.line)))

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the exact chance to stop at each query, and at none."""
        return stops(self.queries(data, n), self.line, self.scale)

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return right, miss and error of the threshold of every outcome."""
        answers = self.true_queries(data, n)
        off = slack(answers, self.line)
        right = np.arange(off.size) == _first(answers, self.line)
        return {"right": right * 1.0, "miss": (off >= self.within) * 1.0, "slack": off, "quantile": off}

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return the textbook bound and the sum over the queries that are far enough from T to be a miss."""
        answers = self.queries(data, n)
        k, rate = answers.size, self.within / self.scale
        gap = np.abs(answers - self.line)
        astray = (4 * np.exp(-gap / self.scale) - np.exp(-2 * gap / self.scale)) / 6
        duels = float(astray[gap >= self.within].sum())
        right = 1.0 - float(astray[: _first(answers, self.line) + 1].sum())
        order = np.argsort(-gap)
        reach = np.searchsorted(np.cumsum(astray[order]), self.probability, side="right")
        name = "two noises must bridge the gap of a query: sum over queries"
        return (
            Fact("right", max(0.0, right), "lower", name),
            Fact("slack", float(np.dot(gap, astray)), "upper", name),
            Fact("quantile", float(np.append(gap[order], 0.0)[reach]), "upper", name),
            Fact(
                "miss",
                min(1.0, 2 * k * math.exp(-rate / 2)),
                "upper",
                "some noise must reach half the error (Dwork, Roth 2014, Theorem 3.24)",
                r"2ke^{-\varepsilon t/8\Delta}",
            ),
            Fact(
                "miss",
                min(1.0, duels),
                "upper",
                name,
                r"\sum_{|g_j|\ge t}\tfrac{1}{6}(4e^{-\varepsilon|g_j|/4\Delta}-e^{-\varepsilon|g_j|/2\Delta})",
            ),
        )

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return bounds: the exact numbers may go up and down with epsilon, as an earlier query takes over."""
        if self.biased(data) and parameter in ("epsilon", "sensitivity"):
            return ()
        if parameter not in ("epsilon", "sensitivity"):
            return super().promises(measure, parameter, data, n)
        return tuple(f for f in self.bounds(data, n) if f.measure == measure)

    def sentence(self, data: Dataset) -> str:
        """Say how often the right query is reported."""
        facts = {fact.measure: fact.value for fact in self.closed_forms(data) if fact.kind == "exact"}
        return (
            f"At ε = {nearest(self.epsilon)} the first of {self.queries(data).size} answers above {nearest(self.line)} is reported correctly in "
            f"at least {of_100(min(1.0, facts['right']), up=False)} releases (exact for these answers); in "
            f"{of_100(1 - self.probability, up=False)} the answer is right for a threshold at most "
            f"{outward(facts['quantile'], 3)} away."
        )


def _first(answers: FloatArray, threshold: float) -> int:
    reached = np.flatnonzero(answers >= threshold)
    return int(reached[0]) if reached.size else answers.size


@enter
@dataclass(frozen=True)
class ThresholdList(Threshold):
    """Given answers; the data at hand are ignored."""

    name = "threshold_list"
    title = "first answer above a threshold"
    query = "first above a threshold"
    assumptions = "One record changes each answer by at most Δ. Any number of queries, asked in order."

    answers: tuple[float, ...] = QUERIES.field((10.0, 40.0, 55.0, 70.0, 130.0))
    threshold: float = THRESHOLD.field(100.0)
    sensitivity: float = SENSITIVITY.field(1.0)

    def queries(self, data: Dataset, n: int | None = None) -> FloatArray:  # noqa: ARG002  the answers are given
        """Return the answers."""
        return np.array(self.answers)

    @property
    def line(self) -> float:
        """The threshold."""
        return self.threshold

    @property
    def spread(self) -> float:
        """The sensitivity given."""
        return self.sensitivity

    def depends_on_n(self) -> bool:
        """Return False: the answers are given."""
        return False


@enter
@dataclass(frozen=True)
class ThresholdCells(Threshold):
    """The first of `bins` cells of the data that holds at least T records."""

    name = "threshold_cells"
    title = "first cell above a threshold"
    query = "first cell above a threshold"
    clips = True
    assumptions = "One record changes each count by at most 1, whether replaced, added or removed."

    bins: int = BINS.field(10, high=MOST, meaning="number of cells, for data without categories")
    threshold: float = THRESHOLD.field(150.0, unit="records")

    def queries(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the counts of the cells, from the lowest; records moved to a bound are in the cell beside it."""
        return cells(data, self.bins, n)

    def true_queries(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the counts of the records as they came: one outside the bounds is in no cell."""
        return cells(data, self.bins, n, raw=True)

    @property
    def line(self) -> float:
        """The threshold."""
        return self.threshold
