"""Discrete Gaussian noise with capped support: an integer noise given by its masses, three parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core.registry import SIGMA, Oracle, Parameter, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.law import Masses

CAP = Parameter("cap", "integer", low=1, high=10**5, label="c", meaning="noise lies in [-c, c]", example=20)
STEPS = Parameter("sensitivity", "integer", low=1, high=1000, label="Δ", meaning="how far it moves", example=1)


@register(
    "capped_gaussian",
    title="capped discrete Gaussian",
    group="mechanism",
    symbol=r"N_{\mathbb{Z},c}",
    formula=r"P(N=n)\propto e^{-n^2/(2\sigma^2)},\quad |n|\le c",
    meaning="An integer answer plus discrete Gaussian noise that is never larger than the cap.",
    assumptions="The query is an integer and moves by at most the sensitivity.",
    reference="Canonne, Kamath, Steinke 2020, cut",
    oracles=(Oracle((2.0, 10), "delta", 0.0, 0.19947116, 1e-8, "direct sum"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class CappedGaussian(Mechanism):
    """Masses proportional to exp(-n^2 / (2 sigma^2)) on the integers from -cap to cap."""

    sigma: float = SIGMA.but(infinite=False).field()
    cap: int = CAP.field()
    sensitivity: int = STEPS.field(1)

    @property
    def law(self) -> Masses:
        """The masses."""
        n = np.arange(-self.cap, self.cap + 1.0)
        return Masses(-self.cap, np.exp(-(n**2) / (2 * self.sigma**2)))
