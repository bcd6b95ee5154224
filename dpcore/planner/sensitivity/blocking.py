"""Sample and aggregate: the mean of an answer over blocks of records, with one Laplace noise (blocking II).

The records are dealt at random into m blocks of equal size, whatever they hold. One substituted record changes one block's answer,
which lies in a range of known width, so the mean moves by at most width/m.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.domains import COUNT
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.planner.sensitivity.queries import RankMean, VarianceQuery

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.planner.sensitivity.queries import SensitiveQuery

DEALS: Final = 200
"""Random partitions over which the error is averaged; fewer if there are many records."""

_AT_MOST = 20_000_000  # records dealt in total


def block_answers(query: SensitiveQuery, blocks: FloatArray) -> FloatArray:
    """Return the answer on every row of records."""
    if isinstance(query, RankMean):
        first, last = query.ranks(blocks.shape[1])
        return np.asarray(np.sort(blocks, axis=1)[:, first - 1 : last].mean(axis=1), dtype=np.float64)
    return np.asarray(blocks.var(axis=1, ddof=1), dtype=np.float64)


def answer_width(query: SensitiveQuery, size: int, low: float, high: float) -> float:
    """Return the distance between the least and the largest answer on `size` records."""
    width = high - low
    if isinstance(query, VarianceQuery):
        return width**2 / 4 * size / (size - 1) if size % 2 == 0 else width**2 * (size + 1) / (4 * size)
    return width


def block_size(query: SensitiveQuery, n: int, m: int) -> int:
    """Return how many records a block has; raise if there are too many blocks."""
    size = n // int(COUNT.but(name="blocks", high=n).check(m))
    if size < query.fewest:
        msg = f"The {query.label} needs at least {query.fewest} records in every block; {m} blocks of {n} records have {size}."
        raise DomainError(msg)
    return size


def block_errors(
    query: SensitiveQuery, values: FloatArray, bounds: tuple[float, float], m: int, epsilon: float, rng: Generator
) -> tuple[float, FloatArray]:
    """Return the scale of the noise, and the errors before noise in several random partitions.

    Parameters
    ----------
    query : SensitiveQuery
        What is asked of every block.
    values : FloatArray
        The records, within the bounds.
    bounds : tuple of (float, float)
        The public bounds.
    m : int
        Number of blocks; leftover records are not used.
    epsilon : float
        Privacy of the Laplace noise.
    rng : Generator
        Deals the records.
    """
    size = block_size(query, values.size, m)
    truth = query.answer(np.sort(values))
    deals = max(5, min(DEALS, _AT_MOST // values.size))
    centres = np.empty(deals)
    for deal in range(deals):
        checkpoint(deal / deals)
        rows = rng.permutation(values)[: size * m].reshape(m, size)
        centres[deal] = block_answers(query, rows).mean()
    return answer_width(query, size, *bounds) / (m * epsilon), centres - truth


def noisy_quantile(shifts: FloatArray, scale: float, level: float) -> float:
    """Return t with P(|shift + Lap(scale)| <= t) = level on average over the shifts, from above."""

    def inside(t: float) -> float:
        return float(np.mean(_below((t - shifts) / scale) - _below((-t - shifts) / scale)))

    low, high = 0.0, float(np.abs(shifts).max()) - scale * math.log1p(-level)
    high = max(high, float(np.finfo(np.float64).tiny))  # a product of small numbers may be 0
    while inside(high) < level:  # doubles: everything is inside at infinity
        high *= 2
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if inside(middle) >= level else (middle, high)
    return high


def _below(z: FloatArray) -> FloatArray:
    half = 0.5 * np.exp(-np.abs(z))
    return np.asarray(np.where(z < 0, half, 1.0 - half), dtype=np.float64)
