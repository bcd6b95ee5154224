r"""Rényi divergence of two coins, with relative accuracy from 1e-300 to 1, and its roots.

A test with error rates (x, y) is a pair of coins: x = P0(reject), p = 1 - y = P1(reject). With the two
losses u = log(p/x) >= 0 and -v = log((1-p)/(1-x)) <= 0 the divergence of order a is

.. math:: D_a = \frac{1}{a-1} \log\bigl(1 + (a-1) T_a\bigr), \qquad T_a = x\,g_a(u) + (1-x)\,g_a(-v),

.. math:: g_a(l) = \frac{e^{al} - 1 - a (e^l - 1)}{a-1} = e^l\,\frac{e^{(a-1)l} - 1}{a-1} - (e^l - 1) \ge 0.

The linear part of g sums to zero over the two outcomes. Subtracting it leaves positive terms only, so nothing
cancels when the divergence is tiny; at a = 1 the same formula is the Kullback-Leibler divergence.
Everything is compared as log T_a - log T_limit, with T_limit = (e^((a-1) epsilon) - 1)/(a-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

FloatArray = NDArray[np.float64]

ULP = 2.0**-52
_TERMS = 19  # terms of the series of g at a|l| <= 1: complete to 1e-18
_ROUNDS = 90  # steps to a root: bisection alone exhausts the doubles in about 60; fewer only widen brackets
_WIDENINGS = 14  # doublings of the step around a root, to 16 000 times the first; fewer only widen brackets
_SMALLEST = -708.0  # logarithm of the smallest v, about 3e-308
_FACTORIALS = np.cumprod(np.arange(1.0, _TERMS + 3.0))[1:]  # 2!, 3!, ...


def softplus(t: FloatArray) -> FloatArray:
    """Return log(1 + e^t), with relative accuracy on both sides."""
    return np.asarray(np.logaddexp(0.0, t), dtype=np.float64)


def log1mexp(t: FloatArray) -> FloatArray:
    """Return log(1 - e^-t) for t >= 0."""
    return np.asarray(np.log(-np.expm1(-t)), dtype=np.float64)


def decay_mean(t: FloatArray) -> FloatArray:
    """Return (1 - e^-t)/t for t >= 0, the mean of e^-s over s in [0, t]; 1 at t = 0."""
    safe = np.where(t == 0.0, 1.0, t)
    return np.where(t == 0.0, 1.0, -np.expm1(-safe) / safe)


@dataclass(frozen=True, slots=True)
class Statement:
    """Constraints D_order <= epsilon + tail, one or one per element.

    `tail` is the rounding error of the sum that gives epsilon, and `blur` bounds the rest of its error in `ULP`;
    `log_limit` is log T_limit - excess * epsilon.
    """

    order: FloatArray
    excess: FloatArray
    epsilon: FloatArray
    tail: FloatArray
    blur: FloatArray
    log_limit: FloatArray
    series: tuple[FloatArray, ...]

    @classmethod
    def of(cls, order: FloatArray | float, base: FloatArray | float, part: FloatArray | float = 0.0) -> Statement:
        """Prepare D_order <= base + part for orders >= 1 (1 means Kullback-Leibler); `part` may be rounded."""
        a = np.asarray(order, dtype=np.float64)
        first, second = np.asarray(base, dtype=np.float64), np.asarray(part, dtype=np.float64)
        epsilon = np.asarray(first + second, dtype=np.float64)
        back = epsilon - first
        tail = np.asarray((first - (epsilon - back)) + (second - back), dtype=np.float64)
        inverse = 1.0 / a
        partial = np.ones_like(a)
        series = []
        for factorial in _FACTORIALS:
            series.append(partial / factorial)
            partial = 1.0 + inverse * partial
        excess = a - 1.0
        log_limit = np.asarray(np.log(epsilon * decay_mean(excess * epsilon)), dtype=np.float64)
        return cls(a, excess, epsilon, tail, second, log_limit, tuple(series))

    def _near(self, scaled: FloatArray) -> FloatArray:
        """Return g at the loss scaled/order by its series, for abs(scaled) <= 1."""
        total = np.zeros_like(scaled) + self.series[-1]
        for coefficient in self.series[-2::-1]:
            total = total * scaled + coefficient
        return np.asarray(scaled * scaled / self.order * total, dtype=np.float64)

    def gain(self, u: FloatArray) -> FloatArray:
        """Return e^(-a u) g(u) for u >= 0, which never overflows."""
        b = self.excess * u
        value = u * decay_mean(b) + np.exp(-b) * np.expm1(-u)
        scaled = self.order * u
        small = scaled < 1.0
        if np.any(small):
            w = np.where(small, scaled, 0.0)
            value = np.where(small, self._near(w) * np.exp(-w), value)
        return np.asarray(value, dtype=np.float64)

    def loss(self, v: FloatArray) -> FloatArray:
        """Return g(-v) for v >= 0."""
        value = -np.expm1(-v) - v * np.exp(-v) * decay_mean(self.excess * v)
        scaled = self.order * v
        small = scaled < 1.0
        if np.any(small):
            value = np.where(small, self._near(np.where(small, -scaled, 0.0)), value)
        return np.asarray(value, dtype=np.float64)

    def lead(self, spread: FloatArray) -> FloatArray:
        r"""Return u - log(slope) where the boundary has losses u and -v with u + v = `spread`.

        The slope of {T_a = const} is dp/dx = (a-1)/a (e^(au) - e^(-av)) / (e^((a-1)u) - e^(-(a-1)v)), and
        u - log(slope) turns into log(1 + g(S)/(e^(aS) - 1)) with S = u + v: again nothing cancels.
        """
        return np.asarray(np.log1p(self.gain(spread) / -np.expm1(-self.order * spread)), dtype=np.float64)

    def lead_slope(self, spread: FloatArray, lead: FloatArray) -> FloatArray:
        """Return the derivative of `lead`, between 0 and 1/2."""
        y = np.expm1(lead)
        rise = spread * decay_mean(self.excess * spread) - y
        slope = self.order * rise / (-np.expm1(-self.order * spread) * (1.0 + y))
        return np.asarray(np.clip(slope, 0.0, 0.5), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two coins: log x, log p and log(1-x), the losses u and -v, and the errors of log p, u and v.

    The error of log p is absolute, those of u and v are relative, all in units of `ULP`.
    """

    log_x: FloatArray
    log_p: FloatArray
    log_rest: FloatArray
    u: FloatArray
    v: FloatArray
    p_error: FloatArray
    u_error: FloatArray
    v_error: FloatArray


