r"""A record takes part in exactly one of many steps, chosen at random: Gaussian noise in each of them.

Under P0 the answers x_t of the T steps are standard normal; under P1 one of them, each with the same probability, has the mean
m. The ratio is an average of independent log-normal variables,

.. math:: r = \tfrac1T\Big(a+\sum_{t\le n} Y_t\Big),\qquad Y_t=e^{m x_t-m^2/2},\quad a=T-n,

where a steps, if any, are not looked at. So delta is a call on a sum of log-normal variables, and that of the exchanged pair a put.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core.effort import current
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, Curve, FloatArray
from dpcore.engine.lognormal_sum import LogNormalSum

_MASSES = (1e-13, 1e-15, 1e-17, 1e-19, 1e-21, 1e-24)
"""Masses left out, one after the other until they no longer matter: a smaller one needs more nodes."""

_LARGEST = 300.0  # beyond it no delta matters, and exponentials are large
_SHARE = 0.1  # share of the tolerance for the mass left out
_CLOSE = 0.25  # share of the tolerance for the integrals


class Allocation(Curve):
    """The pair above, or (flipped) the other direction.

    Parameters
    ----------
    move : float
        m.
    looked, steps : int
        n and T.
    """

    symmetric = False
    exact = False
    certified = True

    def __init__(self, move: float, looked: int, steps: int, *, flipped: bool = False) -> None:
        self.move, self.looked, self.steps, self.flipped = move, looked, steps, flipped
        rest = steps - looked
        bottom = math.log(rest / steps) if rest else -math.inf
        self.max_loss, self.min_loss = (-bottom, -math.inf) if flipped else (math.inf, bottom)
        self.work = 1e4  # every value has a line of its own: a lattice of them takes minutes, and is refused
        self.method = "call on a sum of log-normal ratios, contour integral"
        self._sums: dict[tuple[float, float], LogNormalSum] = {}

    def _sum(self, mass: float, tolerance: float) -> LogNormalSum:
        key = mass, tolerance
        if key not in self._sums:
            self._sums[key] = LogNormalSum(self.move, self.looked, mass, _CLOSE * tolerance)
        return self._sums[key]

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket for any real epsilon: negative ones through the other direction."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        ahead, behind = (self._put, self._call) if self.flipped else (self._call, self._put)
        out = np.empty((2, epsilon.size))
        up = epsilon >= 0
        out[:, up] = ahead(epsilon[up])
        e = epsilon[~up]
        out[:, ~up] = -np.expm1(e) + np.exp(e) * np.asarray(behind(-e))
        return np.clip(out[0], 0.0, 1.0), np.clip(out[1], 0.0, 1.0)

    def _call(self, epsilon: FloatArray) -> Bounds:
        """Return bounds of E(r - e^eps)+."""
        low, high = np.zeros(epsilon.size), np.ones(epsilon.size)
        open_ = np.flatnonzero(np.isfinite(epsilon) & (epsilon < _LARGEST))
        low[epsilon == np.inf] = high[epsilon == np.inf] = 0.0
        tolerance = current().tolerance
        for mass in _MASSES:
            if not open_.size:
                break
            law = self._sum(mass, tolerance)
            strike = self.steps * np.exp(epsilon[open_]) - (self.steps - self.looked)
            least, most = law.above(strike, _CLOSE * tolerance)
            low[open_] = np.maximum(low[open_], least / self.steps * (1 - 4e-16))
            high[open_] = np.minimum(high[open_], most / self.steps * (1 + 4e-16) + law.lost)
            open_ = open_[law.lost > _SHARE * tolerance * high[open_]]
        return low, high

    def _put(self, epsilon: FloatArray) -> Bounds:
        """Return bounds of E(1 - e^eps r)+, which falls: far out it is between 0 and that of a smaller epsilon."""
        low, high = np.zeros(epsilon.size), np.zeros(epsilon.size)
        finite, far, epsilon = np.isfinite(epsilon), epsilon > _LARGEST, np.minimum(epsilon, _LARGEST)
        strike = self.steps * np.exp(-epsilon) - (self.steps - self.looked)
        open_ = np.flatnonzero(finite & (strike > 0.0))
        tolerance = current().tolerance
        high[open_] = 1.0
        for mass in _MASSES:
            if not open_.size:
                break
            law = self._sum(mass, tolerance)
            least, most = law.below(strike[open_])
            growth = np.exp(epsilon[open_]) / self.steps
            low[open_] = np.maximum(low[open_], growth * least * (1 - 8e-16))
            high[open_] = np.minimum(high[open_], growth * most * (1 + 8e-16) + law.rare)
            open_ = open_[law.rare > _SHARE * tolerance * high[open_]]
        low[far] = 0.0
        return low, high

    def inverse(self) -> Allocation:
        """Return the other direction."""
        return self._other

    @Lazy
    def _other(self) -> Allocation:
        other = Allocation(self.move, self.looked, self.steps, flipped=not self.flipped)
        other._sums = self._sums
        return other
