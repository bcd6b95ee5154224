r"""Private confidence intervals of a mean: Gaussian noise on the mean, Laplace noise on the variance.

With :math:`\bar X+Z`, Z normal of deviation :math:`\sigma_Z=c\Delta/\varepsilon`, :math:`c^2=2\ln(1.25/\delta)`, and
:math:`\hat\sigma^2+Z_1`, :math:`Z_1` Laplace of scale :math:`\Delta_1/\varepsilon_1`, for n records in [0, L]:
:math:`\Delta=L/n`, :math:`\Delta_1=L^2/n`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr

from dpcore.core.registry import Choice
from dpcore.labs.base import chunks
from dpcore.mechanisms.gaussian import GaussianAnalytic, GaussianClassic
from dpcore.planner.interval.laws import normal_quantile

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

POPULATION: Final = Choice(
    "population",
    "text",
    choices=("uniform", "skewed"),
    label="population",
    meaning="uniform on [0, Λ], or exponential of mean Λ/10, what is above Λ moved to Λ",
)
_SKEW = 0.1


# --- noise and widths ----------------------------------------------------------------------------------------------


def noise_deviation(epsilon: float, delta: float, high: float, n: int, *, exact: bool = False) -> float:
    """Return the deviation of the noise on the mean, sqrt(2 log(1.25/delta)) L/(n epsilon).

    If `exact`, the least one that is (epsilon, delta)-private; the textbook one is proved for epsilon below 1 only.
    """
    return unit_noise(epsilon, delta, exact=exact) * high / n


def unit_noise(epsilon: float, delta: float, *, exact: bool = False) -> float:
    """Return the deviation for an answer that moves by 1: the textbook one, or the least one."""
    return GaussianAnalytic(epsilon, delta).noise if exact else GaussianClassic(epsilon, delta).noise


def half_width(level: float, variance: float, n: int, deviation: float) -> float:
    """Return z sqrt(variance/n + sigma_Z²), Corollary 5.7.1 and Theorem 5.7.2; a negative variance counts as 0."""
    return normal_quantile(level) * math.sqrt(max(variance, 0.0) / n + deviation**2)


def printed_half_width(level: float, variance: float, n: int, epsilon: float, delta: float, high: float) -> float:
    """Return z sqrt(variance/n + c² L/(epsilon n)), the last display of Section 5.7: a square is lost in the noise part."""
    return normal_quantile(level) * math.sqrt(
        max(variance, 0.0) / n + 2 * math.log(1.25 / delta) * high / (epsilon * n)
    )


def even_size(epsilon: float, delta: float, high: float, variance: float) -> float:
    """Return c² L²/(epsilon² variance): the n at which sampling and privacy contribute equally to the squared width."""
    return 2 * math.log(1.25 / delta) * (high / epsilon) ** 2 / variance


def naive_coverage(level: float, variance: float, n: int, deviation: float) -> float:
    r"""Return :math:`2\Phi(z\,s/\sqrt{s^2+\sigma_Z^2})-1`, :math:`s^2=\sigma^2/n`: coverage if the noise is ignored.

    For a known variance and a normal mean (approximate otherwise).
    """
    share = math.sqrt(variance / n / (variance / n + deviation**2))
    return float(2 * ndtr(normal_quantile(level) * share) - 1)


# --- the variance --------------------------------------------------------------------------------------------------


def resampled_loss(epsilon: float) -> float:
    r"""Return the exact largest loss when :math:`Z_1` is drawn until the noisy variance is positive.

    .. math:: \varepsilon_1+\ln(2-e^{-\varepsilon_1})

    The release is Laplace noise cut at 0, with normaliser :math:`C_q=1-\frac12e^{-q/b}`; the pair of sample variances 0
    and L²/n has the normalisers 1/2 and :math:`1-\frac12e^{-\varepsilon_1}`, the largest ratio. Reference: as for
    bounded noise, Holohan and others (2020).
    """
    return epsilon + math.log(2 - math.exp(-epsilon))


def before_variance(variance: float, high: float, epsilon: float) -> float:
    """Return variance + 2 L²/epsilon²: what the variance of noisy *records* converges to, so it is inconsistent."""
    return variance + 2 * (high / epsilon) ** 2


# --- populations ---------------------------------------------------------------------------------------------------


def moments(population: str, high: float) -> tuple[float, float]:
    """Return mean and variance of the population, exact."""
    if POPULATION.check(population) == "uniform":
        return high / 2, high**2 / 12
    t = 1 / _SKEW
    mean = _SKEW * -math.expm1(-t)
    square = 2 * _SKEW**2 * (1 - (1 + t) * math.exp(-t))  # integral of 2 x P(X > x) up to 1
    return mean * high, (square - mean**2) * high**2


def draw(population: str, high: float, rng: Generator, shape: tuple[int, int]) -> FloatArray:
    """Return records of the population."""
    if POPULATION.check(population) == "uniform":
        return high * rng.random(shape)
    return np.minimum(rng.exponential(_SKEW * high, shape), high)


# --- coverage ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What is released and claimed: loss of the mean and of the variance, delta, level, range and population."""

    epsilon: float
    variance_epsilon: float
    delta: float
    level: float
    high: float
    population: str


@dataclass(frozen=True, slots=True)
class IntervalCoverage:
    """Simulated shares of intervals that hold the mean at one n, and mean half-widths.

    `known` and `estimated` are the corrected intervals; `naive` ignores the noise, `display` is the printed display, both
    with the noisy variance. `negative` is the share of noisy variances below 0 (they count as 0).
    """

    n: int
    replications: int
    known: float
    estimated: float
    naive: float
    display: float
    negative: float
    width: float

    def error(self, share: float) -> float:
        """Return the standard error of a share, with one more of each outcome so that 0 and 1 are not certain."""
        smooth = (share * self.replications + 1) / (self.replications + 2)
        return math.sqrt(smooth * (1 - smooth) / self.replications)


def simulate(
    plan: Plan, n: int, replications: int, rng: Generator, part: tuple[float, float] = (0.0, 1.0)
) -> IntervalCoverage:
    """Return coverages and widths of `replications` private intervals of n records.

    Parameters
    ----------
    part : tuple of (float, float), optional
        Which part of the whole work this is, for the progress shown.
    """
    mean, variance = moments(plan.population, plan.high)
    deviation = noise_deviation(plan.epsilon, plan.delta, plan.high, n)
    means, spreads = np.empty(replications), np.empty(replications)
    for rows in chunks(replications, n, part):
        x = draw(plan.population, plan.high, rng, (rows.stop - rows.start, n))
        means[rows], spreads[rows] = x.mean(axis=1), x.var(axis=1, ddof=1)
    off = np.abs(means + rng.normal(0.0, deviation, replications) - mean)
    noisy = spreads + rng.laplace(0.0, plan.high**2 / n / plan.variance_epsilon, replications)
    sampling = np.maximum(noisy, 0.0) / n
    z = normal_quantile(plan.level)
    display = 2 * math.log(1.25 / plan.delta) * plan.high / (plan.epsilon * n)
    width = z * np.sqrt(sampling + deviation**2)
    return IntervalCoverage(
        n,
        replications,
        float(np.mean(off <= half_width(plan.level, variance, n, deviation))),
        float(np.mean(off <= width)),
        float(np.mean(off <= z * np.sqrt(sampling))),
        float(np.mean(off <= z * np.sqrt(sampling + display))),
        float(np.mean(noisy < 0)),
        float(width.mean()),
    )
