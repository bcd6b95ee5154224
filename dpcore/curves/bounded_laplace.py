r"""Laplace noise cut to an interval: the worst over all pairs of true answers inside it.

In units of the scale, with true answers m in [0, w], the output density is e^(-\|x - m\|)/C(m) on [0, w],
C(m) = 2 - e^-m - e^-(w-m). The output is stochastically larger for a larger m and its likelihood ratio rises in x, so
the best tests reject above a threshold and delta grows with the upper answer and falls with the lower one: only pairs
(a, a + s) exactly the sensitivity s apart matter. Reflection turns (a + s, a) into (w - a - s, w - a), so a < a + s is
enough. With b = a + s, d = w - b and k = log(C(a)/C(b)), where C(a) - C(b) = (1 - e^-s)(e^-d - e^-a), the loss rises
from k - s at a to k + s at b, and for epsilon >= 0

.. math:: \delta = \frac{(1-e^{-d})(1-e^{-2z}) + (1-e^{-z})^2}{C(b)},\qquad z = \frac{s+k-\varepsilon}{2}\ge 0,

all terms positive (k < s, so z <= s there). k rises with a, because log C is concave: the largest loss is at d = 0.
A place is described by d, its distance from the end where the losses are largest, which keeps its digits there.
"""

from __future__ import annotations

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, Curve, FloatArray, check_shift, mirrored_delta

_PLACES = 200  # places scanned on a geometric grid, 14 per power of ten; half as many even ones near the end
_STEPS = 32  # golden sections to 2e-7 of a cell: what that misses of a maximum is below rounding
_EDGE = 16.0  # reach of the even places in units of the scale: beyond it an end is felt by e^-16 only
_FAR = 800.0  # e^-800 is below every double: an end farther away has no effect
_ROUNDING = 4e-15  # relative rounding of a loss and of a delta, some ten operations
_SLACK = 1e-9  # raises the upper side for what the search misses; smaller, and it would rest on the search alone
_CELLS = 2_000_000  # epsilons times places in memory at once, 16 MB


class BoundedLaplaceCurve(Curve):
    """The union over pairs of answers at most `shift` apart in an interval of length `width` (both over the scale)."""

    exact = False
    work = 20.0

    def __init__(self, width: float, shift: float) -> None:
        self.shift = check_shift("The largest loss without the cut", min(shift, width))
        # an end farther away has no effect
        self.width = min(width, self.shift + 2 * _FAR)
        self.max_loss = float(self.shift + self._kappa(np.zeros(1))[0]) * (1 + _ROUNDING)
        self.min_loss = -self.max_loss
        self.method = "truncated Laplace, worst pair of answers"

    def _norm(self, d: FloatArray) -> FloatArray:
        """Return C(b) of the upper answer, d below the upper end."""
        return np.asarray(-np.expm1(-(self.width - d)) - np.expm1(-d), dtype=np.float64)

    def _kappa(self, d: FloatArray) -> FloatArray:
        """Return log(C(a)/C(b)) without the difference of two logarithms that are nearly equal for a small move."""
        a = np.maximum(self.width - self.shift - d, 0.0)
        nearer = np.sign(a - d) * np.exp(-np.minimum(a, d)) * -np.expm1(-np.abs(a - d))
        apart = -np.expm1(-self.shift) * nearer
        return np.asarray(np.log1p(apart / self._norm(d)), dtype=np.float64)

    def _pair(self, epsilon: FloatArray, d: FloatArray, push: float = 0.0) -> FloatArray:
        """Return delta of the pair whose upper answer is d below the end, epsilon >= 0; `push` moves the loss for rounding."""
        z = np.maximum((self.shift + self._kappa(d) - epsilon) / 2 + push * (self.shift + epsilon), 0.0)
        m = np.expm1(-z)  # 1 - e^-2z is -m (2 + m)
        above = m * (m + np.expm1(-d) * (2.0 + m))
        return np.asarray(above / self._norm(d), dtype=np.float64)

    @Lazy
    def _places(self) -> FloatArray:
        """Distances from the upper end to try: losses change fastest there, and nearer to it for larger epsilons."""
        end = self.width - self.shift
        if end <= 0:
            return np.zeros(2)
        distances = (np.geomspace(1e-14 * end, end, _PLACES), np.linspace(0.0, min(end, _EDGE), _PLACES // 2))
        return np.unique(np.clip(np.concatenate(distances), 0.0, end))

    def _worst_place(self, epsilon: FloatArray) -> FloatArray:
        """Scan the places, then refine the best one by golden section."""
        grid = self._places
        top = self._pair(epsilon[:, None], grid).argmax(axis=1)
        low, high = grid[np.maximum(top - 1, 0)], grid[np.minimum(top + 1, grid.size - 1)]
        ratio = (np.sqrt(5.0) - 1) / 2
        c, e = high - ratio * (high - low), low + ratio * (high - low)
        at_c, at_e = self._pair(epsilon, c), self._pair(epsilon, e)
        for step in range(_STEPS):
            checkpoint(step / _STEPS)
            worse = at_c < at_e
            low, high = np.where(worse, c, low), np.where(worse, high, e)
            new = np.where(worse, low + ratio * (high - low), high - ratio * (high - low))
            at_new = self._pair(epsilon, new)
            c, e = np.where(worse, e, new), np.where(worse, new, c)
            at_c, at_e = np.where(worse, at_e, at_new), np.where(worse, at_new, at_c)
        places = np.stack((0.5 * (low + high), grid[top]))
        value = np.stack([self._pair(epsilon, place) for place in places])
        return np.asarray(np.where(value[0] >= value[1], places[0], places[1]), dtype=np.float64)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the largest delta of the search, and the same with a margin for rounding and for the search."""
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

    def inverse(self) -> BoundedLaplaceCurve:
        """Return itself: all pairs in both orders are covered."""
        return self
