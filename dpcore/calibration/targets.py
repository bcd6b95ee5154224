"""Targets of calibration: (epsilon, delta), an advantage, or a true-positive rate at a false-positive rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpcore.core.domains import ADVANTAGE, DELTA, FPR, LOSS, TPR
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.curves.combined import Either
from dpcore.regions import gate

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

_ROUGH = 0.05  # tolerance for the parts of a union that are expected to be far below the largest


class Target(Protocol):
    """A bound on one number of the region: what the region reaches, and how far that is from the bound."""

    @property
    def words(self) -> str:
        """The bound, as in "delta <= 1e-5 at epsilon = 2"."""

    @property
    def trivial(self) -> bool:
        """Whether every region meets it."""

    def reached(self, region: TradeOff) -> tuple[float, float]:
        """Return the bracket (lower, upper) of the number."""

    def gap(self, reached: float) -> float:
        """Return log(reached / bound): at most 0 if the target is met."""

    def statement(self, region: TradeOff, reached: float) -> tuple[float, float]:
        """Return an (epsilon, delta) that the region certainly satisfies, at the epsilon of the target if it has one."""


def _log_ratio(value: float, limit: float) -> float:
    if value <= 0:
        return -math.inf
    return math.inf if limit <= 0 else math.log(value / limit) if math.isfinite(value) else math.inf


@dataclass
class ProfileTarget:
    """delta(epsilon) <= delta, with delta > 0; epsilon 0 is the advantage.

    A union (the two directions of a pair, say) is evaluated part by part: `lead` remembers which part was the largest,
    and once that part is above the target the others are not evaluated.
    """

    epsilon: float
    delta: float
    name: str = "delta"
    lead: int = 0

    @property
    def words(self) -> str:
        """The inequality in words."""
        at = f" at epsilon = {numeral(self.epsilon)}" if self.name == "delta" else ""
        return f"{self.name} <= {numeral(self.delta)}{at}"

    @property
    def trivial(self) -> bool:
        """Delta 1 is always met."""
        return self.delta >= 1.0

    def reached(self, region: TradeOff) -> tuple[float, float]:
        """Return the bracket of delta(epsilon)."""
        curve = region.curve
        at = np.array([self.epsilon])
        if not isinstance(curve, Either) or curve.exact:
            return _pair(curve.delta_bounds(at))
        self.lead = min(self.lead, len(curve.parts) - 1)
        low, high = _pair(curve.parts[self.lead].delta_bounds(at))
        if high > self.delta:
            return low, high
        for index, part in enumerate(curve.parts):
            if index == self.lead or float(part.ceiling(at)[0]) <= low:
                continue
            with effort(tolerance=_ROUGH):
                other = _pair(part.delta_bounds(at))
            if other[1] > low:
                other = _pair(part.delta_bounds(at))
            if other[1] > high:
                self.lead = index
            low, high = max(low, other[0]), max(high, other[1])
        return low, high

    def gap(self, reached: float) -> float:
        """Return the logarithm of the ratio; exactly 0 counts as met."""
        gap = _log_ratio(reached, self.delta)
        return gap if (gap <= 0) == (reached <= self.delta) else math.copysign(5e-324, reached - self.delta)

    def statement(self, region: TradeOff, reached: float) -> tuple[float, float]:  # noqa: ARG002  same for every target
        """Return the delta reached at epsilon."""
        return self.epsilon, reached


@dataclass
class Pure:
    """delta(epsilon) = 0: nothing escapes to infinity and no loss is above epsilon."""

    epsilon: float

    @property
    def words(self) -> str:
        """The equation in words."""
        return f"delta = 0 at epsilon = {numeral(self.epsilon)}"

    trivial = False

    def reached(self, region: TradeOff) -> tuple[float, float]:
        """Return the largest loss, infinite if some of it has no bound."""
        curve = region.curve
        if curve.q_inf > 0 or float(curve.delta_bounds(np.array([max(curve.max_loss, 0.0)]))[1][0]) > 0:
            return math.inf, math.inf
        return max(curve.max_loss, 0.0), max(curve.max_loss, 0.0)

    def gap(self, reached: float) -> float:
        """Return the logarithm of the ratio of the losses."""
        gap = _log_ratio(reached, self.epsilon)
        return gap if (gap <= 0) == (reached <= self.epsilon) else math.copysign(5e-324, reached - self.epsilon)

    def statement(self, region: TradeOff, reached: float) -> tuple[float, float]:  # noqa: ARG002  same for every target
        """Return (epsilon, 0)."""
        return self.epsilon, 0.0


@dataclass
class AttackTarget:
    """The true-positive rate at a false-positive rate is at most `tpr`."""

    fpr: float
    tpr: float

    @property
    def words(self) -> str:
        """The inequality in words."""
        return f"TPR <= {numeral(self.tpr)} at FPR {numeral(self.fpr)}"

    @property
    def trivial(self) -> bool:
        """TPR 1 is always met."""
        return self.tpr >= 1.0

    def reached(self, region: TradeOff) -> tuple[float, float]:
        """Return the bracket of the attacker's power."""
        return _pair(gate.power_bounds(region, np.array([self.fpr])))

    def gap(self, reached: float) -> float:
        """Compare what the attacker gains over blind guessing, which starts at the false-positive rate."""
        gap = _log_ratio(reached - self.fpr, self.tpr - self.fpr)
        return gap if (gap <= 0) == (reached <= self.tpr) else math.copysign(5e-324, reached - self.tpr)

    def statement(self, region: TradeOff, reached: float) -> tuple[float, float]:  # noqa: ARG002  same for every target
        """Return (0, advantage)."""
        return 0.0, region.total_variation


