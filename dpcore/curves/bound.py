"""A region that is known to contain the truth, with a second one known to lie inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.curves.base import Bounds, Curve, FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence


class Outer(Curve):
    """`outer` is safe to publish; every curve of `inner` is attained by some mechanism, so the truth is above it."""

    exact = False

    def __init__(self, outer: Curve, inner: Sequence[Curve], method: str) -> None:
        self.outer, self.inner = outer, tuple(inner)
        self.symmetric = outer.symmetric
        self.q_inf, self.p_inf = outer.q_inf, outer.p_inf
        self.max_loss, self.min_loss = outer.max_loss, outer.min_loss
        self.work = outer.work + sum(curve.work for curve in inner)
        self.method = method

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the best attained delta and the safe one."""
        upper = self.outer.delta_bounds(epsilon)[1]
        floors = [curve.delta_bounds(epsilon)[0] for curve in self.inner]
        lower = np.maximum.reduce([np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0), *floors])
        return np.minimum(lower, upper), upper

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the safe beta and the best attained one."""
        lower = self.outer.beta_bounds(alpha)[0]
        ceilings = [curve.beta_bounds(alpha)[1] for curve in self.inner]
        upper = np.minimum.reduce([1.0 - np.asarray(alpha), *ceilings])
        return lower, np.maximum(upper, lower)

    def inverse(self) -> Curve:
        """Return the bound of the exchanged pair."""
        if self.symmetric:
            return self
        return Outer(self.outer.inverse(), [curve.inverse() for curve in self.inner], self.method)
