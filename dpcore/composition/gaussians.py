r"""Epsilon of Gaussian privacy for many mu at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpcore.curves.gaussian import Gaussian

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

_ROUNDS = 70


def epsilons_of(mu: FloatArray, lost: FloatArray, delta: float, *, certified: bool = True) -> FloatArray:
    r"""Return the smallest epsilon at `delta` of Gaussian privacy mu with failure probability `lost`, one per mu.

    :math:`\delta = l + (1-l)\,\delta_\mu(\varepsilon)`, solved for :math:`\varepsilon` by bisection of all mu
    together; inf where `lost` is not below delta. `certified` checks every answer against the curve itself.
    """
    goal = np.maximum(0.0, (delta - lost) - 1e-15 * delta) / np.maximum(1.0 - lost, 1e-300)
    out = np.where(lost > delta, np.inf, 0.0)
    if delta >= 1:
        return np.zeros_like(mu)
    open_ = (mu > 0) & (lost <= delta) & (2 * ndtr(mu / 2) - 1 > goal)
    out[open_ & (goal <= 0)] = np.inf
    todo = np.flatnonzero(open_ & (goal > 0))
    if todo.size:
        found = _bisected(mu[todo], goal[todo])
        if certified:
            pairs = zip(found.tolist(), mu[todo].tolist(), goal[todo].tolist(), strict=True)
            found = np.array([_checked(*pair) for pair in pairs])
        out[todo] = found
    return np.asarray(out, dtype=np.float64)


def _bisected(mu: FloatArray, goal: FloatArray) -> FloatArray:
    """Return the upper end of a bisection for delta_mu(epsilon) = goal."""
    low = np.zeros_like(mu)
    high = mu * (mu / 2 + np.sqrt(-2 * np.log(goal)) + 1)  # beyond it Phi(mu/2 - epsilon/mu) is below the goal
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        above = _delta(mu, middle) > goal
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(high, dtype=np.float64)


def _delta(mu: FloatArray, epsilon: FloatArray) -> FloatArray:
    left, right = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    first = log_ndtr(left)
    return np.asarray(-np.expm1(np.minimum(epsilon + log_ndtr(right) - first, 0.0)) * np.exp(first), dtype=np.float64)


def _checked(epsilon: float, mu: float, goal: float) -> float:
    """Return an epsilon at which the curve itself is at most the goal: the guess, a little more, or a full search."""
    curve = Gaussian(mu)
    tries = epsilon * (1 + np.array([1e-15, 1e-13, 1e-11]))
    good = np.flatnonzero(curve.delta_bounds(tries)[1] <= goal)
    return float(tries[good[0]]) if good.size else float(curve.epsilon_bounds(np.array([goal]))[1][0]) * math.exp(1e-15)
