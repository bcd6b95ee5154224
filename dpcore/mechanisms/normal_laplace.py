"""A normal and a Laplace noise added to one answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.registry import SCALE, SENSITIVITY, SIGMA, Oracle, register
from dpcore.curves.base import check_shift
from dpcore.curves.normal_laplace import NormalLaplaceCurve
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


@register(
    "normal_laplace",
    title="sum of normal and Laplace noise",
    group="mechanism",
    symbol=r"(N_\sigma+L_b)_{\Delta}",
    formula=(
        r"p(x)=\tfrac{1}{2b}e^{\sigma^2/2b^2}\bigl[e^{-x/b}\Phi(\tfrac{x}{\sigma}-\tfrac{\sigma}{b})"
        r"+e^{x/b}\Phi(-\tfrac{x}{\sigma}-\tfrac{\sigma}{b})\bigr],\quad f(\alpha)=F(F^{-1}(1-\alpha)-\Delta)"
    ),
    meaning="The answer plus normal noise of standard deviation σ plus Laplace noise of scale b.",
    assumptions="The query moves by at most the sensitivity.",
    reference="log-concave noise: Dong, Roth, Su 2022, Proposition A.3; density: Reed, Jorgensen 2004",
    oracles=(
        Oracle((1.0, 0.5), "delta", 0.0, 0.326048583510198, 1e-13, "quadrature of the convolution in 30 digits"),
        Oracle((1.0, 2.0), "delta", 0.0, 0.17251850361006915, 1e-13, "quadrature of the density in 30 digits"),
        Oracle((1.0, 2.0), "delta", 0.25, 0.07432042081818552, 1e-13, "quadrature of the density in 30 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class NormalLaplace(Mechanism):
    """The sum of independent normal and Laplace noise."""

    sigma: float = SIGMA.field()
    scale: float = SCALE.field()
    sensitivity: float = SENSITIVITY.field(1.0)
    offered: ClassVar[bool] = False

    def _pair(self) -> Curve:
        if math.isinf(self._width):
            return three_point(0.0, 0.0, 1.0)
        # the loss is a difference of two logarithms of one density, which cancel for a smaller move
        check_shift("The sensitivity over the width of the noise", self.sensitivity / self._width, least=1e-9)
        return NormalLaplaceCurve(self.sigma / self.scale, self.sensitivity / self.scale)

    @property
    def _width(self) -> float:
        return math.hypot(self.sigma, self.scale)

    @property
    def law(self) -> NormalLaplaceLaw:
        """Normal and Laplace noise, added."""
        check_noise(self.text, self._width)
        return NormalLaplaceLaw(self.sigma, self.scale)

    @property
    def claimed_epsilon(self) -> float:
        """The epsilon of the Laplace noise alone."""
        return self.sensitivity / self.scale


class NormalLaplaceLaw(Law):
    """The law of N(0, sigma^2) plus Laplace noise of scale b."""

    log_concave = True

    def __init__(self, sigma: float, scale: float) -> None:
        self.sigma, self.scale = sigma, scale
        self._curve = NormalLaplaceCurve(sigma / scale, 0.0)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density of the sum, the convolution in closed form."""
        t = np.asarray(x, dtype=np.float64) / self.scale
        return np.asarray(np.exp(self._curve.log_density(t)) / self.scale, dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the tail of the sum."""
        return self._curve.tail(np.asarray(x, dtype=np.float64) / self.scale)

    @property
    def variance(self) -> float:
        """sigma^2 + 2 b^2."""
        return self.sigma**2 + 2.0 * self.scale**2

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return rng.normal(0.0, self.sigma, size) + rng.laplace(0.0, self.scale, size)
