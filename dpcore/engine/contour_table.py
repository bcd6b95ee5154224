"""Products of independent parts by their moment generating functions, and where to put the contour.

For a pair with loss L write M(s) = E_1[e^{sL}; L finite]. The three kernels

    D(eps) = E_1[(1 - e^{eps-L})_+]      I(eps) = E_1[min(1, e^{eps-L})]      N(eps) = E_1[(e^{eps-L} - 1)_+]

have one common transform: D, -I and N are (1/2 pi i) times the integral of M(s) e^{-s eps} / (s(s+1)) along
Re s = c for c > 0, -1 < c < 0 and c < -1, and delta = delta_inf + D = 1 - I = 1 - e^eps M(-1) + N. The best c is the
minimum of the function phi(c) = log M(c) - c eps - log|c| - log|c+1|, convex between its poles: its value is the
logarithm of the integrand's size, so the lowest of the three minima loses the fewest digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    ComplexArray = NDArray[np.complex128]

_STEP = 1e-20
"""Imaginary step of the derivative of log M on the real axis; small enough to leave no truncation error."""

_FLOOR = 40.0
"""A modulus below e^-40 of its value on the real axis is rounding noise and is kept at that level."""

_PER_DECADE = 8
_MANY_SLOW, _STRONGEST = 200, 100
"""Parts with a costly bound of their decay beyond which only the strongest are asked for it, and how many."""

_NEAR_ONE = -1e-4


_LEAP, _SHARP = 1.5, 1.4
"""Standard deviations between two exponents, and change of log phi'' there, from which more exponents are put between."""

_ROUNDS, _PIECES, _MOST_LEAPS, _LEAST = 4, 6, 40, -150.0


class Factor(Protocol):
    """One part of a product: masses at infinite loss, ends of the finite losses, and transform of the finite part.

    The numbers must belong together: M(0) = 1 - q_inf and M(-1) = 1 - p_inf up to rounding.
    """

    @property
    def q_inf(self) -> float:
        """Mass of P1 at loss +inf."""

    @property
    def p_inf(self) -> float:
        """Mass of P0 at loss -inf."""

    @property
    def min_loss(self) -> float:
        """Lower end of the finite losses, or -inf."""

    @property
    def max_loss(self) -> float:
        """Upper end of the finite losses, or +inf."""

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) on any branch, for a 1-d array of any complex s (2-d, a line a row, where `takes_rows` is true).

        Promised accuracy: abs(error) <= u ((r + abs(s) R) M(Re s)/abs(M(s)) + 4 abs(log M(s))) with u = 2^-53, R
        the largest finite abs(loss) (0 if unbounded) and r = 2, or the factor's own `mgf_rounding` (`mgf_rounding_at(c)`
        where it grows with c). -inf where M vanishes.
        """

    def log_decay(self, c: float, y: float) -> float:
        """Return an upper bound of log(abs(M(c+iY))/M(c)) that holds for every abs(Y) >= y; 0.0 if none is known."""


