r"""Blocking: cut the data into blocks, answer on each, average; by value (Block-DP I) or by index (Block-DP II).

By value: block i holds the records between (i-1) L/m and i L/m; every block's median gets its own noise. By index: m
groups of n/m records each (sample and aggregate); the average of the medians gets one noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.special import gammaln

from dpcore.core.effort import checkpoint, claim
from dpcore.core.registry import Choice, Parameter
from dpcore.labs.base import AT_ONCE, standard_error
from dpcore.planner.sensitivity.blocking import block_answers
from dpcore.planner.sensitivity.queries import QuantileQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

BLOCKS: Final = Parameter("m", "integer", low=1, high=1000, label="m", meaning="number of blocks", example=10)
EMPTY: Final = Choice("empty", "text", choices=("middle", "skip"), meaning="what an empty block answers")
TABLE: Final = {5: (645.21, 765.16), 10: (81.69, 201.08), 15: (23.83, 91.97), 20: (10.45, 46.37)}  # Table 5.2


# --- the two estimates before noise --------------------------------------------------------------------------------


def by_value(rows: Any, high: float, m: int, empty: str = "middle") -> FloatArray:
    """Return, for every row of records in [0, high], the mean of the medians of m blocks of equal width.

    Parameters
    ----------
    rows : object
        Shape (repetitions, n).
    empty : str, default "middle"
        An empty block answers the middle of its interval, which keeps its sensitivity; or it is skipped, as R's
        ``mean(na.rm=TRUE)`` would do, which is not private. (The source leaves it undefined.)
    """
    medians = block_medians(rows, high, m)
    if EMPTY.check(empty) == "middle":
        middles = (np.arange(m) + 0.5) * high / m
        return np.asarray(np.where(np.isnan(medians), middles, medians).mean(axis=1), dtype=np.float64)
    return np.asarray(np.nanmean(medians, axis=1), dtype=np.float64)


def block_medians(rows: Any, high: float, m: int) -> FloatArray:
    """Return the median of every block of every row, nan where it is empty; the upper end belongs to the last block."""
    x = np.sort(np.atleast_2d(np.asarray(rows, dtype=np.float64)), axis=1)
    repetitions, n = x.shape
    place = np.minimum((x * (BLOCKS.check(m) / high)).astype(np.int64), m - 1)
    flat = (place + m * np.arange(repetitions)[:, None]).ravel()
    count = np.bincount(flat, minlength=m * repetitions).reshape(repetitions, m)
    first = np.cumsum(count, axis=1) - count
    low = np.clip(first + (count - 1) // 2, 0, n - 1)
    up = np.clip(first + count // 2, 0, n - 1)
    middle = 0.5 * (np.take_along_axis(x, low, 1) + np.take_along_axis(x, up, 1))
    return np.where(count > 0, middle, np.nan)


def by_index(rows: Any, m: int) -> FloatArray:
    """Return, for every row, the mean of the medians of m groups of floor(n/m) records; what is left over is dropped."""
    x = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    size = x.shape[1] // BLOCKS.check(m)
    medians = block_answers(QuantileQuery(0.5), x[:, : size * m].reshape(-1, size))
    return np.asarray(medians.reshape(x.shape[0], m).mean(axis=1), dtype=np.float64)


def reach(high: float, m: int) -> float:
    """Return L/(2m): how far the mean of m block medians can be from L/2 on any data whatever.

    Each median lies in its block, so it is within half a width of the block's middle, and the middles average to L/2.
    (An empty block answers its middle.)
    """
    return high / (2 * m)


# --- noise ---------------------------------------------------------------------------------------------------------


def noise_by_value(high: float, m: int, epsilon: float, factor: float = 2.0) -> float:
    r"""Return the variance of the mean of m Laplace noises of scale factor L/(m epsilon): 2 factor² L²/(m³ epsilon²).

    R Code A.0.2 and Example 5.4.5 use the factor 2, step 7 of Algorithm 5.4.1 the factor 1.
    """
    return 2.0 * factor**2 * high**2 / (m**3 * epsilon**2)


def noise_by_index(high: float, m: int, epsilon: float) -> float:
    """Return the variance of one Laplace noise of scale L/(m epsilon): 2 L²/(m² epsilon²)."""
    return 2.0 * (high / (m * epsilon)) ** 2


# --- uniform data: closed forms ------------------------------------------------------------------------------------


def median_variance(size: Any) -> FloatArray:
    r"""Return the variance of the median of `size` uniforms on [0, 1], exact; 0 for none (the middle is answered).

    .. math:: \frac1{4(N+2)}\ (N\ odd),\qquad \frac N{4(N+1)(N+2)}\ (N\ even,\ mean\ of\ the\ two\ middle\ ones)
    """
    n = np.asarray(size, dtype=np.float64)
    return np.where(n % 2 == 1, 1.0 / (4 * (n + 2)), n / (4 * (n + 1) * (n + 2)))


def uniform_by_value(high: float, n: int, m: int, epsilon: float) -> float:
    r"""Return the exact mean squared error of Block-DP I about L/2 for uniform data, noise included.

    Given the counts the blocks are independent with means in their middles, so the centre adds
    :math:`\frac{(L/m)^2}m E\,v(N)`, N binomial(n, 1/m), v the variance of a median of N uniforms.
    """
    counts = np.arange(n + 1)
    log_mass = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1) - counts * math.log(m)
    if m > 1:
        log_mass += (n - counts) * math.log1p(-1 / m)
    else:
        log_mass = np.where(counts == n, 0.0, -np.inf)
    spread = float(np.exp(log_mass) @ median_variance(counts))
    return noise_by_value(high, m, epsilon) + high**2 / m**3 * spread


def uniform_by_index(high: float, n: int, m: int, epsilon: float) -> float:
    """Return the exact mean squared error of Block-DP II about L/2 for uniform data, noise included."""
    return noise_by_index(high, m, epsilon) + high**2 / m * float(median_variance(n // m))


def table_error(noise: float, centre: float, terms: int, repetitions: int = 1000) -> float:
    r"""Return the standard error of a simulated mean squared error: Laplace noise on a centre that is about normal.

    If a mean of k Laplace noises has variance v, its fourth moment is (3 + 3/k) v², so with a normal centre of
    variance c the square has the variance (2 + 3/k) v² + 4 v c + 2 c².

    Parameters
    ----------
    noise, centre : float
        The two variances.
    terms : int
        k, the number of noises in the mean.
    """
    return math.sqrt(((2 + 3 / terms) * noise**2 + 4 * noise * centre + 2 * centre**2) / repetitions)


# --- privacy -------------------------------------------------------------------------------------------------------


def printed_blocking_delta(epsilon: float, beta: float) -> float:
    """Return exp(epsilon/2 - epsilon/(2 beta)), the delta of Theorem 5.4.3 as printed: spurious."""
    return math.exp(epsilon / 2 - epsilon / (2 * beta))


def small_block_loss(n: int, m: int, epsilon: float) -> float:
    """Return n epsilon / (2 m): what the mean of a block with one record costs under Lap(2 L/(n epsilon)) noise.

    Its record moves the answer by L/m, whatever the law of large numbers says about other blocks.
    """
    return n * epsilon / (2 * m)


# --- simulation ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockErrors:
    """Mean, mean squared error about the target and their standard errors of simulated estimates."""

    centre: float
    centre_error: float
    mse: float
    mse_error: float


def summarise(values: FloatArray, target: float, noise: float = 0.0) -> BlockErrors:
    """Return the summary of estimates; the variance `noise` of independent noise is added exactly, not drawn."""
    squares = (values - target) ** 2
    return BlockErrors(
        float(values.mean()), standard_error(values), float(squares.mean()) + noise, standard_error(squares)
    )


def estimates(
    draw: Callable[[Generator, tuple[int, int]], FloatArray],
    n: int,
    high: float,
    m_values: tuple[int, ...],
    replications: int,
    rng: Generator,
    empty: str = "middle",
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return, per number of blocks, the simulated estimates of both methods before noise, on the same data.

    Parameters
    ----------
    draw : callable
        Gives records of the asked shape (repetitions, n), all in [0, high].
    """
    chunks: dict[int, list[tuple[FloatArray, FloatArray]]] = {m: [] for m in m_values}
    claim(16.0 * replications * len(m_values), "Keeping the estimates")
    chunk = max(1, AT_ONCE // n)
    for start in range(0, replications, chunk):
        rows = draw(rng, (min(chunk, replications - start), n))
        for at, m in enumerate(m_values):
            checkpoint((start + at / len(m_values) * len(rows)) / replications)
            chunks[m].append((by_value(rows, high, m, empty), by_index(rows, m)))
    return {
        m: (np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])) for m, parts in chunks.items()
    }
