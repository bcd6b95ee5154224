"""Laplace noise with another scale on each side: real, log-concave, not symmetric, two parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.registry import SCALE, Oracle, register
from dpcore.mechanisms.base import Asymmetric
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray


@register(
    "skew_laplace",
    title="skew Laplace noise",
    group="mechanism",
    symbol=r"\mathrm{SL}_{a,b}",
    formula=r"p(x)\propto e^{-x/a}\ (x\ge0),\ e^{x/b}\ (x<0)",
    meaning="The answer plus Laplace noise whose two sides have different scales.",
    assumptions="The query moves by at most 1, up or down.",
    reference="direct",
    oracles=(Oracle((2.0, 2.0), "delta", 0.0, 0.22119921692859512, 1e-9, "Laplace"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class SkewLaplace(Asymmetric):
    """Laplace noise with two scales."""

    right: float = SCALE.but(name="right", infinite=False).field()
    left: float = SCALE.but(name="left", infinite=False).field(1.0)

    @property
    def law(self) -> SkewLaw:
        """The law."""
        return SkewLaw(self.right, self.left)


class SkewLaw(Law):
    """Density e^(-x/a) / (a + b) on the right, e^(x/b) / (a + b) on the left."""

    symmetric = False
    log_concave = True

    def __init__(self, right: float, left: float) -> None:
        self.right, self.left = right, left

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density."""
        x = np.asarray(x, dtype=np.float64)
        return np.exp(-np.where(x >= 0, x / self.right, -x / self.left)) / (self.right + self.left)

    def above(self, x: FloatArray) -> FloatArray:
        """Return P(N > x)."""
        x = np.asarray(x, dtype=np.float64)
        whole = self.right + self.left
        return np.where(
            x >= 0,
            self.right / whole * np.exp(-np.maximum(x, 0) / self.right),
            1 - self.left / whole * np.exp(np.minimum(x, 0) / self.left),
        )

    def below(self, x: FloatArray) -> FloatArray:
        """Return P(N <= x)."""
        x = np.asarray(x, dtype=np.float64)
        whole = self.right + self.left
        return np.where(
            x < 0,
            self.left / whole * np.exp(np.minimum(x, 0) / self.left),
            1 - self.right / whole * np.exp(-np.maximum(x, 0) / self.right),
        )

    def quantile(self, rate: FloatArray) -> FloatArray:
        """Return x with P(N > x) = rate: a closed form is optional, and much faster in compositions."""
        rate, whole = np.asarray(rate, dtype=np.float64), self.right + self.left
        with np.errstate(divide="ignore", invalid="ignore"):
            right = -self.right * np.log(rate * whole / self.right)
            left = self.left * np.log((1 - rate) * whole / self.left)
        return np.where(rate * whole <= self.right, right, left)

    def lower_quantile(self, rate: FloatArray) -> FloatArray:
        """Return x with P(N < x) = rate."""
        return -SkewLaw(self.left, self.right).quantile(rate)
