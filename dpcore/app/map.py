"""The page Map: its question, as the spec of the figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpcore.app import inputs, work
from dpcore.charts.map import MOST_CELLS
from dpcore.core.domains import ALPHA, LOSS, SHARE
from dpcore.core.errors import DomainError
from dpcore.language.numbers import read_value
from dpcore.language.problems import quoted
from dpcore.regions.cost import operations
from dpcore.sweeps import MEASURES, Grid
from dpcore.sweeps.grid import filled, holes_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.core.parameter import Parameter

WORDS = {"ε": "epsilon", "δ": "delta", "false negatives": "beta", "advantage": "advantage", "μ": "mu"}
"""What the page can measure, in its own words."""
ARGUMENTS: dict[str, tuple[str, Parameter, list[str]]] = {
    "delta": ("At δ", SHARE, inputs.round_values(-12, -1)),
    "epsilon": ("At ε", LOSS, inputs.even_values(0.0, 10.0, 100)),
    "alpha": ("At false positives α", ALPHA, inputs.even_values(0.0, 1.0, 100)),
}
DEFAULTS: dict[str, Any] = {
    "map_expression": "poisson_gaussian({sigma}, 0.01)^{steps}",
    "map_measure": "ε",
    "map_delta": "1e-6",
    "map_epsilon": "1",
    "map_alpha": "0.05",
    "map_first": "0.8:4:0.2",
    "map_second": "100,200,500,1000,2000,5000,10000,20000,50000,100000",
    "map_third": "",
}
FIELDS = ("map_first", "map_second", "map_third")
SLIDERS = tuple(f"map_{name}_slider" for name in ARGUMENTS)
LIVE_CELLS = 400
"""Cells of a map that is redrawn while a slider is held; a larger one waits until it is released."""
HEIGHT = 420


@dataclass(frozen=True)
class MapQuery:
    """An expression with holes, a measure with its argument, and the values of the holes as typed."""

    expression: str
    measure: str
    arguments: tuple[tuple[str, float], ...]
    values: tuple[tuple[str, str], ...]

    def moved(self, held: Mapping[str, str]) -> MapQuery:
        """Return the query with the value of a slider that is held in place of that of its field."""
        for slider, text in held.items():
            name = slider.removeprefix("map_").removesuffix("_slider")
            label, parameter, _ = ARGUMENTS[name]
            return replace(self, arguments=((name, float(read_value(parameter, text, label))),))
        return self

    @property
    def grid(self) -> Grid:
        """All cells."""
        grid = Grid.of(self.expression, self.measure, dict(self.values), **dict(self.arguments))
        if grid.size > MOST_CELLS:
            msg = f"A map has at most {MOST_CELLS} cells, got {grid.size}; dpcore sweep computes larger tables."
            raise DomainError(msg)
        return grid

    @property
    def is_live(self) -> bool:
        """Whether the map is small enough to follow a slider."""
        return self.grid.size <= LIVE_CELLS

    def declare(self) -> None:
        """Tell the page how much work the map will be: every cell counts as its most expensive corner."""
        grid = self.grid
        ends = [tuple(len(values) - 1 if last else 0 for _, values in grid.axes) for last in (False, True)]
        regions = [work.region(filled(grid.expression, grid.values(places)))[0] for places in ends]
        work.expect(grid.size / grid.shared * max(operations(region) for region in regions))

    def spec(self) -> dict[str, Any]:
        """Return the spec of the map."""
        shared = {"expression": self.expression, "measure": self.measure, "grid_values": dict(self.values)}
        return {"draw": "sweep", **shared, "arguments": dict(self.arguments)}


def argument_of(measure: str) -> str | None:
    """Return the argument of a measure on this page, if it has one."""
    return next((name for name in MEASURES[measure].arguments if name in MEASURES[measure].needed), None)


def holes_of(expression: str) -> tuple[str, ...]:
    """Return the holes of an expression; raise if there are not two or three."""
    holes = tuple(dict.fromkeys(holes_in(expression)))
    if not 2 <= len(holes) <= len(FIELDS):
        msg = f"The expression needs two or three holes such as {{sigma}}, got {len(holes)} in {quoted(expression)}."
        raise DomainError(msg)
    return holes
