r"""Moment generating function of the loss of a subsampled Gaussian, by the trapezoidal rule off the real axis.

With x standard normal under P0 and r(x) = 1 - q + q e^(mu x - mu^2/2) the likelihood ratio,

.. math:: M(s) = E_0[r^{s+1}] = \int \varphi(x)\, r(x)^{s+1}\, dx .

The integrand is analytic for \|Im x\| < pi/mu, so the path may run at height t above the real axis. There
\|r^{iy}\| = e^{-y arg r} with arg r > 0: what would oscillate on the real axis has died out, and

.. math:: |M(c+iY)| \le e^{t^2/2} \int \varphi(x)\, |r(x+it)|^{c+1} e^{-y \arg r(x+it)}\, dx \quad (Y \ge y \ge 0),

a bound of positive terms that falls with y (`log_decay`).

Steps. With A = q e^(mu x - mu^2/2), B = 1 - q, 0 <= a, b <= pi/2 and a + b < pi,
(B + A e^{i(a+b)})(B + A e^{i(a-b)}) has imaginary part 2 A sin(a) (B cos(b) + A cos(a)) >= 0, so that the arguments of r
at the heights a + b and a - b (times 1/mu) never add up to less than 0. Both integrands, the one at height t and the positive
one of the bound, are therefore bounded by a small multiple of M(c) in a strip of half width t around their paths
whatever y >= 0 is, and the trapezoidal rule of step t/`_STEPS` misses at most e^(-2 pi `_STEPS`) of that: below 1e-17.

Trimming. The loss of a small q has a narrow core and rare far jumps; these make M explode before the core's own
exponents are reached. With a factor Phi((cut - x)/w) under the integral, w = `TAPER`, the jumps beyond the cut are taken
out (`trimmed_mass`); the factor is entire, so everything above stays true for heights up to about w.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

ROUNDING = 64.0
"""Rounding error of M(s) in units of 2^-53 M(Re s): three times the largest seen against 40 digits."""

TAPER = 0.35
"""Width of the soft cut of a trimmed law, in units of x."""

_ROOM = 8.7
_STEPS = 6.5
_GRAIN = 2.0**-10
_BLOCK = 64
_TINY_STEP = 1e-12
_FARTHEST, _STEEPEST = 120.0, 31.0
"""Largest (c + 1) mu^2, and largest w of `_bend`, for which M is computed."""

_HEIGHTS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.9, 1.2, 1.55, 2.0, 2.5])
"""Heights of the paths of the bound, in units of 1/mu or of 1, whichever is smaller; below c = -1 only up to 1.2."""

_STEEP = 8
_LOST = 1e-16
_SMALL = 1 << 18
_NONE, _MOST = 1e-12, 1e14  # a bend that is none, and an exponent beyond all
_FALL = 44.0  # log of 1e-19: smaller weights are left out


class _Line(NamedTuple):
    """The integrand on a vertical line Re s = c: complex log ratio, weights (relative to M(c)), log M(c)."""

    log_ratio: ComplexArray
    weight: ComplexArray
    log_total: float


def trimmed_mass(mu: float, q: float, cut: float) -> tuple[float, float]:
    """Return what a cut takes from P0 and from P1: Phi of a normal x smeared by the taper."""
    wide = math.hypot(1.0, TAPER)
    p, moved = float(ndtr(-cut / wide)), float(ndtr((mu - cut) / wide))
    return p, (1.0 - q) * p + q * moved


def _share(x: float, mu: float, q: float) -> float:
    """Return the part of r(x) that is due to the record: (log r)' = mu share, (log r)'' = mu^2 share (1 - share)."""
    return 1.0 / (1.0 + (1.0 - q) / q * math.exp(min(700.0, mu * mu / 2 - mu * x)))


@lru_cache(maxsize=1024)
def _bend(mu: float, q: float, c: float) -> float:
    r"""Return w such that the integrand grows at most like e^(w t^2/2) at height t.

    It is 1 from c = -1 on, where r is largest on the axis. Below, a smaller \|r\| counts more: w = 1 + \|c+1\| max (log r)'',
    the maximum over all x that weigh anything.
    """
    if c >= -1.0:
        return 1.0
    share = min(0.5, _share(_ROOM, mu, q))
    return 1.0 - (c + 1.0) * mu * mu * share * (1.0 - share)


