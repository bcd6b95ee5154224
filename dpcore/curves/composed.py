"""Curves of products: finite sums over a polygon, and the certified contour integral."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.lazy import Lazy
from dpcore.core.rounding import failure
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss
from dpcore.curves.subsampled import SHORT, TALLEST
from dpcore.engine import contour
from dpcore.engine.contour_atoms import is_split
from dpcore.engine.sampled_laplace_mgf import TallError
from dpcore.engine.sandwich import Sandwich

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.polygon import Polygon
    from dpcore.engine.contour_local import Local
    from dpcore.engine.contour_outline import Outline
    from dpcore.engine.few_jumps import FewJumps
    from dpcore.engine.trimmed_mixture import Trimmed

_CELLS = 1 << 18  # epsilons times losses at once: they stay in the processor's cache, and the clock is checked often
_TRIALS, _LEVELS = 3, 1.0  # retries without far jumps, and decades between the masses that may be left out
_EASY_TRANSFORM = 1e8  # work of a transform whose lines are short
_LIKELY = 1e-12  # few questions ask for a smaller delta: the first guess
_SPARE = 0.02  # share of the tolerance that the left-out masses may use; more would widen the bracket visibly
_RATIO, _ABOVE = 1.15, 1.8  # ratio of epsilons that share a cut, and of the loss there to the largest of them
_VERY_WIDE, _WORTHWHILE = 1e-4, 1e-18  # widths and deltas above which a bracket is worth a lattice
_WIDE = 0.02  # tolerance of a bracket that only shows whether a delta matters: that with which roots are located
CONTOUR, _LATTICE = 4.0, 400.0  # work of one of many deltas
_GUESSES = np.geomspace(1e-9, 700.0, 180)  # epsilons of a guess: neighbours differ by a sixth


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
        """Return the bounds of delta and 1 - delta of the forward curve."""
        return self.forward.two_sided(epsilon)

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return the ceiling of the forward curve."""
        return self.forward.ceiling(epsilon)

    @property
    def on_lattices(self) -> bool:
        """Whether the deltas of the forward curve come from lattices."""
        return self.forward.on_lattices

    def outline(self) -> Outline | None:
        """Return the outline of the forward curve."""
        return self.forward.outline()

    def guess(self, delta: float) -> float | None:
        """Return the guess of the forward curve."""
        return self.forward.guess(delta)

    def inverse(self) -> Curve:
        """Return the two curves exchanged."""
        return Directed(self.backward, self.forward)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) of the forward curve."""
        return self.forward.log_mgf(s)

    @property
    def transform_parts(self) -> tuple[tuple[Curve, int], ...]:
        """The forward curve."""
        return ((self.forward, 1),)

    def log_decay(self, c: float, y: float) -> float:
        """Return the decay of the forward curve."""
        return self.forward.log_decay(c, y)

    @property
    def has_mgf(self) -> bool:
        """Whether the transform of the forward curve is known."""
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
        """Return the sum of log M over both factors."""
        return np.asarray(self.polygon.log_mgf(s) + self.smooth.log_mgf(s), dtype=np.complex128)

    @property
    def transform_parts(self) -> tuple[tuple[Curve, int], ...]:
        """Both factors."""
        return (self.polygon, 1), (self.smooth, 1)

    def log_decay(self, c: float, y: float) -> float:
        """Return the decay of the smooth part."""
        return self.smooth.log_decay(c, y)

    @property
    def has_mgf(self) -> bool:
        """Whether the transform of the smooth part is known."""
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
        self._cuts: dict[tuple[int, float], tuple[Trimmed | None, contour.Contour | None]] = {}
        self._first: Certified | None = None
        self.symmetric = all(curve.symmetric for curve, _ in parts)
        self.q_inf = failure([(curve.q_inf, k) for curve, k in parts])
        self.p_inf = failure([(curve.p_inf, k) for curve, k in parts])
        self.max_loss = largest_loss((curve.max_loss, k) for curve, k in parts)
        self.min_loss = -largest_loss((-curve.min_loss, k) for curve, k in parts)
        self.work = CONTOUR if self.has_mgf else _LATTICE
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
            out[:, up] = stacked(self._brackets(epsilon[up]))
        e = epsilon[~up]
        out[:, ~up] = stacked(exchanged(e, self.inverse()._brackets(-e)))
        return (out[0], np.minimum(out[1], 1.0)), (out[2], out[3])

    def _brackets(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        tolerance = current().tolerance
        above = epsilon >= self.max_loss
        if not above.any():
            return self._inner(epsilon, tolerance)
        out = np.empty((4, epsilon.size))
        out[:] = np.array([self.q_inf, self.q_inf, 1.0 - self.q_inf, 1.0 - self.q_inf])[:, None]
        if not above.all():
            out[:, ~above] = stacked(self._inner(epsilon[~above], tolerance))
        return (out[0], out[1]), (out[2], out[3])

    def _inner(self, epsilon: FloatArray, tolerance: float) -> tuple[Bounds, Bounds]:
        bounds: tuple[Bounds, Bounds] = (
            (np.zeros(epsilon.size), np.ones(epsilon.size)),
            (np.zeros(epsilon.size), np.ones(epsilon.size)),
        )
        if self._rare:
            bounds = self._with_lack(epsilon, tolerance, self._by_few_jumps(epsilon, bounds))
            return self._without_jumps(epsilon, tolerance, bounds)
        if self.by_contour:
            try:
                bounds = self._without_jumps(epsilon, tolerance, self._engine(tolerance).two_sided(epsilon))
                return self._refined_on_lattice(epsilon, tolerance, bounds)
            except TallError:
                checkpoint()  # raises if time has run out; the lattice needs no transform
        low, high = self._sandwich.delta_bounds(epsilon, tolerance)
        low = np.minimum(low, high)
        return (low, high), (1.0 - high, 1.0 - low)

    @Lazy
    def _rare(self) -> bool:
        """Whether every part has far jumps that happen rarely: then they are removed first.

        With many of them the whole is nearly normal, and its transform needs a few nodes only.
        """
        return all(
            curve.has_far_jumps and curve.rarely and curve.transform_effort(k) > _EASY_TRANSFORM
            for curve, k in self.parts
        )

    def _by_few_jumps(self, epsilon: FloatArray, bounds: tuple[Bounds, Bounds]) -> tuple[Bounds, Bounds]:
        """Return brackets where a few jumps of the only part make up the loss, and the given ones elsewhere."""
        if self._few_jumps is None:
            return bounds
        low, high = self._few_jumps.delta_bounds(epsilon)
        (least, most), rest = bounds
        low, high = np.maximum(low, least), np.minimum(high, most)
        return (low, high), (np.maximum(rest[0], 1.0 - high), np.minimum(rest[1], 1.0 - low))

    def _with_lack(self, epsilon: FloatArray, tolerance: float, bounds: tuple[Bounds, Bounds]) -> tuple[Bounds, Bounds]:
        """Narrow brackets that are too wide by leaving out the jumps above twice epsilon, whose effect is bounded."""
        (low, high), rest = bounds
        wide = np.flatnonzero((high - low > tolerance * high) & (epsilon > 0.0))
        if not wide.size or len(self.parts) > 1:
            return bounds
        copies, place = self.parts[0][1], np.floor(np.log(epsilon[wide]) / np.log(_RATIO)).astype(np.int64)
        for name in np.unique(place).tolist():
            trimmed, engine = self._cut_engine(name, tolerance)
            if trimmed is None or engine is None:
                return bounds
            at = wide[place == name]
            least, most = trimmed.far(epsilon[at], copies)
            lower, upper = engine.delta_bounds(epsilon[at])
            low[at], high[at] = np.maximum(low[at], lower - most), np.minimum(high[at], upper - least)
        return (low, high), (np.maximum(rest[0], 1.0 - high), np.minimum(rest[1], 1.0 - low))

    def _cut_engine(self, name: int, tolerance: float) -> tuple[Trimmed | None, contour.Contour | None]:
        """Return the only part without its jumps above a loss, and its contour."""
        key = (name, tolerance)
        if key not in self._cuts:
            part, copies = self.parts[0]
            trimmed = part.trimmed_above(_ABOVE * _RATIO ** (name + 1))
            known = None if trimmed is None else contour.Contour([(trimmed, copies)], tolerance / 2, fine=True)
            self._cuts[key] = trimmed, known
        return self._cuts[key]

    @Lazy
    def _few_jumps(self) -> FewJumps | None:
        return self.parts[0][0].few_jumps(self.parts[0][1]) if len(self.parts) == 1 else None

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
        """Narrow wide brackets of the contour: a narrow core with far jumps, or a few atoms, suit a lattice better."""
        (low, high), rest = bounds
        worst, least = (tolerance, 0.0) if self._split else (max(tolerance, _VERY_WIDE), _WORTHWHILE)
        wide = np.flatnonzero((high - low > worst * high) & (high > least))
        if wide.size and (self._split or all(curve.has_far_jumps for curve, _ in self.parts)):
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

    @property
    def on_lattices(self) -> bool:
        """Whether no transform is known or serves."""
        return not (self._rare or self.by_contour)

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return Chernoff's bound where the transform is known, and otherwise the upper side of a wide bracket."""
        tolerance = current().tolerance
        if not self.on_lattices:
            return self._engine(tolerance).ceiling(epsilon)
        if tolerance >= _WIDE:
            return super().ceiling(epsilon)  # no ceiling: the bracket itself costs no more
        with effort(tolerance=_WIDE):
            return self.delta_bounds(epsilon)[1]

    def outline(self) -> Outline | None:
        """Return the saddle point approximation where the transform is known."""
        if self._rare:
            return None  # a narrow core with far jumps is not bell-shaped
        return self._engine(current().tolerance).outline() if self.by_contour else None

    def guess(self, delta: float) -> float | None:
        """Return a guess for rare far jumps: where one of them, or the narrow core alone, has this delta."""
        if not self._rare:
            return None
        copies = sum(k for _, k in self.parts)
        jump = max(_about(curve, delta / copies) for curve, _ in self.parts)
        scale = np.sqrt(sum(k * getattr(curve, "loss_scale", 0.0) ** 2 for curve, k in self.parts))
        return float(max(jump, scale * np.sqrt(max(-2.0 * np.log(delta) - 8.0, 0.25)) * 0.8))

    def expanded(self, grid: FloatArray) -> Local | None:
        """Return the contour's profile around the grid, for a symmetric product whose transform is known."""
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
        slow = (tallest < np.inf and not self._split) or any(curve.has_far_jumps for curve, _ in self.parts)
        return not slow or self.log_decay(0.0, min(tallest, TALLEST)) < SHORT

    @Lazy
    def _split(self) -> bool:
        """Whether every part is a few atoms and a density: then most products need few nodes, and a lattice serves the rest."""
        return all(is_split(curve) for curve, _ in self.parts)

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
        """Return the sum of log M over the parts."""
        return np.asarray(sum(k * curve.log_mgf(s) for curve, k in self.parts), dtype=np.complex128)

    @property
    def transform_parts(self) -> tuple[tuple[Curve, int], ...]:
        """All parts."""
        return tuple(self.parts)

    def log_decay(self, c: float, y: float) -> float:
        """Return the sum of the decays of the parts."""
        return float(sum(k * curve.log_decay(c, y) for curve, k in self.parts))

    @property
    def has_mgf(self) -> bool:
        """Whether the transform of every part is known."""
        return all(curve.has_mgf for curve, _ in self.parts)


