"""Laplace noise cut to the interval of possible answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.curves.bounded_laplace import BoundedLaplace as BoundedLaplaceCurve
from dpcore.errors import DomainError
from dpcore.guarantees import three_point
from dpcore.mechanisms.base import Mechanism
from dpcore.registry import SCALE, SENSITIVITY, Oracle, Parameter, register

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray

LOWER = Parameter("lower", low=-1e50, high=1e50, label="lower", meaning="smallest possible answer", example=0.0)
UPPER = Parameter("upper", low=-1e50, high=1e50, label="upper", meaning="largest possible answer", example=10.0)


@register(
    "bounded_laplace",
    title="Laplace noise cut to an interval",
    group="mechanism",
    symbol=r"L^{[\ell,u]}_b",
    formula=r"p(x\mid m)=\frac{e^{-|x-m|/b}}{b\,C(m)},\quad C(m)=2-e^{-(m-\ell)/b}-e^{-(u-m)/b},\ x\in[\ell,u]",
    meaning="Laplace noise conditioned on the answer staying between its bounds; the region covers the worst pair.",
    assumptions="The true answer lies in [lower, upper] and moves by at most the sensitivity.",
    reference="Holohan, Antonatos, Braghin, Mac Aonghusa 2020",
    kind="upper",
    oracles=(
        Oracle(
            (1.0, 0.0, 1.0, 1.0),
            "epsilon",
            0.0,
            1.0,
            1e-6,
            "the only pair is (0, 1): normalisers are equal, the largest loss is sensitivity / scale",
        ),
        Oracle((1.0, 0.0, 60.0, 1.0), "delta", 0.0, 1 - math.exp(-0.5), 1e-8, "a wide interval: the Laplace mechanism"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class BoundedLaplace(Mechanism):
    """Truncated Laplace noise around an answer in [lower, upper]."""

    scale: float = SCALE.field()
    lower: float = LOWER.field()
    upper: float = UPPER.field()
    sensitivity: float = SENSITIVITY.field()

    def __post_init__(self) -> None:
        """Check the fields and their order."""
        super().__post_init__()
        if self.lower >= self.upper:
            msg = f"lower must be below upper, got {self.lower!r} and {self.upper!r}."
            raise DomainError(msg)

    def _pair(self) -> Curve:
        if math.isinf(self.scale):
            return three_point(0.0, 0.0, 1.0)
        return BoundedLaplaceCurve((self.upper - self.lower) / self.scale, self.sensitivity / self.scale)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of the release at x when the true answer is `shift`."""
        x = np.asarray(x, dtype=np.float64)
        if not self.lower <= shift <= self.upper:
            msg = f"The true answer must be in [{self.lower!r}, {self.upper!r}], got {shift!r}."
            raise DomainError(msg)
        inside = (x >= self.lower) & (x <= self.upper)
        if math.isinf(self.scale):
            return np.where(inside, 1.0 / (self.upper - self.lower), 0.0)
        norm = -math.expm1(-(shift - self.lower) / self.scale) - math.expm1(-(self.upper - shift) / self.scale)
        return np.where(inside, np.exp(-np.abs(x - shift) / self.scale) / (self.scale * norm), 0.0)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the tail inside the interval."""
        b = self.scale
        x = np.clip(np.asarray(x, dtype=np.float64), self.lower, self.upper)
        if math.isinf(b):
            return np.asarray((self.upper - x) / (self.upper - self.lower), dtype=np.float64)
        norm = -math.expm1(-(shift - self.lower) / b) - math.expm1(-(self.upper - shift) / b)
        above = np.exp(-np.maximum(x - shift, 0.0) / b) - np.exp(-(self.upper - shift) / b)
        below = -np.expm1(-np.maximum(shift - x, 0.0) / b)
        return np.asarray((above + below) / norm, dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return releases for the true answer in the middle of the interval.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        if math.isinf(self.scale):
            return rng.uniform(self.lower, self.upper, size)
        middle = (self.lower + self.upper) / 2
        reach = (self.upper - self.lower) / (2 * self.scale)
        distance = -np.log1p(rng.random(size) * math.expm1(-reach)) * self.scale
        return np.asarray(middle + rng.choice([-1.0, 1.0], size) * distance, dtype=np.float64)
