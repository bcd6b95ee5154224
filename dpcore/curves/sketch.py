"""Where to look on a curve with an outline: the optimum of each alpha, and the root of a delta.

An outline (`Curve.outline`) is a few per cent off and costs next to nothing. Certified deltas refine the places here, but
only the callers prove them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.effort import current
from dpcore.engine.contour_local import Rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, Curve, FloatArray
    from dpcore.engine.contour_local import Local

_WIDER = 200.0  # times the narrowest interval: brackets of delta too wide for that are often narrow enough for this
_SECANTS = 8  # steps to a root before the general search takes over
_NEWTON, _APART, _LONGEST_STEP = 12, 1e-4, 0.4
"""Newton's steps from a guess, the relative distance of the two values that give a slope, and the longest step in log epsilon."""

_TO_ZERO = -2.0  # a step this far down suggests that the root is at 0
_WIDENED = 1.0, 4.0, 16.0, 64.0, 256.0  # widths tried around such a root, in units of the narrowest
_SMALLEST, _LOG_ZERO = 5e-324, -746.0  # the smallest double, and a number below its logarithm
_AROUND = np.cos(np.pi * (np.arange(8) + 0.5) / 8)[::-1]
"""Chebyshev points: where, in units of a reach, delta is computed around the place of an outline."""

_REACH, _STEEPEST = 0.7, 0.1
"""Largest change of log delta, and of epsilon relative to itself, between the place of an outline and these points."""

_TABLE = 400  # points of the grid at most; beyond, the general search is as fast
_SPACING, _MARGIN, _HALF = 0.25, 1.1, 3
"""Step and margin of the grid in standard deviations of the tilted loss, and half the width of the differences."""

_FINEST = 1e-12
"""Smallest step of the grid as a share of its epsilons: below it the grid loses its digits."""

_LONGEST = 15.0
"""Largest length of an optimum in these deviations: the fence around it stays within reach of the grid's series."""

_STENCIL = np.array([1.0, -9.0, 45.0, 0.0, -45.0, 9.0, -1.0]) / 60.0  # first derivative of sixth order


def log_delta(delta: FloatArray) -> FloatArray:
    """Return log delta; where delta is 0, a number below the logarithm of every double."""
    return np.where(delta > 0, np.log(np.maximum(delta, _SMALLEST)), _LOG_ZERO)


def root(curve: Curve, delta: float) -> tuple[float, float] | None:
    """Bracket the root by secants from its place in the outline of the curve, or from its guess; None if they fail."""
    outline = curve.outline() if curve.q_inf < delta else None
    if outline is None:
        return _from_guess(curve, delta) if curve.q_inf < delta and not curve.exact else None
    goal, close = float(np.log(delta)), 1e-3 * current().tolerance
    x = float(np.interp(-goal, -outline.log_delta, outline.epsilon))
    near = np.interp([0.98 * x, 1.02 * x], outline.epsilon, outline.log_delta)
    slope = float(near[1] - near[0]) / max(0.04 * x, 1e-300)
    estimate = _interpolated(curve, goal, x, slope)
    if estimate is not None:
        certain = _narrowest(curve, delta, estimate, (close, -slope * close * estimate))
        if certain is not None:
            return certain
    last, step, value = x, x, 0.0
    for _ in range(_SECANTS):
        if not 0 < x < curve.max_loss:
            return None
        before, value = value, float(log_delta(curve.delta_bounds(np.array([x]))[1])[0]) - goal
        slope = slope if x == last else (value - before) / (x - last)
        if not slope < 0:
            return None
        last, move = x, -value / slope
        x += move
        # the error of a secant is of the order of the product of the last two moves
        certain = _around(curve, delta, x, close) if abs(move * step) <= 1e-3 * close * x * x else None
        if certain is not None:
            return certain
        step = move
    return None


