"""Poisson noise on a count: integers from 0 on, not symmetric, one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, pdtr, pdtrc, xlogy

from dpcore.core.registry import SCALE, Oracle, register
from dpcore.mechanisms.base import Asymmetric
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray


@register(
    "poisson_count",
    title="Poisson noise",
    group="mechanism",
    symbol=r"\mathrm{Poi}_\lambda",
    formula=r"P(N=n)=e^{-\lambda}\lambda^n/n!",
    meaning="An integer answer plus a Poisson number.",
    assumptions="The query is an integer and moves by at most 1.",
    reference="direct",
    oracles=(Oracle((4.0,), "delta", 0.0, 0.19536681481316454, 1e-9, "largest mass"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class PoissonCount(Asymmetric):
    """The answer plus a Poisson number."""

    rate: float = SCALE.but(name="rate", label="λ", infinite=False).field()

    @property
    def law(self) -> PoissonLaw:
        """Poisson masses."""
        return PoissonLaw(self.rate)


class PoissonLaw(Law):
    """Poisson masses."""

    symmetric = False
    integer = True
    log_concave = True
    low = 0.0

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def density(self, x: FloatArray) -> FloatArray:
        """Return the mass."""
        n = np.asarray(x, dtype=np.float64)
        whole = np.maximum(n, 0.0)
        return np.where(
            (n >= 0) & (n == np.floor(n)), np.exp(xlogy(whole, self.rate) - self.rate - gammaln(whole + 1)), 0.0
        )

    def above(self, x: FloatArray) -> FloatArray:
        """Return P(N > x)."""
        n = np.floor(np.asarray(x, dtype=np.float64))
        return np.where(n < 0, 1.0, pdtrc(np.maximum(n, 0), self.rate))

    def below(self, x: FloatArray) -> FloatArray:
        """Return P(N <= x)."""
        n = np.floor(np.asarray(x, dtype=np.float64))
        return np.where(n < 0, 0.0, pdtr(np.maximum(n, 0), self.rate))
