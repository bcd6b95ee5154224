r"""The experiments with the mixed noise mechanism: noisy means and medians of generated data sets.

Every data set has its own *local* sensitivity (leave one record out), as in the source; with it none of the three
mechanisms is private, so that these numbers speak of utility only. Given a data set with half-width h of its interval
and sensitivity D, the chance that a noisy mean stays inside is known,

.. math:: 1-e^{-h\varepsilon/D}\ \text{(Laplace)},\qquad 2\Phi(h/\sigma)-1\ \text{(normal)},

so only the data sets are drawn and the noise is averaged out exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtr

from dpcore.core.errors import DomainError
from dpcore.core.registry import unknown
from dpcore.labs.base import chunks, standard_error
from dpcore.labs.mixed_noise import classical_variance, printed_threshold

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

FAMILIES: Final = ("pareto", "exponential", "normal", "student")
QUERIES: Final = ("mean", "median")
MECHANISMS: Final = ("Laplace", "normal", "mixed")
NORMAL_95: Final = 1.959963984540054
NORMAL_99: Final = 2.5758293035489004
POWERS: Final = (1.0, 1.5, 2.0)  # delta = n^-power in the columns of Table 5.1

# rows of Table 5.1: family, parameter, then the printed percentages for delta = 1/n, n^-1.5, n^-2 of each mechanism
TABLE: Final[tuple[tuple[str, float, tuple[tuple[float, float, float], ...]], ...]] = (
    ("pareto", 2.0, ((96.8, 95.2, 96.2), (66.5, 56.3, 50.5), (100.0, 95.5, 96.0))),
    ("pareto", 5.0, ((98.9, 99.5, 99.0), (82.9, 77.9, 70.9), (99.2, 99.2, 98.5))),
    ("pareto", 10.0, ((99.7, 99.5, 99.7), (89.9, 85.8, 78.5), (99.8, 99.6, 99.7))),
    ("exponential", 1.0, ((99.8, 100.0, 99.9), (95.4, 92.6, 86.6), (100.0, 99.9, 100.0))),
    ("exponential", 5.0, ((100.0, 99.9, 100.0), (96.6, 91.5, 87.1), (99.9, 99.9, 99.9))),
    ("exponential", 10.0, ((99.9, 99.9, 99.8), (95.5, 90.1, 94.2), (99.8, 100.0, 99.8))),
    ("normal", 1.0, ((100.0, 100.0, 100.0), (99.7, 99.7, 99.3), (100.0, 100.0, 100.0))),
    ("normal", 5.0, ((100.0, 100.0, 100.0), (100.0, 99.7, 98.5), (100.0, 100.0, 100.0))),
    ("normal", 10.0, ((100.0, 100.0, 100.0), (100.0, 99.8, 99.3), (100.0, 100.0, 100.0))),
    ("student", 1.0, ((91.1, 90.7, 90.0), (51.9, 48.1, 39.1), (91.5, 93.8, 93.7))),
    ("student", 5.0, ((99.9, 100.0, 100.0), (96.8, 92.7, 89.2), (99.9, 99.9, 99.8))),
    ("student", 10.0, ((100.0, 100.0, 100.0), (99.7, 97.8, 96.4), (100.0, 100.0, 100.0))),
)
OUTLIERS: Final = (("exponential", 10.0, "normal", 2.0), ("pareto", 2.0, "mixed", 1.0))
PRINTED_N, PRINTED_RUNS, PRINTED_EPSILON = 500, 1000, 1.0


def draw(family: str, parameter: float, rng: Generator, shape: tuple[int, int]) -> FloatArray:
    """Return records: Pareto of scale 1 and this shape, exponential of this rate, N(0, parameter), Student's t."""
    if family == "pareto":
        return np.asarray(rng.pareto(parameter, shape) + 1.0, dtype=np.float64)
    if family == "exponential":
        return np.asarray(rng.exponential(1.0 / parameter, shape), dtype=np.float64)
    if family == "normal":
        return rng.normal(0.0, math.sqrt(parameter), shape)
    if family == "student":
        return np.asarray(rng.standard_t(parameter, shape), dtype=np.float64)
    raise DomainError(unknown("family of data", family, FAMILIES))


class Samples(NamedTuple):
    """Many data sets, each by the standard error of its mean and by its local sensitivity."""

    error: FloatArray  # s / sqrt(n)
    sensitivity: FloatArray


def samples(
    family: str,
    parameter: float,
    n: int,
    replications: int,
    rng: Generator,
    *,
    query: str = "mean",
    part: tuple[float, float] = (0.0, 1.0),
) -> Samples:
    """Return `replications` data sets of n records, drawn in chunks.

    Parameters
    ----------
    family, parameter : str or float
        What `draw` takes.
    query : str, default "mean"
        Whose sensitivity is kept, that of the mean or that of the median (`local_sensitivity`).
    part : tuple of (float, float), optional
        Where this piece of work starts and ends in the whole, for the progress shown.
    """
    parts = []
    for rows in chunks(replications, n, part):
        x = draw(family, parameter, rng, (rows.stop - rows.start, n))
        parts.append((x.std(axis=1, ddof=1) / math.sqrt(n), local_sensitivity(x, query)))
    error, sensitivity = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Samples(error, sensitivity)


