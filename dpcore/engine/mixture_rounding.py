r"""How far the transform of `mixture_mgf` can be off: a bound of all its errors, computed from the numbers that were added up.

Hypotheses. Every operation of doubles has a relative error of at most u = 2^-53, without over- or underflow that counts, and
every library function (exp, expm1, log, log1p, sin, cos, arctan2) one of at most `LIBRARY` units, two units in the last place.
A product of complex numbers has one of at most sqrt(5) u. Sums of n terms: n - 1 additions one after the other, or in pairs.
Everything below is in units of u and of first order; 1 % is added for the rest, which is right while no exponent is off by
more than 1 %, and otherwise `LineRounding.units` returns the trivial bound.

Ratio. Let m be the largest move, l = log r(x), g = 1 - rest/r the share of the terms that move and G = g + (1 - rest)/r. The
nodes x are multiples of 2^-10, so x and x^2/2 are exact, and the exponent m x - m^2/2 of a term has an error of at most
D = 2 (m |x| + m^2/2). In each of the forms of `Jumps.log_ratio` (with J moves) the error of l is then at most

.. math:: E_l = 3 g D + 2 (\lambda + 4) G + (\lambda + 2) |l|,

because the derivative of l in such an exponent is the share of its term; the difference r - 1 has a relative error of
lambda + 2 and is at most G r (G <= 3 for r >= 1/2, and a smaller r is a sum of
positive terms, with an error of lambda + 4 at most); and where log q is added, it is smaller than the exponent. Above the axis, at angles up to 3/4,
the terms of r - 1 have relative errors of at most 3 lambda + 6 + J beyond D, so log r is off by at most

.. math:: E = g' D + (41 + 2J) G' + (\lambda + 1)(|\log|r|| + \arg r), \qquad g' = g\,r/|r|,\; G' = G\,r/|r|

(24 + 2J of the 41 + 2J for r - 1, the rest for \|r\|^2 - 1 = a (2 + a) + b^2 with \|r\| >= 1/2 and \|r\| >= 0.73 r). Where the
largest term is put in front, logarithms of the shares are added: g' (lambda + 3)(Lambda + D/2) + 2 (2 lambda + 4 + J) +
lambda (|log rest| + log(J + 1)) + 2 more, Lambda the largest |log share|; and the same on the axis for several moves.

Weights. Node j has the weight w_j = e^{(c+1) log r + log phi}, added up from known numbers: each addition or product
has the error of its result. With a = (c+1) log|r| + log|phi|, f = a - log M(c) and v the angle of phi

.. math:: e_j = |c+1| E + 2 |(c+1) \log|r|| + |a| + |f| + 2 |\log|\varphi|| + 3 |c+1| \arg r + 2 |v| + 2 \lambda + 3 .

Phases. e^{iy log r} is a product of 17 exponentials (eight for each of the two tables, one for the start), each with an error of
2 lambda + 1, and of some 17 products of complex numbers: `_PHASES` in all, relative to e^{-y arg r}. Its angle is off by y B,
B = E + 12 (|log|r|| + arg r): three roundings, and 8 units for values of y that are evenly spaced only up to `EVEN`. Since
y e^{-y t} <= min(y, 1/(e t)), the sum over the nodes is at most

.. math:: \sum_j |w_j| \left(e_j + \mathrm{PHASES} + \mathrm{DEPTH} + n/\mathrm{DEPTH} + B_j \min\{Y, 1/(e \arg r_j)\}\right),
          \qquad |y| \le Y .

Logarithm. log|M| is off by lambda |log v|, v = |M(s)|/M(c), and |log v| <= 1/(e v); the argument by pi lambda: below 16/v.
log M(c) is subtracted from every exponent and added again: its error cancels. On the axis it remains, and is the mean of
|c+1| E_l + 2 |(c+1) l| + |a| + |f| + |log phi| + lambda, and 32 + log2 n for the sum in pairs, lambda |log| for its logarithm.

Quadrature. No node is left out between two kept ones, and those beyond the ends have less than the weight of the
last one times e^{-8.7 i step}, i = 1, 2, ... On the right, and for c >= -1 on the left, this is the slope of log w: r'/r is a
mean of moves, between 0 and the largest, also above the axis as long as all angles differ by less than pi/2. For c < -1 log w is
concave, and its slope at the left end is that of the first two nodes. The rule itself misses at most 2 A/(e^{2 pi t/h} - 1), A
the largest integral of |w| at the heights from 0 to 2t, and t/h >= `STEPS`. For c >= -1 A <= e^{2 t^2} <= e^2 (t <= 1), since
|r(x + ib)| <= r(x). For c < -1 and one move of share g, |r(x+ib)|^2 = r^2 (1 - 4 g (1-g) sin^2(m b/2)), and for m b <= 3/2
-log(1 - 4 g(1-g) sin^2(mb/2)) <= 1.111 g(1-g) (mb)^2, so A <= e^{1.111 w (2t)^2/2} <= e^{4.45} (w t^2 <= 2, w of
`mixture_mgf._bend`); for several moves |r(x+ib)|^2 = r^2 E cos(b (m - m')) >= r^2 (1 - b^2 V) with b^2 V <= 9/16 gives 1.47
instead of 1.111. (Where x is so large that the bound of the bend does not hold, |r| is larger still and the normal mass is
below 2e-18.) In units of u: below 0.3, 3 and 12.

On the axis alone (`mixture_mgf.cumulants`) the steps h are larger: at most 1/4, 1/(4m) and 3/(8 sqrt(w)). The strip may have any
half width a with m a <= 3/2, and A <= e^{1.111 w a^2/2}. For c >= -1 A <= e^{a^2/2}, and a = min(6, 3/(2m)) gives
2 pi a/h - a^2/2 >= 36.6. For c < -1 let z = a/h and a* = 2 pi/(1.111 w h); w h^2 <= 9/64, so a/a* <= 0.0249 z. If a* m <= 3/2,
a = a* gives 2 pi^2/(1.111 w h^2) >= 126. Otherwise a = 3/(2m) < a*, z >= 6, and 2 pi z (1 - a/(2 a*)) >= 2 pi z (1 - 0.0125 z) is
smallest at z = 6: 34.9. With 1.47 instead of 1.111: 34.0. So the rule misses at most 2 e^{-36.6}, 2 e^{-34.9} and 2 e^{-34.0} of M(c):
3, 13 and 32 units.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.rounding import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.engine.normal_jumps import Jumps

    FloatArray = NDArray[np.float64]

PAIRS = 32.0
"""Units of a sum in pairs of n terms, beyond log2(n): blocks of 128 are summed by eight chains of sixteen."""

LIBRARY = 4.0
"""Error of a library function in units of 2^-53 of its value: two units in the last place, twice what libraries state."""

ROOM = 8.7  # standard deviations around the peak: beyond, the normal weight is below 1e-16
STEPS = 6.5  # steps per height of a path: e^(-2 pi 6.5) is below 2e-18; fewer would lose digits of M
OCTET = 8  # powers from one exponential
DEPTH = 64  # terms of a sum that a library may add in any order
EVEN = 2.0**-50  # points are evenly spaced if they are off by at most eight units of themselves

_PHASES = (2 * OCTET + 1) * (2.0 * LIBRARY + 1.0) + 17.0 * math.sqrt(5.0)
_LOGARITHM = 16.0
_AXIS, _AXIS_LEFT, _AXIS_MIXED = 3.0, 13.0, 32.0  # the same as `_RULE` for the rule on the axis alone
_RULE, _RULE_LEFT, _RULE_MIXED = (
    0.3,
    3.0,
    12.0,
)  # units of the trapezoidal rule: for c >= -1, for c < -1, and for c < -1 with several moves
_SECOND = 1.01  # factor for terms of second order and the roundings of this bound


class MixturePath(NamedTuple):
    """Nodes x of a path at one height, and what does not depend on the exponent.

    `size` and `turn` are log|r| and arg r, `weight` and `angle` the logarithm of the normal weight times the step and its
    argument. `flat` and `flat_weight` are log r and the logarithm of the weight below the nodes, on the real axis.
    """

    x: FloatArray
    height: float
    size: FloatArray
    turn: FloatArray
    weight: FloatArray
    angle: FloatArray
    flat: FloatArray
    flat_weight: FloatArray


class _Terms(NamedTuple):
    """Sizes from which the errors of log r follow, at each node: D, g, G of the proof, and what large moves add."""

    exponent: FloatArray
    share: FloatArray
    bulk: FloatArray
    more: FloatArray | float


def _terms(law: Jumps, x: FloatArray, log_ratio: FloatArray) -> _Terms:
    moves, m = len(law.moves), law.largest
    exponent = 2.0 * (m * np.abs(x) + 0.5 * m * m)
    # a difference of numbers near 1: rounded up by more than its own rounding
    share = np.clip(-np.expm1(math.log(law.rest) - log_ratio), 0.0, 1.0) + 1e-12 if law.rest > 0.0 else np.ones(1)
    # a smaller ratio than 1/2 is a sum of positive terms, not 1 plus a difference
    moved = np.exp(np.minimum(math.log(1.0 - law.rest) - log_ratio, 2.0)) if law.rest < 1.0 else 0.0
    bulk = np.minimum(share + moved, 3.0)
    if law.alone and not law.scaled(float(x[-1])):
        return _Terms(exponent, share, bulk, 0.0)
    largest = max(-math.log(p) for p in law.shares)
    still = abs(math.log(law.rest)) if law.rest > 0.0 else 0.0
    more = (LIBRARY + 3.0) * share * (largest + 0.5 * exponent) + 2.0 * (2.0 * LIBRARY + 4.0 + moves)
    return _Terms(exponent, share, bulk, more + LIBRARY * (still + math.log(moves + 1.0)) + 2.0)


def ratio_units(law: Jumps, x: FloatArray, flat: FloatArray) -> FloatArray:
    """Bound the error of log r on the real axis at exact x, in units; `flat` is log r."""
    return _axis_error(_terms(law, x, flat), flat)


def turned_units(law: Jumps, x: FloatArray, flat: FloatArray, turned: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Bound the error of log r at exact x and a height of angles up to 3/4, in units; `turned` is log|r| and arg r, `flat` log r below."""
    return _turned_error(_terms(law, x, flat), flat, turned, len(law.moves))


