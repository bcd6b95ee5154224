"""From deltas to betas, for any curve that computes its deltas.

Duality: beta(alpha) = sup over real epsilon of 1 - delta(epsilon) - e^epsilon alpha. Every epsilon tried gives a
valid lower (safe) beta, so a poor optimum costs width, never truth. With delta(e) = 1 - e^e + e^e d(-e), d the
inverse's delta, the same supremum reads e^e (1 - alpha - d(-e)), which keeps its digits where beta is tiny.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint, current
from dpcore.core.question import question
from dpcore.curves import sketch
from dpcore.curves.combined import Either, Erased
from dpcore.curves.rates import scaled_rate
from dpcore.curves.slopes import steepest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, Curve, FloatArray
    from dpcore.engine.contour_local import Local

# All of these shape the search for an optimum: other values cost time or width, never truth.
_TABLE = 400  # epsilons of the table for a first guess
_ROUNDS = 7  # rounds that refine it where the rate changes by more than half a logit
_NODES, _APART = 80, 1e-9
_UP, _SMALLEST = 1.0 + 1e-15, 5e-324  # factor for a few roundings, and the smallest double, for a gain that underflows
_FAR, _ROUNDING = 600.0, 2.0**-52  # largest exponent, and the rounding of a difference relative to the sum of its terms
_COARSE, _HALVINGS = 65, 60  # first grid of `_pinched`, and its rounds: a kink costs one for each binary digit


def beta_bounds(curve: Curve, alpha: FloatArray) -> Bounds:
    """Return (lower, upper) of beta at each alpha in [0, 1] by duality."""
    return _at_rates(curve, alpha, lambda dual: dual.bounds())


def beta_safe(curve: Curve, alpha: FloatArray) -> FloatArray:
    """Return the lower, safe side of beta alone: a third of the work if the curve has an outline."""
    return _at_rates(curve, alpha, lambda dual: (dual.safe(), np.zeros(dual.alpha.size)))[0]


def _at_rates(curve: Curve, alpha: FloatArray, answer: Callable[[_Dual], Bounds]) -> Bounds:
    """Answer at the rates inside (0, 1 - p_inf), each once however often it is asked; outside, beta is known."""
    alpha = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    inside = (alpha > 0) & (alpha < 1.0 - curve.p_inf)
    lower, upper = np.zeros(alpha.size), np.zeros(alpha.size)
    lower[alpha <= 0] = upper[alpha <= 0] = 1.0 - curve.q_inf
    if inside.any():
        rates, places = np.unique(alpha[inside], return_inverse=True)
        with question():
            low, high = answer(_Dual(curve, rates))
        lower[inside], upper[inside] = low[places], high[places]
    return lower, upper


class _Dual:
    """One evaluation of the duality at a set of alphas inside (0, 1 - p_inf)."""

    def __init__(self, curve: Curve, alpha: FloatArray) -> None:
        self.curve, self.alpha = curve, alpha
        self.inverse = curve.inverse()
        self.local: Local | None = None

    def bounds(self) -> Bounds:
        """Bracket each beta; one wider than the tolerance, as at a kink, is narrowed by halving (`_pinched`)."""
        lower, upper = self._sketched()
        wide = np.flatnonzero(upper - lower > current().tolerance * upper)
        if wide.size:
            below, above = _Dual(self.curve, self.alpha[wide])._pinched()
            lower[wide] = np.maximum(lower[wide], below)
            upper[wide] = np.maximum(np.minimum(upper[wide], above), lower[wide])
        return lower, upper

    def _sketched(self) -> Bounds:
        """Find the optimum, then bracket it from both sides."""
        width = float(np.sqrt(current().tolerance))
        optima = sketch.optima(self.curve, self.alpha, self.both_sides)
        if optima is None:
            centre, scale = self._optimum()
            return self._bracket(centre, scale * width / 8)
        self.local = optima.local
        low, high, fenced = self.fence(optima.centre, 0.7 * width * optima.length)
        guess = 1.0 - self.alpha
        if fenced.all():
            lower = self._fit(low)
            return lower, np.maximum(np.minimum(high, guess), lower)
        lower = self._fit(np.maximum(low, self._corner_gain()))
        upper = np.where(fenced, np.minimum(high, guess), guess)
        open_ = ~fenced & (upper - lower > 0.5 * current().tolerance * upper)
        if open_.any():
            rest = _Dual(self.curve, self.alpha[open_])
            centre, scale = rest._optimum()
            below, upper[open_] = rest._bracket(centre, scale * width / 8)
            lower[open_] = np.maximum(lower[open_], below)
        return lower, np.asarray(np.maximum(upper, lower), dtype=np.float64)

    def safe(self) -> FloatArray:
        """Return the gain at the optimum of the search, or at a finite end of the losses if that is better.

        If deltas cost little both sides are computed, and with them the kinks.
        """
        optima = sketch.optima(self.curve, self.alpha, self.both_sides)
        if optima is None and not self.curve.certified:
            return self.bounds()[0]
        if optima is not None:
            self.local = optima.local
        centre = optima.centre if optima is not None else self._optimum()[0]
        return self._fit(np.maximum(self.gains(centre[None])[0][0], self._corner_gain()))

    def _corner_gain(self) -> FloatArray:
        """Return the gain at the corners known in advance: a finite end of the losses, and 0 for a closure."""
        out = np.zeros(self.alpha.size)
        if np.isfinite(self.curve.max_loss):
            out = np.maximum(out, 1.0 - self.curve.q_inf - scaled_rate(self.alpha, self.curve.max_loss))
        if np.isfinite(self.curve.min_loss):
            out = np.maximum(out, np.exp(self.curve.min_loss) * (1.0 - self.alpha - self.curve.p_inf))
        if isinstance(self.curve, (Either, Erased)):
            # a closure has a corner at 0, where its two directions cross, and a mark is a loss of 0
            out = np.maximum(out, 1.0 - float(self.curve.delta_bounds(np.zeros(1))[1][0]) - self.alpha)
        return np.asarray(out, dtype=np.float64)

    def _optimum(self) -> tuple[FloatArray, FloatArray]:
        """Return the best epsilon of each alpha and a length on which the gain changes.

        Many alphas share the work: the optimum is a smooth function of logit alpha, computed on an even grid of it and
        interpolated; if a sample of the results can be improved, all are computed one by one.
        """
        if self.alpha.size <= 2 * _NODES:
            return self._one_by_one()
        t = np.log1p(-self.alpha) - np.log(self.alpha)
        node = np.linspace(float(t.min()), float(t.max()), _NODES)
        if node[-1] - node[0] <= _APART * np.abs(node).max():
            return self._one_by_one()  # alphas so close that a grid between them has no steps
        few = _Dual(self.curve, np.clip(1.0 / (1.0 + np.exp(node)), 1e-320, 1.0 - 1e-16))
        at, scale = few._one_by_one()
        centre = _lagrange(node, at, t)
        spread = np.asarray(np.interp(t, node, scale), dtype=np.float64)
        some = _Dual(self.curve, self.alpha[:: _NODES // 4])
        here, step = centre[:: _NODES // 4], spread[:: _NODES // 4]
        better = some._parabola(here, 0.05 * step)
        now, then = some.gains(np.stack((here, better)))[0]
        if np.any(then > now * (1 + 1e-9) + 1e-300):
            return self._one_by_one()
        return centre, spread

    def _one_by_one(self) -> tuple[FloatArray, FloatArray]:
        centre, scale = self._guess()
        for factor in (0.3, 0.06, 0.012):
            checkpoint(0.5)
            centre = self._parabola(centre, scale * factor)
        return centre, scale

    def _ends(self, centre: FloatArray) -> FloatArray:
        """Return the nearer end of the losses if it is finite: no parabola finds an optimum at a corner there."""
        ends = [e for e in (self.curve.min_loss, self.curve.max_loss) if np.isfinite(e)]
        if not ends:
            return centre
        table = np.array(ends)
        return np.asarray(table[np.abs(centre[:, None] - table).argmin(axis=1)], dtype=np.float64)

    def _fit(self, beta: FloatArray) -> FloatArray:
        """Clip betas to the range between 0 and the line of blind guessing."""
        return np.asarray(np.minimum(np.maximum(beta, 0.0), 1.0 - self.alpha), dtype=np.float64)

    def gains(self, epsilon: FloatArray) -> Bounds:
        """Return 1 - delta(epsilon) - e^epsilon alpha, with the upper delta (safe) and with the lower one."""
        gains = self.local.gains(self.alpha, epsilon) if self.local is not None else None
        return gains if gains is not None else self._general_gains(epsilon)

    def _unit(self, centre: FloatArray) -> FloatArray:
        """Return the logarithm of the divisor of gains near a centre; a profile expanded around a grid needs none."""
        return np.minimum(centre, 0.0) if self.local is None else np.zeros(centre.size)

    def _gains_over(self, centre: FloatArray, points: FloatArray) -> Bounds:
        """Return gains over e^centre: underflowing gains would all be 0, and any of them the best."""
        return self._general_gains(points, self._unit(centre)) if self.local is None else self.gains(points)

    def _general_gains(self, epsilon: FloatArray, unit: FloatArray | float = 0.0) -> Bounds:
        e = epsilon.ravel()
        delta, rest = self.both_sides(e, e >= 0)
        low, high, least, most = (side.reshape(epsilon.shape) for side in (*delta, *rest))
        return self._combined(epsilon, (low, high), (least, most), unit)

    def _combined(self, epsilon: FloatArray, delta: Bounds, rest: Bounds, unit: FloatArray | float = 0.0) -> Bounds:
        """Return the gains from bounds of delta and of 1 - delta, over e^unit; epsilon and alpha are broadcast."""
        up, alpha = epsilon >= 0, self.alpha
        (low, high), (least, most) = delta, rest
        # 1 - d - alpha from 1 - d where that is small, from 1 - alpha where d is
        small = up | (alpha < 0.5)
        price = np.where(up, scaled_rate(alpha, epsilon), np.where(small, alpha, 1.0 - alpha))
        safe = np.where(small, least - price, price - high)
        # the free side is a ceiling: it includes the rounding of its terms and underflow
        free = np.where(small, most - price + _ROUNDING * (most + price), price - low + _ROUNDING * (price + low))
        scale = np.exp(np.minimum(np.minimum(epsilon, 0.0) - unit, _FAR))
        with np.errstate(over="ignore"):  # far to the right of the unit a gain is minus infinity, and no optimum
            return scale * safe, scale * free + _SMALLEST

    def _pinched(self) -> Bounds:
        """Bracket the optimum of each alpha by halving an interval that contains it, where no parabola finds it.

        The gain is concave in e^epsilon: the best of several points lies between two that are certainly worse, and between
        those the gain stays below the extended chords. A kink costs a round for each binary digit.
        """
        three, safe, free = self._three()
        lower, upper, todo = np.zeros(self.alpha.size), 1.0 - self.alpha, np.arange(self.alpha.size)
        for number in range(_HALVINGS):
            checkpoint(number / _HALVINGS)
            between = 0.5 * (three[:-1] + three[1:])
            points, (low, high) = _woven(three, between), _Dual(self.curve, self.alpha[todo]).gains(between)
            best, ceiling, nearest = _closer(points, low := _woven(safe, low), high := _woven(free, high))
            lower[todo], upper[todo] = np.maximum(lower[todo], best), np.minimum(upper[todo], ceiling)
            three, safe, free = (np.take_along_axis(rows, nearest, axis=0) for rows in (points, low, high))
            open_ = upper[todo] - lower[todo] > 0.5 * current().tolerance * upper[todo]
            open_ &= three[2] - three[0] > 1e-15 * np.abs(three[1])
            todo, three, safe, free = todo[open_], three[:, open_], safe[:, open_], free[:, open_]
            if not todo.size:
                break
        return self._fit(lower), upper

    def _three(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return for each alpha the best point of a grid, the nearest certainly worse ones around it, and bounds of their gains."""
        low, high = self._range()
        corners = [e for e in (self.curve.min_loss, self.curve.max_loss, 0.0) if low <= e <= high]
        grid = np.unique(np.concatenate((np.linspace(low, high, _COARSE), corners)))
        grid = np.concatenate(([low - 1.0], grid, [high + 1.0]))
        delta, rest = self.both_sides(grid, grid >= 0)
        (a, b), (c, d) = delta, rest
        safe, free = self._combined(grid[:, None], (a[:, None], b[:, None]), (c[:, None], d[:, None]))
        best = np.clip(np.argmax(safe, axis=0), 1, grid.size - 2)
        worse = free <= safe[best, np.arange(self.alpha.size)]
        place = np.arange(grid.size)[:, None]
        left = np.where(worse & (place < best), place, 0).max(axis=0)
        right = np.where(worse & (place > best), place, grid.size - 1).min(axis=0)
        three = np.stack((left, best, right))
        return grid[three], np.take_along_axis(safe, three, axis=0), np.take_along_axis(free, three, axis=0)

    def both_sides(self, e: FloatArray, up: NDArray[np.bool_]) -> tuple[Bounds, Bounds]:
        """Return bounds of delta and 1 - delta at epsilons >= 0, and those of the inverse at minus the negative ones."""
        checkpoint()
        if self.inverse is self.curve or up.all():
            return self.curve.two_sided(np.abs(e))
        out = np.empty((4, e.size))
        for curve, part in ((self.curve, up), (self.inverse, ~up)):
            if part.any():
                delta, rest = curve.two_sided(np.abs(e[part]))
                out[:, part] = np.stack((*delta, *rest))
        return (out[0], out[1]), (out[2], out[3])

    def _range(self) -> tuple[float, float]:
        """Return an interval that contains every optimum: no steeper tangent touches, and the mirror for the other end."""
        high = steepest(self.curve, float(self.alpha.min()))
        least = 1.0 - float(self.alpha.max())
        low = -1.0
        # eight times as far each round: at most seven
        while low > max(self.curve.min_loss, -1e6):
            # a few at a time: far beyond the answer a delta may be tiny and expensive
            reach = -low * np.array([1.0, 2.0, 4.0])
            small = self.inverse.delta_bounds(reach)[1] <= 0.63 * least
            low = -float(reach[np.argmax(small)]) if small.any() else low * 8
            if small.any():
                break
        low = max(low - 1.0, self.curve.min_loss)
        return (low, high) if low < high else (high - 1.0, high)

    def _deltas(self, grid: FloatArray) -> FloatArray:
        """Return delta at epsilons >= 0 and the inverse's delta at minus the negative ones."""
        return self.both_sides(grid, grid >= 0)[0][1]

    def _guess(self) -> tuple[FloatArray, FloatArray]:
        """Tabulate alpha(epsilon) adaptively and interpolate the optimum for each alpha."""
        low, high = self._range()
        grid = np.linspace(low, high, 65)
        value = self._deltas(grid)
        for number in range(_ROUNDS):
            checkpoint(number / _ROUNDS)
            middle, score = _score(grid, value)
            wide = np.flatnonzero(np.abs(np.diff(score)) > 0.5)
            if grid.size > _TABLE or wide.size == 0:
                break
            cells = np.unique(np.concatenate((wide, wide + 1)))
            more = np.setdiff1d(0.5 * (grid[cells] + grid[cells + 1]), grid)
            order = np.argsort(np.concatenate((grid, more)), kind="stable")
            value = np.concatenate((value, self._deltas(more)))[order]
            grid = np.concatenate((grid, more))[order]
        middle, score = _score(grid, value)
        logit = np.log1p(-self.alpha) - np.log(self.alpha)
        centre = np.interp(logit, np.maximum.accumulate(score), middle)
        spacing = np.interp(centre, middle, np.gradient(middle) if middle.size > 1 else np.ones(1))
        return np.asarray(centre, dtype=np.float64), np.asarray(np.maximum(spacing, 1e-12), dtype=np.float64)

    def _parabola(self, centre: FloatArray, reach: FloatArray) -> FloatArray:
        """Move each centre to the top of the parabola through three gains (or to the best of them)."""
        points = centre[None, :] + reach[None, :] * np.array([-1.0, 0.0, 1.0])[:, None]
        g = self._gains_over(centre, points)[0]
        bend = g[0] - 2 * g[1] + g[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = 0.5 * (g[0] - g[2]) / bend
        shift = np.where((bend < 0) & np.isfinite(shift), np.clip(shift, -5.0, 5.0), np.argmax(g, axis=0) - 1.0)
        return np.asarray(centre + shift * reach, dtype=np.float64)

    def _bracket(self, centre: FloatArray, reach: FloatArray) -> Bounds:
        """Return the best gain (safe) and, by concavity of the gain in e^epsilon, a ceiling for all gains.

        Three gains fence the optimum in when the middle one, taken low, exceeds the outer two, taken high. The
        fence widens until it holds; if it never does, the ceiling is the chord between proved ones.
        """
        lower = np.zeros(centre.size)
        upper = 1.0 - self.alpha
        todo = np.arange(centre.size)
        corner = self._ends(centre)
        centre = np.where(np.abs(corner - centre) < reach, corner, centre)
        for number in range(12):
            checkpoint(number / 12)
            part = _Dual(self.curve, self.alpha[todo])
            low, high, fenced = part.fence(centre[todo], reach[todo])
            lower[todo] = np.maximum(lower[todo], low)
            upper[todo[fenced]] = high[fenced]
            todo = todo[~fenced]
            if todo.size == 0:
                break
            reach[todo] *= 4.0
        lower = self._fit(np.maximum(lower, self._corner_gain()))
        upper = np.minimum(upper, self._chords(np.setdiff1d(np.arange(centre.size), todo), upper))
        return lower, np.asarray(np.maximum(np.minimum(upper, 1.0 - self.alpha), lower), dtype=np.float64)

    def _chords(self, good: NDArray[np.int64], upper: FloatArray) -> FloatArray:
        """Return the ceiling that follows by convexity from proved ceilings and the two ends of the curve."""
        x = np.concatenate(([0.0], self.alpha[good], [1.0 - self.curve.p_inf]))
        y = np.concatenate(([1.0 - self.curve.q_inf], upper[good], [0.0]))
        order = np.argsort(x, kind="stable")
        return np.asarray(np.interp(self.alpha, x[order], y[order]), dtype=np.float64)

    def fence(self, centre: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Return the safe gain, the ceiling, and whether the ceiling is proved, for one width of the fence."""
        points = centre[None, :] + reach[None, :] * np.array([-1.0, 0.0, 1.0])[:, None]
        safe, free = self._gains_over(centre, points)
        # in e^epsilon the left step is e^-reach times the right one; a chord extended over the other step
        y = np.exp(np.minimum(reach, 50.0))
        with np.errstate(over="ignore", invalid="ignore"):  # a fence so wide proves nothing
            rise = np.maximum((free[1] - safe[2]) / y, (free[1] - safe[0]) * y)
            ceiling = (free[1] + np.maximum(rise, 0.0)) * _UP
        fenced = (safe[1] >= free[0]) & (safe[1] >= free[2]) & (reach < _FAR)
        # the gain is concave in e^epsilon and 0 at 0: if it is negative here, its top lies before, below e^centre
        tiny = (free[1] < 0.0) & (centre < -_FAR)
        ceiling = np.where(tiny, 1.0, np.minimum(ceiling, 1e300))
        size = np.exp(self._unit(centre))
        return size * safe.max(axis=0), size * ceiling + _SMALLEST, fenced | tiny


def _woven(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Return three rows with two others between them."""
    return np.stack((outer[0], inner[0], outer[1], inner[1], outer[2]))


def _closer(points: FloatArray, safe: FloatArray, free: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Return the best gain, a ceiling of all gains, and the rows of three of five points around the best.

    The outer two are the nearest points whose gains are certainly not larger, or the ends.
    """
    column = np.arange(points.shape[1])
    best = 1 + np.argmax(safe[1:4], axis=0)
    worse, place = free <= safe[best, column], np.arange(5)[:, None]
    left = np.where(worse & (place < best), place, 0).max(axis=0)
    right = np.where(worse & (place > best), place, 4).min(axis=0)
    rows = np.stack((left, best, right))
    three = np.take_along_axis(points, rows, axis=0)
    # lengths of the two sides in e^epsilon, over the middle
    peak = free[best, column]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        before, after = -np.expm1(three[0] - three[1]), np.expm1(three[2] - three[1])
        to_left = (peak - safe[right, column]) * (before / after)
        to_right = (peak - safe[left, column]) * (after / before)
    rise = np.maximum(
        np.where(np.isfinite(to_left), to_left, np.inf), np.where(np.isfinite(to_right), to_right, np.inf)
    )
    return safe.max(axis=0), (peak + np.maximum(rise, 0.0)) * _UP + _SMALLEST, rows


def _score(grid: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the middles of the grid and log((1 - a)/a) of the mean a = P0(L > e) over each cell."""
    up = grid >= 0
    delta, other = np.where(up, value, 0.0), np.where(up, 0.0, value)
    a, b = grid[:-1], grid[1:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # above 0: P0(L > e) is minus the slope of delta in e^e
        top = (delta[:-1] - delta[1:]) * np.exp(-a) / np.expm1(b - a)
        # below 0: P1(L <= e) is minus the slope of the inverse's delta in e^-e, P0 follows
        beta = (other[1:] - other[:-1]) * np.exp(b) / np.expm1(b - a)
        missed = other[1:] + np.exp(-b) * beta
        positive = np.log(np.maximum(1.0 - top, 1e-300)) - np.log(np.maximum(top, 1e-320))
        negative = np.log(np.maximum(missed, 1e-320)) - np.log(np.maximum(1.0 - missed, 1e-300))
        mixed_delta = np.where(up[:-1], delta[:-1], -np.expm1(a) + np.exp(a) * other[:-1])
        mixed = (mixed_delta - delta[1:]) * np.exp(-a) / np.expm1(b - a)
        crossing = np.log(np.maximum(1.0 - mixed, 1e-300)) - np.log(np.maximum(mixed, 1e-320))
    score = np.where(up[:-1], positive, np.where(up[1:], crossing, negative))
    return 0.5 * (a + b), np.asarray(np.nan_to_num(score), dtype=np.float64)


def _lagrange(node: FloatArray, value: FloatArray, at: FloatArray) -> FloatArray:
    """Interpolate an even grid by polynomials through the six nearest nodes."""
    step = node[1] - node[0]
    first = np.clip(np.floor((at - node[0]) / step).astype(np.int64) - 2, 0, node.size - 6)
    u = (at - node[first]) / step
    out = np.zeros(at.size)
    for j in range(6):
        weight = np.ones(at.size)
        for i in range(6):
            if i != j:
                weight *= (u - i) / (j - i)
        out += weight * value[first + j]
    return out
