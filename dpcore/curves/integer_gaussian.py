r"""Curves of the discrete Gaussian, alone and composed with others of different width.

The noise takes the integer x with probability e^{-x^2/(2 sigma^2)} / Z. Against the same noise moved by the integer D the
loss of x is (x - D/2) h, h = D / sigma^2: a lattice. Poisson summation gives the transform in closed form,

    M(s) = e^{(s^2 + s) D^2 / (2 sigma^2)} T(s) / T(0),    T(s) = sum_m e^{-2 pi^2 sigma^2 m^2} cos(2 pi m s D):

that of a normal law, times a factor next to 1 near the real axis. M is periodic up to its sign along the imaginary axis,
with the period 2 pi / h, so one discrete Gaussian never fades; several of different width fade between their common periods.
With v the distance of h Im s from the next multiple of 2 pi, for every c

    abs(M(c + iy)) / M(c) <= (e^{-sigma^2 v^2/2} + e^{-sigma^2 (2 pi - v)^2/2} + ...) / (1 - 2 e^{-2 pi^2 sigma^2} - ...).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import ComplexArray, Curve, FloatArray
from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds

_DEEPEST = 740.0  # exponent of the rarest mass that is listed, 4e-322: the others add up to less than the last digits of 2e-308
_LISTED = 1000  # terms of the bound of a gap that are added one by one
_SMALL_GAP = 1e-12  # relative error of masses that are called exact: a hundredth of the promised digits
MOST_INTEGERS = 10**6  # a curve with this many losses is still composed in seconds
NARROW = 0.8  # below this sigma the transform is a short sum; from there on seven terms of T leave less than e^-140
_TERMS = 3  # terms of T on either side: the next is below e^{-24 pi^2 sigma^2}
_NOTHING = 45.0  # a term of T below e^-45 is far below the last place, even added up over 10^5 copies
_PLAINLY_NORMAL = math.sqrt(0.5 * _NOTHING) / math.pi  # sigma from which T on the real axis is 1 to rounding
_FACTORS = 2_000_000  # parts times places in memory at once, 16 MB
_FIRST_PARTS = 16  # parts with which the bound of a decay begins: they are enough for nearly all cells
_FADED = -200.0  # logarithm of a decay that is small enough: e^-200 of the size of M on the real axis
_STEADY = 0.25  # length of a cell, in steps of the angle, over which a decay changes little
_SPREAD = 24  # the parts with the longest periods that must change little over a cell: they carry the bound


def reach(sigma: float) -> int:
    """Return the largest integer whose mass is at least e^-740, about 4e-322, of the largest one."""
    return math.floor(sigma * math.sqrt(2.0 * _DEEPEST))


def listed(sigma: float, move: int) -> int:
    """Return how many integers have a mass under one of the two laws."""
    return min(2 * reach(sigma) + move + 1, 4 * reach(sigma) + 2)


def sum_gap(sigma: float, parts: int) -> float:
    r"""Bound abs(log P(S = x) / P(N = x)) for all x: S a sum of discrete Gaussians, N one of the variance of all together.

    The sum of one of variance j sigma^2 and one of sigma^2 has at x the mass of one of variance (j+1) sigma^2 times the
    sum over the integers y of e^{-(y - a)^2 / (2 tau^2)}, a = x j/(j+1), tau^2 = sigma^2 j/(j+1). By Poisson summation
    that sum is within 1 -+ eta_j of the same constant for every x, eta_j = 2 e^{-2 pi^2 tau^2} + 2 e^{-8 pi^2 tau^2} + ...;
    after normalisation the masses are off by at most (1 + eta_j)/(1 - eta_j), and a further sum keeps that factor.

    Parameters
    ----------
    sigma : float
        Width of each part.
    parts : int
        Number of parts.

    Returns
    -------
    float
        The bound, infinite for very narrow noise.
    """
    j = np.arange(1.0, min(parts, _LISTED))
    level = 2.0 * (math.pi * sigma) ** 2 * j / (j + 1.0)
    eta = 2.0 * np.exp(-level) / -np.expm1(-3.0 * level)  # e^{-4l} + e^{-9l} + ... is below the geometric series
    if (eta >= 0.5).any():
        return math.inf
    each = np.log1p(eta) - np.log1p(-eta)
    # later terms are smaller than the last of the list
    return float(each.sum() + max(0, parts - _LISTED) * each[-1:].sum()) * (1 + 1e-9)


class IntegerGaussian(Polygon):
    """Discrete Gaussian noise against the same noise moved by an integer: exact masses, transform in closed form.

    Parameters
    ----------
    sigma : float
        Parameter of the noise, not exactly its standard deviation.
    move : int
        How far the answer moves, at least 1.
    step : float, optional
        Difference of neighbouring losses, where it is known better than move / sigma^2.
    gap : float, default 0
        Relative error of the masses, for sums that are a discrete Gaussian only up to it.
    """

    def __init__(self, sigma: float, move: int, step: float | None = None, gap: float = 0.0) -> None:
        self.sigma, self.move, self.gap = float(sigma), int(move), gap
        self.step = self.move / self.sigma**2 if step is None else step
        self._farthest = reach(self.sigma)
        self.size = listed(self.sigma, self.move)
        self.rounding = 8.0 + 3.0 * _DEEPEST + gap * 2.0**53  # of an exponent up to that size, and the gap
        self.loss_error = 8.0  # sigma, its square, a quotient and two products
        self._rational = step is None and gap == 0.0
        self.p_inf = self.q_inf = 0.0
        self.min_loss, self.max_loss = -math.inf, math.inf
        self.method = "exact polygon"
        self.corner_count = self.size + 2
        self.symmetric = True
        self.integer_gaussian = self.sigma, self.move

    @Lazy
    def loss(self) -> FloatArray:
        """Finite losses, ascending and distinct."""
        x = np.arange(self.size) - float(self._farthest)
        if self.size <= 2 * self._farthest + self.move:  # the integers of the two laws do not reach each other
            x[self.size // 2 :] = x[: self.size // 2] + self.move
        return np.asarray((2.0 * x - self.move) * (0.5 * self.step), dtype=np.float64)

    def repeated(self, k: int) -> IntegerGaussian | None:
        """Return k copies as one discrete Gaussian of k times the variance and the move; None where they are not one.

        The loss of k answers is that of their sum, and `sum_gap` bounds how far the sum is from one discrete Gaussian.
        """
        gap = k * self.gap + math.expm1(sum_gap(self.sigma, k))
        sigma, move = self.sigma * math.sqrt(k), k * self.move
        if gap > _SMALL_GAP or listed(sigma, move) > MOST_INTEGERS:
            return None
        one_curve = IntegerGaussian(sigma, move, self.step, gap)
        one_curve.method = "exact composition on a lattice"
        return one_curve

    @Lazy
    def p(self) -> FloatArray:
        """Their masses under P0."""
        mass = np.zeros(self.size)
        own = masses(self.sigma)
        mass[: own.size] = own
        return mass

    @Lazy
    def q(self) -> FloatArray:
        """Their masses under P1."""
        return self.p[::-1]

    @Lazy
    def columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:  # type: ignore[override]  # computed on demand
        """Losses and both masses."""
        return self.loss, self.p, self.q

    def _beside_loss(self, epsilon: FloatArray, bounds: Bounds) -> Bounds:
        """Return delta with the distance to the next loss in exact arithmetic, sigma and epsilon as their shortest decimals."""
        if not self._rational:
            return bounds
        rate = self.move / Fraction(repr(self.sigma)) ** 2
        value = np.empty(epsilon.size)
        for i, at in enumerate(epsilon.tolist()):
            checkpoint()
            k = int(np.argmin(np.abs(self.loss - at)))
            twice = round(2.0 * float(self.loss[k]) / self.step)  # 2 x - move
            ahead = float(rate * twice / 2 - Fraction(repr(at)))
            start = np.array(
                [max(at, float(self.loss[k]))]
            )  # the larger losses, and the part they gain between there and epsilon
            beyond = self._deltas(start) - np.expm1(at - start) * self.tail_above(start)
            value[i] = beyond[0] - float(self.q[k]) * math.expm1(-max(ahead, 0.0))
        return value, value

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the closed form; a short sum for narrow noise."""
        if self.sigma < NARROW:
            return super().log_mgf(s)
        s = np.asarray(s, dtype=np.complex128)
        return _log_mgf(s, np.array([self.sigma]), np.array([float(self.move)]), np.ones(1))

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray | float:
        """Return the rounding error of M at the nodes of lines, one per row, in units of 2^-53 M(Re s)."""
        if self.sigma < NARROW:
            return super().mgf_rounding_along(s)
        return _units(s, self.move / self.sigma, float(self.move))

    @property
    def mgf_rounding(self) -> float:
        """A typical rounding error of M(s), in units of 2^-53 M(Re s)."""
        return super().mgf_rounding if self.sigma < NARROW else 10.0


