"""Exponential mechanism: a random choice by scores; the worst case over all scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import EPSILON, Oracle, register
from dpcore.curves.bounded_range import AdaptiveRange, BoundedRange
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.algebra import Loose, SelfComposing
from dpcore.regions.guarantees import NO_PRIVACY, three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_BELOW = 1.0 - 4e-16  # rounding must not lift the attained pair above the worst case


@register(
    "exponential",
    title="exponential mechanism, worst case",
    group="mechanism",
    symbol=r"\mathrm{BR}_\varepsilon",
    formula=r"f(\alpha)=\frac{1-\alpha}{1+(e^{\varepsilon}-1)\alpha}",
    meaning="Any choice with probability proportional to exp(ε score / 2Δ), whatever the scores.",
    assumptions="Scores move by at most Δ; the loss of one choice has range at most ε.",
    reference="McSherry, Talwar 2007; bounded range: Dong, Durfee, Rogers 2020",
    oracles=(
        Oracle((1.0,), "delta", 0.0, math.tanh(0.25), 1e-14, "tanh(ε/4)"),
        Oracle((1.0,), "delta", 0.3, 0.137962803, 1e-9, "theory"),
        Oracle((2.0,), "delta", 0.3, 0.379168542, 1e-9, "theory"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Mechanism, SelfComposing, Loose):
    """The union over all exponential mechanisms with parameter epsilon."""

    epsilon_: float = EPSILON.field()
    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    why_loose: ClassVar[str] = "the union of all exponential mechanisms composed"

    def _pair(self) -> Curve:
        if self.epsilon_ == 0:
            return three_point(0.0, 0.0, 1.0)
        return NO_PRIVACY if math.isinf(self.epsilon_) else BoundedRange(self.epsilon_)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_

    def attained(self) -> Curve | None:
        """Return a choice between two whose scores move against each other: randomized response with half of epsilon."""
        return self.pair if math.isinf(self.epsilon_) else three_point(self.epsilon_ / 2.0 * _BELOW, 0.0, 0.0)

    def power_curve(self, k: int) -> Curve | None:
        """Return the adaptive worst case of k choices (None beyond what the recursion can do)."""
        if self.epsilon_ == 0 or not AdaptiveRange.fits(self.epsilon_, k):
            return None
        return AdaptiveRange(self.epsilon_, k)