def _range(mu: float, q: float) -> tuple[float, float]:
    """Return the least and the largest c at which M is computed: beyond any exponent a delta above 1e-300 needs."""
    share = min(0.5, _share(_ROOM, mu, q))
    bend, square = mu * mu * share * (1.0 - share), mu * mu
    lowest = -1.0 - (_STEEPEST - 1.0) / bend if bend > _NONE else -_MOST
    return lowest, _FARTHEST / square - 1.0 if square > _NONE else _MOST


@lru_cache(maxsize=1024)
def _ends(mu: float, q: float, c: float, cut: float) -> tuple[float, float]:
    """Return where the integrand begins and ends: it peaks between 0 and (c + 1) mu, or where the cut pulls that."""
    peak = (c + 1.0) * mu
    if peak > cut:
        peak = (cut + peak * TAPER**2) / (1 + TAPER**2)
    if peak < 0:
        low, high = peak, 0.0
        for _ in range(10):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if middle < peak * _share(middle, mu, q) else (low, middle)
        peak = low
    return min(0.0, peak) - _ROOM, max(0.0, peak) + _ROOM


def _height(mu: float, q: float, c: float, cut: float) -> float:
    """Return the height of the path: twice it stays where r has a positive real part and the integrand is small."""
    return min(1.0 if cut == math.inf else TAPER, 0.75 / mu, math.sqrt(2.0 / _bend(mu, q, c)))


def _step(height: float) -> float:
    """Return the step for paths at a height, a multiple of 2^-10.

    Products of such a step are exact: a spacing off by one part in 10^14 would be a factor of M, and k copies have M^k.
    """
    return max(1, math.floor(height / _STEPS / _GRAIN)) * _GRAIN


def _nodes(step: float, ends: tuple[float, float]) -> FloatArray:
    """Return the multiples of a step between two ends."""
    return np.asarray(step * np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1), dtype=np.float64)


def _log_ratio(x: FloatArray, mu: float, q: float) -> FloatArray:
    """Return log r on the real axis."""
    rise = mu * x - mu * mu / 2
    up = np.log(q) + rise
    # log(1 - q + q e^rise), written so that neither a large nor a small rise loses digits
    return np.where(
        rise > 1.0,
        up + np.log1p((1.0 - q) * np.exp(-np.maximum(up, -700.0))),
        np.log1p(q * np.expm1(np.minimum(rise, 1.0))),
    )


def _turned_log_ratio(x: FloatArray, height: FloatArray | float, mu: float, q: float) -> tuple[FloatArray, FloatArray]:
    """Return log|r| and arg r at x + i height, from r - 1 without cancellation."""
    rise = mu * x - mu * mu / 2
    grown = np.exp(rise)
    angle = mu * height
    real = q * (np.expm1(rise) - 2.0 * grown * np.sin(angle / 2) ** 2)
    imaginary = q * grown * np.sin(angle)
    return 0.5 * np.log1p(real * (2.0 + real) + imaginary * imaginary), np.arctan2(imaginary, 1.0 + real)


@lru_cache(maxsize=256)
def _log_total(mu: float, q: float, c: float, cut: float = math.inf) -> float:
    """Return log M(c)."""
    step = _step(_height(mu, q, c, cut))
    x = _nodes(step, _ends(mu, q, c, cut))
    exponent = -x * x / 2 + (c + 1.0) * _log_ratio(x, mu, q)
    if cut < math.inf:
        exponent += log_ndtr((cut - x) / TAPER)
    top = float(exponent.max())
    return top + math.log(float(np.exp(exponent - top).sum()) * step / math.sqrt(2 * math.pi))


