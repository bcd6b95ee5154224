"""Curves made of other curves, smooth ones included: union, intersection, groups, erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.numerals import nearest
from dpcore.core.question import question
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray, largest_loss, mirrored_delta
from dpcore.curves.steepest_chord import largest_epsilon
from dpcore.engine.contour_product import rounding_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.engine.contour_outline import Outline


_TRIALS = 60.0
"""Betas tried for one delta of a curve defined by its betas; an estimate that changes no number."""

_FENCES, _FARTHEST = 14, 8.0
"""Gains tried on either side of an optimum, and the farthest of them in -log alpha; fewer only widen the bracket."""

_UNIT, _ROUNDINGS = 2.0**-53, 16.0
"""Unit roundoff, and the rounding of one power in these units: a few library calls."""

_SMALL = 1e-6  # an epsilon below which the logarithm of a ratio near 1 has lost its digits
_MOST_WORK = 1e10
"""Most work of one call, in points of a transform: an hour or so. Less work is stopped by a deadline."""


class Either(Curve):
    """The union: any part may be the truth. Its profile is the maximum of the parts' profiles."""

    def __init__(self, parts: Sequence[Curve], *, symmetric: bool, method: str = "union", pair: bool = False) -> None:
        self.parts = tuple(parts)
        self.pair = pair  # the second part is the first one's inverse
        self.symmetric = symmetric
        self.exact = all(part.exact for part in parts)
        self.certified = any(part.certified for part in parts)
        self.q_inf = max(part.q_inf for part in parts)
        self.p_inf = max(part.p_inf for part in parts)
        self.max_loss = max(part.max_loss for part in parts)
        self.min_loss = min(part.min_loss for part in parts)
        self.work = sum(part.work for part in parts)
        self.method = method

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the largest delta of the parts; a part whose ceiling lies below a proved delta is skipped."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        lower, upper = self.parts[0].delta_bounds(epsilon)
        for part in self.parts[1:]:
            open_ = self._open(part, epsilon, lower)
            if open_.all():
                low, high = part.delta_bounds(epsilon)
                lower, upper = np.maximum(lower, low), np.maximum(upper, high)
            elif open_.any():
                low, high = part.delta_bounds(epsilon[open_])
                lower, upper = lower.copy(), upper.copy()
                lower[open_], upper[open_] = np.maximum(lower[open_], low), np.maximum(upper[open_], high)
        return lower, upper

    def _open(self, part: Curve, epsilon: FloatArray, lower: FloatArray) -> NDArray[np.bool_]:
        """Return where a part may exceed the proved deltas: at epsilon 0 a pair and its inverse agree."""
        if not part.certified:
            return np.ones(epsilon.size, dtype=np.bool_)
        up = epsilon >= 0
        settled = self.pair & (epsilon == 0) & part.certified
        return np.asarray(~up | (~settled & (part.ceiling(np.maximum(epsilon, 0.0)) > lower)), dtype=np.bool_)

    @property
    def on_lattices(self) -> bool:
        """Whether the deltas of some part come from lattices."""
        return any(part.on_lattices for part in self.parts)

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return the largest epsilon of the parts.

        For a pair and its inverse the first is asked, then the other's delta there once: usually it is no larger.
        """
        if not self.pair or self.exact:
            return super().epsilon_bounds(delta)
        delta = np.atleast_1d(np.asarray(delta, dtype=np.float64))
        with question():
            lower, upper = (side.copy() for side in self.parts[0].epsilon_bounds(delta))
            for part in self.parts[1:]:
                open_ = np.isfinite(upper)
                if open_.any():
                    open_[open_] = self._higher(part, upper[open_], delta[open_])
                if open_.any():
                    low, high = part.epsilon_bounds(delta[open_])
                    lower[open_], upper[open_] = np.maximum(lower[open_], low), np.maximum(upper[open_], high)
        return lower, upper

    def _higher(self, part: Curve, epsilon: FloatArray, delta: FloatArray) -> NDArray[np.bool_]:
        """Return where the delta of a part is not proved to be at most the given one."""
        higher = np.asarray(part.ceiling(epsilon) > delta, dtype=np.bool_)
        if higher.any():
            higher[higher] = part.delta_bounds(epsilon[higher])[1] > delta[higher]
        return higher

    def guess(self, delta: float) -> float | None:
        """Return the guess of the first part, for a pair and its inverse."""
        return self.parts[0].guess(delta) if self.pair else None

    def outline(self) -> Outline | None:
        """Return the outline of the first part, for a pair and its inverse."""
        return self.parts[0].outline() if self.pair else None

    def inverse(self) -> Curve:
        """Return the union of the inverses."""
        if self.symmetric:
            return self
        return Either([part.inverse() for part in self.parts], symmetric=False, method=self.method)


class LeadingClosure(Either):
    """The closure of a pair whose own direction has the larger delta at every epsilon >= 0: the other is not computed.

    Computing both would double the work with every level of nesting.
    """

    def __init__(self, curve: Curve, method: str) -> None:
        super().__init__([curve, curve.inverse()], symmetric=True, method=method, pair=True)
        self.work = curve.work

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return the epsilons of the leading direction."""
        return Curve.epsilon_bounds(self, delta)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the delta of the leading direction; negative epsilon by symmetry."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        lower, upper = self.parts[0].delta_bounds(np.abs(epsilon))
        down = epsilon < 0
        if not down.any():
            return lower, upper
        e = np.minimum(epsilon, 0.0)
        return np.where(down, mirrored_delta(e, lower), lower), np.where(down, mirrored_delta(e, upper), upper)