def integer_gaussian(sigma: float, move: int) -> Curve:
    """Return the exact curve, or a certified bracket where the noise takes too many integers to list them."""
    if listed(sigma, move) <= MOST_INTEGERS:
        return IntegerGaussian(sigma, move)
    from dpcore.curves.composed import Certified  # noqa: PLC0415  products are made of curves

    return Certified([(IntegerGaussians([(sigma, move, 1)]), 1)])


def masses(sigma: float) -> FloatArray:
    """Return the probabilities of the integers from -reach to reach."""
    x = np.arange(float(reach(sigma)) + 1.0)
    half = np.exp(-(x**2) / (2.0 * sigma**2))
    half /= normaliser(sigma)
    return np.concatenate((half[:0:-1], half))


def normaliser(sigma: float) -> float:
    """Return the sum of e^(-n^2 / (2 sigma^2)) over the integers: directly, or from its Poisson sum for wide noise.

    Both have a handful of terms on their side of `NARROW`; those left out are below e^-170 of the sum.
    """
    if sigma < NARROW:
        n = np.arange(1.0, 15.0)
        return float(1.0 + 2.0 * np.sum(np.exp(-(n[::-1] ** 2) / (2.0 * sigma**2))))
    levels = [2.0 * (math.pi * sigma * m) ** 2 for m in (3, 2, 1)]
    return sigma * math.sqrt(2.0 * math.pi) * (1.0 + 2.0 * sum(math.exp(-level) for level in levels))


