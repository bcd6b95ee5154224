r"""Quantiles of the normal law that are certainly on one side, and the mu of Gaussian curves through points.

A library's quantile is a guess here. Its neighbours on both sides are checked by the distribution function, whose error is at most

.. math:: 16u\,(1+|\log\Phi(z)|), \qquad u = 2^{-53},

in the logarithm (a hypothesis, which a test compares with forty digits); where the check fails the distance doubles.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf, erfinv, log_ndtr, ndtri_exp

from dpcore.core.rounding import UNIT

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

NORMAL_UNITS = 16.0
"""Error of log Phi in units of 2^-53 of 1 + its size, and of erf in units of itself."""

_FIRST = 2e-14  # distance that is tried first, relative to 1 + abs(z): a library's quantile is nearly always closer
_DOUBLINGS = 60  # doublings of that distance, from 2e-14 to above 10 000
_CORNER, _OF_LOGS = 256.0, 64.0  # units by which a corner of tangents may be off: see `corner_units`
_LINEAR = 1e-100  # epsilon below which mu is sqrt(pi / 2) epsilon to 1e-200; near 1e-308 a product has no relative error to count
_MIDDLE = -0.7  # log of the power above which the quantile is taken of 1 - power


def quantile_bounds(log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return numbers below and above the quantile of each probability, given by its logarithm <= 0."""
    log_p = np.asarray(log_p, dtype=np.float64)
    guess = np.asarray(ndtri_exp(log_p), dtype=np.float64)
    inside = np.isfinite(guess)
    z = np.where(inside, guess, 0.0)
    sides = []
    for way in (-1.0, 1.0):
        distance = _FIRST * (1.0 + np.abs(z))
        for _ in range(_DOUBLINGS):
            value = log_ndtr(z + way * distance)
            error = NORMAL_UNITS * UNIT * (1.0 + np.abs(value))
            wrong = inside & (way * (value - log_p) < error)
            if not wrong.any():
                break
            distance = np.where(wrong, 2.0 * distance, distance)
        else:
            distance = np.where(wrong, np.inf, distance)
        sides.append(np.where(inside, z + way * distance, guess))
    return sides[0], sides[1]


def corner_units(log_alpha: FloatArray, log_power: FloatArray) -> FloatArray:
    r"""Return by how much the power at a corner of two tangents is raised, in its logarithm.

    Let a' be the computed place where the tangents i and j of neighbouring epsilons meet, a the true one, and T the power on a
    tangent. The point (a', T_i(a')) is on the first tangent, and :math:`T_j(a')-T_i(a')=(e^{\varepsilon_j}-e^{\varepsilon_i})(a'-a)`: the fall of
    delta between the two times the relative error of a', that is two units of :math:`\delta_i` for the difference and a few for each
    logarithm, each at most abs(log a) + abs(log power) + 30. As delta_i is at most the power, both tangents are below the raised point. A
    concave curve above all raised points is then above every tangent between two of them.
    """
    return np.asarray(UNIT * (_CORNER + _OF_LOGS * (np.abs(log_alpha) + np.abs(log_power))), dtype=np.float64)


def gaussian_above(log_alpha: FloatArray, log_power: FloatArray) -> FloatArray:
    """Return a mu for each point whose Gaussian curve has at least this power there, roundings of a corner included."""
    room = corner_units(log_alpha, log_power)
    with np.errstate(divide="ignore"):
        log_beta = np.log(np.maximum(-np.expm1(log_power) - 2.0 * room, 0.0))
    top = np.where(
        log_power < _MIDDLE,
        quantile_bounds(np.minimum(log_power + room, -0.5))[1],
        -quantile_bounds(np.minimum(log_beta, -0.5))[0],
    )
    return np.nextafter(top - quantile_bounds(np.minimum(log_alpha, 0.0))[0], np.inf)


def gaussian_below(log_alpha: FloatArray, log_power: FloatArray) -> FloatArray:
    """Return a mu for each point whose Gaussian curve has at most this power there."""
    room = corner_units(log_alpha, log_power)
    log_beta = np.log(-np.expm1(log_power) + 2.0 * room)
    top = np.where(
        log_power < _MIDDLE,
        quantile_bounds(np.minimum(log_power - room, -0.5))[0],
        -quantile_bounds(np.minimum(log_beta, -0.5))[1],
    )
    return np.nextafter(top - quantile_bounds(np.minimum(log_alpha, 0.0))[1], -np.inf)


def pure_mu(epsilon: float) -> float:
    r"""Return :math:`-2\Phi^{-1}(1/(1+e^\varepsilon))`, the mu of pure epsilon-DP, for any epsilon >= 0.

    Below 1 it is computed as :math:`2\sqrt2\,\mathrm{erf}^{-1}(\tanh(\varepsilon/2))`, which keeps the digits of a small one.
    """
    if epsilon < 1.0:
        return 2.0 * math.sqrt(2.0) * float(erfinv(math.tanh(epsilon / 2)))
    return math.inf if math.isinf(epsilon) else abs(-2.0 * float(ndtri_exp(-np.logaddexp(0.0, epsilon))))


def pure_mu_above(epsilon: float) -> float:
    """Return the mu of pure epsilon-DP, never below the truth."""
    if epsilon <= 0.0 or math.isinf(epsilon):
        return pure_mu(epsilon)
    if epsilon >= 1.0:
        exponent = np.array([-np.logaddexp(0.0, epsilon) * (1.0 + 16.0 * UNIT)])
        return math.nextafter(-2.0 * float(quantile_bounds(exponent)[0][0]), math.inf)
    if epsilon < _LINEAR:
        return math.nextafter(math.sqrt(math.pi / 2) * epsilon * (1.0 + 8.0 * UNIT), math.inf)
    wanted = math.tanh(epsilon / 2) * (1.0 + 8.0 * UNIT)
    root, more = float(erfinv(wanted)), _FIRST
    for _ in range(_DOUBLINGS):
        if float(erf(root * (1.0 + more))) * (1.0 - NORMAL_UNITS * UNIT) >= wanted:
            return 2.0 * math.sqrt(2.0) * root * (1.0 + more) * (1.0 + 8.0 * UNIT)
        more *= 2.0
    return math.inf
