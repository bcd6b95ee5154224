"""Windows of the thesis: a query with its error on sample data, the region beside it, and a window with nothing in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Method, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class BlankDrawer(Drawer):
    """The axes before a region is added."""

    kind: ClassVar[str] = "blank"
    meaning: ClassVar[str] = "the empty picture of privacy regions: its axes and the line of blind guessing"

    axes: str = fields.choice("fdp", "thesis")

    def recipe(self) -> Any:
        """Return the empty picture."""
        return draws("dpcore.charts.regions:blank_figure", **({"axes": self.axes} if self.axes != "fdp" else {}))


@enter
@dataclass(frozen=True, kw_only=True)
class WindowDrawer(Drawer):
    """A query with its mechanism on a sample that comes with the package: how far it is off, or its region."""

    kind: ClassVar[str] = "window"
    meaning: ClassVar[str] = "how far a query is off on sample data as a parameter moves, or its region beside"

    utility: str = fields.text(words="a name that dpcore utility --list lists")
    parameters: dict[str, Any] = fields.mapping()
    sample: str = fields.text(words="a sample dataset, such as ages.age")
    n: int | None = fields.integer(None, low=1)
    low: float | None = fields.number(None)
    high: float | None = fields.number(None)
    view: str = fields.choice("utility", "region")
    moves: str | None = fields.text(default=None)
    measure: str | None = fields.text(default=None)
    releases: int = fields.integer(200, high=10**6)
    seed: int = fields.integer(1)
    own: str = fields.text(default="exact region", words="what the region is called")
    beside: tuple[str, ...] = fields.expressions(default=(), words="regions to compare with")
    labels: tuple[str, ...] = fields.texts()
    axes: str = fields.choice("fdp", "thesis")

    def __post_init__(self) -> None:
        """Check that every region compared with has a name."""
        if len(self.beside) != len(self.labels):
            msg = f"labels has {len(self.labels)} names for {len(self.beside)} regions beside."
            raise DomainError(msg)

    def recipe(self) -> Any:
        """Return the error as a parameter moves, or the regions."""
        chosen = Variable("query", call("dpcore.utility:pair", self.utility, **self.parameters))
        if self.view == "region":
            parsed = (call("dpcore.language:parse", text) for text in self.beside)
            regions = {self.own: Method(chosen, "region"), **dict(zip(self.labels, parsed, strict=True))}
            options = {"axes": self.axes} if self.axes != "fdp" else {}
            return draws("dpcore.charts:region_figure", regions, **options)
        cut = {"n": self.n, "low": self.low, "high": self.high}
        given = {name: value for name, value in cut.items() if value is not None}
        data = call("dpcore.utility.samples:sample", self.sample, **given)
        return draws(
            "dpcore.charts.pairs:pair_figure",
            chosen,
            data,
            parameter=self.moves,
            measure=self.measure,
            releases=self.releases,
            seed=self.seed,
        )
