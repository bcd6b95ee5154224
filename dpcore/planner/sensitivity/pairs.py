r"""Two answers whose noise has different scales: exact profiles of Laplace and Gaussian pairs.

A data-dependent noise scale means that neighbours differ in centre and in width. With P the release on the data and Q on
a neighbour, :math:`\delta(\varepsilon)=\int(p-e^\varepsilon q)_+`, and the set of the integral is where the loss
:math:`\log p/q` exceeds :math:`\varepsilon`: intervals, since the loss is piecewise linear (Laplace) or quadratic
(Gaussian).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpcore.core.registry import SCALE, Parameter
from dpcore.curves.base import Curve
from dpcore.regions.custom import CustomRegion
from dpcore.regions.guarantees import gaussian_curve

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray


SHIFT: Final = Parameter("shift", low=0.0, label="d", meaning="distance of the two centres")
_FAR = 1e280  # stands for an infinite epsilon where infinities would be subtracted
_LARGEST = 700.0  # e^700 still is a double
_WIDTH: Final = SCALE.but(infinite=False)


def laplace_delta(epsilon: FloatArray, scale: float, other: float, shift: float) -> FloatArray:
    r"""Return :math:`\delta(\varepsilon)` of Lap(0, scale) against Lap(shift, other), for any real epsilon.

    The loss is linear between the centres and outside of them; each of the three pieces gives one interval.
    """
    e = np.asarray(epsilon, dtype=np.float64)
    s, t, d = scale, other, shift
    level = math.log(t / s)
    pieces = (
        (-np.inf, 0.0, level + d / t, 1 / s - 1 / t),
        (0.0, d, level + d / t, -1 / s - 1 / t),
        (d, np.inf, level - d / t, 1 / t - 1 / s),
    )
    total = np.zeros_like(e)
    with np.errstate(over="ignore", invalid="ignore"):
        for left, right, at_zero, slope in pieces:
            low, high = _above(e, left, right, at_zero, slope)
            p = _mass(low, high, 0.0, s, np.zeros_like(e))
            q = _mass(low, high, d, t, e)
            total += np.where(high > low, np.maximum(p - q, 0.0), 0.0)
    return np.clip(total, _least(e), 1.0)


def _least(e: FloatArray) -> FloatArray:
    """Return max(0, 1 - e^epsilon), below which no delta lies."""
    return np.asarray(-np.expm1(np.minimum(e, 0.0)), dtype=np.float64)


def _above(e: FloatArray, left: float, right: float, at_zero: float, slope: float) -> tuple[FloatArray, FloatArray]:
    """Return where at_zero + slope z > e between left and right; empty intervals have equal ends."""
    low, high = np.full_like(e, left), np.full_like(e, right)
    if slope == 0:
        return np.where(at_zero > e, low, high), high
    cut = np.clip((e - at_zero) / slope, left, right)
    return (cut, high) if slope > 0 else (low, cut)


def _mass(low: FloatArray, high: FloatArray, centre: float, scale: float, log_factor: FloatArray) -> FloatArray:
    """Return e^log_factor times the Laplace mass between low and high, both on one side of the centre."""
    near, far = (np.exp(log_factor - np.abs(end - centre) / scale) for end in (low, high))
    return np.asarray(0.5 * np.abs(near - far), dtype=np.float64)


def gaussian_delta(epsilon: FloatArray, scale: float, other: float, shift: float) -> FloatArray:
    r"""Return :math:`\delta(\varepsilon)` of N(0, scale^2) against N(shift, other^2), for any real epsilon.

    In units v of the narrower one, with :math:`\rho` the ratio of the widths and g the shift in units of the wider one,
    narrow over wide has the log-likelihood :math:`-\ln\rho-v^2/2+(g+\rho v)^2/2`; it exceeds a level between two roots.
    """
    e = np.clip(np.asarray(epsilon, dtype=np.float64), -_FAR, _FAR)
    if scale == other:
        return gaussian_curve(shift / scale).delta_bounds(e)[1]
    narrow, wide = min(scale, other), max(scale, other)
    ratio, move = narrow / wide, shift / wide
    square = (1 - ratio) * (1 + ratio)
    level = e if scale < other else -e
    root = np.sqrt(np.maximum((move * ratio) ** 2 + square * (move**2 - 2 * math.log(ratio) - 2 * level), 0.0))
    low, high = (move * ratio - root) / square, (move * ratio + root) / square
    far_low, far_high = move + ratio * low, move + ratio * high
    if scale < other:
        p = ndtr(high) - ndtr(low)
        q = np.exp(np.minimum(e, _LARGEST)) * (ndtr(far_high) - ndtr(far_low))
    else:
        p = ndtr(far_low) + ndtr(-far_high)
        q = np.exp(np.minimum(e + log_ndtr(low), _LARGEST)) + np.exp(np.minimum(e + log_ndtr(-high), _LARGEST))
    return np.asarray(np.clip(p - q, _least(e), 1.0), dtype=np.float64)


def _largest_loss(scale: float, other: float, shift: float) -> float:
    return math.log(other / scale) + shift / other if scale <= other else math.inf


class Widths(Curve):
    """P0 = Lap(shift, other) and P1 = Lap(0, scale)."""

    def __init__(self, scale: float, other: float, shift: float) -> None:
        self.scale, self.other, self.shift = scale, other, shift
        self.symmetric = scale == other
        self.method = "pair of two widths, closed form"
        self.max_loss, self.min_loss = _largest_loss(scale, other, shift), -_largest_loss(other, scale, shift)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the closed form twice."""
        value = laplace_delta(np.asarray(epsilon, dtype=np.float64), self.scale, self.other, self.shift)
        return value, value

    def inverse(self) -> Widths:
        """Return the pair exchanged; by symmetry only the widths change places."""
        return Widths(self.other, self.scale, self.shift)


def laplace_pair(scale: float, other: float, shift: float, label: str) -> CustomRegion:
    """Return the region of Laplace noise of one scale against another, the centres `shift` apart."""
    return CustomRegion(Widths(_WIDTH.check(scale), _WIDTH.check(other), SHIFT.check(shift)), label, "substitution")
