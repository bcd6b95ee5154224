"""The worst case over all exponential mechanisms (losses of range epsilon), once and adaptively repeated.

For t in [0, eps] the extreme pair has the losses t and t - eps with P1 masses q_t = (1 - e^(t-eps)) / (1 - e^-eps) and
1 - q_t. Their union is f(a) = (1 - a) / (1 + (e^eps - 1) a). When each choice may depend on the ones before, the
worst case of k choices obeys, with delta_0(x) = (1 - e^x)_+ (Dong, Durfee, Rogers 2020),

    delta_j(x) = max over t of q_t delta_(j-1)(x - t) + (1 - q_t) delta_(j-1)(x - t + eps).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from dpcore.core.effort import checkpoint, current
from dpcore.core.lazy import Lazy
from dpcore.core.question import remark
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss, mirrored_delta

_TALLEST = 1e6
"""Imaginary part up to which the transform is used: it fades only as 1/y; without a faster factor a lattice is used."""

_LARGEST = 700.0  # epsilon up to which e^epsilon is a double

_ROUNDING = 1e-14
"""Relative rounding of one step: about ten operations on terms up to e^h times their sum, with cells of width h <= 1."""


_PARTS = 8  # pieces of a cell of t that may hold the optimum: fewer cost rounds, more cost cells without it


class BoundedRange(Curve):
    """One choice: f(a) = (1 - a) / (1 + (e^eps - 1) a), profile (e^(eps/2) - e^(x/2))^2 / (e^eps - 1) on [-eps, eps].

    The second derivative of the profile in e^x is the law of the loss: under P1 its density is e^(x/2) / (4 sinh(eps/2))
    on [-eps, eps], without atoms.
    """

    tallest = _TALLEST

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
        if self.epsilon > _LARGEST:
            value = np.asarray(expit(-self._log_odds(a)), dtype=np.float64)
            return value, value
        value = (1.0 - a) / (1.0 + np.expm1(self.epsilon) * a)
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return e^eps a / (1 + (e^eps - 1) a)."""
        a = np.asarray(alpha, dtype=np.float64)
        if self.epsilon > _LARGEST:
            value = np.asarray(expit(self._log_odds(a)), dtype=np.float64)
            return value, value
        grow = np.expm1(self.epsilon)
        value = np.minimum((grow + 1.0) * a / (1.0 + grow * a), 1.0)  # rounding alone may lift it above 1
        return value, value

    def _log_odds(self, alpha: FloatArray) -> FloatArray:
        """Return the logarithm of the odds of the power, those of alpha times e^eps, which may be no double."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.epsilon + np.log(alpha) - np.log1p(-alpha), dtype=np.float64)

    def inverse(self) -> BoundedRange:
        """Return itself: the curve is symmetric."""
        return self

    def group(self, size: int) -> BoundedRange:
        """Return the curve of size * epsilon: its power multiplies the odds of alpha by e^epsilon."""
        return BoundedRange(largest_loss([(self.epsilon, size)]))

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s), M = sinh(z eps) / (2z sinh(eps/2)), z = s + 1/2.

        M is even in z. With Re z >= 0 it is e^((z - 1/2) eps) (1 - e^(-2 z eps)) / (2z (1 - e^-eps)), where nothing
        overflows; at z = 0 the fraction is eps / (1 - e^-eps).
        """
        at = np.asarray(s, dtype=np.complex128)
        at = np.where(at.real < -0.5, -1.0 - at, at)  # z - 1/2, with all its digits
        z = at + 0.5
        zero = z == 0.0
        twice = 2.0 * np.where(zero, 1.0, z)
        ratio = np.where(zero, -self.epsilon, np.expm1(-twice * self.epsilon) / twice) / np.expm1(-self.epsilon)
        with np.errstate(divide="ignore"):  # M has zeros on the line Re z = 0
            return np.asarray(at * self.epsilon + np.log(ratio), dtype=np.complex128)

    @property
    def mgf_rounding(self) -> float:
        """Rounding of the exponential, a division and a logarithm, each a few units: below 15, doubled."""
        return 32.0

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound from abs(sinh) <= cosh and abs(z) >= hypot(Re z, y)."""
        z = abs(c + 0.5)
        least = z / math.tanh(z * self.epsilon) if z * self.epsilon > 1e-8 else (1.0 + 1e-15) / self.epsilon
        return min(0.0, math.log(least / math.hypot(z, y)) + 1e-14) if y > 0.0 else 0.0


class _RangeSearch(NamedTuple):
    """One step of the recursion: the largest values attained and the largest bounds so far, and the padded deltas before it."""

    least: FloatArray
    most: FloatArray
    below: FloatArray
    above: FloatArray
    step: int


class _Recursion:
    """The recursion for k choices on a grid of losses, `cells` to an epsilon.

    With t and x on the grid h Z, h = eps / cells, it needs no interpolation and gives a lower delta. For the upper one the
    maximum over each cell of t is bounded by chords (see `_cell_bound`); both errors are of order h^2.
    """

    def __init__(self, epsilon: float, k: int, cells: int) -> None:
        self.epsilon, self.k, self.cells = epsilon, k, cells

    @Lazy
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Grid of x from 0 upwards, and the lower and upper deltas on it after k choices."""
        low, high = np.zeros(1), np.zeros(1)
        for step in range(1, self.k + 1):
            low, high = self._step(low, high, step)
            checkpoint((step / self.k) ** 2)
        return np.asarray(np.arange(self.k * self.cells + 1) * (self.epsilon / self.cells)), low, high

    def _padded(self, delta: FloatArray) -> FloatArray:
        """Return delta with one epsilon of room below 0, by symmetry, and two above its end, where it is 0."""
        m = self.cells
        beyond = np.concatenate((delta, np.zeros(2 * m)))
        below = np.asarray(np.arange(-m, 0) * (self.epsilon / m), dtype=np.float64)
        return np.concatenate((mirrored_delta(below, beyond[m:0:-1]), beyond))

    def _shifted(self, padded: FloatArray, by: int, step: int) -> FloatArray:
        """Return delta(x - by h) for every x of the grid after `step` choices, a view."""
        start = self.cells - by
        return padded[start : start + step * self.cells + 1]

    def _step(self, low: FloatArray, high: FloatArray, step: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper deltas after one more choice.

        Wide cells of t come first, and only where the upper bound of one is above every value attained so far is it divided: a
        band of narrow cells around the optimum of each x is left.
        """
        size = step * self.cells + 1
        search = _RangeSearch(np.zeros(size), np.zeros(size), self._padded(low), self._padded(high), step)
        whole = slice(0, size)
        # no wider than 1: the rounding of a bound grows with the exponential of the width
        self._divide(search, (0, self.cells), whole, max(_PARTS, math.ceil(self.epsilon)))
        for j in (0, self.cells):
            self._raise_lower(search, j, whole)
        # what was left out lies below the values attained
        most = np.maximum(search.most, search.least)
        return search.least * (1 - _ROUNDING), np.asarray(np.minimum(most * (1 + _ROUNDING), 1.0), dtype=np.float64)

    def _divide(self, search: _RangeSearch, cell: tuple[int, int], part: slice, pieces: int) -> None:
        """Search the pieces of a cell of t for the largest values in a range of x."""
        first, last = cell
        ends = np.unique(np.linspace(first, last, min(pieces, last - first) + 1).astype(np.int64)).tolist()
        for j in ends[1:-1]:
            self._raise_lower(search, j, part)
        for piece in pairwise(ends):
            checkpoint()
            bound = self._cell_bound(search.above, piece, search.step, part)
            open_ = np.flatnonzero(bound > search.least[part] * (1 - _ROUNDING))
            if not open_.size:
                continue
            begin, end = int(open_[0]), int(open_[-1]) + 1
            inner = slice(part.start + begin, part.start + end)
            if piece[1] - piece[0] > 1:
                self._divide(search, piece, inner, _PARTS)
            else:
                np.maximum(search.most[inner], bound[begin:end], out=search.most[inner])

    def _raise_lower(self, search: _RangeSearch, j: int, part: slice) -> None:
        """Raise the best values so far to those of t = j h, in a range of x."""
        h = self.epsilon / self.cells
        q = np.expm1(j * h - self.epsilon) / np.expm1(-self.epsilon)
        rest = np.expm1(j * h) / np.expm1(self.epsilon)
        value = q * self._shifted(search.below, j, search.step)[part]
        value += rest * self._shifted(search.below, j - self.cells, search.step)[part]
        np.maximum(search.least[part], value, out=search.least[part])

    def _cell_bound(self, room: FloatArray, cell: tuple[int, int], step: int, part: slice) -> FloatArray:
        """Bound the maximum over t between two multiples of h from above, in a range of x.

        In u = e^-t the value is ((u - r) A(u) + (1 - u) B(u)) / (1 - r), r = e^-eps, with A(u) = D(yu)/u and
        B(u) = r D(yu/r)/u, D the profile in y = e^x. D is a maximum of lines a - bz with a >= 0, so A and B are
        convex in u and lie below their chords; with chords the value is a quadratic, maximised in closed form.
        """
        m, h = self.cells, self.epsilon / self.cells
        r, whole = np.exp(-self.epsilon), -np.expm1(-self.epsilon)
        (i, j), (start, u) = cell, (float(np.exp(-one * h)) for one in cell)
        # u - r and 1 - u, without subtracting: for a small epsilon the difference would lose all digits
        above, below = r * np.expm1(self.epsilon - j * h), -np.expm1(-j * h)
        a, b = self._shifted(room, j, step)[part] / u, (r / u) * self._shifted(room, j - m, step)[part]
        width = u * np.expm1((j - i) * h)
        da = self._shifted(room, i, step)[part] / start - a
        db = (r / start) * self._shifted(room, i - m, step)[part] - b
        constant = above * a + below * b
        linear = above * da + width * a + below * db - width * b
        square = width * (da - db)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.where(square < 0, np.clip(-linear / (2 * square), 0.0, 1.0), 1.0)
        inner = constant + top * (linear + top * square)
        return np.asarray(np.maximum(np.maximum(constant, constant + linear + square), inner) / whole, dtype=np.float64)


class AdaptiveRange(Curve):
    """k choices, each made after seeing the earlier ones.

    A bracket, on a grid that is refined until the bracket is narrow or the work too large.
    """

    exact, certified = False, True
    work = 2.0
    LARGEST_K: ClassVar[int] = 256  # where the first grid has 9 cells to an epsilon, close to the fewest allowed
    LARGEST_EPSILON: ClassVar[float] = 300.0  # chords divide by e^-epsilon
    _WORK: ClassVar[float] = 6e6  # (k cells)^2 of the first grid, a tenth of a second or so
    _SECONDS: ClassVar[float] = 0.5  # time of the finest grid
    _MOST_WORK: ClassVar[float] = 4.5e8  # work of the finest grid; with less, top_k(1, 2..10) at 1e-6 is refused

    def __init__(self, epsilon: float, k: int) -> None:
        self.epsilon, self.k = epsilon, k
        self.max_loss = largest_loss([(epsilon, k)])
        self.min_loss = -self.max_loss
        self.method = "bounded range, adaptive composition"
        self._coarsest = self._cells(epsilon, k)
        self._recursions: dict[int, _Recursion] = {}

    @classmethod
    def _cells(cls, epsilon: float, k: int) -> int:
        """Return the number of cells per epsilon of the first grid: what the work allows, none wider than 1."""
        return max(int(np.clip(np.sqrt(cls._WORK) / k, 8, 650)), int(np.ceil(min(epsilon, 1e9))))

    @classmethod
    def fits(cls, epsilon: float, k: int) -> bool:
        """Whether the recursion is feasible: its first grid is within the most work, and its steps are doubles."""
        small = k <= cls.LARGEST_K and epsilon <= cls.LARGEST_EPSILON
        return small and (k * cls._cells(epsilon, k)) ** 2 <= cls._MOST_WORK

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket of each epsilon, from the first of ever finer grids that meets the tolerance."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        cells = self._coarsest
        lower, upper = self._bracket(self._recursion(cells), epsilon)
        # each grid takes four times the work of the one before: at most a few of them
        while (2 * self.k * cells) ** 2 <= self._MOST_WORK:
            wide = np.flatnonzero(upper - lower > current().tolerance * upper)
            if not wide.size:
                break
            cells *= 2
            lower[wide], upper[wide] = self._bracket(self._recursion(cells), epsilon[wide])
        self._remark(lower, upper, cells)
        return lower, upper

    def _remark(self, lower: FloatArray, upper: FloatArray, cells: int) -> None:
        """Keep how long the tolerance would take where the last grid is too coarse: the work grows like the inverse of the width."""
        width = float(np.max((upper - lower) / np.maximum(upper, 1e-300), initial=0.0))
        if width > current().tolerance:
            share = (self.k * cells) ** 2 / self._MOST_WORK
            remark(self._SECONDS * share * width / current().tolerance)

    def _recursion(self, cells: int) -> _Recursion:
        """Return the recursion on one grid; cached, since it does not depend on the question."""
        if cells not in self._recursions:
            self._recursions[cells] = _Recursion(self.epsilon, self.k, cells)
        return self._recursions[cells]

    def _bracket(self, recursion: _Recursion, epsilon: FloatArray) -> Bounds:
        """Return chords as the upper side, extended chords as the lower one; negative epsilon by symmetry."""
        e = np.abs(np.asarray(epsilon, dtype=np.float64))
        x, low, high = recursion.tables
        upper = self._on_chords(x, high, e)
        lower = self._from_the_right(x, low, high, e)
        inside = e < self.max_loss
        lower, upper = np.where(inside, np.minimum(lower, upper), 0.0), np.where(inside, upper, 0.0)
        down = np.minimum(np.asarray(epsilon, dtype=np.float64), 0.0)
        lower, upper = (np.where(np.asarray(epsilon) >= 0, d, mirrored_delta(down, d)) for d in (lower, upper))
        return lower, upper

    @staticmethod
    def _on_chords(x: FloatArray, high: FloatArray, e: FloatArray) -> FloatArray:
        """Return an upper delta between grid points: the chord in e^x, above a convex profile; e^x itself may overflow."""
        at = np.clip(np.searchsorted(x, e) - 1, 0, x.size - 2)
        share = np.expm1(np.clip(e - x[at], 0.0, x[at + 1] - x[at])) / np.expm1(x[at + 1] - x[at])
        return np.asarray(high[at] + share * (high[at + 1] - high[at]), dtype=np.float64)

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
