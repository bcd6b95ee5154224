"""Uniform noise: a straight-line region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.registry import SCALE, SENSITIVITY, Oracle, register
from dpcore.mechanisms.base import Mechanism, Offer
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray

HALFWIDTH = SCALE.but(name="halfwidth", infinite=False, label="a", meaning="noise lies in [-a, a]", example=5.0)


@register(
    "uniform",
    title="uniform noise",
    group="mechanism",
    symbol=r"U_a",
    formula=r"f_{0,\eta},\quad \eta=\min\{1,\ \Delta/(2a)\}",
    meaning="The answer plus noise uniform on [-a, a].",
    assumptions="The query moves by at most the sensitivity.",
    reference="Geng and Viswanath, IEEE Trans. Inf. Theory 62 (2016), 952-969",
    oracles=(Oracle((5.0,), "delta", 3.0, 0.1, 1e-15, "Δ / (2a) at every ε"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Mechanism):
    """Noise uniform on [-halfwidth, halfwidth]."""

    halfwidth: float = HALFWIDTH.field()
    sensitivity: float = SENSITIVITY.field(1.0)

    def _pair(self) -> Curve:
        return three_point(0.0, min(1.0, self.sensitivity / (2 * self.halfwidth)), 1.0)

    @property
    def law(self) -> UniformLaw:
        """Uniform on [-halfwidth, halfwidth]."""
        return UniformLaw(self.halfwidth)

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Uniform noise", "Uniform", 5, "half width")


class UniformLaw(Law):
    """The law with density 1/(2a) on [-a, a]."""

    log_concave = True

    def __init__(self, halfwidth: float) -> None:
        self.halfwidth = halfwidth
        self.low, self.high = -halfwidth, halfwidth

    def density(self, x: FloatArray) -> FloatArray:
        """Return 1/(2a) inside, 0 outside."""
        return np.where(np.abs(np.asarray(x)) <= self.halfwidth, 1 / (2 * self.halfwidth), 0.0)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the share of the interval above x."""
        share = (self.halfwidth - np.asarray(x, dtype=np.float64)) / (2 * self.halfwidth)
        return np.asarray(np.clip(share, 0.0, 1.0), dtype=np.float64)

    @property
    def variance(self) -> float:
        """a^2 / 3."""
        return self.halfwidth**2 / 3.0

    @property
    def deviation(self) -> float:
        """The half width over the root of 3."""
        return self.halfwidth / math.sqrt(3.0)

    def reach(self, miss: float) -> float:
        """Return a (1 - miss), rounded up."""
        return math.nextafter(self.halfwidth * (1 - miss), math.inf)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return rng.uniform(-self.halfwidth, self.halfwidth, size)
