r"""Which statements of a list are active, and which follow from the others.

A statement follows from two others exactly if its point lies on or above their chord in the coordinates
:math:`(y, \delta)`, :math:`y = e^{\varepsilon}`: with :math:`y_i = \lambda y_j + (1-\lambda) y_l`,

.. math:: P_1(S) - y_i P_0(S) = \lambda (P_1(S) - y_j P_0(S)) + (1-\lambda)(P_1(S) - y_l P_0(S))
          \le \lambda \delta_j + (1-\lambda) \delta_l .
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.constraints.hull import Point, chord, lower_hull, mirror, share
from dpcore.core.kinds import EXACT, FACTS, labelled
from dpcore.core.numerals import nearest
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.constraints.statements import Constraints

COLUMNS = ("statement", "epsilon", "delta", "status", "delta_of_others", "by", "reason", *FACTS)
ACTIVE, IMPLIED = "active", "implied"
_ROUNDING = 1e-14  # relative: a point this close to a chord counts as on it


def activity(constraints: Constraints) -> pd.DataFrame:
    """Tabulate for each statement whether the region would be larger without it.

    Parameters
    ----------
    constraints : Constraints
        The statements.

    Returns
    -------
    DataFrame
        `statement, epsilon, delta, status, delta_of_others, by, reason, kind, theorem, neighbours`, one row per statement,
        numbered from 1. `status` is ``active`` (without it the region is larger) or ``implied``; `delta_of_others` is the delta that
        the other active statements alone promise at this epsilon; `by` names the statements that imply it (at most
        two are ever needed), `reason` says how. Of equal statements the first counts.
    """
    points = [(item.epsilon, item.delta) for item in constraints.items]
    active = _active(points)
    rows = []
    for index, (epsilon, delta) in enumerate(points):
        hull, owner = _hull(points, [other for other in active if other != index])
        left, right = _around(hull, epsilon)
        others = chord(left, right, epsilon)
        ends = (left,) if left[0] == epsilon else (left, right)
        by = [] if index in active else list(dict.fromkeys(owner[point] for point in ends if point in owner))
        reason = _gain(others, delta) if index in active else _why(points, by, left, right, epsilon)
        names = " and ".join(str(other + 1) for other in by)
        status = ACTIVE if index in active else IMPLIED
        rows.append((index + 1, epsilon, delta, status, others, names, reason))
    return labelled(pd.DataFrame(rows, columns=list(COLUMNS[:-3])), constraints.region, kind=EXACT)


def _active(points: Sequence[Point]) -> list[int]:
    """Return the indices of the statements whose point is a corner of the hull of all of them."""
    first = {point: index for index, point in reversed(list(enumerate(points)))}
    hull, owner = _hull(points, list(first.values()))
    corners = []
    for before, point, after in zip(hull, hull[1:], hull[2:], strict=False):
        below = point[1] < chord(before, after, point[0]) * (1.0 - _ROUNDING)
        if point[0] >= 0 and below and point[1] < 1.0:
            corners.append(owner[point])
    return sorted(corners)


def _hull(points: Sequence[Point], places: Sequence[int]) -> tuple[list[Point], dict[Point, int]]:
    """Return the hull of some statements with their mirror images, and the statement of each point."""
    owner: dict[Point, int] = {}
    for index in sorted(places, reverse=True):
        owner[mirror(points[index])] = index
        owner[points[index]] = index
    floor = min((points[index][1] for index in places), default=1.0)
    return lower_hull(sorted(owner), floor), owner


def _around(hull: Sequence[Point], loss: float) -> tuple[Point, Point]:
    """Return the two corners between which (or at which) a loss lies."""
    for left, right in pairwise(hull):
        if left[0] <= loss < right[0]:
            return left, right
    return hull[-2], hull[-1]


def _gain(others: float, delta: float) -> str:
    """Say what an active statement adds."""
    if others >= 1.0:
        return "The others promise nothing here."
    return f"The others alone promise δ = {outward(others, 4)} here, this one {outward(delta, 4)}."


def _why(points: Sequence[Point], by: Sequence[int], left: Point, right: Point, epsilon: float) -> str:
    """Say how an implied statement follows."""
    others = outward(chord(left, right, epsilon), 4)
    if not by:
        return "δ = 1 holds for every mechanism."
    if len(by) == 2:
        weight = share(left, right, epsilon)
        return (
            f"{nearest(1.0 - weight, 4)} times statement {by[0] + 1} plus {nearest(weight, 4)} times statement {by[1] + 1} "
            f"gives δ = {others} here."
        )
    if points[by[0]][0] <= epsilon:
        return f"Statement {by[0] + 1} promises δ = {others} here."
    return f"Statement {by[0] + 1}, used in both directions, promises δ = {others} here."