class Product:
    """Independent parts, each with its number of repetitions."""

    def __init__(self, factors: Sequence[tuple[Factor, int]]) -> None:
        self.parts = tuple((factor, count) for factor, count in factors if count > 0)
        self.log_finite1 = _log_finite((factor.q_inf, count) for factor, count in self.parts)
        self.log_finite0 = _log_finite0(self.parts)
        self.delta_inf = -math.expm1(self.log_finite1)
        self.symmetric = all(getattr(factor, "symmetric", False) for factor, _ in self.parts)
        self.max_loss = _total([(factor.max_loss, count) for factor, count in self.parts])
        self.min_loss = -_total([(-factor.min_loss, count) for factor, count in self.parts])
        self.rounding = float(sum(k * getattr(part, "mgf_rounding", 2.0) for part, k in self.parts))
        self._reach = tuple(_finite(max(abs(part.min_loss), abs(part.max_loss))) for part, _ in self.parts)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return a logarithm of the product's M(s)."""
        total = np.zeros_like(s)
        for factor, count in self.parts:
            total += count * factor.log_mgf(s)
        return total

    def exponent(self, s: ComplexArray) -> tuple[ComplexArray, FloatArray]:
        """Return log M(s) and its rounding error in units of the last place; each row of `s` starts at its real c.

        Near a zero of one M_i only the absolute error of M_i, relative to M_i(c), is small: hence the factor
        M_i(c)/|M_i(s)|.
        """
        total = np.zeros_like(s)
        error = np.zeros(s.shape)
        size = np.abs(s)
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            rows = getattr(factor, "takes_rows", False)
            log_m = factor.log_mgf(s) if rows else factor.log_mgf(s.ravel()).reshape(s.shape)
            at_c = log_m.real[:, :1].copy()
            np.maximum(log_m.real, at_c - _FLOOR, out=log_m.real)
            loss = np.exp(at_c - log_m.real)
            loss *= _units(factor, s.real[:, :1]) + reach * size
            loss += 4 * np.abs(log_m)
            loss *= count
            error += loss
            total += count * log_m
        return total, error

    def pruned_exponent(
        self, s: ComplexArray, at_c: Sequence[float], floor: FloatArray
    ) -> tuple[ComplexArray, FloatArray, NDArray[np.bool_]]:
        """Return `exponent` along one line, and which nodes it is complete for.

        No part exceeds its value at the real axis, so a node whose log(|M(s)|/M(c)) has fallen below its `floor` after
        some of the parts needs no others: its entry is that partial value on top of log M(c), an upper bound.
        """
        total, error, done = np.zeros_like(s), np.zeros(s.size), np.ones(s.size, dtype=np.bool_)
        ratio = np.zeros(s.size)
        active = np.arange(s.size)
        nodes, size = s, np.abs(s)
        for i, (factor, count) in enumerate(self.parts):
            log_m = factor.log_mgf(nodes)
            real = np.maximum(log_m.real, at_c[i] - _FLOOR)
            fall = real - at_c[i]
            log_m.real = real
            total[active] += count * log_m
            units = _units(factor, s.real[:1])
            error[active] += count * (np.exp(-fall) * (units + self._reach[i] * size) + 4 * np.abs(log_m))
            ratio[active] += count * fall
            if i % 4 == 3:
                keep = ratio[active] >= floor[active]
                if 4 * np.count_nonzero(keep) < 3 * active.size:
                    done[active[~keep]] = False
                    active, nodes, size = active[keep], nodes[keep], size[keep]
                    if not active.size:
                        break
        if not done.all():
            total[~done] = ratio[~done] + math.fsum(k * at for (_, k), at in zip(self.parts, at_c, strict=True))
        return total, error, done

    def log_decay(self, c: float, y: float) -> float:
        """Bound log(abs(M(c+iY))/M(c)) for every abs(Y) >= y."""
        if len(self.parts) == 1:
            factor, count = self.parts[0]
            return count * factor.log_decay(c, y)
        return math.fsum(count * factor.log_decay(c, y) for factor, count in self._fading)

    @cached_property
    def _fading(self) -> tuple[tuple[Factor, int], ...]:
        """The parts whose decay is counted: of very many with a costly bound the strongest.

        No part has a decay above 0, so that the others may be left out.
        """
        slow = {place: k * scale for place, (f, k) in enumerate(self.parts) if (scale := getattr(f, "loss_scale", 0.0))}
        if len(slow) <= _MANY_SLOW:
            return self.parts
        strongest = set(sorted(slow, key=slow.__getitem__)[-_STRONGEST:])
        return tuple(part for place, part in enumerate(self.parts) if place not in slow or place in strongest)

    def scales(self) -> tuple[float, float]:
        """Return the smallest part's loss scale and the whole product's, for the range of exponents to tabulate."""
        smallest, whole = math.inf, 0.0
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            scale = reach or getattr(factor, "loss_scale", 0.0)
            if scale == 0.0:
                values = factor.log_mgf(np.array([-0.5 - 1e-3 + 1j * _STEP, -0.5 + 1e-3 + 1j * _STEP]))
                scale = math.sqrt(max(float(values.imag[1] - values.imag[0]) / (2e-3 * _STEP), 0.0))
            if scale > 0:
                smallest = min(smallest, scale)
                whole += count * scale
        return (smallest, whole) if whole > 0 else (1.0, 1.0)


def _units(factor: Factor, c: FloatArray) -> float | FloatArray:
    """Return the rounding error of a factor's M at Re s = c in units of 2^-53 M(c)."""
    at = getattr(factor, "mgf_rounding_at", None)
    return getattr(factor, "mgf_rounding", 2.0) if at is None else at(c)


@dataclass(frozen=True)
class Branch:
    """Saddle points on one of the three intervals: `epsilon` (increasing) is where `c` is the minimum of phi.

    `steps` counts standard deviations of the tilted loss along the epsilon axis; `value` is phi at its minimum.
    `log_m` is log M(c).
    """

    c: FloatArray
    epsilon: FloatArray
    steps: FloatArray
    value: FloatArray
    log_m: FloatArray


