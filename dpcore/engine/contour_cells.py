"""The stretches of eps that share a line of a contour, where standard deviations alone do not tell them apart."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dpcore.engine.contour_plan import Bucket
    from dpcore.engine.contour_product import FloatArray
    from dpcore.engine.contour_share import Name
    from dpcore.engine.contour_table import Branch

_LOG_CELL, _SMALLEST_CELL, _MOST_CELLS = math.log(1.25), 1e-290, 1 << 12
"""Logarithm of the factor of eps that one line of a fine contour covers, the smallest eps with a cell of its own, and a bound of
their number."""


_LARGEST_LOG = math.log(sys.float_info.max)  # a search below the smallest delta of an engine doubles eps up to here


class BucketPlace(NamedTuple):
    """A new bucket: its kind, number and width, and the deviations it covers, from the start of the branch.

    `ends` are its ends as values of eps, if they are not those of the deviations.
    """

    name: Name
    first: float
    last: float
    ends: tuple[float, float] | None = None


def log_kappas(c: FloatArray) -> FloatArray:
    """Return log kappa of each exponent, kappa = b^b/(1+b)^(1+b) for b = c > 0 or b = -1 - c > 0, in a form without cancellation."""
    b = np.maximum(np.maximum(c, -1 - c), 1e-300)
    return np.asarray(-np.log1p(b) - b * np.log1p(1.0 / b), dtype=np.float64)


def fine_cells(
    branch: Branch,
    start: float,
    values: tuple[int, FloatArray, NDArray[np.int64], float],
    new: list[BucketPlace],
    buckets: dict[Name, Bucket],
) -> Iterator[tuple[Name, Bucket | None, slice]]:
    """Yield buckets that cover a small factor of eps as well as a few standard deviations; add missing ones to `new`.

    `values` are the kind, ascending values of eps, the number of the stretch of deviations of each, and its width.
    """
    kind, eps, position, width = values
    size = np.floor(np.log(np.maximum(np.abs(eps), _SMALLEST_CELL)) / _LOG_CELL).astype(np.int64)
    side = np.sign(eps).astype(np.int64)
    change = (position[1:] != position[:-1]) | (size[1:] != size[:-1]) | (side[1:] != side[:-1])
    for begin, end in pairwise((0, *(np.flatnonzero(change) + 1).tolist(), eps.size)):
        at, cell, sign = int(position[begin]), int(size[begin]), int(side[begin])
        name = kind, (at * _MOST_CELLS + cell) * 4 + sign, width
        bucket = buckets.get(name)
        if bucket is None:
            ends = sorted(sign * math.exp(min(edge * _LOG_CELL, _LARGEST_LOG)) for edge in (cell, cell + 1))
            around = np.interp((at * width + start, (at + 1) * width + start), branch.steps, branch.epsilon)
            low, high = max(ends[0], float(around[0])), min(ends[1], float(around[1]))
            low, high = min(low, float(eps[begin])), max(high, float(eps[end - 1]))
            first, last = (np.interp((low, high), branch.epsilon, branch.steps) - start).tolist()
            new.append(BucketPlace(name, first, last, (low, high)))
        yield name, bucket, slice(begin, end)
