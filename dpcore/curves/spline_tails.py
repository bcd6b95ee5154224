"""Trade-off points of Laplace powers from the tail masses of their splines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.engine import splines


class SplineTails:
    """Trade-off points of a Laplace power: thresholds between its atoms, and randomised tests at them."""

    def __init__(self, power: splines.LaplacePower, epsilon: float, k: int) -> None:
        self.power = power
        self.atom = (2 * np.arange(k + 1) - k) * epsilon
        self.above = power.alpha(self.atom)
        self.from_here = power.alpha(self.atom, at_least=True)

    def beta(self, alpha: FloatArray) -> FloatArray:
        """Return the smallest false-negative rate; by symmetry P1(L <= t) is P0(L >= -t), which keeps its digits."""
        out = np.where(alpha <= 0, 1.0, 0.0)
        todo = np.flatnonzero((alpha > 0) & (alpha < 1))
        if not todo.size:
            return out
        a = alpha[todo]
        # the first atom from the top whose closed tail reaches alpha
        index = self.atom.size - 1 - np.searchsorted(self.from_here[::-1], a, side="left")
        index = np.clip(index, 0, self.atom.size - 1)
        on_atom = a >= self.above[index]
        t = np.where(on_atom, self.atom[index], self._between(a, index))
        missed = self.power.alpha(-t)
        rest = np.where(on_atom, np.exp(t) * np.maximum(self.from_here[index] - a, 0.0), 0.0)
        out[todo] = np.where(on_atom, missed + rest, self.power.alpha(-t, at_least=True))
        return np.minimum(out, 1.0 - np.clip(alpha, 0.0, 1.0))

    def _between(self, a: FloatArray, index: NDArray[np.int64]) -> FloatArray:
        """Solve P0(L > t) = a inside the cell above each atom by secants on log P0, which is smooth and falls.

        The masses at both ends of a cell are known. An end that stays counts half as much the next time, so that both
        move (the Illinois rule).
        """
        after = np.minimum(index + 1, self.atom.size - 1)
        low, high = self.atom[index], self.atom[after]
        goal = np.log(a)
        over, under = _log(self.above[index]) - goal, goal - _log(self.from_here[after])
        middle, side = low, np.zeros(a.size)
        for _ in range(60):
            weight = np.maximum(over, 0.0) + np.maximum(under, 0.0)
            share = np.divide(np.maximum(over, 0.0), weight, out=np.full(a.size, 0.5), where=weight > 0)
            before, middle = middle, low + share * (high - low)
            if np.all(np.abs(middle - before) <= 1e-15 * (np.abs(low) + np.abs(high))):
                break
            gap = _log(self.power.alpha(middle)) - goal
            more = gap > 0
            low, high = np.where(more, middle, low), np.where(more, high, middle)
            over = np.where(more, gap, np.where(side < 0, 0.5 * over, over))
            under = np.where(more, np.where(side > 0, 0.5 * under, under), -gap)
            side = np.where(more, 1.0, -1.0)
        return np.asarray(middle, dtype=np.float64)


def _log(mass: FloatArray) -> FloatArray:
    """Return the logarithm of masses that may have become 0."""
    return np.asarray(np.log(np.maximum(mass, 1e-320)), dtype=np.float64)
