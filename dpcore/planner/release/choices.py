r"""Answers chosen by the exponential mechanism: a quantile, and the most common category.

A choice c has the probability (density) proportional to :math:`e^{\rho s(c)}`, s its score. Scores that one person moves by
amounts in an interval of length w change the logarithm of the odds of any two choices by at most :math:`\rho w`, so with
:math:`\rho=\varepsilon/w` the loss has range :math:`\varepsilon`: all of it is at most :math:`\varepsilon`, and the total
variation is at most :math:`\tanh(\varepsilon/4)`. The region :math:`f_{\varepsilon,0,\tanh(\varepsilon/4)}` contains that of
every such choice and composes exactly.

- Quantile q of the chosen records: :math:`s(c)=-|\#\{x<c\}-qn|`. A record that is added or removed moves it by at most
  max(q, 1 - q), one that is replaced by at most 1, in either direction: w is twice that.
- Top choice: s is the count of a category. A record that is added moves one count up by 1: w = 1. One that is replaced moves
  one up and another down: w = 2.

A person with m records moves the scores m times as far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.planner.release.kinds import AnswerKind
from dpcore.planner.release.plan import MISS, SUBSTITUTION
from dpcore.utility.choosing import softmax
from dpcore.utility.dataset import Dataset
from dpcore.utility.quantile import QuantileExponential

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan
    from dpcore.planner.release.table import PlanTable

    FloatArray = NDArray[np.float64]


def purpose(plan: ReleasePlan, answer: PlanAnswer) -> tuple[Hashable, ...]:
    """Return what determines the true numbers of an answer on a table, whatever its noise and name."""
    same = replace(answer, label="", weight=1.0, scale=None, size=None)
    return same, *(plan.column(name) for name in (answer.column, answer.by) if name)


class ChoiceKind(AnswerKind):
    """An answer that is chosen, with its own epsilon."""

    needs = ("column",)

    def words(self, answer: PlanAnswer) -> str:
        """Return the kind, the column and the condition."""
        where = f" where {answer.condition.text}" if answer.condition else ""
        return f"{self.name} of {answer.column}{where}"

    def labels(self, plan: ReleasePlan, answer: PlanAnswer) -> tuple[str, ...]:  # noqa: ARG002
        """Return the name of the answer."""
        return (answer.name,)

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the true answer of the values as they came."""
        raise NotImplementedError

    def clipped(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the true answer of values within the bounds."""
        return self.truth(plan, answer, data)

    def errors(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float) -> tuple[float, float]:
        """Return the mean error and the error exceeded in at most 5 of 100 releases, exact for the data."""
        raise NotImplementedError

    def draw(
        self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float, rng: Generator, count: int
    ) -> FloatArray:
        """Return simulated releases."""
        raise NotImplementedError

    def category(self, plan: ReleasePlan, answer: PlanAnswer, value: float) -> str:  # noqa: ARG002
        """Return the name of a chosen category; empty for a number."""
        return ""


class Quantile(ChoiceKind):
    """A quantile of the values of a column, between its bounds."""

    name = "quantile"

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Refuse a column without bounds."""
        _ = plan.column(answer.column).bounds

    def words(self, answer: PlanAnswer) -> str:
        """Return which quantile."""
        name = "median" if answer.level == 0.5 else f"{nearest(answer.level)} quantile"
        where = f" where {answer.condition.text}" if answer.condition else ""
        return f"{name} of {answer.column}{where}"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return how many ranks one record moves the scores."""
        return 1.0 if plan.relation == SUBSTITUTION else max(answer.level, 1.0 - answer.level)

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the quantile of the values as they came; the middle of the bounds if there are none."""
        pair, records = QuantileExponential(level=answer.level), self._data(plan, answer, data)
        return np.array(
            [sum(plan.column(answer.column).bounds) / 2 if records is None else float(pair.answer(records))]
        )

    def clipped(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the quantile of the values moved into the bounds."""
        return np.clip(self.truth(plan, answer, data), *plan.column(answer.column).bounds)

    def errors(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float) -> tuple[float, float]:
        """Return the mean distance to the quantile of the values within the bounds, and its 95 % quantile."""
        pair, dataset = self._pair(plan, answer, epsilon), self._data(plan, answer, data)
        if dataset is None:  # uniform between the bounds
            span = plan.column(answer.column).span
            return span / 4, (1 - MISS) * span / 2
        records = dataset.unclipped()
        steps, truth = pair.steps(records), float(pair.answer(records))
        return _mean_distance(steps.start, steps.end, steps.chance, truth), pair.distance_quantile(records, 1 - MISS)

    def draw(
        self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float, rng: Generator, count: int
    ) -> FloatArray:
        """Draw an interval between records, then a point in it."""
        records = self._data(plan, answer, data)
        if records is None:
            return rng.uniform(*plan.column(answer.column).bounds, count)
        return self._pair(plan, answer, epsilon).release(records, rng, count)

    def _pair(self, plan: ReleasePlan, answer: PlanAnswer, epsilon: float) -> QuantileExponential:
        """Return the choice with chances e^(-epsilon loss / 2), the loss in units of what one person moves."""
        return QuantileExponential(epsilon=epsilon / (plan.records * self.move(plan, answer)), level=answer.level)

    def _data(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> Dataset | None:
        """Return the values in ascending order; None if there are none."""

        def make() -> Dataset | None:
            values = np.sort(data.values(answer.column, answer.condition))
            if not values.size:
                return None
            return Dataset.clipped(values, *plan.column(answer.column).bounds, answer.column)[0]

        return data.cached(purpose(plan, answer), make)


def _mean_distance(start: FloatArray, end: FloatArray, chance: FloatArray, truth: float) -> float:
    """Return the mean distance to the truth of a point that is uniform in each interval."""
    inside = (start < truth) & (truth < end)
    halves = ((truth - start) ** 2 + (end - truth) ** 2) / (2 * (end - start))
    return float(np.dot(chance, np.where(inside, halves, np.abs((start + end) / 2 - truth))))


class TopChoice(ChoiceKind):
    """The most common category of a column."""

    name, unit = "top choice", "records"

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Refuse a column without categories."""
        _ = plan.column(answer.column).names

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return the length of the interval in which scores move: 1, or 2 for a replaced record."""
        return 2.0 if plan.relation == SUBSTITUTION else 1.0

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the index of the first category with the largest count."""
        return np.array([float(np.argmax(self._counts(plan, answer, data)))])

    def errors(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float) -> tuple[float, float]:
        """Return how many records the chosen category is behind the largest: the mean and the 95 % quantile."""
        counts = self._counts(plan, answer, data)
        chance, loss = self._chances(plan, answer, counts, epsilon), counts.max() - counts
        order = np.argsort(loss, kind="stable")
        place = int(np.searchsorted(np.cumsum(chance[order]), 1 - MISS - 1e-12))
        return float(chance @ loss), float(loss[order][min(place, loss.size - 1)])

    def draw(
        self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, epsilon: float, rng: Generator, count: int
    ) -> FloatArray:
        """Return the indices of chosen categories."""
        chance = self._chances(plan, answer, self._counts(plan, answer, data), epsilon)
        return rng.choice(chance.size, size=count, p=chance / chance.sum()).astype(np.float64)

    def category(self, plan: ReleasePlan, answer: PlanAnswer, value: float) -> str:
        """Return the name of a category."""
        return plan.column(answer.column).names[int(value)]

    def _chances(self, plan: ReleasePlan, answer: PlanAnswer, counts: FloatArray, epsilon: float) -> FloatArray:
        return softmax(counts * (epsilon / (plan.records * self.move(plan, answer))))

    def _counts(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        def make() -> FloatArray:
            column = plan.column(answer.column)
            bins = data.bins(column, answer.bins)
            chosen = bins[data.satisfying(answer.condition) & (bins >= 0)]
            return np.bincount(chosen, minlength=len(column.names)).astype(np.float64)

        return data.cached(purpose(plan, answer), make)
