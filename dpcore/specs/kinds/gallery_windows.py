"""Windows of the thesis: the error of a query on sample data, the region beside it, and an empty window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.kinds.utility import ErrorDrawer
from dpcore.specs.recipes import Method, call, draws

DATA = ("sample", "n", "low", "high", "moves", "measure", "releases", "seed")  # keys that do not change the region


@enter
@dataclass(frozen=True, kw_only=True)
class BlankDrawer(Drawer):
    """The axes before a region is added."""

    kind: ClassVar[str] = "blank"
    meaning: ClassVar[str] = "the empty picture of privacy regions: its axes and the line of blind guessing"

    axes: str = fields.axes()
    log: bool = fields.flag()

    def recipe(self) -> Any:
        """Return the empty picture."""
        return draws("dpcore.charts.regions:blank_figure", **self.options("axes", "log"))


@enter
@dataclass(frozen=True, kw_only=True)
class WindowDrawer(ErrorDrawer):
    """A query with its mechanism on sample data of the package: its error, or its region."""

    kind: ClassVar[str] = "window"
    meaning: ClassVar[str] = "the error of a query on sample data as a parameter changes, or its region beside others"

    sample: str = fields.text(words="a sample dataset, such as ages.age")
    n: int | None = fields.integer(None, low=1)
    low: float | None = fields.number(None)
    high: float | None = fields.number(None)
    view: str = fields.choice("utility", "region")
    releases: int = fields.integer(1000, high=10**6)
    seed: int = fields.integer(1)
    own: str = fields.text(default="exact region", words="the name of the region")
    beside: tuple[str, ...] = fields.expressions(default=(), words="regions to compare with")
    labels: tuple[str, ...] = fields.texts()
    axes: str = fields.axes()

    def __post_init__(self) -> None:
        """Check that each region to compare with has a name."""
        if len(self.beside) != len(self.labels):
            msg = f"labels has {len(self.labels)} names for {len(self.beside)} regions beside."
            raise DomainError(msg)

    def recipe(self) -> Any:
        """Return the error as a parameter changes, or the regions."""
        if self.view == "region":
            parsed = (call("dpcore.language:parse", text) for text in self.beside)
            regions = {self.own: Method(self.query, "region"), **dict(zip(self.labels, parsed, strict=True))}
            return draws("dpcore.charts:region_figure", regions, **self.options("axes"))
        data = call("dpcore.utility.samples:sample", self.sample, **self.options("n", "low", "high"))
        return self.errors(data, self.releases, self.seed)

    def about(self) -> dict[str, Any]:
        """Return the parameters of this view only."""
        other = DATA if self.view == "region" else ("beside",)
        return {name: value for name, value in super().about().items() if name not in other}
