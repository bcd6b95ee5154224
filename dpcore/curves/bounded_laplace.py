r"""Laplace noise cut to an interval: the worst over all pairs of true answers inside it.

In units of the scale, with true answers m in [0, w], the output density is e^(-\|x - m\|)/C(m) on [0, w],
C(m) = 2 - e^-m - e^-(w-m). Output is stochastically larger for a larger m and its likelihood ratio rises in x, so the
best tests reject above a threshold and delta grows with the upper answer and falls with the lower one: only pairs
(a, a + s) exactly the sensitivity s apart matter. Reflection turns (a + s, a) into (w - a - s, w - a), so a < a + s is
enough. With b = a + s and k = log(C(a)/C(b)) the loss rises from k - s at a to k + s at b, and for epsilon >= 0

.. math:: \delta = \frac{(1-e^{-(w-b)})(1-e^{-2z}) + (1-e^{-z})^2}{C(b)},\qquad z = \frac{s+k-\varepsilon}{2}\ge 0,

all terms positive (k < s, so z <= s there). k rises with a, because log C is concave: the largest loss is at a = w - s.
"""

from __future__ import annotations

import numpy as np

from dpcore.curves.base import Bounds, Curve, FloatArray, mirrored_delta
from dpcore.lazy import Lazy

_PLACES = 200
_EDGE = 16.0
_ROUNDING = 4e-15
_SLACK = 1e-9
_CELLS = 2_000_000


class BoundedLaplace(Curve):
    """The union over pairs of answers at most `shift` apart in an interval of length `width` (both over the scale)."""

    exact = False
    work = 20.0

    def __init__(self, width: float, shift: float) -> None:
        self.width, self.shift = width, min(shift, width)
        end = np.array([self.width - self.shift])
        self.max_loss = float(self.shift + self._kappa(end)[0]) * (1 + _ROUNDING)
        self.min_loss = -self.max_loss
        self.method = "truncated Laplace, worst pair of answers"

    def _norm(self, m: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(-m) - np.expm1(-(self.width - m)), dtype=np.float64)

    def _kappa(self, a: FloatArray) -> FloatArray:
        return np.asarray(np.log(self._norm(a)) - np.log(self._norm(a + self.shift)), dtype=np.float64)

    def _pair(self, epsilon: FloatArray, a: FloatArray, push: float = 0.0) -> FloatArray:
        """Return delta of the pair (a, a + shift) for epsilon >= 0, broadcast; `push` moves the loss for rounding."""
        b = np.minimum(a + self.shift, self.width)
        z = np.maximum((self.shift + self._kappa(a) - epsilon) / 2 + push * (self.shift + epsilon), 0.0)
        above = -np.expm1(-(self.width - b)) * -np.expm1(-2 * z) + np.expm1(-z) ** 2
        return np.asarray(above / self._norm(b), dtype=np.float64)

    @Lazy
    def _places(self) -> FloatArray:
        """Lower answers to try: losses change fastest near the upper end, the closer the larger the epsilon asked."""
        end = self.width - self.shift
        if end <= 0:
            return np.zeros(2)
        away = np.concatenate(
            (np.geomspace(1e-14 * end, end, _PLACES), np.linspace(0.0, min(end, _EDGE), _PLACES // 2))
        )
        return np.asarray(np.clip(end - np.unique(away)[::-1], 0.0, end), dtype=np.float64)

    def _worst_place(self, epsilon: FloatArray) -> FloatArray:
        """Scan the places, then refine the best one by golden section."""
        grid = self._places
        top = self._pair(epsilon[:, None], grid).argmax(axis=1)
        low, high = grid[np.maximum(top - 1, 0)], grid[np.minimum(top + 1, grid.size - 1)]
        ratio = (np.sqrt(5.0) - 1) / 2
        for _ in range(40):
            c, e = high - ratio * (high - low), low + ratio * (high - low)
            worse = self._pair(epsilon, c) < self._pair(epsilon, e)
            low, high = np.where(worse, c, low), np.where(worse, high, e)
        found = np.stack((0.5 * (low + high), grid[top]))
        value = np.stack([self._pair(epsilon, place) for place in found])
        return np.asarray(np.where(value[0] >= value[1], found[0], found[1]), dtype=np.float64)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the largest delta found, and the same with a margin for rounding and for the search."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        e = np.minimum(np.abs(epsilon), self.max_loss)
        lower, upper = np.empty(e.size), np.empty(e.size)
        step = _CELLS // self._places.size
        for start in range(0, e.size, step):
            part = slice(start, start + step)
            place = self._worst_place(e[part])
            lower[part] = self._pair(e[part], place, -_ROUNDING) * (1 - _ROUNDING)
            upper[part] = self._pair(e[part], place, _ROUNDING) * (1 + _SLACK)
        beyond = np.abs(epsilon) >= self.max_loss
        lower, upper = np.where(beyond, 0.0, lower), np.where(beyond, 0.0, upper)
        down = np.minimum(epsilon, 0.0)
        lower, upper = (np.where(epsilon >= 0, d, mirrored_delta(down, d)) for d in (lower, upper))
        return lower, np.asarray(np.minimum(upper, 1.0), dtype=np.float64)

    def inverse(self) -> BoundedLaplace:
        """Return itself: all pairs in both orders are covered."""
        return self
