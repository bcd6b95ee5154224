r"""Permute-and-flip, which is report noisy max with exponential noise: the worst case over all scores, exactly.

Candidates are visited in random order, and one with score q is chosen with probability e^{eps (q - best) / (2 Δ)}: the law of
the largest score after noise of rate r = eps / (2 Δ) from the exponential law has been added to each.

Split the candidates into A and the rest B. The largest noisy score of a group has a hazard of at most r: at x it is r times the
chance that exactly one candidate exceeds x, over the chance that some does. Let a neighbour raise the scores of A and lower
those of B by Δ, and follow the chance p that A wins along the way, x from 0 to 2 Δ. Given the best of B, p grows at most by
r p dx; given the best of A, 1 - p shrinks at most by r (1 - p) dx. So dp/dx <= r min(p, 1 - p), and for Laplace noise of
rate r both sides are equal: no event gains more than one Laplace answer with parameter eps allows. With two candidates the
difference of the noises is Laplace noise, and the whole curve is attained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import EPSILON, Oracle, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.laplace import laplace_curve
from dpcore.regions.algebra import Loose
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "permute_and_flip",
    title="permute-and-flip, worst case",
    group="mechanism",
    symbol=r"\mathrm{PF}_\varepsilon",
    formula=r"f=L_\varepsilon,\quad P(\text{accept }c)=e^{\varepsilon(q_c-q_{\max})/2\Delta}",
    meaning="The best of several candidates by noisy scores with exponential noise of scale 2Δ/ε, whatever the scores.",
    assumptions="Every score moves by at most Δ. If all scores move in the same direction, ε/2 is enough.",
    reference="McKenna, Sheldon 2020; as noisy max: Ding, Kifer, Saghaian N. E., Steinke, Wang, Xiao, Zhang 2021",
    oracles=(
        Oracle((1.0,), "delta", 0.0, -math.expm1(-0.5), 1e-14, "two candidates: 1 - e^(-ε/2)"),
        Oracle((1.0,), "delta", 0.5, -math.expm1(-0.25), 1e-14, "laplace(1)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class PermuteAndFlip(Mechanism, Loose):
    """The union over all score tables of permute-and-flip with parameter epsilon."""

    epsilon_: float = EPSILON.field()
    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    why_loose: ClassVar[str] = "no single table of scores is the worst for every test"

    def _pair(self) -> Curve:
        return laplace_curve(self.epsilon_)

    def attained(self) -> Curve | None:
        """Return two candidates whose scores change places: the other one wins with probability e^(-ε/2) / 2."""
        if math.isinf(self.epsilon_):
            return None
        return three_point(math.log(2.0 * math.exp(min(self.epsilon_, 1400.0) / 2.0) - 1.0), 0.0, 0.0)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_
