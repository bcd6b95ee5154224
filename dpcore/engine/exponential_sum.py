"""Sums of many exponentials at evenly spaced places of a line, as products of two small tables of phases.

With n = a w + b the phase e^{i n x} is e^{i a w x} e^{i b x}: n places need about 2 sqrt(n) phases of each exponential, and all
sums are matrix products. The direct way computes an exponential for each pair and takes about fifty times as long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.engine.contour_sum import phases
from dpcore.engine.products import product

if TYPE_CHECKING:
    from dpcore.curves.base import ComplexArray, FloatArray

_EVEN = 2.0**-51  # places are evenly spaced if they are off by at most four units of themselves
_SPARSE = 4  # most places of the grid for each place that is asked for
_BLOCK, _LARGEST_BLOCK = 32, 512  # terms that a matrix product adds at once, and the same for a grid of only 64 places
_TABLE = 1 << 20  # phases in memory at once, 16 MB


def grid_places(y: FloatArray) -> tuple[float, FloatArray] | None:
    """Return the step of the grid on which ascending places lie, and their integers; None if they are not on one."""
    if y.size < 2 or y[0] < 0.0:
        return None
    closest = float(np.diff(y).min())
    if not closest > 0.0:
        return None
    turns = np.rint(y[-1] / closest)
    step = float(y[-1] / turns)
    places = np.rint(y / step)
    if places[-1] - places[0] >= _SPARSE * y.size or np.any(np.abs(y - places * step) > _EVEN * y):
        return None
    return step, places


def sums_on_grid(weight: FloatArray, rate: FloatArray, step: float, places: FloatArray) -> ComplexArray:
    """Return the sum over j of weight_j e^{i rate_j step n} for ascending integers n.

    Its error is bounded by `sum_rounding`.

    Parameters
    ----------
    weight, rate : ndarray of float
        Of one length.
    step : float
        Distance of neighbouring places.
    places : ndarray of float
        Ascending integers.

    Returns
    -------
    ndarray of complex
        One sum for each place.
    """
    first = float(places[0])
    count = int(places[-1] - first) + 1
    width = math.isqrt(count - 1) + 1
    rows = -(-count // width)
    out = np.zeros((rows, width), dtype=np.complex128)
    at_once = max(1, _TABLE // (rows + width))
    for start in range(0, rate.size, at_once):
        checkpoint()
        part = slice(start, start + at_once)
        angle = rate[part] * step
        fine, coarse = phases(-angle, rows, width)
        coarse *= weight[part] * np.exp(1j * (rate[part] * (first * step)))
        out += product(coarse, fine.T)
    return out.ravel()[(places - first).astype(np.int64)]


def sum_rounding(count: int, terms: int) -> float:
    """Bound the rounding of a sum at one of `count` places, in units of 2^-53 of the sum of the weights.

    The phases are products of up to sqrt(count) roundings of five units each, twice; the sum has one for each term of a block,
    and one for each block. The angle adds three units of itself: the step, the rate times it, and the places, which may be
    off by `_EVEN`.
    """
    grid = _SPARSE * count
    return 10.0 * (math.isqrt(grid) + 1) + 40.0 + _LARGEST_BLOCK + terms / _BLOCK
