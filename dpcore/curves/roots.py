"""From a delta to its epsilon, for any curve that computes its deltas: the root of a falling function, from both sides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.question import question
from dpcore.curves import sketch

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import Bounds, Curve, FloatArray

_ROUGH = 0.02  # tolerance with which a root is located before it is computed
_ROUGHER = 0.5, 0.1
"""The same for a product on lattices: far from the root a delta of 1e-77, which is of no use, costs most."""
_STRIDE, _STRIDES = 1.3, 40  # factor from one place to the next around a guess, and how many of them
_SMALLEST = math.ulp(0.0)
_SHORTENINGS = 3  # halvings of the last step down: a ratio of 3 shrinks to 3^(1/8); fewer only widen the bracket


def epsilon_bounds(curve: Curve, delta: FloatArray) -> Bounds:
    """Return (lower, upper) of the smallest epsilon >= 0 with delta(epsilon) <= delta."""
    delta = np.atleast_1d(np.asarray(delta, dtype=np.float64))
    with question():
        roots = [sketch.root(curve, float(at)) for at in delta]
        todo = np.array([root is None for root in roots], dtype=np.bool_)
        lower, upper = np.array([root or (0.0, np.inf) for root in roots]).reshape(-1, 2).T
        if todo.any():
            lower[todo], upper[todo] = _search(curve, delta[todo])
    return (upper, upper) if curve.exact else (np.minimum(lower, upper), upper)


def _search(curve: Curve, delta: FloatArray) -> Bounds:
    """Return the bracket of each root without a sketch: from delta(0) or the largest loss, and otherwise by bisection."""
    at_zero = _at_zero(curve, delta)
    lower, upper = (np.where(delta >= edge, 0.0, np.inf) for edge in at_zero)
    if np.isfinite(curve.max_loss):
        end = (delta == curve.q_inf) & (delta < at_zero[1])
        upper[end] = max(curve.max_loss, 0.0)
        lower[end & (delta < at_zero[0])] = max(curve.max_loss, 0.0)
    for index in np.flatnonzero((delta < at_zero[1]) & (delta > curve.q_inf)):
        lower[index], upper[index] = _root(curve, float(delta[index]))
    return lower, upper


def _at_zero(curve: Curve, delta: FloatArray) -> list[float]:
    """Return bounds of delta(0), roughly if that is enough to see that no delta asked for is as large."""
    least = _ROUGHER[0] if curve.on_lattices else _ROUGH
    if not curve.exact and current().tolerance < least:
        with effort(tolerance=least):
            rough = [float(bound[0]) for bound in curve.delta_bounds(np.zeros(1))]
        if float(delta.max()) < rough[0]:
            return rough
    return [float(bound[0]) for bound in curve.delta_bounds(np.zeros(1))]


def _root(curve: Curve, delta: float) -> tuple[float, float]:
    """Bracket the root of delta(epsilon) = delta for one value: (lower, upper).

    A certified bracket that is wide costs less than a narrow one: the root is first located roughly.
    """
    start = None
    for rough in _ROUGHER if curve.on_lattices else (_ROUGH,):
        if not curve.exact and current().tolerance < rough:
            with effort(tolerance=rough):
                start = _located(curve, delta, start)
    return _located(curve, delta, start)


def _located(curve: Curve, delta: float, start: tuple[float, float] | None = None) -> tuple[float, float]:
    """Bracket the root to the tolerance in force, from a rough bracket if there is one."""
    exact = curve.exact
    goal = np.log(delta)

    def gaps(epsilon: float) -> tuple[float, float]:
        checkpoint()
        low, high = (float(sketch.log_delta(bound)[0] - goal) for bound in curve.delta_bounds(np.array([epsilon])))
        return low, high

    top = max(curve.max_loss, 0.0)
    low, high = start if start is not None and 0.0 < start[0] < start[1] < top else (0.0, min(1.0, top))
    guess = curve.guess(delta) if start is None and not exact else None
    if guess is not None and 0.0 < guess < top:
        low, high = _around(lambda x: gaps(x)[1], guess, top)
    f_low, f_high = gaps(low)[1], gaps(high)[1]
    if low > 0.0 and f_low <= 0.0:
        low, f_low = 0.0, gaps(0.0)[1]
    # doubled at most 2098 times before it is infinite: delta at infinity is q_inf, below the target
    while f_high > 0 and high < top:
        low, f_low = high, f_high
        high = min(2 * high, top)
        f_high = gaps(high)[1]
    close = 4e-16 if exact else 1e-3 * current().tolerance
    low, high = _narrow(lambda x: gaps(x)[1], (low, f_low), (high, f_high), close)
    if exact:
        return high, high
    return _step_down(gaps, high), high


def _around(gap: Callable[[float], float], guess: float, top: float) -> tuple[float, float]:
    """Return two places next to a guess between which a falling function changes its sign.

    If the guess is far too high these are 0 and a place; if it is far too low, one place twice.
    """
    if gap(guess) > 0:
        low = guess
        for _ in range(_STRIDES):
            high = min(low * _STRIDE, top)
            if gap(high) <= 0:
                return low, high
            low = high
            if low >= top:
                break
        return low, low  # a guess so far off is doubled instead
    high = guess
    for _ in range(_STRIDES):
        low = high / _STRIDE
        if gap(low) > 0:
            return low, high
        high = low
    return 0.0, high


def _narrow(
    gap: Callable[[float], float], left: tuple[float, float], right: tuple[float, float], close: float
) -> tuple[float, float]:
    """Shrink the interval around the sign change of a falling function: secants, bisection where they stall."""
    (low, f_low), (high, f_high) = left, right
    last = 0
    for step in range(200):
        if high - low <= close * high:
            break
        x = (low * f_high - high * f_low) / (f_high - f_low) if f_high != f_low else low
        if not low < x < high or step % 5 == 4:
            x = 0.5 * (low + high)
        f = gap(x)
        if f > 0:
            f_high = f_high / 2 if last > 0 else f_high
            low, f_low, last = x, f, 1
        else:
            f_low = f_low / 2 if last < 0 else f_low
            high, f_high, last = x, f, -1
        if x in (low, high) and np.nextafter(low, high) == high:
            break
    return low, high


def _step_down(gaps: Callable[[float], tuple[float, float]], high: float) -> float:
    """Return a point just below `high` where even the lower delta exceeds the target: the true root is above it."""
    width = max(1e-3 * current().tolerance * high, _SMALLEST)  # a product of small numbers may be 0
    # at most log3(1e3 / tolerance) rounds, 32 for the smallest tolerance
    while high - width > 0:
        if gaps(high - width)[0] >= 0:
            return high - _halved(lambda w: gaps(high - w)[0] >= 0, width / 3, width)
        width *= 3
    return 0.0


def _halved(enough: Callable[[float], bool], least: float, most: float) -> float:
    """Return a width that is enough, after a few halvings of the ratio of `most`, which is, and `least`, which may not be."""
    for _ in range(_SHORTENINGS):
        middle = float(np.sqrt(least * most))
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most