def _from_guess(curve: Curve, delta: float) -> tuple[float, float] | None:
    """Bracket the root by Newton's steps on log delta over log epsilon from the guess of the curve; None if they fail."""
    x = curve.guess(delta)
    if x is None:
        return None
    goal, close = float(np.log(delta)), 1e-3 * current().tolerance
    for _ in range(_NEWTON):
        if not 0 < x < curve.max_loss / (1.0 + _APART):
            return None
        first, second = (log_delta(curve.delta_bounds(np.array([x, x * (1.0 + _APART)]))[1]) - goal).tolist()
        slope = (second - first) / float(np.log1p(_APART))
        if not slope < 0 or -first / slope < _TO_ZERO:
            return None
        step = max(-_LONGEST_STEP, min(_LONGEST_STEP, -first / slope))
        x *= float(np.exp(step))
        # the error of a step is of the order of its square, and of the share of it that the slope is off
        if abs(step) * max(abs(step), _APART) <= 0.03 * close:
            break
    for wider in _WIDENED:
        certain = _around(curve, delta, x, wider * close) if x < curve.max_loss else None
        if certain is not None:
            return certain
    return None


def _around(curve: Curve, delta: float, x: float, close: float) -> tuple[float, float] | None:
    """Return an interval around x that certainly contains the root, or None."""
    # not centred: at the root itself nothing can be decided, and people often take the middle of an interval
    low, high = x * (1 - 0.3 * close), x * (1 + 0.6 * close)
    least, most = curve.delta_bounds(np.array([low, high]))
    return (low, high) if least[0] >= delta >= most[1] and low > 0 else None


def _narrowest(curve: Curve, delta: float, x: float, reach: tuple[float, float]) -> tuple[float, float] | None:
    """Return an interval around x that contains the root: narrow, or wider if deltas are not precise enough."""
    close, change = reach
    narrow, wide = ((x * (1 - 0.3 * width), x * (1 + 0.6 * width)) for width in (close, _WIDER * close))
    least, most = curve.delta_bounds(np.array([wide[0], *narrow, wide[1]]))
    if least[1] >= delta >= most[2] and narrow[0] > 0:
        return narrow
    blurred = float(log_delta(most[1:2])[0] - log_delta(least[1:2])[0]) > 0.3 * change
    return wide if blurred and least[0] >= delta >= most[3] and wide[0] > 0 else None


def _interpolated(curve: Curve, goal: float, x: float, slope: float) -> float | None:
    """Return the root of log delta by interpolation between a few points around x, None if it is not between them."""
    if not (slope < 0 < x < curve.max_loss):
        return None
    reach = min(_REACH / -slope, _STEEPEST * x, 0.5 * (curve.max_loss - x))
    at = x + reach * _AROUND
    value = log_delta(curve.delta_bounds(at)[1]) - goal
    if not (value[1:] < value[:-1]).all() or not value[-1] < 0 < value[0]:
        return None
    return float(_interpolate(-value, at, np.zeros(1))[0])


class Optima(NamedTuple):
    """Where 1 - delta - e^epsilon alpha is largest.

    Attributes
    ----------
    centre : ndarray of float
        The epsilon of each alpha.
    length : ndarray of float
        The distance at which the gain, as a parabola, falls by half.
    local : Local or None
        The profile around there, if the curve has one.
    """

    centre: FloatArray
    length: FloatArray
    local: Local | None


def optima(
    curve: Curve, alpha: FloatArray, both_sides: Callable[[FloatArray, NDArray[np.bool_]], tuple[Bounds, Bounds]]
) -> Optima | None:
    """Return the optimum of each alpha, interpolated between the rates on a grid; None without an outline."""
    outline = curve.outline()
    if outline is None:
        return None
    logit = np.log1p(-alpha) - np.log(alpha)
    first, last = float(logit.min()), float(logit.max())
    low, high = np.interp([first, last], outline.score, outline.epsilon).tolist()
    begin, end = np.searchsorted(outline.epsilon, (low, high)).tolist()
    scale = float(outline.scale[max(begin - 1, 0) : end + 1].min())
    count = (high - low + 2 * _MARGIN * scale) / (_SPACING * scale) + 12
    if not count < _TABLE or _SPACING * scale <= _FINEST * max(abs(low), abs(high)):
        return None
    local = _around_grid(curve, low, high, scale)
    node, score, missed, density = local.rates() if local is not None else _differences(low, high, scale, both_sides)
    if not ((score[1:] > score[:-1]).all() and -np.inf < score[0] <= first <= last <= score[-1] < np.inf):
        return None
    centre = _interpolate(score, node, logit, 4)
    length = np.minimum(np.sqrt(missed / np.maximum(density, 1e-300)), _LONGEST * scale)
    return Optima(centre, np.asarray(np.interp(centre, node, length), dtype=np.float64), local)


