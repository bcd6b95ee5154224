"""Contour lines of numbers on a rectangular grid, by linear interpolation along the sides of its cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Point = tuple[float, float]

_ROUND = (1.0, 2.0, 5.0)
_T = TypeVar("_T")


def levels(low: float, high: float, most: int = 10) -> list[float]:
    """Return round numbers between two positive ones, at most about `most`: 1, 2, 5 or powers of ten.

    Parameters
    ----------
    low, high : float
        The range, both above 0.
    most : int, default 10
        How many; a wide range has powers of ten only, or some of them.

    Returns
    -------
    list of float
        Increasing.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = [float(f"{step}e{power}") for power in range(first, last + 1) for step in _ROUND]
    inside = [level for level in every if low < level < high]
    if len(inside) <= most:
        return inside
    decades = [float(f"1e{power}") for power in range(first, last + 1) if low < 10.0**power < high]
    return decades[:: -(-len(decades) // most)]


def contour(x: FloatArray, y: FloatArray, z: FloatArray, level: float) -> list[list[Point]]:
    """Return the lines on which a function of a grid has one value.

    Parameters
    ----------
    x, y : ndarray of float
        Increasing coordinates of the columns and rows.
    z : ndarray of float
        Values, a row for each y; NaN where there is none.
    level : float
        The value.

    Returns
    -------
    list of list of tuple of (float, float)
        Points of each line, in order.
    """
    pieces: list[tuple[Point, Point]] = []
    for row in range(y.size - 1):
        for column in range(x.size - 1):
            corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            values = [float(z[corner]) for corner in corners]
            if any(math.isnan(value) for value in values):
                continue
            crossings = []
            for a, b in _sides(corners):
                first, second = sorted((a, b))  # both cells at a side compute the same point
                u, v = float(z[first]), float(z[second])
                if (u < level) != (v < level):
                    share = (level - u) / (v - u)
                    crossings.append((_between(x, first[1], second[1], share), _between(y, first[0], second[0], share)))
            pieces += list(zip(crossings[::2], crossings[1::2], strict=True))
    return _joined(pieces)


def _between(values: FloatArray, a: int, b: int, share: float) -> float:
    return float(values[a] + share * (values[b] - values[a]))


def _sides(corners: Sequence[_T]) -> list[tuple[_T, _T]]:
    return [(corners[i], corners[(i + 1) % 4]) for i in range(4)]


def _joined(pieces: list[tuple[Point, Point]]) -> list[list[Point]]:
    """Join pieces that share an end into lines."""
    ends: dict[Point, list[int]] = {}
    for number, piece in enumerate(pieces):
        for point in piece:
            ends.setdefault(point, []).append(number)
    used: set[int] = set()
    lines: list[list[Point]] = []
    starts = sorted(range(len(pieces)), key=lambda number: min(len(ends[point]) for point in pieces[number]))
    for start in starts:
        if start in used:
            continue
        used.add(start)
        line = list(pieces[start])
        for _ in range(2):  # on from either end
            while True:  # uses up one piece per pass
                following = next((number for number in ends[line[-1]] if number not in used), None)
                if following is None:
                    break
                used.add(following)
                first, second = pieces[following]
                line.append(second if first == line[-1] else first)
            line.reverse()
        lines.append(line)
    return lines
