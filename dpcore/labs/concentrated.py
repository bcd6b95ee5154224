r"""Concentrated, classical and exact calibration of normal noise, and their composition.

:math:`\rho`-concentrated privacy (:math:`D_a\le\rho a` for every order a > 1) gives
:math:`(\rho+2\sqrt{\rho L},\delta)`-DP with :math:`L=\log(1/\delta)`; normal noise of standard deviation sigma has
:math:`\rho=\Delta^2/2\sigma^2`. Solved for the variance that is

.. math:: \sigma^2=\frac{\Delta^2}{4\varepsilon^2}\bigl(\sqrt{2L}+\sqrt{2L+2\varepsilon}\bigr)^2,

against the classical :math:`2\log(1.25/\delta)\Delta^2/\varepsilon^2` and the exact least variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dpcore.core.rounding import up
from dpcore.labs.mixed_noise import classical_variance, exact_variance
from dpcore.regions.guarantees import GDP
from dpcore.theorems.renyi import zcdp_to_dp

__all__ = [
    "Totals",
    "classical_variance",
    "crossover",
    "exact_variance",
    "printed_exponent",
    "printed_variance",
    "totals",
    "unsquared_variance",
    "zcdp_epsilon",
    "zcdp_rho",
    "zcdp_variance",
]


def zcdp_epsilon(rho: float, delta: float, xi: float = 0.0) -> float:
    """Return xi + rho + 2 sqrt(rho log(1/delta)), rounded up: the epsilon of (xi, rho)-concentrated privacy.

    Reference: Bun, Steinke (2016), Lemma 3.5.
    """
    return up(xi + rho + 2 * math.sqrt(-rho * math.log(delta)))


def zcdp_rho(epsilon: float, delta: float, xi: float = 0.0) -> float:
    r"""Return the largest rho for (epsilon, delta), :math:`(\sqrt{\varepsilon-\xi+L}-\sqrt L)^2`.

    The difference of the roots is taken as a quotient, so that small epsilons keep their digits.
    """
    tail = -math.log(delta)
    return ((epsilon - xi) / (math.sqrt(epsilon - xi + tail) + math.sqrt(tail))) ** 2


def zcdp_variance(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the variance of normal noise that concentrated privacy asks for (epsilon, delta): sensitivity^2 / (2 rho)."""
    return sensitivity**2 / (2 * zcdp_rho(epsilon, delta))


def printed_variance(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    r"""Return :math:`\frac{\Delta^2}{\varepsilon^2}(\sqrt{2L}+\sqrt{2L+\varepsilon})^2`, the printed solution.

    It is what (epsilon/2, delta) needs, about four times too much.
    """
    tail = -math.log(delta)
    return (sensitivity / epsilon) ** 2 * (math.sqrt(2 * tail) + math.sqrt(2 * tail + epsilon)) ** 2


def unsquared_variance(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return 2 sensitivity log(1.25/delta)/epsilon, how Sections 5.1 and 5.3 quote the classical variance."""
    return 2 * sensitivity * math.log(1.25 / delta) / epsilon


def printed_exponent(order: float, first: float, second: float, sigma: float = 1.0) -> float:
    """Return the exponent in the middle of the printed proof of Theorem 5.8.6, whose signs are wrong.

    The correct exponent is order (order - 1) (first - second)^2 / (2 sigma^2), with which the proof ends.
    """
    centre = order * first - (1 - order) * second
    return (centre**2 + order * first**2 - (1 - order) * second**2) / (2 * sigma**2)


def crossover(delta: float) -> float:
    r"""Return the epsilon below which concentrated calibration needs less noise than the classical one.

    :math:`\sqrt{\rho}` at the classical variance is :math:`\varepsilon/(2\sqrt{L+\log 1.25})`; put into
    :math:`\rho+2\sqrt{\rho L}\le\varepsilon` it reads :math:`\varepsilon\le 4c^2-4c\sqrt L` with
    :math:`c=\sqrt{L+\log1.25}`, that is :math:`(2c-\sqrt L)^2-L`.
    """
    tail = -math.log(delta)
    c = math.sqrt(tail + math.log(1.25))
    return 4 * c * math.log(1.25) / (c + math.sqrt(tail))


class Totals(NamedTuple):
    """What k answers cost together at one delta, by four ways of counting."""

    basic: float  # the sum of the epsilons; its delta is k times that of one answer
    zcdp: float  # rho adds, then the printed conversion
    zcdp_tight: float  # rho adds, then the best conversion over all orders
    exact: float  # the region of all answers together


def totals(epsilon: float, each_delta: float, k: int, delta: float) -> Totals:
    """Return the epsilons at `delta` of k normal answers, each with the classical noise for (epsilon, each_delta).

    Basic composition promises k epsilon at k each_delta; the others are asked at `delta`.
    Reference: Bun, Steinke (2016); Canonne, Kamath, Steinke (2020), Proposition 12; Dong, Roth, Su (2022), Corollary 3.3
    for the exact one.
    """
    mu = epsilon / math.sqrt(2 * math.log(1.25 / each_delta))
    rho = k * mu * mu / 2
    return Totals(
        k * epsilon,
        zcdp_epsilon(rho, delta),
        float(zcdp_to_dp(rho, 0.0, delta)["epsilon"].iloc[-1]),
        float(GDP(math.sqrt(k) * mu).epsilon(delta)),
    )