def closed(curve: Curve, method: str | None = None) -> Curve:
    """Return the symmetric closure of a curve: the union with its inverse."""
    if curve.symmetric:
        return curve
    if curve.leads:
        return curve.leading_closure(method or curve.method)
    return Either([curve, curve.inverse()], symmetric=True, method=method or curve.method, pair=True)


class ByBeta(Curve):
    """A curve defined by its betas: delta(e) = sup over alpha of power(alpha) - e^e alpha.

    Every alpha tried gives a valid lower delta; the gain is concave in alpha, so three gains that fence the optimum
    in give the upper one. A gain is a difference: its rounding, which is that of the power, is counted on both sides.
    Powers are concave and not negative, so a relative error of an alpha causes at most the same error of its power, and
    the errors along an orbit add up.
    """

    exact = False
    steps = 1
    """Number of powers evaluated one after the other for one power."""

    def _power(self, alpha: FloatArray, side: int) -> FloatArray:
        return self.power_bounds(alpha)[side]

    def _afford(self, times: int) -> None:
        """Refuse work that would take hours before it starts."""
        if self.work * times > _MOST_WORK:
            msg = (
                f"{times} values of this {self.method} need about {nearest(self.work * times, 2)} operations; "
                f"{nearest(_MOST_WORK, 2)} are allowed."
            )
            raise BudgetError(msg)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket; negative epsilon through the inverse."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        self._afford(epsilon.size)
        lower, upper = np.empty(epsilon.size), np.empty(epsilon.size)
        up = epsilon >= 0
        beyond = epsilon >= self.max_loss
        lower[beyond] = upper[beyond] = self.q_inf
        inside = up & ~beyond
        if inside.any():
            with question():
                lower[inside], upper[inside] = self._search(epsilon[inside])
        if not up.all():
            e = epsilon[~up]
            low, high = self.inverse().delta_bounds(-e)
            lower[~up], upper[~up] = mirrored_delta(e, low), mirrored_delta(e, high)
        return lower, np.asarray(np.minimum(upper, 1.0), dtype=np.float64)

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return the bracket of each epsilon by one maximum over the rates; by a search among the deltas where that fails."""
        at = np.atleast_1d(np.asarray(delta, dtype=np.float64))
        lower, upper = np.zeros(at.size), np.full(at.size, np.inf)
        with question():
            for i, one in enumerate(at.tolist()):
                if self.q_inf < one < 1.0:
                    lower[i], upper[i] = largest_epsilon(self.power_bounds, one, _ROUNDINGS * self.steps)
                if not _SMALL < upper[i] < np.inf:
                    lower[i : i + 1], upper[i : i + 1] = super().epsilon_bounds(at[i : i + 1])
        upper = np.minimum(upper, max(self.max_loss, 0.0))
        return np.minimum(lower, upper), upper

    def _search(self, epsilon: FloatArray) -> Bounds:
        """Golden section in u = -log alpha for all epsilons at once, then the fence."""
        ratio = (np.sqrt(5.0) - 1) / 2
        grid = np.concatenate((np.linspace(1e-9, 3.0, 61), np.geomspace(3.2, 700.0, 80)))
        table = self._power(np.exp(-grid), 0)
        with np.errstate(over="ignore"):
            gains = table[None, :] - np.exp(epsilon[:, None] - grid[None, :])
        best = np.clip(gains.argmax(axis=1), 1, grid.size - 2)
        a, b = grid[best - 1], grid[best + 1]
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        at_c, at_d = self._gain(c, epsilon, 0), self._gain(d, epsilon, 0)
        for _ in range(42):
            worse = at_c < at_d
            a, b = np.where(worse, c, a), np.where(worse, b, d)
            new = np.where(worse, a + ratio * (b - a), b - ratio * (b - a))
            at_new = self._gain(new, epsilon, 0)
            c, d = np.where(worse, d, new), np.where(worse, new, c)
            at_c, at_d = np.where(worse, at_d, at_new), np.where(worse, at_new, at_c)
        return self._fence(0.5 * (a + b), epsilon)

    def _gain(self, u: FloatArray, epsilon: FloatArray, side: int) -> FloatArray:
        checkpoint()
        return np.asarray(self._power(np.exp(-u), side) - np.exp(np.minimum(epsilon - u, 700.0)), dtype=np.float64)

    def _fence(self, u: FloatArray, epsilon: FloatArray) -> Bounds:
        """Bracket the largest gain around -log alpha = u.

        Outside its interval a concave gain lies below the extended chord: left of u below all chords that start at u and go
        right, and the other way round. How far to extend them follows from a gain below that at u on the same side, or else
        from the ends 0 and e^-epsilon, above which no gain is positive.
        """
        middle = np.exp(-u)
        lower, free = self._rounded_gains(u, epsilon)
        best = lower
        reach = np.full(u.size, 1e-6)
        way = [middle, np.maximum(np.exp(-np.maximum(epsilon, 0.0)) - middle, 0.0)]
        fall = [np.full(u.size, np.inf), np.full(u.size, np.inf)]
        fenced = [np.zeros(u.size, dtype=np.bool_), np.zeros(u.size, dtype=np.bool_)]
        for _ in range(_FENCES):
            for side, point in enumerate((u + reach, np.maximum(u - reach, 0.0))):
                safe, most = self._rounded_gains(point, epsilon)
                apart = np.abs(np.exp(-point) - middle)
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    fall[side] = np.fmin(fall[side], (free - safe) / apart)
                below = ~fenced[side] & (lower >= most)
                way[side] = np.where(below, np.minimum(way[side], apart), way[side])
                fenced[side] |= below
                best = np.maximum(best, safe)
            if (fenced[0] & fenced[1]).all():
                break
            reach = np.minimum(reach * 4, _FARTHEST)
        with np.errstate(invalid="ignore", over="ignore"):
            rises = [np.where(way[side] > 0, way[side] * np.maximum(fall[1 - side], 0.0), 0.0) for side in (0, 1)]
        # no loss is above the largest one
        end = self.q_inf - (1.0 - self.q_inf) * np.expm1(np.minimum(epsilon - self.max_loss, 0.0))
        upper = np.fmin(free + np.maximum(*rises), end)
        lower = np.maximum(best, self.q_inf)
        return lower, np.asarray(np.clip(upper, lower, 1.0), dtype=np.float64)

    def _rounded_gains(self, u: FloatArray, epsilon: FloatArray) -> Bounds:
        """Return gains rounded down and gains rounded up."""
        checkpoint()
        price = np.exp(np.minimum(epsilon - u, 700.0))
        shift = (4.0 + np.minimum(np.abs(epsilon - u), 700.0)) * price
        low, high = self.power_bounds(np.exp(-u))
        units = _ROUNDINGS * self.steps
        safe = low - price - _UNIT * (units * np.maximum(low, 0.0) + shift)
        free = high - price + _UNIT * (units * np.maximum(high, 0.0) + shift)
        return np.asarray(safe, dtype=np.float64), np.asarray(free, dtype=np.float64)


class Both(ByBeta):
    """The intersection: all parts hold. Its beta is the largest of the parts' betas."""

    def __init__(self, parts: Sequence[Curve]) -> None:
        self.parts = tuple(parts)
        self.symmetric = all(part.symmetric for part in parts)
        self.q_inf = min(part.q_inf for part in parts)
        self.p_inf = min(part.p_inf for part in parts)
        self.max_loss = _end([(part.q_inf, part.max_loss) for part in parts])
        self.min_loss = -_end([(part.p_inf, -part.min_loss) for part in parts])
        self.work = _TRIALS * self.rate_work + sum(part.work for part in parts)
        self.method = "intersection"

    @property
    def rate_work(self) -> float:
        """Work of one beta: that of all parts together."""
        return sum(part.rate_work for part in self.parts)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the largest beta of the parts."""
        bounds = [part.beta_bounds(alpha) for part in self.parts]
        return np.maximum.reduce([low for low, _ in bounds]), np.maximum.reduce([high for _, high in bounds])

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the smallest true-positive rate of the parts."""
        bounds = [part.power_bounds(alpha) for part in self.parts]
        return np.minimum.reduce([low for low, _ in bounds]), np.minimum.reduce([high for _, high in bounds])

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket, never above the delta of a part."""
        lower, upper = super().delta_bounds(epsilon)
        least = np.minimum.reduce([part.delta_bounds(np.asarray(epsilon))[1] for part in self.parts])
        upper = np.minimum(upper, least)
        return np.minimum(lower, upper), upper

    def inverse(self) -> Both:
        """Return the intersection of the inverses."""
        return self if self.symmetric else Both([part.inverse() for part in self.parts])


def _end(pairs: list[tuple[float, float]]) -> float:
    """Return the largest loss of an intersection: that of the part with the least mass at infinity."""
    least = min(mass for mass, _ in pairs)
    return min(end for mass, end in pairs if mass == least)


class Grouped(ByBeta):
    """Groups of `size` records: 1 - (1 - f)^(o size) for a symmetric f."""

    def __init__(self, base: Curve, size: int) -> None:
        self.base, self.size = base, size
        self.max_loss = largest_loss([(base.max_loss, size)])
        self.min_loss = -self.max_loss
        self.steps = size
        self.q_inf = self.p_inf = float(self._orbit(np.zeros(1), 1)[0])
        self.work = _TRIALS * self.rate_work
        self.method = "group privacy"

    @property
    def rate_work(self) -> float:
        """Work of one beta: that of the base, for each record."""
        return self.size * self.base.rate_work

    def _orbit(self, alpha: FloatArray, side: int) -> FloatArray:
        for _ in range(self.size):
            checkpoint()
            alpha = np.clip(self.base.power_bounds(alpha)[side], 0.0, 1.0)
        return alpha

    def _power(self, alpha: FloatArray, side: int) -> FloatArray:
        return self._orbit(alpha, side)

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the orbit of alpha under the true-positive rate."""
        alpha = np.asarray(alpha, dtype=np.float64)
        return self._orbit(alpha, 0), self._orbit(alpha, 1)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return 1 minus the orbit."""
        low, high = self.power_bounds(alpha)
        return 1.0 - high, 1.0 - low

    def inverse(self) -> Grouped:
        """Return itself: the base is symmetric."""
        return self


class Erased(Curve):
    """With probability `share` the output is a mark: delta(e) = (1 - share) delta(e) for e >= 0."""

    def __init__(self, base: Curve, share: float) -> None:
        self.base, self.share = base, share
        self.symmetric, self.exact, self.certified = base.symmetric, base.exact, base.certified
        self.q_inf, self.p_inf = (1 - share) * base.q_inf, (1 - share) * base.p_inf
        self.max_loss, self.min_loss = max(base.max_loss, 0.0), min(base.min_loss, 0.0)
        self.work = 0.1 + base.work
        self.method = "erasure"

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the scaled profile; negative epsilon through the inverse."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        keep = 1.0 - self.share
        up = epsilon >= 0
        if up.all():
            lower, upper = self.base.delta_bounds(epsilon)
            return keep * lower, keep * upper
        out = np.empty((2, epsilon.size))
        if up.any():
            out[:, up] = keep * np.stack(self.base.delta_bounds(epsilon[up]))
        below = epsilon[~up]
        out[:, ~up] = mirrored_delta(below, keep * np.stack(self.base.inverse().delta_bounds(-below)))
        return out[0], out[1]

    def inverse(self) -> Curve:
        """Return the erasure of the inverse."""
        return self if self.symmetric else Erased(self.base.inverse(), self.share)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log(share + (1 - share) M(s))."""
        inner = self.base.log_mgf(s)
        if self.share == 0:
            return inner
        rest, mark = inner + np.log1p(-self.share), np.log(self.share)
        top = np.maximum(rest.real, mark)
        return np.asarray(top + np.log(np.exp(rest - top) + np.exp(mark - top)), dtype=np.complex128)

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s): that of the base, plus two logarithms and two exponentials."""
        return 4.0 + self.base.mgf_rounding

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent."""
        rows = [np.broadcast_to(rounding_units(self.base, row[None]), (1, row.size)) for row in np.atleast_2d(s)]
        return np.asarray(4.0 + np.concatenate(rows).reshape(s.shape), dtype=np.float64)

    @property
    def has_mgf(self) -> bool:
        """Whether the transform of the base is known."""
        return self.base.has_mgf
