r"""Noise of one law on every coordinate: moments of clipped errors, and the worst of many coordinates.

With N the noise and c >= 0 the true count, a count clipped at 0 is off by max(N, -c). With the excess
:math:`h(x) = E (N-x)^+`,

.. math::
    E|max(N,-c)| = 2h(0) - h(c), \qquad E\,max(N,-c)^2 = \tfrac12 E N^2 + \int_0^c 2t\,P(N<-t)\,dt .
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import ndtr

from dpcore.mechanisms.gaussian import NormalLaw
from dpcore.mechanisms.geometric import GeometricLaw
from dpcore.mechanisms.laplace import LaplaceLaw
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

# panels of 20 nodes: 8 of them leave 3e-14 in the mean of the worst of 10 000 normal errors, 16 leave rounding only
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS = 64
_NOTHING = 1e-18  # tail left out of an integral: below the rounding of its value
_MOST_TERMS = (
    100_000  # integers summed one by one; beyond, panels with the Euler-Maclaurin correction are as exact and faster
)


class CentredNoise(Law):
    """The symmetric noise of a mechanism, with the moments that errors of clipped and biased answers need.

    Everything but these moments is the mechanism's own law.
    """

    name: ClassVar[str]  # as theorems call it

    @abstractmethod
    def excess(self, x: FloatArray) -> FloatArray:
        """Return h(x) = E (N - x)^+ for x >= 0."""

    @abstractmethod
    def clipped_square(self, counts: FloatArray) -> FloatArray:
        """Return E max(N, -c)^2 for true counts c >= 0."""

    @property
    def mean_abs(self) -> float:
        """E |N|, which is 2 h(0)."""
        return 2.0 * float(self.excess(np.zeros(1))[0])

    def clipped(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return E|max(N, -c)| = 2 h(0) - h(c) and E max(N, -c)^2 for true counts c >= 0."""
        return self.mean_abs - self.excess(counts), self.clipped_square(counts)

    def largest_mean(self, many: int) -> float | None:  # noqa: ARG002  for those that have a closed form
        """Return E of the largest of `many` independent |N| in closed form, None where none is known."""
        return None

    def smooth(self, t: FloatArray) -> FloatArray:
        """Return a smooth function that equals P(N > t): at every t >= 0, or at the integers if the noise is discrete."""
        return self.above(t)

    def draws(self, rng: Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return an array of draws. For simulation, not for releasing data: floating-point noise is attackable."""
        return np.asarray(self.sample(rng, math.prod(shape)), dtype=np.float64).reshape(shape)


class LaplaceNoise(LaplaceLaw, CentredNoise):
    """Density e^(-|x|/b) / (2b)."""

    name = "Laplace"

    def excess(self, x: FloatArray) -> FloatArray:
        """Return b e^(-x/b) / 2."""
        return np.asarray(0.5 * self.scale * np.exp(-np.asarray(x) / self.scale), dtype=np.float64)

    def clipped_square(self, counts: FloatArray) -> FloatArray:
        """Return b^2 (2 - e^(-a)(1 + a)), a = c/b."""
        a = np.asarray(counts, dtype=np.float64) / self.scale
        return np.asarray(self.scale**2 * (2.0 - np.exp(-a) * (1.0 + a)), dtype=np.float64)

    def largest_mean(self, many: int) -> float:
        """Return b times the harmonic number of `many`."""
        return self.scale * float(np.sum(1.0 / np.arange(1, many + 1)))


class GeometricNoise(GeometricLaw, CentredNoise):
    """P(N = j) = (1-r)/(1+r) r^|j| on the integers, r = e^(-rate)."""

    name = "Geometric"

    @property
    def _gap(self) -> float:
        """The difference 1 - r."""
        return -math.expm1(-self.rate)

    def smooth(self, t: FloatArray) -> FloatArray:
        """Return r^(t+1) / (1+r)."""
        return np.asarray(np.exp(-self.rate * (np.asarray(t) + 1.0)) / (1.0 + self.ratio), dtype=np.float64)

    def excess(self, x: FloatArray) -> FloatArray:
        """Return r^(m+1) (1/(1-r^2) - f/(1+r)) with x = m + f, m an integer and 0 <= f < 1."""
        x = np.asarray(x, dtype=np.float64)
        whole = np.floor(x)
        return np.asarray(self.smooth(whole) * (1.0 / self._gap - (x - whole)), dtype=np.float64)

    def clipped_square(self, counts: FloatArray) -> FloatArray:
        """Return r (2 - r^c)/(1-r)^2 - 2c r^(c+1)/(1-r^2), c an integer."""
        c = np.asarray(counts, dtype=np.float64)
        r, gap = self.ratio, self._gap
        power = np.exp(-self.rate * c)
        return np.asarray(r * (2.0 - power) / gap**2 - 2.0 * c * r * power / (gap * (1.0 + r)), dtype=np.float64)


class NormalNoise(NormalLaw, CentredNoise):
    """Normal noise of standard deviation sigma."""

    name = "Gaussian"

    def excess(self, x: FloatArray) -> FloatArray:
        """Return sigma (phi(a) - a Phi(-a)), a = x/sigma."""
        a = np.asarray(x, dtype=np.float64) / self.sigma
        density = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
        return np.asarray(self.sigma * np.maximum(0.0, density - a * ndtr(-a)), dtype=np.float64)

    def clipped_square(self, counts: FloatArray) -> FloatArray:
        """Return sigma^2 (1 - Phi(-a) + a^2 Phi(-a) - a phi(a)), a = c/sigma."""
        a = np.asarray(counts, dtype=np.float64) / self.sigma
        density, tail = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi), ndtr(-a)
        return np.asarray(self.sigma**2 * (1.0 - tail + a * a * tail - a * density), dtype=np.float64)


def worst_beyond(noise: CentredNoise, many: int, t: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Return P(max_i |error_i| > t) over `many` independent coordinates, t >= 0.

    With sorted `counts` the errors are those of counts clipped at 0: such a count is off downwards by c at most.
    """
    t = np.asarray(t, dtype=np.float64)
    return _any_beyond(noise.above(t), many, _settled(counts, t, "right"))


def _settled(counts: FloatArray | None, t: FloatArray, side: Literal["left", "right"]) -> FloatArray:
    """Return how many clipped counts cannot be off downwards by more than t."""
    return np.asarray(0.0 * t if counts is None else np.searchsorted(counts, t, side=side), dtype=np.float64)


def _any_beyond(above: FloatArray, many: int, settled: FloatArray) -> FloatArray:
    """Return 1 - (1 - P(N>t))^settled (1 - P(|N|>t))^(many - settled)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(settled > 0, settled * np.log1p(-above), 0.0)
        two = np.where(settled < many, (many - settled) * np.log1p(-np.minimum(2.0 * above, 1.0)), 0.0)
    return np.asarray(-np.expm1(one + two), dtype=np.float64)


def worst_quantile(noise: CentredNoise, many: int, miss: float, counts: FloatArray | None = None) -> float:
    """Return the smallest t with P(max_i |error_i| > t) <= miss, rounded up."""
    high = noise.reach(-math.expm1(math.log1p(-miss) / many))  # without clipping: every |N_i| <= t
    if counts is None and not noise.integer:
        return high

    def missed(t: float) -> float:
        return float(worst_beyond(noise, many, np.array([t]), counts)[0])

    if not noise.integer:
        return 0.0 if missed(0.0) <= miss else least_reach(missed, miss, 0.0, high)
    low = -1.0
    step = 1.0
    while missed(high) > miss and math.isfinite(high):  # off by rounding: doubled, some thousand rounds at most
        high, step = max(high + step, math.nextafter(high, math.inf)), 2.0 * step
    while (middle := float((low + high) // 2)) not in (low, high):  # halves
        low, high = (low, middle) if missed(middle) <= miss else (middle, high)
    return high


def least_reach(missed: Callable[[float], float], miss: float, low: float, high: float) -> float:
    """Return the smallest t such that missed <= miss from t upwards, to a relative 1e-14 and rounded up.

    `missed` falls; it is above `miss` at `low` and, but for rounding, not at `high`.
    """
    step = math.ulp(high)
    while missed(high) > miss and math.isfinite(high):  # off by rounding: doubled, some two thousand rounds at most
        high, step = high + step, 2.0 * step
    while high - low > 1e-14 * high:  # halves
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if missed(middle) <= miss else (middle, high)
    return high


def worst_mean(noise: CentredNoise, many: int, counts: FloatArray | None = None) -> float:
    """Return E max_i |error_i|, the integral of P(max > t): b H_m for Laplace noise, else a sum or quadrature."""
    closed_form = noise.largest_mean(many) if counts is None else None
    if closed_form is not None:
        return closed_form
    end = noise.reach(_NOTHING / many)
    if noise.integer and end <= _MOST_TERMS:
        return float(np.sum(worst_beyond(noise, many, np.arange(end + 1.0), counts)))
    breaks = np.linspace(0.0, end, _PANELS + 1)
    if noise.integer:
        breaks = np.rint(breaks)
    if counts is not None:
        breaks = np.union1d(breaks, counts[(counts > 0) & (counts < end)])
    half = 0.5 * np.diff(breaks)
    t = (breaks[:-1] + half)[:, None] + half[:, None] * _NODES
    inside = half * (_any_beyond(noise.smooth(t), many, _settled(counts, t, "right")) @ _WEIGHTS)
    if not noise.integer:
        return float(np.sum(inside))
    # the sum over the integers of a panel: its integral, half the fall and a twelfth of the change of slope between its
    # ends (Euler-Maclaurin)
    total = float(np.sum(inside))
    first, last = _settled(counts, breaks[:-1], "right"), _settled(counts, breaks[1:], "left")
    for ends, settled, sign in ((breaks[:-1], first, 1.0), (breaks[1:], last, -1.0)):
        before, at, after = (_any_beyond(noise.smooth(ends + h), many, settled) for h in (-0.5, 0.0, 0.5))
        total += sign * float(np.sum(0.5 * at - (after - before) / 12.0))
    return total
