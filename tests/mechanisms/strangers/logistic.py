"""Logistic noise: a real log-concave noise given by its density and its tail, two parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpcore.core.registry import SCALE, SENSITIVITY, Oracle, register
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray


@register(
    "logistic",
    title="logistic noise",
    group="mechanism",
    symbol=r"\mathrm{Lg}_{\Delta/s}",
    formula=r"p(x)=\frac{1}{4s}\cosh^{-2}\frac{x}{2s}",
    meaning="The answer plus logistic noise of scale s.",
    assumptions="The query moves by at most the sensitivity.",
    reference="log-concave noise: Dong, Roth, Su 2022, Proposition A.3",
    oracles=(Oracle((2.0,), "delta", 0.0, math.tanh(0.125), 1e-9, "tanh(Δ/4s)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Mechanism):
    """Logistic noise; its loss stays below sensitivity / scale."""

    scale: float = SCALE.but(infinite=False).field()
    sensitivity: float = SENSITIVITY.field(1.0)

    @property
    def law(self) -> LogisticLaw:
        """Logistic noise around 0."""
        return LogisticLaw(self.scale)


class LogisticLaw(Law):
    """The law with distribution function 1 / (1 + e^(-x/s))."""

    log_concave = True

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def density(self, x: FloatArray) -> FloatArray:
        """Return F (1 - F) / s."""
        t = np.asarray(x, dtype=np.float64) / self.scale
        return np.asarray(expit(t) * expit(-t) / self.scale, dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return 1 / (1 + e^(x/s))."""
        return np.asarray(expit(-np.asarray(x, dtype=np.float64) / self.scale), dtype=np.float64)
