"""Many releases and many statements: the file of a ledger, several constraints, and the labs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.constraints import Constraints
from dpcore.constraints.containing import MOST_FACTORS
from dpcore.core.errors import DomainError
from dpcore.ledger.records import MOST_ROWS
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Method, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class LedgerDrawer(Drawer):
    """A file of releases."""

    kind: ClassVar[str] = "ledger"
    meaning: ClassVar[str] = (
        "all releases of a table: the budget by each theorem, the cost of each release, the region of all, or what each "
        "privacy filter says about one more"
    )
    uses_files: ClassVar[bool] = True

    file: str = fields.text("", words="a CSV or JSON file with label, expression, count")
    rows: str = fields.text("", words="the same table as text, instead of a file")
    epsilon: float | None = fields.number(None, low=0.0)
    delta: float = fields.rate(1e-6)
    relation: str | None = fields.choice("substitution", "add/remove", default="")
    view: str = fields.choice("budget", "costs", "region", "filters")
    row: int = fields.integer(1, low=1, high=MOST_ROWS)
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that exactly one source is given for the releases."""
        if bool(self.file) == bool(self.rows):
            msg = "Give the releases either as a file or as rows."
            raise DomainError(msg)

    @property
    def ledger(self) -> Variable:
        """The releases."""
        source = File(self.file, self.folder) if self.file else self.rows
        return Variable("ledger", call("dpcore.ledger:open_ledger", source, **self.options("relation")))

    @property
    def budget(self) -> Variable:
        """What may be spent; the pictures that need a budget take 1 if none is given."""
        return Variable(
            "budget", call("dpcore.ledger:Budget", 1.0 if self.epsilon is None else self.epsilon, self.delta)
        )

    def target(self) -> tuple[str, float]:
        """Return the delta."""
        return "delta", self.delta

    def recipe(self) -> Any:
        """Return the picture of the view."""
        return getattr(self, f"_{self.view}")()

    def table(self) -> Any:
        """Return delta of the whole ledger at round epsilons, the budget's among them if there is one."""
        if self.view != "region":
            return None
        top = 1.5 * (self.epsilon or 1.0)
        own = set() if self.epsilon is None else {self.epsilon}
        round_ = {float(f"{step * top / 12:.6g}") for step in range(13)} | own
        return call("dpcore.frames:deltas", Method(self.ledger, "named_region"), sorted(round_))

    def _budget(self) -> Any:
        rows = call("dpcore.ledger:theorems", self.ledger, self.delta)
        whole = call("dpcore.ledger:total", self.ledger, self.delta)  # the same for every budget at this delta
        spending = call("dpcore.ledger:spending", self.ledger, self.budget, whole)
        return draws("dpcore.charts.ledger:budget_figure", rows, spending)

    def _costs(self) -> Any:
        return draws(
            "dpcore.charts.ledger:cost_figure", call("dpcore.ledger:costs", self.ledger, self.delta, whole_groups=True)
        )

    def _region(self) -> Any:
        regions: dict[str, Any] = {"ledger": Method(self.ledger, "named_region")}
        if self.epsilon is not None:  # a budget that nobody stated must not be on a label
            regions["budget"] = call("dpcore:dp", self.epsilon, self.delta)
        return draws("dpcore.charts:region_figure", regions)

    def _filters(self) -> Any:
        row = self.row - 1
        answers = Variable("answers", call("dpcore.ledger:may_release", self.ledger, row, self.budget))
        words = call("dpcore.ledger:may_words", self.ledger, row, answers)
        return draws("dpcore.charts.ledger:filter_figure", answers, words)


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
        "whether a region is a product of single constraints: what is left after one constraint after the other is taken off"
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
