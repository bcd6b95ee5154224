r"""Noise of one law on every coordinate: moments, tails, and the worst of many coordinates.

With N the noise and c >= 0 the true count, a count clipped at 0 is off by max(N, -c), so that

.. math::
    E|max(N,-c)| = \tfrac12 E|N| + \int_0^c P(N<-t)\,dt, \qquad
    E\,max(N,-c)^2 = \tfrac12 E N^2 + \int_0^c 2t\,P(N<-t)\,dt .
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS = 64
_NOTHING = 1e-18
_MOST_TERMS = 100_000


class Noise(ABC):
    """Symmetric noise; `discrete` noise takes integers only."""

    discrete: ClassVar[bool] = False

    @property
    @abstractmethod
    def variance(self) -> float:
        """E N^2."""

    @property
    @abstractmethod
    def mean_abs(self) -> float:
        """E |N|."""

    @abstractmethod
    def above(self, t: FloatArray) -> FloatArray:
        """Return P(N > t) for t >= 0."""

    @abstractmethod
    def quantile(self, miss: float) -> float:
        """Return the smallest t >= 0 with P(|N| > t) <= miss."""

    @abstractmethod
    def sample(self, rng: Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return draws. For simulation, not for releasing data: floating-point noise is attackable."""

    @abstractmethod
    def clipped(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return E|max(N, -c)| and E max(N, -c)^2 for true counts c >= 0."""

    @abstractmethod
    def excess(self, x: FloatArray) -> FloatArray:
        """Return E (N - x)^+ for x >= 0."""

    def largest_mean(self, many: int) -> float | None:  # noqa: ARG002  for those that have a closed form
        """Return E of the largest of `many` independent |N| in closed form, None where none is known."""
        return None

    def smooth(self, t: FloatArray) -> FloatArray:
        """Return a smooth function that equals P(N > t): at every t, or at the integers if the noise is discrete."""
        return self.above(t)

    def beyond(self, t: FloatArray) -> FloatArray:
        """Return P(N > t) for every t."""
        t = np.asarray(t, dtype=np.float64)
        size = np.abs(t)
        inner = np.ceil(size) - 1.0 if self.discrete else size  # P(N >= -t) = P(N > ceil(-t) - 1) for integers
        return np.asarray(np.where(t < 0, 1.0 - self.above(np.maximum(inner, 0.0)), self.above(size)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Laplace(Noise):
    """Density e^(-|x|/b) / (2b)."""

    scale: float

    @property
    def variance(self) -> float:
        """2 b^2."""
        return 2.0 * self.scale**2

    @property
    def mean_abs(self) -> float:
        """B, the scale."""
        return self.scale

    def above(self, t: FloatArray) -> FloatArray:
        """Return e^(-t/b) / 2."""
        return np.asarray(0.5 * np.exp(-np.asarray(t) / self.scale), dtype=np.float64)

    def largest_mean(self, many: int) -> float:
        """Return b times the harmonic number of `many`."""
        return self.scale * float(np.sum(1.0 / np.arange(1, many + 1)))

    def quantile(self, miss: float) -> float:
        """Return -b log(miss), rounded up."""
        return math.nextafter(-self.scale * math.log(miss), math.inf)

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return Laplace draws."""
        return rng.laplace(0.0, self.scale, shape)

    def clipped(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return b (1 - e^(-a)/2) and b^2 (2 - e^(-a)(1 + a)), a = c/b."""
        a = np.asarray(counts, dtype=np.float64) / self.scale
        decay = np.exp(-a)
        return self.scale * (1.0 - 0.5 * decay), self.scale**2 * (2.0 - decay * (1.0 + a))

    def excess(self, x: FloatArray) -> FloatArray:
        """Return b e^(-x/b) / 2."""
        return np.asarray(0.5 * self.scale * np.exp(-np.asarray(x) / self.scale), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Geometric(Noise):
    """P(N = j) = (1-r)/(1+r) r^|j| on the integers, r = e^(-rate)."""

    rate: float
    discrete: ClassVar[bool] = True

    @property
    def ratio(self) -> float:
        """Ratio of neighbouring probabilities, r."""
        return math.exp(-self.rate)

    @property
    def _gap(self) -> float:
        """The difference 1 - r."""
        return -math.expm1(-self.rate)

    @property
    def variance(self) -> float:
        """2r / (1-r)^2."""
        return 2.0 * self.ratio / self._gap**2

    @property
    def mean_abs(self) -> float:
        """2r / (1 - r^2)."""
        return 2.0 * self.ratio / (self._gap * (1.0 + self.ratio))

    def above(self, t: FloatArray) -> FloatArray:
        """Return r^(floor(t)+1) / (1+r)."""
        whole = np.floor(np.asarray(t, dtype=np.float64)) + 1.0
        return np.asarray(np.exp(-self.rate * whole) / (1.0 + self.ratio), dtype=np.float64)

    def smooth(self, t: FloatArray) -> FloatArray:
        """Return r^(t+1) / (1+r)."""
        return np.asarray(np.exp(-self.rate * (np.asarray(t) + 1.0)) / (1.0 + self.ratio), dtype=np.float64)

    def quantile(self, miss: float) -> float:
        """Return the smallest integer t with 2 r^(t+1)/(1+r) <= miss."""
        guess = math.ceil(-math.log(0.5 * miss * (1.0 + self.ratio)) / self.rate) - 1
        t = max(0, guess - 1)
        while 2.0 * float(self.above(np.array(float(t)))) > miss:
            t += 1
        return float(t)

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return the difference of two geometric draws."""
        return np.asarray(rng.geometric(self._gap, shape) - rng.geometric(self._gap, shape), dtype=np.float64)

    def clipped(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r (2 - r^c)/(1-r^2) and r (2 - r^c)/(1-r)^2 - 2c r^(c+1)/(1-r^2), c an integer."""
        c = np.asarray(counts, dtype=np.float64)
        r, gap = self.ratio, self._gap
        power = np.exp(-self.rate * c)
        both = gap * (1.0 + r)
        return r * (2.0 - power) / both, r * (2.0 - power) / gap**2 - 2.0 * c * r * power / both

    def excess(self, x: FloatArray) -> FloatArray:
        """Return r^(m+1) (1/(1-r^2) - f/(1+r)) with x = m + f, m an integer and 0 <= f < 1."""
        x = np.asarray(x, dtype=np.float64)
        whole = np.floor(x)
        tail = np.exp(-self.rate * (whole + 1.0)) / (1.0 + self.ratio)
        return np.asarray(tail * (1.0 / self._gap - (x - whole)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Gaussian(Noise):
    """Normal noise of standard deviation sigma."""

    sigma: float

    @property
    def variance(self) -> float:
        """sigma^2."""
        return self.sigma**2

    @property
    def mean_abs(self) -> float:
        """Sigma times sqrt(2/pi)."""
        return self.sigma * math.sqrt(2.0 / math.pi)

    def above(self, t: FloatArray) -> FloatArray:
        """Return Phi(-t/sigma)."""
        return np.asarray(ndtr(-np.asarray(t) / self.sigma), dtype=np.float64)

    def quantile(self, miss: float) -> float:
        """Return -sigma Phi^-1(miss/2), rounded up."""
        return math.nextafter(-self.sigma * float(ndtri(0.5 * miss)), math.inf)

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return normal draws."""
        return rng.normal(0.0, self.sigma, shape)

    def clipped(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the two integrals in terms of Phi and phi at a = c/sigma."""
        a = np.asarray(counts, dtype=np.float64) / self.sigma
        density, tail, top = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi), ndtr(-a), 1.0 / math.sqrt(2 * math.pi)
        first = self.sigma * (2.0 * top - density + a * tail)
        second = self.sigma**2 * (1.0 - tail + a * a * tail - a * density)
        return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)

    def excess(self, x: FloatArray) -> FloatArray:
        """Return sigma (phi(a) - a Phi(-a)), a = x/sigma."""
        a = np.asarray(x, dtype=np.float64) / self.sigma
        density = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
        return np.asarray(self.sigma * np.maximum(0.0, density - a * ndtr(-a)), dtype=np.float64)


def worst_beyond(noise: Noise, many: int, t: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Return P(max_i |error_i| > t) over `many` independent coordinates, t >= 0.

    With sorted `counts` the errors are those of counts clipped at 0: such a count is off downwards by c at most.
    """
    t = np.asarray(t, dtype=np.float64)
    return _any_beyond(noise.above(t), many, _settled(counts, t, "right"))


def _settled(counts: FloatArray | None, t: FloatArray, side: Literal["left", "right"]) -> FloatArray:
    """Return how many clipped counts cannot be off downwards by more than t."""
    found = np.zeros(t.shape) if counts is None else np.searchsorted(counts, t, side=side)
    return np.asarray(found, dtype=np.float64)


def _any_beyond(above: FloatArray, many: int, settled: FloatArray) -> FloatArray:
    """Return 1 - (1 - P(N>t))^settled (1 - P(|N|>t))^(many - settled)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(settled > 0, settled * np.log1p(-above), 0.0)
        two = np.where(settled < many, (many - settled) * np.log1p(-np.minimum(2.0 * above, 1.0)), 0.0)
    return np.asarray(-np.expm1(one + two), dtype=np.float64)


def worst_quantile(noise: Noise, many: int, miss: float, counts: FloatArray | None = None) -> float:
    """Return the smallest t with P(max_i |error_i| > t) <= miss, rounded up."""
    high = noise.quantile(-math.expm1(math.log1p(-miss) / many))  # without clipping: every |N_i| <= t
    if counts is None and not noise.discrete:
        return high
    low = -1.0 if noise.discrete else 0.0
    if _misses(noise, many, low, counts) <= miss and low >= 0:
        return low
    while _misses(noise, many, high, counts) > miss:
        high = high + 1.0 if noise.discrete else math.nextafter(high, math.inf)
    while True:
        middle = float((low + high) // 2) if noise.discrete else 0.5 * (low + high)
        if middle in (low, high) or (not noise.discrete and high - low <= 1e-14 * high):
            return high
        low, high = (low, middle) if _misses(noise, many, middle, counts) <= miss else (middle, high)


def _misses(noise: Noise, many: int, t: float, counts: FloatArray | None) -> float:
    return float(worst_beyond(noise, many, np.array([t]), counts)[0]) if t >= 0 else 1.0


def worst_mean(noise: Noise, many: int, counts: FloatArray | None = None) -> float:
    """Return E max_i |error_i|, the integral of P(max > t): b H_m for Laplace noise, else a sum or quadrature."""
    known = noise.largest_mean(many) if counts is None else None
    if known is not None:
        return known
    end = noise.quantile(_NOTHING / many)
    if noise.discrete and end <= _MOST_TERMS:
        return float(np.sum(worst_beyond(noise, many, np.arange(end + 1.0), counts)))
    breaks = np.linspace(0.0, end, _PANELS + 1)
    if noise.discrete:
        breaks = np.rint(breaks)
    if counts is not None:
        breaks = np.union1d(breaks, counts[(counts > 0) & (counts < end)])
    half = 0.5 * np.diff(breaks)
    t = (breaks[:-1] + half)[:, None] + half[:, None] * _NODES
    inside = half * (_any_beyond(noise.smooth(t), many, _settled(counts, t, "right")) @ _WEIGHTS)
    if not noise.discrete:
        return float(np.sum(inside))
    # the sum over the integers of a panel: its integral, half the fall and a twelfth of the change of slope between its
    # ends (Euler-Maclaurin)
    total = float(np.sum(inside))
    first, last = _settled(counts, breaks[:-1], "right"), _settled(counts, breaks[1:], "left")
    for ends, settled, sign in ((breaks[:-1], first, 1.0), (breaks[1:], last, -1.0)):
        before, at, after = (_any_beyond(noise.smooth(ends + h), many, settled) for h in (-0.5, 0.0, 0.5))
        total += sign * float(np.sum(0.5 * at - (after - before) / 12.0))
    return total