def saddle_table(product: Product) -> tuple[Branch, Branch, Branch]:
    """Tabulate the saddle points right of 0, between -1 and 0, and left of -1 (branches D, I and N)."""
    smallest, whole = product.scales()
    low = math.log10(1e-2 / max(whole, 1e-2))
    high = max(3.0, 5.0 - math.log10(smallest))
    outer = np.logspace(low, high, int(_PER_DECADE * (high - low)) + 2)
    inner = np.logspace(min(low, -2.0), -min(low, -2.0), int(-2 * _PER_DECADE * min(low, -2.0)) + 2)
    middle = -1.0 / (1.0 + inner)
    first, second = outer.size, outer.size + middle.size
    pieces = (outer, middle) if product.symmetric else (outer, middle, -1.0 - outer[::-1])
    grid = np.concatenate(pieces)
    with np.errstate(over="ignore", invalid="ignore"):
        values = product.log_mgf(np.asarray(grid + 1j * _STEP, dtype=np.complex128))
    right = _refined(product, grid[:first], values[:first])
    between = _branch(grid[first:second], values[first:second])
    left = _exchanged(right) if product.symmetric else _refined(product, grid[second:], values[second:])
    return right, between, left


def _refined(product: Product, c: FloatArray, values: ComplexArray) -> Branch:
    """Return a branch with more exponents where epsilon leaps: a law of a narrow core and a rare far jump does that.

    Exponents so far out that the kernel is below 1e-65 are not worth it.
    """
    for _ in range(_ROUNDS):
        branch = _branch(c, values)
        leaps = _leaps(branch)
        if not leaps.size or leaps.size > _MOST_LEAPS:
            return branch
        shares = np.arange(1, _PIECES) / _PIECES
        more = (branch.c[leaps, None] + shares * (branch.c[leaps + 1] - branch.c[leaps])[:, None]).ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            found = product.log_mgf(np.asarray(more + 1j * _STEP, dtype=np.complex128))
        order = np.argsort(np.concatenate((c, more)), kind="stable")
        c, values = np.concatenate((c, more))[order], np.concatenate((values, found))[order]
    return _branch(c, values)


def _leaps(branch: Branch) -> NDArray[np.intp]:
    """Return the cells of a branch that are longer than a standard deviation or so and whose ends differ in deviation."""
    gap = branch.steps[1:] - branch.steps[:-1]
    value = branch.value if branch.c[0] > 0 else branch.value - branch.epsilon  # that of the exchanged pair
    far = np.flatnonzero((gap > _LEAP) & (np.maximum(value[:-1], value[1:]) > _LEAST))
    if not far.size:
        return far
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        bend = np.abs(np.diff(np.log(np.diff(branch.epsilon) / np.diff(branch.c))))
    sharp = np.fmax(np.append(bend, 0.0), np.append(0.0, bend)) > _SHARP
    return np.asarray(far[sharp[far]], dtype=np.intp)


def _exchanged(b: Branch) -> Branch:
    """Return the branch of the exchanged pair, whose transform is M(-1 - s): phi(-1 - c) at -eps is phi(c) - eps."""
    steps, value = b.steps[-1] - b.steps[::-1], (b.value - b.epsilon)[::-1]
    return Branch(-1.0 - b.c[::-1], -b.epsilon[::-1], steps, value, b.log_m[::-1])


def _branch(c: FloatArray, values: ComplexArray) -> Branch:
    known = np.isfinite(values.real) & np.isfinite(values.imag)
    c, values = c[known], values[known]
    epsilon = np.maximum.accumulate(values.imag / _STEP - 1 / c - 1 / (c + 1))
    value = values.real - c * epsilon - np.log(np.abs(c * (c + 1)))
    steps = np.zeros(c.size)
    np.cumsum(np.sqrt((epsilon[1:] - epsilon[:-1]) * (c[1:] - c[:-1])), out=steps[1:])
    return Branch(c, epsilon, steps, value, values.real)


def branch_values(branches: tuple[Branch, Branch, Branch], eps: FloatArray) -> FloatArray:
    """Return the minimum of phi on each branch, inf where it has none.

    For eps >= 0 the kernel N is the larger one of D and N, whatever the two minima say: a line for it would be wasted.
    """
    d, i, n = branches
    values = np.empty((3, eps.size))
    values[0] = np.interp(eps, d.epsilon, d.value, left=np.inf)
    values[1] = np.interp(eps, i.epsilon, i.value, left=np.inf, right=np.inf)
    values[2] = np.interp(eps, n.epsilon, n.value, right=np.inf)
    values[2] += eps >= 0
    return values


