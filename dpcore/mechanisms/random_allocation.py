"""Gaussian noise in every step of an epoch; each record takes part in one step, chosen at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.registry import COUNT, SIGMA, Oracle, register
from dpcore.curves.allocation import Allocation
from dpcore.curves.bound import Outer
from dpcore.curves.combined import Either
from dpcore.curves.gaussian import GaussianCurve
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.shuffled_batches import largest_sum
from dpcore.regions.algebra import SelfComposing
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

FEWEST = 1e-9
"""The smallest move, 1/sigma, that is distinguished from no move."""
FARTHEST = 25.0
"""Largest move whose sums are integrated: the exponentials of larger ones leave the range of doubles."""


def allocation_curve(move: float, looked: int, steps: int) -> Curve:
    """Return the pair of one of `steps` steps moved, of which `looked` are looked at.

    Beyond the farthest move it is bounded by the step that is known: an average of ratios is smaller in convex order.
    """
    if steps == looked == 1:
        return GaussianCurve(move)
    if move > FARTHEST:
        return Outer(GaussianCurve(move), [], "a far move is bounded without amplification")
    return Allocation(move, looked, steps)


@register(
    "random_allocation",
    title="random allocation to steps",
    group="mechanism",
    symbol=r"A_{1/\sigma,T}",
    formula=r"N(0,\sigma^2I_T)\ \text{against}\ \tfrac1T\sum_{t=1}^{T}N(e_t,\sigma^2I_T)",
    meaning="One epoch of T steps (balls in bins): each record is in one step, chosen at random; each sum gets normal noise σ.",
    assumptions="Each record moves the sum of its step by at most 1 and is allocated independently of all others.",
    reference="Chua et al. 2025 (balls and bins); Feldman, Shenfeld 2025 (random allocation)",
    neighbours="add/remove",
    kind="upper",
    oracles=(
        Oracle((2.0, 1), "delta", 1.0, 0.00682959, 1e-8, "one step: gaussian(2)"),
        Oracle(
            (1.0, 100), "delta", 0.2, 0.004635, 1e-5, "call on a sum of a hundred log-normal variables, by simulation"
        ),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class RandomAllocation(Mechanism, SelfComposing):
    """One epoch: every record takes part in one of `steps` steps.

    Several epochs are bounded by the epoch without amplification: an average of ratios is smaller in convex order than one of them.
    """

    sigma: float = SIGMA.field()
    steps: int = COUNT.but(name="steps", example=1).field(high=10**7, meaning="steps of an epoch", label="T")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1), ("steps", -1))

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        if np.isinf(self.sigma) or 1.0 / self.sigma < FEWEST:
            return three_point(0.0, 0.0, 1.0)
        return allocation_curve(1.0 / self.sigma, self.steps, self.steps)

    def power_curve(self, k: int) -> Curve | None:
        """Return the safe bound of k epochs; an attack on the largest sum of one epoch is attained."""
        if not isinstance(self.pair, Allocation):
            return None
        outer = GaussianCurve(math.sqrt(k) / self.sigma)
        attack = largest_sum(1.0 / self.sigma, self.steps)
        return Outer(
            outer,
            [Either([attack, attack.flipped()], symmetric=True)],
            "several epochs are bounded without amplification",
        )