def _axis_error(terms: _Terms, log_ratio: FloatArray) -> FloatArray:
    """Bound the error of log r on the real axis, in units."""
    own = 3.0 * terms.share * terms.exponent + 2.0 * (LIBRARY + 4.0) * terms.bulk + terms.more
    return np.asarray(own + (LIBRARY + 2.0) * np.abs(log_ratio), dtype=np.float64)


def _path_error(terms: _Terms, path: MixturePath, moves: int) -> FloatArray:
    """Bound the error of log r on a path, in units."""
    return _turned_error(terms, path.flat, (path.size, path.turn), moves)


def _turned_error(terms: _Terms, flat: FloatArray, turned: tuple[FloatArray, FloatArray], moves: int) -> FloatArray:
    size, turn = turned
    up = np.exp(np.minimum(flat - size, 1.0))  # r / |r|
    own = terms.share * terms.exponent + (41.0 + 2.0 * moves) * terms.bulk + terms.more
    return np.asarray(up * own + (LIBRARY + 1.0) * (np.abs(size) + turn), dtype=np.float64)


class AxisRounding:
    """The bound for `mixture_mgf.cumulants`: nodes on the real axis that several exponents share."""

    def __init__(self, law: Jumps, x: FloatArray, log_ratio: FloatArray) -> None:
        self._law, self._step, self._count = law, float(x[1] - x[0]), x.size
        own = _axis_error(_terms(law, x, log_ratio), log_ratio) + 4.0 * np.abs(log_ratio)
        self._sizes = np.stack((own, x * x), axis=1)

    def units(self, power: FloatArray, weight: FloatArray, top: FloatArray) -> FloatArray:
        """Bound the error of log M(c) beyond abs(log M(c)), in units, from the weights, the largest of each row being 1."""
        total = weight.sum(axis=1)
        own, square = (np.einsum("ij,jk->ik", weight, self._sizes) / total[:, None]).T
        tails = (weight[:, 0] + weight[:, -1]) / (ROOM * self._step * total * UNIT)
        rule = np.where(power < 0.0, _AXIS_LEFT if self._law.alone else _AXIS_MIXED, _AXIS)
        sums = PAIRS + (LIBRARY + 1.0) * math.log2(self._count) + LIBRARY * (2.0 + abs(math.log(self._step))) + 8.0
        units = np.abs(power) * own + square + np.abs(top) + tails + rule + sums
        return np.asarray(_SECOND * units, dtype=np.float64)