def from_below(shape: FloatArray, log_x: FloatArray, log_rest: FloatArray) -> Pair:
    """Return the pair with P0(reject) = x and p - x = s (1-x), where `shape` is the logit of s."""
    log_s = -softplus(-shape)
    v = softplus(shape)
    u = softplus(log_s + log_rest - log_x)
    size = np.abs(log_s) + np.abs(log_rest) + np.abs(log_x) + 3.0
    u_error = 2.0 + decay_mean(u) * size
    p_error = np.abs(log_x) + u * (1.0 + u_error)
    return Pair(log_x, log_x + u, log_rest, u, v, p_error, u_error, np.full_like(u, 2.0))


def from_above(shape: FloatArray, log_p: FloatArray, log_rest: FloatArray) -> Pair:
    """Return the pair with P1(reject) = p and p - x = s p, where `shape` is the logit of s."""
    log_s = -softplus(-shape)
    u = softplus(shape)
    v = softplus(log_s + log_p - log_rest)
    size = np.abs(log_s) + np.abs(log_rest) + np.abs(log_p) + 3.0
    v_error = 2.0 + decay_mean(v) * size
    return Pair(log_p - u, log_p, log_rest + v, u, v, np.abs(log_p), np.full_like(u, 2.0), v_error)


def from_losses(u: FloatArray, v: FloatArray) -> Pair:
    """Return the pair with the losses u and -v."""
    whole = log1mexp(u + v)
    log_p = log1mexp(v) - whole
    zero = np.zeros_like(u)
    return Pair(log_p - u, log_p, log1mexp(u) - whole, u, v, np.abs(log_p) + 2.0 * np.abs(whole) + 4.0, zero, zero)


