"""Answers with Laplace noise of the same epsilon: exact splines if they are cheap, otherwise the contour integral."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import current
from dpcore.core.lazy import Lazy
from dpcore.curves import duality
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss
from dpcore.curves.composed import CONTOUR, exchanged, stacked
from dpcore.curves.rates import scaled_rate
from dpcore.curves.spline_tails import SplineTails
from dpcore.engine import contour, splines

if TYPE_CHECKING:
    from dpcore.engine.contour_local import Local
    from dpcore.engine.contour_outline import Outline

# Seconds that exact splines may take where the contour would not fade, and where it would; and the largest k of an estimate.
_SPLINE_SECONDS, _SPLINE_ALWAYS, _SPLINE_MOST = 3.0, 0.012, 5_000
_SPLINE_RATE = 50.0  # work of one beta by the splines, half of what was measured for 256 at once; see `Curve.work`
_FADED = -36.0  # log of 2e-16: below it the contour integrand is negligible


def _spline_seconds(epsilon: float, k: int, cells: int) -> float:
    """Return the estimated time of the splines, inf where they are out of reach or the estimate itself would take long."""
    return splines.cost(k, cells, epsilon) if k <= _SPLINE_MOST and splines.reach(epsilon, k) else np.inf


class LaplaceFold(Curve):
    """k answers with Laplace noise of the same epsilon: exact splines if they are cheap, otherwise the contour."""

    one_sum = True
    is_product = True

    def __init__(self, base: Curve, epsilon: float, k: int) -> None:
        self.base, self.epsilon, self.k = base, epsilon, k
        self._engines: dict[float, contour.Contour] = {}
        self.max_loss = largest_loss([(epsilon, k)])
        self.min_loss = -self.max_loss
        seconds = _spline_seconds(epsilon, k, k)
        fades = k * base.log_decay(0.0, 1e4) < _FADED
        self.exact = seconds <= _SPLINE_ALWAYS or (not fades and seconds <= _SPLINE_SECONDS)
        self.certified = not self.exact
        self.work = 1.0 if self.exact else CONTOUR
        self.method = "exact Laplace splines" if self.exact else "tensor product, contour integral"

    @Lazy
    def _splines(self) -> splines.LaplacePower:
        return splines.laplace_power(self.epsilon, self.k)

    @Lazy
    def _tails(self) -> SplineTails:
        return SplineTails(self._splines, self.epsilon, self.k)

    @property
    def rate_work(self) -> float:
        """Work of one beta: sums of splines, or that by duality."""
        return max(_SPLINE_RATE, super().rate_work)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the exact value, or the contour's bracket with the splines' help near the largest loss."""
        return self.two_sided(epsilon)[0]

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return brackets of delta and 1 - delta; negative epsilon by symmetry."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        e = np.abs(epsilon)
        if self.exact:
            value = np.where(e >= self.max_loss, 0.0, self._splines.delta(np.minimum(e, self.max_loss)))
            pair = (value, value), (1.0 - value, 1.0 - value)
        else:
            pair = self._certified(e)
        down = epsilon < 0
        if not down.any():
            return pair
        out = stacked(pair)
        out[:, down] = stacked(exchanged(epsilon[down], ((out[0, down], out[1, down]), (out[2, down], out[3, down]))))
        return (out[0], out[1]), (out[2], out[3])

    def outline(self) -> Outline | None:
        """Return the saddle point approximation of the contour."""
        return None if self.exact else self._engine(current().tolerance).outline()

    def expanded(self, grid: FloatArray) -> Local | None:
        """Return the contour's profile around the grid."""
        return None if self.exact or grid[-1] >= self.max_loss else self._engine(current().tolerance).expanded(grid)

    def beta_safe(self, alpha: FloatArray) -> FloatArray:
        """Return the exact beta, or the safe side alone."""
        return self.beta_bounds(alpha)[0] if self.exact else duality.beta_safe(self, alpha)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return beta: exact from the tail masses of the splines, otherwise by duality."""
        if not self.exact:
            return super().beta_bounds(alpha)
        value = self._tails.beta(np.asarray(alpha, dtype=np.float64))
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return 1 - beta; below the first corner it is e^(k eps) alpha."""
        lower, upper = super().power_bounds(alpha)
        if not self.exact:
            return lower, upper
        a = np.asarray(alpha, dtype=np.float64)
        top = np.exp(-self.k * np.log(2.0) - self.max_loss)
        first = scaled_rate(a, self.max_loss)
        return np.where(a <= top, first, lower), np.where(a <= top, first, upper)

    def _engine(self, tolerance: float) -> contour.Contour:
        if tolerance not in self._engines:
            self._engines[tolerance] = contour.Contour([(self.base, self.k)], tolerance)
        return self._engines[tolerance]

    def _certified(self, e: FloatArray) -> tuple[Bounds, Bounds]:
        tolerance = current().tolerance
        open_ = e < self.max_loss
        if not open_.all():
            out = np.zeros((4, e.size))
            out[2:] = 1.0
            if open_.any():
                out[:, open_] = stacked(self._certified(e[open_]))
            return (out[0], out[1]), (out[2], out[3])
        (low, high), rest = self._engine(tolerance).two_sided(e)
        wide = np.flatnonzero(high - low > tolerance * high)
        if wide.size:
            low[wide], high[wide] = self._by_splines(e[wide], low[wide], high[wide])
        return (low, high), rest

    def _by_splines(self, e: FloatArray, low: FloatArray, high: FloatArray) -> Bounds:
        if not splines.reach(self.epsilon, self.k):
            return low, high
        cells = splines.cells_above(self.epsilon, self.k, float(e.min()))
        if _spline_seconds(self.epsilon, self.k, cells) > _SPLINE_SECONDS:
            return low, high
        value = splines.laplace_power(self.epsilon, self.k, cells).delta(e)
        slack = 1e-10
        return np.maximum(low, value * (1 - slack)), np.minimum(high, value * (1 + slack))

    def inverse(self) -> LaplaceFold:
        """Return itself: the curve is symmetric."""
        return self

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s), k times that of one answer."""
        return np.asarray(self.k * self.base.log_mgf(s), dtype=np.complex128)

    @property
    def transform_parts(self) -> tuple[tuple[Curve, int], ...]:
        """One answer, k times."""
        return ((self.base, self.k),)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound, k times that of one answer."""
        return self.k * self.base.log_decay(c, y)
