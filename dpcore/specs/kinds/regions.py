"""Regions and their other faces: profile, losses, deltas, and one number as a parameter moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.charts.measures import MEASURES
from dpcore.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Method, Variable, call, draws

if TYPE_CHECKING:
    from collections.abc import Sequence


def parsed(expressions: Sequence[str], labels: Sequence[str]) -> Variable:
    """Return regions, named if labels are given."""
    if labels and len(labels) != len(expressions):
        msg = f"labels has {len(labels)} names for {len(expressions)} regions."
        raise DomainError(msg)
    made = [call("dpcore.language:parse", text) for text in expressions]
    return Variable("regions", dict(zip(labels, made, strict=True)) if labels else made)


def listed(values: tuple[float, ...]) -> Any:
    """Return numbers as they were written: one by one, or as a list such as ``0:3:0.1``."""
    text = getattr(values, "text", "")
    return call("dpcore.lists:parse_list", text) if text and len(values) > fields.SHORT else list(values)


@enter
@dataclass(frozen=True, kw_only=True)
class RegionsDrawer(Drawer):
    """Regions over each other, with lines and points."""

    kind: ClassVar[str] = "regions"
    meaning: ClassVar[str] = "privacy regions in one picture, with reference lines and points"

    regions: tuple[str, ...] = fields.expressions()
    labels: tuple[str, ...] = fields.texts()
    axes: str = fields.choice("fdp", "thesis")
    log: bool = fields.flag()
    fill: bool = fields.flag(default=True)
    legend: bool = fields.flag(default=True)
    corners: bool = fields.flag(default=True)
    selected: str | None = fields.text(default=None)
    fpr: float | None = fields.number(None, low=0.0, high=1.0)
    lines: tuple[dict[str, Any], ...] = fields.rows(
        words='tables such as { start = [0, 0], end = [1, 1], label = "equal errors" } or { alpha = 0.05 }'
    )
    points: tuple[dict[str, Any], ...] = fields.rows(words='tables such as { alpha = 0.1, beta = 0.5, label = "a" }')

    def recipe(self) -> Any:
        """Return the region figure, with references if there are any."""
        regions = parsed(self.regions, self.labels)
        options: dict[str, Any] = {"axes": self.axes} if self.axes != "fdp" else {}
        options |= {"log": True} if self.log else {}
        own = {"filled": self.fill, "legend": self.legend, "corners": self.corners}
        shown = {name: value for name, value in own.items() if not value}
        figure = draws("dpcore.charts:region_figure", regions, fpr=self.fpr, selected=self.selected, **options, **shown)
        if not self.lines and not self.points:
            return figure
        given = {"lines": list(self.lines), "points": list(self.points)}
        return draws(
            "dpcore.charts.references:with_references",
            Variable("drawn", figure),
            **{name: value for name, value in given.items() if value},
            **options,
        )


@enter
@dataclass(frozen=True, kw_only=True)
class ProfileDrawer(Drawer):
    """Deltas against epsilon."""

    kind: ClassVar[str] = "profile"
    meaning: ClassVar[str] = "the smallest δ for each ε, on a logarithmic axis"

    regions: tuple[str, ...] = fields.expressions()
    labels: tuple[str, ...] = fields.texts()
    delta: float | None = fields.number(None, low=0.0, high=1.0)
    epsilon_max: float | None = fields.number(None, low=0.0, low_open=True)

    def recipe(self) -> Any:
        """Return the profile figure."""
        regions = parsed(self.regions, self.labels)
        return draws("dpcore.charts:profile_figure", regions, delta=self.delta, epsilon_max=self.epsilon_max)


@enter
@dataclass(frozen=True, kw_only=True)
class DeltasDrawer(Drawer):
    """A table of deltas under its profile."""

    kind: ClassVar[str] = "deltas"
    meaning: ClassVar[str] = "a table of δ at given ε (or at the corners), under the profile"

    regions: tuple[str, ...] = fields.expressions()
    labels: tuple[str, ...] = fields.texts()
    epsilon: tuple[float, ...] | None = fields.numbers(None)
    delta: float | None = fields.number(None, low=0.0, high=1.0)

    def recipe(self) -> Any:
        """Return the profile figure with the table of deltas."""
        regions = parsed(self.regions, self.labels)
        several = call("builtins:list", _values(regions)) if self.labels else regions
        at = {} if self.epsilon is None else {"epsilon": listed(self.epsilon)}
        figure = draws("dpcore.charts:profile_figure", regions, delta=self.delta)
        return call("dataclasses:replace", figure, table=call("dpcore.frames:deltas", several, **at))


def _values(regions: Variable) -> Any:
    return Method(regions, "values", ())


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
class CurvesDrawer(Drawer):
    """One number of regions as a parameter moves."""

    kind: ClassVar[str] = "curves"
    meaning: ClassVar[str] = "one number (advantage, ε at a δ, an error rate, …) as the ? of an expression moves"

    regions: tuple[str, ...] = fields.pattern()
    labels: tuple[str, ...] = fields.texts()
    values: tuple[float, ...] = fields.numbers()
    measure: str = fields.choice(*MEASURES, default="advantage")
    at: float | None = fields.number(None)
    x: str = fields.text(default="parameter")
    y: str | None = fields.text(default=None)
    log_x: bool = fields.flag()
    log_y: bool = fields.flag()

    def recipe(self) -> Any:
        """Return the measure's figure."""
        if self.labels and len(self.labels) != len(self.regions):
            msg = f"labels has {len(self.labels)} names for {len(self.regions)} regions."
            raise DomainError(msg)
        patterns: Any = dict(zip(self.labels, self.regions, strict=True)) if self.labels else list(self.regions)
        flags = {name: True for name in ("log_x", "log_y") if getattr(self, name)}
        return draws(
            "dpcore.charts.measures:measure_figure",
            patterns,
            listed(self.values),
            self.measure,
            at=self.at,
            parameter=self.x,
            value=self.y,
            **flags,
        )
