"""Uniform noise: a straight-line region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.guarantees import three_point
from dpcore.mechanisms.base import Mechanism
from dpcore.registry import SCALE, SENSITIVITY, Oracle, register

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
    assumptions="The query moves by exactly the sensitivity at most.",
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

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return 1/(2a) inside, 0 outside."""
        return np.where(np.abs(np.asarray(x) - shift) <= self.halfwidth, 1 / (2 * self.halfwidth), 0.0)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the share of the interval above x."""
        above = (shift + self.halfwidth - np.asarray(x, dtype=np.float64)) / (2 * self.halfwidth)
        return np.asarray(np.clip(above, 0.0, 1.0), dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return rng.uniform(-self.halfwidth, self.halfwidth, size)
