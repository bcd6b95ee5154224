"""Many curves of one closed form at once: each parameter with its own epsilon or delta, in one pass over arrays.

The operations on each number are those of the single curve, so its deltas are the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.curves.possible import SMALLEST_NORMAL, raised

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray

_DOUBLINGS: Final = 1100  # doublings from 1 to beyond the largest double
_HALVINGS: Final = 140  # most intervals end after 55; near an epsilon of 0 the exponent is halved as well


class CurveFamily(ABC):
    """Curves that differ in one number.

    Parameters
    ----------
    parameters : ndarray
        That number, one for each curve.
    """

    def __init__(self, parameters: FloatArray) -> None:
        self.parameters = parameters

    @abstractmethod
    def deltas(self, epsilon: FloatArray) -> FloatArray:
        """Return the delta of each curve at its epsilon >= 0."""

    @property
    @abstractmethod
    def largest_losses(self) -> FloatArray:
        """Largest loss of each curve, or inf."""

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return (lower, upper) of the delta of each curve; one too small for a double is bounded by them."""
        value = self.deltas(epsilon)
        return np.where(value < SMALLEST_NORMAL, 0.0, value), raised(value, epsilon, self.largest_losses)

    def epsilons(self, delta: FloatArray) -> FloatArray:
        """Return the smallest epsilon >= 0 of each curve at which its delta is at most `delta` > 0, by bisection.

        Parameters
        ----------
        delta : ndarray
            The deltas, in (0, 1).

        Returns
        -------
        ndarray
            The upper ends of the last intervals, where the delta is at most the one asked for.
        """
        low, high = np.zeros(delta.size), np.minimum(np.ones(delta.size), self.largest_losses)
        done = self.deltas(low) <= delta
        high = np.where(done, 0.0, high)
        for _ in range(_DOUBLINGS):
            above = self.deltas(high) > delta
            if not above.any():
                break
            low, high = np.where(above, high, low), np.where(above, np.minimum(2 * high, self.largest_losses), high)
        for _ in range(_HALVINGS):
            checkpoint()
            middle = low + (high - low) / 2
            middle = np.where((low > 0) & (high > 4 * low), np.sqrt(low * high), middle)
            inside = (middle > low) & (middle < high)
            if not inside.any():
                break
            above = self.deltas(np.where(inside, middle, high)) > delta
            low, high = np.where(inside & above, middle, low), np.where(inside & ~above, middle, high)
        return high
