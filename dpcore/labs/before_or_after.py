r"""Sanitise the records, or the answer: noise before or after the query, for mean, variance and median.

Records in [0, L]. *After* (output perturbation) adds one Laplace noise of scale sensitivity/epsilon to the answer; *before*
(sanitised response, local privacy) adds noise of scale b = L/epsilon to every record and answers the query from
the noisy records. Both are epsilon-private.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.labs.base import chunks

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray


def spread_out(n: int, high: float) -> FloatArray:
    """Return n records spread evenly over [0, high]: uniform data without randomness."""
    return np.asarray((np.arange(n) + 0.5) * (high / n), dtype=np.float64)


# --- mean ----------------------------------------------------------------------------------------------------------


def equal_epsilon_mean(epsilon: float, n: int) -> float:
    """Return sqrt(n) epsilon, at which noise on the records has the error of noise on the answer."""
    return math.sqrt(n) * epsilon


# --- variance ------------------------------------------------------------------------------------------------------


def variance_after(epsilon: float, high: float, n: int) -> float:
    """Return 2 L⁴/(epsilon² n²), the exact mean squared error of the noisy variance (sensitivity L²/n)."""
    return 2 * (high * high / (epsilon * n)) ** 2


def variance_bias(epsilon: float, high: float) -> float:
    """Return 2 L²/epsilon²: by how much the variance of noisy records is too large, (5.23)."""
    return 2 * (high / epsilon) ** 2


def variance_before(epsilon: float, high: float, n: int, spread: float) -> float:
    r"""Return the exact mean squared error of the sample variance of noisy records.

    .. math:: \frac{4b^4(5n-3)}{n(n-1)}+\frac{8b^2s^2}{n-1}+4b^4,\qquad b=L/\varepsilon

    The first term is the variance of the sample variance of n Laplace noises, the second that of the cross term
    :math:`\frac2{n-1}\sum(x_i-\bar x)Z_i` (uncorrelated with the first, by symmetry), the third the squared bias.

    Parameters
    ----------
    spread : float
        Sample variance s² of the records.
    """
    b = high / epsilon
    return 4 * b**4 * (5 * n - 3) / (n * (n - 1)) + 8 * b * b * spread / (n - 1) + 4 * b**4


def equal_epsilon_variance(epsilon: float, high: float, n: int, spread: float) -> float:
    r"""Return the epsilon with which noise on the records has the error of noise on the answer at `epsilon`.

    Both errors are polynomials in u = 1/epsilon², so u is the positive root of
    :math:`4L^4(1+\frac{5n-3}{n(n-1)})u^2+\frac{8L^2s^2}{n-1}u=\frac{2L^4}{\varepsilon^2n^2}`. It grows like sqrt(n):
    for uniform data like 1.2612 sqrt(n) at epsilon = 1.
    """
    square = 4 * (1 + (5 * n - 3) / (n * (n - 1)))
    linear = 8 * spread / high**2 / (n - 1)
    right = 2 / (epsilon * n) ** 2
    return math.sqrt((linear + math.sqrt(linear**2 + 4 * square * right)) / (2 * right))


def fourth_moment(n: int, scale: float = 1.0) -> float:
    r"""Return :math:`E(Z_i-\bar Z)^4=24b^4[1-\frac4n+\frac6{n^2}-\frac3{n^3}+\frac{n-1}{n^2}(1-\frac3{2n})]`."""
    return 24 * scale**4 * (1 - 4 / n + 6 / n**2 - 3 / n**3 + (n - 1) / n**2 * (1 - 1.5 / n))


def printed_fourth_moment(n: int, scale: float = 1.0) -> float:
    """Return the same as printed, with 6n(n - 1) instead of 3n(n - 1) pairs in the fourth moment of the mean."""
    return 24 * scale**4 * (1 - 4 / n + 6 / n**2 - 3 / n**3 + (n - 1) / n**2 * (1 - 1 / n))


def printed_variance_before(epsilon: float, high: float, values: Any) -> float:
    """Return (5.25) as printed: cross terms of a square lost, and E S² where a mean squared error was meant."""
    x = np.asarray(values, dtype=np.float64)
    n, b = x.size, high / epsilon
    off = x - x.mean()
    first = float((off**4).sum()) / (n - 1) ** 2
    second = n / (n - 1) ** 2 * printed_fourth_moment(n, b)
    return first + second + 12 * b * b / (n * (n - 1)) * float((off**2).sum())


def printed_equal_epsilon(high: float, values: Any, epsilon: float = 1.0) -> float | None:
    """Return the solution (5.26) of the printed equation, None where it has no real one (A < B)."""
    x = np.asarray(values, dtype=np.float64)
    n = x.size
    off = x - x.mean()
    a = 2 * high**4 / (epsilon * n) ** 2
    b = float((off**4).sum()) / (n - 1) ** 2
    c = n / (n - 1) ** 2 * printed_fourth_moment(n, high)
    d = 12 * high**2 / (n * (n - 1)) * float((off**2).sum())
    return None if a <= b else math.sqrt((d + math.sqrt(d * d + 4 * (a - b) * c)) / (2 * (a - b)))


# --- median --------------------------------------------------------------------------------------------------------


def median_after(epsilon: float, high: float) -> float:
    """Return 2 L²/epsilon², the exact mean squared error of the noisy median (sensitivity L)."""
    return 2 * (high / epsilon) ** 2


def printed_median_sensitivity() -> float:
    """Return |median(0..109) - median(1..110)| = 1, which R Code A.0.6 takes for the sensitivity of the median."""
    return abs(float(np.median(np.arange(110)) - np.median(np.arange(1, 111))))


def median_before_limit(values: Any, scale: float) -> tuple[float, float]:
    r"""Return centre and standard deviation of the median of noisy records for large n (approximate).

    The centre c solves :math:`\frac1n\sum F(c-x_i)=\frac12`; the deviation is
    :math:`\sqrt{\sum F_i(1-F_i)}/\sum f(c-x_i)`. The centre lies between median and mean: skewed records give a bias.
    """
    x = np.asarray(values, dtype=np.float64)
    low, high = float(x.min()), float(x.max())
    for _ in range(200):
        c = 0.5 * (low + high)
        if c in (low, high):
            break
        t = (c - x) / scale
        balance = float((np.sign(t) * -np.expm1(-np.abs(t))).sum())  # 2 (mean of F - 1/2), up to n
        low, high = (low, c) if balance > 0 else (c, high)
    t = np.abs(low - x) / scale
    tail = 0.5 * np.exp(-t)
    return low, float(np.sqrt((tail * (1 - tail)).sum()) / (tail.sum() / scale))


def noisy_medians(
    values: Any, scale: float, replications: int, rng: Generator, part: tuple[float, float]
) -> FloatArray:
    """Return medians of records with Laplace noise of this scale on each, one per repetition.

    Parameters
    ----------
    part : tuple of (float, float)
        Which part of the whole work this is, for the progress shown.
    """
    x = np.asarray(values, dtype=np.float64)
    return _repeated(x, scale, replications, rng, part, median=True)


def noisy_variances(
    values: Any, scale: float, replications: int, rng: Generator, part: tuple[float, float]
) -> FloatArray:
    """Return sample variances of records with Laplace noise of this scale on each, one per repetition."""
    x = np.asarray(values, dtype=np.float64)
    return _repeated(x, scale, replications, rng, part, median=False)


def _repeated(
    x: FloatArray, scale: float, replications: int, rng: Generator, part: tuple[float, float], *, median: bool
) -> FloatArray:
    if x.ndim != 1 or x.size < 2:
        msg = f"values must be a flat list of at least 2 numbers, got {value_text(x.tolist())}."
        raise DomainError(msg)
    out = np.empty(replications)
    for rows in chunks(replications, x.size, part):
        noisy = x + rng.laplace(0.0, scale, (rows.stop - rows.start, x.size))
        out[rows] = np.median(noisy, axis=1) if median else noisy.var(axis=1, ddof=1)
    return out
