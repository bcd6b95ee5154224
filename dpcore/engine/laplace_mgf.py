"""Moment generating function of the privacy loss of one Laplace mechanism, for complex exponents.

For sensitivity over scale ``eps0`` the loss L lies in [-eps0, eps0] (two atoms at the ends, a density between), and

    M(s) = E_1[e^{sL}] = ((s+1) e^{s eps0} + s e^{-(s+1) eps0}) / (2s+1)
         = e^{-eps0/2} (cosh(z eps0) + sinh(z eps0) / (2z)),        z = s + 1/2,

with M(s) = M(-1-s) and M(0) = M(-1) = 1. A composition of k mechanisms multiplies every absolute error of log M
by k, so the forms below compute M - 1, which vanishes like s(s+1), and never subtract two nearly equal numbers.
"""

from __future__ import annotations

import cmath
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SERIES_RADIUS = 2.25
"""Largest |z eps0|^2, and largest (eps0/2)^2, for which the power series is used."""

_SERIES_TERMS = ((0.04, 5), (0.25, 7), (_SERIES_RADIUS, 13))
"""(radius, terms): the first omitted term r^m / (2m+2)! is below 1e-17 of the leading 1/2."""

_MIDDLE = -0.5 + 5e-7
"""Smallest exponent distinguished from -1/2 on the real axis: M is flat there, to the square of the difference."""

_INVERSE_FACTORIALS = tuple((1 / math.factorial(2 * n), 1 / math.factorial(2 * n + 1)) for n in range(32))
"""Coefficients of the even power series; far more terms than double precision needs."""


@lru_cache(maxsize=1024)
def _series(eps0: float) -> tuple[float, ...]:
    """Coefficients h_m of M(s) = 1 + s(s+1) sum_m h_m ((s+1/2) eps0)^(2m).

    With P = (z eps0)^2 and Q = (eps0/2)^2 the even series of cosh and of sinh(x)/x give
    M - 1 = e^{-eps0/2} sum_n (P^n - Q^n) (1/(2n)! + (eps0/2)/(2n+1)!), and P^n - Q^n has the factor
    P - Q = s(s+1) eps0^2. All h_m are positive.
    """
    square = eps0 * eps0 / 4
    scale = eps0 * eps0 * math.exp(-eps0 / 2)
    total, out = 0.0, []
    for weight in _even_series(eps0)[:0:-1]:  # h_m / scale = w_(m+1) + square h_(m+1) / scale, positive terms only
        total = weight + square * total
        out.append(scale * total)
    return tuple(out[: -_SERIES_TERMS[-1][1] - 1 : -1])


def _even_series(eps0: float) -> list[float]:
    """Coefficients w_n of cosh(x) + (eps0/2) sinh(x)/x = sum_n w_n x^(2n)."""
    half = eps0 / 2
    return [even + half * odd for even, odd in _INVERSE_FACTORIALS]


