"""k mechanisms by each theorem: as regions, as a table, and as k grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.charts.ratios import WAYS
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Variable, call, draws
from dpcore.theorems.composition import TITLES

NAMES = tuple(TITLES)


@dataclass(frozen=True, kw_only=True)
class CopiesDrawer(Drawer):
    """k mechanisms, by all theorems or by a selection."""

    mechanism: str = fields.expression()
    k: int = fields.integer(low=1)
    theorems: tuple[str, ...] = fields.choices(lambda: NAMES)
    slack: float | None = fields.number(None, low=0.0, high=1.0, low_open=True)
    delta: float | None = fields.rate()

    @property
    def ways(self) -> Variable:
        """What each theorem says."""
        ways = call(
            "dpcore.theorems.composition:theorem_regions", self.mechanism, self.k, slack=self.slack, delta=self.delta
        )
        some = call("dpcore.specs.helpers:only", ways, list(self.theorems)) if self.theorems else ways
        return Variable("results", some)

    def target(self) -> tuple[str, float]:
        """Return the delta of the total."""
        return "delta", 1e-6 if self.delta is None else self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class CompositionDrawer(CopiesDrawer):
    """The region of k mechanisms by each theorem."""

    kind: ClassVar[str] = "composition"
    meaning: ClassVar[str] = "what each composition theorem says about k mechanisms, as regions"

    axes: str = fields.axes()
    log: bool = fields.flag()
    fill: bool = fields.flag(default=True)

    def recipe(self) -> Any:
        """Return the composition figure."""
        return draws("dpcore.charts:composition_figure", self.ways, **self.options("axes", "log", filled="fill"))

    def table(self) -> Any:
        """Return the border by each theorem, as it is drawn."""
        return call("dpcore.charts.compositions:composition_border", self.ways)

    def grid(self) -> Any:
        """Return the false negatives by all theorems at the same false positives."""
        return call("dpcore.charts.grids:theorem_betas", self.ways, **self.options("log"))


@enter
@dataclass(frozen=True, kw_only=True)
class TheoremsDrawer(CopiesDrawer):
    """A table of statements under the profiles of the theorems."""

    kind: ClassVar[str] = "theorems"
    meaning: ClassVar[str] = "the (ε, δ) statements of each theorem about k mechanisms, under their profiles"

    epsilon_max: float | None = fields.above_zero()

    def recipe(self) -> Any:
        """Return the profiles with the table of statements."""
        ways = self.ways
        figure = draws("dpcore.charts:composition_profile", ways, delta=self.delta, epsilon_max=self.epsilon_max)
        rows = call("dpcore.theorems.composition:statements", ways, silent=False)
        return call("dataclasses:replace", figure, table=rows)

    def grid(self) -> Any:
        """Return the deltas by all theorems at the same epsilons."""
        return call("dpcore.charts.grids:theorem_deltas", self.ways, epsilon_max=self.epsilon_max)


@enter
@dataclass(frozen=True, kw_only=True)
class TheoremRatioDrawer(CopiesDrawer):
    """Deltas of each theorem, divided by those of one of them."""

    kind: ClassVar[str] = "theorem_ratio"
    meaning: ClassVar[str] = (
        "what each theorem says about k mechanisms, divided by the exact composition (or the difference)"
    )

    of: str = fields.choice("delta", "epsilon", "beta")
    by: str = fields.choice(*WAYS)
    over: str | None = fields.choice(*NAMES, default="")

    def recipe(self) -> Any:
        """Return the figure of the ratios."""
        options = self.options("of", "by", "over")
        return draws("dpcore.charts.ratio_figures:theorem_ratio_figure", self.ways, **options)


@enter
@dataclass(frozen=True, kw_only=True)
class LadderDrawer(Drawer):
    """Epsilon by each theorem as k grows."""

    kind: ClassVar[str] = "ladder"
    meaning: ClassVar[str] = "ε by each theorem as the number of mechanisms grows"

    mechanism: str = fields.expression()
    delta: float = fields.rate(1e-6)
    k: tuple[float, ...] | None = fields.numbers(None)
    theorems: tuple[str, ...] = fields.choices(lambda: NAMES)
    mark: int | None = fields.integer(None, low=1)

    def recipe(self) -> Any:
        """Return the ladder figure."""
        titles = [TITLES[name] for name in self.theorems] or None
        return draws("dpcore.charts:ladder_figure", self.rows, delta=self.delta, k=self.mark, titles=titles)

    def target(self) -> tuple[str, float]:
        """Return the delta."""
        return "delta", self.delta

    def table(self) -> Any:
        """Return the epsilon of every theorem, those included that are not drawn."""
        return self.rows

    @property
    def rows(self) -> Variable:
        """The epsilon of every theorem at every k."""
        counts = None if self.k is None else [int(k) if k == int(k) else k for k in self.k]
        return Variable("frame", call("dpcore.theorems.composition:ladder", self.mechanism, self.delta, ks=counts))


@enter
@dataclass(frozen=True, kw_only=True)
class LadderRatioDrawer(LadderDrawer):
    """Epsilon by each theorem, divided by the best one, as k grows."""

    kind: ClassVar[str] = "ladder_ratio"
    meaning: ClassVar[str] = (
        "ε by each theorem divided by the exact one (or the difference), as the number of mechanisms grows"
    )

    over: str | None = fields.choice(*NAMES, default="")
    by: str = fields.choice(*WAYS)

    def recipe(self) -> Any:
        """Return the figure of the ratios."""
        wanted = [*self.theorems, *([self.over] if self.over else [])]
        frame = call("dpcore.specs.helpers:only_rows", self.rows, wanted) if self.theorems else self.rows
        options = self.options("by", "over")
        return draws("dpcore.charts.ratio_figures:ladder_ratio_figure", frame, delta=self.delta, **options)

    def table(self) -> Any:
        """Return None: the table is the figure's own."""
        return None
