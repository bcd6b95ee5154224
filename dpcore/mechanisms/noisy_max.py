"""Report noisy max with Laplace and with Gumbel noise: the candidate with the largest noisy score, nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import EPSILON, Oracle, register
from dpcore.curves.bound import Outer
from dpcore.curves.laplace_sum import LaplaceSumCurve
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.exponential import Exponential
from dpcore.mechanisms.laplace import laplace_curve
from dpcore.regions.algebra import Loose, SelfComposing
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "noisy_max_laplace",
    title="report noisy max with Laplace noise, worst case",
    group="mechanism",
    symbol=r"\mathrm{NM}_\varepsilon",
    formula=r"\mathrm{argmax}_c\,(q_c+N_c),\quad N_c\sim\mathrm{Lap}(2\Delta/\varepsilon)",
    meaning="The best of several candidates by scores with Laplace noise of scale 2Δ/ε; only its name is published.",
    assumptions="Every score moves by at most Δ. If all scores move in the same direction, ε/2 is enough.",
    reference="Dwork, Roth 2014, Claim 3.9; the region: the hazard of the largest noisy score, as for permute_and_flip",
    kind="upper",
    oracles=(Oracle((1.0,), "delta", 0.5, -math.expm1(-0.25), 1e-14, "within laplace(1)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class NoisyMaxLaplace(Mechanism, Loose):
    """Laplace noise has a hazard of at most ε/2Δ, so the bound of permute-and-flip holds; two candidates attain less."""

    epsilon_: float = EPSILON.field()
    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    why_loose: ClassVar[str] = "two candidates attain less"

    def _pair(self) -> Curve:
        outer = laplace_curve(self.epsilon_)
        if self.epsilon_ == 0.0 or math.isinf(self.epsilon_):
            return outer
        return Outer(outer, [LaplaceSumCurve(self.epsilon_)], "hazard of the largest noisy score")

    def attained(self) -> Curve | None:
        """Return two candidates whose scores change places."""
        if self.epsilon_ == 0.0 or self.epsilon_ > 600.0:
            return None
        half = self.epsilon_ / 2.0
        wrong = (2.0 + half) * math.exp(-half) / 4.0  # chance that a difference of two Laplace noises exceeds 2Δ/2
        return three_point(math.log1p(-wrong) - math.log(wrong), 0.0, 0.0)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_


@register(
    "noisy_max_gumbel",
    title="report noisy max with Gumbel noise, worst case",
    group="mechanism",
    symbol=r"\mathrm{NG}_\varepsilon",
    formula=r"\mathrm{argmax}_c\,(q_c+N_c),\quad P(N_c\le x)=e^{-e^{-\varepsilon x/2\Delta}}",
    meaning="The best of several candidates by scores with Gumbel noise of scale 2Δ/ε: the exponential mechanism.",
    assumptions="Every score moves by at most Δ.",
    reference="Durfee, Rogers 2019; region: Dong, Durfee, Rogers 2020",
    oracles=(Oracle((1.0,), "delta", 0.0, math.tanh(0.25), 1e-14, "exponential(1)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class NoisyMaxGumbel(Mechanism, SelfComposing, Loose):
    """The exponential mechanism under another name."""

    epsilon_: float = EPSILON.field()
    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    why_loose: ClassVar[str] = Exponential.why_loose

    @property
    def same(self) -> Exponential:
        """The exponential mechanism with the same choices."""
        return Exponential(self.epsilon_)

    def _pair(self) -> Curve:
        return self.same.pair

    def power_curve(self, k: int) -> Curve | None:
        """Return that of the exponential mechanism."""
        return self.same.power_curve(k)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_
