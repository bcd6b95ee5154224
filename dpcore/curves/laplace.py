"""Laplace noise of scale sensitivity / epsilon, one answer."""

from __future__ import annotations

import numpy as np

from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, check_shift, largest_loss
from dpcore.curves.families import CurveFamily
from dpcore.curves.rates import scaled_rate
from dpcore.engine import laplace_mgf

_SMALLEST = 5e-324  # the smallest double
_WITH_DIGITS = 700.0  # epsilon up to which e^-epsilon has all digits


class LaplaceCurve(Curve):
    r"""The curve of Lap(1/eps) against its shift by 1.

    beta is 1 - e^eps a below a = e^-eps/2, then e^-eps/(4a) up to a = 1/2, then e^-eps (1 - a); the profile is
    1 - e^((t - eps)/2) for abs(t) <= eps, 0 above, 1 - e^t below. Dong, Roth, Su (2022), Section 6.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = self.laplace_epsilon = check_shift("The largest loss", epsilon)
        self.max_loss, self.min_loss = self.epsilon, -self.epsilon

    @property
    def family(self) -> tuple[type[CurveFamily], float]:
        """Laplace curves, by their largest loss."""
        return LaplaceFamily, self.epsilon

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the profile."""
        t = np.asarray(epsilon, dtype=np.float64)
        inside = _inside(np.asarray(self.epsilon), t)
        below = -np.expm1(np.minimum(t, 0.0))
        value = np.where(t < -self.epsilon, below, inside)
        return value, value

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the three pieces of the trade-off."""
        a = np.asarray(alpha, dtype=np.float64)
        first, shrink = scaled_rate(a, self.epsilon), np.exp(-self.epsilon)
        if self.epsilon <= _WITH_DIGITS:
            middle = shrink / (4 * np.clip(a, shrink / 2, 0.5))
        else:
            middle = np.exp(-self.epsilon - np.log(4 * np.clip(a, _SMALLEST, 0.5)))
        value = np.where(first < 0.5, 1.0 - first, middle)
        value = np.where(a > 0.5, shrink * (1.0 - a), value)
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return e^eps a on the first piece, 1 - beta after it."""
        a = np.asarray(alpha, dtype=np.float64)
        first = scaled_rate(a, self.epsilon)
        value = np.where(first < 0.5, first, 1.0 - self.beta_bounds(a)[0])
        return value, value

    def inverse(self) -> LaplaceCurve:
        """Return itself: the curve is symmetric."""
        return self

    def group(self, size: int) -> LaplaceCurve:
        """Return the curve of size * epsilon."""
        return LaplaceCurve(largest_loss([(self.epsilon, size)]))

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s), M = e^(-eps/2) (cosh(z eps) + sinh(z eps)/(2z)), z = s + 1/2."""
        return laplace_mgf.log_mgf(s, self.epsilon)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        return laplace_mgf.cumulants(c, self.epsilon)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound from |sinh| <= cosh on a vertical line."""
        return laplace_mgf.log_decay(c, y, self.epsilon)

    atom_units = 16.0  # half of an exponential, and 9 units down

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the two losses with an atom and their P1 masses, rounded down: the contour engine splits them off."""
        return np.array([self.epsilon, -self.epsilon]), np.array([0.5, 0.5 * np.exp(-self.epsilon)]) * (1 - 1e-15)

    @property
    def area(self) -> float:
        """Area under the trade-off: the integral of its three pieces."""
        shrink = np.exp(-self.epsilon)
        return float(shrink / 2 * (1 - 0.25) + shrink * self.epsilon / 4 + shrink / 8)


class LaplaceFamily(CurveFamily):
    """Laplace curves by their largest loss."""

    def deltas(self, epsilon: FloatArray) -> FloatArray:
        """Return the deltas."""
        return _inside(self.parameters, epsilon)

    @property
    def largest_losses(self) -> FloatArray:
        """Largest loss of each curve: its parameter itself."""
        return self.parameters


def _inside(largest: FloatArray, t: FloatArray) -> FloatArray:
    """Return the profile from minus the largest loss on."""
    return np.asarray(-np.expm1((np.minimum(t, largest) - largest) / 2), dtype=np.float64)