def _about(curve: Curve, delta: float) -> float:
    """Return about the largest epsilon at which a curve has this delta."""
    value = curve.delta_bounds(_GUESSES)[1]
    last = int(np.count_nonzero(value > delta)) - 1
    if not 0 <= last < value.size - 1:
        return 0.0 if last < 0 else float(_GUESSES[-1])
    high, low = np.log(np.maximum(value[last : last + 2], 1e-320))
    share = min(1.0, max(0.0, (high - np.log(delta)) / (high - low)))
    return float(_GUESSES[last] * (_GUESSES[last + 1] / _GUESSES[last]) ** share)


def stacked(pair: tuple[Bounds, Bounds]) -> FloatArray:
    """Return the four bounds as the rows of one array."""
    return np.stack((*pair[0], *pair[1]))


def exchanged(epsilon: FloatArray, other: tuple[Bounds, Bounds]) -> tuple[Bounds, Bounds]:
    """Return the bounds at epsilon < 0 from the inverse's at -epsilon: 1 - delta(e) = e^e (1 - d(-e))."""
    (low, high), (rest_low, rest_high) = other
    weight, gap = np.exp(epsilon), -np.expm1(epsilon)
    return (gap + weight * low, gap + weight * high), (weight * rest_low, weight * rest_high)
