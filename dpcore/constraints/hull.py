r"""Statements as points: in the coordinates :math:`y = e^{\varepsilon}` a profile is a convex curve.

A mechanism's profile :math:`\delta(\varepsilon) = \sup_S P_1(S) - y P_0(S)` is a supremum of functions that are linear in
y, so what several statements promise together is the lower convex hull of their points, of their mirror images (the
other direction) and of the two trivial ends (y = 0, :math:`\delta = 1`) and (y = inf, the smallest :math:`\delta`). No
e^epsilon is ever formed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.curves.polygon import Polygon
from dpcore.curves.polygon_algebra import from_half, masses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.base import FloatArray

Point = tuple[float, float]

_LARGEST = 700.0  # e^700 is still a double


def mirror(point: Point) -> Point:
    """Return the statement about the other direction: (-epsilon, 1 - e^-epsilon (1 - delta))."""
    loss, delta = point
    return -loss + 0.0, -math.expm1(-loss) + math.exp(-loss) * delta


def chord(left: Point, right: Point, loss: float) -> float:
    """Return the height at `loss` of the segment between two points, straight in e^loss."""
    return left[1] - share(left, right, loss) * (left[1] - right[1])


def share(left: Point, right: Point, loss: float) -> float:
    """Return how far `loss` is on the way from left to right, measured in e^loss: (y - y1) / (y2 - y1)."""
    if math.isinf(right[0]) or loss == left[0]:
        return 0.0
    return math.exp(loss - right[0]) * math.expm1(left[0] - loss) / math.expm1(left[0] - right[0])


def lower_hull(points: Iterable[Point], floor: float, slack: float = 4e-16) -> list[Point]:
    """Return the corners of the lower convex hull of points, from (-inf, 1) to (+inf, floor).

    Parameters
    ----------
    points : iterable of Point
        (loss, delta), losses ascending and finite.
    floor : float
        Delta at infinity.
    slack : float, default 4e-16
        A point below its neighbours' chord by no more than this, relative, is not a corner.

    Returns
    -------
    list of Point
        Both ends included.
    """
    hull: list[Point] = []
    for point in [(-math.inf, 1.0), *points, (math.inf, floor)]:
        while len(hull) >= 2 and _not_below(hull[-2], hull[-1], point, slack):  # every point is removed at most once
            hull.pop()
        hull.append(point)
    return hull


def _not_below(i: Point, j: Point, k: Point, slack: float) -> bool:
    """Whether j does not lie strictly below the chord from i to k (slopes compared times e^L_j)."""
    if i[0] == j[0]:
        return j[1] >= i[1]
    left = (i[1] - j[1]) / -math.expm1(i[0] - j[0])
    gap = k[0] - j[0]
    if gap == 0:
        return k[1] < j[1]
    right = (j[1] - k[1]) / math.expm1(gap) if gap < _LARGEST else 0.0
    return left <= right * (1.0 + slack)


def symmetric_hull(loss: FloatArray, delta: FloatArray, floor: float) -> list[Point]:
    """Return the corners with loss >= 0 of the hull of statements and their mirror images, many points allowed."""
    order = np.lexsort((delta, loss))
    loss, delta = loss[order], delta[order]
    # only a point below everything to its left can be a corner: this removes most of a large set
    lowest = np.minimum.accumulate(np.append(1.0, delta))[:-1]
    visible = delta < lowest
    upper = lower_hull(zip(loss[visible].tolist(), delta[visible].tolist(), strict=True), floor)[1:-1]
    both = sorted({*upper, *map(mirror, upper)})
    return [point for point in lower_hull(both, floor)[1:-1] if point[0] >= 0]


def polygon(corners: list[Point], floor: float, method: str) -> Polygon:
    """Return the symmetric polygon with these corners of its profile (losses >= 0, ascending)."""
    if floor >= 1.0 or not corners:
        return Polygon([], [], [], 1.0, 1.0, symmetric=True, method=method)
    both = sorted({*corners, *map(mirror, corners)})
    at = np.array([-np.inf, *(point[0] for point in both), np.inf])
    height = np.array([1.0, *(point[1] for point in both), floor])
    q = masses(at, height)
    keep = (at >= 0) & (q > 0) & np.isfinite(at)
    return from_half(at[keep], q[keep], floor, method)
