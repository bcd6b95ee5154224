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

*No place is worse.* A search finds a place, and a division of all places into cells proves that no other one has a delta larger
by more than 5e-10 of itself. Let D = e^-d, A = e^-a, h = e^-s, u = 1 - D, P = 1 - e^-2z, Q = (1 - e^-z)^2, so delta = (uP + Q)/C(b).
Along d, A' = A and D' = -D, so C(b)' = D - hA and C(a)' = hD - A, and

.. math:: z' = -\frac{(1-h)\,[A u + D(1-hA)]}{C(a)C(b)} \le 0, \qquad
          \delta' = \frac{DP}{C(b)} + \frac{2 z' e^{-z}\,(u e^{-z} + 1 - e^{-z})}{C(b)} - \frac{(uP+Q)\,C(b)'}{C(b)^2},

the first from 2z' = C(a)'/C(a) - C(b)'/C(b) over one denominator. Every factor is monotone in d, so its values at the ends of a cell bound it
inside, and with them both the delta and its slope. In a cell whose slope has one sign the largest delta is at an end; in any other one it
is at most the value in the middle plus half the width times the largest slope, and at most the largest (uP + Q) over the least C(b).
Cells where this is above the delta found are halved, until none is left.

*Rounding.* The distance a is off by 2u w at most (w the width), and e^-a by as much of itself: k is off by 4u (1 + w) A (1-h)/C(b) and 36u of
itself, z by half of that and 36u (s + epsilon), C(b) by 2u w A/C(b) of itself. Then follow sums and products of terms of one sign:
16 units of library functions and operations, 36 are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, Curve, FloatArray, check_shift, mirrored_delta

_PLACES = 200  # places scanned on a geometric grid, 14 per power of ten; half as many even ones near the end
_STEPS = 32  # golden sections to 2e-7 of a cell: what that misses of a maximum is below rounding
_EDGE = 16.0  # reach of the even places in units of the scale: beyond it an end matters only by e^-16
_FAR = 800.0  # e^-800 is below every double: an end farther away has no effect
_ROUNDING = 4e-15  # 36 units of 2^-53
_CLOSE = 5e-10  # relative amount by which the proved largest delta may exceed the one found
_SLOPE = 1e-12  # relative rounding of the terms of a slope
_MOST_HALVINGS = 24  # halvings of a cell: after them the bound stays wider; a smooth maximum takes about ten
_MOST_CELLS = 20_000  # for each epsilon, on average; about twenty are usual
_CELLS = 200_000  # epsilons times places in memory at once: about thirty arrays of 2 MB


class _PlaceCells(NamedTuple):
    """Intervals of places, by their distances from the upper end."""

    near: FloatArray
    far: FloatArray


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

    def _pair(self, epsilon: FloatArray, d: FloatArray, side: float = 0.0) -> FloatArray:
        """Return delta of the pair whose upper answer is d below the end, epsilon >= 0: below or above it with rounding for `side` -1 or 1."""
        kappa, norm = self._kappa(d), self._norm(d)
        z = (self.shift + kappa - epsilon) / 2
        if side:
            felt = 1e-15 * (1.0 + self.width) * np.exp(d - (self.width - self.shift)) / norm
            z = z + side * (_ROUNDING * (self.shift + epsilon + np.abs(kappa)) - felt * np.expm1(-self.shift))
        z = np.maximum(z, 0.0)
        m = np.expm1(-z)  # 1 - e^-2z is -m (2 + m)
        above = m * (m + np.expm1(-d) * (2.0 + m))
        if side:
            above = above * (1.0 + side * (_ROUNDING + felt))
        return np.asarray(above / norm, dtype=np.float64)

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

    def _largest(self, epsilon: FloatArray, place: FloatArray) -> FloatArray:
        """Return an upper bound of delta over all places at each epsilon, close to that of one place."""
        low = self._pair(epsilon, place, 1.0)
        edges = self._places
        if edges[-1] <= 0.0:
            return self._pair(epsilon, np.zeros_like(epsilon), 1.0)
        # next to the largest loss z is small, and its rounding exceeds what is asked for elsewhere
        at_place = np.maximum((self.shift + self._kappa(place) - epsilon) / 2, 1e-300)
        goal = low * (1.0 + _CLOSE + np.minimum(16.0 * _ROUNDING * (self.shift + epsilon) / at_place, 1.0))
        upper = low.copy()
        # most cells are settled by the largest numerator over the least denominator
        z = (self.shift + self._kappa(edges[:-1]) - epsilon[:, None]) / 2
        m = -np.expm1(-np.maximum(z * (1.0 + _SLOPE) + _ROUNDING * (self.shift + epsilon[:, None]), 0.0))
        least = -np.expm1(-edges[:-1]) - np.expm1(edges[1:] - self.width)
        whole = m * (m - np.expm1(-edges[1:]) * (2.0 - m)) / least * (1.0 + _SLOPE)
        at, cell = np.nonzero(whole > goal[:, None])
        np.maximum(upper, np.where(whole > goal[:, None], 0.0, whole).max(axis=1), out=upper)
        cells = _PlaceCells(edges[cell], edges[cell + 1])
        for halving in range(_MOST_HALVINGS):
            checkpoint()
            bound = self._cell_bounds(epsilon[at], cells)
            middle = 0.5 * (cells.near + cells.far)
            open_ = (bound > goal[at]) & (middle > cells.near) & (middle < cells.far)
            if halving == _MOST_HALVINGS - 1 or np.count_nonzero(open_) > min(_MOST_CELLS * epsilon.size, _CELLS):
                open_[:] = False
            np.maximum.at(upper, at[~open_], bound[~open_])
            if not open_.any():
                break
            near, middle, far = cells.near[open_], middle[open_], cells.far[open_]
            at = np.tile(at[open_], 2)
            cells = _PlaceCells(np.concatenate((near, middle)), np.concatenate((middle, far)))
        return upper

    def _cell_bounds(self, epsilon: FloatArray, cells: _PlaceCells) -> FloatArray:
        """Return an upper bound of delta over each cell of places, one epsilon for each; see the module."""
        near, far = cells
        ends = [self._pair(epsilon, end, 1.0) for end in cells]
        z1, z2 = (np.maximum((self.shift + self._kappa(end) - epsilon) / 2, 0.0) for end in cells)
        z1 = z1 * (1.0 + _SLOPE) + _ROUNDING * (self.shift + epsilon)
        z2 = np.maximum(z2 * (1.0 - _SLOPE) - _ROUNDING * (self.shift + epsilon), 0.0)
        apart = self.width - self.shift
        d1, d2, u1, u2 = np.exp(-near), np.exp(-far), -np.expm1(-near), -np.expm1(-far)
        a1, a2 = np.exp(near - apart), np.exp(far - apart)
        b_low, b_high = u1 - np.expm1(far - self.width), u2 - np.expm1(near - self.width)
        lower_low = -np.expm1(far - apart) - np.expm1(-(near + self.shift))
        lower_high = -np.expm1(near - apart) - np.expm1(-(far + self.shift))
        h, moved = np.exp(-self.shift), -np.expm1(-self.shift)
        m1, m2, e1, e2 = -np.expm1(-z1), -np.expm1(-z2), np.exp(-z1), np.exp(-z2)
        n_low, n_high = u1 * m2 * (1.0 + e2) + m2 * m2, u2 * m1 * (1.0 + e1) + m1 * m1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            first = d2 * m2 * (1.0 + e2) / b_high, d1 * m1 * (1.0 + e1) / b_low
            fall = (
                moved * (a1 * u1 + d2 * (1.0 - h * a2)) / (lower_high * b_high),
                moved * (a2 * u2 + d1 * (1.0 - h * a1)) / (lower_low * b_low),
            )
            second = 2.0 * fall[0] * (u1 * e1 + m2) * e1 / b_high, 2.0 * fall[1] * (u2 * e2 + m1) * e2 / b_low
            turn_low, turn_high = d2 - h * a2, d1 - h * a1
            most, least = n_high / b_low**2, n_low / b_high**2
            third = (
                np.where(turn_low < 0.0, turn_low * most, turn_low * least),
                np.where(turn_high > 0.0, turn_high * most, turn_high * least),
            )
            blur = _SLOPE * (first[1] + second[1] + (np.abs(turn_low) + np.abs(turn_high)) * most)
            low = first[0] - second[1] - third[1] - blur
            high = first[1] - second[0] - third[0] + blur
            # where the loss falls below epsilon inside the cell the slope is 0 from there on
            low, high = np.where(z2 > 0.0, low, np.minimum(low, 0.0)), np.where(z2 > 0.0, high, np.maximum(high, 0.0))
            steepest = np.maximum(np.abs(low), np.abs(high))
            middle = self._pair(epsilon, 0.5 * (near + far), 1.0) + 0.5 * (far - near) * (1.0 + 1e-12) * steepest
            whole = n_high / b_low * (1.0 + _SLOPE)
        inside = np.fmin(middle, whole)
        ends_alone = np.maximum(*ends)
        return np.asarray(np.where((low >= 0.0) | (high <= 0.0), ends_alone, np.maximum(inside, ends_alone)))

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the delta of the place that a search found, and a bound that no place exceeds."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        e = np.minimum(np.abs(epsilon), self.max_loss)
        lower, upper = np.empty(e.size), np.empty(e.size)
        step = _CELLS // self._places.size
        for start in range(0, e.size, step):
            part = slice(start, start + step)
            place = self._worst_place(e[part])
            lower[part] = self._pair(e[part], place, -1.0)
            upper[part] = self._largest(e[part], place)
        beyond = np.abs(epsilon) >= self.max_loss
        lower, upper = np.where(beyond, 0.0, lower), np.where(beyond, 0.0, upper)
        down = np.minimum(epsilon, 0.0)
        lower, upper = (np.where(epsilon >= 0, d, mirrored_delta(down, d)) for d in (lower, upper))
        return lower, np.asarray(np.minimum(upper, 1.0), dtype=np.float64)

    def inverse(self) -> BoundedLaplaceCurve:
        """Return itself: all pairs in both orders are covered."""
        return self
