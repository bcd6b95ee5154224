"""The worst case over all exponential mechanisms (losses of range epsilon), once and adaptively repeated.

For t in [0, eps] the extreme pair has the losses t and t - eps with P1 masses q_t = (1 - e^(t-eps)) / (1 - e^-eps) and
1 - q_t. Their union is f(a) = (1 - a) / (1 + (e^eps - 1) a). When each choice may depend on the ones before, the
worst case of k choices obeys, with delta_0(x) = (1 - e^x)_+ (Dong, Durfee, Rogers 2020),

    delta_j(x) = max over t of q_t delta_(j-1)(x - t) + (1 - q_t) delta_(j-1)(x - t + eps).
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from dpcore.curves.base import Bounds, Curve, FloatArray, mirrored_delta
from dpcore.limits import checkpoint


class BoundedRange(Curve):
    """One choice: f(a) = (1 - a) / (1 + (e^eps - 1) a), profile (e^(eps/2) - e^(x/2))^2 / (e^eps - 1) on [-eps, eps]."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.max_loss, self.min_loss = epsilon, -epsilon

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the profile, scaled by e^-eps so that nothing overflows."""
        x = np.asarray(epsilon, dtype=np.float64)
        e = np.minimum(np.abs(x), self.epsilon)
        value = np.expm1((e - self.epsilon) / 2) ** 2 / -np.expm1(-self.epsilon)
        value = np.where(x < 0, mirrored_delta(np.minimum(x, 0.0), value), value)
        return value, value

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the hyperbola."""
        a = np.asarray(alpha, dtype=np.float64)
        value = (1.0 - a) / (1.0 + np.expm1(np.minimum(self.epsilon, 700.0)) * a)
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return e^eps a / (1 + (e^eps - 1) a)."""
        a = np.asarray(alpha, dtype=np.float64)
        grow = np.expm1(np.minimum(self.epsilon, 700.0))
        value = (grow + 1.0) * a / (1.0 + grow * a)
        return value, value

    def inverse(self) -> BoundedRange:
        """Return itself: the curve is symmetric."""
        return self


class AdaptiveRange(Curve):
    """k choices, each made after seeing the others: a bracket from the recursion on a grid of losses.

    With t and x on the grid h Z, h = eps / m, the recursion needs no interpolation and gives a lower delta. For the
    upper one the maximum over each cell of t is bounded by chords (see `_upper_step`); both errors are of order h^2.
    """

    exact = False
    LARGEST_K: ClassVar[int] = 256
    _WORK: ClassVar[float] = 6e6

    def __init__(self, epsilon: float, k: int) -> None:
        self.epsilon, self.k = epsilon, k
        self.max_loss, self.min_loss = k * epsilon, -k * epsilon
        self.cells = int(np.clip(np.sqrt(self._WORK / (k * k)), 8, 600))
        self.method = "bounded range, adaptive composition"

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the grid of x and the lower and upper deltas on it after k choices."""
        m, h = self.cells, self.epsilon / self.cells
        x = np.asarray(np.arange(-self.k * m, self.k * m + 1) * h, dtype=np.float64)
        low = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0)
        high = low.copy()
        for step in range(self.k):
            low, high = self._lower_step(x, low), self._upper_step(x, high)
            checkpoint((step + 1) / self.k)
        return x, np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)

    def _padded(self, x: FloatArray, delta: FloatArray) -> FloatArray:
        """Return delta with one epsilon of room on both sides: 1 - e^x below the grid, 0 above it."""
        below = x[0] - np.arange(self.cells, 0, -1) * (self.epsilon / self.cells)
        return np.concatenate((-np.expm1(below), delta, np.zeros(self.cells)))

    def _shifted(self, padded: FloatArray, by: int) -> FloatArray:
        """Return delta(x - by h) for every x of the grid, a view."""
        return padded[self.cells - by : padded.size - self.cells - by]

    def _lower_step(self, x: FloatArray, delta: FloatArray) -> FloatArray:
        m, h = self.cells, self.epsilon / self.cells
        best = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0)
        room = self._padded(x, delta)
        for j in range(m + 1):
            q = np.expm1(j * h - self.epsilon) / np.expm1(-self.epsilon)
            np.maximum(best, q * self._shifted(room, j) + (1 - q) * self._shifted(room, j - m), out=best)
        return best

    def _upper_step(self, x: FloatArray, delta: FloatArray) -> FloatArray:
        """Bound the maximum over each cell of t from above.

        In u = e^-t the value is ((u - r) A(u) + (1 - u) B(u)) / (1 - r), r = e^-eps, with A(u) = D(yu)/u and
        B(u) = r D(yu/r)/u, D the profile in y = e^x. D is a maximum of lines a - bz with a >= 0, so A and B are
        convex in u and lie below their chords; with chords the value is a quadratic, maximised in closed form.
        """
        m, h = self.cells, self.epsilon / self.cells
        r = np.exp(-self.epsilon)
        best = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0)
        room = self._padded(x, delta)
        right = (1.0, self._shifted(room, 0), r * self._shifted(room, -m))
        for j in range(1, m + 1):
            u = float(np.exp(-j * h))
            left = (u, self._shifted(room, j) / u, (r / u) * self._shifted(room, j - m))
            width, a, b = right[0] - left[0], left[1], left[2]
            da, db = right[1] - a, right[2] - b
            constant = (left[0] - r) * a + (1 - left[0]) * b
            linear = (left[0] - r) * da + width * a + (1 - left[0]) * db - width * b
            square = width * (da - db)
            with np.errstate(divide="ignore", invalid="ignore"):
                top = np.where(square < 0, np.clip(-linear / (2 * square), 0.0, 1.0), 1.0)
            inner = constant + top * (linear + top * square)
            best = np.maximum(best, np.maximum(np.maximum(constant, constant + linear + square), inner) / (1 - r))
            right = left
        return np.asarray(np.minimum(best * (1 + 1e-15), 1.0), dtype=np.float64)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket: chords above, the grid's next smaller value below; negative epsilon by symmetry."""
        e = np.abs(np.asarray(epsilon, dtype=np.float64))
        x, low, high = self._tables
        upper = np.interp(np.exp(np.minimum(e, self.max_loss)), np.exp(x), high)
        lower = self._from_the_right(x, low, high, e)
        inside = e < self.max_loss
        lower, upper = np.where(inside, np.minimum(lower, upper), 0.0), np.where(inside, upper, 0.0)
        down = np.minimum(np.asarray(epsilon, dtype=np.float64), 0.0)
        lower, upper = (np.where(np.asarray(epsilon) >= 0, d, mirrored_delta(down, d)) for d in (lower, upper))
        return lower, upper

    @staticmethod
    def _from_the_right(x: FloatArray, low: FloatArray, high: FloatArray, e: FloatArray) -> FloatArray:
        """Return a lower delta between grid points: the chord of the next two points, extended back (convexity)."""
        at = np.clip(np.searchsorted(x, e), 0, x.size - 2)
        back = -np.expm1(np.minimum(e, x[at]) - x[at])
        ahead = np.expm1(x[at + 1] - x[at])
        return np.asarray(low[at] + np.maximum(low[at] - high[at + 1], 0.0) * back / ahead, dtype=np.float64)

    def inverse(self) -> AdaptiveRange:
        """Return itself: the worst case is symmetric."""
        return self
