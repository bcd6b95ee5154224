"""Private intervals of a column of one's own data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.planner.interval.laws import NOISES
from dpcore.planner.interval.tables import AGAINST, PLANS
from dpcore.specs import fields
from dpcore.specs.base import enter
from dpcore.specs.kinds.own_data import ColumnDrawer
from dpcore.specs.recipes import Method, Variable, call, draws


@dataclass(frozen=True, kw_only=True)
class IntervalDrawer(ColumnDrawer):
    """The plan of a private interval."""

    statistic: str = fields.choice(*PLANS)
    equals: str | None = fields.text(default=None, words="the answer whose proportion is estimated")
    at_least: float | None = fields.number(None)
    probability: float = fields.number(0.5, low=0.0, low_open=True, high=1.0, high_open=True)
    epsilon: float = fields.above_zero(1.0)
    delta: float = fields.rate(0.0)
    level: float = fields.number(0.95, low=0.5, high=0.9999)
    noise: str = fields.choice(*NOISES)
    spread: float | None = fields.above_zero(None)

    @property
    def reading(self) -> Any:
        """The column: numbers between bounds, or a condition as ones and zeros."""
        if self.statistic != "proportion":
            return super().reading
        column = () if self.column is None else (self.column,)
        condition = self.options("equals", "at_least")
        return call("dpcore.planner.interval:read_indicator", self.sheet, *column, **condition)

    @property
    def data(self) -> Variable:
        """The numbers of the column."""
        return Variable("data", Method(self.reading, "dataset"))

    @property
    def plan(self) -> Variable:
        """The plan."""
        options = {"epsilon": self.epsilon, **self.options("delta", "level", "noise", "probability", "spread")}
        return Variable("plan", call("dpcore.planner.interval:interval_plan", self.statistic, self.data, **options))


@enter
@dataclass(frozen=True, kw_only=True)
class IntervalWidthDrawer(IntervalDrawer):
    """The width of an interval."""

    kind: ClassVar[str] = "interval_width"
    meaning: ClassVar[str] = "the half-width of a private interval for a column as n or ε changes"

    against: str = fields.choice(*AGAINST)

    def recipe(self) -> Any:
        """Return the figure of the widths."""
        return draws("dpcore.charts.intervals:interval_width_figure", self.plan, self.data, **self.options("against"))


@enter
@dataclass(frozen=True, kw_only=True)
class IntervalCoverageDrawer(IntervalDrawer):
    """Simulated intervals."""

    kind: ClassVar[str] = "interval_coverage"
    meaning: ClassVar[str] = (
        "simulated private intervals for a column beside the truth, and how many of them contain it"
    )

    releases: int = fields.integer(2000, low=1, high=10**6)
    seed: int = fields.integer(0)

    def recipe(self) -> Any:
        """Return the figure of the intervals."""
        options = self.options("releases", "seed")
        return draws("dpcore.charts.intervals:interval_coverage_figure", self.plan, self.data, **options)
