"""Positions in pixels of a 1600 px wide picture, linear and log-log down to 1e-12: the measure of what the eye sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

WIDTH = 1600.0  # of a large screen; a narrower picture hides more
FLOOR = 1e-12  # the least rate of a logarithmic axis
PER_DECADE = WIDTH / 12.0
MOST_POINTS = 400  # per curve


def linear(rate: FloatArray) -> FloatArray:
    """Return the pixel of each rate on a linear axis from 0 to 1."""
    return np.asarray(WIDTH * rate, dtype=np.float64)


def logarithmic(rate: FloatArray) -> FloatArray:
    """Return the pixel of each rate on a logarithmic axis from 1e-12 to 1; smaller rates lie on its edge."""
    return np.asarray(PER_DECADE * (np.log10(np.maximum(rate, FLOOR)) + 12.0), dtype=np.float64)


def off_chord(x: FloatArray, y: FloatArray, ends: tuple[FloatArray, FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Return the distance of points (x, y) from the segments (x0, y0)-(x1, y1), all in pixels."""
    x0, y0, x1, y1 = ends
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    along = ((x - x0) * dx + (y - y0) * dy) / np.where(length > 0, length, 1.0)
    along = np.clip(np.where(length > 0, along, 0.0), 0.0, 1.0)
    return np.asarray(np.hypot(x - x0 - along * dx, y - y0 - along * dy), dtype=np.float64)


def deviation(points: tuple[FloatArray, FloatArray], between: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the distance of each curve point in `between` from the chord of its neighbours, in the worse of the two views.

    Parameters
    ----------
    points : tuple of (ndarray of float, ndarray of float)
        (alpha, beta) of n drawn points.
    between : tuple of (ndarray of float, ndarray of float)
        (alpha, beta) of n - 1 true points, one inside each interval.
    """
    worst = np.zeros(between[0].size)
    for view in (linear, logarithmic):
        x, y = view(points[0]), view(points[1])
        ends = (x[:-1], y[:-1], x[1:], y[1:])
        worst = np.maximum(worst, off_chord(view(between[0]), view(between[1]), ends))
    return np.asarray(worst, dtype=np.float64)