@lru_cache(maxsize=256)
def _line(mu: float, q: float, c: float, cut: float = math.inf) -> _Line:
    """Return nodes and weights for Re s = c."""
    height = _height(mu, q, c, cut)
    step = _step(height)
    x = _nodes(step, _ends(mu, q, c, cut))
    size, turn = _turned_log_ratio(x, height, mu, q)
    log_total = _log_total(mu, q, c, cut)
    scale = (height * height - math.log(2 * math.pi)) / 2 + math.log(step) - log_total
    power = scale - x * x / 2 + (c + 1.0) * size + 1j * ((c + 1.0) * turn - height * x)
    if cut < math.inf:
        power += log_ndtr((cut - x - 1j * height) / TAPER)
    keep = power.real > power.real.max() - _FALL
    return _Line(size[keep] + 1j * turn[keep], np.exp(power[keep]), log_total)


def log_mgf(s: ComplexArray, mu: float, q: float, cut: float = math.inf) -> ComplexArray:
    """Return log M(s) at complex s; points on one vertical line share their nodes.

    Points with an equal spacing, as a contour has, cost two small tables of exponentials and one matrix product.
    """
    s = np.asarray(s, dtype=np.complex128)
    flat = s.ravel()
    lines = flat.real[:1] if (flat.real == flat.real[0]).all() else np.unique(flat.real)
    if lines.size > max(4, flat.size // 8):
        return _scattered(flat, mu, q, cut).reshape(s.shape)
    out = np.empty(flat.size, dtype=np.complex128)
    first, last = _range(mu, q)
    for c in lines:
        members = np.flatnonzero(flat.real == c)
        if not first <= c <= last:
            out[members] = np.nan
            continue
        out[members] = _along(_line(mu, q, float(c), cut), flat.imag[members])
    return out.reshape(s.shape)


def _along(line: _Line, y: FloatArray) -> ComplexArray:
    """Return log M at points of one line; M(c - iy) is the conjugate of M(c + iy), and M(c) is known already."""
    below = y < 0
    with np.errstate(divide="ignore"):
        found = np.log(_transform(line, np.abs(y) if below.any() else y))
    found[y == 0] = 0.0
    found.imag[below] *= -1.0
    found += line.log_total
    return found


def _scattered(s: ComplexArray, mu: float, q: float, cut: float = math.inf) -> ComplexArray:
    """Return log M at points on many different lines, in blocks of similar c; nan too far out."""
    out = np.full(s.size, np.nan, dtype=np.complex128)
    size = np.abs(s.real + 0.5)
    first, last = _range(mu, q)
    near = np.flatnonzero((s.real >= first) & (s.real <= last))
    turned = np.abs(s.imag[near]) >= _TINY_STEP
    for at in near[turned].tolist():
        out[at] = _along(_line(mu, q, float(s.real[at]), cut), s.imag[at : at + 1])[0]
    near = near[~turned]
    near = near[np.argsort(size[near])]
    for start in range(0, near.size, _BLOCK):
        part = near[start : start + _BLOCK]
        out[part] = _block(s[part], mu, q, cut)
    return out


def _block(s: ComplexArray, mu: float, q: float, cut: float) -> ComplexArray:
    """Return log M at a few (nearly) real points on common nodes, for bounds and saddle points.

    With e^(w t^2/2) for the growth off the axis, steps up to 1/2, 1/(2 mu) and 3/(4 sqrt(w)) leave a relative error below
    1e-13.
    """
    lowest, highest = float(s.real.min()), float(s.real.max())
    width = 1.0 / mu if cut == math.inf else min(TAPER / 2, 0.5 / mu)
    step = min(0.5 * min(1.0, width), 0.75 / math.sqrt(_bend(mu, q, lowest)))
    x = _nodes(step, (_ends(mu, q, lowest, cut)[0], _ends(mu, q, highest, cut)[1]))
    ratio = _log_ratio(x, mu, q)
    weight = np.multiply.outer(s.real + 1.0, ratio)
    weight -= x * x / 2 if cut == math.inf else x * x / 2 - log_ndtr((cut - x) / TAPER)
    top = weight.max(axis=1)
    weight -= top[:, None]
    np.exp(weight, out=weight)
    total = weight.sum(axis=1).astype(np.complex128)
    # a derivative is asked by a tiny step: e^(iz) is 1 + iz there
    total.imag = s.imag * np.einsum("ij,j->i", weight, ratio)  # no BLAS: its threads cost more than they bring
    return np.asarray(top + np.log(total * (step / np.sqrt(2 * np.pi))), dtype=np.complex128)


def _transform(line: _Line, y: FloatArray) -> ComplexArray:
    """Return sum of weight e^(i y log r) for each y >= 0."""
    n = y.size
    gap = np.diff(y)
    turned = 1j * line.log_ratio
    if n < 16 or np.any(np.abs(gap - gap[0]) > 1e-9 * np.abs(gap[0])):
        return np.asarray(np.exp(np.multiply.outer(y, turned)) @ line.weight, dtype=np.complex128)
    inner = int(np.ceil(np.sqrt(n)))
    outer = -(-n // inner)
    step = (y[-1] - y[0]) / (n - 1)
    coarse = np.exp(np.multiply.outer(y[0] + step * inner * np.arange(outer), turned)) * line.weight
    fine = np.exp(np.multiply.outer(turned, step * np.arange(inner)))
    return _product(coarse, fine).ravel()[:n]


def _product(a: ComplexArray, b: ComplexArray) -> ComplexArray:
    """Return a @ b without the threads of a library where they cost more than they bring."""
    small = a.size * b.shape[1] <= _SMALL
    return np.asarray(np.einsum("ij,jk->ik", a, b) if small else a @ b, dtype=np.complex128)


class _Paths(NamedTuple):
    """The paths of the bound over a range of x: log of weight and step, log|r| and arg r, one row a height."""

    weight: FloatArray
    size: FloatArray
    turn: FloatArray


@lru_cache(maxsize=64)
def _paths(mu: float, q: float, low: float, high: float, cut: float) -> _Paths:
    step = _step(_height(mu, q, -1.0, cut))
    x = _nodes(step, (low, high))
    heights = (_HEIGHTS * (min(1.0, 1.0 / mu) if cut == math.inf else min(TAPER, 0.5 / mu)))[:, None]
    size, turn = _turned_log_ratio(x[None], heights, mu, q)
    weight = heights**2 / 2 - x * x / 2 + math.log(step / math.sqrt(2 * math.pi))
    if cut < math.inf:
        weight += log_ndtr((cut - x - 1j * heights) / TAPER).real
    return _Paths(weight, size, turn)


def log_decay(c: float, y: float, mu: float, q: float, cut: float = math.inf) -> float:
    """Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y: the best of several paths."""
    first, last = _range(mu, q)
    if y <= 0 or not first <= c <= last:
        return 0.0
    low, high = _ends(mu, q, c, cut)
    # ends rounded outward, so that neighbouring c share the paths
    paths = _paths(mu, q, 8.0 * math.floor(low / 8.0), 8.0 * math.ceil(high / 8.0), cut)
    rows = slice(None if c >= -1.0 and cut == math.inf else _STEEP)
    exponent = (c + 1.0) * paths.size[rows]
    exponent -= y * paths.turn[rows]
    exponent += paths.weight[rows]
    exponent -= _log_total(mu, q, c, cut)
    np.maximum(exponent, -745.0, out=exponent)
    least = float(np.exp(exponent, out=exponent).sum(axis=1).min())
    return min(0.0, math.log(least * (1 + 1e-12) + _LOST))


class Trimmed:
    r"""A subsampled Gaussian pair whose far jumps, at most a mass of P1, count as infinite losses; a `Factor`.

    Leaving mass out of both sides lowers delta by no more than what is left out of P1, and calling it infinitely telling
    raises delta by no more than that: k copies bracket the true product within 1 - (1 - mass)^k.
    """

    mgf_rounding = ROUNDING

    def __init__(self, mu: float, share: float, mass: float) -> None:
        self.mu, self.share = mu, share
        low, high = 0.0, 60.0 + mu
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if trimmed_mass(mu, share, middle)[1] > mass else (low, middle)
        self.cut = high
        self.p_inf, self.q_inf = trimmed_mass(mu, share, high)
        self.max_loss, self.min_loss = math.inf, math.log1p(-share)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) of the losses that are left."""
        return log_mgf(s, self.mu, self.share, self.cut)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by paths off the real axis."""
        return log_decay(c, y, self.mu, self.share, self.cut)
