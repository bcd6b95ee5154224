"""Gaussian noise on a sum that one person moves by a random amount."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import SIGMA, Oracle, Parameter, register
from dpcore.curves.normal_jumps import mixture_curve
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_SLACK = 1e-9  # by which typed probabilities may miss the sum 1


@register(
    "gaussian_mixture",
    title="Gaussian noise, random sensitivity",
    group="mechanism",
    symbol=r"G_{1/\sigma}^{c,p}",
    formula=r"N(0,\sigma^2)\ \text{against}\ \sum_j p_j N(c_j,\sigma^2)",
    meaning="A person moves the sum by c_j with probability p_j; the sum gets normal noise σ.",
    assumptions="The moves and their probabilities do not depend on the other records; the probabilities add up to 1.",
    reference="Kahane 1985 (convexity inequality); Choquette-Choo, Ganesh, Steinke, Thakurta 2024",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, [0.0, 1.0], [0.9, 0.1]), "delta", 0.05, 0.02614366, 1e-8, "poisson_gaussian(1, 0.1)"),
        Oracle((1.0, [2.0], [1.0]), "delta", 1.0, 0.50986166, 1e-8, "gdp(2)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class RandomSensitivity(Mechanism):
    """Gaussian noise on a sum that moves by a random amount."""

    sigma: float = SIGMA.field()
    sensitivities: tuple[float, ...] = Parameter(
        "sensitivities", "numbers", low=0.0, high=1e6, meaning="moves of the sum", example=(0.0, 1.0, 2.0)
    ).field()
    probabilities: tuple[float, ...] = Parameter(
        "probabilities", "numbers", low=0.0, high=1.0, meaning="probability of each move", example=(0.5, 0.3, 0.2)
    ).field()

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1),)

    def __post_init__(self) -> None:
        """Check that there is one probability for each move and that they add up to 1."""
        super().__post_init__()
        if len(self.sensitivities) != len(self.probabilities):
            msg = (
                f"gaussian_mixture needs as many probabilities as sensitivities, got {len(self.probabilities)} "
                f"and {len(self.sensitivities)}."
            )
            raise DomainError(msg)
        total = math.fsum(self.probabilities)
        if abs(total - 1.0) > _SLACK:
            msg = f"probabilities must add up to 1, got {nearest(total, 10)}."
            raise DomainError(msg)

    @property
    def oriented(self) -> str:
        """The person is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        total = math.fsum(self.probabilities)
        moves: dict[float, float] = {}
        for move, share in zip(self.sensitivities, self.probabilities, strict=True):
            moves[move / self.sigma] = moves.get(move / self.sigma, 0.0) + share / total
        rest = moves.pop(0.0, 0.0)
        shifts = sorted((move, share) for move, share in moves.items() if share > 0.0)
        if not shifts or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        return mixture_curve(shifts, rest)
