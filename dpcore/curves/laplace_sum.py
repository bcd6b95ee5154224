r"""The sum of two independent Laplace noises of one scale, which is the unit here.

Density :math:`(1+|x|)e^{-|x|}/4`, tail :math:`(2+x)e^{-x}/4` for x >= 0. With the move s the loss at x >= s is
:math:`s+\log(1-s/(1+x))`: it rises to s, never reaches it, and

.. math:: \delta(\varepsilon) = \tfrac14 (1-r)\,e^{s-t},\quad r = e^{\varepsilon-s},\ t = \frac{s}{1-r}-1
          \qquad\text{for } \varepsilon \ge s-\log(1+s).

Below that the threshold lies between s/2 and s, at s/2 + u with :math:`2u - 2\operatorname{artanh}(u/c)=\varepsilon`,
c = 1 + s/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import lambertw

from dpcore.core.effort import checkpoint
from dpcore.curves.symmetric_noise import SymmetricNoise

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

_STEPS = 100  # bisections, more than exhaust a double
_SERIES = 0.05  # below it eight terms of the series leave 1e-21; above it artanh(y) - y loses three digits at most


class LaplaceSumCurve(SymmetricNoise):
    """The curve of Lap(1) + Lap(1) against its move by `shift`."""

    def tail(self, x: FloatArray) -> FloatArray:
        """Return (2 + x) e^-x / 4 for x >= 0, one minus the mirrored tail below."""
        x = np.asarray(x, dtype=np.float64)
        t = np.minimum(np.abs(x), 800.0)
        above = (2.0 + t) * np.exp(-t) / 4
        return np.where(x >= 0, above, 1.0 - above)

    def _place(self, rate: FloatArray) -> FloatArray:
        """Return -2 - W(-4 rate e^-2), W the lower branch of the product logarithm, refined by one Newton step."""
        with np.errstate(under="ignore"):
            x = -2.0 - lambertw(-4.0 * rate * np.exp(-2.0), -1).real
        x = np.maximum(x, 0.0)
        # the step is in log S, whose slope is -(1 + x) / (2 + x)
        excess = np.log(2 + x) - np.log(4 * rate) - x
        return np.asarray(np.maximum(x + excess * (2 + x) / (1 + x), 0.0), dtype=np.float64)

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        s = self.shift
        gap = -np.expm1(epsilon - s)
        with np.errstate(over="ignore", under="ignore"):
            far = 0.25 * gap * np.exp(s + 1.0 - s / gap)
        near = epsilon < s - np.log1p(s)
        if near.any():
            far[near] = self._near(epsilon[near])
        return np.asarray(far, dtype=np.float64)

    def _near(self, epsilon: FloatArray) -> FloatArray:
        """Return delta with the threshold between s/2 and s: 1 - e^-v (1 + 3v/4) + e^-v (1 + v) t/(1 + t)/4, v = s - t."""
        t = self.shift / 2 + self._above_half(epsilon)
        v = self.shift - t
        return np.asarray(
            -np.expm1(-v) - 0.75 * v * np.exp(-v) + 0.25 * np.exp(-v) * (1 + v) * t / (1 + t), dtype=np.float64
        )

    def _above_half(self, epsilon: FloatArray) -> FloatArray:
        """Return u in [0, s/2] with loss epsilon, by bisection: the loss rises with u."""
        c, half = 1 + self.shift / 2, self.shift / 2
        low, high = np.zeros(epsilon.size), np.full(epsilon.size, half)
        for _ in range(_STEPS):
            checkpoint()
            u = 0.5 * (low + high)
            y = u / c
            below = 2 * u * half / c - 2 * _artanh_rest(y) < epsilon
            low, high = np.where(below, u, low), np.where(below, high, u)
            if np.all(high - low <= 1e-16 * half):
                break
        return np.asarray(0.5 * (low + high), dtype=np.float64)


def _artanh_rest(y: FloatArray) -> FloatArray:
    """Return artanh(y) - y for y in [0, 1) without cancellation."""
    square = y * y
    total = np.zeros(y.shape)
    for k in range(17, 1, -2):
        total = total * square + 1.0 / k
    return np.asarray(np.where(y < _SERIES, total * square * y, np.arctanh(y) - y), dtype=np.float64)
