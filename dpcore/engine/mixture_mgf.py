r"""Moment generating function of the loss of a subsampled Gaussian, by the trapezoidal rule off the real axis.

With x standard normal under P0 and r(x) = 1 - q + q e^(mu x - mu^2/2) the likelihood ratio,

.. math:: M(s) = E_0[r^{s+1}] = \int \varphi(x)\, r(x)^{s+1}\, dx .

The integrand is analytic for \|Im x\| < pi/mu, so the path may run at height t above the real axis. There
\|r^{iy}\| = e^{-y arg r} with arg r > 0: the oscillations of the real axis have died out, and

.. math:: |M(c+iY)| \le e^{t^2/2} \int \varphi(x)\, |r(x+it)|^{c+1} e^{-y \arg r(x+it)}\, dx \quad (Y \ge y \ge 0),

a bound of positive terms that falls with y (`log_decay`).

Steps. With A = q e^(mu x - mu^2/2), B = 1 - q, 0 <= a, b <= pi/2 and a + b < pi,
(B + A e^{i(a+b)})(B + A e^{i(a-b)}) has imaginary part 2 A sin(a) (B cos(b) + A cos(a)) >= 0, so the arguments of r at the
heights a + b and a - b (times 1/mu) never add up to less than 0. Both integrands, the one at height t and the positive
one of the bound, are therefore bounded by a small multiple of M(c) in a strip of half width t around their paths
for every y >= 0, and the trapezoidal rule of step t/`STEPS` misses at most e^(-2 pi `STEPS`) of that: below 1e-17.

Rounding is bounded beside each line, from the numbers that were added up (`mixture_rounding`, with the proof).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcore.core.effort import checkpoint, claim
from dpcore.engine.mixture_rounding import DEPTH, EVEN, OCTET, ROOM, STEPS, AxisRounding, LineRounding, MixturePath
from dpcore.engine.products import product

if TYPE_CHECKING:
    from dpcore.engine.normal_jumps import Jumps

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

_GRAIN = 2.0**-10  # steps are multiples of it, so that their products are exact
_BLOCK, _FENCES = 128, (-1.5, 24.0)  # exponents computed at once, and the limits between which they share nodes
_CELLS = 1 << 18  # exponentials between two checkpoints
_NODE_BYTES = 64  # bytes of a node with its logarithms and weights
_TINY_STEP = 1e-12  # imaginary parts below it are steps of a derivative
_FARTHEST, _PEAK, _STEEPEST = 120.0, 64.0, 31.0
"""Largest (c + 1) mu^2, largest (c + 1) mu, and largest w of `_bend`, for which M is computed."""

_FARTHEST_MIXED, _PEAK_MIXED = 1200.0, 200.0
"""The same for several moves: the largest of them are rare, and their exponents are needed only for small ones."""

_HEIGHTS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.9, 1.2, 1.55, 2.0, 2.2])
"""Heights of the paths of the bound, in units of 1/mu or of 1, whichever is smaller. Below c = -1 only up to 1.2, in units of
sqrt(2/w) where that is smaller still, in steps of `_FINE` of the unit."""

_STEEP, _FINE = 8, 0.0449  # number of the heights up to 1.2, and the step below c = -1
_LOST, _UP = 1e-16, 1.0 + 1e-10
"""What a quadrature of the bound may miss, of M(c), and its rounding: see `log_decay`. No decay is below the first."""

_EVEN = 16  # points from which even spacing is exploited
_NO_BEND, _MOST = 1e-12, 1e14  # a bend that counts as 0, and an exponent larger than any that is needed
_FALL = 44.0  # log of 1e-19: smaller weights are left out


class LinePath(NamedTuple):
    """The integrand on vertical lines Re s = c: log|r|, arg r, a row of weights (relative to M(c)) per line, and log M(c)."""

    size: FloatArray
    turn: FloatArray
    weight: ComplexArray
    log_total: FloatArray


class Lines(NamedTuple):
    """Vertical lines with the bound of their rounding."""

    path: LinePath
    rounding: LineRounding


@lru_cache(maxsize=1024)
def _bend(law: Jumps, c: float) -> float:
    r"""Return w such that the integrand grows at most like e^(w t^2/2) at height t.

    It is 1 from c = -1 on, where r is largest on the axis. Below, a smaller \|r\| counts more: w = 1 + \|c+1\| max (log r)'',
    the maximum over all x with a noticeable weight.
    """
    return 1.0 if c >= -1.0 else 1.0 - (c + 1.0) * law.bend


def has_transform(law: Jumps) -> bool:
    """Return whether M is known to the right of 0, where the exponents of delta are."""
    return _range(law)[1] > 0.0


def _range(law: Jumps) -> tuple[float, float]:
    """Return the least and the largest c at which M is computed: beyond any exponent a delta above 1e-300 needs."""
    bend, mu = law.bend, law.largest
    lowest = -1.0 - (_STEEPEST - 1.0) / bend if bend > _NO_BEND else -_MOST
    farthest, peak = (_FARTHEST, _PEAK) if law.alone else (_FARTHEST_MIXED, _PEAK_MIXED)
    return lowest, min(farthest / (mu * mu), peak / mu) - 1.0 if mu * mu > _NO_BEND else _MOST


@lru_cache(maxsize=1024)
def _ends(law: Jumps, c: float) -> tuple[float, float]:
    """Return where the integrand begins and ends: it peaks between 0 and (c + 1) times the move."""
    peak = (c + 1.0) * law.largest
    if peak < 0:
        low, high = peak, 0.0
        # to a thousandth, or to a part of the room: with a nearly constant r a peak of -1e14 is not real
        for _ in range(max(10, math.frexp(peak)[1] + 3)):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if middle < (c + 1.0) * law.mean_move(middle) else (low, middle)
        peak = low
    return min(0.0, peak) - ROOM, max(0.0, peak) + ROOM


def _height(law: Jumps, c: float) -> float:
    """Return the height of the path: up to twice of it r has a positive real part and the integrand is small."""
    return min(1.0, 0.75 / law.largest, math.sqrt(2.0 / _bend(law, c)))


def _step(height: float) -> float:
    """Return the step for paths at a height, a multiple of 2^-10.

    Products of such a step are exact: a spacing off by one part in 10^14 would be a factor of M, and k copies have M^k.
    """
    return max(1, math.floor(height / STEPS / _GRAIN)) * _GRAIN


def _nodes(step: float, ends: tuple[float, float]) -> FloatArray:
    """Return the multiples of a step between two ends."""
    first, last = math.floor(ends[0] / step), math.ceil(ends[1] / step)
    claim(_NODE_BYTES * (last - first + 1), "The transform of noise on so small a sample")
    return np.asarray(step * np.arange(first, last + 1), dtype=np.float64)


def _log_ratios(x: FloatArray, law: Jumps) -> FloatArray:
    """Return log r on the real axis, checking the clock between pieces: noise of 10^6 has 10^7 nodes."""
    if x.size <= _CELLS:
        return law.log_ratio(x)
    out = np.empty_like(x)
    for begin in range(0, x.size, _CELLS):
        checkpoint()
        piece = slice(begin, begin + _CELLS)
        out[piece] = law.log_ratio(x[piece])
    return out


@lru_cache(maxsize=64)
def _path(law: Jumps, height: float, low: float, high: float) -> MixturePath:
    """Return the nodes at a height, shared by all lines of that height."""
    step = _step(height)
    x = _nodes(step, (low, high))
    size, turn = law.turned_log_ratio(x, height)
    flat = math.log(step / math.sqrt(2 * math.pi)) - x * x / 2
    weight, angle = flat + height * height / 2, -height * x
    return MixturePath(x, height, size, turn, weight, angle, law.log_ratio(x), flat)


@lru_cache(maxsize=256)
def _lines(law: Jumps, lines: tuple[float, ...]) -> Lines:
    """Return common nodes, weights and log M(c) for several c: the lowest path that any of them needs serves all."""
    height = min(_height(law, c) for c in lines)
    low, high = zip(*(_ends(law, c) for c in lines), strict=True)
    path = _path(law, height, *_outward((min(low), max(high))))
    power = np.array(lines)[:, None] + 1.0
    axis = power * path.flat + path.flat_weight
    log_total = _log_sum(axis.copy())
    fall = power * path.size
    fall += path.weight
    fall -= log_total[:, None]
    inside = np.flatnonzero((fall > fall.max(axis=1, keepdims=True) - _FALL).any(axis=0))
    use = slice(int(inside[0]), int(inside[-1]) + 1)
    turn = path.turn[use]
    line = LinePath(path.size[use], turn, _turned(fall[:, use], power * turn + path.angle[use]), log_total)
    axis -= log_total[:, None]
    return Lines(line, LineRounding(law, path, power, (axis, fall), use))


def _log_sum(exponent: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of exponentials of each row; the argument is overwritten."""
    top = exponent.max(axis=1)
    exponent -= top[:, None]
    return np.asarray(top + np.log(np.exp(exponent, out=exponent).sum(axis=1)), dtype=np.float64)


