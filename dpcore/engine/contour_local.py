r"""The profile of a product near the points of an even grid: Taylor series of the sums along its lines.

A short line gives the kernel as :math:`e^{\log m - c\varepsilon} S(\varepsilon)` with a finite sum
:math:`S(\varepsilon) = \mathrm{Re} \sum_n t_n e^{-i y_n (\varepsilon - r)}`. Its derivatives are sums with the same phases, and
the remainder of a series of order m within a distance h is at most :math:`\sum |t_n| (y_n h)^{m+1} / (m+1)!`, because
:math:`|e^{i\theta} - \sum_{j \le m} (i\theta)^j/j!| \le |\theta|^{m+1}/(m+1)!`. A grid of four points per standard
deviation thus serves any number of values in between, each with a few multiplications, and gives the slopes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.engine.contour_sum import UNIT, phases, rounding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.engine.contour_plan import Line
    from dpcore.engine.contour_product import ComplexArray, FloatArray

    Bounds = tuple[FloatArray, FloatArray]

ORDER = 8  # order of the series; its remainder is part of the bounds
_ORDERS = np.arange(1.0, ORDER + 1)[:, None, None]
_TURNS = np.array([-1j, -1, 1j, 1])[np.arange(ORDER) % 4][:, None, None]  # powers of -i
REACH = 0.55
"""Reach of a series around its point of the grid, in steps: slightly more than half, for rounding."""

_ROUNDED, _TINY = 16 * UNIT, 1e-321  # rounding of a gain, and an allowance for underflow
_STEEPEST, _FARTHEST = 1e30, 600.0
"""Largest exponent whose powers are doubles, and largest one in units of the reach: beyond, a series is useless."""


class Stretch(NamedTuple):
    """A short line, some points of it, and the ends between which it is used."""

    line: Line
    epsilon: FloatArray
    low: float
    high: float


def expansions(stretches: Sequence[Stretch], half: float) -> tuple[list[FloatArray], list[float]] | None:
    """Return the coefficients of S at the points of each line, a row per power, and the error within `half` of them.

    None if the lines have different numbers of terms or their powers exceed doubles. The real part of a product of complex
    numbers is the scalar product of one with the other's conjugate, both as pairs of real numbers, so real matrices suffice.
    """
    lines = [stretch.line for stretch in stretches]
    columns = [(line.terms, line.sizes, line.errors) for line in lines]
    terms, sizes, errors = ([row for row in rows if row is not None] for rows in zip(*columns, strict=True))
    if len(terms) < len(lines) or len({(row.size, size.size) for row, size in zip(terms, sizes, strict=True)}) > 1:
        return None
    blocks = np.array(terms)
    count, rows, width = blocks.shape
    step, reference = np.array([(line.step, line.reference) for line in lines]).T
    y = step[:, None] * np.arange(rows * width)
    if y.max() > _STEEPEST or y.max() * half > _FARTHEST:
        return None
    weight, left_out = _derivatives(blocks.reshape(count, -1), y, half)
    points = [stretch.epsilon.size for stretch in stretches]
    own = np.repeat(np.arange(count), points)
    distance = reference[own] - np.concatenate([stretch.epsilon for stretch in stretches])
    fine, coarse = phases(distance * step[own], rows, width)
    turned = np.multiply(coarse.T[:, :, None], fine.T[:, None, :], order="C").reshape(own.size, -1).view(np.float64)
    ends = np.cumsum(points).tolist()
    series = [weight[:, at] @ turned[end - points[at] : end].T for at, end in enumerate(ends)]
    return series, (left_out + _errors(stretches, np.array(sizes), np.array(errors), y, half)).tolist()


def _derivatives(terms: ComplexArray, y: FloatArray, half: float) -> tuple[FloatArray, FloatArray]:
    """Return the terms of every power over its factorial, as pairs of real numbers, and the contribution of omitted powers."""
    powers = np.cumprod(y / _ORDERS, axis=0)
    remainder = (np.abs(terms) * y * powers[-1]).sum(axis=1) * (1.01 * half ** (ORDER + 1) / (ORDER + 1))
    weight = np.empty((ORDER + 1, *terms.shape), dtype=np.complex128)
    weight[0] = terms
    np.multiply(terms * _TURNS, powers, out=weight[1:])
    return weight.view(np.float64), remainder


def _errors(
    stretches: Sequence[Stretch], sizes: FloatArray, errors: FloatArray, y: FloatArray, half: float
) -> FloatArray:
    """Bound the rounding of each series and the contribution of omitted nodes of its line.

    The terms of a node in all orders together are at most e^(y half) times that of order 0, and so are their errors.
    """
    growth = np.exp(y[:, : sizes.shape[1]] * half)
    larger = sizes * growth
    weights = larger.sum(axis=1), (errors * growth).sum(axis=1), (larger * y[:, : sizes.shape[1]]).sum(axis=1)
    bounds = []
    for stretch, total, exponent, phase in zip(stretches, *(weight.tolist() for weight in weights), strict=True):
        line, low, high = stretch.line, stretch.low, stretch.high
        distance = max(high - line.reference, line.reference - low)
        scale = abs(line.c) * max(abs(low), abs(high)) + abs(line.log_scale)
        more = UNIT * (4 * (ORDER + 1) + y.shape[1]) * total
        bounds.append(rounding((total, exponent, phase), y.shape[1], distance, scale) + more + line.cut)
    return np.array(bounds)


def _gain(base: FloatArray, total: FloatArray, scale: FloatArray, factor: FloatArray, price: FloatArray) -> FloatArray:
    """Return (base - scale total) factor - price, written over `total`."""
    total *= scale
    np.subtract(base, total, out=total)
    total *= factor
    total -= price
    return total


class Rates(NamedTuple):
    """Error rates of the test "loss above e", for ascending e of either sign.

    Attributes
    ----------
    epsilon : ndarray of float
        The thresholds.
    score : ndarray of float
        log((1 - a)/a) with a = P0(L > e).
    missed : ndarray of float
        P1(L <= e).
    density : ndarray of float
        Derivative of `missed`.
    """

    epsilon: FloatArray
    score: FloatArray
    missed: FloatArray
    density: FloatArray


class Local:
    """The profile of a symmetric product within half a step of the points of an even grid of epsilons >= 0.

    Parameters
    ----------
    at : ndarray of float
        The grid.
    series : ndarray of float
        Coefficients of S, a row per power.
    facts : ndarray of float
        For each point c, log m, the largest excess and shortfall of S, and the bracket of the base of the kernel, for delta
        and for 1 - delta: eight rows.
    """

    def __init__(self, at: FloatArray, series: FloatArray, facts: FloatArray) -> None:
        self.at, self.step = at, float(at[-1] - at[0]) / (at.size - 1)
        self._series, self._facts = series, facts
        # S varies little within half a step; this covers the roundings of its products with the scale and the weight
        facts[2:4] += 2 * _ROUNDED * np.abs(series[0]) + _TINY

    def gains(self, alpha: FloatArray, epsilon: FloatArray) -> Bounds | None:
        """Return bounds of 1 - delta - e^epsilon alpha, or None beyond the reach of the grid.

        Below 0 the gain is e^epsilon (1 - alpha - delta(-epsilon)), by symmetry. Delta is base + kernel, and 1 - delta - alpha
        comes from 1 - delta where that is small, from 1 - alpha where delta is. All roundings go outward.

        Parameters
        ----------
        alpha : ndarray of float
            False-positive rates inside (0, 1).
        epsilon : ndarray of float
            Values of either sign, a column of ascending neighbours for each alpha.

        Returns
        -------
        tuple of (ndarray of float, ndarray of float) or None
            Lower and upper bounds.
        """
        centre = epsilon[epsilon.shape[0] // 2]
        up = centre >= 0
        away = np.where(up, 1.0, -1.0) * epsilon
        place = np.rint((np.abs(centre) - self.at[0]) / self.step).astype(np.intp)
        if int(place.min()) < 0 or int(place.max()) >= self.at.size:
            return None
        apart = away - self.at[place]
        if max(float(apart.max()), -float(apart.min())) > REACH * self.step:
            return None
        total = self._sums(apart, place)
        c, log_scale, below, above, low, high, rest_low, rest_high = self._facts.take(place, axis=1)
        away *= -c
        away += log_scale
        scale = np.exp(away, out=away)
        small, rest = up | (alpha < 0.5), 1.0 - alpha
        least, most = np.where(small, rest_low, rest - high), np.where(small, rest_high, rest - low)
        part, weight = np.where(small, alpha, 0.0), np.exp(epsilon)
        slack = _ROUNDED * (np.abs(most) + part * np.maximum(weight[-1], 1.0))
        factor, price = np.where(up, 1.0, weight), weight * part
        return _gain(least - slack, total + above, scale, factor, price), _gain(
            most + slack, total - below, scale, factor, price
        )

    def _sums(self, apart: FloatArray, place: NDArray[np.intp]) -> FloatArray:
        """Return S at a distance from the points of the grid."""
        series = self._series.take(place, axis=1)
        total: FloatArray = series[-1] * apart
        for row in series[-2:0:-1]:
            total += row
            total *= apart
        total += series[0]
        return total

    def rates(self) -> Rates:
        """Return the error rates at the grid and at its mirror image, from the slopes of the kernel.

        With K the kernel and delta = base + K: P0(L > e) = -e^(-e) K', P1(L <= e) = 1 - delta + K', and the density of the
        loss under P1 is K'' - K'. By symmetry P0(L <= -e) = P1(L >= e).
        """
        e, c, log_scale = self.at, *self._facts[:2]
        scale = np.exp(log_scale - c * e)
        s0, s1, s2 = self._series[:3]
        kernel, slope = scale * s0, scale * (s1 - c * s0)
        density = scale * (2 * s2 - 2 * c * s1 + c * c * s0) - slope
        missed = self._facts[6] - kernel + slope
        power = self._facts[4] + kernel - slope
        fade = np.exp(-e)
        alarm = -fade * slope
        with np.errstate(divide="ignore", invalid="ignore"):
            score, mirrored = np.log1p(-alarm) - np.log(alarm), np.log(power) - np.log(missed)
        down = slice(None, 0, -1) if e[0] == 0 else slice(None, None, -1)
        pairs = ((-e, e), (mirrored, score), (alarm, missed), (fade * density, density))
        return Rates(*(np.concatenate((left[down], right)) for left, right in pairs))
