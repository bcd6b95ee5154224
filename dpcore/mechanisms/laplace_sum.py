"""Two independent Laplace noises added to one answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.registry import SCALE, SENSITIVITY, Oracle, register
from dpcore.curves.base import check_shift
from dpcore.curves.laplace_sum import LaplaceSumCurve
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


@register(
    "laplace_sum",
    title="sum of two Laplace noises",
    group="mechanism",
    symbol=r"(L+L)_{\Delta/b}",
    formula=r"p(x)=\frac{1+|x|/b}{4b}\,e^{-|x|/b},\quad f(\alpha)=F(F^{-1}(1-\alpha)-\Delta)",
    meaning="The answer plus two independent Laplace noises of scale b: never more informative than one of them.",
    assumptions="The query moves by at most the sensitivity.",
    reference="log-concave noise: Dong, Roth, Su 2022, Proposition A.3",
    oracles=(
        Oracle((1.0,), "delta", 0.0, 1 - 0.5 * math.exp(-0.5) * 2.5, 1e-15, "1 - 2 S(Δ/2b), S the tail of the noise"),
        Oracle((1.0,), "delta", 0.5, 0.0572378106731173, 1e-13, "quadrature of the density in 30 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class LaplaceSum(Mechanism):
    """The sum of two independent Laplace noises of one scale."""

    scale: float = SCALE.field()
    sensitivity: float = SENSITIVITY.field(1.0)
    offered: ClassVar[bool] = False

    def _pair(self) -> Curve:
        if math.isinf(self.scale):
            return three_point(0.0, 0.0, 1.0)
        return LaplaceSumCurve(check_shift("The largest loss", self.sensitivity / self.scale))

    @property
    def law(self) -> LaplaceSumLaw:
        """Two Laplace noises of one scale, added."""
        check_noise(self.text, self.scale)
        return LaplaceSumLaw(self.scale)

    @property
    def claimed_epsilon(self) -> float:
        """The epsilon of one of the two noises alone."""
        return self.sensitivity / self.scale


class LaplaceSumLaw(Law):
    """The law with density (1 + |x|/b) e^(-|x|/b) / (4b)."""

    log_concave = True

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def density(self, x: FloatArray) -> FloatArray:
        """Return (1 + |x|/b) exp(-|x|/b) / (4b)."""
        t = np.abs(np.asarray(x, dtype=np.float64)) / self.scale
        return np.asarray((1 + t) * np.exp(-t) / (4 * self.scale), dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return (2 + t) exp(-t) / 4 at t = x/b >= 0, its mirror below."""
        return LaplaceSumCurve(0.0).tail(np.asarray(x, dtype=np.float64) / self.scale)

    @property
    def variance(self) -> float:
        """Twice that of one noise."""
        return 4.0 * self.scale**2

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return np.asarray(rng.laplace(0.0, self.scale, (2, size)).sum(axis=0), dtype=np.float64)