class IntegerGaussians(Curve):
    """A product of discrete Gaussians of different widths, as one factor of a certified contour integral.

    Parameters
    ----------
    parts : sequence of tuple of (float, int, int)
        Sigma, move and number of copies of each, every sigma at least 0.8.
    """

    exact, certified, is_product = False, True, True
    method = "tensor product, contour integral"

    def __init__(self, parts: Sequence[tuple[float, int, int]]) -> None:
        table = np.array(sorted(parts, key=lambda part: part[0] ** 2 / part[1]), dtype=np.float64)
        self.sigma, self.move, self.count = np.ascontiguousarray(table.T)
        self._mu = float(np.sqrt(np.sum(self.count * (self.move / self.sigma) ** 2)))
        self.loss_scale = self._mu
        self._half_period = math.pi * self.sigma**2 / self.move

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket of the product."""
        from dpcore.curves.composed import Certified  # noqa: PLC0415  products are made of curves

        return Certified([(self, 1)]).delta_bounds(epsilon)

    def inverse(self) -> Curve:
        """Return itself: the curve is symmetric."""
        return self

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the transform of a normal law, with T of those parts where it differs from 1."""
        s = np.asarray(s, dtype=np.complex128)
        out = np.asarray((0.5 * self._mu**2) * (s * s + s), dtype=np.complex128)
        flat, result = s.ravel(), out.ravel()
        far = self._is_far(float(np.abs(flat.imag).max(initial=0.0)))
        if far.any():
            parts = self.sigma[far], self.move[far], self.count[far]
            result += _log_mgf(flat, *parts) - _gaussian(flat, *parts)
        return result.reshape(s.shape)

    def _is_far(self, tall: float) -> NDArray[np.bool_]:
        """Return which parts have a factor T other than 1, up to an imaginary part."""
        return np.asarray(self._half_period - _NOTHING / (2.0 * math.pi * self.move) <= tall, dtype=np.bool_)

    def cumulants(self, c: FloatArray) -> Bounds:
        """Return log M and its derivative at real c."""
        c = np.asarray(c, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            value, slope = 0.5 * self._mu**2 * (c * c + c), 0.5 * self._mu**2 * (2 * c + 1)
            narrow = self.sigma < _PLAINLY_NORMAL
            for sigma, move, count in np.stack((self.sigma, self.move, self.count))[:, narrow].T.tolist():
                weight = 2.0 * math.exp(-2.0 * (math.pi * sigma) ** 2)
                angle = 2.0 * math.pi * move * np.fmod(c, 1.0)
                value += count * (np.log1p(weight * np.cos(angle)) - math.log1p(weight))
                slope -= count * weight * np.sin(angle) * 2.0 * math.pi * move / (1.0 + weight * np.cos(angle))
        return value, slope

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray | float:
        """Return the rounding error of M at the nodes of lines, one per row, in units of 2^-53 M(Re s)."""
        far = self._is_far(float(np.abs(s.imag).max(initial=0.0)))
        return _units(s, self._mu, float(self.count[far] @ self.move[far])) + 1e-3 * float(self.count.sum())

    @property
    def mgf_rounding(self) -> float:
        """A typical rounding error of M(s), in units of 2^-53 M(Re s)."""
        return 10.0 + 1e-3 * float(self.count.sum())

    @property
    def decay_cell(self) -> float:
        """Length of a cell of `decay_between` over which the parts that carry the bound change little."""
        periods = np.sort(2.0 * self._half_period)[-_SPREAD:]
        return float(_STEADY * periods[0] / (2.0 * math.pi))

    def decay_between(self, ends: FloatArray) -> FloatArray:
        """Return an upper bound of log(abs(M(c+iY))/M(c)) for all c and all Y in each cell between two ascending ends.

        Parts that reach a quarter of their period after the cell are normal there and share one sum. No part raises the
        bound, so a cell is left as soon as some of the others have made it small: those with the longest periods, which
        change least over a cell, come first.
        """
        whole, shift = self._quarter_sums
        near = np.searchsorted(0.5 * self._half_period, ends[1:])  # the parts from here on
        total = shift[near] - 0.5 * whole[near] * ends[:-1] ** 2 * (1.0 - 1e-12)
        middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * (ends[1:] - ends[:-1])
        open_ = np.flatnonzero((total > _FADED) & (near > 0))
        last, size = int(near[open_].max(initial=0)), _FIRST_PARTS
        while last and open_.size:  # `last` falls by at least one part each round
            checkpoint()
            first = max(0, last - max(1, min(size, _FACTORS // open_.size)))
            decay = self._decay(slice(first, last), middle[open_], half[open_])
            total[open_] += self.count[first:last] @ np.where(np.arange(first, last)[:, None] < near[open_], decay, 0.0)
            open_ = open_[total[open_] > _FADED]
            last, size = first, 2 * size
        return total

    @Lazy
    def _quarter_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return sums of count move^2 / sigma^2 and of the bracket up to a quarter period, from each part on."""
        square = self.count * (self.move / self.sigma) ** 2
        bracket = self.count * _bracket(self.sigma, np.full(self.sigma.size, 0.5 * math.pi))
        sums = [np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (square, bracket)]
        return sums[0], sums[1]

    def _decay(self, part: slice, middle: FloatArray, half: FloatArray) -> FloatArray:
        """Return the bound of `decay_between` for each of some parts, in cells given by middles and half lengths."""
        sigma, move = self.sigma[part, None], self.move[part, None]
        rate = move / sigma**2
        angle = middle * rate
        v = np.abs(angle - 2.0 * math.pi * np.rint(angle / (2.0 * math.pi)))
        v = np.maximum(v - half * rate * (1 + 1e-9) - 1e-12 * (1.0 + angle), 0.0)
        return np.asarray(np.minimum(_bracket(sigma, v) - 0.5 * (sigma * v) ** 2, 0.0), dtype=np.float64)


def _bracket(sigma: FloatArray, v: FloatArray) -> FloatArray:
    """Return log of the sum over m, over its first term, and of 1 / T(c) at its smallest."""
    square = sigma**2
    others = np.exp(-2.0 * math.pi * square * np.maximum(math.pi - v, 0.0))  # m = 1 over m = 0
    rest = 1.0 + others + 3.0 * np.exp(-2.0 * math.pi**2 * square)
    least = 1.0 - 2.0 * np.exp(-2.0 * math.pi**2 * square) * (1 + 1e-6) - 4.0 * np.exp(-8.0 * math.pi**2 * square)
    return np.asarray(np.log(rest) - np.log(least), dtype=np.float64)


def _gaussian(s: ComplexArray, sigma: FloatArray, move: FloatArray, count: FloatArray) -> ComplexArray:
    return np.asarray(0.5 * float(np.sum(count * (move / sigma) ** 2)) * (s * s + s), dtype=np.complex128)


def _log_mgf(s: ComplexArray, sigma: FloatArray, move: FloatArray, count: FloatArray) -> ComplexArray:
    """Return the sum of the logarithms of the transforms at the points s, in chunks of the parts.

    The imaginary part is reduced to half a period first, where the terms of T do not exceed 1; a period changes the sign of M
    if the move is odd.
    """
    shape, flat = s.shape, s.ravel()
    out = np.zeros(flat.size, dtype=np.complex128)
    size = max(1, _FACTORS // (8 * max(1, flat.size)))
    for start in range(0, sigma.size, size):
        checkpoint()
        part = slice(start, start + size)
        width, by, copies = sigma[part, None], move[part, None], count[part]
        period = 2.0 * math.pi * width**2 / by
        turns = np.rint(flat.imag / period)
        reduced = flat.real + 1j * (flat.imag - turns * period)
        total = np.ones(reduced.shape, dtype=np.complex128)
        at_zero = np.ones(width.shape)
        phase = np.exp(2j * math.pi * by * np.fmod(flat.real, 1.0))
        up = 2.0 * math.pi * by * reduced.imag
        for m in range(1, _TERMS + 1):
            level = -2.0 * (math.pi * width * m) ** 2
            power = phase**m
            total += np.exp(level - m * up) * power + np.exp(level + m * up) * np.conj(power)
            at_zero += 2.0 * np.exp(level)
        one = (0.5 * (by / width) ** 2) * (reduced * reduced + reduced) + np.log(total / at_zero)
        one.imag += math.pi * np.fmod(by * turns, 2.0)
        out += copies @ one
    return out.reshape(shape)


def _units(s: ComplexArray, mu: float, moves: float) -> FloatArray:
    """Bound the rounding of a product with total mean mu, in units of 2^-53.

    The normal exponent has a handful of roundings. For parts with a factor T (`moves` is the sum of their moves) there are
    ten more for each, and the imaginary part is off by three units of itself after the reduction: log M then changes by
    at most mu^2 (abs(s) + 1) + 2 pi times the sum of the moves as fast.
    """
    size = np.abs(s)
    units = 10.0 + 8.0 * mu**2 * (size * size + size)
    if moves:
        units += 10.0 * moves + 3.0 * np.abs(s.imag) * (mu**2 * (size + 1.0) + 2.0 * math.pi * moves)
    return np.asarray(units, dtype=np.float64)