def local_sensitivity(x: FloatArray, query: str) -> FloatArray:
    """Return how far leaving one record out moves the answer of each data set (a row of x), at most.

    The mean moves by max |x_i - mean|/(n - 1), the median by half a gap in the middle: the gap between the two middle
    records of even n, the larger one beside the middle record of odd n.
    """
    n = x.shape[1]
    if query == "mean":
        return np.asarray(np.abs(x - x.mean(axis=1)[:, None]).max(axis=1) / (n - 1), dtype=np.float64)
    if query != "median":
        raise DomainError(unknown("query", query, QUERIES))
    m = n // 2
    part = np.partition(x, [m - 1, m, m + 1], axis=1)
    below, above = part[:, m] - part[:, m - 1], part[:, m + 1] - part[:, m]
    return np.asarray((np.maximum(above, below) if n % 2 else below) / 2, dtype=np.float64)


class TrialCoverage(NamedTuple):
    """How often a noisy mean lies inside the interval: an average over data sets with its standard error."""

    value: float
    error: float


def coverage(data: Samples, mechanism: str, epsilon: float, delta: float, quantile: float) -> TrialCoverage:
    """Return the chance that the noisy mean lies within `quantile` standard errors of the mean of the data.

    Parameters
    ----------
    data : Samples
        The data sets, whose sensitivities scale the noise.
    mechanism : str
        Laplace, normal (classical variance) or mixed (the printed switch).
    epsilon, delta : float
        What the noise is scaled for.
    quantile : float
        1.96 for a 95 % interval, 2.58 for a 99 % one.
    """
    if mechanism not in MECHANISMS:
        raise DomainError(unknown("mechanism", mechanism, MECHANISMS))
    reach = quantile * data.error / data.sensitivity
    laplace = -np.expm1(-reach * epsilon)
    if mechanism == "Laplace":
        inside = laplace
    elif mechanism == "normal":
        inside = 2 * ndtr(reach / math.sqrt(classical_variance(epsilon, delta))) - 1
    else:
        same = 2 * ndtr(reach * epsilon / math.sqrt(2.0)) - 1
        inside = np.where(data.sensitivity <= printed_threshold(epsilon, delta), same, laplace)
    return TrialCoverage(float(inside.mean()), standard_error(inside))


def normal_share(sensitivity: FloatArray, epsilon: float, delta: float) -> float:
    """Return how often the printed algorithm takes its normal branch: 0 never, 1 always."""
    return float(np.mean(sensitivity <= printed_threshold(epsilon, delta)))


class Ratios(NamedTuple):
    """Ratios of sums of squared errors over many runs: Laplace to mixed and Laplace to normal."""

    mixed: FloatArray
    normal: FloatArray


def ratios(
    sensitivity: FloatArray,
    epsilon: float,
    delta: float,
    runs: int,
    rng: Generator,
    *,
    part: tuple[float, float] = (0.0, 1.0),
) -> Ratios:
    """Return the ratios of `runs` experiments that add fresh noise to the same data sets.

    Above 1 the second mechanism had the smaller sum of squares. Laplace and mixed noise have the same variance, so
    their ratio differs from 1 by chance alone. `part` is as in `samples`.
    """
    scale = sensitivity / epsilon
    wide = math.sqrt(classical_variance(epsilon, delta)) * sensitivity
    small = sensitivity <= printed_threshold(epsilon, delta)
    size = sensitivity.size
    mixed, normal = [], []
    for rows in chunks(runs, size, part):
        shape = (rows.stop - rows.start, size)
        first = np.square(rng.laplace(0.0, 1.0, shape) * scale).sum(axis=1)
        own = np.where(small, math.sqrt(2.0) * rng.standard_normal(shape), rng.laplace(0.0, 1.0, shape)) * scale
        mixed.append(first / np.square(own).sum(axis=1))
        normal.append(first / np.square(rng.standard_normal(shape) * wide).sum(axis=1))
    return Ratios(np.concatenate(mixed), np.concatenate(normal))


def noises(sensitivity: FloatArray, epsilon: float, delta: float, rng: Generator) -> dict[str, FloatArray]:
    """Return one draw of every mechanism's noise for each data set: what the box plots show."""
    scale = sensitivity / epsilon
    laplace = rng.laplace(0.0, 1.0, sensitivity.size) * scale
    wide = math.sqrt(classical_variance(epsilon, delta)) * sensitivity
    normal = rng.standard_normal(sensitivity.size) * wide
    same = math.sqrt(2.0) * scale * rng.standard_normal(sensitivity.size)
    fresh = rng.laplace(0.0, 1.0, sensitivity.size) * scale
    mixed = np.where(sensitivity <= printed_threshold(epsilon, delta), same, fresh)
    return {"Laplace": laplace, "normal": normal, "mixed": np.asarray(mixed, dtype=np.float64)}
