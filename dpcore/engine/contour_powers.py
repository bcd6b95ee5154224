r"""Epsilons of many powers of one pair: lines of the contour that all numbers of copies share.

For k copies, delta_k(eps) = (1/2 pi i) times the integral of M(s)^k e^{-s eps} / (s(s+1)) along Re s = c > 0. The nodes
c + i n tau and log M there do not depend on k, and log M is what costs. So the lines stand at places that do not depend on
the question either: c = `_GRID`^j, with a step for every scale of k. A question goes to the line nearest
to its saddle point, and its answer is the same whatever else is asked.

The bracket of one sum is that of `contour_plan`: the sum over all nodes exceeds delta by the periodic images, bounded by
Chernoff with the exponents c' on both sides of c; nodes beyond the last are bounded by the decay of abs(M); rounding by the
sizes of the terms. An epsilon is published if its two sides are proved: delta is at most the target at the upper one, and
at least the target at the lower one. Where that fails there is no answer here. Only finite losses are counted: the mass
at infinite loss adds nothing to a delta here, and the caller adds it if the pair has some (`dpcore.regions.powers`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.engine.contour_product import TransformProduct
from dpcore.engine.contour_share import TINY
from dpcore.engine.contour_sum import UNIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dpcore.engine.contour_product import ComplexArray, Factor, FloatArray

_COPIES: Final = 2.5
"""Ratio of neighbouring numbers of copies for which a line chooses its nodes."""

_ASIDE: Final = np.concatenate((np.geomspace(0.02, 2.0, 24), -np.geomspace(0.02, 2.0, 24)))
"""Exponents c' - c of the bound of the images, in multiples of the best one of a normal loss; small ones serve losses whose
transform explodes soon beyond c."""

_GRID: Final = 1.2
"""Ratio of neighbouring lines. A question takes the next one below its saddle point, since M may explode above it: c times the
deviation of the tilted loss is below ten or so, and e^((0.2 * 10)^2 / 2) costs less than a digit. Finer
lines were slower: 1.1 answers a third fewer cells a second."""

_ACCURACY: Final = 1e-9
"""Share of delta that images and omitted nodes may have, for a loss that is nearly normal."""

_NEWTON: Final = 8
"""Newton steps on log delta: the saddle point estimate is a few per cent off, and each step doubles the digits."""

_MARGIN: Final = 4.0
"""The two sides of an epsilon stand this many error bounds from the root."""

_LEAST_MARGIN: Final = 1e-12
"""Least relative distance of the two sides from the root, many times the rounding of an epsilon."""

_SADDLES: Final = 10.0 ** (np.arange(-72, 121) / 24)
"""Exponents c at which saddle points are tabulated."""

_LEAP, _ROUNDS, _MOST_LEAPS = 0.2, 8, 64
"""Relative change of the mean of the tilted loss between two exponents above which one more goes between, rounds of that, and
most in one round: a rare far jump makes the mean leap. A coarser table costs proofs, never truth."""

_MOST: Final = 4000
"""Most nodes of one line."""

_HEIGHTS: Final = 40
"""Heights tried, each a quarter above the one before: up to 7500 times the first."""

_CELLS: Final = 1 << 16
"""Terms computed at once, 1 MB: few enough to stay in the cache of a processor."""


@dataclass(frozen=True)
class PowerLine:
    """The nodes of one line: `z`, log M there, its rounding for one copy, and what bounds the rest.

    `others` holds the exponents c' of the bound of the images, and log(M(c') / M(c)) for one copy beside log kappa(c').
    """

    z: ComplexArray
    log_m: ComplexArray
    error: FloatArray
    step: float
    decay: float
    others: tuple[FloatArray, FloatArray, FloatArray]


class PowerContour:
    """All powers of the finite losses of one pair.

    Parameters
    ----------
    factor : Factor
        The pair: its transform with the accuracy that `Factor` asks for.
    """

    def __init__(self, factor: Factor) -> None:
        self.factor = factor
        self.product = TransformProduct([(factor, 1)])
        self._lines: dict[tuple[int, int], PowerLine | None] = {}

    @Lazy
    def _saddles(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Exponents c with log M, its derivative and its second derivative there, as far as they are finite."""
        c = _SADDLES
        value, mean = self.product.cumulants(c)
        for _ in range(_ROUNDS):
            with np.errstate(invalid="ignore"):
                leap = np.flatnonzero(mean[1:] - mean[:-1] > _LEAP * np.abs(mean[:-1]))
            leap = leap[c[leap + 1] > (1 + 1e-6) * c[leap]][:_MOST_LEAPS]
            if not leap.size:
                break
            more = np.sqrt(c[leap] * c[leap + 1])
            order = np.argsort(np.concatenate((c, more)), kind="stable")
            rows = zip((c, value, mean), (more, *self.product.cumulants(more)), strict=True)
            c, value, mean = (np.concatenate(pair)[order] for pair in rows)
        good = np.isfinite(value) & np.isfinite(mean)
        c, value, mean = c[good], value[good], mean[good]
        variance = np.maximum(np.gradient(mean, c), 1e-300) if c.size > 1 else np.ones(c.size)
        return c, value, mean, variance

    def epsilon_bounds(self, copies: NDArray[np.int64], delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) of the epsilon at which k copies have the delta asked for; NaN where nothing is proved.

        Parameters
        ----------
        copies : ndarray of int
            Numbers of copies.
        delta : ndarray of float
            A target for each, in (0, 1).

        Returns
        -------
        tuple of ndarray of float
            Lower and upper sides, NaN without a proof.
        """
        k, target = np.asarray(copies, dtype=np.float64), np.asarray(delta, dtype=np.float64)
        lower, upper = np.full(k.size, np.nan), np.full(k.size, np.nan)
        start, c = self._estimates(k, target)
        good = np.flatnonzero(np.isfinite(start) & (start > 0))
        for line, index in self._assigned(c, k, good):
            checkpoint()
            lower[index], upper[index] = _sides(line, k[index], target[index], start[index])
        return lower, upper

    def exceeds(self, copies: NDArray[np.int64], epsilon: FloatArray, delta: FloatArray) -> NDArray[np.bool_]:
        """Return where delta of k copies at epsilon may exceed the given one: False is proved."""
        k, eps = np.asarray(copies, dtype=np.float64), np.asarray(epsilon, dtype=np.float64)
        c, value, mean, _ = self._saddles
        open_ = np.ones(k.size, dtype=np.bool_)
        if not c.size:
            return open_
        chernoff = k[:, None] * (value + 1e-9 * (1 + np.abs(value))) - c * eps[:, None] + _log_kappa(c)
        np.less(np.log(delta), chernoff.min(axis=1) + 1e-6, out=open_)
        index = np.flatnonzero(open_ & np.isfinite(eps) & (eps > 0))
        if not index.size:
            return open_
        poles = 1 / c + 1 / (c + 1)
        at = np.array([int(np.argmin(np.abs(k[i] * mean - poles - eps[i]))) for i in index])
        exponent = np.full(k.size, np.nan)
        exponent[index] = c[at]
        for line, some in self._assigned(exponent, k, index):
            high = _brackets(line, k[some], eps[some])[1]
            open_[some] = ~(high <= delta[some])
        return open_

    def _estimates(self, k: FloatArray, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the saddle point estimates of epsilon and c; NaN where the table does not reach."""
        c, value, mean, variance = self._saddles
        result = np.full((2, k.size), np.nan)
        if c.size < 2:
            return result[0], result[1]
        poles, curving, log_poles = 1 / c + 1 / (c + 1), 1 / c**2 + 1 / (c + 1) ** 2, np.log(c * (c + 1))
        for i, (copies, target) in enumerate(zip(k.tolist(), np.log(delta).tolist(), strict=True)):
            eps = copies * mean - poles
            size = copies * value - c * eps - log_poles - 0.5 * np.log(2 * math.pi * (copies * variance + curving))
            at = int(np.searchsorted(-size, -target))  # sizes fall with c
            if 0 < at < c.size:
                share = (size[at - 1] - target) / (size[at - 1] - size[at])
                result[:, i] = [row[at - 1] + share * (row[at] - row[at - 1]) for row in (eps, c)]
        return result[0], result[1]

    def _assigned(
        self, c: FloatArray, k: FloatArray, index: NDArray[np.intp]
    ) -> Iterator[tuple[PowerLine, NDArray[np.intp]]]:
        """Yield the lines of some questions, each with the places of its questions."""
        places = np.floor(np.log(c[index]) / math.log(_GRID)).astype(np.int64)
        scales = np.rint(np.log(k[index]) / math.log(_COPIES)).astype(np.int64)
        for place, scale in sorted(set(zip(places.tolist(), scales.tolist(), strict=True))):
            line = self._line(place, scale)
            if line is not None:
                yield line, index[(places == place) & (scales == scale)]

    def _line(self, place: int, scale: int) -> PowerLine | None:
        """Return the line of one place for numbers of copies within half a step of one scale."""
        if (place, scale) not in self._lines:
            self._lines[place, scale] = self._made(_GRID**place, _COPIES**scale)
        return self._lines[place, scale]

    def _made(self, c: float, copies: float) -> PowerLine | None:
        """Choose the nodes for about that many copies, and evaluate the transform there.

        None if more than `_MOST` nodes were needed, or if no period serves: the law is far from normal, or its transform is
        unknown on one side of c, and its powers are asked one by one.
        """
        log_m_c, mean, variance = (float(np.interp(c, self._saddles[0], row)) for row in self._saddles[1:])
        curvature = copies * variance + 1 / c**2 + 1 / (c + 1) ** 2
        target = math.log(_ACCURACY / (c * (c + 1) * math.sqrt(2 * math.pi * curvature)))
        points = c + math.sqrt(60.0 / curvature) * _ASIDE
        points = points[points > 0.02 * c]
        values = self.product.cumulants(points)[0]
        points, values = points[np.isfinite(values)], values[np.isfinite(values)]
        spare = math.sqrt(_COPIES)
        period = self._period(spare * copies, target, points - c, values - log_m_c - mean * (points - c))
        height = self._height(c, copies / spare, target, math.sqrt(-2 * target / curvature))
        if not height * period < 2 * math.pi * _MOST:
            return None
        step = 2 * math.pi / period
        z = np.asarray(c + 1j * step * np.arange(math.ceil(height / step) + 3), dtype=np.complex128)
        log_m, error = self.product.exponent(z[None, :])
        others = points, values - log_m[0, 0].real, _log_kappa(points)
        return PowerLine(z, log_m[0], error[0], step, self.product.log_decay(c, float(z[-1].imag)), others)

    @staticmethod
    def _period(copies: float, target: float, apart: FloatArray, excess: FloatArray) -> float:
        """Return a period W with which the images are small: `excess` is log(M(c')/M(c)) - (c' - c) E L for one copy."""
        need = np.maximum(copies * excess - target, 1.0) / np.abs(apart)
        sides = [need[apart > 0].min(initial=math.inf), need[apart < 0].min(initial=math.inf)]
        return float(max(sides)) * 1.05

    def _height(self, c: float, copies: float, target: float, start: float) -> float:
        """Return a height from which on the nodes are negligible, or infinity."""
        height = start
        for _ in range(_HEIGHTS):
            if copies * self.product.log_decay(c, height) - math.log(math.pi * height) <= target:
                return height
            height *= 1.25
        return math.inf


def _log_kappa(c: FloatArray) -> FloatArray:
    """Return log(c^c / (1+c)^(1+c)), the largest value of (1 - e^-x) e^-cx: delta <= kappa(c) M(c) e^{-c eps}."""
    return np.asarray(c * np.log(c) - (1 + c) * np.log1p(c), dtype=np.float64)


def _sides(line: PowerLine, k: FloatArray, delta: FloatArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two proved sides of the epsilons on one line, NaN without a proof."""
    eps = start.copy()
    log_delta = np.log(delta)
    with np.errstate(all="ignore"):
        for _ in range(_NEWTON):
            kernel, slope = _values(line, k, eps)
            gap = np.log(kernel) + _log_scale(line, k, eps) - log_delta
            move = np.clip(gap * kernel / slope, -0.5 * eps, 2.0 * eps)
            eps = np.where(np.isfinite(move), eps + move, np.nan)
        kernel, slope = _values(line, k, eps)
        error, excess = _errors(line, k, eps)
        reach = _MARGIN * (error + excess) / slope + _LEAST_MARGIN * eps
        low, high = eps - reach, eps + reach
        proved = (low > 0) & (_brackets(line, k, low)[0] >= delta) & (_brackets(line, k, high)[1] <= delta)
    return np.where(proved, low, np.nan), np.where(proved, high, np.nan)


def _log_scale(line: PowerLine, k: FloatArray, eps: FloatArray) -> FloatArray:
    """Return k log M(c) - c eps, by which the sums are scaled."""
    return np.asarray(k * line.log_m[0].real - line.z[0].real * eps, dtype=np.float64)


def _terms(line: PowerLine, k: FloatArray, eps: FloatArray) -> ComplexArray:
    """Return the terms of the sums, a row for each question, before the factor 1 / (s(s+1))."""
    relative = line.log_m - line.log_m[0].real
    power = np.multiply.outer(k, relative)
    power.imag -= np.multiply.outer(eps, line.z.imag)
    term = np.exp(power)
    term *= line.step / math.pi
    term[:, 0] *= 0.5
    return np.asarray(term, dtype=np.complex128)


def _values(line: PowerLine, k: FloatArray, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the kernels and their slopes -d/d eps, both over e^(k log M(c) - c eps)."""
    kernel, slope = np.empty(k.size), np.empty(k.size)
    at_once = max(1, _CELLS // line.z.size)
    weight = 1 / (line.z * (line.z + 1))
    for first in range(0, k.size, at_once):
        part = slice(first, first + at_once)
        term = _terms(line, k[part], eps[part])
        # einsum, not a matrix product: the sum of one row must not depend on how many rows there are
        kernel[part] = np.einsum("rn,n->r", term, weight).real
        slope[part] = np.einsum("rn,n->r", term, weight * line.z).real
    return kernel, slope


def _errors(line: PowerLine, k: FloatArray, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bound rounding and omitted nodes, and the periodic images, relative to e^(k log M(c) - c eps)."""
    c, y = line.z[0].real, line.z.imag
    size = np.exp(np.multiply.outer(k, line.log_m.real - line.log_m[0].real))
    size *= line.step / math.pi / np.abs(line.z * (line.z + 1))
    units = line.error + 4 * np.abs(line.log_m - line.log_m[0].real)  # of the transform, and of k times its ratio
    exponent = (size * (np.multiply.outer(k, units) + 4 * np.abs(np.multiply.outer(eps, y)) + 10)).sum(axis=1)
    scale = np.abs(c * eps) + np.abs(k * line.log_m[0].real)
    operations = 10 * math.isqrt(y.size) + 40
    rounding = UNIT * (exponent + (operations + 3 * scale) * size.sum(axis=1))
    cut = 1.01 * np.exp(k * line.decay) / (math.pi * y[-1])
    points, others, log_kappa = line.others
    apart = points - c
    period = 2 * math.pi / line.step
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.multiply.outer(k, others) + log_kappa - np.multiply.outer(eps, apart)
        decay = np.abs(apart) * period
        images = np.exp(np.minimum(ratio - decay, 700.0)) / -np.expm1(-decay)
    right, left = apart > 0, apart < 0
    excess = 1.01 * (images[:, right].min(axis=1, initial=math.inf) + images[:, left].min(axis=1, initial=math.inf))
    return np.asarray(rounding + cut), np.asarray(excess)


def _brackets(line: PowerLine, k: FloatArray, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (lower, upper) of delta on one line."""
    with np.errstate(all="ignore"):
        kernel = _values(line, k, eps)[0]
        error, excess = _errors(line, k, eps)
        scale = np.exp(np.clip(_log_scale(line, k, eps), -745.0, 700.0))
        lower, upper = scale * (kernel - error - excess) - TINY, scale * (kernel + error) + TINY
    return np.asarray(lower * (1 - 4 * UNIT)), np.asarray(upper * (1 + 4 * UNIT))
