"""Top k by one draw of Gumbel noise: the k best candidates in order, k exponential mechanisms one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import COUNT, EPSILON, Oracle, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.exponential import Exponential
from dpcore.regions.algebra import Loose, SelfComposing

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "top_k",
    title="top k, worst case",
    group="mechanism",
    symbol=r"\mathrm{Top}_{\varepsilon,k}",
    formula=r"\text{the }k\text{ largest }q_c+N_c,\quad N_c\ \text{Gumbel of scale}\ 2\Delta/\varepsilon",
    meaning="The k best candidates, in order, by scores with Gumbel noise drawn once; ε is for each of them.",
    assumptions="Every score moves by at most Δ; no noisy score is published.",
    reference="Durfee, Rogers 2019: one draw of noise equals k choices without replacement; adaptive: Dong, Durfee, Rogers 2020",
    oracles=(
        Oracle((1.0, 1), "delta", 0.0, math.tanh(0.25), 1e-14, "exponential(1)"),
        Oracle((0.5, 4), "delta", 0.5, 0.0617974, 1e-7, "exponential(0.5)^4"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class TopK(Mechanism, SelfComposing, Loose):
    """The worst case of k exponential mechanisms, each on the candidates that are left."""

    epsilon_: float = EPSILON.field()
    k: int = COUNT.but(high=10**6, meaning="how many candidates are published").field(5)
    offered: ClassVar[bool] = False
    why_loose: ClassVar[str] = Exponential.why_loose

    def _pair(self) -> Curve:
        return (Exponential(self.epsilon_) ** self.k).pair if self.k > 1 else Exponential(self.epsilon_).pair

    def power_curve(self, k: int) -> Curve | None:
        """Return that of all the choices together."""
        return Exponential(self.epsilon_).power_curve(k * self.k)

    @property
    def claimed_epsilon(self) -> float:
        """K times epsilon."""
        return self.k * self.epsilon_
