r"""Epsilon of Gaussian privacy for many mu at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from dpcore.curves.gaussian import GaussianCurve
from dpcore.regions.guarantees import GDP, TV

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

_ROUNDS = 70  # Newton's method takes fewer than ten; the rest is for values near the ends of the doubles
_ROOT2 = math.sqrt(2.0)


def epsilons_of(mu: FloatArray, lost: FloatArray, delta: float, *, certified: bool = True) -> FloatArray:
    r"""Return, for every mu, the smallest epsilon at `delta` of mu-GDP with an infinite loss of probability `lost`.

    :math:`\delta = l + (1-l)\,\delta_\mu(\varepsilon)` is solved for :math:`\varepsilon` by Newton's method for all mu
    together; inf if `lost` is not below delta. `certified` checks every answer against the curve itself.
    """
    goal = np.maximum(0.0, (delta - lost) - 1e-15 * delta) / np.maximum(1.0 - lost, 1e-300)
    out = np.where(lost > delta, np.inf, 0.0)
    if delta >= 1:
        return np.zeros_like(mu)
    open_ = (mu > 0) & (lost <= delta) & (2 * ndtr(mu / 2) - 1 > goal)
    out[open_ & (goal <= 0)] = np.inf
    todo = np.flatnonzero(open_ & (goal > 0))
    if todo.size:
        epsilon = _solved(mu[todo], goal[todo])
        if certified:
            pairs = zip(epsilon.tolist(), mu[todo].tolist(), goal[todo].tolist(), strict=True)
            epsilon = np.array([_checked(*pair) for pair in pairs])
        out[todo] = epsilon
    return np.asarray(out, dtype=np.float64)


def _solved(mu: FloatArray, goal: FloatArray) -> FloatArray:
    r"""Return where delta_mu(epsilon) = goal, from above.

    With :math:`\varepsilon = \mu(l + \mu/2)` and Mills' ratio m,
    :math:`\delta = \Phi(-l)\,(1 - m(l+\mu)/m(l))`: no large numbers are subtracted. log delta falls and is concave,
    because a profile is the tail of the loss, here normal, folded with an exponential, and both are log-concave. So a
    tangent at a point above the root meets the goal above it again.
    """
    level = np.log(goal)
    place = np.sqrt(-2 * level) + 1  # Phi(-l) is below the goal there
    for _ in range(_ROUNDS):
        ratio = erfcx((place + mu) / _ROOT2) / erfcx(place / _ROOT2)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (log_ndtr(-place) + np.log1p(-ratio) - level) * (1 - ratio) / (mu * ratio)
        step = np.where(np.isfinite(step), np.minimum(step, 0.0), 0.0)
        if np.all(step >= -1e-14 * (np.abs(place) + mu)):  # further steps are rounding
            break
        place = place + step
    return np.asarray(np.maximum(mu * (place + mu / 2), 0.0), dtype=np.float64)


def _checked(epsilon: float, mu: float, goal: float) -> float:
    """Return an epsilon at which the curve itself is at most the goal: this one, a little more, or by a full search."""
    curve = GaussianCurve(mu)
    tries = epsilon * (1 + np.array([1e-15, 1e-13, 1e-11]))
    good = np.flatnonzero(curve.delta_bounds(tries)[1] <= goal)
    return float(tries[good[0]]) if good.size else float(curve.epsilon_bounds(np.array([goal]))[1][0]) * math.exp(1e-15)


def joined(mu: float, lost: float) -> TradeOff:
    """Return Gaussian privacy together with a probability of infinite loss."""
    return GDP(mu) if lost == 0 else GDP(mu) * TV(lost) if mu > 0 else TV(lost)
