"""Staircase mechanism: piecewise-constant noise with the least error at an epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.registry import EPSILON, Oracle, Parameter, register
from dpcore.mechanisms.base import Mechanism, Offer, TwoAnswers, likelihood_attacker
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.mechanisms.base import Attacker

LARGEST_STAIR = 500.0  # beyond this epsilon the first step stays at e^-250; its exponential overflows from 1419 upwards
MOST_STEPS = 60  # a picture cannot show more
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

    @property
    def law(self) -> StaircaseLaw:
        """Staircase noise of sensitivity 1."""
        return StaircaseLaw(self.epsilon_, self._first_width)

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the two answers, whose three likelihood ratios rise with the answer."""
        return replace(super().answers(without), rising=True)

    def attack(self) -> tuple[Attacker, str] | None:
        """Return the attacker whose score is the logarithm of the likelihood ratio, which has only three values."""
        return likelihood_attacker(super().answers())

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Staircase noise", "Staircase", 4, "ε")

    def shaped(self) -> Staircase:
        """Return it with the first step of least mean absolute error: 1 / (1 + e^(epsilon/2))."""
        return Staircase(self.epsilon_, 1.0 / (1.0 + math.exp(min(self.epsilon_, LARGEST_STAIR) / 2)))


class StaircaseLaw(Law):
    """Noise of level e^(-eps j) on [j, j + width), e^(-eps (j + 1)) on [j + width, j + 1)."""

    def __init__(self, epsilon: float, width: float) -> None:
        self.epsilon, self.width = epsilon, width
        self._step = math.exp(-epsilon)
        self._first = -math.expm1(-epsilon) / (2 * (width + self._step * (1 - width)))

    def density(self, x: FloatArray) -> FloatArray:
        """Return the level of the step that holds x."""
        t = np.abs(np.asarray(x))
        step = np.floor(t)
        level = step + (t - step >= self.width)
        return np.asarray(self._first * np.exp(-self.epsilon * level), dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the tail: whole steps are a geometric series, the step that holds x has two levels."""
        b, g = self._step, self.width
        t = np.abs(np.asarray(x, dtype=np.float64))
        step = np.floor(t)
        part = t - step
        inside = np.maximum(g - part, 0.0) + b * np.minimum(1 - part, 1 - g)
        tail = np.exp(-self.epsilon * step) * (self._first * inside + b / 2)
        return np.asarray(np.where(np.asarray(x) >= 0, tail, 1.0 - tail), dtype=np.float64)

    def edges(self, low: float, high: float) -> FloatArray:
        """Return where the levels change, as far as a picture shows them."""
        steps = np.arange(min(MOST_STEPS, int(max(high, -low)) + 1), dtype=np.float64)
        distances = np.concatenate((steps + self.width, steps[1:]))
        return np.concatenate((-distances, distances))

    @property
    def variance(self) -> float:
        r"""E N^2: both levels of every step, summed as geometric series.

        With b = e^-epsilon, g the width of the first step and a its level it is
        :math:`2a\sum_j b^j[((j+g)^3-j^3)/3 + b((j+1)^3-(j+g)^3)/3]`, and the sums of b^j j^m are known.
        """
        b, g = self._step, self.width
        gap = -math.expm1(-self.epsilon)
        s0, s1, s2 = 1 / gap, b / gap**2, b * (1 + b) / gap**3
        near = g * s2 + g * g * s1 + g**3 / 3 * s0
        far = (1 - g) * s2 + (1 - g * g) * s1 + (1 - g**3) / 3 * s0
        return 2 * self._first * (near + b * far)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws: a sign, a geometric step, and a uniform place on one of its two parts.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        b, g = self._step, self.width
        sign = rng.choice([-1.0, 1.0], size)
        step = rng.geometric(-math.expm1(-self.epsilon), size) - 1
        far = rng.random(size) >= g / (g + (1 - g) * b)
        place = np.where(far, g + (1 - g) * rng.random(size), g * rng.random(size))
        return np.asarray(sign * (step + place), dtype=np.float64)