def _pair(bounds: tuple[Any, Any]) -> tuple[float, float]:
    return float(bounds[0][0]), float(bounds[1][0])


@dataclass(frozen=True)
class TargetNumbers:
    """The numbers of a target; None for those left out."""

    epsilon: float | None
    delta: float | None
    advantage: float | None
    tpr: float | None
    fpr: float | None

    @classmethod
    def read(cls, **values: Any) -> TargetNumbers:
        """Check the numbers, and that they belong to one kind of target."""
        parameters = (LOSS, DELTA, ADVANTAGE, TPR, FPR)
        numbers = cls(*(None if values[p.name] is None else p.check(values[p.name]) for p in parameters))
        names = [", ".join(names) for names in numbers.groups if any(getattr(numbers, n) is not None for n in names)]
        if len(names) > 1:
            msg = "One target is needed, got several: give epsilon and delta, or advantage, or tpr and fpr."
            raise DomainError(msg)
        return numbers

    groups = (("epsilon", "delta"), ("advantage",), ("tpr", "fpr"))

    def target(self) -> Target:
        """Return the complete target."""
        if self.advantage is not None:
            if self.advantage == 0:
                msg = "advantage must be above 0 to be calibrated, got 0: only perfect privacy has none."
                raise DomainError(msg)
            return ProfileTarget(0.0, self.advantage, "advantage")
        if self.tpr is not None and self.fpr is not None:
            if self.tpr <= self.fpr:
                msg = f"tpr must be above fpr = {numeral(self.fpr)}, which blind guessing reaches, got {numeral(self.tpr)}."
                raise DomainError(msg)
            return AttackTarget(self.fpr, self.tpr)
        if self.epsilon is not None and self.delta is not None:
            if self.delta > 0:
                return ProfileTarget(self.epsilon, self.delta)
            if self.epsilon == 0:
                msg = "epsilon and delta cannot both be 0: only perfect privacy has (0, 0)."
                raise DomainError(msg)
            return Pure(self.epsilon)
        raise DomainError(_incomplete(self))


def _incomplete(numbers: TargetNumbers) -> str:
    pairs = (("epsilon", "delta"), ("delta", "epsilon"), ("tpr", "fpr"), ("fpr", "tpr"))
    for have, lack in pairs:
        if getattr(numbers, have) is not None:
            return f"{have} was given without {lack}: give both, or leave out the ? to get {lack} itself."
    return "A target is needed: give epsilon and delta, or advantage, or tpr and fpr."
