r"""Noise scaled to a smooth sensitivity, with its true (epsilon, delta).

Neighbours have smooth sensitivities within a factor :math:`e^\beta`, and their answers differ by at most the smaller one. So two
releases differ in centre and in width, and the worst such pair gives the guarantee. The overlap of two symmetric peaks falls as
their centres part, so the largest move is the worst one; what is left is the ratio of the widths.

- **Laplace**, scale 2S/epsilon: the exact worst delta is `laplace_worst_delta`; beta is the largest that keeps the delta asked for.
- **Gaussian**, deviation c S: `gaussian_delta_bound` bounds delta over all ratios of widths; c is the least that keeps it.
- **Cauchy**, scale S/a: the largest loss of a pair with centres d apart and scales s, t is the hyperbolic distance of the points
  (0, s) and (d, t) of the half-plane, :math:`\cosh\varepsilon=1+\frac{d^2+(s-t)^2}{2st}`. So delta is 0, and a follows from
  epsilon and beta; up to :math:`\beta=\ln(2\cosh\varepsilon-1)` a change of width costs nothing. The textbook has a = epsilon/6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from scipy.special import ndtri

from dpcore.core.domains import DELTA
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import Parameter
from dpcore.core.rounding import up
from dpcore.planner.sensitivity.pairs import gaussian_delta
from dpcore.planner.sensitivity.queries import BETA

BUDGET: Final = Parameter(
    "epsilon", low=0.0, low_open=True, high=100.0, label="ε", meaning="target bound on the privacy loss"
)
_DELTA: Final = DELTA.but(low_open=True, high_open=True)
_STEPS = 48  # ratios of widths between which delta is bounded
_BISECTIONS = 80


def laplace_worst_delta(epsilon: float, beta: float) -> float:
    r"""Return the exact worst delta(epsilon) of f + Lap(2 S / epsilon) for a bound S with ratio e^beta.

    .. math:: \delta=(1-t)\,e^{-(\varepsilon+\beta)t/(1-t)}\cosh\frac{\varepsilon t}{2(1-t)},\qquad t=e^{-\beta}

    The worst pair has the full ratio of scales and the full move of the answer, epsilon/2 times the smaller scale, with
    the wider noise on the data: overlaps of two symmetric peaks fall as the centres part, and a wider P has more mass
    outside the interval where it loses. With the narrower noise on the data the loss is at most
    :math:`\beta+e^{-\beta}\varepsilon/2`, which must not exceed epsilon; so beta <= epsilon/2 is asked for.
    """
    e, rate = float(BUDGET.check(epsilon)), float(BETA.check(beta))
    if rate > e / 2:
        msg = f"beta must be at most epsilon / 2 = {nearest(e / 2)}, got {numeral(rate)}."
        raise DomainError(msg)
    if rate == 0:
        return 0.0
    share = math.exp(-rate) / -math.expm1(-rate)
    part = e * share / 2
    log_cosh = part + math.log1p(math.exp(-2 * part)) - math.log(2)
    return -math.expm1(-rate) * math.exp(log_cosh - (e + rate) * share)


def gaussian_delta_bound(epsilon: float, beta: float, scale: float) -> float:
    r"""Return an upper bound of delta(epsilon) of f + scale S N(0, 1) for a bound S with ratio e^beta.

    In units of the smaller deviation the move is 1/scale and the larger deviation :math:`\rho\le e^\beta`. Between two ratios
    :math:`\rho_i\le\rho\le\rho_{i+1}=r\rho_i` the densities obey :math:`q_\rho\ge q_{\rho_i}/r` and :math:`p_\rho\le r\,p_{\rho_{i+1}}`, so

    .. math:: \delta_\rho(\varepsilon)\le\delta_{\rho_i}(\varepsilon-\ln r),\qquad
              \delta_\rho(\varepsilon)\le r\,\delta_{\rho_{i+1}}(\varepsilon-\ln r)

    with the narrower and the wider noise on the data.
    """
    e, rate = float(BUDGET.check(epsilon)), float(BETA.check(beta))
    if rate == 0:
        return float(gaussian_delta(np.array([e]), 1.0, 1.0, 1 / scale)[0])
    ratios = np.exp(np.linspace(0.0, rate, _STEPS + 1))
    step = rate / _STEPS
    at = np.array([e - step])
    narrow = max(float(gaussian_delta(at, 1.0, float(ratio), 1 / scale)[0]) for ratio in ratios[:-1])
    wide = max(float(gaussian_delta(at, float(ratio), 1.0, 1 / scale)[0]) for ratio in ratios[1:])
    return min(1.0, max(narrow, math.exp(step) * wide))


@dataclass(frozen=True)
class SmoothNoise(ABC):
    """Noise in units of a smooth sensitivity.

    Parameters
    ----------
    epsilon, delta : float
        What is asked for.
    """

    epsilon: float
    delta: float = 0.0

    name: ClassVar[str]
    theorem: ClassVar[str]

    @property
    @abstractmethod
    def beta(self) -> float:
        """How fast the sensitivity may change."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale of the noise per unit of smooth sensitivity."""

    @property
    @abstractmethod
    def true_delta(self) -> float:
        """Upper bound of the delta at epsilon."""

    @staticmethod
    @abstractmethod
    def reach(level: float) -> float:
        """Return the z with P(|Z| <= z) = level for unit noise."""


