r"""Exact k-fold composition of the Laplace mechanism: atoms on a lattice plus a piecewise polynomial.

Let :math:`t` be the privacy loss and :math:`d\mu = \sqrt{dP_0\,dP_1}`. One Laplace step of loss
:math:`\varepsilon_0` has, in the depth :math:`y = (\varepsilon_0 - t)/(2\varepsilon_0) \in [0, 1]` below the
largest loss,

.. math:: 2 e^{\varepsilon_0/2}\,\mu = A + \varepsilon_0 U,

with :math:`A` two unit atoms at 0 and 1 and :math:`U` uniform on (0, 1). Depths add, hence

.. math:: 2^k e^{k\varepsilon_0/2}\,\mu^k = \sum_{j=0}^{k} \binom{k}{j} \varepsilon_0^j\, A^{k-j} * N_j

with the cardinal B-splines :math:`N_j` (j uniforms added): atoms :math:`\binom ki` at depth i, and on every cell
(m, m+1) a polynomial. Polynomials are represented by their Bernstein coefficients, where the B-spline recurrence

.. math:: j N_{j+1}(x) = x N_j(x) + (j + 1 - x) N_j(x - 1),

degree elevation, cutting a cell at a point and integration against exponentials only add and multiply
non-negative numbers: nothing cancels, and no grid is involved.

**Order.** The sum stops at the order J with P(Bin(k, ε0/(2+ε0)) > J) <= 1e-22. The hinge in δ is convex in t and
U is smaller than A/2 in convex order, so the share of the j-th term in δ falls with j: at every ε the omitted terms are
at most that tail in relative terms (Chebyshev's sum inequality).

**Rounding.** Each of the J steps, and each of the J cuts of a cell, costs a few units of roundoff u in relative
terms; about 15 J u in all, 2e-12 for J = 1000 in the worst case.

References
----------
.. [1] C. de Boor, *A Practical Guide to Splines*, Springer 2001, chapters IX and X.
.. [2] R. T. Farouki, "The Bernstein polynomial basis: a centennial retrospective", CAGD 29 (2012).
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtrc

from dpcore.core.domains import COUNT, POSITIVE
from dpcore.core.effort import checkpoint, claim
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

MAX_EPSILON = 500.0  # largest ε0: the series of its exponential then has a thousand terms
MAX_REACH = 8e4  # largest k ε0: in the top cell the density grows by exp(2 sqrt(k ε0)), which must stay a double
_OMITTED, _FAR = 1e-22, 9.75  # tail beyond the order that is left out, and its normal quantile
_EPSILON = POSITIVE.but(name="epsilon", high=MAX_EPSILON)
_CELLS = COUNT.but(name="cells")
_RENORMALISE = 8  # steps between two rescalings of the cells, which keep their coefficients within doubles
_BLOCK = 16384  # coefficients at once: they stay in the processor's cache
_NEGLIGIBLE = 1e-290  # of the largest coefficient of a cell: smaller ones are past its peak, and slow as subnormals
_CHUNK = 100_000  # coefficients of the points evaluated at once
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # 32 bits: integer multiples below 2^20 are exact
_LN2_LOW = 1.9082149292705877e-10


class LaplacePower:
    r"""The k-fold Laplace mechanism: δ(ε), false positive rate and power, each to relative 1e-11.

    Built once for a pair (ε0, k), then evaluated at any number of points; immutable.

    Parameters
    ----------
    epsilon : float
        Privacy loss ε0 of one step, sensitivity over scale, in (0, 500]; k ε0 at most 80000.
    k : int
        Number of steps, at least 1.
    cells : int, optional
        Compute only the top cells, each 2 ε0 wide, that is losses above `lowest` = (k - 2 cells) ε0;
        None computes all. See `cells_above`.

    Examples
    --------
    >>> f"{LaplacePower(10.0, 100).delta(998.9002).item():.6e}"
    '1.538520e-26'
    """

    def __init__(self, epsilon: float, k: int, cells: int | None = None) -> None:
        self.epsilon, self.k = _checked(epsilon, k)
        half = (self.k + 1) // 2
        self.cells = half if cells is None else min(half, _CELLS.check(cells))
        self.complete = self.cells == half
        self.lowest = -math.inf if self.complete else (self.k - 2 * self.cells) * self.epsilon
        self.order = _order(self.epsilon, self.k)
        self._coefficients, shift = _density(self.epsilon, self.k, self.order, self.cells)
        self._set_masses(shift - self.k)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        r"""Return :math:`\delta(\varepsilon) = \int_{t>\varepsilon} (1 - e^{\varepsilon - t})\,dP_1` for real ε.

        For ε < 0 by symmetry of the pair: δ(ε) = (1 - e^ε) + e^ε δ(-ε), two non-negative terms.
        0 means that no event reveals the neighbour beyond e^ε, 1 that some event reveals it for certain.
        """
        points = _points(epsilon)
        flat = np.abs(points).ravel()
        inside = self._above(np.zeros(1, dtype=np.int64), flat) > 0
        self._refuse_below(flat[inside])
        tail = np.zeros(points.shape)
        tail.reshape(-1)[inside] = self._in_chunks(self._hinge, flat[inside])
        below = np.minimum(points, 0.0)
        return np.asarray(np.where(points < 0, -np.expm1(below) + np.exp(below) * tail, tail), dtype=np.float64)

    def alpha(self, epsilon: ArrayLike, *, at_least: bool = False) -> FloatArray:
        """Return the false positive rate P0(L > ε), or P0(L >= ε) with `at_least`.

        A threshold within two units in the last place of an atom counts as lying on it.
        """
        return self._exceeding(epsilon, at_least=at_least, null=True)

    def power(self, epsilon: ArrayLike, *, at_least: bool = False) -> FloatArray:
        """Return the true positive rate P1(L > ε), or P1(L >= ε) with `at_least`; ties as in `alpha`."""
        return self._exceeding(epsilon, at_least=at_least, null=False)

    # ------------------------------------------------------------------ building

    def _set_masses(self, shift: IntArray) -> None:
        """Integrate every cell against the exponentials; `shift` holds the binary exponents of the cells."""
        k, cells, rate = self.k, self.cells, self.epsilon
        self._moments = _moments(self.order, _series_length(rate))
        weight = _poisson(np.array([rate]), self._moments.shape[1])[0]
        mantissa, exponent = _exponentials(rate, k + 1)
        cell = np.arange(k if self.complete else cells)
        stored = np.minimum(cell, k - 1 - cell)
        # e^(-ε0 m) and e^(-ε0 (k-1-m)) times the scale of the cell: P1 and P0 at its upper end, lower end
        self._scale = np.ldexp(mantissa[cell], exponent[cell] + shift[stored])
        self._null_scale = np.ldexp(mantissa[k - 1 - cell], exponent[k - 1 - cell] + shift[stored])
        even, odd = self._moments[:, ::2] @ weight[::2], self._moments[:, 1::2] @ weight[1::2]
        self._cosh = self._scale[:cells] * (self._coefficients @ even)
        self._sinh = self._scale[:cells] * (self._coefficients @ odd)
        top = self._cosh + self._sinh
        null = self._null_scale[:cells] * (self._coefficients @ (even + odd)[::-1].copy())
        count, digits = _binomials(k, k + 1 if self.complete else cells + 1)
        index = np.arange(len(count))
        self._atoms = np.ldexp(count * mantissa[index], digits + exponent[index] - k)
        null_atoms = np.ldexp(count * mantissa[k - index], digits + exponent[k - index] - k)
        if self.complete:  # the mirror image of a cell swaps the two hypotheses
            top = np.concatenate([top, null[: k - cells][::-1]])
            null = top[::-1]
        self._cell_sums = _sums(top), _sums(null)
        self._atom_sums = _sums(self._atoms), _sums(null_atoms)

    # ---------------------------------------------------------------- evaluation

    def _hinge(self, epsilon: FloatArray) -> FloatArray:
        """δ at points of [0, k ε0), in the positive form of each cell's sinh((t - ε)/2)."""
        cells = self.cells
        gap = self._above(np.arange(cells + 1), epsilon[:, None])
        drop = -np.expm1(-np.maximum(gap, 0.0))
        total = drop[:, :cells] @ self._atoms[:cells]
        cell, part = self._locate(epsilon, cells - 1)
        full = np.arange(cells) < cell[:, None]
        # with a = (cell's lower end - ε)/2:  sinh(a + b) = sinh a cosh b + cosh a sinh b
        below = drop[:, 1:]
        total += (below * full) @ self._cosh + ((2.0 - below) * full) @ self._sinh
        cut = _cut(self._coefficients[cell], part) @ self._moments
        weight = _poisson(self.epsilon * part, self._moments.shape[1])
        total += self._scale[cell] * 2.0 * part * (cut[:, 1::2] * weight[:, 1::2]).sum(axis=1)
        return np.asarray(np.minimum(total, 1.0), dtype=np.float64)

    def _exceeding(self, epsilon: ArrayLike, *, at_least: bool, null: bool) -> FloatArray:
        points = _points(epsilon)
        reach = 2.0 * self.k * self.epsilon
        flat = np.clip(points, -reach, reach).ravel()
        self._refuse_below(flat)
        result = self._in_chunks(lambda part: self._mass_above(part, at_least, null), flat)
        return result.reshape(points.shape)

    def _mass_above(self, epsilon: FloatArray, at_least: bool, null: bool) -> FloatArray:
        nearest = self._nearest(epsilon)
        height = self._above(nearest, epsilon)
        tie = np.abs(height) <= 4 * 2.0**-53 * np.abs(epsilon)
        atoms = np.where(tie, nearest + at_least, nearest + (height > 0))
        atoms = np.clip(atoms, 0, len(self._atoms))
        cell, part = self._locate(epsilon, len(self._scale) - 1)
        part = np.where(tie, (cell < nearest).astype(np.float64), part)
        mirrored = cell >= self.cells
        rows = self._coefficients[np.where(mirrored, self.k - 1 - cell, cell)]
        rows[mirrored] = rows[mirrored, ::-1]
        rows = _cut(rows, part)
        weight = _poisson(self.epsilon * part, self._moments.shape[1])
        if null:
            outer = self._null_scale[cell] * np.exp(-self.epsilon * (1.0 - part))
            rows = rows[:, ::-1].copy()  # a reversed view would miss the fast matrix product
        else:
            outer = self._scale[cell]
        inner = ((rows @ self._moments) * weight).sum(axis=1)
        total = self._atom_sums[null][atoms] + self._cell_sums[null][cell] + outer * part * inner
        return np.asarray(np.minimum(total, 1.0), dtype=np.float64)

    def _above(self, index: IntArray, epsilon: FloatArray) -> FloatArray:
        """Height (k - 2i) ε0 - ε of atom i above ε, to about an ulp of ε0 even where it nearly vanishes."""
        high, low = _split(self.epsilon)
        steps = (self.k - 2 * index).astype(np.float64)
        return np.asarray((steps * high - epsilon) + steps * low, dtype=np.float64)

    def _nearest(self, epsilon: FloatArray) -> IntArray:
        return np.rint((self.k * self.epsilon - epsilon) / (2.0 * self.epsilon)).astype(np.int64)

    def _locate(self, epsilon: FloatArray, last: int) -> tuple[IntArray, FloatArray]:
        """Cell that contains ε, or the nearest of 0..last, and the part of it, in [0, 1], above ε."""
        nearest = self._nearest(epsilon)
        cell = np.clip(nearest - (self._above(nearest, epsilon) < 0), 0, last)
        return cell, np.clip(self._above(cell, epsilon) / (2.0 * self.epsilon), 0.0, 1.0)

    def _refuse_below(self, epsilon: FloatArray) -> None:
        if epsilon.size and epsilon.min() < self.lowest:
            msg = f"epsilon must be at least {outward(self.lowest, 6)} with {self.cells} cells, got {nearest(epsilon.min())}."
            raise DomainError(msg)

    def _in_chunks(self, function: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
        step = max(1, _CHUNK // max(self.order, self.cells, self._moments.shape[1]))
        parts = [np.zeros(0)]
        for start in range(0, len(points), step):
            checkpoint(start / len(points))
            parts.append(function(points[start : start + step]))
        return np.concatenate(parts)


@lru_cache(maxsize=16)
def laplace_power(epsilon: float, k: int, cells: int | None = None) -> LaplacePower:
    """Return the k-fold Laplace mechanism, cached for the next caller."""
    return LaplacePower(epsilon, k, cells)


def cells_above(epsilon: float, k: int, lowest: float) -> int:
    """Return how many top cells cover every ε with |ε| >= `lowest` for k steps of loss `epsilon`."""
    epsilon, k = _checked(epsilon, k)
    cells = math.ceil((k * epsilon - lowest) / (2.0 * epsilon)) + 1 if lowest < k * epsilon else 1
    return max(1, min((k + 1) // 2, cells)) if lowest > 0 else (k + 1) // 2


def cost(k: int, cells: int, epsilon: float = MAX_EPSILON) -> float:
    """Return roughly the seconds to build `LaplacePower` and evaluate eight points; without ε0, for the slowest ε0."""
    order = _likely_order(epsilon, k)
    width = min(cells, (order + 1) // 2)
    growth = min(order, 2 * width)
    elements = growth**3 / 6 + width * (order**2 - growth**2) / 2
    spread = 0.0 if order == k else float(min(cells, order)) * cells * order
    return 5e-4 + 7e-5 * order + 2e-8 * elements + 1e-10 * spread


def reach(epsilon: float, k: int) -> bool:
    """Return whether doubles can represent the splines of k steps of loss `epsilon`."""
    return 0 < epsilon <= MAX_EPSILON and k * epsilon <= MAX_REACH


def _checked(epsilon: float, k: int) -> tuple[float, int]:
    epsilon, k = float(epsilon), operator.index(k)
    _EPSILON.check(epsilon)
    if k < 1 or k * epsilon > MAX_REACH:
        msg = f"k must be at least 1 and k epsilon at most {nearest(MAX_REACH)}, got k={k} with epsilon={numeral(epsilon)}."
        raise DomainError(msg)
    return epsilon, k


def _points(epsilon: ArrayLike) -> FloatArray:
    points = np.asarray(epsilon, dtype=np.float64)
    if np.isnan(points).any():
        msg = "epsilon must be a real number or infinite, got nan."
        raise DomainError(msg)
    return points


def _likely_order(epsilon: float, k: int) -> int:
    """About `_order`, from the first three moments of the number of uniforms."""
    share = epsilon / (2.0 + epsilon)
    mean = k * share
    deviation = math.sqrt(mean * (1.0 - share))
    skew = max(0.0, 1.0 - 2.0 * share) * (_FAR**2 - 1.0) / 6.0
    return max(1, min(k, math.ceil(mean + _FAR * deviation + skew)))


def _order(epsilon: float, k: int) -> int:
    """Smallest number J of uniforms with P(Bin(k, ε0/(2 + ε0)) > J) <= 1e-22, at least 1."""
    share = epsilon / (2.0 + epsilon)
    low, high = -1, k  # more than low, at most high
    while high - low > 1:  # halves: one round for each binary digit of k
        middle = (low + high) // 2
        low, high = (low, middle) if bdtrc(middle, k, share) <= _OMITTED else (middle, high)
    return max(1, high)


def _density(epsilon: float, k: int, order: int, cells: int) -> tuple[FloatArray, IntArray]:
    """Bernstein coefficients (cell, index) of the top cells of (A + ε0 U)^k, and their binary exponents.

    Horner's scheme in A: r <- A r + W with W = C(k, j) ε0^j N_j, both symmetric about j/2, so only the upper half of
    their cells is stored; the remaining A^(k - J) is one product with a Toeplitz matrix.
    """
    width = min(cells, (order + 1) // 2)
    claim(8.0 * (2 * width * order + 8 * cells * order), f"Laplace({nearest(epsilon)}) composed {k} times")
    # row m + 1 belongs to cell m; row 0 is the zero above the top cell
    term, total = np.zeros((width + 1, order)), np.zeros((width + 1, order))
    term[1, 0] = total[1, 0] = k * epsilon
    shift = np.zeros(2, dtype=np.int64)
    for j in range(1, order):
        stored = len(shift) - 1
        if j % 2 == 0 and stored < width:
            for rows in (term, total):
                rows[stored + 1, :j] = rows[stored, j - 1 :: -1]
            shift = np.append(shift, shift[-1])
        ratio = np.ldexp(1.0, shift[:-1] - shift[1:])
        _step(term[: len(shift)], total[: len(shift)], j, ratio, epsilon * (k - j) / (j * (j + 1.0)))
        if j % _RENORMALISE == 0:
            shift = _renormalise(term[: len(shift), : j + 1], total[: len(shift), : j + 1], shift)
        checkpoint((j / order) ** 3)
    shift = _renormalise(term[: len(shift)], total[: len(shift)], shift)[1:]
    total = total[1:]
    mirror = order - 1 - np.arange(width, min(cells, order))
    total = np.concatenate([total, total[mirror, ::-1]])
    shift = np.concatenate([shift, shift[mirror]])
    return (total, shift) if order == k else _spread(total, shift, k - order, cells)


def _step(term: FloatArray, total: FloatArray, j: int, ratio: FloatArray, factor: float) -> None:
    """One more uniform, in place: W <- factor j (W * U) by the B-spline recurrence, r <- A r + W.

    On cell m, x = m (1-u) + (m+1) u; a product with a linear function p (1-u) + q u turns the coefficients
    c of degree j-1 into (1 - i/j) p c_i + (i/j) q c_(i-1). `ratio` is the scale of cell m-1 over that of m.
    Blocks of rows, from the bottom up since a cell needs the old one above it, stay in the processor's cache.
    """
    rise, fall = np.arange(1, j + 1) / j, np.arange(j, 0, -1) / j
    step = max(1, _BLOCK // j)
    for stop in range(len(ratio), 0, -step):
        start = max(0, stop - step)
        here, above, scale = slice(start + 1, stop + 1), slice(start, stop), ratio[start:stop, None]
        cell = np.arange(start, stop, dtype=np.float64)[:, None]
        old, upper = term[here, :j], term[above, :j] * scale
        left = old * (factor * cell) + upper * (factor * (j + 1 - cell))
        right = old * (factor * (cell + 1)) + upper * (factor * (j - cell))
        both = total[here, :j] + total[above, :j] * scale
        left *= fall
        right *= rise
        old[:] = left
        term[here, 1 : j + 1] += right
        left += both * fall
        right += both * rise
        total[here, :j] = left
        total[here, 1 : j + 1] += right


def _renormalise(term: FloatArray, total: FloatArray, shift: IntArray) -> IntArray:
    """Scale each cell to a largest coefficient in [1/2, 1); return the new binary exponents."""
    exponent = np.frexp(total.max(axis=1))[1].astype(np.int64)
    scale = np.ldexp(1.0, -exponent)[:, None]
    total *= scale
    term *= scale
    term *= term > _NEGLIGIBLE
    return np.asarray(shift + exponent, dtype=np.int64)


def _spread(total: FloatArray, shift: IntArray, power: int, cells: int) -> tuple[FloatArray, IntArray]:
    """Apply A^power: cell m receives C(power, m - i) times cell i."""
    count, digits = _binomials(power, cells)
    lag = np.arange(cells)[:, None] - np.arange(len(total))
    reached = (lag >= 0) & (lag <= power)
    lag = np.where(reached, lag, 0)
    exponent = np.where(reached, digits[lag] + shift, np.iinfo(np.int32).min)
    top = exponent.max(axis=1)
    matrix = np.where(reached, np.ldexp(count[lag], np.maximum(exponent - top[:, None], -2000)), 0.0)
    return matrix @ total, top


def _binomials(n: int, count: int) -> tuple[FloatArray, IntArray]:
    """C(n, i) for i < count as mantissas in [1/2, 1] and binary exponents, each correct to 2^-53."""
    mantissa, exponent = np.zeros(count), np.zeros(count, dtype=np.int64)
    value = 1
    for i in range(min(count, n + 1)):
        exponent[i] = value.bit_length()
        drop = max(0, int(exponent[i]) - 64)
        mantissa[i] = math.ldexp(value >> drop, drop - int(exponent[i]))
        value = value * (n - i) // (i + 1)
    return mantissa, exponent


def _exponentials(rate: float, count: int) -> tuple[FloatArray, IntArray]:
    """e^(-rate i) for i < count as mantissas and binary exponents, free of the rounding of rate i."""
    high, low = _split(rate)
    index = np.arange(count, dtype=np.float64)
    halvings = np.rint(index * rate / math.log(2.0))
    rest = (halvings * _LN2_HIGH - index * high) + (halvings * _LN2_LOW - index * low)
    return np.exp(rest), -halvings.astype(np.int64)


def _split(value: float) -> tuple[float, float]:
    """Write value = high + low, with 26 bits in high: integer multiples of both below 2^26 are exact."""
    mantissa, exponent = math.frexp(value)
    high = math.ldexp(round(math.ldexp(mantissa, 26)), exponent - 26)
    return high, value - high


def _series_length(rate: float) -> int:
    """Terms of the exponential series after which the rest is below 1e-18 of the first odd term."""
    length, term = 2, rate / 2.0
    # beyond length = 2 rate every term is at most half the one before; rate is at most `MAX_EPSILON`
    while term > 1e-18 or length < 2.0 * rate + 2.0:
        length += 1
        term *= rate / length
    return length + 1


def _moments(count: int, length: int) -> FloatArray:
    r"""Moments :math:`\int_0^1 B_i(y) (1-y)^l dy` of the `count` Bernstein polynomials, l < length."""
    claim(16.0 * count * length, "moments of the Bernstein polynomials")
    index, power = np.arange(count)[:, None], np.arange(length - 1)
    factors = np.full((count, length), 1.0 / count)
    factors[:, 1:] = (count - index + power) / (count + 1.0 + power)
    return np.cumprod(factors, axis=1)


def _poisson(rate: FloatArray, length: int) -> FloatArray:
    """Weights e^-c c^l / l! for l < length, one row for each rate c."""
    factors = np.empty((len(rate), length))
    factors[:, 0] = np.exp(-rate)
    factors[:, 1:] = rate[:, None] / np.arange(1.0, length)
    return np.asarray(np.cumprod(factors, axis=1), dtype=np.float64)


def _cut(rows: FloatArray, part: FloatArray) -> FloatArray:
    """Bernstein coefficients on (0, part) of the polynomials in `rows` (de Casteljau's algorithm)."""
    result = np.empty_like(rows)
    keep, move = (1.0 - part)[:, None], part[:, None]
    for i in range(rows.shape[1]):
        result[:, i] = rows[:, 0]
        rows = rows[:, :-1] * keep + rows[:, 1:] * move
    return result


def _sums(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
