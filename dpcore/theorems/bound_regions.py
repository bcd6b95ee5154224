"""Closed-form composition theorems as regions: bounds of a product of (epsilon, delta) statements.

Their numbers are the theorem's; the other side of each is what the product itself does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import REGION, Oracle, Parameter, register
from dpcore.curves.bound import Outer, floors
from dpcore.regions.algebra import OfPart, factors
from dpcore.regions.guarantees import DP, TV, three_point
from dpcore.regions.tradeoff import TradeOff, shorten

if TYPE_CHECKING:
    from dpcore.curves.base import Curve
    from dpcore.theorems.domain import Statement

SLACK = Parameter(
    "slack",
    low=0.0,
    high=1.0,
    low_open=True,
    label="slack",
    meaning="extra delta the theorem may spend, in (0, 1]",
    example=1e-6,
)


class CompositionBound(OfPart):
    """One (epsilon, delta) statement that a theorem derives from a product of dp or tv atoms."""

    @property
    def fails(self) -> bool:
        """Whether the statement has a delta."""
        return self.statement[1] > 0.0

    def __post_init__(self) -> None:
        """Check that the part is a product of dp or tv atoms and that the theorem applies to it."""
        super().__post_init__()
        self.statement  # noqa: B018  raises for other atoms

    @Lazy
    def statement(self) -> tuple[float, float]:
        """Return the theorem's epsilon and delta."""
        from dpcore.theorems import theorem  # noqa: PLC0415  # makes tables: pandas is slow to import

        name, slack = self._theorem()
        row = theorem(name).statement_rows(self._parts(), slack)
        return float(row["epsilon"].iloc[0]), float(row["delta"].iloc[0])

    def _theorem(self) -> tuple[str, float]:
        """Return the name of the theorem and the slack it may spend."""
        raise NotImplementedError

    def _parts(self) -> list[Statement]:
        parts = []
        for node, count in factors(self.region):
            if isinstance(node, DP):
                parts.append((node.epsilon_, node.delta_, count))
            elif isinstance(node, TV):
                parts.append((0.0, node.eta, count))
            else:
                msg = f"{self.entry.name} takes a product of dp atoms, got {shorten(node.text)}."
                raise DomainError(msg)
        return parts

    def _pair(self) -> Curve:
        return Outer(three_point(*self.statement, 0.0), self._attained(), self.entry.title)

    def _attained(self) -> tuple[Curve, ...]:
        """Return the product itself, or nothing if it is too large to compose."""
        try:
            return floors(self.region.curve)
        except BudgetError:
            checkpoint(0.0)  # raises again if the time ran out
            return ()


@register(
    "basic",
    title="basic composition",
    group="operation",
    symbol=r"\sum",
    formula=r"\left(\sum_i\varepsilon_i,\ \sum_i\delta_i\right)",
    meaning="The plain sum of the statements of a product of dp atoms: safe, larger than the exact region.",
    reference="Dwork, Kenthapadi, McSherry, Mironov, Naor 2006",
    kind="upper",
    oracles=(Oracle(("dp(0.6, 0.1)^2",), "delta", 1.2, 0.2, 1e-15, "2 δ at 2 ε"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Basic(CompositionBound):
    """The basic composition theorem applied to a product of dp atoms."""

    region: TradeOff = REGION.field()

    def _theorem(self) -> tuple[str, float]:
        return "basic", 1.0


@register(
    "simplified",
    title="simplified optimal composition",
    group="operation",
    symbol=r"\tilde\varepsilon",
    formula=r"\tilde\varepsilon=\min\Bigl\{\sum\varepsilon_i,\ A+\sqrt{2B\log\tfrac1{\tilde\delta}},\ "
    r"A+\sqrt{2B\log\bigl(e+\tfrac{\sqrt B}{\tilde\delta}\bigr)}\Bigr\},\quad "
    r"\delta=1-(1-\tilde\delta)\prod_i(1-\delta_i)",
    meaning="One (ε, δ) for a product of dp atoms, in closed form: A = Σ ε tanh(ε/2) is the mean of the loss, B = Σ ε² "
    "bounds its spread, and the slack is an extra delta.",
    reference="Kairouz, Oh, Viswanath 2015, Theorems 3.4 and 3.5",
    assumptions="A product of dp or tv atoms; the slack is in (0, 1].",
    kind="upper",
    oracles=(
        Oracle(("dp(0.05)^20", 1e-6), "delta", 1.0, 1e-6, 1e-15, "with δ = 0 the slack is all that fails, at ε̃ = 1"),
        Oracle(("dp(0.6, 0.1)^2", 0.03), "delta", 1.2, 0.2143, 1e-15, "1 - 0.97 · 0.9² at the sum of ε"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Simplified(CompositionBound):
    """The simplified optimal composition theorem applied to a product of dp atoms."""

    region: TradeOff = REGION.field()
    slack: float = SLACK.field()

    def _theorem(self) -> tuple[str, float]:
        return "kov_simplified", self.slack
