"""Maximal leakage: by how much an answer helps to guess anything about which of two neighbouring datasets is the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import EPSILON, Oracle, register
from dpcore.regions.guarantees import three_point
from dpcore.regions.tradeoff import Atom

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

LEAKAGE = EPSILON.but(
    name="leakage",
    label="ℓ",
    meaning="log of the factor by which a guess can improve; log 2 and more promise nothing",
    example=0.2,
)


@register(
    "leakage",
    title="maximal leakage",
    group="guarantee",
    symbol=r"\mathcal L",
    formula=r"\mathcal L=\log\sum_y\max\{P_0(y),P_1(y)\}=\log(1+\eta),\qquad f(\alpha)=\max\{0,\,2-e^{\mathcal L}-\alpha\}",
    meaning="Seeing the answer multiplies the chance to guess any function of the dataset by at most e^ℓ.",
    assumptions="Between two neighbouring datasets; with two inputs it is the total variation in other units.",
    reference="Issa, Wagner, Kamath 2020; Ghazi, Issa 2023, equations (79) to (81)",
    oracles=(
        Oracle((math.log(1.2),), "delta", 0.0, 0.2, 1e-15, "η = e^ℓ - 1"),
        Oracle((math.log(2 * math.e / (1 + math.e)),), "delta", 0.0, math.tanh(0.5), 1e-15, "that of 1-DP"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Leakage(Atom):
    """Maximal leakage of at most `leakage` nats between two neighbouring datasets."""

    leakage: float = LEAKAGE.field()
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("leakage", 1),)

    def _pair(self) -> Curve:
        eta = math.expm1(self.leakage) if self.leakage < 1 else 1.0  # nothing is promised from log 2 upwards
        return three_point(0.0, min(1.0, eta), 1.0)
