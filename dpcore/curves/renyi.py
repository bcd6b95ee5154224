r"""Exact regions of Rényi and concentrated privacy statements.

A test (x, y) is allowed by D_order <= epsilon exactly when its two coins obey the bound in both directions.
With s = order - 1/2 > 1/2, losses u = log(p/x) and -v = log((1-p)/(1-x)), and p = 1 - y, the two divergences
compare as m_1 sinh(s u) with m_2 sinh(s v), while m_1 sinh(u/2) = m_2 sinh(v/2) because both coins sum to one.
As sinh(s l)/sinh(l/2) increases in l, **P1 against P0 is the larger divergence exactly where u >= v, which is
where x <= y**. So the lower left half of the boundary needs one direction only and the other half is its mirror;
they meet in the corner x = y, u = v.

Numbers come as brackets: a root is computed, then moved out on both sides until the sign of the constraint is certain in
spite of its rounding error. The widths are a few 1e-14 in general; where beta itself is badly conditioned (just left of
the corner, where 1 - x e^epsilon loses all digits) the bracket is wide.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.curves.base import Bounds, Curve, FloatArray, mirrored_delta
from dpcore.curves.binary_divergence import (
    ULP,
    Pair,
    Statement,
    certify,
    find_root,
    from_above,
    from_below,
    from_losses,
    log1mexp,
    overshoot,
    tangent,
    touching_delta,
)
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_LARGEST = 1e5  # largest divergence; beyond it exponents lose more than 1e-11
_TINY = 5e-324  # the smallest double, for underflow
_FAR = -740.0  # logarithm of the smallest v considered, near the smallest double
_TRIES = 34  # tripled steps to confirm an epsilon, to 1e3 of it; where they fail the bracket is [0, inf]
_CHERNOFF = 1e-9
"""Share by which a Chernoff bound is raised. Its exponent, a product of three doubles of at most 745, has a relative error of at most
4 units and the exponential 4: below 2984 units of 2^-53, or 4e-13, and a subnormal result is raised by four of the smallest doubles."""


class _Region(Curve):
    """A symmetric region of coins, cut out by divergence bounds that depend on the pair through `_measure`."""

    method = "root of the two-coin divergence"
    proved = True
    work = 40.0

    def __init__(self, least: float) -> None:
        # every divergence is at most the largest loss, so no boundary point has a loss u below `least`
        self.least = least
        self._log_growth = float(least + np.log(-np.expm1(-least)))

    @abstractmethod
    def _measure(self, pair: Pair) -> tuple[FloatArray, FloatArray]:
        """Return an increasing sign (positive: the pair is outside) and a bound of its rounding error."""

    @abstractmethod
    def _binding(self, pair: Pair) -> Statement:
        """Return the constraint that is closest to being violated at each pair."""

    @abstractmethod
    def _most(self, log_p: FloatArray) -> FloatArray:
        """Return an upper bound of the loss u on the boundary where P1(reject) = p."""

    @abstractmethod
    def _most_at(self, log_x: FloatArray) -> FloatArray:
        """Return an upper bound of the loss u on the boundary where P0(reject) = x."""

    @abstractmethod
    def _interior(self, epsilon: FloatArray) -> Bounds:
        """Return delta where the optimal test is left of the corner."""

    @abstractmethod
    def _log_chernoff(self, epsilon: FloatArray) -> FloatArray:
        """Return a bound of log delta: P1(L > epsilon) <= e^((a-1)(D_a - epsilon)) for an order a."""

    def inverse(self) -> Curve:
        """Return itself: the statement bounds both directions."""
        return self

    @Lazy
    def corner(self) -> tuple[float, float]:
        """Bracket of the loss u at the corner x = y = 1/(1 + e^u); TV is tanh(u/2)."""
        low = np.log(np.array([self.least]))
        # Kullback-Leibler, u tanh(u/2), is the smallest of the divergences
        high = np.log(np.array([max(1.4 * self.least, 1.7 * np.sqrt(self.least))]))
        with np.errstate(all="ignore"):
            inside, outside = self._settle(_square, self._solve(_square, low, high), low, high)
        return float(np.exp(inside[0]) * (1 - 2 * ULP)), float(np.exp(outside[0]) * (1 + 2 * ULP))

    @Lazy
    def kink(self) -> float:
        """Largest epsilon whose optimal test is the corner."""
        u = np.array([self.corner[1]])
        with np.errstate(all="ignore"):
            lead = self._binding(from_losses(u, u)).lead(2.0 * u)
        return float((u - lead)[0])

    def _solve(
        self, pair: Callable[[FloatArray], Pair], low: FloatArray, high: FloatArray, tolerance: float = 4.0 * ULP
    ) -> FloatArray:
        """Return the shape on the boundary."""
        return find_root(lambda s: self._measure(pair(s))[0], low, high, tolerance)

    def _settle(
        self, pair: Callable[[FloatArray], Pair], shape: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return shapes certified inside and outside; the ends of the search where rounding hides the sign."""
        return certify(lambda s: self._measure(pair(s)), shape, low, high)

    def _below(self, log_x: FloatArray, log_rest: FloatArray) -> tuple[Callable[[FloatArray], Pair], Bounds]:
        """Return the family of pairs at x <= y and its ends: u = `least`, and u = `_most_at` or p = 1 - x."""
        log_s = self._log_growth + log_x - log_rest - 1e-12
        high = np.log1p(-np.exp(log_x - log_rest)) + log_rest - log_x + 1e-12
        most = self._most_at(log_x)
        log_most = most + log1mexp(most) + log_x - log_rest + 1e-12
        high = np.where(log_most < 0.0, np.minimum(log_most - log1mexp(np.abs(log_most)), high), high)
        low = np.where(log_s < 0.0, log_s - log1mexp(np.abs(log_s)), high)
        return lambda s: from_below(s, log_x, log_rest), (np.minimum(low, high), high)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return (safe lower, upper) of the smallest false-negative rate."""
        return self._rates(alpha)[:2]

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return (lower, upper) of 1 - beta, with relative accuracy where it is small."""
        return self._rates(alpha)[2:]

    def _rates(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the bounds of beta, then those of 1 - beta."""
        a = np.asarray(alpha, dtype=np.float64)
        lower, upper = np.where(a <= 0.0, 1.0, 0.0), np.where(a <= 0.0, 1.0, 0.0)
        weak, strong = 1.0 - upper, 1.0 - lower
        inside = (a > 0.0) & (a < 1.0)
        with np.errstate(all="ignore"):
            odds = np.log1p(-a) - np.log(a)
            slack = 8.0 * ULP * (1.0 + np.abs(np.log(a)))
            left = inside & (odds > self.corner[0] - slack)
            right = inside & (odds < self.corner[1] + slack)
            if np.any(right):
                shift = np.where(left[right], 1.0 + 2.0 * slack[right], 1.0)
                lower[right], upper[right] = self._right(a[right] * shift)
                weak[right] = np.nextafter(1.0 - upper[right], 0.0)
                strong[right] = np.nextafter(1.0 - lower[right], 2.0)
            both = left & right
            safe, best = lower[both], strong[both]
            if np.any(left):
                shift = np.where(right[left], 1.0 - 2.0 * slack[left], 1.0)
                lower[left], upper[left], weak[left], strong[left] = self._left(a[left] * shift)
            # between the two certain sides beta is monotone: at most its value to the left, at least that to the right
            lower[both], strong[both] = safe, best
        guess = np.minimum(np.nextafter(1.0 - a, 2.0), 1.0)
        upper = np.minimum(upper, np.where(a < 1.0, guess, 0.0))
        return np.clip(lower, 0.0, upper), upper, np.clip(weak, 0.0, 1.0), np.clip(strong, 0.0, 1.0)

    def _left(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return bounds of beta = (1-x) e^-v and of the power x e^u at false-positive rates left of the corner."""
        log_x, log_rest = np.log(x), np.log1p(-x)
        family, (low, high) = self._below(log_x, log_rest)
        shape = self._solve(family, low, high)
        inside, outside = self._settle(family, shape, low, high)
        near, far = family(inside), family(outside)
        lower = (1.0 - x) * np.exp(-far.v) * (1.0 - 4.0 * ULP * (1.0 + far.v))
        upper = (1.0 - x) * np.exp(-near.v) * (1.0 + 4.0 * ULP * (1.0 + near.v))
        weak = x * np.exp(near.u) * (1.0 - 2.0 * ULP * (near.u_error + near.u + 2.0))
        strong = x * np.exp(far.u) * (1.0 + 2.0 * ULP * (far.u_error + far.u + 2.0))
        return np.maximum(lower, x), upper, weak - 4.0 * _TINY, strong + 4.0 * _TINY

    def _right(self, x: FloatArray) -> Bounds:
        """Return bounds of beta right of the corner: the mirror, where p = 1 - alpha and beta is the P0 side."""
        p = 1.0 - x
        log_p, log_rest = np.log1p(-x), np.log(x)
        low = np.full_like(x, self._log_growth - 1e-12)
        most = self._most(log_p)
        high = np.maximum(most + log1mexp(most) + 1e-12, low)

        def family(s: FloatArray) -> Pair:
            return from_above(s, log_p, log_rest)

        shape = self._solve(family, low, high)
        inside, outside = self._settle(family, shape, low, high)
        u_near, u_far = family(inside).u, family(outside).u
        lower = p * np.exp(-u_far) * (1.0 - 4.0 * ULP * (1.0 + u_far))
        upper = p * np.exp(-u_near) * (1.0 + 4.0 * ULP * (1.0 + u_near))
        return np.maximum(lower - 4.0 * _TINY, 0.0), upper + 4.0 * _TINY

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return (lower, upper) of delta; the optimal test is the corner up to `kink`, a smooth point above."""
        e = np.asarray(epsilon, dtype=np.float64)
        checkpoint()  # a few milliseconds for each epsilon
        t = np.abs(e)
        lower, upper = np.zeros_like(t), np.zeros_like(t)
        with np.errstate(all="ignore"):
            flat = t <= self.kink
            lower[flat] = _corner_delta(t[flat], self.corner[0]) * (1.0 - 16.0 * ULP)
            upper[flat] = _corner_delta(t[flat], self.corner[1]) * (1.0 + 16.0 * ULP)
            smooth = ~flat & np.isfinite(t)
            if np.any(smooth):
                low, high = self._interior(t[smooth])
                # far out the tangent is lost in rounding
                high = np.fmin(high, np.exp(self._log_chernoff(t[smooth])) * (1.0 + _CHERNOFF))
                lower[smooth], upper[smooth] = low - 4.0 * _TINY, high + 4.0 * _TINY
        negative = np.minimum(e, 0.0)
        lower = np.where(e < 0.0, mirrored_delta(negative, lower) * (1.0 - 4.0 * ULP), lower)
        lower = np.where(np.isneginf(e), 1.0, lower)
        upper = np.where(e < 0.0, mirrored_delta(negative, upper) * (1.0 + 4.0 * ULP), upper)
        return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)

    def _boundary_at(self, log_v: FloatArray, tolerance: float) -> tuple[Pair, FloatArray]:
        """Return the boundary pair left of the corner with the loss -v, and its lead u - log(slope).

        At fixed v a larger u spreads the ratio P1/P0 without moving its mean, so every divergence rises with u.
        """
        v = np.exp(log_v)
        low = np.log(np.maximum(self.least, v)) - 1e-12
        high = np.log(np.maximum(self._most(log1mexp(v)), 1.1 * self.corner[1]))

        def family(log_u: FloatArray) -> Pair:
            return from_losses(np.exp(log_u), v)

        pair = family(self._solve(family, low, high, tolerance))
        return pair, self._binding(pair).lead(pair.u + pair.v)

    @Lazy
    def _table(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log v along the boundary, with the epsilon and the log delta of each point: starting points of a search."""
        end = np.log(self.corner[1])
        log_v = np.concatenate((np.linspace(_FAR, end - 41.0, 120), end - np.geomspace(40.0, 1e-3, 120), [end]))
        pair, lead = self._boundary_at(log_v, 1e-9)
        epsilon = np.minimum.accumulate(pair.u - lead)
        return log_v, epsilon, np.maximum.accumulate(np.log(touching_delta(pair.u, pair.v, lead)))

    def _search(self, gap: Callable[[FloatArray], FloatArray], place: NDArray[np.intp], tolerance: float) -> FloatArray:
        """Return the log v where `gap` vanishes, next to cell `place` of the table."""
        log_v = self._table[0]
        low, high = log_v[np.maximum(place - 2, 0)], log_v[np.minimum(place + 1, log_v.size - 1)]
        return find_root(gap, low, high, tolerance)

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return (lower, upper = safe) of the smallest epsilon >= 0 with delta(epsilon) <= delta.

        A boundary point determines its epsilon (the logarithm of the slope) and its delta, so one search over the loss v
        finds both; the answer is then moved until `delta_bounds` confirms it.
        """
        d = np.asarray(delta, dtype=np.float64)
        at_zero = float(np.tanh(self.corner[1] / 2.0))
        guess = np.where(d > 0.0, 0.0, np.inf)
        with np.errstate(all="ignore"):
            corner_delta = float(_corner_delta(np.array([self.kink]), self.corner[1])[0])
            flat = (d < at_zero) & (d >= corner_delta)
            guess[flat] = self.corner[1] + np.log1p(-d[flat] * (1.0 + np.exp(-self.corner[1])))
            smooth = (d < corner_delta) & (d > 0.0)
            if np.any(smooth):
                guess[smooth] = self._epsilon(d[smooth])
        open_ = (d < at_zero) & (d > 0.0)
        low, high = np.array(guess), np.array(guess)
        if np.any(open_):
            low[open_], high[open_] = self._confirm(d[open_], np.maximum(guess[open_], 0.0))
        return low, high

    def _epsilon(self, delta: FloatArray) -> FloatArray:
        """Return the epsilon of the boundary point with this delta."""

        def gap(log_v: FloatArray) -> FloatArray:
            pair, lead = self._boundary_at(log_v, 1e-13)
            return np.asarray(np.log(touching_delta(pair.u, pair.v, lead)) - np.log(delta), dtype=np.float64)

        log_v = self._search(gap, np.searchsorted(self._table[2], np.log(delta)), 1e-13)
        pair, lead = self._boundary_at(log_v, 4.0 * ULP)
        return np.asarray(pair.u - lead, dtype=np.float64)

    def _confirm(self, delta: FloatArray, guess: FloatArray) -> Bounds:
        """Move the guess down and up until delta_bounds is certainly above and certainly not above `delta`."""
        down, up = guess * (1.0 - 1e-13), guess * (1.0 + 1e-13)
        step = np.maximum(1e-13 * guess, 1e-16 * self.least)
        todo = np.arange(guess.size)
        for _ in range(_TRIES):
            lower, upper = self.delta_bounds(np.concatenate((down[todo], up[todo])))
            bad_down = (lower[: todo.size] < delta[todo]) & (down[todo] > 0.0)
            bad_up = upper[todo.size :] > delta[todo]
            step[todo] *= 3.0
            down[todo] = np.where(bad_down, np.maximum(down[todo] - step[todo], 0.0), down[todo])
            up[todo] = np.where(bad_up, up[todo] + step[todo], up[todo])
            todo = todo[bad_down | bad_up]
            if todo.size == 0:
                break
        down[todo], up[todo] = 0.0, np.inf
        return down, up


def _square(log_u: FloatArray) -> Pair:
    """Return the pair on the diagonal x = y with loss u."""
    return from_losses(np.exp(log_u), np.exp(log_u))


def _corner_delta(epsilon: FloatArray, u: float) -> FloatArray:
    """Return x (e^u - e^epsilon) at the corner x = 1/(1 + e^u)."""
    return np.asarray(-np.expm1(epsilon - u) / (1.0 + np.exp(-u)), dtype=np.float64)


class Renyi(_Region):
    r"""The region of every mechanism with :math:`D_{order}(P_1\|P_0), D_{order}(P_0\|P_1) \le \varepsilon`.

    Every boundary point is attained by its own pair of coins, so the region is exact point by point; no single
    mechanism attains all of it. Mironov (2017) for the guarantee; Asoodeh et al. (2021) and Balle et al. (2020)
    for reading it as a testing region.

    Parameters
    ----------
    order : float
        In (1, inf); infinite order is pure DP.
    epsilon : float
        In (0, 1e5].
    """

    def __init__(self, order: float, epsilon: float) -> None:
        if not 1.0 < order < np.inf:
            msg = f"order must be in (1, inf), got {numeral(order)}; infinite order is pure differential privacy, dp(epsilon)."
            raise DomainError(msg)
        if not 0.0 < epsilon <= _LARGEST:
            msg = f"epsilon must be in (0, {nearest(_LARGEST)}], got {numeral(epsilon)}."
            raise DomainError(msg)
        super().__init__(float(epsilon))
        self.order, self.epsilon = float(order), float(epsilon)
        self.statement = Statement.of(self.order, self.epsilon)

    def _measure(self, pair: Pair) -> tuple[FloatArray, FloatArray]:
        return overshoot(self.statement, pair)

    def _binding(self, pair: Pair) -> Statement:  # noqa: ARG002  one constraint binds everywhere
        return self.statement

    def _most(self, log_p: FloatArray) -> FloatArray:
        # p^a x^(1-a) alone, and p log(p/x) - log 2 alone, are below their limits
        powers = self.epsilon - log_p / (self.order - 1.0)
        return np.asarray(np.minimum(powers, (self.epsilon + np.log(2.0)) * np.exp(-log_p)), dtype=np.float64)

    def _most_at(self, log_x: FloatArray) -> FloatArray:
        return np.asarray(((self.order - 1.0) * self.epsilon - log_x) / self.order, dtype=np.float64)

    def _interior(self, epsilon: FloatArray) -> Bounds:
        return tangent(self.statement, epsilon).delta_bounds()

    def _log_chernoff(self, epsilon: FloatArray) -> FloatArray:
        return np.asarray(np.minimum((self.order - 1.0) * (self.epsilon - epsilon), 0.0), dtype=np.float64)


class Concentrated(_Region):
    r"""The region of (xi, rho)-zCDP: :math:`D_a \le \xi + \rho a` for every order a > 1, both directions.

    For a pair of coins let K(a) = log E_P0[e^(a L)] and N(a) = K(a) - (a-1)(xi + rho a); the pair is inside exactly
    when N <= 0 on (1, inf). N(1) = 0 and N'' = (u+v)^2 pi(1-pi) - 2 rho with the logistic pi of logit
    logit(x) + a (u+v): a single bump minus a constant. So N is concave, convex, concave, and N <= 0 everywhere if
    and only if N'(1) <= 0 (Kullback-Leibler, the limit of order 1) and N <= 0 at its maximum over the last concave
    piece, which one Newton iteration finds. No grid of orders is needed: the safe side is a valid single order, and
    for the other side the error of the maximum, of second order, is added to the error bound.

    Parameters
    ----------
    rho : float
        In (0, 1e5].
    xi : float, default 0
        In [0, 1e5 - rho].
    """

    method = "root of the two-coin divergence, all orders at once"

    def __init__(self, rho: float, xi: float = 0.0) -> None:
        if not 0.0 < rho <= _LARGEST:
            msg = f"rho must be in (0, {nearest(_LARGEST)}], got {numeral(rho)}; rho 0 is pure differential privacy, dp(xi)."
            raise DomainError(msg)
        if not 0.0 <= xi <= _LARGEST - rho:
            msg = (
                f"xi must be in [0, {outward(_LARGEST - rho, 6, up=False)}] for rho {numeral(rho)}, got {numeral(xi)}."
            )
            raise DomainError(msg)
        super().__init__(float(rho + xi))
        self.rho, self.xi = float(rho), float(xi)
        self._first = Statement.of(1.0, self.xi, self.rho)

    def _last_maximum(self, pair: Pair) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the order that maximises N on its last concave piece (1 if none), the remaining N' there, and N''."""
        spread = pair.u + pair.v
        logit = pair.log_x - pair.log_rest
        tilt = 2.0 * self.rho / spread
        root = np.sqrt(np.maximum(1.0 - 4.0 * tilt / spread, 0.0))
        floor = np.maximum(2.0 * np.arctanh(root), logit + spread)  # end of the convex piece, or order 1
        base = self.rho - self.xi - pair.v + tilt * logit
        z = np.maximum((spread + base) / tilt, floor)
        # concave and decreasing from `floor` on: Newton from the right never crosses the root
        for _ in range(60):
            logistic = 1.0 / (1.0 + np.exp(-z))
            slope = spread * logistic * np.exp(-z) * logistic - tilt
            new = np.maximum(z - np.where(slope < 0.0, (spread * logistic + base - tilt * z) / slope, 0.0), floor)
            settled = np.abs(new - z) <= 1e-8 * np.abs(z)
            z = np.where(np.isfinite(new), new, z)
            if np.all(settled):
                break
        logistic = 1.0 / (1.0 + np.exp(-z))
        rest = spread * logistic + base - tilt * z
        bend = spread * spread * logistic * np.exp(-z) * logistic - 2.0 * self.rho
        rest = np.where(z > floor, np.abs(rest), np.maximum(rest, 0.0))
        return np.maximum((z - logit) / spread, 1.0), rest, bend

    def _candidates(self, pair: Pair) -> tuple[Statement, FloatArray, FloatArray, FloatArray]:
        """Return the statement of the last maximum, its sign and error, and the order where it beats order 1."""
        order, rest, bend = self._last_maximum(pair)
        statement = Statement.of(order, self.xi, self.rho * order)
        value, error = overshoot(statement, pair)
        noise = 16.0 * ULP * (pair.u + pair.v + self.xi + self.rho * order) + rest
        gap = noise * np.minimum(4.0 * noise / np.abs(bend), statement.excess)
        gap = np.where(order > 1.0, gap / -np.expm1(-statement.excess * statement.epsilon), 0.0)
        return statement, value, error, gap

    def _measure(self, pair: Pair) -> tuple[FloatArray, FloatArray]:
        _, value, error, gap = self._candidates(pair)
        first, first_error = overshoot(self._first, pair)
        return np.maximum(value, first), np.maximum(error + gap, first_error)

    def _binding(self, pair: Pair) -> Statement:
        statement, value, _, _ = self._candidates(pair)
        first = overshoot(self._first, pair)[0]
        order = np.where(value >= first, statement.order, 1.0)
        return Statement.of(order, self.xi, self.rho * order)

    def _most(self, log_p: FloatArray) -> FloatArray:
        # (a-1) u + log p <= (a-1)(xi + rho a) at the best order
        return np.asarray(self.xi + self.rho + 2.0 * np.sqrt(-self.rho * log_p), dtype=np.float64)

    def _most_at(self, log_x: FloatArray) -> FloatArray:
        # a u + log x <= (a-1)(xi + rho a) at a good order
        order = np.maximum(1.0, np.sqrt(-log_x / self.rho))
        return np.asarray(self.xi + self.rho * order - log_x / order, dtype=np.float64)

    def _interior(self, epsilon: FloatArray) -> Bounds:
        """Return delta from the boundary point with slope e^epsilon: its order bounds above, the point itself below."""

        def gap(log_v: FloatArray) -> FloatArray:
            pair, lead = self._boundary_at(log_v, 1e-11)
            return np.asarray(lead - pair.u + epsilon, dtype=np.float64)

        log_v = self._search(gap, np.searchsorted(-self._table[1], -epsilon), 1e-9)
        order = self._binding(self._boundary_at(log_v, 1e-13)[0]).order
        # the bound of that order, rounded up
        touch = tangent(Statement.of(order, self.xi, self.rho * order * (1.0 + 2.0 * ULP)), epsilon)
        upper = touch.delta_bounds()[1]
        return touch.shrunk(self._measure), upper

    def _log_chernoff(self, epsilon: FloatArray) -> FloatArray:
        # the best order is 1 + beyond / (2 rho); the two subtractions have a unit of at most epsilon + xi each, which may be large
        # against rho
        beyond = np.maximum(epsilon - self.xi - self.rho - 2.0 * ULP * (epsilon + self.xi + self.rho), 0.0)
        return np.asarray(-beyond / (4.0 * self.rho) * beyond, dtype=np.float64)