def overshoot(statement: Statement, pair: Pair) -> tuple[FloatArray, FloatArray]:
    """Return log T - log T_limit and a bound of its rounding error.

    x e^(a u) is computed as p e^((a-1) u), and (a-1) u - (a-1) epsilon as one product. The error bound follows the
    formula: each logarithm and product adds its own size in `ULP`, an error of u counts 2 + (a-1) u times in addition to
    its effect on p, one of v at most twice. The two terms count with their share of T.
    """
    limit = statement.excess * statement.epsilon
    log_gain = np.log(statement.gain(pair.u))
    log_loss = np.log(statement.loss(pair.v))
    ahead = statement.excess * ((pair.u - statement.epsilon) - statement.tail)
    first = pair.log_p + ahead + log_gain
    second = pair.log_rest + log_loss - limit
    log_t = np.logaddexp(first, second)
    share = np.exp(first - log_t)
    quiet = np.where(np.isfinite(log_loss), np.abs(log_loss), 0.0)
    scaled = statement.excess * pair.u
    error_first = pair.p_error + 2.0 * np.abs(ahead) + np.abs(log_gain) + (2.0 + scaled) * pair.u_error
    error_second = np.abs(pair.log_rest) + quiet + 2.0 * pair.v_error + 2.0 * limit
    error = 20.0 + share * error_first + (1.0 - share) * error_second
    error = error + np.abs(log_t) + statement.excess * statement.blur + 2.0 * np.abs(statement.log_limit)
    return log_t - statement.log_limit, ULP * error


