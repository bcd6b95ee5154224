"""Truncated discrete Gaussian mechanism: discrete Gaussian noise that is never larger than a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcore.core.registry import SIGMA, Oracle, Parameter, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.geometric import STEPS
from dpcore.mechanisms.law import Masses

BOUND = Parameter("bound", "integer", low=1, high=4 * 10**5, label="B", meaning="noise lies in [-B, B]", example=20)


@register(
    "truncated_discrete_gaussian",
    title="truncated discrete Gaussian mechanism",
    group="mechanism",
    symbol=r"N_{\mathbb{Z},\sigma,B}",
    formula=r"P(N=n)\propto e^{-n^2/(2\sigma^2)},\quad |n|\le B",
    meaning="An integer answer plus discrete Gaussian noise that never exceeds the bound, as accountants model it.",
    assumptions="The query is an integer and moves by at most the sensitivity. An answer beyond the bound reveals the move: δ never reaches 0.",
    reference="Canonne, Kamath, Steinke 2020, cut",
    oracles=(
        Oracle((2.0, 10), "delta", 0.0, 0.19947116, 1e-8, "direct sum"),
        Oracle((1.0, 2), "delta", 50.0, 0.05448868454964294, 1e-14, "the mass of the bound itself"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class TruncatedDiscreteGaussian(Mechanism):
    """Masses proportional to e^(-n^2 / (2 sigma^2)) on the integers from -bound to bound."""

    sigma: float = SIGMA.but(infinite=False, meaning="width of the noise before it is cut").field()
    bound: int = BOUND.field()
    sensitivity: int = STEPS.field(1)
    offered: ClassVar[bool] = False  # the discrete Gaussian is

    @property
    def table_size(self) -> int:
        """One loss for every integer."""
        return 2 * self.bound + self.sensitivity + 1

    @property
    def law(self) -> Masses:
        """The masses."""
        n = np.arange(-self.bound, self.bound + 1.0)
        return Masses(-self.bound, np.exp(-(n**2) / (2 * self.sigma**2)))
