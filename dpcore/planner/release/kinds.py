r"""The kinds of answers: which cells each has, how far one record moves them, and how noisy cells become answers.

Every answer with added noise is a table of cells to which each record adds a part of a fixed unit D: a count adds 1 to
one cell, a histogram 1 to one of many, a mean of values in [a, b] adds x - a to one cell and b - x to another, D = b - a.
If one record is added or removed, the sum of all moves is at most D; if one is replaced, the cells that gain move by at
most D together and the cells that lose by at most D. A person with m records moves m times as much.

**How much that reveals.** Let :math:`T_s` be the trade-off function of the noise against itself moved by s. For noise with
a log-concave density (or integer masses) :math:`1-T_{s+t}=(1-T_s)\circ(1-T_t)`, since the best tests are thresholds. Moves
:math:`s_1,\dots,s_k` of different cells with independent noise can be made one after the other, and each step is :math:`T_{s_i}`;
by the group theorem for trade-off functions the end of the path is at least :math:`T_{s_1+\dots+s_k}`. So moves of cells
that sum to s reveal at most what a move by s of one cell does, and that is attained. The cells that gain and those that
lose are different cells with independent noise: :math:`T_{mD}\otimes T_{mD}`. The same holds for all cells of several
answers about disjoint records together, which is why they are charged once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.planner.release.plan import SUBSTITUTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan
    from dpcore.planner.release.table import PlanTable

    FloatArray = NDArray[np.float64]


class AnswerKind(ABC):
    """One kind of answer.

    Attributes
    ----------
    name : str
        How a plan writes it.
    unit : str
        The unit of its error; empty for that of the column.
    needs : tuple of str
        Fields that must be filled in.
    integer : bool
        Whether its cells are integers, which may get integer noise.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    integer: ClassVar[bool] = False

    def check_fields(self, answer: PlanAnswer) -> None:
        """Reject an answer that lacks a field."""
        missing = [name for name in self.needs if not getattr(answer, name)]
        if missing:
            msg = f"A {self.name} needs {' and '.join(missing)}."
            raise DomainError(msg)

    @abstractmethod
    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Reject an answer that does not fit the columns of the plan."""

    @abstractmethod
    def words(self, answer: PlanAnswer) -> str:
        """Return what the answer is."""

    @abstractmethod
    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return how far one record moves the cells (or the scores) together: the unit D."""

    @abstractmethod
    def labels(self, plan: ReleasePlan, answer: PlanAnswer) -> tuple[str, ...]:
        """Return the names of the numbers that are published."""

    def largest(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the largest possible error for the public number of records: the yardstick for errors."""
        return float(plan.size(answer))


class CellKind(AnswerKind):
    """An answer made from cells with added noise."""

    needs: ClassVar[tuple[str, ...]] = ("column",)
    signed: ClassVar[bool] = False

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Refuse a column without bounds."""
        _ = plan.column(answer.column).bounds

    def words(self, answer: PlanAnswer) -> str:
        """Return the kind, the column and the condition."""
        where = f" where {answer.condition.text}" if answer.condition else ""
        return f"{self.name} of {answer.column}{where}"

    def touched(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return 2 if a replaced record moves some cells up and others down, otherwise 1."""
        return 2 if plan.relation == SUBSTITUTION and self.cells(plan, answer) > 1 else 1

    def mixed(self, plan: ReleasePlan, answer: PlanAnswer) -> bool:  # noqa: ARG002  sums override it
        """Return whether records may move one cell in both directions, so that gains and losses are not in different cells."""
        return False

    def labels(self, plan: ReleasePlan, answer: PlanAnswer) -> tuple[str, ...]:  # noqa: ARG002  tables override it
        """Return the name of the answer."""
        return (answer.name,)

    def cells(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return how many cells get noise."""
        return len(self.labels(plan, answer))

    @abstractmethod
    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return how far off the answer can be per unit of error in one cell; only public numbers decide."""

    def whole(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002  means override it
        """Return what a share of 1 means in the units of an answer computed from the share of two cells."""
        return 1.0

    @abstractmethod
    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the true cells, of values within the bounds."""

    def estimate(self, plan: ReleasePlan, answer: PlanAnswer, cells: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the answers from noisy cells along the last axis: the cells themselves by default."""
        return cells

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the true answers of the values as they came, without bounds."""
        return self.estimate(plan, answer, self.table(plan, answer, data))


class Count(CellKind):
    """How many records satisfy a condition."""

    name, unit, needs, integer = "count", "records", (), True

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Reject the count of all records if their number is public."""
        if plan.relation == SUBSTITUTION and not answer.condition:
            msg = "under substitution the number of all records is public; count those of a condition."
            raise DomainError(msg)

    def words(self, answer: PlanAnswer) -> str:
        """Return the condition."""
        return f"count where {answer.condition.text}" if answer.condition else "count of all records"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:  # noqa: ARG002
        """Return the count."""
        return np.array([float(data.satisfying(answer.condition).sum())])


class SumOfValues(CellKind):
    """The sum of the values in a column."""

    name = "sum"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the largest size of a value; under substitution, the width of the range with 0: empty cells add 0."""
        low, high = plan.column(answer.column).bounds
        return max(high, 0.0) - min(low, 0.0) if plan.relation == SUBSTITUTION else max(abs(low), abs(high))

    def largest(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the largest size of a value times the number of records."""
        return plan.size(answer) * max(map(abs, plan.column(answer.column).bounds))

    def mixed(self, plan: ReleasePlan, answer: PlanAnswer) -> bool:
        """Return whether values may have both signs."""
        low, high = plan.column(answer.column).bounds
        return low < 0.0 < high

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the sum of the values moved to the bounds."""
        return np.array([data.values(answer.column, answer.condition, plan.column(answer.column).bounds).sum()])

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:  # noqa: ARG002
        """Return the sum of the values as they came."""
        return np.array([data.values(answer.column, answer.condition).sum()])


class MeanOfValues(CellKind):
    """The mean of the values in a column.

    With a public number of records n (substitution, no condition) the mean itself gets noise; a record without a value
    counts as the middle of the bounds. Otherwise the sums of x - lower and of upper - x get noise: their sum is
    n (upper - lower), so the mean follows from their ratio.
    """

    name = "mean"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the width of the range, over n if n is public."""
        n = plan.known_rows(answer)
        return plan.column(answer.column).span / (n or 1)

    def largest(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the width of the range."""
        return plan.column(answer.column).span

    def cells(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return 1 for the mean itself, otherwise 2."""
        return 1 if plan.known_rows(answer) else 2

    def whole(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the width of the range."""
        return plan.column(answer.column).span

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return 1 over the number of records, if it is public."""
        return 1.0 if plan.known_rows(answer) else 1.0 / plan.size(answer)

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the mean, or the sums of x - lower and upper - x."""
        low, high = plan.column(answer.column).bounds
        values = data.values(answer.column, answer.condition, (low, high))
        if plan.known_rows(answer):
            empty = data.rows - values.size
            return np.array([(values.sum() + empty * (low + high) / 2) / data.rows])
        return np.array([(values - low).sum(), (high - values).sum()])

    def estimate(self, plan: ReleasePlan, answer: PlanAnswer, cells: FloatArray) -> FloatArray:
        """Return the mean, moved into the bounds; the middle if the noisy number of records is not above 0."""
        low, high = plan.column(answer.column).bounds
        if plan.known_rows(answer):
            return np.asarray(np.clip(cells, low, high), dtype=np.float64)
        return low + (high - low) * share(cells)

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the mean of the values as they came; the middle of the bounds if there are none."""
        values = data.values(answer.column, answer.condition)
        return np.array([values.mean() if values.size else sum(plan.column(answer.column).bounds) / 2])


def share(cells: FloatArray) -> FloatArray:
    """Return the first of two cells over their sum, within [0, 1]; 1/2 if the sum is not above 0."""
    whole = cells.sum(axis=-1, keepdims=True)
    positive = whole > 0
    ratio = np.divide(cells[..., :1], whole, out=np.full_like(whole, 0.5), where=positive)
    return np.asarray(np.clip(ratio, 0.0, 1.0), dtype=np.float64)


class Proportion(CellKind):
    """The share of records that satisfy a condition, among all or among those that satisfy another."""

    name, needs, integer = "proportion", ("where",), True

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Accept every condition."""

    def words(self, answer: PlanAnswer) -> str:
        """Return the conditions."""
        return f"share with {answer.condition.text}{f' among {answer.base.text}' if answer.base else ''}"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1: the cells count records."""
        return 1.0

    def largest(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def cells(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return 1 for the count over a public number, otherwise 2: those that satisfy the condition, and the others."""
        return 1 if plan.known_rows(answer) else 2

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return 1 over the number of records."""
        return 1.0 / (plan.known_rows(answer) or plan.size(answer))

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return how many records satisfy the condition, and how many do not."""
        base = data.satisfying(answer.base)
        inside = float((base & data.satisfying(answer.condition)).sum())
        return np.array([inside] if plan.known_rows(answer) else [inside, base.sum() - inside])

    def estimate(self, plan: ReleasePlan, answer: PlanAnswer, cells: FloatArray) -> FloatArray:
        """Return the share, within [0, 1]."""
        n = plan.known_rows(answer)
        return np.asarray(np.clip(cells / n, 0.0, 1.0), dtype=np.float64) if n else share(cells)


class Variance(CellKind):
    """The mean squared distance of the values in a column from their mean.

    With a public number of records the variance itself gets noise. Otherwise, with u = x - lower and v = upper - x, the
    sums of u^2, of 2uv and of v^2 do: one record adds (upper - lower)^2 to them in total, and count, mean and variance
    follow.
    """

    name = "variance"

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return the square of the width of the range; with a public number n, times (n - 1) / n^2."""
        n, square = plan.known_rows(answer), plan.column(answer.column).span ** 2
        return square * max(n - 1, 1) / n**2 if n else square

    def largest(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return a quarter of the square of the width of the range."""
        return plan.column(answer.column).span ** 2 / 4

    def cells(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return 1 for the variance itself, otherwise 3."""
        return 1 if plan.known_rows(answer) else 3

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:
        """Return 1 over the number of records: an error of the three cells moves the variance by no more."""
        return 1.0 if plan.known_rows(answer) else 1.0 / plan.size(answer)

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the variance, or the three sums."""
        low, high = plan.column(answer.column).bounds
        values = data.values(answer.column, answer.condition, (low, high))
        if plan.known_rows(answer):
            empty = np.full(data.rows - values.size, (low + high) / 2)
            return np.array([np.concatenate((values, empty)).var()])
        u, v = values - low, high - values
        return np.array([u @ u, 2 * (u @ v), v @ v])

    def estimate(self, plan: ReleasePlan, answer: PlanAnswer, cells: FloatArray) -> FloatArray:
        """Return the variance, between 0 and the largest possible one."""
        square = plan.column(answer.column).span ** 2
        if plan.known_rows(answer):
            return np.asarray(np.clip(cells, 0.0, square / 4), dtype=np.float64)
        whole = cells.sum(axis=-1, keepdims=True)
        parts = np.divide(cells, whole, out=np.full_like(cells, 1 / 3), where=whole > 0)
        mean = parts[..., :1] + parts[..., 1:2] / 2
        return np.asarray(np.clip(square * (parts[..., :1] - mean**2), 0.0, square / 4), dtype=np.float64)

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:  # noqa: ARG002
        """Return the variance of the values as they came; 0 if there are none."""
        values = data.values(answer.column, answer.condition)
        return np.array([values.var() if values.size else 0.0])


def error_unit(answer: PlanAnswer) -> str:
    """Return the unit of an answer's error."""
    return answer.type.unit or (answer.column if answer.column else "share")
