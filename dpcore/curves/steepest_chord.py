r"""The epsilon of a curve that is known by its powers: the steepest line from (0, delta) to the curve.

With T the true-positive rate, delta(epsilon) <= delta says T(a) - e^epsilon a <= delta for all rates a. So

.. math:: e^{\varepsilon(\delta)} = \sup_a v(a),\qquad v(a) = \frac{T(a)-\delta}{a},

one maximum instead of one for every epsilon that a search would try. T is concave, so the rates with T(a) - delta >= va are an interval for
every v: v(a) rises to its maximum and then falls. Rates next to the best one found, with certainly smaller values, fence the maximum in.
Between two neighbouring rates T lies below the extended chords of their neighbours on either side. Along a line (l(a) - delta)/a is
monotone, so below two lines it is largest at an end or where they meet.

Roundings: those of a power are given by the caller, a difference and a quotient have a unit each, and log v a few.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import Bounds, FloatArray

_UNIT = 2.0**-53
_GRID = np.concatenate(
    (np.linspace(0.0, 3.0, 61), np.geomspace(3.2, 700.0, 140))
)  # -log a: each is within a few per cent of the next
_ROUNDS, _FAN = 5, 17  # each round narrows the place of the maximum to an eighth
_AROUND = np.concatenate((-np.geomspace(1.0, 1e-6, 13), [0.0], np.geomspace(1e-6, 1.0, 13)))
"""Distances of the last rates from the maximum, in -log a: closer ones narrow the bracket until rounding counts."""


def largest_epsilon(powers: Callable[[FloatArray], Bounds], delta: float, units: float) -> tuple[float, float]:
    """Return a bracket of the epsilon at one delta, which must be at least the power at rate 0.

    Parameters
    ----------
    powers : callable
        Lower and upper true-positive rates at an array of false-positive rates, of a concave curve.
    delta : float
        In (0, 1).
    units : float
        Rounding of a power, in units of 2^-53 of itself.

    Returns
    -------
    tuple of float
        Lower and upper epsilon, at least 0.
    """
    place = _GRID
    low, high = _rounded(powers, place, units)
    for _ in range(_ROUNDS):
        checkpoint()
        best = _best(place, low, delta)
        new = np.linspace(place[max(best - 1, 0)], place[min(best + 1, place.size - 1)], _FAN)[1:-1]
        place, low, high = _joined((place, low, high), new, powers, units)
    around = place[_best(place, low, delta)] + _AROUND
    place, low, high = _joined((place, low, high), around[around > 0.0], powers, units)
    rate = np.exp(-place[::-1])
    apart = np.append(True, np.diff(rate) > 0.0)  # two places may be one rate
    return _bracket(rate[apart], low[::-1][apart], high[::-1][apart], delta)


def _rounded(powers: Callable[[FloatArray], Bounds], place: FloatArray, units: float) -> Bounds:
    """Return powers rounded down and rounded up at rates e^-place; that of a rate of 1 is 1."""
    low, high = powers(np.exp(-place))
    slack = _UNIT * (units + 4.0)
    return np.where(place > 0.0, low * (1.0 - slack), 1.0), np.where(place > 0.0, high * (1.0 + slack), 1.0)


def _best(place: FloatArray, low: FloatArray, delta: float) -> int:
    """Return where log v is largest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return int(np.argmax(np.where(low > delta, np.log(low - delta) + place, -np.inf)))


def _joined(
    rows: tuple[FloatArray, FloatArray, FloatArray],
    new: FloatArray,
    powers: Callable[[FloatArray], Bounds],
    units: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the places, ascending, with new ones and their powers."""
    every = np.concatenate((rows[0], new))
    low, high = (np.concatenate(pair) for pair in zip(rows[1:], _rounded(powers, new, units), strict=True))
    place, first = np.unique(every, return_index=True)
    return place, low[first], high[first]


def _bracket(rate: FloatArray, low: FloatArray, high: FloatArray, delta: float) -> tuple[float, float]:
    """Return the bracket of epsilon from powers at ascending rates, the last of which is 1."""
    least, most = (low - delta) / rate, (high - delta) / rate
    best = int(np.argmax(least))
    below = np.flatnonzero(most * (1.0 + 4.0 * _UNIT) < least[best] * (1.0 - 4.0 * _UNIT))
    before, behind = below[below < best], below[below > best]
    first = int(before[-1]) if before.size else 0
    last = int(behind[0]) if behind.size else rate.size - 1
    if not before.size:
        return _logarithm(float(least[best]), -1.0), math.inf
    top = _highest(rate, low, high, delta)[first:last]
    return _logarithm(float(least[best]), -1.0), _logarithm(max(float(top.max()), float(least[best])), 1.0)


def _highest(rate: FloatArray, low: FloatArray, high: FloatArray, delta: float) -> FloatArray:
    """Return an upper bound of v between each rate and the next.

    Where v grows along the left line and falls along the right one, the larger of the two, wherever it is taken, is a bound.
    """
    gap = np.diff(rate)
    left, right = np.full(gap.size, np.inf), np.full(gap.size, -np.inf)
    left[1:] = (high[1:-1] - low[:-2]) / gap[:-1]
    right[:-1] = (low[2:] - high[1:-1]) / gap[1:]
    start, end = high[:-1], high[1:]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        meeting = np.clip((end - right * gap - start) / (left - right), 0.0, gap)
        inside = np.isfinite(meeting) & (meeting > 0.0) & (meeting < gap)
        meeting = np.where(inside, meeting, 0.0)
        middle = np.maximum(start + left * meeting, end - right * (gap - meeting))
        ends = np.fmin(start, end - right * gap), np.fmin(start + left * gap, end)
        slack = 16.0 * _UNIT * (end + delta + np.where(inside, (np.abs(left) + np.abs(right)) * gap, 0.0))
        v = np.maximum((ends[0] - delta) / rate[:-1], (ends[1] - delta) / rate[1:])
        meets = np.where(inside, (middle + slack - delta) / (rate[:-1] + meeting), -np.inf)
    return np.asarray(np.fmax(v + 16.0 * _UNIT * np.abs(v), meets), dtype=np.float64)


def _logarithm(value: float, side: float) -> float:
    """Return log v rounded to a side, at least 0."""
    if not value > 0.0:
        return 0.0
    return max(0.0, math.log(value) + side * 8.0 * _UNIT * (1.0 + abs(math.log(value))))
