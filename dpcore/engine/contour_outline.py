"""A rough sketch of the profile of a product, by the saddle point approximation: where to look, never an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.engine.contour_product import FloatArray, TransformProduct
    from dpcore.engine.contour_table import Branch

_NEAR_ONE = -1e-4
"""Logarithm of the rate at which the outline ends: next to 1 the saddle point approximation is useless."""


@dataclass(frozen=True)
class Outline:
    """A rough sketch of a profile: a starting point, never an answer.

    Attributes
    ----------
    epsilon : ndarray of float
        Its points, ascending.
    kind : ndarray of int
        The kernel there, 0 for D, 1 for I, 2 for N.
    kernel : ndarray of float
        The logarithm of the kernel.
    log_rate : ndarray of float
        Logarithm of P0(L > epsilon), of P0(L <= epsilon) for N.
    scale : ndarray of float
        Standard deviation of the tilted loss.
    delta_inf : float
        Delta at infinity.
    """

    epsilon: FloatArray
    kind: NDArray[np.int64]
    kernel: FloatArray
    log_rate: FloatArray
    scale: FloatArray
    delta_inf: float

    @Lazy
    def log_delta(self) -> FloatArray:
        """Logarithm of delta."""
        size = np.exp(self.kernel)
        below = np.where(self.kind == 2, -np.expm1(np.minimum(self.epsilon, 0.0)), self.delta_inf)
        delta = np.where(self.kind == 1, 1.0 - size, below + size)
        return np.minimum.accumulate(np.log(np.minimum(np.maximum(delta, 1e-323), 1.0)))

    @Lazy
    def score(self) -> FloatArray:
        """Logarithm of (1 - a)/a for a = P0(L > epsilon)."""
        gap = np.log(-np.expm1(self.log_rate)) - self.log_rate
        return np.maximum.accumulate(np.where(self.kind == 2, -gap, gap))


def outline(
    branches: tuple[Branch, Branch, Branch], product: TransformProduct, between: tuple[float, float]
) -> Outline | None:
    """Return the saddle point approximation of the profile, a few per cent off; `between` are the `crossings`.

    A kernel is about e^value / sqrt(2 pi phi''), and its logarithm falls with slope c; minus the slope of delta is
    e^eps P0(L > eps).
    """
    ends = (max(between[1], product.min_loss), product.max_loss), between, (product.min_loss, between[0])
    parts = [_lowest(branch, *end) for branch, end in zip(branches, ends, strict=True)][::-1]
    eps, c, value, bend = (np.concatenate(row) for row in zip(*parts, strict=True))
    kind = np.repeat((2, 1, 0), [part[0].size for part in parts])
    bend = np.maximum(bend, 1e-300)
    kernel = value - 0.5 * np.log(2 * np.pi * bend)
    log_rate = kernel - eps + np.log(np.abs(c))
    use = (log_rate < _NEAR_ONE) & (kernel < 0)
    if not use.all():
        kind, eps, kernel, log_rate, bend = kind[use], eps[use], kernel[use], log_rate[use], bend[use]
    if eps.size < 2:
        return None
    return Outline(eps, kind, kernel, log_rate, np.sqrt(bend), product.delta_inf)


def _lowest(b: Branch, low: float, high: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return epsilon, c, value and the slope of epsilon in c after each node, for a branch between two epsilons."""
    first, last = np.searchsorted(b.epsilon, (low, high)).tolist()
    use = slice(first, min(last, b.slope.size))
    return b.epsilon[use], b.c[use], b.value[use], b.slope[use]
