r"""Transforms of a function g of a normal variable that is cut off on both sides.

.. math:: M(s) = \int_{a}^{b} \varphi(x)\,e^{(s+h)g(x)}\,dx

for an increasing g that is analytic for 0 <= Im x <= 1.5/m, with Im g >= 0 and Re g(x + it) <= g(x) there; h is 0 or 1. The two
uses are log r of a likelihood ratio r (h = 1, `trimmed_mixture`) and r itself (h = 0, `allocation`). A sharp cut at b makes M an
entire function: however heavy the tail of g is, exponents as large as a narrow core needs are within reach.

*Path.* The integral runs at height t = 0.75/m above the real axis, where \|e^{iy g}\| = e^{-y Im g} has put an end to the
oscillations, and comes back to the axis at b on a vertical piece. That at a is left out for s + h >= 0: g rises, so M(s) is at
least e^{(s+h) g(a)} and the piece below 1e-26 of it. For s + h < 0 the weight moves to the left, and the path begins with it.

*Quadrature.* Gauss and Legendre, n nodes on panels of half width 0.8 t. An integrand bounded by B on the ellipse with half
axes 1.28 t and t has an error of at most (64/15) (0.8 t) B rho^(-2n) / (1 - rho^(-2)) with rho = 2.85 (Trefethen, SIAM Review
2008, Theorem 4.5), for n = 28 below 1e-24 B t. On the ellipse the height is between 0 and 2t, so the integrand is at most
e^(2 t^2) times its largest value on the axis within 1.28 t of the middle, as long as s + h >= 0; `_STEEP` bounds how much larger that is than
the values inside. For s + h < 0 the height is lowered until \|s + h\| (g - Re g) stays small.

*Decay.* For every Y >= y the modulus is at most the same integral of moduli with e^(-y Im g), at any height, plus the vertical
pieces, at most t e^(t^2/2) times the integrand at b, and at a with the smallest \|e^g\| of its piece, that at its upper end.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from dpcore.core.effort import checkpoint
from dpcore.engine.gauss_legendre import legendre
from dpcore.engine.mixture_mgf import LinePath
from dpcore.engine.products import product

if TYPE_CHECKING:
    from dpcore.engine.mixture_mgf import ComplexArray, FloatArray

LOWEST = -11.0
"""Left end of the normal variable: the mass below is 2e-28."""

_NODES, _WEIGHTS = legendre(28)
_HEIGHT, _HALF = 0.75, 0.8  # height of the path times the steepness m, and half width of a panel over the height
_STEEP = 30.0  # largest rise of the exponent over a panel: at most e^18 more on the ellipse, times 1e-24
_SPLIT = 4  # parts of the last panel
_FALL = 44.0  # log of 1e-19: smaller weights are left out
_DECAYS = np.array([0.03, 0.1, 0.25, 0.5, 0.8, 1.0])  # heights of the paths of the bound, times 1.5 / m
_LOST = 1e-15  # of M(c): what a quadrature of the bound may miss
_BASE_UNITS, _UNITS = 64.0, 4.0  # rounding of a node: a few library calls, and a unit of its exponent
_FARTHEST = 1e60  # no exponent beyond is needed
_STEEPEST, _MOST_LINES = 700.0, 64  # largest exponent of e, and lines that are cached
_EVEN, _CELLS = 16, 1 << 18  # points from which an even spacing is used, and exponentials at once
_BLOCK = 128  # exponents at once
# e^-100 is far below the rounding of a term; smaller ones would soon be denormal, and a product of those takes fifty times as long
_FADED = -100.0
_VERTICAL = 2.0 ** -np.arange(0.0, 26.0)  # ends of the panels of the vertical piece, over its height


class _AxisNodes(NamedTuple):
    """Nodes on the real axis: x, log of weight and density, g."""

    x: FloatArray
    weight: FloatArray
    value: FloatArray


class CutNormal(ABC):
    """A transform; see the module.

    Parameters
    ----------
    high : float
        Right end b of the normal variable.
    steepness : float
        m: the function is analytic up to the height pi / m.
    shift : float
        h.
    """

    takes_rows = True

    def __init__(self, high: float, steepness: float, shift: float) -> None:
        self.high, self.steepness, self.shift = high, steepness, shift
        self._lines: dict[float, LinePath] = {}
        self._log_m: dict[float, float] = {}
        self._axes: dict[int, _AxisNodes] = {}
        self._sizes: dict[float, tuple[FloatArray, FloatArray]] = {}
        self._turned_axes: dict[float, tuple[FloatArray, FloatArray]] = {}

    @abstractmethod
    def value(self, x: FloatArray) -> FloatArray:
        """Return g on the real axis."""

    @abstractmethod
    def turned(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return the real and the imaginary part of g at x + i height."""

    @abstractmethod
    def slope(self, x: float) -> float:
        """Return the derivative of g, which increases with x."""

    # ---- the real axis -------------------------------------------------------------------------------------------

    def _axis_of(self, height: float) -> _AxisNodes:
        """Return the nodes below a path: they follow from the number of panels, whatever else was asked before."""
        count = max(2, math.ceil((self.high - LOWEST) / (2 * _HALF * height)))
        axis = self._axes.get(count)
        if axis is None:
            x, weight = _panels(LOWEST, self.high, count)
            log_weight = np.log(weight) - x * x / 2 - 0.5 * math.log(2 * math.pi)
            axis = self._axes[count] = _AxisNodes(x, log_weight, self.value(x))
        return axis

    def _path_height(self, c: float) -> float:
        """Return the height of the path at Re s = c."""
        height = _HEIGHT / max(self.steepness, 1.0)
        power = c + self.shift
        if power >= 0:
            return height
        # g - Re g is about t^2 g''/2 <= t^2 m g'/2, which matters only where the weight is
        axis = self._axis_of(height)
        exponent = power * axis.value + axis.weight
        last = float(axis.x[np.flatnonzero(exponent > exponent.max() - _FALL)[-1]])
        bend = -power * self.steepness * self.slope(last)
        return min(height, math.sqrt(2.0 / bend)) if bend > 0 else height

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest c at which M is computed."""
        half = _HALF * _HEIGHT / max(self.steepness, 1.0)
        left, right = self.slope(LOWEST) * half, self.slope(self.high) * half
        # without a slope no loss is left: all are below doubles. The right end has shorter panels; to the left the integrand
        # fades before its exponent turns steep, but for an exponent that moves all weight to the left end itself
        least = -_STEEP / left - self.shift if left > 0.0 else -_FARTHEST
        largest = _SPLIT * _STEEP / right - self.shift if right > 0.0 else _FARTHEST
        return max(least, -_FARTHEST), min(largest, _FARTHEST)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis; nan where an exponent is too far out."""
        out = np.full((2, c.size), np.nan)
        low, high = self.ends
        inside = np.flatnonzero((c >= low) & (c <= high))
        axis = self._axis_of(_HEIGHT / max(self.steepness, 1.0))
        density = np.exp(axis.weight)
        for begin in range(0, inside.size, _BLOCK):
            checkpoint()
            at = inside[begin : begin + _BLOCK]
            exponent = np.multiply.outer(c[at] + self.shift, axis.value)
            small = product(np.expm1(np.minimum(exponent, _STEEPEST)), density) - self.removed
            whole = exponent.max(axis=1) <= _STEEPEST  # at either end: g may be negative, and so may s + h
            exponent += axis.weight
            top = exponent.max(axis=1)
            exponent -= top[:, None]
            np.exp(exponent, out=exponent)
            total = exponent.sum(axis=1)
            mean = np.einsum("ij,j->i", exponent, axis.value)
            # from M - 1, most of whose terms are small: k copies have k times the error of log M
            near = whole & (small > -0.5)
            out[0, at] = np.where(near, np.log1p(np.where(near, small, 0.0)), top + np.log(total))
            out[1, at] = mean / total
        return out[0], out[1]

    # ---- lines ---------------------------------------------------------------------------------------------------

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) at complex s; rows of a 2-d array are lines."""
        s = np.asarray(s, dtype=np.complex128)
        if s.ndim == 2:
            return np.stack([self._row(row) for row in s])
        out = np.empty(s.size, dtype=np.complex128)
        for c in set(s.real.tolist()):
            members = np.flatnonzero(s.real == c)
            out[members] = self._row(s[members])
        return out

    def _row(self, s: ComplexArray) -> ComplexArray:
        c = float(s.real[0])
        low, high = self.ends
        if not low <= c <= high:
            return np.full(s.size, np.nan, dtype=np.complex128)
        small = _less_one(self._line(c), np.abs(s.imag))
        out = np.empty(s.size, dtype=np.complex128)
        a, b = small.real, small.imag
        with np.errstate(divide="ignore"):
            out.real = 0.5 * np.log1p(np.maximum(2.0 * a + a * a + b * b, -1.0)) + self._cached_total(c)
        out.imag = np.where(s.imag < 0, -1.0, 1.0) * np.arctan2(b, 1.0 + a)
        return out

    def _line(self, c: float) -> LinePath:
        """Return nodes and weights, relative to M(c), of the path at Re s = c."""
        line = self._lines.get(c)
        if line is not None:
            return line
        height, power = self._path_height(c), c + self.shift
        axis = self._axis_of(height)
        size, turn = self.turned(axis.x, height)
        fall = power * size + axis.weight + height * height / 2
        angle = power * turn - height * axis.x
        pieces = [(size, turn, fall, angle), self._vertical(self.high, -1.0, power, height)]
        if power < 0:
            pieces.append(self._vertical(LOWEST, 1.0, power, height))
        size, turn, fall, angle = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        keep = fall > fall.max() - _FALL
        weight = np.exp(fall[keep] - self._cached_total(c)) * np.exp(1j * angle[keep])
        line = LinePath(size[keep], turn[keep], weight[None], np.zeros(1))
        if len(self._lines) > _MOST_LINES:
            self._lines.clear()
        self._lines[c] = line
        return line

    def _total(self, c: float) -> float:
        return float(self.cumulants(np.array([c]))[0][0])

    def _vertical(
        self, x: float, way: float, power: float, height: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the nodes of the vertical piece at x, from the axis up to the path (way 1) or down from it (way -1)."""
        edges = height * np.append(_VERTICAL, 0.0)
        middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * (edges[:-1] - edges[1:])
        u = (middle[:, None] + half[:, None] * _END_NODES).ravel()
        weight = (half[:, None] * _END_WEIGHTS).ravel()
        size, turn = self.turned(np.full(u.size, x), u)
        fall = np.log(weight) - 0.5 * math.log(2 * math.pi) - x**2 / 2 + u * u / 2 + power * size
        # dx is i du, up or down
        return size, turn, np.asarray(fall, dtype=np.float64), power * turn - x * u + way * 0.5 * math.pi

    def log_decay(self, c: float, y: float) -> float:
        """Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y, by the best of several paths."""
        low, high = self.ends
        power = c + self.shift
        if y <= 0 or not low <= c <= high:
            return 0.0
        axis = self._axis_of(_HEIGHT / max(self.steepness, 1.0))
        log_total = self._cached_total(c)
        end = power * float(self.value(np.array([self.high]))[0]) - self.high**2 / 2 - 0.5 * math.log(2 * math.pi)
        if power < 0:
            end = power * float(self.value(np.array([LOWEST]))[0]) - self.high**2 / 2
        best = 0.0
        for share in _DECAYS.tolist():
            height = share * 1.5 / max(self.steepness, 1.0)
            if power < 0 and height > self._path_height(c):
                break
            size, turn = self._turned_axis(share, height)
            exponent = power * size + axis.weight + height * height / 2 - y * turn
            top = float(exponent.max())
            value = math.exp(min(0.0, top - log_total)) * float(np.exp(exponent - top).sum())
            rise = height * height / 2 + math.log(height) - log_total
            value += math.exp(min(0.0, end + rise))
            if power < 0:
                least = float(self.turned(np.array([LOWEST]), height)[0][0])
                value += math.exp(min(0.0, power * least - LOWEST**2 / 2 - 0.5 * math.log(2 * math.pi) + rise))
            best = min(best, math.log(min(1.0, value * (1 + 1e-6) + _LOST)))
        return best

    def _cached_total(self, c: float) -> float:
        value = self._log_m.get(c)
        if value is None:
            value = self._log_m[c] = self._total(c)
        return value

    def _turned_axis(self, share: float, height: float) -> tuple[FloatArray, FloatArray]:
        pair = self._turned_axes.get(share)
        if pair is None:
            axis = self._axis_of(_HEIGHT / max(self.steepness, 1.0))
            pair = self._turned_axes[share] = self.turned(axis.x, height)
        return pair

    @property
    def removed(self) -> float:
        """Mass of the normal variable outside the ends."""
        return float(ndtr(LOWEST) + ndtr(-self.high))

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s) near the middle of the axis, in units of 2^-53 M(Re s)."""
        return _BASE_UNITS

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent, in units of 2^-53 M(Re s).

        M(s)/M(c) - 1 is a sum of terms w (e^(iy g) - 1) and M(c) - 1 one of terms w (e^(c g) - 1): every term has the rounding
        of its exponents and of a few calls, and where y g and c g are small, so are the terms.
        """
        rows = np.atleast_2d(s)
        out = np.empty(rows.shape)
        for row, (c, y) in enumerate(zip(rows.real[:, 0].tolist(), np.abs(rows.imag), strict=True)):
            low, high = self.ends
            if not low <= c <= high:
                out[row] = _BASE_UNITS
                continue
            known, terms = self._terms(c)
            out[row] = terms[np.minimum(np.searchsorted(known, y), known.size - 1)]
        return out.reshape(s.shape)

    def _terms(self, c: float) -> tuple[FloatArray, FloatArray]:
        """Return heights y, and up to each the error of M in units: the sum of the sizes of the terms times their roundings."""
        stored = self._sizes.get(c)
        if stored is None:
            line, power = self._line(c), c + self.shift
            size, reach = np.abs(line.weight[0]), np.hypot(line.size, line.turn)
            units = _BASE_UNITS + _UNITS * np.abs(np.log(np.maximum(size, 1e-30)))
            axis = self._axis_of(_HEIGHT / max(self.steepness, 1.0))
            growth = np.abs(np.expm1(np.minimum(power * axis.value, _STEEPEST)))
            own = float(np.exp(axis.weight) @ (growth * (_BASE_UNITS + _UNITS * np.abs(axis.weight))))
            total, most = math.exp(min(self._cached_total(c), _STEEPEST)), float(size @ units)
            own = min(own / total, most) if total > 0.0 else most
            y = 2.0 ** np.arange(-10.0, 60.0)
            terms = product(np.minimum(np.multiply.outer(y, reach), 2.0), size * units)
            stored = self._sizes[c] = y, np.asarray(terms + own, dtype=np.float64)
        return stored


