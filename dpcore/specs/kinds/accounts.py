"""Many releases and many statements: the file of a ledger, several constraints, and the labs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.constraints import Constraints
from dpcore.constraints.containing import MOST_FACTORS
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Method, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class LedgerDrawer(Drawer):
    """A file of releases."""

    kind: ClassVar[str] = "ledger"
    meaning: ClassVar[str] = (
        "all releases of a CSV or JSON file: the budget by each theorem, or the cost of each release"
    )
    uses_files: ClassVar[bool] = True

    file: str = fields.text(words="a CSV or JSON file with label, expression, count")
    epsilon: float = fields.above_zero(1.0)
    delta: float = fields.rate(1e-6)
    relation: str | None = fields.choice("substitution", "add/remove", default="")
    view: str = fields.choice("budget", "costs")
    folder: Path = field(default_factory=Path)

    def recipe(self) -> Any:
        """Return the budget or the costs."""
        reading = call("dpcore.specs.helpers:ledger_of", File(self.file, self.folder), **self.options("relation"))
        ledger = Variable("ledger", reading)
        if self.view == "costs":
            return draws("dpcore.charts.ledger:cost_figure", call("dpcore.ledger:costs", ledger, self.delta))
        budget = call("dpcore.ledger:Budget", self.epsilon, self.delta)
        rows = call("dpcore.ledger:theorems", ledger, self.delta)
        return draws("dpcore.charts.ledger:budget_figure", rows, call("dpcore.ledger:spending", ledger, budget))


@enter
@dataclass(frozen=True, kw_only=True)
class ConstraintsDrawer(Drawer):
    """Several (epsilon, delta) statements about one mechanism."""

    kind: ClassVar[str] = "constraints"
    meaning: ClassVar[str] = "what several (ε, δ) statements say together, of one mechanism and of k"

    statements: str = fields.read_by(Constraints.read, 'pairs such as "0.6, 0.05; 0, 0.2"')
    k: int = fields.integer(1, low=1, high=10**6)
    view: str = fields.choice("regions", "pair")
    axes: str = fields.axes()

    def recipe(self) -> Any:
        """Return the regions, or the pair of distributions behind them."""
        constraints = call("dpcore.constraints:Constraints.read", self.statements)
        if self.view == "pair":
            region = Method(constraints, "region") if self.k == 1 else Method(constraints, "composed", (self.k,))
            return draws("dpcore.charts.constraints:pair_figure", region)
        return draws("dpcore.charts.constraints:constraints_figure", constraints, self.k, **self.options("axes"))


@enter
@dataclass(frozen=True, kw_only=True)
class PeelingDrawer(Drawer):
    """The steps that split a region into single constraints."""

    kind: ClassVar[str] = "peeling"
    meaning: ClassVar[str] = (
        "whether a region is a product of single constraints: its levels after some steps of the peeling"
    )

    region: str = fields.expression()
    step: int | None = fields.integer(None)

    def recipe(self) -> Any:
        """Return the levels after the steps."""
        answer = call("dpcore.constraints:split", call("dpcore.language:parse", self.region))
        return draws("dpcore.charts.peeling:peeling_figure", answer, step=self.step)


@enter
@dataclass(frozen=True, kw_only=True)
class ContainingDrawer(Drawer):
    """A region inside a product of single constraints."""

    kind: ClassVar[str] = "containing"
    meaning: ClassVar[str] = "a region inside the smallest product of a few single constraints that a search finds"

    region: str = fields.expression()
    factors: int = fields.integer(2, low=1, high=MOST_FACTORS)
    axes: str = fields.axes()

    def recipe(self) -> Any:
        """Return both regions."""
        region = Variable("region", call("dpcore.language:parse", self.region))
        product = Method(call("dpcore.constraints:containing", region, self.factors), "region")
        regions = {"region": region, "containing product": product}
        return draws("dpcore.charts:region_figure", regions, **self.options("axes"))


@enter
@dataclass(frozen=True, kw_only=True)
class LabDrawer(Drawer):
    """A picture of a lab of the statistical foundations."""

    kind: ClassVar[str] = "lab"
    meaning: ClassVar[str] = "a picture of a lab of the statistical foundations, at parameters of your own"

    lab: str = fields.text(words="the name of a lab")
    parameters: dict[str, Any] = fields.mapping()
    view: str = fields.text(words="the name of one of its pictures")
    seed: int = fields.integer(0)

    def recipe(self) -> Any:
        """Return the picture as a figure."""
        lab = call("dpcore.labs:lab", self.lab, **self.parameters)
        seed = (self.seed,) if self.seed else ()
        return draws("dpcore.charts.lab:lab_figure", Method(lab, "view", (self.view, *seed)))
