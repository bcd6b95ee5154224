r"""The error of a private estimate: a normal part from sampling and the noise, whose law is exact.

Everything is in units of the noise: its standard deviation (Gaussian noise) or its scale (Laplace noise). With sampling
deviation s the error is :math:`N(0,1+s^2)` or the normal-Laplace law :math:`N(0,s^2)+\mathrm{Lap}(1)`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from dpcore.core.parameter import Choice, Parameter
from dpcore.curves.normal_laplace import normal_laplace_tail

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

NOISES: Final = ("gaussian", "laplace")
NOISE: Final = Choice("noise", "text", choices=NOISES, label="noise", meaning="law of the noise")
LEVEL: Final = Parameter(
    "level", low=0.5, high=0.9999, label="level", meaning="share of intervals that contain the truth", example=0.95
)
_NEAR_ZERO = 1e-8  # a sampling deviation this small changes no digit of Lap(1)
_STEPS = 50  # bisections of a reach


def normal_quantile(level: float) -> float:
    """Return z with P(|N(0, 1)| <= z) = level."""
    return float(-ndtri((1 - level) / 2))


def student_factor(level: float, n: int) -> float:
    """Return t/z: how much wider an interval is because the variance of n records is only estimated from them.

    Exact for normal records without noise (Student's law with n - 1 degrees of freedom).
    """
    return float(-stdtrit(n - 1, (1 - level) / 2)) / normal_quantile(level)


class NoiseLaw:
    """Noise of unit size, alone and together with a normal part.

    Parameters
    ----------
    noise : str
        ``gaussian`` (standard deviation 1) or ``laplace`` (scale 1).
    """

    def __init__(self, noise: str) -> None:
        self.noise = str(NOISE.check(noise))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return 1.0 if self.noise == "gaussian" else math.sqrt(2.0)

    def below(self, x: Any) -> FloatArray:
        """Return P(noise <= x)."""
        x = np.asarray(x, dtype=np.float64)
        if self.noise == "gaussian":
            return np.asarray(ndtr(x), dtype=np.float64)
        half = 0.5 * np.exp(-np.abs(x))
        return np.asarray(np.where(x < 0, half, 1.0 - half), dtype=np.float64)

    def within(self, reach: Any, spread: Any) -> FloatArray:
        """Return P(|N(0, spread^2) + noise| <= reach)."""
        h, s = np.asarray(reach, dtype=np.float64), np.asarray(spread, dtype=np.float64)
        if self.noise == "gaussian":
            return np.asarray(2.0 * ndtr(h / np.sqrt(1.0 + s * s)) - 1.0, dtype=np.float64)
        return np.asarray(1.0 - 2.0 * normal_laplace_tail(h, np.maximum(s, _NEAR_ZERO)), dtype=np.float64)

    def reach(self, level: float, spread: Any) -> FloatArray:
        """Return h with P(|N(0, spread^2) + noise| <= h) = level, from above."""
        s = np.asarray(spread, dtype=np.float64)
        if self.noise == "gaussian":
            return np.asarray(normal_quantile(level) * np.sqrt(1.0 + s * s), dtype=np.float64)
        low = np.zeros_like(s)
        high = -math.log1p(-level) - math.log(0.05) + 2.0 * normal_quantile(1 - (1 - level) / 20) * s
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            enough = self.within(middle, s) >= level
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def sample(self, rng: Generator, size: Any) -> FloatArray:
        """Draw noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        drawn = rng.standard_normal(size) if self.noise == "gaussian" else rng.laplace(0.0, 1.0, size)
        return np.asarray(drawn, dtype=np.float64)

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Return nodes and weights of an integral over the law of the noise; the nodes are denser near 0."""
        u = np.linspace(-1.0, 1.0, 801)
        place = (9.0 if self.noise == "gaussian" else 40.0) * u * np.abs(u)
        density = np.exp(-(place**2) / 2) if self.noise == "gaussian" else np.exp(-np.abs(place))
        weight = density * np.abs(u)
        return place, weight / weight.sum()

    def quick_reach(self, level: float, spread: Any) -> FloatArray:
        """Return `reach` from a table: above it by less than 2e-5 of itself, since the reach is convex in the spread."""
        places, reaches = _reach_table(self.noise, level)
        s = np.asarray(spread, dtype=np.float64)
        return np.asarray(np.interp(s, places, reaches) * np.maximum(s / places[-1], 1.0), dtype=np.float64)


@lru_cache(maxsize=8)
def _reach_table(noise: str, level: float) -> tuple[FloatArray, FloatArray]:
    """Return sampling deviations and the reach at each."""
    spread = np.concatenate(([0.0], np.geomspace(1e-3, 1e5, 1500)))
    return spread, NoiseLaw(noise).reach(level, spread)