def _less_one(line: LinePath, y: FloatArray) -> ComplexArray:
    """Return the sum of weight (e^(iy g) - 1) for each y >= 0."""
    n, weight = y.size, line.weight[0]
    gap = y[1:] - y[:-1]
    if n < _EVEN or not bool((np.abs(gap - gap[0]) <= 1e-9 * abs(gap[0])).all()):
        rows = max(1, _CELLS // max(1, weight.size))
        parts = [product(_turns(line, y[i : i + rows]), weight) for i in range(0, n, rows)]
        return np.asarray(np.concatenate(parts), dtype=np.complex128)
    inner = math.isqrt(n - 1) + 1
    outer = -(-n // inner)
    step = float(y[-1] - y[0]) / (n - 1)
    coarse = _turns(line, np.asarray(y[0] + step * inner * np.arange(outer), dtype=np.float64))
    checkpoint()
    coarse *= weight
    fine = _turns(line, np.asarray(step * np.arange(inner), dtype=np.float64))
    both = product(coarse, fine.T) + coarse.sum(axis=1)[:, None] + product(fine, weight)[None, :]
    return np.asarray(both.ravel()[:n], dtype=np.complex128)


def _turns(line: LinePath, y: FloatArray) -> ComplexArray:
    """Return e^(iy g) - 1: values of y, nodes."""
    fall, angle = np.multiply.outer(y, -line.turn), np.multiply.outer(y, line.size)
    np.maximum(fall, _FADED, out=fall)
    out = np.empty(fall.shape, dtype=np.complex128)
    out.real = np.expm1(fall) * np.cos(angle) - 2.0 * np.sin(angle / 2) ** 2
    out.imag = np.exp(fall) * np.sin(angle)
    return out


_END_NODES, _END_WEIGHTS = legendre(32)


@lru_cache(maxsize=64)
def _panels(low: float, high: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of so many panels between two ends, those at the right divided further."""
    edges = np.linspace(low, high, count + 1)
    # the exponent is steepest at the right end
    last = np.linspace(edges[-2], edges[-1], _SPLIT + 1)
    edges = np.concatenate((edges[:-2], [0.5 * (edges[-3] + edges[-2])], last))
    middle, own = 0.5 * (edges[1:] + edges[:-1]), 0.5 * (edges[1:] - edges[:-1])
    x = (middle[:, None] + own[:, None] * _NODES).ravel()
    return np.asarray(x, dtype=np.float64), np.asarray((own[:, None] * _WEIGHTS).ravel(), dtype=np.float64)
