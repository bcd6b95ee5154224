"""Curves of products: finite sums over a polygon, Laplace powers, and the certified contour integral."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint, current
from dpcore.core.lazy import Lazy
from dpcore.core.rounding import failure
from dpcore.curves import duality
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss
from dpcore.curves.spline_tails import SplineTails
from dpcore.curves.subsampled import SHORT, TALLEST
from dpcore.engine import contour, splines
from dpcore.engine.sampled_laplace_mgf import TallError
from dpcore.engine.sandwich import Sandwich

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.polygon import Polygon
    from dpcore.engine.contour_local import Local
    from dpcore.engine.contour_outline import Outline

_CELLS = 4_000_000  # epsilons times losses in memory at once, 32 MB
# Seconds that exact splines may take where the contour would not fade, and where it would; and the largest k of an estimate.
_SPLINE_SECONDS, _SPLINE_ALWAYS, _SPLINE_MOST = 3.0, 0.012, 5_000
_FADED = -36.0  # log of 2e-16: the contour integrand is negligible beyond
_TRIALS, _LEVELS = 3, 1.0  # retries without far jumps, and decades between the masses that may be left out
_EASY_TRANSFORM = 1e8  # work of a transform whose lines are short
_LIKELY = 1e-12  # delta below which few questions go: the first guess
_SPARE = 0.02  # share of the tolerance that the left-out masses may use; more would widen the bracket visibly
_VERY_WIDE, _WORTHWHILE = 1e-4, 1e-18  # widths and deltas above which a bracket is worth a lattice
_CONTOUR, _LATTICE = 4.0, 400.0  # work of one of many deltas


class Directed(Curve):
    """Two curves that are each other's inverse, computed separately."""

    is_product = True

    def __init__(self, forward: Curve, backward: Curve) -> None:
        self.forward, self.backward = forward, backward
        self.symmetric = False
        self.exact = forward.exact and backward.exact
        self.certified = forward.certified or backward.certified
        self.q_inf, self.p_inf = forward.q_inf, backward.q_inf
        self.max_loss, self.min_loss = forward.max_loss, -backward.max_loss
        self.method, self.work = forward.method, forward.work

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the forward profile."""
        return self.forward.delta_bounds(epsilon)

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return those of the forward curve."""
        return self.forward.two_sided(epsilon)

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return that of the forward curve."""
        return self.forward.ceiling(epsilon)

    def outline(self) -> Outline | None:
        """Return that of the forward curve."""
        return self.forward.outline()

    def guess(self, delta: float) -> float | None:
        """Return that of the forward curve."""
        return self.forward.guess(delta)

    def inverse(self) -> Curve:
        """Return the two curves exchanged."""
        return Directed(self.backward, self.forward)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return that of the forward curve."""
        return self.forward.log_mgf(s)

    @property
    def mgf_rounding(self) -> float:
        """That of the forward curve."""
        return self.forward.mgf_rounding

    def log_decay(self, c: float, y: float) -> float:
        """Return that of the forward curve."""
        return self.forward.log_decay(c, y)

    @property
    def has_mgf(self) -> bool:
        """Whether the forward curve has one."""
        return self.forward.has_mgf


