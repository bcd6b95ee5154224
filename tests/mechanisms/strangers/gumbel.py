"""Gumbel noise: a real noise that is not symmetric, one parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.registry import SCALE, Oracle, register
from dpcore.mechanisms.base import Asymmetric
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray


@register(
    "gumbel",
    title="Gumbel noise",
    group="mechanism",
    symbol=r"\mathrm{Gu}_b",
    formula=r"p(x)=\tfrac1b e^{-x/b-e^{-x/b}}",
    meaning="The answer plus Gumbel noise of scale b.",
    assumptions="The query moves by at most 1, up or down.",
    reference="log-concave noise: Dong, Roth, Su 2022, Proposition A.3",
    oracles=(Oracle((2.0,), "delta", 0.0, 0.1820454, 1e-6, "direct integral"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Gumbel(Asymmetric):
    """Gumbel noise; the two directions of a move differ."""

    scale: float = SCALE.but(infinite=False).field()

    @property
    def law(self) -> GumbelLaw:
        """Gumbel noise around 0."""
        return GumbelLaw(self.scale)


class GumbelLaw(Law):
    """The law with distribution function exp(-e^(-x/b))."""

    symmetric = False
    log_concave = True

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def density(self, x: FloatArray) -> FloatArray:
        """Return e^(-t - e^-t) / b, t = x / b."""
        t = np.maximum(np.asarray(x, dtype=np.float64) / self.scale, -700.0)
        return np.asarray(np.exp(-t - np.exp(-t)) / self.scale, dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return 1 - exp(-e^-t)."""
        t = np.maximum(np.asarray(x, dtype=np.float64) / self.scale, -700.0)
        return np.asarray(-np.expm1(-np.exp(-t)), dtype=np.float64)

    def below(self, x: FloatArray) -> FloatArray:
        """Return exp(-e^-t)."""
        t = np.maximum(np.asarray(x, dtype=np.float64) / self.scale, -700.0)
        return np.asarray(np.exp(-np.exp(-t)), dtype=np.float64)

    def quantile(self, rate: FloatArray) -> FloatArray:
        """Return -b log(-log(1 - rate)): closed forms are optional, and faster."""
        with np.errstate(divide="ignore"):
            return np.asarray(-self.scale * np.log(-np.log1p(-np.asarray(rate, dtype=np.float64))), dtype=np.float64)

    def lower_quantile(self, rate: FloatArray) -> FloatArray:
        """Return -b log(-log(rate))."""
        with np.errstate(divide="ignore"):
            return np.asarray(-self.scale * np.log(-np.log(np.asarray(rate, dtype=np.float64))), dtype=np.float64)

    @property
    def variance(self) -> float:
        """pi^2 b^2 / 6."""
        return (math.pi * self.scale) ** 2 / 6
