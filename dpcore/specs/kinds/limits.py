"""Many mechanisms beside their Gaussian limit: the band, the distance, where the limit is unsafe, and arrays that converge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.central_limit.arrays import LARGEST_N, NS
from dpcore.central_limit.convergence import LARGEST_K
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import call, draws


@dataclass(frozen=True, kw_only=True)
class CopiesOfOneDrawer(Drawer):
    """k copies of a mechanism beside their limit."""

    mechanism: str = fields.expression()
    k: int = fields.integer(low=1, high=LARGEST_K)

    @property
    def row(self) -> Any:
        """The copies."""
        return call("dpcore.central_limit.convergence:copies", self.mechanism, self.k)


@enter
@dataclass(frozen=True, kw_only=True)
class LimitDrawer(CopiesOfOneDrawer):
    """k copies beside their Gaussian limit."""

    kind: ClassVar[str] = "limit"
    meaning: ClassVar[str] = "k copies of a mechanism beside their Gaussian limit and its proved band"

    axes: str = fields.axes()
    log: bool = fields.flag()

    def recipe(self) -> Any:
        """Return the figure of the central limit."""
        return draws("dpcore.charts.central_limit:limit_figure", self.row, **self.options("axes", "log"))


@enter
@dataclass(frozen=True, kw_only=True)
class SafetyDrawer(CopiesOfOneDrawer):
    """The epsilon of the limit beside the true one."""

    kind: ClassVar[str] = "limit_safety"
    meaning: ClassVar[str] = "the ε of the Gaussian limit beside the true one at each δ, and where it is too small"

    delta: float | None = fields.rate()

    def recipe(self) -> Any:
        """Return the figure of both epsilons."""
        rows = call("dpcore.central_limit.convergence:safety", self.row)
        return draws("dpcore.charts.central_limit:safety_figure", rows, delta=self.delta)


@enter
@dataclass(frozen=True, kw_only=True)
class DistanceDrawer(Drawer):
    """The distance to the limit as k grows."""

    kind: ClassVar[str] = "limit_distance"
    meaning: ClassVar[str] = "how far k copies of a mechanism are from their Gaussian limit, as k grows"

    mechanism: str = fields.expression()
    delta: float = fields.number(1e-6, low=0.0, high=1.0, low_open=True)
    mark: int | None = fields.integer(None, low=1)

    def recipe(self) -> Any:
        """Return the figure of the distances."""
        rows = call("dpcore.central_limit.convergence:convergence", self.mechanism, self.delta)
        return draws("dpcore.charts.central_limit:convergence_figure", rows, k=self.mark)


@enter
@dataclass(frozen=True, kw_only=True)
class ArraysDrawer(Drawer):
    """Arrays of weaker and weaker mechanisms."""

    kind: ClassVar[str] = "arrays"
    meaning: ClassVar[str] = (
        "three arrays of ever weaker mechanisms and their Gaussian limits: distances, or row n as regions"
    )

    mu: float = fields.number(1.0, low=0.0, high=20.0, low_open=True)
    failing: float = fields.number(0.1, low=0.0, high=20.0)
    c: float = fields.number(0.25, low=0.0, high=0.5, low_open=True)
    n: int = fields.integer(10, low=1, high=LARGEST_N)
    view: str = fields.choice("distances", "regions")
    axes: str = fields.axes()

    def recipe(self) -> Any:
        """Return the figure of the distances, or of row n."""
        arrays = call("dpcore.central_limit.arrays:arrays", self.mu, self.failing, self.c)
        if self.view == "regions":
            return draws("dpcore.charts.central_limit:array_region_figure", arrays, self.n, **self.options("axes"))
        rows = call("dpcore.central_limit.arrays:array_distances", arrays, list(NS[::2]))
        return draws("dpcore.charts.central_limit:array_figure", rows, n=self.n)
