"""Gaussian noise on a Poisson sample: one step of private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.curves.gaussian import Gaussian as GaussianCurve
from dpcore.curves.subsampled import Subsampled
from dpcore.guarantees import three_point
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.registry import PROBABILITY, SIGMA, Oracle, register

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


@register(
    "poisson_gaussian",
    title="Poisson-subsampled Gaussian",
    group="mechanism",
    symbol=r"G_{1/\sigma}^{q}",
    formula=r"N(0,\sigma^2)\ \text{against}\ (1-q)N(0,\sigma^2)+qN(1,\sigma^2)",
    meaning="Each record is used with probability q; the sum gets normal noise σ.",
    assumptions="Sensitivity 1; the record is in under one hypothesis and out under the other.",
    reference="Abadi et al. 2016; exact pair: Zhu, Dong, Wang 2022",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 0.1), "delta", 0.0, 0.03829249, 1e-8, "theory"),
        Oracle((1.0, 0.1), "delta", 0.05, 0.02614366, 1e-8, "theory, the worse direction"),
        Oracle((2.0, 0.5), "delta", 0.2, 0.03982688, 1e-8, "theory"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class PoissonGaussian(Mechanism):
    """Gaussian noise on a Poisson sample."""

    sigma: float = SIGMA.field()
    q: float = PROBABILITY.but(name="q").field(least=1e-300, meaning="probability that a record is used")

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        if self.q == 0.0 or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        base = GaussianCurve(1.0 / self.sigma)
        return base if self.q == 1.0 else Subsampled(base, self.q)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of the noisy sum; `shift` 1 means that the record is in the data."""
        check_noise(self.text, self.sigma)
        x = np.asarray(x, dtype=np.float64)

        def normal(centre: float) -> FloatArray:
            scaled = (x - centre) / self.sigma
            return np.asarray(np.exp(-scaled * scaled / 2) / (self.sigma * np.sqrt(2 * np.pi)), dtype=np.float64)

        share = self.q if shift else 0.0
        return np.asarray((1 - share) * normal(0.0) + share * normal(shift or 1.0), dtype=np.float64)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the tail of the noisy sum; `shift` 1 means that the record is in the data."""
        x = np.asarray(x, dtype=np.float64)
        share = self.q if shift else 0.0
        out = (1 - share) * ndtr(-x / self.sigma) + share * ndtr(((shift or 1.0) - x) / self.sigma)
        return np.asarray(out, dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noisy sum with the record in the data.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        check_noise(self.text, self.sigma)
        return np.asarray(rng.normal(0.0, self.sigma, size) + (rng.random(size) < self.q), dtype=np.float64)
