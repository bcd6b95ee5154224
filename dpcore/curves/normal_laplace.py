r"""The sum of a normal and a Laplace noise; the scale of the Laplace part is the unit.

With standard deviation g of the normal part, Mills ratio :math:`R(z)=\Phi(-z)/\varphi(z)` and z = x/g,

.. math:: f(x) = \tfrac12\varphi(z)\,[R(g-z)+R(g+z)],\qquad
          S(x) = \Phi(-z) + \tfrac12\varphi(z)\,[R(g-z)-R(g+z)].

f is strictly log-concave with exponential tails, so the loss of a move by s rises from -s to s without reaching either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from dpcore.core.effort import checkpoint
from dpcore.curves.gaussian import mills
from dpcore.curves.symmetric_noise import SymmetricNoise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

_STEPS = 64  # bisections of a logarithm, more than exhaust a double
_SMALL = 80.0  # a loss nearer to 0 than e^-80 of its scale is at s/2 for every double
_NEWTON = 60  # steps at most; a few suffice, and the loop ends by itself
_FAR = 40.0  # the normal tail beyond 40 standard deviations is below every double
_LEGENDRE = np.polynomial.legendre.leggauss(16)  # exact to rounding over a move of at most a quarter of the spread


class NormalLaplaceCurve(SymmetricNoise):
    """The curve of N(0, spread^2) + Lap(1) against its move by `shift`."""

    work = 10.0

    def __init__(self, spread: float, shift: float) -> None:
        super().__init__(shift)
        self.spread = float(spread)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return log f(x)."""
        x = np.abs(np.asarray(x, dtype=np.float64))
        return np.asarray(np.logaddexp(*_log_halves(x, self.spread)) - np.log(2.0), dtype=np.float64)

    def tail(self, x: FloatArray) -> FloatArray:
        """Return the probability that the noise exceeds x."""
        return normal_laplace_tail(x, self.spread)

    def _place(self, rate: FloatArray) -> FloatArray:
        """Return S^-1(rate) by Newton's method on log S, which is concave: from above it falls to the root."""
        target = np.log(rate)
        x = self._beyond(target)
        for _ in range(_NEWTON):
            tail = self._log_tail(x)
            # the density itself may be below every double if the noise is very wide
            step = (tail - target) * np.exp(tail - self.log_density(x))
            x = np.maximum(x + step, 0.0)
            if np.all(np.abs(step) <= 4e-16 * x):
                break
        return x

    def _beyond(self, log_rate: FloatArray) -> FloatArray:
        """Return a place not before S^-1: S <= e^(g^2/2 - x)/2 beyond g^2, S <= e^(c^2 g^2/2 - c x)/(1 - c^2) anywhere."""
        square = self.spread**2
        far = square / 2 - log_rate - np.log(2.0)
        c = np.minimum(0.9, np.sqrt(-2 * log_rate) / self.spread)
        chernoff = (c * c * square / 2 - np.log1p(-c * c) - log_rate) / c
        return np.asarray(np.where(far >= square, far, chernoff), dtype=np.float64)

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        t = self._loss_place(epsilon)
        far = t > self.shift + self.spread**2
        out = np.empty(epsilon.size)
        with np.errstate(under="ignore"):
            out[~far] = self._difference(t[~far], epsilon[~far])
            out[far] = self._far_difference(t[far], epsilon[far])
        return out

    def _difference(self, t: FloatArray, epsilon: FloatArray) -> FloatArray:
        """Return S(t - s) - e^epsilon S(t)."""
        if self.shift < 0.25 * self.spread:
            # beyond a loss of 600 the tail is below every double
            return np.asarray(self._window(t) - np.expm1(np.minimum(epsilon, 600.0)) * self.tail(t), dtype=np.float64)
        return np.asarray(self.tail(t - self.shift) - np.exp(epsilon + self._log_tail(t)), dtype=np.float64)

    def _far_difference(self, t: FloatArray, epsilon: FloatArray) -> FloatArray:
        """Return S(t - s) - e^epsilon S(t) beyond g^2, where both tails are nearly e^(g^2/2 - x)/2."""
        s, g = self.shift, self.spread
        main = 0.5 * np.exp(g * g / 2 - t + s) * -np.expm1(epsilon - s)
        if s < 0.25 * g:
            # for a small move the difference of two corrections would be mere rounding
            factor = np.expm1(np.minimum(epsilon, 600.0))
            return np.asarray(main + self._correction_window(t) - factor * self._correction(t, 0.0), dtype=np.float64)
        return np.asarray(main + self._correction(t - s, 0.0) - self._correction(t, epsilon), dtype=np.float64)

    def _log_tail(self, x: FloatArray) -> FloatArray:
        """Return log S(x) for x >= 0."""
        first, second = _log_halves(x, self.spread)
        with np.errstate(divide="ignore", under="ignore"):
            more = first - np.log(2.0) + np.log1p(-np.exp(np.minimum(second - first, 0.0)))
        return np.asarray(np.logaddexp(log_ndtr(-x / self.spread), more), dtype=np.float64)

    def _window(self, t: FloatArray) -> FloatArray:
        """Return S(t - s) - S(t) for a small move s as an integral of the density."""
        return self._integral(t, lambda x: np.exp(self.log_density(x)))

    def _correction_window(self, t: FloatArray) -> FloatArray:
        """Return the corrections' difference for a small move s, as the integral of f(x) - e^(g^2/2 - x)/2; t - s >= g^2."""
        g = self.spread
        return self._integral(t, lambda x: 0.5 * np.exp(g * g / 2 - x) * self._relative_excess(x))

    def _integral(self, t: FloatArray, density: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the integral of a density over [t - s, t]."""
        node, weight = _LEGENDRE
        half = self.shift / 2
        inside = t[:, None] - half + half * node
        return np.asarray(half * (density(inside) @ weight), dtype=np.float64)

    def _correction(self, x: FloatArray, log_factor: float | FloatArray) -> FloatArray:
        """Return a factor times S(x) - e^(g^2/2 - x)/2 = phi(z) (R(z) - R(z - g)/2 - R(z + g)/2) for z = x/g >= g."""
        g, z = self.spread, x / self.spread
        ratio = mills(z) - 0.5 * mills(z - g) - 0.5 * mills(z + g)
        return np.asarray(np.exp(log_factor - z * z / 2) / np.sqrt(2 * np.pi) * ratio, dtype=np.float64)

    def _loss_place(self, epsilon: FloatArray) -> FloatArray:
        """Return t with loss epsilon by bisection; delta is flat there, so half of the digits are enough.

        Far from the middle the loss changes on the scale g of the normal part, or on g^2, which may be many powers of
        ten larger, so the bisection is in the logarithm of the distance beyond s/2.
        """
        s, g = self.shift, self.spread
        low = np.full(epsilon.size, np.log(min(s, g)) - _SMALL)
        high = np.full(epsilon.size, np.log(s / 2 + g * g + _FAR * g))
        for step in range(_STEPS):
            checkpoint(step / _STEPS)
            middle = 0.5 * (low + high)
            below = self._loss_below(np.exp(middle), epsilon)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(s / 2 + np.exp(0.5 * (low + high)), dtype=np.float64)

    def _loss_below(self, way: FloatArray, epsilon: FloatArray) -> NDArray[np.bool_]:
        """Return whether the loss at s/2 + way is below epsilon: by its distance from s if both places lie beyond g^2."""
        s, square = self.shift, self.spread**2
        place = s / 2 + way
        inside, far = place <= square, place - s > square
        between = ~(inside | far)
        below = np.empty(way.size, dtype=np.bool_)
        below[inside] = self._loss_inside(way[inside]) < epsilon[inside]
        below[between] = self._loss_between(way[between]) < epsilon[between]
        excess = self._excess(place[far]) - self._excess(place[far] - s)
        below[far] = excess > s - epsilon[far]
        return below

    def _loss_inside(self, way: FloatArray) -> FloatArray:
        """Return the loss where both places lie within g^2.

        The squares z^2/2 of two places differ by s way / g^2: far out, subtracting them would leave mere rounding.
        """
        s, g = self.shift, self.spread
        before, here = (mills(g - z) + mills(g + z) for z in (np.abs(way - s / 2) / g, (way + s / 2) / g))
        return np.asarray(s / g * (way / g) + np.log(before / here), dtype=np.float64)

    def _loss_between(self, way: FloatArray) -> FloatArray:
        """Return the loss where the place lies beyond g^2, from f(x) = e^(g^2/2 - x) Phi(z - g) (1 + b) / 2.

        There b = phi(z - g) R(z + g) / Phi(z - g).
        """
        s, g = self.shift, self.spread
        logs = []
        for x in (np.abs(way - s / 2), way + s / 2):
            above = x / g - g
            main = log_ndtr(above)
            with np.errstate(under="ignore"):
                logs.append(main + np.log1p(np.exp(_log_mills(x / g + g) - above * above / 2 - main)))
        return np.asarray(np.minimum(s, 2 * way) + logs[0] - logs[1], dtype=np.float64)

    def _excess(self, x: FloatArray) -> FloatArray:
        """Return log f(x) above its asymptote g^2/2 - x - log 2 for x >= g^2."""
        return np.asarray(np.log1p(self._relative_excess(x)), dtype=np.float64)

    def _relative_excess(self, x: FloatArray) -> FloatArray:
        """Return f(x) over its asymptote e^(g^2/2 - x)/2, minus 1, for x >= g^2."""
        g, z = self.spread, x / self.spread
        with np.errstate(under="ignore"):
            back = np.exp(x - z * z / 2 - g * g / 2 + _log_mills(z + g))
        return np.asarray(back - ndtr(g - z), dtype=np.float64)


def normal_laplace_tail(x: FloatArray, spread: float | FloatArray) -> FloatArray:
    """Return P(N(0, spread^2) + Lap(1) > x); both may be arrays, and the spread must be above 0."""
    x = np.asarray(x, dtype=np.float64)
    size = np.minimum(np.abs(x), 800.0 + spread * (_FAR + spread))
    first, second = _log_halves(size, spread)
    with np.errstate(under="ignore"):
        above = ndtr(-size / spread) + 0.5 * (np.exp(first) - np.exp(second))
    return np.where(x >= 0, above, 1.0 - above)


def _log_halves(x: FloatArray, g: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logarithms of phi(z) R(g - z) and phi(z) R(g + z) for x >= 0."""
    z = x / g
    body = -z * z / 2
    with np.errstate(under="ignore"):
        tail = g * g / 2 - x + log_ndtr(np.maximum(z - g, 0.0))
        first = np.where(z > g, tail, body + _log_mills(np.maximum(g - z, 0.0)))
        return first, body + _log_mills(g + z)


def _log_mills(z: FloatArray) -> FloatArray:
    """Return log(phi(0) R(z)) = log(erfcx(z / sqrt 2) / 2) for z >= 0."""
    return np.asarray(np.log(0.5 * erfcx(z / np.sqrt(2.0))), dtype=np.float64)
