r"""Rényi divergences in closed form.

Each function returns :math:`D_a(P_1\|P_0)` in nats for an order a in [1, inf]; order 1 is the Kullback-Leibler
divergence, infinite order the largest loss. The sums are arranged so that nothing cancels when the divergence is
small: with T = (e^((a-1) D) - 1)/(a-1) as a sum of positive terms, D = log(1 + (a-1) T)/(a-1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import LOSS_OR_INF, ORDER
from dpcore.core.errors import DomainError
from dpcore.curves.binary_divergence import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

_MU = LOSS_OR_INF.but(name="mu")
_LARGE = 300.0  # beyond this exponent only the leading term and its first correction matter


def _from_excess(order: float, total: float) -> float:
    """Return log(1 + (order-1) T)/(order-1)."""
    return total if order == 1.0 else math.log1p((order - 1.0) * total) / (order - 1.0)


def _second_remainder(z: float) -> float:
    """Return (e^z - 1 - z)/z^2, which is 1/2 at 0."""
    if abs(z) >= 1.0:
        return (math.expm1(z) - z) / (z * z)
    total = 0.0
    for k in range(20, 1, -1):
        total = total * z + 1.0 / math.factorial(k)
    return total


def gaussian(mu: float, order: float) -> float:
    """Return order mu^2 / 2: N(mu, 1) against N(0, 1); 0 for mu = 0, infinite at infinite order.

    Examples
    --------
    >>> gaussian(0.5, 8)
    1.0
    """
    order, mu = ORDER.check(order), _MU.check(mu)
    return 0.0 if mu == 0.0 else order * mu * mu / 2.0


def laplace(epsilon: float, order: float) -> float:
    r"""Return the divergence of Laplace noise of scale sensitivity/epsilon.

    .. math:: \frac{1}{a-1}\log\Bigl(\frac{a}{2a-1} e^{(a-1)\varepsilon} + \frac{a-1}{2a-1} e^{-a\varepsilon}\Bigr)

    At order 1 it is epsilon + e^-epsilon - 1, at infinite order epsilon. Mironov (2017), Proposition 6.

    Examples
    --------
    >>> round(laplace(1.0, 2), 12)
    0.619123629999
    """
    a, e = float(ORDER.check(order)), float(LOSS_OR_INF.check(epsilon))
    if math.isinf(a) or math.isinf(e) or e == 0.0:
        return e
    exponent = (a - 1.0) * e
    if exponent > _LARGE:
        return e + (math.log(a / (2.0 * a - 1.0)) + (a - 1.0) / a * math.exp(-(2.0 * a - 1.0) * e)) / (a - 1.0)
    parts = (a - 1.0) * _second_remainder(exponent) + a * _second_remainder(-a * e)
    return _from_excess(a, e * e * a * parts / (2.0 * a - 1.0))


def randomized_response(epsilon: float, order: float) -> float:
    r"""Return the divergence of the two-point pair with losses +-epsilon, the largest among all epsilon-DP pairs.

    .. math:: \frac{1}{a-1}\log\frac{\cosh((a-1/2)\varepsilon)}{\cosh(\varepsilon/2)}

    At order 1 it is epsilon tanh(epsilon/2), at infinite order epsilon.

    Examples
    --------
    >>> round(randomized_response(1.0, 2), 12)
    0.735325664056
    """
    a, e = float(ORDER.check(order)), float(LOSS_OR_INF.check(epsilon))
    if math.isinf(a) or math.isinf(e) or e == 0.0:
        return e
    exponent = (a - 1.0) * e
    if exponent > _LARGE:
        return e - (math.log1p(math.exp(-e)) - math.exp(-(2.0 * a - 1.0) * e)) / (a - 1.0)
    # cosh A - cosh B = 2 sinh((A+B)/2) sinh((A-B)/2), divided by cosh(e/2) and by a - 1; scaled by e^-(a-1)e
    half = e if a == 1.0 else -math.expm1(-exponent) / (a - 1.0)
    scaled = -math.expm1(-a * e) * half / (1.0 + math.exp(-e))
    return _from_excess(a, scaled * math.exp(exponent))


def pmf(first: Sequence[float], second: Sequence[float], order: float) -> float:
    """Return D_order(first || second) of two probability vectors over the same outcomes.

    Infinite where `first` gives mass to an outcome that `second` excludes; 0 exactly for equal vectors. For a
    guarantee take the larger of the two directions.
    """
    a = ORDER.check(order)
    q, p = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if q.shape != p.shape or q.ndim != 1 or q.size == 0:
        msg = f"The two vectors must have the same positive length, got shapes {q.shape} and {p.shape}."
        raise DomainError(msg)
    for vector in (q, p):
        if not (np.all(vector >= 0.0) and abs(float(vector.sum()) - 1.0) <= 1e-9):
            msg = f"Probabilities must be non-negative and sum to 1, got {vector.tolist()!r}."
            raise DomainError(msg)
    if np.any((p == 0.0) & (q > 0.0)):
        return math.inf
    q, p = q[p > 0.0], p[p > 0.0]
    with np.errstate(divide="ignore"):
        loss = np.log(q) - np.log(p)
    return float(loss.max()) if math.isinf(a) else _pmf(p, loss, a)


def _pmf(p: np.ndarray, loss: np.ndarray, a: float) -> float:
    """Return the divergence from the P0 masses and the losses: T = sum p g(loss), in logarithms."""
    statement = Statement.of(a, 1.0)
    u, v = np.maximum(loss, 0.0), np.minimum(np.maximum(-loss, 0.0), 1e5)
    with np.errstate(divide="ignore", under="ignore"):
        up = np.log(p) + a * u + np.log(statement.gain(u))
        down = np.log(p) + np.log(statement.loss(v))
        log_t = float(np.logaddexp.reduce(np.where(loss > 0.0, up, down)))
    if a > 1.0 and log_t + math.log(a - 1.0) > _LARGE:
        return (log_t + math.log(a - 1.0)) / (a - 1.0)
    return _from_excess(a, math.exp(log_t))
