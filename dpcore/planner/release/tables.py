"""Answers that are tables of counts: histograms, and contingency tables of two columns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.planner.release.kinds import CellKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.planner.release.plan import PlanAnswer, PublicColumn, ReleasePlan
    from dpcore.planner.release.table import PlanTable

    FloatArray = NDArray[np.float64]

MOST_CELLS: Final = 10_000


class CategoryCounts(CellKind):
    """How many records have each category of a column, or fall into each of some equal bins between its bounds."""

    name, unit, integer = "histogram", "records", True

    def check(self, plan: ReleasePlan, answer: PlanAnswer) -> None:
        """Reject a column about which nothing is public, or too many cells."""
        if (count := self.cells(plan, answer)) > MOST_CELLS:
            msg = f"it has {count} cells; at most {MOST_CELLS} are published."
            raise DomainError(msg)

    def move(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def per_cell(self, plan: ReleasePlan, answer: PlanAnswer) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0

    def labels(self, plan: ReleasePlan, answer: PlanAnswer) -> tuple[str, ...]:
        """Return the categories, or the bins."""
        return bin_names(plan.column(answer.column), answer.bins)

    def table(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the counts; numbers outside the bounds are in the nearest bin."""
        return self._counts(plan, answer, data, clip=True)

    def truth(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> FloatArray:
        """Return the counts; numbers outside the bounds are in no bin."""
        return self._counts(plan, answer, data, clip=False)

    def _counts(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, *, clip: bool) -> FloatArray:
        bins = data.bins(plan.column(answer.column), answer.bins, clip=clip)
        chosen = bins[data.satisfying(answer.condition) & (bins >= 0)]
        return np.bincount(chosen, minlength=self.cells(plan, answer)).astype(np.float64)


class Contingency(CategoryCounts):
    """How many records have each pair of categories (or bins) of two columns."""

    name = "contingency"
    needs = ("column", "by")

    def words(self, answer: PlanAnswer) -> str:
        """Return the two columns and the condition."""
        where = f" where {answer.condition.text}" if answer.condition else ""
        return f"table of {answer.column} by {answer.by}{where}"

    def labels(self, plan: ReleasePlan, answer: PlanAnswer) -> tuple[str, ...]:
        """Return the pairs."""
        rows, columns = (bin_names(plan.column(name), answer.bins) for name in (answer.column, answer.by))
        return tuple(f"{row} / {column}" for row in rows for column in columns)

    def cells(self, plan: ReleasePlan, answer: PlanAnswer) -> int:
        """Return the number of pairs."""
        rows, columns = (bin_names(plan.column(name), answer.bins) for name in (answer.column, answer.by))
        return len(rows) * len(columns)

    def _counts(self, plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, *, clip: bool) -> FloatArray:
        rows, columns = (data.bins(plan.column(name), answer.bins, clip=clip) for name in (answer.column, answer.by))
        chosen = data.satisfying(answer.condition) & (rows >= 0) & (columns >= 0)
        width = len(bin_names(plan.column(answer.by), answer.bins))
        both = rows[chosen] * width + columns[chosen]
        return np.bincount(both, minlength=self.cells(plan, answer)).astype(np.float64)


def bin_names(column: PublicColumn, bins: int) -> tuple[str, ...]:
    """Return the categories of a column and the one for all others, or the names of equal bins between its bounds."""
    if column.categories:
        return column.names
    edges = bin_edges(column, bins)
    return tuple(f"{nearest(low)} to {nearest(high)}" for low, high in pairwise(edges.tolist()))


def bin_edges(column: PublicColumn, bins: int) -> FloatArray:
    """Return the edges of equal bins."""
    return np.linspace(*column.bounds, bins + 1)
