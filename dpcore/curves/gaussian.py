r"""Gaussian privacy: N(0, 1) against N(mu, 1), closed forms only."""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from dpcore.core.effort import checkpoint
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, check_shift, mirrored_delta
from dpcore.curves.families import CurveFamily

_LEGENDRE = np.polynomial.legendre.leggauss(20)  # leaves only rounding where two Mills ratios share more than a digit
_MANY = 100_000  # numbers, as for a lattice: a round over this many takes milliseconds


class GaussianCurve(Curve):
    r"""The curve :math:`G_\mu(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu)`, mu in (0, inf).

    Its profile is :math:`\delta(\varepsilon) = \Phi(\mu/2-\varepsilon/\mu) - e^\varepsilon\Phi(-\mu/2-\varepsilon/\mu)`.
    Reference: Dong, Roth, Su (2022), Definition 2.6 and Corollary 2.13.
    """

    def __init__(self, mu: float, method: str = "closed form") -> None:
        self.mu = self.gaussian_mu = check_shift("mu", mu)
        self.method = method

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return delta(epsilon); negative epsilon through the mirror."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        value = deltas(np.asarray(self.mu), np.abs(epsilon))
        value = np.where(epsilon < 0, mirrored_delta(np.minimum(epsilon, 0.0), value), value)
        value = np.clip(value, 0.0, 1.0)
        return value, value

    @property
    def family(self) -> tuple[type[CurveFamily], float]:
        """Gaussian curves, by mu."""
        return GaussianFamily, self.mu

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return G_mu(alpha)."""
        alpha = np.asarray(alpha, dtype=np.float64)
        with np.errstate(divide="ignore"):
            threshold = -ndtri(alpha)
        value = np.where(alpha <= 0, 1.0, np.where(alpha >= 1, 0.0, ndtr(threshold - self.mu)))
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return Phi(Phi^-1(alpha) + mu)."""
        alpha = np.asarray(alpha, dtype=np.float64)
        with np.errstate(divide="ignore"):
            value = ndtr(ndtri(np.clip(alpha, 0.0, 1.0)) + self.mu)
        return value, value

    def inverse(self) -> GaussianCurve:
        """Return itself: the curve is symmetric."""
        return self

    def group(self, size: int) -> GaussianCurve:
        """Return the curve of size * mu."""
        return GaussianCurve(self.mu * size)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return mu^2 (s^2 + s) / 2."""
        return np.asarray(0.5 * self.mu**2 * (s * s + s), dtype=np.complex128)

    def log_decay(self, c: float, y: float) -> float:  # noqa: ARG002  the decay does not depend on c
        """Return -mu^2 y^2 / 2, exact."""
        return -0.5 * (self.mu * y) ** 2

    @property
    def area(self) -> float:
        """Area under the curve: the chance that a N(mu, 1) draw is below a N(0, 1) draw."""
        return float(ndtr(-self.mu / np.sqrt(2.0)))


class GaussianFamily(CurveFamily):
    """Gaussian curves by their mu."""

    def deltas(self, epsilon: FloatArray) -> FloatArray:
        """Return the deltas."""
        return np.clip(deltas(self.parameters, epsilon), 0.0, 1.0)

    @property
    def largest_losses(self) -> FloatArray:
        """Infinite: the losses have no bound."""
        return np.full(self.parameters.size, np.inf)


def deltas(mu: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Return delta at each epsilon >= 0 as phi(x) (R(-x) - R(y)), Mills ratios R, so that tails keep their digits.

    Parameters
    ----------
    mu : ndarray
        One number, or one for each epsilon.
    epsilon : ndarray
        The epsilons.

    Returns
    -------
    ndarray
        The deltas.
    """
    half, centre, remainder = mu / 2, epsilon / mu, _remainder(mu, epsilon)
    x = (half - centre) - remainder
    y = half + centre
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        # epsilon + log Phi(-y) with both of the order y^2: the tail of Phi cancels epsilon in closed form
        direct = ndtr(x) - np.exp(-x * x / 2) * 0.5 * erfcx(y / np.sqrt(2.0))
        density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
        near = x < 1
        tail = density * _mills_difference(np.where(near, centre, half), half, x)
    value = np.where(near, tail, direct)
    return np.asarray(np.where(np.isposinf(epsilon), 0.0, value), dtype=np.float64)


def _remainder(mu: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Return the rounding error of the quotient epsilon / mu, so that mu/2 - epsilon/mu keeps its digits near 0.

    Beyond a quotient of 1e150 delta is 0 in any case, and the products here would overflow.
    """
    finite = np.where(epsilon <= 1e150 * mu, epsilon, 0.0)
    quotient = finite / mu
    product = quotient * mu
    (a, b), (c, d) = _split(quotient), _split(mu)
    error = ((a * c - product) + a * d + b * c) + b * d
    return np.asarray(((finite - product) - error) / mu, dtype=np.float64)


def mills(x: FloatArray) -> FloatArray:
    """Return the Mills ratio Phi(-x) / phi(x)."""
    return np.asarray(np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2.0)), dtype=np.float64)


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the upper and lower half of the digits of each number (Veltkamp)."""
    wide = 134217729.0 * x
    high = wide - (wide - x)
    return np.asarray(high, dtype=np.float64), np.asarray(x - high, dtype=np.float64)


def _mills_difference(centre: FloatArray, half: FloatArray, x: FloatArray) -> FloatArray:
    r"""Return R(-x) - R(centre + half) without cancellation; x = half - centre has more digits than these two.

    :math:`R(a) - R(b) = \int_a^b -R'(t)\,dt` with :math:`-R'(t) = 1 - tR(t) > 0`; where the two ratios share
    more than a digit the integral (Gauss-Legendre) is used, elsewhere the difference.
    """
    first, second = mills(np.maximum(-x, -1.0)), mills(centre + half)
    out = np.asarray(first - second, dtype=np.float64)
    close = second > 0.5 * first
    if np.any(close):
        node, weight = _LEGENDRE
        wide = np.broadcast_to(half, out.shape)[close]
        out[close] = wide * np.sum(_slope(centre[close][:, None] + wide[:, None] * node) * weight, axis=1)
    return out


def _slope(t: FloatArray) -> FloatArray:
    """Return 1 - t R(t), by its continued fraction where the difference would lose digits."""
    large = t > 5.0
    out = np.empty_like(t)
    out[~large] = 1.0 - t[~large] * mills(t[~large])
    if large.any():
        x = t[large]
        # R(x) = 1/(x + 1/(x + 2/(x + 3/(x + ...)))) and 1 - x R(x) = R(x) * 1/(x + 2/(x + ...))
        tail = x.copy()
        for n in range(60, 1, -1):
            if x.size > _MANY:
                checkpoint()
            tail = x + n / tail
        first = 1.0 / tail
        out[large] = first / (x + first)
    return out
