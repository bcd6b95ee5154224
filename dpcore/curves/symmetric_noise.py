r"""Symmetric log-concave noise added to an answer: threshold tests are the best ones, (nearly) in closed form.

In units where the noise has its natural scale and the answer moves by `shift`, with the tail S of the noise,

.. math:: \beta(\alpha) = 1 - S(S^{-1}(\alpha) - \text{shift}),\qquad
          \delta(\varepsilon) = S(t - \text{shift}) - e^{\varepsilon} S(t),

t the place where the loss, which rises in the output, is epsilon. Reference: Dong, Roth, Su (2022), Proposition A.3.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from dpcore.curves.base import Bounds, Curve, FloatArray, mirrored_delta
from dpcore.curves.possible import SMALLEST_NORMAL

_THRESHOLD = 6.0  # work of a threshold over that of a delta, measured; see `Curve.work`


class SymmetricNoise(Curve):
    """Noise against the same noise moved up by `shift`; its loss comes arbitrarily close to `shift`."""

    def __init__(self, shift: float) -> None:
        self.shift = float(shift)
        self.max_loss, self.min_loss = self.shift, -self.shift

    @property
    def rate_work(self) -> float:
        """Work of one beta: a threshold is found by Newton's steps."""
        return _THRESHOLD * max(1.0, self.work)

    @abstractmethod
    def tail(self, x: FloatArray) -> FloatArray:
        """Return the probability that the noise exceeds x."""

    @abstractmethod
    def _place(self, rate: FloatArray) -> FloatArray:
        """Return the place above which the noise lies with this probability, in (0, 1/2]."""

    @abstractmethod
    def _delta(self, epsilon: FloatArray) -> FloatArray:
        """Return delta for epsilon in [0, shift)."""

    def _threshold(self, alpha: FloatArray) -> FloatArray:
        """Return S^-1(alpha), -inf at 1 and inf at 0, from the smaller of alpha and 1 - alpha.

        A rate below the smallest normal double gets the threshold of that one, which overstates the attacker.
        """
        upper = alpha > 0.5
        rate = np.where(upper, 1.0 - alpha, alpha)
        place = np.where(rate > 0, self._place(np.maximum(rate, SMALLEST_NORMAL)), np.inf)
        return np.where(upper, -place, place)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return delta(epsilon): 0 from the largest loss on, negative epsilon through the mirror."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        size = np.abs(epsilon)
        inside = size < self.shift
        value = np.zeros(size.shape)
        if inside.any():
            value[inside] = np.clip(self._delta(size[inside]), 0.0, 1.0)
        value = np.where(epsilon < 0, mirrored_delta(np.minimum(epsilon, 0.0), value), value)
        return value, value

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the false-negative rate of the threshold test; a bracket below the smallest normal rate.

        Such a rate has few digits. The test of the smallest normal one misses fewer, the chord from rate 0 to it more.
        """
        alpha = np.asarray(alpha, dtype=np.float64)
        value = self.tail(self.shift - self._threshold(alpha))
        share = alpha / SMALLEST_NORMAL
        return value, np.where((share > 0.0) & (share < 1.0), 1.0 - share * (1.0 - value), value)

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the true-positive rate of the threshold test; a bracket below the smallest normal rate."""
        alpha = np.asarray(alpha, dtype=np.float64)
        value = self.tail(self._threshold(alpha) - self.shift)
        return np.minimum(alpha / SMALLEST_NORMAL, 1.0) * value, value

    def inverse(self) -> SymmetricNoise:
        """Return itself: the noise is symmetric."""
        return self
