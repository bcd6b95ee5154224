"""Sensitivities of a column of one's own data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.planner.sensitivity import QUERIES
from dpcore.specs import fields
from dpcore.specs.base import enter
from dpcore.specs.kinds.own_data import ColumnDrawer
from dpcore.specs.recipes import Variable, call, draws


@dataclass(frozen=True, kw_only=True)
class SensitivityDrawer(ColumnDrawer):
    """A query about a column."""

    statistic: str = fields.choice(*QUERIES)
    probability: float = fields.number(0.5, low=0.0, low_open=True, high=1.0, high_open=True)
    trim: float = fields.number(0.1, low=0.0, high=0.5, high_open=True)
    epsilon: float = fields.above_zero(1.0)
    delta: float = fields.rate(1e-6)

    @property
    def query(self) -> Variable:
        """The query."""
        options = self.options("probability", "trim")
        return Variable("query", call("dpcore.planner.sensitivity:sensitive_query", self.statistic, **options))


@enter
@dataclass(frozen=True, kw_only=True)
class SensitivityErrorsDrawer(SensitivityDrawer):
    """The errors of mechanisms."""

    kind: ClassVar[str] = "sensitivity_errors"
    meaning: ClassVar[str] = (
        "the errors on a column of all mechanisms that answer a query, by global or smooth sensitivity or choice"
    )

    blocks: int | None = fields.integer(None, low=1)
    seed: int = fields.integer(0)

    def recipe(self) -> Any:
        """Return the figure of the errors."""
        options = self.options("epsilon", "delta", "blocks", "seed")
        return draws("dpcore.charts.sensitivity:sensitivity_error_figure", self.data, self.query, **options)


@enter
@dataclass(frozen=True, kw_only=True)
class SmoothSensitivityDrawer(SensitivityDrawer):
    """A smooth sensitivity."""

    kind: ClassVar[str] = "smooth_sensitivity"
    meaning: ClassVar[str] = "the smooth sensitivity of a query on a column, between the local and the global one"

    def recipe(self) -> Any:
        """Return the figure of the sensitivity."""
        return draws("dpcore.charts.sensitivity:smooth_sensitivity_figure", self.data, self.query)

    def table(self) -> Any:
        """Return the sensitivities of all queries."""
        options = self.options("epsilon", "delta", "probability", "trim")
        return call("dpcore.planner.sensitivity:sensitivity_table", self.data, **options)
