r"""Meet in the middle: products of up to about forty two-point parts, exactly and without listing them.

The parts are dealt into two halves A and B. With :math:`\delta_B` the profile of one half,

.. math:: \delta_{A \otimes B}(\varepsilon) = \sum_a q_a\, \delta_B(\varepsilon - L_a),

and tail masses split the same way: a sum over one half of positive terms looked up in the other. Twenty parts need
2^10 look-ups per value instead of 2^20 combinations, forty parts 2^20 instead of 2^40.

Reference: E. Horowitz and S. Sahni, "Computing partitions with applications to the knapsack problem", 1974.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.lazy import Lazy
from dpcore.engine import profile
from dpcore.engine.enumeration import Signed, SmallProduct, few, product, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from dpcore.engine.enumeration import Columns, FloatArray, IntArray

_CHUNK = 1 << 13
"""Look-ups at once: working arrays of 64 kB are reused, larger ones are fetched anew from the system each time."""


class Tails(NamedTuple):
    """Masses beyond a loss threshold t: a test that rejects P0 when the loss exceeds t.

    Attributes
    ----------
    alpha : ndarray of float
        P0(L > t), its false-positive rate.
    power : ndarray of float
        P1(L > t).
    beta : ndarray of float
        P1(L <= t), its false-negative rate, from its own sum: tiny values keep their digits.
    """

    alpha: FloatArray
    power: FloatArray
    beta: FloatArray


def _deal(sizes: Sequence[int]) -> tuple[list[int], list[int]]:
    """Deal parts, by their numbers of atoms, into two halves of nearly equal numbers of combinations, the largest first."""
    if len(set(sizes)) == 1:
        return list(range(0, len(sizes), 2)), list(range(1, len(sizes), 2))
    halves: tuple[list[int], list[int]] = ([], [])
    weight = [0.0, 0.0]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        lighter = int(weight[1] < weight[0])
        halves[lighter].append(place)
        weight[lighter] += math.log(max(1, sizes[place]))
    return halves


def _most(sizes: Sequence[int], dealt: tuple[list[int], list[int]]) -> int:
    """Return the number of combinations of the larger half."""
    return max(math.prod([sizes[place] for place in half]) for half in dealt)


class Halves:
    """The product of many small parts, kept as two halves.

    Parameters
    ----------
    parts : sequence of Columns
        Triples (loss, p, q) of finite losses and masses; mass at infinite losses is the caller's: with all finite
        P1-masses adding to c, the profile of the whole is 1 - c + `delta`.
    symmetric : bool, default False
        Whether every part is its own mirror image.

    Notes
    -----
    Memory is about 100 bytes for each combination of one half: 100 MB for forty two-point parts. One value costs one
    look-up for each combination of the smaller half (about 40 ns).
    """

    def __init__(self, parts: Sequence[Columns], *, symmetric: bool = False) -> None:
        sizes = [len(part[0]) for part in parts]
        dealt = _deal(sizes)
        effort.claim(100.0 * min(_most(sizes, dealt), 1e300), f"Half the list of combinations of {len(parts)} parts")
        first, second = ([parts[place] for place in half] for half in dealt)
        if few(first) and few(second):
            kind = Signed if symmetric and signed(first) and signed(second) else SmallProduct
            smaller, larger = kind(first), kind(second)
            if larger.loss.size < smaller.loss.size:
                smaller, larger = larger, smaller
            self._lists = smaller, larger
            left, right = (smaller.loss, smaller.q), (larger.loss, larger.q)
        else:
            one, two = sorted((product(first), product(second)), key=lambda half: half[0].size)
            left, right = (one[0], one[2]), (two[0], two[2])
            self._p, self._other_p = np.ascontiguousarray(one[1][::-1]), two[1]
        # descending, so that the thresholds epsilon - L_a ascend and neighbouring look-ups share memory
        self._loss, self._q = (np.ascontiguousarray(column[::-1]) for column in left)
        self._other_loss, self._other_q = right

    @Lazy
    def _p(self) -> FloatArray:
        return self._lists[0].p[::-1]

    @Lazy
    def _other_p(self) -> FloatArray:
        return self._lists[1].p

    @staticmethod
    def count(sizes: Sequence[int]) -> int:
        """Return the number of combinations in the larger half, for parts with these numbers of atoms."""
        return _most(sizes, _deal(sizes))

    @Lazy
    def _tables(self) -> profile.Tables:
        return profile.tables(self._other_loss, self._other_q)

    @Lazy
    def _suffixes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        below = profile.suffix_sums(self._other_q[::-1])[::-1]
        return profile.suffix_sums(self._other_p), profile.suffix_sums(self._other_q), below

    def _walk(
        self,
        values: FloatArray,
        visit: Callable[[int, int, slice, FloatArray, IntArray], None],
        stop: float | None = None,
    ) -> None:
        """Call `visit(row, rows, part, thresholds, positions)` for all values and all of A, a chunk at a time.

        Chunks whose thresholds all reach `stop` are left out.
        """
        size = self._loss.size
        rows = max(1, _CHUNK // size)
        for row in range(0, values.size, rows):
            some = values[row : row + rows, None]
            for low in range(0, size, _CHUNK):
                part = slice(low, min(size, low + _CHUNK))
                threshold = some - self._loss[part]
                if stop is not None and some.size == 1 and threshold[0, 0] >= stop:
                    break
                visit(row, some.size, part, threshold, self._places(threshold))
            effort.checkpoint(row / values.size)

    def _places(self, threshold: FloatArray) -> IntArray:
        """Return how many losses of the other half are at most each threshold."""
        other = self._other_loss
        if len(threshold) > 1:
            return other.searchsorted(threshold, side="right")
        # thresholds ascend along a row: a short stretch of the other half contains the places of a piece of one
        first = int(other.searchsorted(threshold[0, 0]))
        last = int(other.searchsorted(threshold[0, -1], side="right"))
        return first + other[first:last].searchsorted(threshold, side="right")

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return sum over pairs with L_a + L_b > epsilon of q_a q_b (1 - e^(epsilon - L_a - L_b)), positive terms."""
        shape = np.shape(epsilon)
        values = _flat(epsilon)
        out = np.zeros(values.size)
        if not self._other_loss.size or not self._loss.size:
            return out.reshape(shape)
        table = self._tables

        def visit(row: int, rows: int, part: slice, threshold: FloatArray, place: IntArray) -> None:
            exponent = threshold - self._other_loss.take(place, mode="clip")
            terms = table.delta.take(place) - np.expm1(np.minimum(exponent, 0.0)) * table.discounted.take(place)
            out[row : row + rows] += terms @ self._q[part]

        with np.errstate(under="ignore"):
            self._walk(values, visit, stop=float(self._other_loss[-1]))
        return out.reshape(shape)

    def tails(self, threshold: ArrayLike) -> Tails:
        """Return the masses beyond each threshold.

        A threshold on a loss of the product, up to rounding, puts the pairs that make it up on either side, but the
        same pairs for all three numbers: (alpha, beta) is then a point of the segment of that loss.
        """
        shape = np.shape(threshold)
        values = _flat(threshold)
        alpha, power, beta = np.zeros(values.size), np.zeros(values.size), np.zeros(values.size)
        if self._other_loss.size and self._loss.size:
            p_above, q_above, q_below = self._suffixes

            def visit(row: int, rows: int, part: slice, _threshold: FloatArray, place: IntArray) -> None:
                alpha[row : row + rows] += p_above[place] @ self._p[part]
                power[row : row + rows] += q_above[place] @ self._q[part]
                beta[row : row + rows] += q_below[place] @ self._q[part]

            with np.errstate(under="ignore"):
                self._walk(values, visit)
        return Tails(alpha.reshape(shape), power.reshape(shape), beta.reshape(shape))


def _flat(values: ArrayLike) -> FloatArray:
    flat = np.asarray(values, dtype=np.float64).ravel()
    profile.refuse_nan(flat)
    return flat
