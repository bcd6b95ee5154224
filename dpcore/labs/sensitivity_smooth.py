r"""Smooth sensitivity: the least bound of the local sensitivity that changes slowly from neighbour to neighbour.

.. math:: S^*_\beta(x)=\max_y\Delta^{loc}f(y)\,e^{-\beta d(x,y)}=\max_k e^{-k\beta}A^{(k)}(x)

A noise scale that follows it gives an approximate guarantee, because neighbours have scales within a factor
:math:`e^\beta`. The exact loss of that comes from pairs of two widths.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dpcore.core.registry import Choice, Parameter
from dpcore.labs.sensitivity import within
from dpcore.planner.sensitivity.noise import BUDGET
from dpcore.planner.sensitivity.pairs import gaussian_delta, laplace_delta
from dpcore.planner.sensitivity.queries import BETA, MeanQuery, QuantileQuery, records

GAMMA: Final = Parameter("gamma", low=1.0, low_open=True, high=100.0, label="γ", meaning="power of the heavy tail")
FAILURE: Final = Parameter(
    "failure", low=0.0, low_open=True, high=0.7, label="δ'", meaning="the δ' from which β is chosen", example=0.01
)


# --- the number itself ---------------------------------------------------------------------------------------------


def smooth_median(values: Any, low: float, high: float, beta: float) -> float:
    """Return the smooth sensitivity of the median of records in [low, high], (5.7), also for an even number of them."""
    return QuantileQuery(0.5).smooth(records(values, low, high), low, high, within(BETA, beta))


def smooth_mean(values: Any, low: float, high: float, beta: float) -> float:
    """Return the smooth sensitivity of the mean; one changed record can lie at an end of the range, so it is near the global one."""
    return MeanQuery().smooth(records(values, low, high), low, high, within(BETA, beta))


def printed_smooth_mean(values: Any, low: float, high: float, beta: float) -> float:
    r"""Return Example 5.2.13 as printed: :math:`\max_k e^{-k\beta}A^{(k)}` with the change of the *mean* as A^(k).

    For k >= 1 it takes the largest change of the mean by k records, for k = 0 the local sensitivity max |x_j| / n. That
    change is no local sensitivity and grows beyond the global one.
    """
    rate = within(BETA, beta)
    x = records(values, low, high)
    n = x.size
    up = np.cumsum(np.sort(high - x)[::-1]) / n
    down = np.cumsum(np.sort(x - low)[::-1]) / n
    change = np.maximum(up, down) * np.exp(-rate * np.arange(1, n + 1))
    return float(max(np.abs(x).max() / n, change.max()))


# --- the mechanisms ------------------------------------------------------------------------------------------------


def laplace_beta(epsilon: float, failure: float) -> float:
    """Return beta = epsilon / (2 log(2 / delta')), Example 5.2.6 (stated for epsilon below 1)."""
    return within(BUDGET, epsilon) / (2 * math.log(2 / within(FAILURE, failure)))


def printed_laplace_delta(epsilon: float, failure: float) -> float:
    """Return (delta'/2)(e^(epsilon/2) + 1), Corollary 5.2.9 as printed: true and loose."""
    return 0.5 * within(FAILURE, failure) * (math.exp(within(BUDGET, epsilon) / 2) + 1)


def dilation(epsilon: float, beta: float, *, gaussian: bool = False) -> float:
    """Return the exact delta of the dilation alone, P(Z in B) <= e^epsilon P(Z in e^l B) + delta, worst |l| <= beta.

    For Laplace and normal noise the full ratio is the worst one: the set is an interval around 0 or its complement.
    """
    profile, ratio, at = (
        gaussian_delta if gaussian else laplace_delta,
        math.exp(within(BETA, beta)),
        np.array([epsilon]),
    )
    return max(float(profile(at, ratio, 1.0, 0.0)[0]), float(profile(at, 1.0, ratio, 0.0)[0]))


def heavy_beta(epsilon: float, gamma: float) -> float:
    """Return beta = epsilon / (2 (gamma + 1)) of the noise with density proportional to 1 / (1 + |z|^gamma)."""
    return within(BUDGET, epsilon) / (2 * (within(GAMMA, gamma) + 1))


def heavy_scale(epsilon: float, gamma: float) -> float:
    """Return the scale per unit of smooth sensitivity, 2 (gamma + 1) / epsilon."""
    return 2 * (within(GAMMA, gamma) + 1) / within(BUDGET, epsilon)


def heavy_loss(epsilon: float, gamma: float) -> float:
    r"""Return an upper bound of the largest loss of the heavy-tailed mechanism; the source promises epsilon.

    .. math:: \frac{\varepsilon}{2(\gamma+1)}\Big((\gamma-1)^{(\gamma-1)/\gamma}+\max(1,\gamma-1)\Big)

    The slope of :math:`\log(1+|z|^\gamma)` is at most :math:`(\gamma-1)^{(\gamma-1)/\gamma}` and a ratio e^beta of the
    scales costs between :math:`-(\gamma-1)\beta` and :math:`\beta`. So the promise holds, with room to spare.
    """
    steep = math.pow(gamma - 1, (gamma - 1) / gamma)
    return heavy_beta(epsilon, gamma) * (steep + max(1.0, gamma - 1))


def gaussian_scale(epsilon: float, failure: float) -> float:
    """Return the standard deviation per unit of smooth sensitivity, 5 sqrt(2 log(2 / delta)) / epsilon."""
    return 5 * math.sqrt(2 * math.log(2 / within(FAILURE, failure))) / within(BUDGET, epsilon)


def printed_gaussian_beta(epsilon: float, failure: float) -> float:
    """Return beta = epsilon / (2 log(2 / delta)), as printed: the dilation inequality (5.4) fails with it."""
    return laplace_beta(epsilon, failure)


def gaussian_beta(epsilon: float, failure: float) -> float:
    """Return beta = epsilon / (4 (1 + log(2 / delta))), with which the dilation inequality holds.

    Reference: Nissim, Raskhodnikova, Smith (2007), Lemma 2.7 for dimension 1.
    """
    return within(BUDGET, epsilon) / (4 * (1 + math.log(2 / within(FAILURE, failure))))


def gaussian_worst_delta(epsilon: float, beta: float, scale: float, steps: int = 200) -> float:
    """Return the largest delta(epsilon) found over ratios of standard deviations up to e^beta: a lower bound.

    The full ratio with the wider noise on the data is the worst of its direction; the other direction is scanned.

    Parameters
    ----------
    scale : float
        Standard deviation per unit of smooth sensitivity.
    """
    e, rate = np.array([within(BUDGET, epsilon)]), within(BETA, beta)
    wide = float(gaussian_delta(e, math.exp(rate), 1.0, 1 / scale)[0])
    ratios = np.exp(np.linspace(0.0, rate, steps + 1))
    return max(wide, *(float(gaussian_delta(e, 1.0, float(r), 1 / scale)[0]) for r in ratios))


# --- the three beside each other -----------------------------------------------------------------------------------

CAUCHY: Final = 2.0  # gamma of the density 1 / (1 + z^2)
MECHANISMS: Final = ("Laplace", "Cauchy", "Gaussian")
_MIDDLE: Final = {"Laplace": math.log(2.0), "Cauchy": 1.0, "Gaussian": 0.6744897501960817}  # medians of |Z|


def mechanism_beta(mechanism: str, epsilon: float, failure: float) -> float:
    """Return how fast the bound may change with Laplace, Cauchy (the heavy tail of power 2) or Gaussian noise."""
    return {
        "Laplace": lambda: laplace_beta(epsilon, failure),
        "Cauchy": lambda: heavy_beta(epsilon, CAUCHY),
        "Gaussian": lambda: gaussian_beta(epsilon, failure),
    }[Choice("mechanism", "text", choices=MECHANISMS).check(mechanism)]()


def mechanism_scale(mechanism: str, epsilon: float, failure: float) -> float:
    """Return the scale of the noise per unit of smooth sensitivity: 2/epsilon for Laplace noise."""
    return {
        "Laplace": lambda: 2 / within(BUDGET, epsilon),
        "Cauchy": lambda: heavy_scale(epsilon, CAUCHY),
        "Gaussian": lambda: gaussian_scale(epsilon, failure),
    }[Choice("mechanism", "text", choices=MECHANISMS).check(mechanism)]()


def typical_error(mechanism: str, values: Any, low: float, high: float, epsilon: float, failure: float) -> float:
    """Return the median of the absolute error of a noisy median, smooth sensitivity times scale times median of |Z|.

    Half of the releases are nearer than that. Cauchy noise, which has no variance, has this measure too.
    """
    bound = smooth_median(values, low, high, mechanism_beta(mechanism, epsilon, failure))
    return bound * mechanism_scale(mechanism, epsilon, failure) * _MIDDLE[mechanism]
