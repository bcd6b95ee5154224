r"""The extremal columns: some best channel consists of them alone.

A column of a channel is :math:`c=(Q(y|x))_x`. The constraints of a promise add up over columns:
:math:`\sum_y (c_x-e^{\varepsilon}c_{x'})_+\le\delta` and :math:`\sum_y (c_x-c_{x'})_+\le\eta`. Inside each cone cut
out of the orthant by the planes :math:`c_x=e^{\varepsilon}c_{x'}`, :math:`c_x=c_{x'}` and :math:`c_x=0` all of them
are linear, while an f-divergence is convex and homogeneous. Splitting a column into extreme rays of its cone thus
keeps the constraints and never loses divergence: a channel made of extreme rays is among the best ones.

On an extreme ray k - 1 independent planes meet, so that the letters it contains are connected by steps of 0 or
epsilon: :math:`c_x=e^{-\varepsilon n_x}` with integer levels n without gaps, starting at 0, or c_x = 0. With
delta = 0 no step is larger than epsilon, which leaves the staircase patterns :math:`\{1,e^{-\varepsilon}\}^k`;
the bound eta on the total variation adds no ray.

References: Kairouz, Oh, Viswanath (2014, 2016) for delta = 0 without eta; the rest is proved in the guide.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

MOST_PURE = 12  # letters: 2^12 - 1 = 4095 columns
MOST_APPROXIMATE = 6  # letters: 9365 columns
ABSENT = -1


@lru_cache(maxsize=32)
def levels(k: int, *, pure: bool) -> NDArray[np.int64]:
    """Return the levels of every extreme column, a row per column: 0 is the highest, -1 marks an absent letter.

    ``k = 2, 3, 4, 5, 6`` letters have 3, 7, 15, 31, 63 pure columns (the constant one included) and
    5, 25, 149, 1081, 9365 others.
    """
    levels = np.array(list(_pure(k) if pure else _all(k)), dtype=np.int64)
    levels.flags.writeable = False
    return levels


def _pure(k: int) -> Iterator[tuple[int, ...]]:
    """Yield every pattern of high and low; the constant one is all high."""
    yield from (pattern for pattern in itertools.product((0, 1), repeat=k) if 0 in pattern)


def _all(k: int) -> Iterator[tuple[int, ...]]:
    """Yield every assignment of levels without gaps to a set of letters, the others absent."""
    for pattern in itertools.product(range(ABSENT, k), repeat=k):
        heights = set(pattern) - {ABSENT}
        if heights == set(range(len(heights))) and heights:
            yield pattern


def columns(k: int, epsilon: float, *, pure: bool) -> FloatArray:
    """Return the extreme columns, a row per column, each with largest entry 1."""
    level = levels(k, pure=pure)
    if epsilon == 0:  # all levels are the same height
        level = np.unique(np.where(level == ABSENT, ABSENT, 0), axis=0)
    return np.where(level == ABSENT, 0.0, np.exp(-epsilon * np.maximum(level, 0)))