def find_root(
    function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, tolerance: float = 4.0 * ULP
) -> FloatArray:
    """Return where an increasing function changes sign, elementwise (Chandrupatla 1997).

    Inverse quadratic interpolation where the last three points allow it, bisection elsewhere: slower than bisection
    by at most a constant factor. Without a change of sign the nearer end is returned.

    References
    ----------
    .. [1] T. R. Chandrupatla, Advances in Engineering Software 28 (1997) 145-149.
    """
    a, b = np.array(high, dtype=np.float64), np.array(low, dtype=np.float64)
    fa, fb = function(a), function(b)
    a, fa = np.where(fb >= 0.0, b, a), np.where(fb >= 0.0, 0.0, fa)
    b, fb = np.where(fa <= 0.0, a, b), np.where(fa <= 0.0, 0.0, fb)
    t = np.full_like(a, 0.5)
    for k in range(_ROUNDS):
        settled = (np.abs(b - a) <= tolerance * (1.0 + np.abs(a))) | (fa == 0.0) | (fb == 0.0)
        if np.all(settled):
            break
        checkpoint(k / _ROUNDS)
        x = np.where(settled, a, a + t * (b - a))
        fx = function(x)
        same = (fx > 0.0) == (fa > 0.0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        ratio, rise = (a - b) / (c - b), (fa - fb) / (fc - fb)
        smooth = (rise * rise < ratio) & ((1.0 - rise) ** 2 < 1.0 - ratio)
        step = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        edge = np.minimum(0.5, 0.5 * tolerance * (1.0 + np.abs(a)) / np.abs(b - a))
        t = np.clip(np.where(smooth & np.isfinite(step), step, 0.5), edge, 1.0 - edge)
        t = np.where(np.isfinite(t), t, 0.5)
    return np.where(np.abs(fa) < np.abs(fb), a, b)


def certify(
    measure: Callable[[FloatArray], tuple[FloatArray, FloatArray]], root: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return points below and above a root where the sign is certain in spite of its error, else `low` and `high`."""
    reach = 1e-6
    slope = (measure(root + reach)[0] - measure(root - reach)[0]) / (2.0 * reach)
    step = 1.5 * measure(root)[1] / np.maximum(slope, 1e-12) + 4.0 * ULP * (1.0 + np.abs(root))
    down, up = np.array(step), np.array(step)
    for _ in range(_WIDENINGS):
        value, error = measure(root - down)
        below = value <= -error
        value, error = measure(root + up)
        above = value >= error
        if np.all(below & above):
            break
        down, up = np.where(below, down, 2.0 * down), np.where(above, up, 2.0 * up)
    return np.where(below, np.maximum(root - down, low), low), np.where(above, np.minimum(root + up, high), high)


def touching_delta(u: FloatArray, v: FloatArray, lead: FloatArray) -> FloatArray:
    """Return p - e^(u - lead) x at the pair with losses u and -v: (1-e^-v)(1-e^-lead)/(1-e^-(u+v))."""
    return np.asarray(np.expm1(-v) * np.expm1(-lead) / -np.expm1(-(u + v)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Touch:
    """Where a line of slope e^epsilon touches {D_order <= limit}: values of log v certified inside and outside."""

    statement: Statement
    epsilon: FloatArray
    inside: FloatArray
    outside: FloatArray

    def delta_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) of delta(epsilon) of this constraint, one direction.

        The inside point is allowed, so its p - e^epsilon x is attained. The outside point lies on a larger convex
        region whose tangent there has a slope m <= e^epsilon, so no allowed point has p - m x above its own.
        """
        v = np.exp(self.inside)
        w = _lead(self.statement, self.epsilon, v)
        lower = touching_delta(self.epsilon + w, v, w) * (1.0 - 16.0 * ULP)
        v = np.exp(self.outside)
        w = _lead(self.statement, self.epsilon, v)
        full = np.maximum(self.statement.lead(self.epsilon + v + w), w) * (1.0 + 32.0 * ULP)
        return lower, touching_delta(self.epsilon + w, v, full) * (1.0 + 16.0 * ULP)

    def shrunk(self, measure: Callable[[Pair], tuple[FloatArray, FloatArray]]) -> FloatArray:
        """Return a lower delta from the inside point, moved inwards until `measure` certifies it."""
        place, step = self.inside, 64.0 * ULP * np.ones_like(self.inside)
        for _ in range(_WIDENINGS + 20):
            v = np.exp(place)
            w = _lead(self.statement, self.epsilon, v)
            u = self.epsilon + w
            value, error = measure(from_losses(u, v))
            allowed = value <= -error
            if np.all(allowed):
                break
            place, step = np.where(allowed, place, place - step), 2.0 * step
        # the rounded u is certified, so its own lead u - epsilon counts
        return np.where(allowed, touching_delta(u, v, u - self.epsilon) * (1.0 - 16.0 * ULP), 0.0)


def _lead(statement: Statement, epsilon: FloatArray, v: FloatArray) -> FloatArray:
    """Return w = u - epsilon such that the slope at losses u and -v is just below e^epsilon: w = lead(u + v).

    `lead` rises by at most 1/2 per unit, so Newton's iteration contracts from anywhere. The factor 1 - 1e-14 keeps
    the slope at or below e^epsilon in spite of rounding.
    """
    w = statement.lead(epsilon + v)
    for _ in range(8):
        lead = statement.lead(epsilon + v + w)
        move = (lead - w) / (1.0 - statement.lead_slope(epsilon + v + w, lead))
        w = w + move
        if np.all(np.abs(move) <= 1e-12 * w):
            break
    return np.asarray(statement.lead(epsilon + v + w) * (1.0 - 1e-14), dtype=np.float64)


def _touch_measure(statement: Statement, epsilon: FloatArray, log_v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log T - log T_limit and its error at slope e^epsilon, arranged around epsilon - limit.

    x e^(a u) / T_limit needs only (a-1)(w + epsilon - limit): at large orders the products a u and (a-1) limit
    would lose digits that their difference keeps.
    """
    v = np.exp(log_v)
    w = _lead(statement, epsilon, v)
    u = epsilon + w
    whole = log1mexp(u + v)
    log_gain, log_loss = np.log(statement.gain(u)), np.log(statement.loss(v))
    ahead = (epsilon - statement.epsilon) - statement.tail
    first = statement.excess * (w + ahead) + log1mexp(v) - whole + log_gain - statement.log_limit
    limit = statement.excess * statement.epsilon
    second = log1mexp(u) - whole + log_loss - statement.log_limit - limit
    value = np.logaddexp(first, second)
    share = np.exp(first - value)
    quiet = np.where(np.isfinite(log_loss), np.abs(log_loss), 0.0)
    # w has a relative error of up to 1e-14: 64 ulp
    error_first = statement.excess * (64.0 * w + 2.0 * np.abs(ahead)) + np.abs(log1mexp(v)) + np.abs(log_gain)
    error = 40.0 + share * error_first + (1.0 - share) * (quiet + 2.0 * limit)
    return value, ULP * (error + 2.0 * np.abs(whole) + 2.0 * np.abs(statement.log_limit))


def tangent(statement: Statement, epsilon: FloatArray) -> Touch:
    """Return where the line of slope e^epsilon touches, for epsilon above the kink of the constraint.

    There v <= u = epsilon + lead, and the lead never exceeds log(a/(a-1)); v itself may be as small as 1e-307.
    """
    most = np.minimum(epsilon + np.log1p(1.0 / statement.excess), 2.0 * epsilon + 2000.0)
    low, high = np.full_like(epsilon, _SMALLEST), np.log(most) + 1e-9

    def measure(log_v: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _touch_measure(statement, epsilon, log_v)

    root = find_root(lambda s: measure(s)[0], low, high)
    inside, outside = certify(measure, root, np.full_like(epsilon, -np.inf), high)
    return Touch(statement, epsilon, inside, outside)
