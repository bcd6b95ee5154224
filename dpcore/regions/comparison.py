"""Two regions side by side: which lies inside the other, and where their borders cross.

Region a lies inside region b exactly if delta_a(epsilon) <= delta_b(epsilon) for every real epsilon, and the sign
changes of the difference of the two profiles match those of the two trade-off curves, one by one and in order. The
profile keeps its relative precision in the tails, where 1 - beta does not, so the signs are those of the profiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dpcore.core.effort import checkpoint, current
from dpcore.core.errors import BudgetError
from dpcore.core.lazy import Lazy
from dpcore.curves.polygon import Polygon
from dpcore.curves.possible import deltas

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, Curve, FloatArray

Relation = Literal["equal", "a inside b", "b inside a", "crossing"]

_SLACK = 1e-10  # relative error of an exact delta; smaller differences are rounding, not an order
_SHIFT = 1e-12  # error of a loss, relative to 1 + |loss|
_MOST_CORNERS = 20_000  # of more corners only every n-th is compared; two crossings between two of these are missed
_GRID = np.concatenate(([0.0], np.geomspace(1e-4, 1e6, 201)))  # 20 points per power of ten, up to the largest loss
_FINE = np.linspace(0.0, 1.0, 33)  # each zoom narrows a minimum to 1/16 of its interval
_ZOOMS, _FEWER_ZOOMS = 5, 3  # 16^-5 = 1e-6 of the grid's step; brackets are wider than more zooms can resolve
_STEPS = 60  # this many bisections exhaust a double
_STEP = 1e-7  # of a one-sided difference, near the root of the rounding unit; it gives the ends of a search
_ENOUGH = 1e-13  # relative change of alpha at which a crossing of exact curves is settled
_SMALLEST = 1e-300  # logarithms and square roots of it are still finite doubles


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome: the relation of two regions, and their crossing points by ascending alpha."""

    relation: Relation
    crossings: tuple[tuple[float, float], ...]


def compare_curves(a: Curve, b: Curve) -> Comparison:
    """Compare the regions of two curves; differences within their brackets and rounding count as none."""
    steep = _Side(a, b)
    flat = steep if a.symmetric and b.symmetric else _Side(a.inverse(), b.inverse())
    signs = {*steep.signs.tolist(), *flat.signs.tolist()} - {0}
    if len(signs) < 2:
        relation: Relation = "equal" if not signs else "b inside a" if signs == {1} else "a inside b"
        return Comparison(relation, ())
    points = steep.crossings()
    mirrored = points if flat is steep else flat.crossings()
    return Comparison("crossing", tuple(sorted({*points, *((beta, alpha) for alpha, beta in mirrored)})))


