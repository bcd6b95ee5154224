"""Products of up to about forty small polygons, exact without a full list: meet in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss, mirrored_delta
from dpcore.engine.halves import Halves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.polygon import Polygon


class TwoHalves(Curve):
    """The product of polygons: delta(e) = q_inf + sum over one half of q delta_other(e - L)."""

    def __init__(self, parts: Sequence[Polygon], p_inf: float, q_inf: float, *, symmetric: bool) -> None:
        self.parts = tuple(parts)
        self.p_inf, self.q_inf = p_inf, q_inf
        self.symmetric = symmetric
        self.max_loss = largest_loss((part.max_loss, 1) for part in parts)
        self.min_loss = -largest_loss((-part.min_loss, 1) for part in parts)
        self.method = "exact composition, meeting in the middle"

    @Lazy
    def _halves(self) -> Halves:
        return Halves([part.columns for part in self.parts], symmetric=all(part.symmetric for part in self.parts))

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the sum; for negative epsilon that of the inverse."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        up = epsilon >= 0
        if up.all():
            value = np.minimum(self.q_inf + self._halves.delta(epsilon), 1.0)
            return value, value
        value = np.empty(epsilon.size)
        if up.any():
            value[up] = self.delta_bounds(epsilon[up])[0]
        below = epsilon[~up]
        value[~up] = np.minimum(mirrored_delta(below, self.inverse().delta_bounds(-below)[0]), 1.0)
        return value, value

    def inverse(self) -> Curve:
        """Return the product of the inverses."""
        return self if self.symmetric else self._other

    @Lazy
    def _other(self) -> TwoHalves:
        return TwoHalves([part.flipped() for part in self.parts], self.q_inf, self.p_inf, symmetric=False)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the sum of log M over the parts."""
        return np.asarray(sum(part.log_mgf(s) for part in self.parts), dtype=np.complex128)
