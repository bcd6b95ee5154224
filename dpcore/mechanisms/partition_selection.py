r"""Partition selection: whether the name of a group may be published at all, by the number of people in it.

The best (eps, delta) rule keeps a group of n people with probability p_n: p_0 = 0, and p_n is the smaller one of
e^{eps} p_{n-1} + delta and 1 - e^{-eps}(1 - p_{n-1} - delta), at most 1. With one person more the attacker sees a kept group
with probability p_n in place of p_{n-1}. Such a test has the rates (p_{n-1}, 1 - p_n), and (1 - p_n, p_{n-1}) for the other
event. While the first rule is the smaller one the points lie on the line 1 - delta - e^{eps} a, afterwards those of the other
event do: the region is that of (eps, delta)-DP cut off at the last point on this line, a total-variation region.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import DELTA, EPSILON, Oracle, Parameter, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.laplace import laplace_curve
from dpcore.regions.algebra import Loose, either
from dpcore.regions.guarantees import NO_PRIVACY, three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

CHANCE = DELTA.but(low_open=True, high_open=True, least=1e-300, meaning="chance to publish a group of one person")
CUT = Parameter(
    "threshold", low=1.0, high=1e6, label="τ", meaning="noisy counts below it are not published", example=20.0
)


@register(
    "partition_selection",
    title="partition selection, optimal",
    group="mechanism",
    symbol=r"\Pi_{\varepsilon,\delta}",
    formula=r"p_n=\min\{e^{\varepsilon}p_{n-1}+\delta,\ 1-e^{-\varepsilon}(1-p_{n-1}-\delta),\ 1\},\quad p_0=0",
    meaning="Whether a group is published, by the rule that keeps most groups at this ε and δ: a truncated geometric threshold.",
    assumptions="Every person is in at most one group; otherwise compose as many as a person can be in.",
    reference="Desfontaines, Voss, Gipson, Mandayam 2022",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 1e-5), "delta", 1.0, 1e-5, 1e-18, "δ itself"),
        Oracle((math.log(2.0), 0.1), "delta", 0.0, 0.4, 1e-14, "p = 0.1, 0.3, 0.7, 0.9, 1: the largest step"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class PartitionSelection(Mechanism, Loose):
    """The union over all sizes of a group."""

    epsilon_: float = EPSILON.but(infinite=False, high=700.0).field()
    delta_: float = CHANCE.field()
    offered: ClassVar[bool] = False
    why_loose: ClassVar[str] = "no single size of a group is the worst for every test"

    def _turn(self) -> tuple[float, float]:
        """Return p_n of the last n at which the first rule still applies next, and p_(n+1)."""
        vertex = (1.0 - self.delta_) / (1.0 + math.exp(self.epsilon_))
        grow = math.expm1(self.epsilon_)
        steps = math.floor(
            (math.log1p(vertex * grow / self.delta_) / self.epsilon_ if grow else vertex / self.delta_) + 1e-12
        )
        before = self.delta_ * (math.expm1(steps * self.epsilon_) / grow if grow else float(steps))
        before = min(before, vertex)
        return before, min(1.0, math.exp(self.epsilon_) * before + self.delta_)

    def _pair(self) -> Curve:
        before, after = self._turn()
        last = max(before, math.exp(-self.epsilon_) * max(0.0, 1.0 - after - self.delta_))
        vertex = (1.0 - self.delta_) / (1.0 + math.exp(self.epsilon_))
        # on the line the finite masses of the losses +-eps are `last` of `vertex`; the rest of both is at loss 0
        return three_point(self.epsilon_, self.delta_, max(0.0, 1.0 - last / vertex))

    def attained(self) -> Curve | None:
        """Return the size at which the two rules meet."""
        before, after = self._turn()
        if not 0.0 < before < after < 1.0:
            return None
        up, down = math.log(after) - math.log(before), math.log1p(-after) - math.log1p(-before)
        from dpcore.curves.polygon import Polygon  # noqa: PLC0415  one small table

        return Polygon([down, up], [1.0 - before, before], [1.0 - after, after])

    @property
    def claimed_epsilon(self) -> None:
        """None: the claim has a delta, and it is a parameter."""
        return


@register(
    "thresholded_laplace",
    title="noisy counts above a threshold",
    group="mechanism",
    symbol=r"L_{\varepsilon,\tau}",
    formula=r"\delta(\varepsilon')=\max\{\delta_{L_\varepsilon}(\varepsilon'),\ \tfrac12e^{-\varepsilon(\tau-1)}\}",
    meaning="Counts of groups with Laplace noise of scale 1/ε, published only from a threshold on; empty groups never are.",
    assumptions="Every person is in at most one group; otherwise compose as many as a person can be in.",
    reference="Korolova, Kenthapadi, Mishra, Ntoulas 2009",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 20.0), "delta", 1.0, 0.5 * math.exp(-19.0), 1e-20, "a group of one person that is published"),
        Oracle((1.0, 20.0), "delta", 0.0, -math.expm1(-0.5), 1e-14, "laplace(1)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class ThresholdedLaplace(Mechanism, Loose):
    """A group that is new, which only shows by being published, or one that grows, which is a Laplace answer at most."""

    epsilon_: float = EPSILON.but(infinite=False).field()
    threshold: float = CUT.field()
    offered: ClassVar[bool] = False
    why_loose: ClassVar[str] = "a new group and a large one are different pairs"

    @property
    def chance(self) -> float:
        """Chance that a group of one person is published."""
        return 0.5 * math.exp(-self.epsilon_ * (self.threshold - 1.0))

    def _pair(self) -> Curve:
        new = three_point(0.0, self.chance, 1.0)
        grown = laplace_curve(self.epsilon_)
        return NO_PRIVACY if self.chance >= 1.0 else either([grown, new])

    def attained(self) -> Curve | None:
        """Return a large group, which is a Laplace answer."""
        return laplace_curve(self.epsilon_)
