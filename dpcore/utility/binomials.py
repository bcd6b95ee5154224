"""Sums of two independent binomials: the exact law of a count of randomized answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

LOST = 1e-30  # mass that a window may leave out, on each side of each binomial
_ENOUGH = math.log(2 / LOST)


@dataclass(frozen=True)
class TwoBinomials:
    """Y = Bin(first, p) + Bin(second, q), independent; p and q are given as (chance, 1 - chance).

    Masses are sums of positive terms. For many people only a window around the mean is kept, outside of which the mass
    is below 1e-30 (Bernstein's inequality).
    """

    first: int
    p: tuple[float, float]
    second: int
    q: tuple[float, float]

    @property
    def mean(self) -> float:
        """Expected count."""
        return self.first * self.p[0] + self.second * self.q[0]

    @property
    def variance(self) -> float:
        """Variance of the count."""
        return self.first * self.p[0] * self.p[1] + self.second * self.q[0] * self.q[1]

    @Lazy
    def _law(self) -> tuple[int, FloatArray, float]:
        """Return the first count of the window, the masses from it upwards and a bound on what is left out."""
        a, first_masses = binomial_window(self.first, self.p)
        b, second_masses = binomial_window(self.second, self.q)
        whole = first_masses.size == self.first + 1 and second_masses.size == self.second + 1
        return a + b, np.convolve(first_masses, second_masses), 0.0 if whole else 4 * LOST

    def tail(self, reach: float) -> float:
        """Return P(|Y - mean| >= reach), never too small."""
        start, mass, lost = self._law
        far = np.abs(np.arange(start, start + mass.size) - self.mean)
        return min(1.0, float(mass[far >= reach - _rounding(self.mean)].sum()) + lost)

    def shortfall(self, level: float) -> float:
        """Return the mean of |Y - mean| in its worst 1 - level part, never too small; it is at least the quantile."""
        start, mass, lost = self._law
        far = np.abs(np.arange(start, start + mass.size) - self.mean)
        at = self.quantile(level)
        # mass left out of the window lies no farther than the number of people
        beyond = float(np.dot(mass, np.maximum(0.0, far - at))) + lost * (self.first + self.second)
        return at + beyond / (1.0 - level)

    def excess(self, reach: float) -> float:
        """Return the least of E(|Y - mean| - c)+ / (reach - c) over c < reach: at least the chance to reach `reach`."""
        start, mass, lost = self._law
        far = np.abs(np.arange(start, start + mass.size) - self.mean)
        order = np.argsort(far, kind="stable")
        c = np.concatenate(([0.0], far[order]))
        above = np.cumsum(mass[order][::-1])[::-1]  # P(far >= each)
        mean_above = np.append(np.cumsum((above * np.diff(c))[::-1])[::-1], 0.0) + lost * (self.first + self.second)
        use = c < reach
        return min(1.0, float(np.min(mean_above[use] / (reach - c[use]))))

    def quantile(self, level: float) -> float:
        """Return the smallest w with P(|Y - mean| <= w) >= level."""
        start, mass, lost = self._law
        far = np.abs(np.arange(start, start + mass.size) - self.mean)
        order = np.argsort(far, kind="stable")
        ladder = np.cumsum(mass[order]) - lost
        at = min(int(np.searchsorted(ladder, level, side="left")), far.size - 1)
        return float(far[order][at])


def _rounding(mean: float) -> float:
    """Return how far a count's distance from the mean may be off by rounding: ties count as a miss."""
    return 1e-12 * (1.0 + abs(mean))


def binomial_window(n: int, chance: tuple[float, float]) -> tuple[int, FloatArray]:
    """Return the first count and the binomial masses from it upwards; all of them, or all but 1e-30 on each side.

    Masses follow from that of the mode by ratios, whose logarithms are small: nothing is lost for large n.
    """
    p, rest = chance
    if n == 0 or p <= 0 or rest <= 0:
        return (n if rest <= 0 else 0), np.ones(1)
    reach = _ENOUGH / 3 + math.sqrt(_ENOUGH**2 / 9 + 2 * _ENOUGH * n * p * rest)
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    k = np.arange(low, high, dtype=np.float64)
    step = np.log((n - k) / (k + 1)) + (math.log(p) - math.log(rest))
    mode = min(max(math.floor((n + 1) * p), low), high) - low
    above, below = np.cumsum(step[mode:]), -np.cumsum(step[:mode][::-1])[::-1]
    mass = np.exp(np.concatenate((below, [0.0], above)))
    return low, np.asarray(mass / mass.sum(), dtype=np.float64)