class _Side:
    """The part of two curves with slope -e^epsilon, epsilon >= 0; the inverse curves hold the other part."""

    def __init__(self, a: Curve, b: Curve) -> None:
        self.curves = (a, b)
        self.epsilon = _grid(a, b)
        self.signs, gap = self._compared(self.epsilon)
        extra = np.setdiff1d(_around_minima(self.epsilon, gap), self.epsilon)
        if extra.size:
            signs, _ = self._compared(extra)
            merged = np.concatenate((self.epsilon, extra))
            order = np.argsort(merged)
            self.epsilon, self.signs = merged[order], np.concatenate((self.signs, signs))[order]

    def _compared(self, epsilon: FloatArray) -> Bounds:
        """Return the sign of delta_a - delta_b (0 where it is not sure) and the distance of their logarithms."""
        checkpoint(0.0)
        shifted = epsilon + _SHIFT * (1.0 + epsilon)
        upper_a, upper_b = (_bounds(curve, epsilon)[1] for curve in self.curves)
        lower_a, lower_b = (_bounds(curve, shifted)[0] for curve in self.curves)
        larger = (lower_a > upper_b * (1.0 + _SLACK)).astype(np.float64)
        smaller = (lower_b > upper_a * (1.0 + _SLACK)).astype(np.float64)
        gap = np.abs(np.log(np.maximum(upper_a, _SMALLEST)) - np.log(np.maximum(upper_b, _SMALLEST)))
        return np.asarray(larger - smaller, dtype=np.float64), np.asarray(gap, dtype=np.float64)

    @Lazy
    def wide(self) -> FloatArray:
        """The grid on both sides of 0, for tangents that lie beyond the diagonal."""
        return np.concatenate((-self.epsilon[:0:-1], self.epsilon))

    @Lazy
    def profiles(self) -> tuple[FloatArray, FloatArray]:
        """Both deltas on that grid."""
        a, b = self.curves
        return _bounds(a, self.wide)[1], _bounds(b, self.wide)[1]

    def crossings(self) -> list[tuple[float, float]]:
        """Return the crossing points (alpha, beta) of this side."""
        sure = np.flatnonzero(self.signs)
        changes = np.flatnonzero(self.signs[sure[1:]] != self.signs[sure[:-1]])
        points = []
        for number, index in enumerate(changes.tolist()):
            checkpoint(number / changes.size)
            points.append(self._crossing(int(sure[index]), int(sure[index + 1])))
        return points

    def _crossing(self, first: int, last: int) -> tuple[float, float]:
        """Solve power_a(alpha) = power_b(alpha) between two points where the order is known.

        A line of slope e^epsilon touches the curve with the larger delta at a point that lies outside the other
        region. Newton's steps, each the crossing of two tangents, stay between those points by bisection.
        """
        high, low = (self._touching(index) for index in (first, last))
        low = max(low, _SMALLEST)
        alpha = high
        enough = _ENOUGH if all(curve.exact for curve in self.curves) else current().tolerance
        for _ in range(_STEPS):
            alpha = min(max(alpha, low), high)
            power_a, slope_a = self._power(0, alpha)
            power_b, slope_b = self._power(1, alpha)
            if np.sign(power_a - power_b) == self.signs[first]:
                high = alpha
            else:
                low = alpha
            before = alpha
            alpha = alpha - (power_a - power_b) / (slope_a - slope_b) if slope_a != slope_b else low
            if not low < alpha < high:
                alpha = float(np.sqrt(low) * np.sqrt(high))
            if abs(alpha - before) <= enough * before:
                break
        return alpha, max(0.0, 1.0 - max(self._power(0, alpha)[0], self._power(1, alpha)[0]))

    def _touching(self, index: int) -> float:
        """Return the alpha where the line of slope e^epsilon touches the curve that has the larger delta there."""
        curve = self.curves[0 if self.signs[index] > 0 else 1]
        epsilon = self.epsilon[index]
        step = _STEP * (1.0 + epsilon)
        here, there = _bounds(curve, np.array([epsilon, epsilon + step]))[1]
        return float(min(1.0, max(0.0, (here - there) * np.exp(-epsilon) / np.expm1(step))))

    def _power(self, which: int, alpha: float) -> tuple[float, float]:
        """Return the largest power at false-positive rate alpha, min delta(e) + e^e alpha over e, and its slope e^e."""
        curve = self.curves[which]
        epsilon, delta = self.wide, self.profiles[which]
        value, slope, left, right = _lowest(epsilon, delta, alpha)
        for _ in range(_ZOOMS if curve.exact else _FEWER_ZOOMS):
            epsilon = left + (right - left) * _FINE
            lowest, steepness, left, right = _lowest(epsilon, _bounds(curve, epsilon)[1], alpha)
            if lowest < value:
                value, slope = lowest, steepness
        return value, slope


def _lowest(epsilon: FloatArray, delta: FloatArray, alpha: float) -> tuple[float, float, float, float]:
    """Return the smallest delta + e^epsilon alpha of a grid, its slope e^epsilon, and the neighbours of that place."""
    with np.errstate(over="ignore"):
        slope = np.exp(epsilon)
    value = delta + slope * alpha
    at = int(np.argmin(value))
    before, after = epsilon[max(0, at - 1)], epsilon[min(epsilon.size - 1, at + 1)]
    return float(value[at]), float(slope[at]), float(before), float(after)


def _around_minima(epsilon: FloatArray, gap: FloatArray) -> FloatArray:
    """Return finer places around those where the profiles come closest without a change of sign."""
    inner = np.flatnonzero((gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:]) & (gap[1:-1] > 0)) + 1
    if inner.size > _GRID.size:
        return np.empty(0)
    left, right = epsilon[inner - 1], epsilon[inner + 1]
    return np.asarray((left[:, None] + (right - left)[:, None] * _FINE).ravel(), dtype=np.float64)


def _grid(a: Curve, b: Curve) -> FloatArray:
    """Return epsilons from 0 upwards: a log grid for smooth parts and every kink of a polygon."""
    kinks = [curve.loss[curve.loss > 0] for curve in (a, b) if isinstance(curve, Polygon)]
    thinned = [k if k.size <= _MOST_CORNERS else k[:: k.size // _MOST_CORNERS] for k in kinks]
    epsilon = np.unique(np.concatenate([_GRID, *thinned]))
    for curve in (a, b):
        if not curve.exact:
            lower, upper = _bounds(curve, epsilon)
            epsilon = epsilon[np.cumsum((lower == 0) & (upper == 1)) == 0]
    return np.asarray(epsilon, dtype=np.float64)


def _bounds(curve: Curve, epsilon: FloatArray) -> Bounds:
    """Return the profile's bounds; where the tail is beyond the engine's precision, 0 and 1 say that nothing is known."""
    try:
        return deltas(curve, epsilon)
    except BudgetError:
        checkpoint(0.0)  # raises again if the time ran out
        if np.all(epsilon == 0):
            raise
        if epsilon.size == 1:
            return np.zeros(1), np.ones(1)
    half = epsilon.size // 2
    first, second = _bounds(curve, epsilon[:half]), _bounds(curve, epsilon[half:])
    return np.concatenate((first[0], second[0])), np.concatenate((first[1], second[1]))
