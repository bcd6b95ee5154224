r"""Transforms of a function g of a normal variable that is cut off on both sides.

.. math:: M(s) = \int_{a}^{b} \varphi(x)\,e^{(s+h)g(x)}\,dx

for an increasing g that is analytic for 0 <= Im x <= 1.5/m, with Im g >= 0 and Re g(x + it) <= g(x) there; h is 0 or 1. The two
uses are log r of a likelihood ratio r (h = 1, `trimmed_mixture`) and r itself (h = 0, `allocation`). A sharp cut at b makes M an
entire function: however heavy the tail of g is, exponents as large as a narrow core needs are within reach.

*Path.* The integral runs at height t = 0.75/m above the real axis, where \|e^{iy g}\| = e^{-y Im g} has put an end to the
oscillations, and comes back to the axis at b on a vertical piece. The piece at a is left out for s + h >= 0: g rises,
so M(s) is at least e^{(s+h) g(a)} and the piece below 1e-26 of it. For s + h < 0 the weight moves to the left, and the
path begins with it.

*Quadrature.* Gauss and Legendre, 28 nodes on panels of half width 0.8 t. What it misses is computed from the sizes of the integrand on
ellipses around the panels, and so are the roundings of all terms (`cut_rounding`). For s + h < 0 the height is lowered until
\|s + h\| (g - Re g) stays small.

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
from dpcore.core.rounding import UNIT
from dpcore.engine.cut_rounding import (
    LOOSEST,
    OUTSIDE,
    REACH,
    SECOND,
    Panels,
    PathUnits,
    axis_units,
    largest_density,
    missed,
    path_units,
    unknown,
)
from dpcore.engine.gauss_legendre import legendre
from dpcore.engine.mixture_mgf import LinePath
from dpcore.engine.mixture_rounding import LIBRARY, PAIRS
from dpcore.engine.products import product

if TYPE_CHECKING:
    from dpcore.engine.mixture_mgf import ComplexArray, FloatArray

LOWEST = -11.0
"""Left end of the normal variable: the mass below is 2e-28."""

_NODES, _WEIGHTS = legendre(28)
_HEIGHT, _HALF = 0.75, 0.8  # height of the path times the steepness m, and half width of a panel over the height
_STEEP = 30.0  # largest rise of the exponent over a panel: the rule misses too much of steeper ones
_SPLIT = 4  # parts of the last panel
_FALL = 44.0  # log of 1e-19: smaller weights are left out
_DECAYS = np.array([0.03, 0.1, 0.25, 0.5, 0.8, 1.0])  # heights of the paths of the bound, times 1.5 / m
_USUAL = 4000.0  # units of the rounding of a transform near the middle of the axis
_STRAIGHT = 0.5  # share of the largest height up to which angles are below 3/4; beyond, errors grow by `_SLANTED`
_SLANTED = 256.0
_FARTHEST = 1e60  # no larger exponent is needed
_STEEPEST, _MOST_LINES = 700.0, 64  # largest exponent of e, and number of lines that are cached
_EVEN, _CELLS = 16, 1 << 18  # points from which even spacing is exploited, and exponentials computed at once
_BLOCK = 128  # exponents computed at once
# e^-100 is far below the rounding of a term; smaller ones would soon be denormal, and a product of those takes fifty times as long
_FADED = -100.0
_VERTICAL = 2.0 ** -np.arange(0.0, 26.0)  # ends of the panels of the vertical piece, over its height


class _AxisNodes(NamedTuple):
    """Nodes on the real axis: x, log of weight and density, g."""

    x: FloatArray
    weight: FloatArray
    value: FloatArray
    panels: Panels
    slope: FloatArray
    own: FloatArray


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
        self._own_units: dict[float, float] = {}
        self._units: dict[float, PathUnits] = {}
        self._turned_axes: dict[tuple[float, int], tuple[FloatArray, FloatArray, FloatArray]] = {}

    @abstractmethod
    def value(self, x: FloatArray) -> FloatArray:
        """Return g on the real axis."""

    @abstractmethod
    def turned(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return the real and the imaginary part of g at x + i height."""

    @abstractmethod
    def slope(self, x: float) -> float:
        """Return the derivative of g, which increases with x."""

    @abstractmethod
    def value_units(self, x: FloatArray, value: FloatArray) -> FloatArray:
        """Bound the error of g on the real axis, in units of 2^-53, at exact x."""

    @abstractmethod
    def turned_units(
        self, x: FloatArray, height: FloatArray | float, turned: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """Bound the error of g at x + i height for angles up to 3/4, in units of 2^-53; `turned` is its real and imaginary part."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least g."""

    # ---- the real axis -------------------------------------------------------------------------------------------

    def _axis_of(self, height: float) -> _AxisNodes:
        """Return the nodes below a path: they follow from the number of panels, whatever else was asked before."""
        count = max(2, math.ceil((self.high - LOWEST) / (2 * _HALF * height)))
        axis = self._axes.get(count)
        if axis is None:
            x, weight, middle, half = _panels(LOWEST, self.high, count)
            log_weight = np.log(weight) - x * x / 2 - 0.5 * math.log(2 * math.pi)
            reach = REACH * half
            slope = np.array([self.slope(end) for end in (middle + reach).tolist()])
            ends = self.value(middle - reach), self.value(middle + reach), slope, largest_density(middle, reach)
            value, steep = self.value(x), np.repeat(slope, _NODES.size)
            own = self.value_units(x, value)
            axis = self._axes[count] = _AxisNodes(x, log_weight, value, Panels(half, *ends), steep, own)
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

    def cumulant_rounding(self, c: FloatArray) -> FloatArray:
        """Bound the error of log M(c) from `cumulants` beyond four times its size, in units of 2^-53; nan too far out."""
        low, high = self.ends
        return np.array([self._axis_error(at) if low <= at <= high else math.nan for at in c.tolist()])

    def _axis_error(self, c: float) -> float:
        known = self._own_units.get(c)
        if known is None:
            axis, power = self._axis_of(_HEIGHT / max(self.steepness, 1.0)), c + self.shift
            log_total = self._cached_total(c)
            units = axis_units(axis.x, axis.value, axis.own, axis.slope, power)
            exponent = power * axis.value + axis.weight
            top = float(exponent.max())
            part = np.exp(exponent - top)
            # as a sum of all terms, or from M - 1, whose terms are smaller where their exponents are
            mean = (
                float(part @ (units + 3.0 * np.abs(exponent))) / float(part.sum())
                + PAIRS
                + LIBRARY * (4.0 + math.log(axis.x.size))
            )
            grown = np.abs(np.expm1(np.minimum(power * axis.value, _STEEPEST)))
            spread = np.exp(axis.weight + np.maximum(power * axis.value, 0.0) - log_total)
            near = float(
                (np.minimum(abs(power) * (axis.own + 3.0 * axis.slope * (np.abs(axis.x) + 1.0)), 1e15) * spread).sum()
            )
            sizes = np.exp(axis.weight - log_total) * grown
            near += (
                float(sizes @ (4.0 * axis.x * axis.x + 4.0 * np.abs(axis.x) + 4.0 * LIBRARY + 40.0 + axis.x.size)) + 8.0
            )
            gap = missed(
                axis.panels, power, 1.25 * float(axis.panels.half.max()), (self.steepness, self.least), log_total
            )
            if float((power * axis.value).max()) > _STEEPEST:
                near = mean
            known = self._own_units[c] = unknown(SECOND * (max(mean, near) if abs(log_total) >= 0.1 else near), gap)
        return known

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
        log_total = self._cached_total(c)
        x, slope, high = [axis.x], [axis.slope], [np.full(axis.x.size, height)]
        for end, piece in zip((self.high, LOWEST), pieces[1:], strict=False):
            x.append(np.full(piece[0].size, end))
            slope.append(np.full(piece[0].size, self.slope(end + 0.5 * height)))
            high.append(self._heights(height))
        own = [self.turned_units(at, h, piece[:2]) for at, h, piece in zip(x, high, pieces, strict=True)]
        size, turn, fall, angle = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        keep = fall > fall.max() - _FALL
        weight = np.exp(fall[keep] - log_total) * np.exp(1j * angle[keep])
        line = LinePath(size[keep], turn[keep], weight[None], np.zeros(1))
        if len(self._lines) > _MOST_LINES:
            self._lines.clear()
            self._units.clear()
        self._lines[c] = line
        where = np.concatenate(x), size, turn
        count_of = path_units(where, np.concatenate(own), np.concatenate(slope), (power, height, log_total))
        counted = PathUnits(*(column[keep] if column.size else column for column in count_of))
        self._units[c] = counted._replace(size=np.abs(weight), weight=counted.weight + 3.0 * np.abs(fall[keep]))
        return line

    def _total(self, c: float) -> float:
        return float(self.cumulants(np.array([c]))[0][0])

    def _vertical(
        self, x: float, way: float, power: float, height: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the nodes of the vertical piece at x, from the axis up to the path (way 1) or down from it (way -1)."""
        u = self._heights(height)
        weight = (0.5 * height * (_VERTICAL - np.append(_VERTICAL[1:], 0.0))[:, None] * _END_WEIGHTS).ravel()
        size, turn = self.turned(np.full(u.size, x), u)
        fall = np.log(weight) - 0.5 * math.log(2 * math.pi) - x**2 / 2 + u * u / 2 + power * size
        # dx is i du, up or down
        return size, turn, np.asarray(fall, dtype=np.float64), power * turn - x * u + way * 0.5 * math.pi

    @staticmethod
    def _heights(height: float) -> FloatArray:
        """Return the nodes of a vertical piece, by their heights."""
        edges = height * np.append(_VERTICAL, 0.0)
        middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * (edges[:-1] - edges[1:])
        return np.asarray((middle[:, None] + half[:, None] * _END_NODES).ravel(), dtype=np.float64)

    def log_decay(self, c: float, y: float) -> float:
        """Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y, by the best of several paths."""
        low, high = self.ends
        power = c + self.shift
        if y <= 0 or not low <= c <= high:
            return 0.0
        lowered = self._path_height(c)
        axis = self._axis_of(lowered)
        log_total = self._cached_total(c)
        end = power * float(self.value(np.array([self.high]))[0]) - self.high**2 / 2 - 0.5 * math.log(2 * math.pi)
        if power < 0:
            end = power * float(self.value(np.array([LOWEST]))[0]) - self.high**2 / 2
        best = 0.0
        for share in _DECAYS.tolist():
            height = share * 1.5 / max(self.steepness, 1.0)
            if power < 0 and height > lowered:
                break
            size, turn, own = self._turned_axis(share, height, axis)
            exponent = power * size + axis.weight + height * height / 2 - y * turn
            top = float(exponent.max())
            part = np.exp(exponent - top)
            value = math.exp(min(0.0, top - log_total)) * float(part.sum())
            units = (
                abs(power) * (own + 2.0 * np.abs(size))
                + y * (own + 3.0 * turn)
                + 3.0 * np.abs(exponent)
                + 8.0 * axis.x**2
            )
            value *= 1.0 + 2.0 * UNIT * (
                float(part @ units) / float(part.sum()) + axis.x.size + self._axis_error(c) + 64.0
            )
            rise = height * height / 2 + math.log(height) - log_total
            value += math.exp(min(0.0, end + rise))
            if power < 0:
                least = float(self.turned(np.array([LOWEST]), height)[0][0])
                value += math.exp(min(0.0, power * least - LOWEST**2 / 2 - 0.5 * math.log(2 * math.pi) + rise))
            beyond = height + 1.25 * float(axis.panels.half.max())
            gap = missed(axis.panels, power, beyond, (self.steepness, self.least), log_total)
            best = min(best, math.log(min(1.0, value * (1 + 1e-9) + gap)))
        return best

    def _cached_total(self, c: float) -> float:
        value = self._log_m.get(c)
        if value is None:
            value = self._log_m[c] = self._total(c)
        return value

    def _turned_axis(self, share: float, height: float, axis: _AxisNodes) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return g above the axis, its parts and the bound of its error with that of the nodes."""
        name = share, axis.x.size
        known = self._turned_axes.get(name)
        if known is None:
            if len(self._turned_axes) > _MOST_LINES:
                self._turned_axes.clear()
            size, turn = self.turned(axis.x, height)
            own = self.turned_units(axis.x, height, (size, turn)) * (1.0 if share <= _STRAIGHT else _SLANTED)
            own += 3.0 * axis.slope * (np.abs(axis.x) + 1.0)
            known = self._turned_axes[name] = size, turn, own
        return known

    @property
    def removed(self) -> float:
        """Mass of the normal variable outside the ends."""
        return float(ndtr(LOWEST) + ndtr(-self.high))

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s) near the middle of the axis, in units of 2^-53 M(Re s)."""
        return _USUAL

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
                out[row] = LOOSEST
                continue
            known, terms = self._terms(c)
            out[row] = terms[np.minimum(np.searchsorted(known, y), known.size - 1)]
        return out.reshape(s.shape)

    def _terms(self, c: float) -> tuple[FloatArray, FloatArray]:
        """Return heights y, and up to each the error of M in units: the sum of the sizes of the terms times their roundings."""
        stored = self._sizes.get(c)
        if stored is None:
            line = self._line(c)
            y = 2.0 ** np.arange(-10.0, 60.0)
            height, power = self._path_height(c), c + self.shift
            axis = self._axis_of(height)
            gap = missed(axis.panels, power, 2.0 * height, (self.steepness, self.least), self._cached_total(c))
            # of the weights left out, and of the last panel of a vertical piece where the phase falls fast along it
            gap += line.weight.size * math.exp(-_FALL) * float(np.abs(line.weight[0]).max())
            steep = y * self.slope(self.high + 0.5 * height) * height * 2.0**-25
            edge = np.where(steep > 1.0, 2.0**-24, 1e-20) * math.exp(min(self._edge(c, height), 600.0))
            units = self._units[c].at(y) + self._axis_error(c) + abs(self._cached_total(c))
            terms = np.minimum(units + (gap + edge + OUTSIDE) / UNIT, LOOSEST)
            stored = self._sizes[c] = y, np.asarray(terms, dtype=np.float64)
        return stored

    def _edge(self, c: float, height: float) -> float:
        """Return the logarithm of the largest weight of the vertical pieces, over M(c)."""
        power = c + self.shift
        ends = [(self.high, power * float(self.value(np.array([self.high + 0.5 * height]))[0]))]
        if power < 0:
            ends = [(x, power * self.least) for x in (self.high, LOWEST)]
        return max(top - x * x / 2 for x, top in ends) + height * height - self._cached_total(c)


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
def _panels(low: float, high: float, count: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return nodes and weights of panels between two ends, shorter at the right, with middles and half widths."""
    edges = np.linspace(low, high, count + 1)
    # the exponent is steepest at the right end
    last = np.linspace(edges[-2], edges[-1], _SPLIT + 1)
    edges = np.concatenate((edges[:-2], [0.5 * (edges[-3] + edges[-2])], last))
    middle, own = 0.5 * (edges[1:] + edges[:-1]), 0.5 * (edges[1:] - edges[:-1])
    x = (middle[:, None] + own[:, None] * _NODES).ravel()
    weight = (own[:, None] * _WEIGHTS).ravel()
    return x, weight, middle, own