class LineRounding:
    """The bound for a few lines that share their nodes.

    Parameters
    ----------
    law : Jumps
        The moves.
    path : MixturePath
        All nodes.
    power : ndarray of float
        c + 1 of each line, a column.
    logs : tuple of ndarray of float
        Logarithms of the weights relative to M(c): on the axis, and of their sizes on the path.
    use : slice
        The nodes that are added up.
    """

    def __init__(
        self, law: Jumps, path: MixturePath, power: FloatArray, logs: tuple[FloatArray, FloatArray], use: slice
    ) -> None:
        axis, fall = logs
        step = float(path.x[1] - path.x[0])
        size, turn, count = path.size, path.turn, path.x.size
        terms = _terms(law, path.x, path.flat)
        flat, turned = _axis_error(terms, path.flat), _path_error(terms, path, len(law.moves))
        with np.errstate(under="ignore"):
            weight, own = np.exp(fall), np.exp(axis)
        p = np.abs(power)
        log_total = power * path.flat + path.flat_weight - axis
        each = p * (turned + 2.0 * np.abs(size) + 3.0 * turn) + np.abs(fall + log_total) + np.abs(fall)
        each += 2.0 * (np.abs(path.weight) + np.abs(path.angle)) + 2.0 * LIBRARY + 3.0
        each += _PHASES + DEPTH + count / DEPTH
        total = weight.sum(axis=1)
        scale = LIBRARY * abs(math.log(step / math.sqrt(2.0 * math.pi))) + 4.0
        left = power[:, 0] < 0.0
        rule = np.where(left, _RULE_LEFT if law.alone else _RULE_MIXED, _RULE)
        outside = (self._tails(weight, left, step) + total - weight[:, use].sum(axis=1)) / UNIT
        path_units = (weight * each).sum(axis=1) + _LOGARITHM
        of_axis = p * (flat + 2.0 * np.abs(path.flat)) + np.abs(axis + log_total) + np.abs(axis)
        of_axis += np.abs(path.flat_weight) + LIBRARY
        axis_units = (
            (own * of_axis).sum(axis=1) + PAIRS + (LIBRARY + 1.0) * math.log2(count) + LIBRARY * abs(math.log(step))
        )
        self._base = np.maximum(path_units, axis_units) + outside + rule + scale
        phase = (turned + 12.0 * (np.abs(size) + turn))[use]
        self._phase, self._weight = phase, weight[:, use] * phase
        with np.errstate(divide="ignore", over="ignore"):
            self._longest = np.exp(-1.0) / turn[use]
        self._most = 2.1 * total / UNIT

    @staticmethod
    def _tails(weight: FloatArray, left: NDArray[np.bool_], step: float) -> FloatArray:
        """Bound the sum of the weights beyond both ends."""
        plain = (weight[:, 0] + weight[:, -1]) / (ROOM * step)
        with np.errstate(divide="ignore", invalid="ignore"):
            fall = np.log(weight[:, 1] / weight[:, 0]) * (1.0 - 1e-6)
            steep = np.where(weight[:, 0] > 0.0, weight[:, 0] / np.expm1(fall), 0.0)
        steep = np.where((steep >= 0.0) & ((fall > 0.0) | (weight[:, 0] == 0.0)), steep, np.inf)
        return np.where(left, steep + weight[:, -1] / (ROOM * step), plain)

    def units(self, y: FloatArray) -> FloatArray:
        """Bound the error of M at the heights up to y of each line, in units of 2^-53 M(c)."""
        first = self._base + (self._weight * np.minimum(y[:, None], self._longest)).sum(axis=1)
        sure = y * float(self._phase.max(initial=0.0)) * UNIT <= _SECOND - 1.0
        return np.asarray(np.where(sure, np.minimum(_SECOND * first, self._most), self._most), dtype=np.float64)