def _outward(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the ends rounded outward to multiples of 8, so that neighbouring c share their nodes."""
    return 8.0 * math.floor(ends[0] / 8.0), 8.0 * math.ceil(ends[1] / 8.0)


def _turned(log_size: FloatArray, angle: FloatArray) -> ComplexArray:
    """Return e^(log_size + i angle); three real functions cost less than the complex one."""
    out = np.empty(log_size.shape, dtype=np.complex128)
    size = np.exp(log_size)
    np.multiply(size, np.cos(angle), out=out.real)
    np.multiply(size, np.sin(angle), out=out.imag)
    return out


def log_mgf(s: ComplexArray, law: Jumps) -> ComplexArray:
    """Return log M(s) at complex s; points on one vertical line share their nodes.

    Rows of a 2-d array with equally spaced points on a line each, as contours have them, cost two small tables of
    exponentials and one matrix product each.
    """
    s = np.asarray(s, dtype=np.complex128)
    if _in_rows(s):
        return _rows(s, law)
    flat = s.ravel()
    lines = set(flat.real.tolist())
    if len(lines) > max(4, flat.size // 8) or _derivatives(flat):
        return _scattered(flat, law).reshape(s.shape)
    out = np.empty(flat.size, dtype=np.complex128)
    for c in lines:
        members = np.flatnonzero(flat.real == c)
        out[members] = _rows(flat[None, members], law)[0]
    return out.reshape(s.shape)


def _in_rows(s: ComplexArray) -> bool:
    """Return whether each row is a line of many points: such rows share their nodes."""
    return bool(s.ndim == 2 and s.shape[1] >= _EVEN and (s.real == s.real[:, :1]).all())


def _rows(s: ComplexArray, law: Jumps) -> ComplexArray:
    """Return log M along lines, one per row; nan too far out."""
    first, last = _range(law)
    inside = (s.real[:, 0] >= first) & (s.real[:, 0] <= last)
    if inside.all():
        return along(_lines(law, tuple(s.real[:, 0].tolist())).path, s.imag)
    out = np.full(s.shape, np.nan, dtype=np.complex128)
    if inside.any():
        out[inside] = _rows(s[inside], law)
    return out


def _derivatives(s: ComplexArray) -> bool:
    """Return whether the points are a tiny step off the real axis, which `along` would lose in its rounding."""
    return bool((s.imag != 0).any() and (np.abs(s.imag) < _TINY_STEP).all())


def along(lines: LinePath, y: FloatArray) -> ComplexArray:
    """Return log M at points of lines; M(c - iy) is the conjugate of M(c + iy), and M(c) is already known."""
    below = y < 0
    value = _transform(lines, np.abs(y) if below.any() else y)
    log_value = np.empty_like(value)
    with np.errstate(divide="ignore"):
        np.log(value.real**2 + value.imag**2, out=log_value.real)  # a fraction of the time of the complex logarithm
    log_value.real *= 0.5
    np.arctan2(value.imag, value.real, out=log_value.imag)
    log_value[y == 0] = 0.0
    log_value.imag[below] *= -1.0
    log_value.real += lines.log_total[:, None]
    return log_value


def _scattered(s: ComplexArray, law: Jumps) -> ComplexArray:
    """Return log M at points on many different lines, those (nearly) on the real axis together; nan too far out."""
    out = np.full(s.size, np.nan, dtype=np.complex128)
    level = np.abs(s.imag) < _TINY_STEP
    value, slope = cumulants(s.real[level], law)
    out[level] = value + 1j * (s.imag[level] * slope)
    first, last = _range(law)
    for at in np.flatnonzero(~level & (s.real >= first) & (s.real <= last)).tolist():
        out[at] = along(_lines(law, (float(s.real[at]),)).path, s.imag[at : at + 1, None])[0, 0]
    return out


def cumulants(c: FloatArray, law: Jumps) -> tuple[FloatArray, FloatArray]:
    """Return log M(c) and its derivative, the mean of log r under the tilted law, at real c; nan too far out."""
    value, slope = _on_axis(c, law, error=False)
    return value, slope


def cumulant_rounding(c: FloatArray, law: Jumps) -> FloatArray:
    """Bound the error of log M(c) from `cumulants` beyond abs(log M(c)), in units of 2^-53; nan too far out."""
    return np.asarray(_on_axis(c, law, error=True)[2], dtype=np.float64)


def _on_axis(c: FloatArray, law: Jumps, *, error: bool) -> FloatArray:
    out = np.full((2 + error, c.size), np.nan)
    order = np.argsort(c, kind="stable")
    # a steep integrand needs small steps, a large tilt a long range: neighbours share both
    lowest, highest = _range(law)
    fences = sorted((lowest, *(fence for fence in _FENCES if lowest < fence < highest)))
    ends = np.searchsorted(c[order], fences).tolist()
    for start, end in pairwise((*ends, int(np.searchsorted(c[order], highest, side="right")))):
        for begin in range(start, end, _BLOCK):
            part = order[begin : min(begin + _BLOCK, end)]
            out[:, part] = _block(c[part], law, error=error)
    return out


def _block(c: FloatArray, law: Jumps, *, error: bool) -> FloatArray:
    """Return log M, its derivative and perhaps its error at a few ascending real points, for bounds and saddle points.

    What the steps miss is part of the error (`mixture_rounding`).
    """
    lowest, highest = float(c[0]), float(c[-1])
    largest = min(0.25, 0.25 / law.largest, 0.375 / math.sqrt(_bend(law, lowest)))
    step = max(1, math.floor(largest / _GRAIN)) * _GRAIN
    x = _nodes(step, (_ends(law, lowest)[0], _ends(law, highest)[1]))
    ratio = _log_ratios(x, law)
    axis = AxisRounding(law, x, ratio) if error else None
    normal = x * x / 2
    out = np.empty((2 + error, c.size))
    rows = max(1, _CELLS // x.size)
    for begin in range(0, c.size, rows):
        checkpoint()
        part = slice(begin, begin + rows)
        power = c[part] + 1.0
        weight = np.multiply.outer(power, ratio)
        weight -= normal
        top = weight.max(axis=1)
        weight -= top[:, None]
        np.exp(weight, out=weight)
        total = weight.sum(axis=1)
        mean = np.einsum("ij,j->i", weight, ratio)  # no BLAS: its threads cost more than they save
        value = top + np.log(total * (step / math.sqrt(2 * math.pi)))
        out[:2, part] = value, mean / total
        if axis is not None:
            out[2, part] = axis.units(power, weight, top)
    return out


def _transform(lines: LinePath, y: FloatArray) -> ComplexArray:
    """Return the sum of weight e^(i y log r) for each y >= 0, one line per row."""
    n = y.shape[1]
    if n < _EVEN or not _even(y):
        return np.asarray((_phases(lines, y) * lines.weight[:, None]).sum(axis=2), dtype=np.complex128)
    inner = math.isqrt(n - 1) + 1
    outer = -(-n // inner)
    step = (y[:, -1] - y[:, 0]) / (n - 1)
    coarse = _powers(lines, step * inner, outer)
    checkpoint()
    coarse *= lines.weight[:, None]
    if y[:, 0].any():
        coarse *= _phases(lines, y[:, :1])
    fine = _powers(lines, step, inner)
    return np.stack([_summed(one, other).ravel()[:n] for one, other in zip(coarse, fine, strict=True)])


def _summed(coarse: ComplexArray, fine: ComplexArray) -> ComplexArray:
    """Return the products of all rows, summed over the nodes in chains of at most `DEPTH` terms."""
    nodes = coarse.shape[1]
    total = product(coarse[:, :DEPTH], fine[:, :DEPTH].T)
    for begin in range(DEPTH, nodes, DEPTH):
        part = slice(begin, begin + DEPTH)
        total += product(coarse[:, part], fine[:, part].T)
    return total


def _even(y: FloatArray) -> bool:
    n = y.shape[1]
    places = y[:, :1] + np.arange(n) * ((y[:, -1:] - y[:, :1]) / (n - 1))
    return bool((np.abs(y - places) <= EVEN * y).all())


def rounding(s: ComplexArray, law: Jumps) -> FloatArray:
    """Return the rounding error of `log_mgf` at each s, in units of 2^-53 M(Re s), beyond 4 abs(log M(s)).

    0 where M is not computed.
    """
    s = np.asarray(s, dtype=np.complex128)
    out = np.zeros(s.shape)
    first, last = _range(law)
    if _in_rows(s):
        rows = np.flatnonzero((s.real[:, 0] >= first) & (s.real[:, 0] <= last))
        if rows.size:
            lines = _lines(law, tuple(s.real[rows, 0].tolist()))
            out[rows] = lines.rounding.units(np.abs(s.imag[rows]).max(axis=1))[:, None]
        return out
    for c in set(s.real.ravel().tolist()):
        if first <= c <= last:
            at = s.real == c
            out[at] = _lines(law, (c,)).rounding.units(np.abs(s.imag[at]).max(keepdims=True))[0]
    return out


def _phases(lines: LinePath, y: FloatArray) -> ComplexArray:
    """Return e^(i y log r): lines, values of y, nodes."""
    return _turned(-y[:, :, None] * lines.turn, y[:, :, None] * lines.size)


def _powers(lines: LinePath, step: FloatArray, count: int) -> ComplexArray:
    """Return e^(i j step log r), j < count: lines, values of j, nodes.

    Every eighth comes from the exponential, the others from products with its first, second and fourth power.
    """
    eighths = -(-count // OCTET)
    base = _phases(lines, step[:, None] * np.array([1.0, *range(0, eighths * OCTET, OCTET)]))
    out = np.empty((step.size, eighths, OCTET, lines.size.size), dtype=np.complex128)
    out[:, :, 0], power, size = base[:, 1:], base[:, :1, None], 1
    while size < OCTET:  # doubles: three rounds
        np.multiply(out[:, :, :size], power, out=out[:, :, size : 2 * size])
        power, size = power * power, 2 * size
    return out.reshape(step.size, -1, lines.size.size)[:, :count]


class _Bound(NamedTuple):
    """The paths of the bound, one row per height: log|r|, arg r, log of weight and step."""

    size: FloatArray
    turn: FloatArray
    weight: FloatArray

    def every(self, stride: int) -> _Bound:
        """Return every `stride`-th node."""
        return _Bound(*(np.ascontiguousarray(row[:, ::stride]) for row in self))


@lru_cache(maxsize=16)
def _paths(law: Jumps, ends: tuple[float, float], unit: float, *, steep: bool) -> tuple[_Bound, _Bound]:
    """Return the paths of the bound over a range of x, and every fourth of their nodes."""
    step = max(1, math.floor(_FINE * unit / _GRAIN)) * _GRAIN if steep else _step(_height(law, -1.0))
    x = _nodes(step, ends)
    heights = (_HEIGHTS[: _STEEP if steep else None] * unit)[:, None]
    size, turn = law.turned_log_ratio(x[None], heights)
    weight = heights**2 / 2 - x * x / 2 + math.log(step / math.sqrt(2 * math.pi))
    paths = _Bound(size, turn, weight)
    return paths, paths.every(4)


class _TiltedPaths(NamedTuple):
    """The paths of the bound for one c: (c + 1) log|r| + log weight on every fourth node, and log M(c)."""

    paths: _Bound
    turn: FloatArray
    rough: FloatArray
    log_total: float


@lru_cache(maxsize=64)
def _tilt(law: Jumps, c: float) -> _TiltedPaths:
    """Return the part of the bound that all y on one line share."""
    ends = _outward(_ends(law, c))
    unit, steep = min(1.0, 1.0 / law.largest), c < -1.0
    paths, some = _paths(law, ends, min(unit, math.sqrt(2.0 / _bend(law, c))) if steep else unit, steep=steep)
    path = _path(law, _height(law, c), *ends)
    log_total = float(_log_sum(((c + 1.0) * path.flat + path.flat_weight)[None])[0])
    return _TiltedPaths(paths, some.turn, (c + 1.0) * some.size + some.weight, log_total)


def log_decay(c: float, y: float, law: Jumps) -> float:
    r"""Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y, by the best of several paths.

    Every fourth node decides which path is best; the bound itself uses all nodes of that path.

    Let m be the largest move, t the height and h the step. The integrand of the bound is analytic, with modulus
    e^((t^2+b^2)/2) phi(x) \|r(x+it+ib) r(x+it-ib)\|^((c+1)/2) e^(-y (sum of their arguments)/2) at distance b from its path, and the
    arguments add up to 0 or more for m (t + b) < pi, m b <= pi/2. For c >= -1 \|r\| is largest on the axis: with m (t + b) = 3.1 and
    t <= 2.2 the rule misses at most 2 e^((t^2+b^2)/2 - 2 pi b/h), below 1e-19 of M(c). For c < -1, in units of
    min(1, 1/m, sqrt(2/w)), t <= 1.2, b = 0.3 and h <= 0.0449: the modulus grows by at most e^(1.47 x 1.5^2), 27, and the rule misses 54
    e^-42, 3e-17. Beyond the ends, 8.7 from the peak, lies less than 2 Phi(-8.7) = 3.3e-18 of M(c) on either side, times e^(2.2^2/2) or
    e^(1.47 x 1.2^2): below 8e-17. Together this is below `_LOST`. A term whose y arg r is above 60 does not count; the others have an
    exponent right to 60 (D + 60) + |c+1| E units (`mixture_rounding`), below 1e-10.
    """
    first, last = _range(law)
    if y <= 0 or not first <= c <= last:
        return 0.0
    tilt = _tilt(law, c)
    best = int(np.argmin(_log_sum(tilt.rough - y * tilt.turn)))
    size, turn, weight = (row[best] for row in tilt.paths)
    log_least = float(_log_sum(((c + 1.0) * size - y * turn + weight)[None])[0]) - tilt.log_total
    return min(0.0, math.log(math.exp(min(0.0, log_least)) * _UP + _LOST))
