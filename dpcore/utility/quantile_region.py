"""The region of a quantile chosen from an interval: the data at hand against every substitution of one record.

A record moves up from a to any v > a (down is the mirror image). On (a, v) the count i falls by 1, so with r = eps / 2 and
the wanted rank t = q n the density is multiplied by e^-r where i <= t (part L), by e^r where i >= t + 1 (part R), and by
e^(r (2 (i - t) - 1)) in the one interval between if t is no integer (part F). With the masses L, F, R of the parts under
the data and K = e^r, the factor of normalisation is

    Z = 1 - (1 - 1/K) L + (k - 1) F + (K - 1) R,     k the factor of F.

Which moves matter:

- v below F: only L is touched, and its mass takes every value up to that above the smallest record, Lmax;
- v in F: F takes every value, best with a the smallest record;
- v above F: the test "R" (power K R / Z) is best, at given R, with the largest L (a the smallest record) or with a above F;
  "R or F" with the largest L. The test "in L" of the exchanged hypotheses (power L, false positives L / (K Z)) is best, at
  given L, with the largest Z: v at the upper bound of the data, a any record. "In L or F" goes the same way.

In each of these families one mass runs through an interval, so the points (alpha, power) lie on a hyperbola, or through
the records. Hyperbolas are replaced by chords on the inner and by tangents on the outer side; all other points are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.curves.base import FloatArray
from dpcore.curves.bound import Outer
from dpcore.utility.neighbourhood import DataRegion, hull

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

_POINTS = 129  # per hyperbola: leaves the polygons inside and outside about 1e-5 apart
_TINY = 1e-290  # keeps logarithms of masses finite
Points = tuple[FloatArray, FloatArray]


def region_of_intervals(data: Dataset, level: float, epsilon: float) -> TradeOff:
    """Return the region, kind ``upper``: a polygon outside and one inside it, about 1e-5 apart."""
    values, target = data.ordered, level * data.n
    inner: list[Points] = []
    outer: list[Points] = []
    for line, rank in ((values, target), (-values[::-1], data.n - target)):
        ends = (data.low, data.high) if line is values else (-data.high, -data.low)
        parts = _Parts.of(line, ends, rank, epsilon / 2)
        for inside, outside in parts.tests():
            inner.append(inside)
            outer.append(outside)
    shapes = [
        hull(np.concatenate([a for a, _ in side]), np.concatenate([b for _, b in side])) for side in (outer, inner)
    ]
    reason = "the data at hand against every substitution of one record by any value, both directions"
    return DataRegion(Outer(shapes[0], shapes[1:], reason), "quantile of the data at hand", "substitution", reason)


@dataclass(frozen=True)
class _Parts:
    """Masses under the data at hand for records that move up."""

    rate: float
    factor: float  # of the part F, as a power of e
    left: FloatArray  # L for a = each record up to F, from the smallest
    middle: float  # F
    right: float  # R for v at the upper bound
    rest: float  # mass below the smallest record

    @classmethod
    def of(cls, values: FloatArray, ends: tuple[float, float], target: float, rate: float) -> _Parts:
        """Return the masses for sorted values."""
        n = values.size
        width = np.diff(np.concatenate(([ends[0]], values, [ends[1]])))
        index = np.arange(n + 1)
        with np.errstate(divide="ignore"):
            log_mass = np.log(width) - rate * np.abs(index - target)
        mass = np.exp(log_mass - log_mass.max())
        mass = mass / mass.sum()
        # a wanted rank that is an integer up to rounding is that integer
        whole = round(target) if abs(target - round(target)) < 1e-9 * n else target
        is_left, is_right = index <= whole, index >= whole + 1
        between = ~is_left & ~is_right
        factor = rate * (2 * (float(index[between][0]) - whole) - 1) if between.any() else 0.0
        left = np.cumsum((mass * is_left)[1:][::-1])[::-1]
        return cls(
            rate,
            factor,
            np.unique(np.append(left, 0.0)),
            float(mass[between].sum()),
            float(mass[is_right & (index > 0)].sum()),
            float(mass[0]),
        )

    def tests(self) -> list[tuple[Points, Points]]:
        """Return (inner, outer) points of all tests that matter; exact points are in both."""
        most, middle = float(self.left[-1]), self.middle
        low, k = math.exp(-self.rate), math.exp(self.factor)
        # sums of positive terms: nothing cancels
        others, grown = self.rest + low * most, math.exp(self.rate) * self.right
        after_left, after = others + self.right + middle, others + self.right + k * middle
        up = [
            _arc(self.rate, self.right, after, others + k * middle + grown),
            _arc(self.rate, self.right, 1.0, self.rest + most + middle + grown),
        ]
        down = [_arc(-self.rate, most, 1.0, after_left)]
        if self.factor > 0 and middle > 0:
            up += [
                _arc(self.factor, middle, after_left, after),
                _arc(self.rate, self.right, after, others + k * middle + grown, (middle, k * middle)),
            ]
        elif middle > 0:
            down.append(_arc(self.factor, middle, after_left, after, (most, low * most)))
        out = [(_both(*inside), _both(*outside)) for inside, outside in up]
        out += [(_both(*inside[::-1]), _both(*outside[::-1])) for inside, outside in down]
        return out + [(points, points) for points in self._in_left()]

    def _in_left(self) -> list[Points]:
        """Return the tests "in L" and, where F is unlikely too, "in L or F", for every record a; v is the upper bound."""
        low, k = math.exp(-self.rate), math.exp(self.factor)
        outside = self.rest + (self.left[-1] - self.left)
        z = outside + low * self.left + k * self.middle + math.exp(self.rate) * self.right
        points = [_both(low * self.left / z, self.left)]
        if self.factor < 0 and self.middle > 0:
            points.append(_both((low * self.left + k * self.middle) / z, self.left + self.middle))
        return points


def _arc(
    log_factor: float, most: float, start: float, end: float, already: tuple[float, float] = (0.0, 0.0)
) -> tuple[Points, Points]:
    """Return points (mass before, mass after) of a set that grows by g in [0, most] and whose mass is multiplied.

    With the factor K, before = F + g and after = (k F + K g) / w, w = start + (K - 1) g: a hyperbola. The tangents at g1
    and g2 meet where g = (g1 w2 + g2 w1) / (w1 + w2) and after = (K (g1 + g2) + 2 k F) / (w1 + w2).

    Parameters
    ----------
    start, end : float
        w at g = 0 and at g = most, given both so that nothing cancels.
    already : tuple of (float, float), optional
        F and k F.

    Returns
    -------
    inner, outer : points on the curve, and the points where neighbouring tangents meet with the two ends.
    """
    big, grow = math.exp(log_factor), math.expm1(log_factor)
    first, second = already
    start, end = max(start, _TINY), max(end, _TINY)
    share = np.linspace(0.0, 1.0, _POINTS)
    bend = math.log(end / start)
    if abs(bend) > 1e-6:  # evenly in log w, where the curve bends
        w = start * np.exp(share * bend)
        g = np.clip((w - start) / grow, 0.0, most)
    else:
        g = most * share
        w = start + grow * g
    g[0], g[-1] = 0.0, most
    after = (second + big * g) / w
    over = w[:-1] + w[1:]
    meet, height = (g[:-1] * w[1:] + g[1:] * w[:-1]) / over, (big * (g[:-1] + g[1:]) + 2 * second) / over
    ends = [0, -1]
    outer = (np.concatenate((first + meet, (first + g)[ends])), np.concatenate((height, after[ends])))
    return (first + g, after), outer


def _both(alpha: FloatArray, power: FloatArray) -> Points:
    """Return the points of a test and of its complement for the exchanged hypotheses."""
    return np.concatenate((alpha, 1 - power)), np.concatenate((power, 1 - alpha))
