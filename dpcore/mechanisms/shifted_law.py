r"""Log-concave noise given by its law: delta straight from the place where the loss passes epsilon.

With the densities :math:`p_0(x) = p(x)` and :math:`p_1(x) = p(x - D)` of the two answers and their tails :math:`B` and :math:`A`, the
loss :math:`\ell = \log p_1 / p_0` rises, so

.. math:: \delta(\varepsilon) = \max_x g(x), \qquad g(x) = A(x) - e^{\varepsilon} B(x),

is attained where the loss passes :math:`\varepsilon`. Between a place l with a loss below and a place r with a loss above
:math:`\varepsilon`,

.. math:: g(x^*) - g(l) = \int_l^{x^*} (e^{\varepsilon} p_0 - p_1) \le (e^{\varepsilon - \ell(l)} - 1) (A(l) - A(r)),

which vanishes with the square of the distance of l and r.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.mechanisms.law import Inverse, Law, Mirrored
from dpcore.mechanisms.log_concave import Noise, Shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, FloatArray

    BoolArray = NDArray[np.bool_]

_NODES = 1024  # places of the table that a search starts from: a few thousandths of the losses lie between two of them
_RAREST = 1e-290  # smallest rate and smallest density looked at: below 2e-308 doubles lose digits
_SLOP = (
    4e-12  # error of a loss: 1e-12 for each density, as much for the rounding of places and logarithms, and once more
)
_ROUND, _ROUNDS = 12, 6  # halvings between two looks at the width, and such rounds: 72 halvings exhaust the doubles
_ENOUGH = 1e-14  # width, relative to the tail, at which halving stops: a hundredth of the assumed error of a tail
_LARGEST = 700.0  # largest epsilon: e^epsilon is a double
_UNIT = 1.2e-16  # unit roundoff, rounded up


class ShiftedLaw(Shifted):
    """Noise of a log-concave law against the same noise moved up (or, mirrored, down).

    Parameters
    ----------
    law : Law
        The noise; its density and its tails are assumed right to 1e-12 of their values.
    move : float
        How far the answer moves, positive.
    mirrored : bool, default False
        Whether it moves down.
    """

    work = 5.0  # some fifty densities: about as long as five points of a transform

    def __init__(self, law: Law, move: float, *, mirrored: bool = False) -> None:
        plain = law.symmetric and type(law).quantile is Law.quantile
        upper = (None, None) if law.symmetric else (law.above, law.quantile)
        lower = Inverse(law) if plain else law.lower_quantile
        super().__init__(Noise(law.below, lower, *upper, symmetric=law.symmetric), move, mirrored=mirrored)
        self.law = law

    def inverse(self) -> Shifted:
        """Return the pair exchanged: the noise mirrored."""
        return self if self.symmetric else ShiftedLaw(self.law, self.move, mirrored=not self.mirrored)

    @Lazy
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Places and their losses, both rising; rounding among equal losses is smoothed away."""
        law = self._noise
        rate = np.geomspace(_RAREST, 0.5, _NODES // 2)
        with np.errstate(all="ignore"):
            places = np.concatenate((law.lower_quantile(rate), law.quantile(rate[::-1])))
        ends = [end + move for end in (law.low, law.high) for move in (0.0, self.move) if np.isfinite(end)]
        places = np.unique(np.concatenate((places, places + self.move, ends)))
        places = places[np.isfinite(places)]
        return places, np.maximum.accumulate(self._loss(places))

    @Lazy
    def _noise(self) -> Law:
        return Mirrored(self.law) if self.mirrored else self.law

    def _loss(self, x: FloatArray) -> FloatArray:
        """Return log p(x - D) - log p(x); infinite where one of the densities is too small to be trusted."""
        with np.errstate(all="ignore"):
            one, zero = (np.asarray(self._noise.density(x - move), dtype=np.float64) for move in (self.move, 0.0))
            loss = np.log(one) - np.log(zero)
        right = np.where(x > self._noise.centre, np.inf, -np.inf)
        faint = (one < _RAREST) & (zero < _RAREST)
        loss = np.where(faint, right, np.where(zero < _RAREST, np.inf, np.where(one < _RAREST, -np.inf, loss)))
        return np.asarray(loss, dtype=np.float64)

    def _tail(self, x: FloatArray, side: int) -> FloatArray:
        """Return the tail of the mirrored or plain noise, low or high."""
        return self.noise.below(-x, side) if self.mirrored else self.noise.above(x, side)

    def _search(self, epsilon: FloatArray) -> Bounds:
        """Halve the interval in which the loss passes epsilon, then take both sides of the largest gain."""
        places, losses = self._table
        beyond, epsilon = epsilon > _LARGEST, np.minimum(epsilon, _LARGEST)  # delta falls: that of the largest holds
        after = np.clip(np.searchsorted(losses, epsilon - _SLOP, side="right"), 1, places.size - 1)
        left, right = places[after - 1], places[after]
        low, high = losses[after - 1], losses[after]
        for _ in range(_ROUNDS):
            for _ in range(_ROUND):
                middle = left + 0.5 * (right - left)
                loss = self._loss(middle)
                inside = loss <= epsilon - _SLOP
                left, low = np.where(inside, middle, left), np.where(inside, loss, low)
                right, high = np.where(inside, right, middle), np.where(inside, high, loss)
            checkpoint()
            # where densities are too small the loss may never pass epsilon
            passed = (high > epsilon - _SLOP) & (np.isfinite(high) | (right >= self._noise.high))
            tail, rest = self._tail(left - self.move, 1), np.where(passed, self._tail(right - self.move, 0), 0.0)
            with np.errstate(over="ignore", invalid="ignore"):
                rise = np.expm1(epsilon - low + _SLOP) * (tail - rest)
            if np.all((rise <= _ENOUGH * tail) | ~np.isfinite(rise) | ~passed):
                break
        rise += 3.0 * _SLOP * rest  # right of r the loss may still be smaller than epsilon by two of its errors
        price = np.exp(epsilon)
        rounding = _UNIT * (8.0 + epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            upper = tail * (1 + rounding) - price * self._tail(left, 0) * (1 - rounding) + rise
        gains = [self._tail(x - self.move, 0) - price * self._tail(x, 1) * (1 + rounding) for x in (left, right)]
        lower = np.maximum(np.maximum(*gains), self.q_inf)
        upper = np.minimum(np.where(np.isfinite(upper), upper, 1.0), tail)
        # a place whose loss is not known to lie below epsilon proves nothing about what is to its left
        lost = ~np.isfinite(low) | (low > epsilon - _SLOP) | (upper < lower)
        if lost.any():
            lower[lost], upper[lost] = super()._search(epsilon[lost])
        lower = np.where(beyond, self.q_inf, lower)
        return lower, np.asarray(np.clip(upper, lower, 1.0), dtype=np.float64)
