"""A region that is known to contain the truth, with a second one known to lie inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.curves.base import Bounds, Curve, FloatArray
from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _attempt(question: Callable[[FloatArray], Bounds], at: FloatArray) -> Bounds | None:
    """Return the answer of an inner curve, None where the engine has none: the safe side does not need it."""
    try:
        return question(at)
    except BudgetError:
        checkpoint(0.0)  # raises again if time has run out
        return None


class Outer(Curve):
    """A bound: `outer` is safe to publish, and the truth contains every curve of `inner`, which some mechanism attains."""

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
        attained = [bounds[0] for curve in self.inner if (bounds := _attempt(curve.delta_bounds, epsilon)) is not None]
        lower = np.maximum.reduce([np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0), *attained])
        return np.minimum(lower, upper), upper

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the safe beta and the best attained one."""
        lower = self.outer.beta_bounds(alpha)[0]
        attained = [bounds[1] for curve in self.inner if (bounds := _attempt(curve.beta_bounds, alpha)) is not None]
        upper = np.minimum.reduce([1.0 - np.asarray(alpha), *attained])
        return lower, np.maximum(upper, lower)

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the best attained power and the safe one."""
        upper = self.outer.power_bounds(alpha)[1]
        attained = [bounds[0] for curve in self.inner if (bounds := _attempt(curve.power_bounds, alpha)) is not None]
        lower = np.maximum.reduce([np.asarray(alpha, dtype=np.float64), *attained])
        return np.minimum(lower, upper), upper

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return the largest attained epsilon and the safe one."""
        upper = self.outer.epsilon_bounds(delta)[1]
        attained = [bounds[0] for curve in self.inner if (bounds := _attempt(curve.epsilon_bounds, delta)) is not None]
        lower = np.maximum.reduce([np.zeros(np.shape(delta)), *attained])
        return np.minimum(lower, upper), upper

    def inverse(self) -> Curve:
        """Return the bound of the exchanged pair."""
        if self.symmetric:
            return self
        return Outer(self.outer.inverse(), [curve.inverse() for curve in self.inner], self.method)


def published(curve: Curve) -> Curve:
    """Return the curve whose numbers are published: the safe side of a bound, otherwise the curve itself."""
    while isinstance(curve, Outer):  # as deep as bounds are nested
        curve = curve.outer
    return curve


def floors(curve: Curve) -> tuple[Curve, ...]:
    """Return the curves that lie inside the truth: those of a bound, otherwise the curve itself.

    There is always one: blind guessing is inside every region.
    """
    if not isinstance(curve, Outer):
        return (curve,)
    deeper = () if not isinstance(curve.outer, Outer) else floors(curve.outer)
    known = tuple(inner for floor in (*curve.inner, *deeper) for inner in floors(floor))
    return known or (Polygon([0.0], [1.0], [1.0], 0.0, 0.0, symmetric=True),)


def lifted(operation: Callable[[list[Curve]], Curve], curves: Sequence[Curve]) -> Curve:
    """Apply an operation that keeps the order of regions to both sides of every bound among its parts.

    Curves that contain the parts are mapped to one that contains the result, and curves inside the parts to one inside the
    result; the j-th floor of the result is made of the j-th floor of every part, or of its last one.
    """
    if not any(isinstance(curve, Outer) for curve in curves):
        return operation(list(curves))
    levels = [floors(curve) for curve in curves]
    outer = operation([published(curve) for curve in curves])
    inner = [operation([own[min(j, len(own) - 1)] for own in levels]) for j in range(max(map(len, levels)))]
    reasons = dict.fromkeys(curve.method.split("safe: ")[-1] for curve in curves if isinstance(curve, Outer))
    return Outer(outer, inner, f"{outer.method}, safe: {'; '.join(reasons)}")
