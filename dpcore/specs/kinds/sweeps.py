"""Maps of sweeps: one measure over a grid of two parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import call, draws
from dpcore.sweeps import MEASURES, Grid


@enter
@dataclass(frozen=True, kw_only=True)
class SweepDrawer(Drawer):
    """A map of one measure over two parameters."""

    kind: ClassVar[str] = "sweep"
    meaning: ClassVar[str] = (
        "one measure of an expression with {holes} over a grid of two of them, as a map with contour lines"
    )

    expression: str = fields.text(words="an expression with {holes}")
    measure: str = fields.choice(*MEASURES)
    grid_values: dict[str, Any] = fields.mapping("values of every hole: a list, or a text such as 0.5:2:0.5")
    arguments: dict[str, Any] = fields.mapping("arguments of the measure, such as delta")
    across: str = fields.text("", words="the hole across; the first by default")
    up: str = fields.text("", words="the hole up; the second by default")

    def __post_init__(self) -> None:
        """Refuse a grid that is no map."""
        question = self.asked
        several = [name for name, values in question.axes if len(values) > 1]
        if len(several) != 2:  # a map is flat
            msg = f"A map varies two holes and holds the others fixed; got {len(several)} that vary."
            raise DomainError(msg)
        for name in filter(None, (self.across, self.up)):
            if name not in several:
                msg = f"A map draws the holes that vary, {' and '.join(several)}; got {name!r}."
                raise DomainError(msg)

    @property
    def asked(self) -> Grid:
        """The grid."""
        return Grid.of(self.expression, self.measure, self.grid_values, **self.arguments)

    @property
    def axes_drawn(self) -> tuple[str, str]:
        """The holes across and up."""
        several = [name for name, values in self.asked.axes if len(values) > 1]
        across = self.across or next(name for name in several if name != self.up)
        return across, next(name for name in several if name != across)

    @property
    def title(self) -> str:
        """What is measured, with its fixed arguments."""
        measure = MEASURES[self.measure]
        fixed = [
            f"{parameter.label or name} = {numeral(self.arguments[name])}"
            for name, parameter in measure.arguments.items()
            if parameter is not None and not isinstance(self.arguments.get(name, ""), str)
        ]
        return " at ".join(filter(None, (measure.title, ", ".join(fixed))))

    def recipe(self) -> Any:
        """Return the map."""
        rows = call("dpcore.sweeps:sweep", self.expression, self.measure, self.grid_values, cores=1, **self.arguments)
        return draws("dpcore.charts.map:map_figure", rows, *self.axes_drawn, measure=self.title)