class Outline(NamedTuple):
    """A rough picture of a profile, for where to look and never for an answer.

    `epsilon` increases; `log_delta` is the logarithm of delta, `score` that of (1 - a)/a for a = P0(L > epsilon), and
    `scale` the standard deviation of the tilted loss.
    """

    epsilon: FloatArray
    log_delta: FloatArray
    score: FloatArray
    scale: FloatArray


def mirrored(branches: tuple[Branch, Branch, Branch]) -> tuple[Branch, Branch, Branch]:
    """Return the branches of the exchanged pair."""
    d, i, n = branches
    return _exchanged(n), _exchanged(i), _exchanged(d)


def outline(branches: tuple[Branch, Branch, Branch], product: Product) -> Outline | None:
    """Return the saddle point approximation of the profile, a few per cent off.

    A kernel is about e^value / sqrt(2 pi phi''), and its logarithm falls with slope c; minus the slope of delta is
    e^eps P0(L > eps).
    """
    eps, c, value = (np.concatenate(row) for row in zip(*((b.epsilon, b.c, b.value) for b in branches), strict=True))
    sizes = [b.c.size for b in branches]
    if min(sizes) < 2:
        return None
    kind = np.repeat(np.arange(3), sizes)
    bend = _bends(eps, c, sizes)
    kernel = value - 0.5 * np.log(2 * np.pi * bend)
    log_rate = kernel - eps + np.log(np.abs(c))
    use = np.argmin(branch_values(branches, eps), axis=0) == kind
    use &= (eps > product.min_loss) & (eps < product.max_loss) & (log_rate < _NEAR_ONE) & (kernel < 0)
    order = np.flatnonzero(use)
    if order.size < 2:
        return None
    order = order[np.argsort(eps[order], kind="stable")]
    kind, log_rate = kind[order], log_rate[order]
    eps, size = eps[order], np.exp(kernel[order])
    base = np.array((product.delta_inf, 1.0, 0.0))[kind]
    delta = base + np.where(kind == 1, -size, size)
    left = kind == 2
    delta[left] -= np.expm1(np.minimum(eps[left], 0.0))
    other_rate = np.log(-np.expm1(log_rate))
    score = np.where(left, log_rate - other_rate, other_rate - log_rate)
    log_delta = np.minimum.accumulate(np.log(np.clip(delta, 1e-323, 1.0)))
    return Outline(eps, log_delta, np.maximum.accumulate(score), np.sqrt(bend[order]))


def _bends(eps: FloatArray, c: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Return the slope of epsilon in c at the nodes of each branch, the mean of those on either side of a node."""
    slope = (eps[1:] - eps[:-1]) / (c[1:] - c[:-1])
    left, right = np.append(slope[:1], slope), np.append(slope, slope[-1:])
    for start in (sizes[0], sizes[0] + sizes[1]):
        left[start], right[start - 1] = slope[start], slope[start - 2]
    return np.maximum(0.5 * (left + right), 1e-300)


def _log_finite(masses: Iterable[tuple[float, int]]) -> float:
    """Return the logarithm of the product of (1 - mass)^count."""
    pairs = list(masses)
    if any(mass >= 1 for mass, _ in pairs):
        return -math.inf
    return math.fsum(count * math.log1p(-mass) for mass, count in pairs)


def _log_finite0(parts: Sequence[tuple[Factor, int]]) -> float:
    """Return log M(-1), from the transform where 1 - p_inf would lose digits."""
    likely = [(factor.p_inf, count) for factor, count in parts if factor.p_inf < 0.5]
    rare = [(factor, count) for factor, count in parts if factor.p_inf >= 0.5 and factor.q_inf < 1]
    at = np.array([-1.0 + 0j])
    return _log_finite(likely) + math.fsum(count * float(factor.log_mgf(at).real[0]) for factor, count in rare)


def _total(losses: list[tuple[float, int]]) -> float:
    """Return the smallest double that is not below the exact sum of count times loss."""
    if any(math.isinf(loss) for loss, _ in losses):
        return math.inf if any(loss > 0 for loss, _ in losses if math.isinf(loss)) else -math.inf
    exact = sum((count * Fraction(float(loss)) for loss, count in losses), Fraction(0))
    total = float(exact)
    return total if Fraction(total) >= exact else math.nextafter(total, math.inf)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