@dataclass(frozen=True)
class SmoothLaplace(SmoothNoise):
    """Laplace noise of scale 2S/epsilon."""

    name: ClassVar[str] = "Laplace, smooth"
    theorem: ClassVar[str] = "worst pair of two Laplace widths, closed form; (ε, δ), not ε alone"

    @property
    def beta(self) -> float:
        """The largest beta with the delta asked for."""
        return _laplace_beta(self.epsilon, self.delta)

    @property
    def scale(self) -> float:
        """2/epsilon."""
        return 2 / self.epsilon

    @property
    def true_delta(self) -> float:
        """The worst delta."""
        return laplace_worst_delta(self.epsilon, self.beta)

    @staticmethod
    def reach(level: float) -> float:
        """Return -log(1 - level)."""
        return -math.log1p(-level)


@lru_cache(maxsize=256)
def _laplace_beta(epsilon: float, delta: float) -> float:
    _DELTA.check(delta)
    low, high = 0.0, float(BUDGET.check(epsilon)) / 2
    if laplace_worst_delta(epsilon, high) <= delta:
        return high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if laplace_worst_delta(epsilon, middle) <= delta else (low, middle)
    return low


@dataclass(frozen=True)
class SmoothCauchy(SmoothNoise):
    """Cauchy noise; beta is epsilon/2, or more where a change of width costs nothing."""

    name: ClassVar[str] = "Cauchy, smooth"
    theorem: ClassVar[str] = "largest loss of two Cauchy widths, closed form; δ = 0"

    @property
    def beta(self) -> float:
        """The larger of epsilon/2 and log(2 cosh epsilon - 1), the change of width that costs nothing."""
        e = float(BUDGET.check(self.epsilon))
        return max(e / 2, e + math.log1p(math.exp(-2 * e) - math.exp(-e)))

    @property
    def scale(self) -> float:
        """1/a with the largest move a, in units of the narrower noise, that keeps epsilon at every change of width."""
        e, rate = self.epsilon, self.beta
        if rate > e / 2:
            return float(up(0.5 / math.sinh(e / 2)))
        # 2 rho cosh e - 1 - rho^2 = (e^e - rho)(rho - e^-e)
        return float(up(1 / math.sqrt((math.exp(e) - math.exp(rate)) * (math.exp(rate) - math.exp(-e))), 1e-14))

    @property
    def true_delta(self) -> float:
        """No delta."""
        return 0.0

    @staticmethod
    def reach(level: float) -> float:
        """Return tan(pi level/2)."""
        return math.tan(math.pi * level / 2)


@dataclass(frozen=True)
class SmoothGaussian(SmoothNoise):
    """Gaussian noise of the least deviation that keeps delta at beta = epsilon/(4(1 + log(2/delta)))."""

    name: ClassVar[str] = "Gaussian, smooth"
    theorem: ClassVar[str] = "pairs of two Gaussian widths, bounded over all ratios"

    @property
    def beta(self) -> float:
        """The beta of Nissim, Raskhodnikova and Smith (2007), Lemma 2.7, for one number."""
        return float(BUDGET.check(self.epsilon)) / (4 * (1 + math.log(2 / float(_DELTA.check(self.delta)))))

    @property
    def scale(self) -> float:
        """The least deviation per unit of sensitivity."""
        return _gaussian_scale(self.epsilon, self.delta, self.beta)

    @property
    def true_delta(self) -> float:
        """Bound of delta at this deviation."""
        return gaussian_delta_bound(self.epsilon, self.beta, self.scale)

    @staticmethod
    def reach(level: float) -> float:
        """Return the normal quantile."""
        return float(-ndtri((1 - level) / 2))


@lru_cache(maxsize=256)
def _gaussian_scale(epsilon: float, delta: float, beta: float) -> float:
    low, high = 0.0, 1.0
    while gaussian_delta_bound(epsilon, beta, high) > delta:  # doubles to 1e12, then refused
        low, high = high, 2 * high
        if high > 1e12:
            msg = f"No Gaussian noise reaches delta = {numeral(delta)} at epsilon = {numeral(epsilon)}."
            raise DomainError(msg)
    while high - low > 1e-9 * high:  # halves
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_delta_bound(epsilon, beta, middle) > delta else (low, middle)
    return float(up(high))


SMOOTH: Final = (SmoothLaplace, SmoothCauchy, SmoothGaussian)
