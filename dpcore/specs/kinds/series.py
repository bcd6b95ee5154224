"""A series plan: what is learnt about each time, the noise that more releases need, and regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.planner.series.fit import MODELS
from dpcore.planner.series.model import STATIONARY, prior_of
from dpcore.specs import fields
from dpcore.specs.base import enter
from dpcore.specs.kinds.own_data import TableDrawer
from dpcore.specs.recipes import Method, Variable, call, draws


def _rows(value: Any) -> tuple[tuple[float, ...], ...]:
    """Return rows of numbers."""
    good = isinstance(value, (list, tuple)) and all(isinstance(row, (list, tuple)) for row in value)
    if not good or not all(isinstance(x, (int, float)) and not isinstance(x, bool) for row in value for x in row):
        msg = f"expected rows of numbers such as [[0.5, 0.1], [0, 0.5]], got {value_text(value)}."
        raise DomainError(msg)
    return tuple(tuple(float(x) for x in row) for row in value)


def _prior(value: Any) -> str | float:
    """Return a prior: a word, or a variance."""
    return prior_of(str(value))


@dataclass(frozen=True, kw_only=True)
class SeriesDrawer(TableDrawer):
    """A series: users and times of a table, or A and the covariance of the innovations."""

    user: str | None = fields.text(default=None, words="the column that names the users")
    time: str | None = fields.text(default=None, words="the column of times; without it every other column is a time")
    value: str | None = fields.text(default=None, words="the column of values")
    lower: float | None = fields.number(None)
    upper: float | None = fields.number(None)
    model: str = fields.choice(*MODELS)
    matrix: tuple[tuple[float, ...], ...] | None = fields.make(_rows, None, "A: rows of numbers, instead of a table")
    covariance: tuple[tuple[float, ...], ...] | None = fields.make(_rows, None, "covariance of the innovations")
    reach: float = fields.above_zero(1.0)
    releases: int = fields.integer(12, low=1, high=200)
    epsilon: float = fields.above_zero(1.0)
    delta: float = fields.rate(1e-5)
    prior: str | float = fields.make(_prior, STATIONARY, "stationary, flat, known, or a variance")

    def __post_init__(self) -> None:
        """Check that exactly one source is given for the series."""
        if (self.matrix is None) != (self.covariance is None):
            msg = "matrix and covariance belong together: give both."
            raise DomainError(msg)
        if self.matrix is None:
            super().__post_init__()
            missing = next((name for name in ("user", "lower", "upper") if getattr(self, name) is None), None)
            if missing is not None:
                msg = f"A table of users and times needs user, lower and upper; {missing} is missing."
                raise DomainError(msg)
        elif self.file is not None or self.sample is not None:
            msg = "The series is either a table or matrix and covariance; give one of them."
            raise DomainError(msg)

    @property
    def series(self) -> Variable:
        """The autoregression."""
        if self.matrix is not None:
            options = self.options("reach")
            path = "dpcore.planner.series:SeriesModel"
            return Variable("model", call(path, self.matrix, self.covariance, **options))
        return Variable("model", Method(self.fit, "model"))

    @property
    def panel(self) -> Variable:
        """Users and times of the table."""
        data = Variable("data", call("dpcore.files.microdata:read_microdata", self.sheet))
        columns = (self.user, *([] if self.time is None else [self.time, self.value]))
        bounds = {"lower": self.lower, "upper": self.upper}
        return Variable("panel", call("dpcore.planner.series:read_panel", data, *columns, **bounds))

    @property
    def fit(self) -> Variable:
        """The fitted autoregression."""
        return Variable("fitted", call("dpcore.planner.series:fit", self.panel, **self.options("model")))


@dataclass(frozen=True, kw_only=True)
class NoisySeriesDrawer(SeriesDrawer):
    """A series with some noise."""

    noise: float | None = fields.above_zero()

    def drawn(self, path: str) -> Any:
        """Return the figure of the attacks at this noise."""
        options = self.options("noise", "epsilon", "delta", "prior")
        return draws(path, self.series, self.releases, **options)


@enter
@dataclass(frozen=True, kw_only=True)
class SeriesAttacksDrawer(NoisySeriesDrawer):
    """What is learnt about each time."""

    kind: ClassVar[str] = "series_attacks"
    meaning: ClassVar[str] = "what noisy means over time reveal about the value of one user at each time"

    def recipe(self) -> Any:
        """Return the figure of the attacks."""
        return self.drawn("dpcore.charts.series:attack_figure")


@enter
@dataclass(frozen=True, kw_only=True)
class SeriesRegionDrawer(NoisySeriesDrawer):
    """The regions of the worst attacks."""

    kind: ClassVar[str] = "series_region"
    meaning: ClassVar[str] = "the regions of the worst attacks on noisy means over time, for each level"

    def recipe(self) -> Any:
        """Return the figure of the regions."""
        return self.drawn("dpcore.charts.series:series_region_figure")


@enter
@dataclass(frozen=True, kw_only=True)
class SeriesNoiseDrawer(SeriesDrawer):
    """The least noise as releases are added."""

    kind: ClassVar[str] = "series_noise"
    meaning: ClassVar[str] = "the least noise that keeps the worst attack at a target, as the number of releases grows"

    def recipe(self) -> Any:
        """Return the figure of the noise."""
        options = self.options("epsilon", "delta", "prior")
        return draws("dpcore.charts.series:least_noise_figure", self.series, self.releases, **options)