def complex_log1p(w: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return log(1+w) with an error of a few units in the last place of |log(1+w)|, -inf at w = -1."""
    real, imag = w.real, w.imag
    out = np.empty_like(w)
    # |1+w|^2 - 1, clamped because rounding must not make the square of a modulus negative
    np.log1p(np.maximum(real * (2 + real) + imag * imag, -1.0), out=out.real)
    out.real *= 0.5
    np.arctan2(imag, 1 + real, out=out.imag)
    return out


def _horner(coefficients: Sequence[float], x: NDArray[np.complex128]) -> NDArray[np.complex128]:
    total = np.full_like(x, coefficients[-1])
    for h in coefficients[-2::-1]:
        total *= x
        total += h
    return total


def _by_series(s: NDArray[np.complex128], eps0: float, radius: float) -> NDArray[np.complex128]:
    """Log M from M - 1 = s(s+1) sum_m h_m (z eps0)^(2m), for eps0 <= 3 and |z eps0| <= 1.5."""
    z = (s + 0.5) * eps0
    terms = next(count for limit, count in _SERIES_TERMS if radius <= limit)
    total = _horner(_series(eps0)[:terms], z * z)
    total *= s
    total *= s + 1
    return complex_log1p(total)


def _by_even_series(s: NDArray[np.complex128], eps0: float) -> NDArray[np.complex128]:
    """Log M near z = 0 for eps0 > 3, where M is far from 1 and the quotients by 2z are not usable."""
    z = (s + 0.5) * eps0
    return np.asarray(np.log(_horner(_even_series(eps0)[:13], z * z)) - eps0 / 2, dtype=np.complex128)


def _by_expm1(s: NDArray[np.complex128], eps0: float) -> NDArray[np.complex128]:
    """Log M from M - 1 = ((s+1)(e^{s eps0}-1) + s(e^{-(s+1) eps0}-1)) / (2s+1), for M near 1."""
    up, down = np.expm1(s * eps0), np.expm1(-(s + 1) * eps0)
    return complex_log1p(np.asarray(((s + 1) * up + s * down) / (2 * s + 1), dtype=np.complex128))


def _by_scaling(s: NDArray[np.complex128], eps0: float) -> NDArray[np.complex128]:
    """Log M with the factor e^{s eps0} split off, which neither overflows nor loses a small M."""
    twice = 2 * s + 1
    rest = np.exp(-eps0 * twice)
    rest *= s
    rest += s + 1
    rest /= twice
    out = s * eps0
    out.real += 0.5 * np.log(rest.real**2 + rest.imag**2)  # half the time of the complex logarithm
    out.imag += np.arctan2(rest.imag, rest.real)
    return out


def log_mgf(s: NDArray[np.complex128], eps0: float) -> NDArray[np.complex128]:
    """Return a logarithm of M(s) = E_1[e^{sL}] of the Laplace loss, on any branch.

    Parameters
    ----------
    s : ndarray
        Complex exponents, any shape.
    eps0 : float
        Sensitivity over scale, positive and finite.

    Returns
    -------
    ndarray of complex
        Same shape; relative error of a few units in the last place where M is near 1, absolute error of a few units
        elsewhere (relative to M at the real part of s). -inf where M is 0.
    """
    if s.real.min(initial=0.0) < -0.5:
        s = np.where(s.real < -0.5, -1 - s, s)  # the mirror image keeps the real part of z non-negative
    size = np.abs(s + 0.5)
    size *= eps0
    largest = float(size.max(initial=0.0))
    gentle = eps0 * eps0 / 4 <= _SERIES_RADIUS
    with np.errstate(divide="ignore", under="ignore"):
        if gentle and largest * largest <= _SERIES_RADIUS:
            return _by_series(s, eps0, largest * largest)
        if size.min() > 1.5 and np.abs(s).min() * eps0 > 1:
            return _by_scaling(s, eps0)
        out = np.empty_like(s)
        small = size <= (1.5 if gentle else 0.75)
        near = ~small & (np.abs(s) * eps0 <= 1)
        far = ~(small | near)
        if small.any():
            out[small] = _by_series(s[small], eps0, _SERIES_RADIUS) if gentle else _by_even_series(s[small], eps0)
        if near.any():
            out[near] = _by_expm1(s[near], eps0)
        out[far] = _by_scaling(s[far], eps0)
    return out


def cumulants(c: NDArray[np.float64], eps0: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return log M(c) and its derivative at real c.

    With w = 2c + 1 and E = e^{-w eps0} - 1, for c >= -1/2,

    .. math:: \log M = c\,\epsilon_0 + \log(1 + cE/w), \qquad
        (cE/w)' = E/w^2 - 2c\,\epsilon_0 (1 + E)/w ,

    and M(c) = M(-1-c). Unlike `log_mgf` this keeps an error of abs(c) eps0 units where log M is smaller than that.
    """
    up = np.maximum(np.maximum(c, -1.0 - c), _MIDDLE)
    width = 2.0 * up + 1.0
    fall = np.expm1(-eps0 * width)
    share = fall / width
    excess = up * share
    slope = eps0 + (share - (2.0 * eps0) * (up + up * fall)) / (width * (1.0 + excess))
    return eps0 * up + np.log1p(excess), np.copysign(slope, c + 0.5)


def _log_ratio(a: float, y: float, eps0: float) -> float:
    """Return log(|M(c+iy)| / M(c)) for a = |c+1/2|."""
    z = complex(a, y)
    if a * eps0 > 1:
        ratio = abs(((z + 0.5) + (z - 0.5) * cmath.exp(-2 * z * eps0)) / z)
        return math.log(ratio / (((a + 0.5) + (a - 0.5) * math.exp(-2 * a * eps0)) / a)) if ratio > 0 else -math.inf
    ratio = abs(cmath.cosh(z * eps0) + (cmath.sinh(z * eps0) / (2 * z) if z else eps0 / 2))
    return math.log(ratio / (math.cosh(a * eps0) + _half_sinhc(a, eps0))) if ratio > 0 else -math.inf


def _half_sinhc(a: float, eps0: float) -> float:
    """Return sinh(a eps0)/(2a), and its limit eps0/2 at a = 0."""
    return math.sinh(a * eps0) / (2 * a) if a > 0 else eps0 / 2


def log_decay(c: float, y: float, eps0: float) -> float:
    r"""Bound log(abs(M(c+iY))/M(c)) from above for every real Y with abs(Y) >= y.

    Up to Y = pi/(2 eps0) the modulus falls: :math:`|M(c+iY)|^2` is proportional to E cos(Y(X-X')) with
    abs(X-X') <= 2 eps0, whose derivative -E[(X-X') sin(Y(X-X'))] is not positive while Y 2 eps0 <= pi; so there the
    value at y is the bound. Beyond, with A = abs(cosh z eps0)^2 = sinh^2(a eps0) + cos^2(Y eps0),
    abs(sinh z eps0)^2 = sinh^2 + cosh^2 - A and r = 1/(2 abs(z)), the bound is the largest value of
    sqrt(A) + r sqrt(sinh^2 + cosh^2 - A) for sinh^2 <= A <= cosh^2, all at a = abs(c+1/2).
    """
    a = abs(c + 0.5)
    start = max(abs(y), math.pi / (2 * eps0))
    t = math.tanh(a * eps0)
    r = 0.5 / math.hypot(a, start)
    peak = 1 + r * t if t >= r else math.sqrt((1 + t * t) * (1 + r * r))
    rest = math.log(peak) - math.log1p(t / (2 * a) if a > 0 else eps0 / 2)
    near = _log_ratio(a, abs(y), eps0) if abs(y) < start else -math.inf
    return min(0.0, max(near, rest) + 8 * 2.3e-16)
