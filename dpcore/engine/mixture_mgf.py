r"""Moment generating function of the loss of a subsampled Gaussian, by the trapezoidal rule.

With x standard normal under P0 and r(x) = 1 - q + q e^(mu x - mu^2/2) the likelihood ratio,

.. math:: M(s) = E_0[r^{s+1}] = \int \varphi(x)\, r(x)^{s+1}\, dx .

The integrand is analytic and falls like a Gaussian, so the trapezoidal rule converges faster than any power of its
step; `STEP` leaves an error below 1e-15 of M(Re s) while \|Im s\| (log r)' STEP stays below about 2 (see `reach`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

STEP = 0.125
_ROOM = 8.7
_FINEST = 7
_STRETCH = 1.0
_BLOCK = 64
_PARTS_FROM = 0.8
_TINY_STEP = 1e-12
_LONGEST = 600
_LOG_SHARE = -0.3  # least share of another tilt's law, 0.74, for which its decay is used
_FARTHEST = 120.0
"""Largest (|c| + 1) mu^2 that is tabulated; far beyond any exponent a delta above 1e-300 needs."""


class _Line(NamedTuple):
    """The integrand on a vertical line Re s = c: log ratio, weights (scaled to sum 1), log M(c)."""

    log_ratio: FloatArray
    weight: FloatArray
    log_total: float


def _log_ratio(x: FloatArray, mu: float, q: float) -> FloatArray:
    rise = mu * x - mu * mu / 2
    up = np.log(q) + rise
    # log(1 - q + q e^rise), written so that neither a large nor a small rise loses digits
    return np.where(
        rise > 1.0,
        up + np.log1p((1.0 - q) * np.exp(-np.maximum(up, -700.0))),
        np.log1p(q * np.expm1(np.minimum(rise, 1.0))),
    )


@lru_cache(maxsize=256)
def _line(mu: float, q: float, c: float, step: float = STEP) -> _Line:
    """Return nodes and weights for Re s = c; the peak of the integrand lies between 0 and (c + 1) mu."""
    ends = sorted((0.0, (c + 1.0) * mu))
    # multiples of the step are exact: a spacing off by one part in 10^14 would be a factor of M, and k copies have M^k
    x = step * np.arange(np.floor((ends[0] - _ROOM) / step), np.ceil((ends[1] + _ROOM) / step) + 1)
    ratio = _log_ratio(x, mu, q)
    exponent = -x * x / 2 + (c + 1.0) * ratio
    top = float(exponent.max())
    weight = np.exp(exponent - top)
    total = float(weight.sum())
    keep = weight > 1e-19 * weight.max()
    log_total = top + float(np.log(total * step / np.sqrt(2 * np.pi)))
    return _Line(ratio[keep], weight[keep] / total, log_total)


def log_mgf(s: ComplexArray, mu: float, q: float) -> ComplexArray:
    """Return log M(s) at complex s; points on one vertical line share their nodes.

    Points with an equal spacing, as a contour has, cost two small tables of exponentials and one matrix product.
    """
    s = np.asarray(s, dtype=np.complex128)
    flat = s.ravel()
    lines = np.unique(flat.real)
    if lines.size > max(4, flat.size // 8):
        return _scattered(flat, mu, q).reshape(s.shape)
    out = np.empty(flat.size, dtype=np.complex128)
    for c in lines:
        members = np.flatnonzero(flat.real == c)
        if (abs(c) + 1.0) * mu * mu > _FARTHEST:
            out[members] = np.nan
            continue
        line = _line(mu, q, float(c), _step(mu, q, float(c), float(np.abs(flat.imag[members]).max())))
        with np.errstate(divide="ignore"):
            out[members] = line.log_total + np.log(_transform(line, flat.imag[members]))
    return out.reshape(s.shape)


def _step(mu: float, q: float, c: float, height: float) -> float:
    """Return the largest step STEP / 2^n, n up to `_FINEST`, whose nodes serve up to the given height of the line."""
    need = height / (_STRETCH * _base_reach(mu, q, c))
    return STEP / 2.0 ** min(_FINEST, max(0, math.ceil(math.log2(max(need, 1.0)))))


def _scattered(s: ComplexArray, mu: float, q: float) -> ComplexArray:
    """Return log M at points on many different lines, in blocks of similar c; nan too far out."""
    out = np.full(s.size, np.nan, dtype=np.complex128)
    size = np.abs(s.real + 0.5)
    near = np.flatnonzero((size + 0.5) * mu * mu <= _FARTHEST)
    near = near[np.argsort(size[near])]
    for start in range(0, near.size, _BLOCK):
        part = near[start : start + _BLOCK]
        out[part] = _block(s[part], mu, q)
    return out


def _block(s: ComplexArray, mu: float, q: float) -> ComplexArray:
    """Return log M at a few points on common nodes; steps up to 1/2 and 1/(2 mu) leave an error below 1e-17."""
    peak = (s.real + 1.0) * mu
    step = 0.5 * min(1.0, 1.0 / mu)
    ends = min(0.0, float(peak.min())) - _ROOM, max(0.0, float(peak.max())) + _ROOM
    x = np.asarray(step * np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1), dtype=np.float64)
    ratio = _log_ratio(x, mu, q)
    weight = np.multiply.outer(s.real + 1.0, ratio)
    weight -= x * x / 2
    top = weight.max(axis=1)
    weight -= top[:, None]
    np.exp(weight, out=weight)
    total = weight.sum(axis=1).astype(np.complex128)
    # a derivative is asked by a tiny step: e^(iz) is 1 + iz there
    tiny = np.abs(s.imag) < _TINY_STEP
    total.imag = np.where(tiny, s.imag * (weight @ ratio), 0.0)
    turned = np.flatnonzero(~tiny)
    if turned.size:
        total[turned] = (weight[turned] * np.exp(1j * np.multiply.outer(s.imag[turned], ratio))).sum(axis=1)
    return np.asarray(top + np.log(total * (step / np.sqrt(2 * np.pi))), dtype=np.complex128)


def _transform(line: _Line, y: FloatArray) -> ComplexArray:
    """Return sum of weight e^(i y log r) for each y."""
    n = y.size
    gap = np.diff(y)
    if n < 16 or np.any(np.abs(gap - gap[0]) > 1e-9 * np.abs(gap[0])):
        return np.asarray(np.exp(1j * np.multiply.outer(y, line.log_ratio)) @ line.weight, dtype=np.complex128)
    inner = int(np.ceil(np.sqrt(n)))
    outer = -(-n // inner)
    step = (y[-1] - y[0]) / (n - 1)
    coarse = np.exp(1j * np.multiply.outer(y[0] + step * inner * np.arange(outer), line.log_ratio)) * line.weight
    fine = np.exp(1j * np.multiply.outer(line.log_ratio, step * np.arange(inner)))
    return np.asarray((coarse @ fine).ravel()[:n], dtype=np.complex128)


class _Decay(NamedTuple):
    """Bounds of |M(c + iY)| / M(c) for every |Y| >= y: tables (places, bounds), and below + parts/y for each cut."""

    tables: tuple[tuple[FloatArray, FloatArray], ...]
    below: FloatArray
    parts: FloatArray


def _by_parts(mu: float, q: float, c: float) -> tuple[FloatArray, FloatArray]:
    r"""Prepare \|M(c+iy)\|/M(c) <= below(x1) + parts(x1)/y for every cut x1.

    Below x1 the integrand g is bounded by itself; above it integration by parts leaves h(x1) plus the variation of
    h = g/(log r)', over y. The variation comes from a grid four times finer than the nodes; 3 % are added.
    """
    ends = sorted((0.0, (c + 1.0) * mu))
    x = np.arange(ends[0] - _ROOM, ends[1] + _ROOM + STEP, STEP / 4)
    ratio = _log_ratio(x, mu, q)
    log_g = -x * x / 2 - 0.5 * np.log(2 * np.pi) + (c + 1.0) * ratio - _line(mu, q, c).log_total
    slope = np.log(mu * q) + mu * x - mu * mu / 2 - ratio
    h = np.exp(np.minimum(log_g - slope, 600.0))
    variation = np.concatenate((np.cumsum(np.abs(np.diff(h))[::-1])[::-1], [0.0]))
    return np.cumsum(np.exp(log_g)) * (STEP / 4), 1.03 * (h + variation)


@lru_cache(maxsize=256)
def _decay(mu: float, q: float, c: float) -> _Decay:
    """Bound |M| on the whole line.

    The tilted law has two humps, near x = 0 (losses of order q) and near (c + 1) mu (losses of order 1). One table is
    for the whole law, one for the left hump with the right one counted in full.
    """
    below, parts = _by_parts(mu, q, c)
    line = _line(mu, q, c)
    middle = float(_log_ratio(np.array([(c + 1.0) * mu / 2]), mu, q)[0])
    cuts = [np.inf, middle] if 1e-3 < line.weight[line.log_ratio > middle].sum() < 0.99 else [np.inf]
    return _Decay(tuple(_table(line, cut, below, parts, mu, q) for cut in cuts), below, parts)


def _table(
    line: _Line, cut: float, below: FloatArray, parts: FloatArray, mu: float, q: float
) -> tuple[FloatArray, FloatArray]:
    """Tabulate a bound on a grid of y: the transform up to the cut, plus a Lipschitz margin, plus what is left out.

    |d/dy| of the centred transform is at most E|L - m|; what the nodes do not resolve at y counts in full. From the
    end of the table on integration by parts is better.
    """
    use = line.log_ratio <= cut
    part = _Line(line.log_ratio[use], line.weight[use], line.log_total)
    mass = float(part.weight.sum())
    mean = float(part.weight @ part.log_ratio) / mass
    gap = 0.02 / float(part.weight @ np.abs(part.log_ratio - mean))
    usable = below < _PARTS_FROM / 2
    last = float(np.min(parts[usable] / (_PARTS_FROM - below[usable]))) if usable.any() else 2 * gap
    y = np.asarray(gap * np.arange(2, int(min(last / gap, _LONGEST)) + 3), dtype=np.float64)
    slope = -np.expm1(np.log1p(-q) - part.log_ratio) * mu * STEP
    order = np.argsort(-slope)
    rough = np.concatenate(([0.0], np.cumsum(part.weight[order])))
    missed = rough[np.searchsorted(-slope[order], -2.0 / y)]
    value = np.abs(_transform(part, y)) + 0.01 + 2 * missed + max(0.0, 1.0 - mass)
    beyond = float(np.min(below + parts / y[-1]))
    most = np.maximum(np.maximum.accumulate(value[::-1])[::-1], beyond)
    return np.asarray(y - gap / 2, dtype=np.float64), np.asarray(most, dtype=np.float64)


@lru_cache(maxsize=1024)
def _tilt_base(mu: float, q: float, c: float) -> tuple[float, float]:
    r"""Return c0 <= c and how much of the law tilted by c is the law tilted by c0.

    The ratio r exceeds 1 - q everywhere, so the laws proportional to r^(c+1) and r^(c0+1) satisfy
    P_c >= share P_c0 with share = (1 - q)^(c - c0) M(c0)/M(c): one table of c0 serves many c.
    """
    bases = [base for base in (-5.0, -1.0) if base <= c] or [-1.0 - 2.0 ** math.ceil(math.log2(-1.0 - c))]
    for base in bases:
        if (abs(base) + 1.0) * mu * mu <= _FARTHEST:
            fall = (c - base) * math.log1p(-q) + _line(mu, q, base).log_total - _line(mu, q, c).log_total
            if fall > _LOG_SHARE:
                return base, min(1.0, math.exp(fall) * (1 - 1e-12))
    return c, 1.0


def log_decay(c: float, y: float, mu: float, q: float) -> float:
    """Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y."""
    if y <= 0 or (abs(c) + 1.0) * mu * mu > _FARTHEST:
        return 0.0
    base, share = _tilt_base(mu, q, c)
    decay = _decay(mu, q, base)
    bound = float((decay.below + decay.parts / y).min())
    for at, most in decay.tables:
        index = int(at.searchsorted(y, side="right")) - 1
        if 0 <= index < at.size - 1:
            bound = min(bound, float(most[index]))
    return min(0.0, math.log1p(share * (bound - 1.0)))


def reach(c: float, mu: float, q: float, missed: float = 1e-15) -> float:
    """Return the largest |Im s| at which the finest nodes resolve all but a share `missed` of the integrand."""
    return _base_reach(mu, q, c, missed) * 2.0**_FINEST


@lru_cache(maxsize=256)
def _base_reach(mu: float, q: float, c: float, missed: float = 1e-15) -> float:
    """Return the largest |Im s| at which nodes of distance STEP resolve all but a share `missed`."""
    line = _line(mu, q, c)
    slope = -np.expm1(np.log1p(-q) - line.log_ratio) * mu
    order = np.argsort(-slope)
    rough = np.cumsum(line.weight[order])
    index = int(np.searchsorted(rough, missed))
    worst = float(slope[order][min(index, slope.size - 1)])
    return 2.0 / (STEP * worst) if worst > 0 else np.inf
