"""Regions and other views of them: profile, losses, deltas, and one number as a parameter changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.charts.measures import MEASURES
from dpcore.charts.ratios import QUANTITIES, WAYS
from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Method, Variable, call, draws

if TYPE_CHECKING:
    from collections.abc import Sequence


def number_list(values: tuple[float, ...]) -> Any:
    """Return numbers as they were typed: one by one, or as a list such as ``0:3:0.1``."""
    text = getattr(values, "text", "")
    return call("dpcore.language.lists:parse_list", text) if text and len(values) > fields.SHORT else list(values)


@dataclass(frozen=True, kw_only=True)
class SeveralDrawer(Drawer):
    """Regions, with names if there are labels."""

    regions: tuple[str, ...] = fields.expressions()
    labels: tuple[str, ...] = fields.texts()

    def named(self, items: Sequence[Any]) -> Any:
        """Return one item per region by its label, or all in a list."""
        if self.labels and len(self.labels) != len(items):
            msg = f"labels has {len(self.labels)} names for {len(items)} regions."
            raise DomainError(msg)
        return dict(zip(self.labels, items, strict=True)) if self.labels else list(items)

    @property
    def parsed(self) -> Variable:
        """The regions."""
        return Variable("regions", self.named([call("dpcore.language:parse", text) for text in self.regions]))


def colour_places() -> Any:
    """Hold the numbers of the colours of some regions; where one is left out, the others keep theirs."""
    return fields.integers((), words="numbers of the colours, from 0", low=0, high=10**6)


@enter
@dataclass(frozen=True, kw_only=True)
class RegionsDrawer(SeveralDrawer):
    """Regions in one picture, with lines and points."""

    kind: ClassVar[str] = "regions"
    meaning: ClassVar[str] = "privacy regions in one picture, with reference lines and points"

    axes: str = fields.axes()
    log: bool = fields.flag()
    fill: bool = fields.flag(default=True)
    legend: bool = fields.flag(default=True)
    corners: bool = fields.flag(default=True)
    selected: str | None = fields.text(default=None)
    places: tuple[int, ...] = colour_places()
    rows: str = fields.choice("drawn", "border")
    fpr: float | None = fields.rate()
    lines: tuple[dict[str, Any], ...] = fields.rows(
        words='tables such as { start = [0, 0], end = [1, 1], label = "equal errors" } or { alpha = 0.05 }'
    )
    points: tuple[dict[str, Any], ...] = fields.rows(words='tables such as { alpha = 0.1, beta = 0.5, label = "a" }')

    def recipe(self) -> Any:
        """Return the region figure, with references if there are any."""
        axes = self.options("axes", "log")
        own = self.options("fpr", "selected", "legend", "corners", "places", filled="fill")
        figure = draws("dpcore.charts:region_figure", self.parsed, **own, **axes)
        if not self.lines and not self.points:
            return figure
        references = {name: list(value) for name, value in self.options("lines", "points").items()}
        return draws("dpcore.charts.references:with_references", Variable("base", figure), **references, **axes)

    def table(self) -> Any:
        """Return the border of each region, with the exact corners of polygons, if that is asked for."""
        return call("dpcore.charts.sampling:border_table", self.parsed) if self.rows == "border" else None

    def grid(self) -> Any:
        """Return the false negatives of all regions at the same false positives."""
        return call("dpcore.charts.grids:beta_grid", self.parsed, **self.options("log"))


@enter
@dataclass(frozen=True, kw_only=True)
class ProfileDrawer(SeveralDrawer):
    """Deltas against epsilon."""

    kind: ClassVar[str] = "profile"
    meaning: ClassVar[str] = "the smallest δ for each ε, on a logarithmic axis"

    delta: float | None = fields.rate()
    epsilon_max: float | None = fields.above_zero()
    legend: bool = fields.flag(default=True)
    places: tuple[int, ...] = colour_places()

    def recipe(self) -> Any:
        """Return the profile figure."""
        return draws(
            "dpcore.charts:profile_figure",
            self.parsed,
            delta=self.delta,
            epsilon_max=self.epsilon_max,
            **self.options("legend", "places"),
        )

    def grid(self) -> Any:
        """Return the deltas of all regions at the same epsilons."""
        return call("dpcore.charts.grids:delta_grid", self.parsed, epsilon_max=self.epsilon_max)

    def target(self) -> tuple[str, float]:
        """Return the delta of the sentence."""
        return "delta", 1e-6 if self.delta is None else self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class DeltasDrawer(SeveralDrawer):
    """A table of deltas under its profile."""

    kind: ClassVar[str] = "deltas"
    meaning: ClassVar[str] = "a table of δ at given ε (or at the corners), under the profile"

    epsilon: tuple[float, ...] | None = fields.numbers(None)
    delta: float | None = fields.rate()

    def recipe(self) -> Any:
        """Return the profile figure with the table of deltas."""
        regions = self.parsed
        several = call("builtins:list", Method(regions, "values", ())) if self.labels else regions
        at = None if self.epsilon is None else number_list(self.epsilon)
        figure = draws("dpcore.charts:profile_figure", regions, delta=self.delta)
        return call("dataclasses:replace", figure, table=call("dpcore.frames:deltas", several, epsilon=at))

    def grid(self) -> Any:
        """Return the deltas of all regions at the epsilons given, or at the same ones."""
        at = None if self.epsilon is None else number_list(self.epsilon)
        return call("dpcore.charts.grids:delta_grid", self.parsed, epsilon=at)

    def target(self) -> tuple[str, float]:
        """Return the delta of the sentence."""
        return "delta", 1e-6 if self.delta is None else self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class LossesDrawer(Drawer):
    """The loss distribution of one region."""

    kind: ClassVar[str] = "losses"
    meaning: ClassVar[str] = "how often each privacy loss occurs, for one region"

    region: str = fields.expression()

    def recipe(self) -> Any:
        """Return the loss figure."""
        return draws("dpcore.charts:loss_figure", call("dpcore.language:parse", self.region))


@enter
@dataclass(frozen=True, kw_only=True)
class CurvesDrawer(SeveralDrawer):
    """One number of regions as a parameter changes."""

    kind: ClassVar[str] = "curves"
    meaning: ClassVar[str] = "one number (advantage, ε at a δ, an error rate, …) as the ? of an expression changes"

    regions: tuple[str, ...] = fields.pattern()
    values: tuple[float, ...] = fields.numbers()
    measure: str = fields.choice(*MEASURES, default="advantage")
    at: float | None = fields.number(None)
    x: str = fields.text(default="parameter")
    y: str | None = fields.text(default=None)
    log_x: bool = fields.flag()
    log_y: bool = fields.flag()

    def target(self) -> tuple[str, float] | None:
        """Return the delta of an epsilon, or the epsilon of a delta."""
        other = {"epsilon": "delta", "delta": "epsilon"}.get(self.measure)
        at = MEASURES[self.measure].at if self.at is None else self.at
        return None if other is None or at is None else (other, at)

    def recipe(self) -> Any:
        """Return the figure of the measure."""
        return draws(
            "dpcore.charts.measures:measure_figure",
            self.named(self.regions),
            number_list(self.values),
            self.measure,
            at=self.at,
            parameter=self.x,
            value=self.y,
            **self.options("log_x", "log_y"),
        )


@enter
@dataclass(frozen=True, kw_only=True)
class RatioDrawer(SeveralDrawer):
    """Curves divided by one of them, or that one subtracted."""

    kind: ClassVar[str] = "ratio"
    meaning: ClassVar[str] = (
        "δ, ε or β of regions divided by that of one of them (or the difference), for near-equal curves"
    )

    of: str = fields.choice(*QUANTITIES)
    by: str = fields.choice(*WAYS)
    over: str | None = fields.text(default=None, words="the label of the region to compare with")
    at: tuple[float, ...] | None = fields.numbers(None)

    def recipe(self) -> Any:
        """Return the ratio figure."""
        at = None if self.at is None else number_list(self.at)
        options = self.options("of", "by", "over")
        return draws("dpcore.charts.ratio_figures:ratio_figure", self.parsed, at=at, **options)
