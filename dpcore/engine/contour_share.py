"""The values of epsilon that share one line of the contour, and their brackets as they are tightened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpcore.engine.contour_sum import Room, short_error, short_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.engine.contour_atoms import Atoms
    from dpcore.engine.contour_plan import Bucket
    from dpcore.engine.contour_product import FloatArray

    Bounds = tuple[FloatArray, FloatArray]
    _Side = float | FloatArray
    Four = tuple[_Side, _Side, _Side, _Side]
    Index = slice | NDArray[np.intp]
    Name = tuple[int, int, float]

TINY = 1e-321
"""Added outward where a product may have underflowed."""

LOG_HUGE, LOG_TINY = 700.0, -700.0
"""Largest exponent of e that is evaluated, and the logarithm below which a bound is too close to the smallest doubles for a
contour."""

NOTHING = np.zeros(0)
"""No bracket yet."""

KERNEL_D, KERNEL_I, KERNEL_N = 0, 1, 2
"""Right of 0, between -1 and 0, left of -1: see `contour_table`."""


@dataclass(slots=True)
class LineCache:
    """The lines of one question by kind, number and width of their buckets, and the room left for their terms."""

    buckets: dict[Name, Bucket] = field(default_factory=dict)
    room: Room = field(default_factory=Room)


@dataclass(slots=True)
class Share:
    """The values of one bucket: their places, the base of the kernel, and bounds of the kernel."""

    bucket: Bucket
    index: Index
    eps: FloatArray
    base: Four
    least: FloatArray
    most: FloatArray
    todo: Index | None

    def margins(self, error: float) -> tuple[float, float]:
        """Return the largest excess and shortfall of the sum of the short line: the images only add to a kernel."""
        excess = self.bucket.lines[0].excess
        return (error, error + excess) if self.bucket.kind == KERNEL_I else (error + excess, error)


def tighten_short(share: Share, atoms: Atoms | None) -> None:
    """Tighten the brackets of one bucket by a sum without smoothing, and without the atoms if its line is."""
    bucket, line, x = share.bucket, share.bucket.lines[0], share.eps[share.todo]
    kernel = short_sums(line, x)
    below, above = share.margins(short_error(line, bucket.low, bucket.high))
    scale = np.exp(np.minimum(np.maximum(line.log_scale - line.c * x, -745.0), LOG_HUGE))
    result = scale * (kernel - below) - TINY, scale * (kernel + above) + TINY
    if line.without_atoms and atoms is not None:
        low, high = atoms.kernel(bucket.kind, x)
        result = result[0] + low, result[1] + high
    if share.least is NOTHING:
        share.least, share.most = result
    else:
        tighten(share, share.todo, result)


def tighten(share: Share, index: Index | None, other: Bounds) -> None:
    """Intersect the brackets at `index` with others."""
    share.least[index] = np.maximum(share.least[index], other[0])
    share.most[index] = np.minimum(share.most[index], other[1])