def _around_grid(curve: Curve, low: float, high: float, scale: float) -> Local | None:
    """Return the profile of a symmetric curve on both sides of 0, from low to high and a little beyond."""
    if curve.inverse() is not curve:
        return None
    far = max(-low, high) + _MARGIN * scale
    near = max(0.0, max(low, -high) - _MARGIN * scale)
    cells = int((far - near) / (_SPACING * scale)) + 7
    return curve.expanded(np.asarray(near + (far - near) / cells * np.arange(cells + 1), dtype=np.float64))


def _differences(
    low: float,
    high: float,
    scale: float,
    both_sides: Callable[[FloatArray, NDArray[np.bool_]], tuple[Bounds, Bounds]],
) -> Rates:
    """Return the rates from differences of high order on an even grid."""
    count = (high - low + 2 * _MARGIN * scale) / (_SPACING * scale) + 12
    grid = np.linspace(low - _MARGIN * scale, high + _MARGIN * scale, int(count))
    (_, delta), (_, rest) = both_sides(grid, grid >= 0)
    score, missed = _rates(grid, delta, rest)
    node, score, missed = (x[_HALF:-_HALF] for x in (grid, score, missed))
    with np.errstate(invalid="ignore"):  # rates that underflow; `optima` checks the score
        return Rates(node, score, missed, np.gradient(missed, node[1] - node[0]))


def _rates(grid: FloatArray, delta: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log((1 - a)/a), a = P0(L > e), and b = P1(L <= e) on an even grid.

    `delta` and `rest` = 1 - delta belong to the curve at e >= 0, to the inverse at -e below. The slopes of delta, of
    1 - delta and of n = delta - 1 + e^e are -e^e a, e^e a and e^e (1 - a); each is taken from the smallest of the
    three, by seven-point differences of its logarithm, the three nodes at either end excepted. b is 1 - delta - e^e a.
    """
    up, step = grid >= 0, grid[1] - grid[0]
    gap, weight = np.expm1(grid), np.exp(np.minimum(grid, 700.0))
    scale = np.where(up, 1.0, weight)
    kernels = np.stack((scale * delta - np.minimum(gap, 0.0), scale * rest, scale * delta + np.maximum(gap, 0.0)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.log(kernels)
        slopes = np.stack([np.convolve(row, _STENCIL, "same") for row in logs]) * kernels / (step * weight)
        slopes[0] *= -1.0
        best = np.argmin(kernels, axis=0)
        rate = np.where(best == 0, slopes[0], slopes[1])
        score = np.where(best == 2, np.log(slopes[2]) - np.log1p(-slopes[2]), np.log1p(-rate) - np.log(rate))
        missed = np.where(best == 2, weight * slopes[2] - kernels[2], kernels[1] - weight * rate)
    return score, np.asarray(np.maximum(missed, 1e-300), dtype=np.float64)


def _interpolate(x: FloatArray, y: FloatArray, at: FloatArray, points: int = 6) -> FloatArray:
    """Interpolate by polynomials through the nearest of the increasing nodes x, by divided differences."""
    first = np.minimum(np.maximum(np.searchsorted(x, at) - points // 2, 0), x.size - points)
    table = np.zeros((points, x.size))
    table[0] = y
    for order in range(1, points):
        table[order, :-order] = (table[order - 1, 1 : x.size - order + 1] - table[order - 1, : x.size - order]) / (
            x[order:] - x[:-order]
        )
    differences = table.take(first, axis=1)
    out = differences[-1]
    for order in range(points - 2, -1, -1):
        out *= at - x[first + order]
        out += differences[order]
    return np.asarray(out, dtype=np.float64)
