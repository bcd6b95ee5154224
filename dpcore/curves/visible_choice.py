"""One of several pairs is chosen at random, and everybody sees which: its profile is the average of theirs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.engine.visible_choice import ChosenTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_product import Factor


class VisibleChoice(Curve):
    """The average of several pairs with the same weights under both hypotheses.

    Parameters
    ----------
    parts : sequence of tuple of (float, Curve)
        Weights, which add up to 1, and curves.
    method : str
        How it arises, in a few words.
    """

    def __init__(self, parts: Sequence[tuple[float, Curve]], method: str) -> None:
        self.parts = tuple(parts)
        curves = [curve for _, curve in parts]
        self.symmetric = all(curve.symmetric for curve in curves)
        self.exact, self.certified = all(curve.exact for curve in curves), any(curve.certified for curve in curves)
        self.q_inf = math.fsum(w * curve.q_inf for w, curve in parts)
        self.p_inf = math.fsum(w * curve.p_inf for w, curve in parts)
        self.max_loss = max(curve.max_loss for curve in curves)
        self.min_loss = min(curve.min_loss for curve in curves)
        self.work = sum(curve.work for curve in curves)
        self.leads = all(curve.leads for curve in curves)
        self.method = method

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the average of the profiles."""
        bounds = [(w, *curve.delta_bounds(epsilon)) for w, curve in self.parts]
        lower = np.sum([w * low for w, low, _ in bounds], axis=0)
        upper = np.sum([w * high for w, _, high in bounds], axis=0)
        return np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)

    def inverse(self) -> Curve:
        """Return the average of the inverses."""
        return self if self.symmetric else self._other

    @Lazy
    def _other(self) -> VisibleChoice:
        return VisibleChoice([(w, curve.inverse()) for w, curve in self.parts], self.method)

    @property
    def has_mgf(self) -> bool:
        """Whether the transform of every part is known."""
        return all(curve.has_mgf for _, curve in self.parts)

    @Lazy
    def _transform(self) -> ChosenTransform:
        return ChosenTransform(self.parts)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the average."""
        return self._transform.log_mgf(s)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        return self._transform.cumulants(c)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound that follows from those of the parts."""
        return self._transform.log_decay(c, y)

    @property
    def takes_rows(self) -> bool:
        """Whether the parts' transforms take lines in rows."""
        return self._transform.takes_rows

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of the transform."""
        return self._transform.mgf_rounding

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error of the transform at each exponent."""
        return self._transform.mgf_rounding_along(s)

    @property
    def loss_scale(self) -> float:
        """The largest loss scale of the parts."""
        return max(float(getattr(curve, "loss_scale", 0.0)) for _, curve in self.parts)

    @property
    def has_far_jumps(self) -> bool:
        """Whether some part has far jumps."""
        return any(curve.has_far_jumps for _, curve in self.parts)

    @property
    def rarely(self) -> bool:
        """Whether far jumps are rare in every part."""
        return all(curve.rarely for _, curve in self.parts)

    def trimmed(self, mass: float) -> Factor:
        """Return the average of the trimmed parts."""
        return ChosenTransform([(w, curve.trimmed(mass)) for w, curve in self.parts])

    def transform_effort(self, copies: int) -> float:
        """Return the largest effort of the parts, times their number."""
        return len(self.parts) * max(curve.transform_effort(copies) for _, curve in self.parts)