class Sum(Curve):
    """A polygon composed with a curve of known profile: delta(e) = q_inf + sum over losses of q delta_S(e - L)."""

    def __init__(self, polygon: Polygon, smooth: Curve) -> None:
        self.polygon, self.smooth = polygon, smooth
        self.symmetric = polygon.symmetric and smooth.symmetric
        self.exact, self.certified = smooth.exact, smooth.certified
        self.q_inf = failure([(polygon.q_inf, 1), (smooth.q_inf, 1)])
        self.p_inf = failure([(polygon.p_inf, 1), (smooth.p_inf, 1)])
        self.max_loss = largest_loss(((polygon.max_loss, 1), (smooth.max_loss, 1)))
        self.min_loss = -largest_loss(((-polygon.min_loss, 1), (-smooth.min_loss, 1)))
        self.work = polygon.size * smooth.work
        self.method = "finite sum over the losses of the polygon"

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the finite sum; negative epsilon through the inverse keeps the digits of small rates."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        lower, upper = np.empty(epsilon.size), np.empty(epsilon.size)
        up = epsilon >= 0
        lower[up], upper[up] = self._sum(
            self.polygon.loss, self.polygon.q, self.polygon.q_inf, self.smooth, epsilon[up]
        )
        if not up.all():
            e, poly = epsilon[~up], self.polygon
            other = self._sum(-poly.loss, poly.p, poly.p_inf, self.smooth.inverse(), -e)
            lower[~up], upper[~up] = (-np.expm1(e) + np.exp(e) * d for d in other)
        return lower, np.asarray(np.minimum(upper, 1.0), dtype=np.float64)

    @staticmethod
    def _sum(loss: FloatArray, mass: FloatArray, rest: float, smooth: Curve, epsilon: FloatArray) -> Bounds:
        lower, upper = np.full(epsilon.size, rest), np.full(epsilon.size, rest)
        use = mass > 0
        loss, mass = loss[use], mass[use]
        step = max(1, _CELLS // max(1, loss.size))
        for start in range(0, epsilon.size, step):
            part = epsilon[start : start + step]
            low, high = smooth.delta_bounds((part[:, None] - loss).ravel())
            lower[start : start + step] += low.reshape(part.size, -1) @ mass
            upper[start : start + step] += high.reshape(part.size, -1) @ mass
            checkpoint(start / max(1, epsilon.size))
        return lower, upper

    def inverse(self) -> Curve:
        """Return the sum of the inverses."""
        return self if self.symmetric else Sum(self.polygon.flipped(), self.smooth.inverse())

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the sum of the two."""
        return np.asarray(self.polygon.log_mgf(s) + self.smooth.log_mgf(s), dtype=np.complex128)

    @property
    def mgf_rounding(self) -> float:
        """The sum of the two."""
        return self.polygon.mgf_rounding + self.smooth.mgf_rounding

    def log_decay(self, c: float, y: float) -> float:
        """Return the decay of the smooth part."""
        return self.smooth.log_decay(c, y)

    @property
    def has_mgf(self) -> bool:
        """Whether the smooth part has one."""
        return self.smooth.has_mgf


class Certified(Curve):
    """Any product of curves, as a certified bracket.

    If every part has a moment generating function the bracket is a contour integral; otherwise the product lies between
    two lattice products, made from the profiles of the parts.
    """

    exact = False
    certified = True
    is_product = True

    def __init__(self, parts: Sequence[tuple[Curve, int]]) -> None:
        self.parts = list(parts)
        self._engines: dict[float, contour.Contour] = {}
        self._trimmed: dict[tuple[float, float], contour.Contour] = {}
        self._first: Certified | None = None
        self.symmetric = all(curve.symmetric for curve, _ in parts)
        self.q_inf = failure([(curve.q_inf, k) for curve, k in parts])
        self.p_inf = failure([(curve.p_inf, k) for curve, k in parts])
        self.max_loss = largest_loss((curve.max_loss, k) for curve, k in parts)
        self.min_loss = -largest_loss((-curve.min_loss, k) for curve, k in parts)
        self.work = _CONTOUR if self.has_mgf else _LATTICE
        engine = "contour integral" if self.has_mgf else "lattice bracket"
        self.method = f"tensor product, {engine}"

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return a bracket, of relative width at most the tolerance where that can be reached."""
        return self.two_sided(epsilon)[0]

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return brackets of delta and 1 - delta; negative epsilon through the inverse."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        up = epsilon >= 0
        if up.all():
            return self._brackets(epsilon)
        out = np.empty((4, epsilon.size))
        if up.any():
            out[:, up] = _stacked(self._brackets(epsilon[up]))
        e = epsilon[~up]
        out[:, ~up] = _stacked(_exchanged(e, self.inverse()._brackets(-e)))
        return (out[0], np.minimum(out[1], 1.0)), (out[2], out[3])

    def _brackets(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        tolerance = current().tolerance
        above = epsilon >= self.max_loss
        if not above.any():
            return self._inner(epsilon, tolerance)
        out = np.empty((4, epsilon.size))
        out[:] = np.array([self.q_inf, self.q_inf, 1.0 - self.q_inf, 1.0 - self.q_inf])[:, None]
        if not above.all():
            out[:, ~above] = _stacked(self._inner(epsilon[~above], tolerance))
        return (out[0], out[1]), (out[2], out[3])

    def _inner(self, epsilon: FloatArray, tolerance: float) -> tuple[Bounds, Bounds]:
        bounds: tuple[Bounds, Bounds] = (
            (np.zeros(epsilon.size), np.ones(epsilon.size)),
            (np.zeros(epsilon.size), np.ones(epsilon.size)),
        )
        if self._rare:
            return self._without_jumps(epsilon, tolerance, bounds)
        if self.by_contour:
            try:
                bounds = self._without_jumps(epsilon, tolerance, self._engine(tolerance).two_sided(epsilon))
                return self._refined_on_lattice(epsilon, tolerance, bounds)
            except TallError:
                checkpoint()  # raises if the time is over; the lattice needs no transform
        low, high = self._sandwich.delta_bounds(epsilon, tolerance)
        low = np.minimum(low, high)
        return (low, high), (1.0 - high, 1.0 - low)

    @Lazy
    def _rare(self) -> bool:
        """Whether every part has far jumps of which few happen: then they are removed first.

        With many of them the whole is nearly normal, and its transform needs a few nodes only.
        """
        return all(
            curve.has_far_jumps and curve.rarely and curve.transform_effort(k) > _EASY_TRANSFORM
            for curve, k in self.parts
        )

    def _without_jumps(
        self, epsilon: FloatArray, tolerance: float, bounds: tuple[Bounds, Bounds]
    ) -> tuple[Bounds, Bounds]:
        """Narrow brackets that are too wide by composing without the far jumps of the parts.

        How much may be left out follows from a lower bound of delta: a product is never more private than a part.
        """
        (low, high), rest = bounds
        copies = sum(k for _, k in self.parts)
        for trial in range(_TRIALS):
            wide = np.flatnonzero(high - low > tolerance * high)
            if not wide.size or not any(curve.has_far_jumps for curve, _ in self.parts):
                break
            alone = np.max([curve.delta_bounds(epsilon[wide])[0] for curve, _ in self.parts], axis=0)
            least = np.maximum(low[wide], alone)
            if trial == 0:
                least = np.maximum(least, _LIKELY)  # a guess: a bracket that turns out too wide is made again
            level = np.floor(np.log10(np.maximum(_SPARE * tolerance * least / copies, 1e-290)) / _LEVELS) * _LEVELS
            for exponent in np.unique(level):
                at = wide[level == exponent]
                engine = self._trimmed_engine(10.0**exponent, tolerance)
                lower, upper = engine.delta_bounds(epsilon[at])
                low[at] = np.maximum(low[at], lower - engine.product.delta_inf * (1 + 1e-12))
                high[at] = np.minimum(high[at], upper)
        return (low, high), (np.maximum(rest[0], 1.0 - high), np.minimum(rest[1], 1.0 - low))

    def _refined_on_lattice(
        self, epsilon: FloatArray, tolerance: float, bounds: tuple[Bounds, Bounds]
    ) -> tuple[Bounds, Bounds]:
        """Narrow very wide brackets of the contour: a narrow core with far jumps suits a lattice better."""
        (low, high), rest = bounds
        wide = np.flatnonzero((high - low > max(tolerance, _VERY_WIDE) * high) & (high > _WORTHWHILE))
        if wide.size and all(curve.has_far_jumps for curve, _ in self.parts):
            lower, upper = self._sandwich.delta_bounds(epsilon[wide], tolerance)
            low[wide], high[wide] = np.maximum(low[wide], np.minimum(lower, upper)), np.minimum(high[wide], upper)
        return (low, high), (np.maximum(rest[0], 1.0 - high), np.minimum(rest[1], 1.0 - low))

    def _trimmed_engine(self, mass: float, tolerance: float) -> contour.Contour:
        key = (mass, tolerance)
        if key not in self._trimmed:
            self._trimmed[key] = contour.Contour(
                [(c.trimmed(mass), k) for c, k in self.parts], tolerance / 2, fine=True
            )
        return self._trimmed[key]

    def _engine(self, tolerance: float) -> contour.Contour:
        engine = self._engines.get(tolerance)
        if engine is None:
            # an exchanged pair always uses the saddle points of its original, whichever of them is computed first
            other = self._first._engine(tolerance) if self._first is not None else None
            engine = self._engines[tolerance] = contour.Contour(self.parts, tolerance, other)
        return engine

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return Chernoff's bound where the transform is known."""
        known = self._rare or self.by_contour
        return self._engine(current().tolerance).ceiling(epsilon) if known else super().ceiling(epsilon)

    def outline(self) -> Outline | None:
        """Return the saddle point approximation where the transform is known."""
        if self._rare:
            return None  # a narrow core with far jumps is no bell
        return self._engine(current().tolerance).outline() if self.by_contour else None

    def guess(self, delta: float) -> float | None:
        """Return about the root of rare far jumps: where one of them, or the narrow core alone, has this delta."""
        if not self._rare:
            return None
        copies = sum(k for _, k in self.parts)
        jump = max(float(curve.epsilon_bounds(np.array([delta / copies]))[1][0]) for curve, _ in self.parts)
        scale = np.sqrt(sum(k * getattr(curve, "loss_scale", 0.0) ** 2 for curve, k in self.parts))
        return float(max(jump, scale * np.sqrt(max(-2.0 * np.log(delta) - 8.0, 0.25)) * 0.8))

    def expanded(self, grid: FloatArray) -> Local | None:
        """Return that of the contour, for a symmetric product whose transform is known."""
        if not self.symmetric or grid[-1] >= self.max_loss or not self.by_contour:
            return None
        return self._engine(current().tolerance).expanded(grid)

    @Lazy
    def by_contour(self) -> bool:
        """Whether the transform is known and, with far jumps, fades soon enough for a feasible number of nodes."""
        if not self.has_mgf:
            return False
        if self._first is not None:
            return self._first.by_contour
        tallest = min((curve.tallest for curve, _ in self.parts), default=np.inf)
        slow = tallest < np.inf or any(curve.has_far_jumps for curve, _ in self.parts)
        return not slow or self.log_decay(0.0, min(tallest, TALLEST)) < SHORT

    @Lazy
    def _sandwich(self) -> Sandwich:
        return Sandwich(self.parts)

    def inverse(self) -> Certified:
        """Return the product of the inverses."""
        return self if self.symmetric else self._other

    @Lazy
    def _other(self) -> Certified:
        if self._first is not None:
            return self._first
        other = Certified([(curve.inverse(), k) for curve, k in self.parts])
        other._first = self
        return other

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the sum over the parts."""
        return np.asarray(sum(k * curve.log_mgf(s) for curve, k in self.parts), dtype=np.complex128)

    @property
    def mgf_rounding(self) -> float:
        """The sum over all copies."""
        return float(sum(k * curve.mgf_rounding for curve, k in self.parts))

    def log_decay(self, c: float, y: float) -> float:
        """Return the sum over the parts."""
        return float(sum(k * curve.log_decay(c, y) for curve, k in self.parts))

    @property
    def has_mgf(self) -> bool:
        """Whether every part has one."""
        return all(curve.has_mgf for curve, _ in self.parts)


def _stacked(pair: tuple[Bounds, Bounds]) -> FloatArray:
    """Return the four bounds as the rows of one array."""
    return np.stack((*pair[0], *pair[1]))


def _exchanged(epsilon: FloatArray, other: tuple[Bounds, Bounds]) -> tuple[Bounds, Bounds]:
    """Return the bounds at epsilon < 0 from the inverse's at -epsilon: 1 - delta(e) = e^e (1 - d(-e))."""
    (low, high), (rest_low, rest_high) = other
    weight, gap = np.exp(epsilon), -np.expm1(epsilon)
    return (gap + weight * low, gap + weight * high), (weight * rest_low, weight * rest_high)


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
        self.work = 1.0 if self.exact else _CONTOUR
        self.method = "exact Laplace splines" if self.exact else "tensor product, contour integral"

    @Lazy
    def _splines(self) -> splines.LaplacePower:
        return splines.laplace_power(self.epsilon, self.k)

    @Lazy
    def _tails(self) -> SplineTails:
        return SplineTails(self._splines, self.epsilon, self.k)

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
        out = _stacked(pair)
        out[:, down] = _stacked(_exchanged(epsilon[down], ((out[0, down], out[1, down]), (out[2, down], out[3, down]))))
        return (out[0], out[1]), (out[2], out[3])

    def outline(self) -> Outline | None:
        """Return the saddle point approximation of the contour."""
        return None if self.exact else self._engine(current().tolerance).outline()

    def expanded(self, grid: FloatArray) -> Local | None:
        """Return that of the contour."""
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
        first = np.exp(np.minimum(self.max_loss, 700.0)) * a
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
                out[:, open_] = _stacked(self._certified(e[open_]))
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
        """Return k times that of one answer."""
        return np.asarray(self.k * self.base.log_mgf(s), dtype=np.complex128)

    @property
    def mgf_rounding(self) -> float:
        """That of one answer, k times."""
        return self.k * self.base.mgf_rounding

    def log_decay(self, c: float, y: float) -> float:
        """Return k times that of one answer."""
        return self.k * self.base.log_decay(c, y)
