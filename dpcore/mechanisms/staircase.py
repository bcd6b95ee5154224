"""Staircase mechanism: piecewise-constant noise, the most useful one for a given epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.guarantees import three_point
from dpcore.mechanisms.base import Mechanism
from dpcore.registry import EPSILON, Oracle, Parameter, register

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray

GAMMA = Parameter("gamma", low=0.0, high=1.0, label="γ", meaning="width of the first step", example=0.5)


@register(
    "staircase",
    title="staircase mechanism",
    group="mechanism",
    symbol=r"\mathrm{S}_{\varepsilon,\gamma}",
    formula=(
        r"f_{\varepsilon,0,\eta},\ \eta=\begin{cases}\frac{(1-e^{-\varepsilon})(2\gamma(1-e^{-\varepsilon})+e^{-\varepsilon})}"
        r"{2(\gamma+e^{-\varepsilon}(1-\gamma))} & \gamma<\frac12\\"
        r"\frac{1-e^{-\varepsilon}}{2(\gamma+e^{-\varepsilon}(1-\gamma))} & \gamma\ge\frac12\end{cases}"
    ),
    meaning="Noise whose density falls by e^-ε at every step of the sensitivity.",
    assumptions="The query moves by at most the sensitivity (1).",
    reference="Geng, Viswanath 2014; total variation: Ghazi, Issa 2023 (corrected)",
    oracles=(Oracle((1.0, 1.0), "delta", 0.0, 0.5 * -math.expm1(-1.0), 1e-15, "(1 - e^-ε)/2 at γ = 1"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Staircase(Mechanism):
    """Staircase noise of sensitivity 1."""

    epsilon_: float = EPSILON.but(low_open=True, infinite=False).field()
    gamma: float = GAMMA.field()

    @property
    def eta(self) -> float:
        """Total variation: the probability that the noise is within half the sensitivity."""
        b, g, drop = math.exp(-self.epsilon_), self._first_width, -math.expm1(-self.epsilon_)
        top = 2 * g * drop + b if g < 0.5 else 1.0
        return drop * top / (2 * (g + b * (1 - g)))

    @property
    def _first_width(self) -> float:
        """Width of the first step; a first step of width 0 leaves the next one, of width 1."""
        return self.gamma or 1.0

    def _pair(self) -> Curve:
        return three_point(self.epsilon_, 0.0, max(0.0, 1.0 - self.eta / math.tanh(self.epsilon_ / 2)))

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density: level e^(-eps j) on [j, j + gamma), e^(-eps (j + 1)) on [j + gamma, j + 1)."""
        b, g = math.exp(-self.epsilon_), self._first_width
        first = -math.expm1(-self.epsilon_) / (2 * (g + b * (1 - g)))
        t = np.abs(np.asarray(x) - shift)
        step = np.floor(t)
        level = step + (t - step >= g)
        return np.asarray(first * np.exp(-self.epsilon_ * level), dtype=np.float64)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the tail: whole steps are a geometric series, the step that holds x has two levels."""
        b, g = math.exp(-self.epsilon_), self._first_width
        first = -math.expm1(-self.epsilon_) / (2 * (g + b * (1 - g)))
        t = np.abs(np.asarray(x, dtype=np.float64) - shift)
        step = np.floor(t)
        part = t - step
        inside = np.maximum(g - part, 0.0) + b * np.minimum(1 - part, 1 - g)
        tail = np.exp(-self.epsilon_ * step) * (first * inside + b / 2)
        return np.asarray(np.where(np.asarray(x) >= shift, tail, 1.0 - tail), dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws: a sign, a geometric step, and a uniform place on one of its two parts.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        b, g = math.exp(-self.epsilon_), self._first_width
        sign = rng.choice([-1.0, 1.0], size)
        step = rng.geometric(-math.expm1(-self.epsilon_), size) - 1
        far = rng.random(size) >= g / (g + (1 - g) * b)
        place = np.where(far, g + (1 - g) * rng.random(size), g * rng.random(size))
        return np.asarray(sign * (step + place), dtype=np.float64)
