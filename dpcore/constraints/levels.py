r"""A polygon as levels: its losses measured down from the largest, with weights that are integers for a product.

In a product of single constraints with :math:`\varepsilon_1, \dots, \varepsilon_m` a pattern of signs with minus at S
has the loss :math:`E - 2u`, :math:`E = \sum_i \varepsilon_i`, :math:`u = \sum_{i \in S} \varepsilon_i`, and the P1-mass
:math:`T e^{-u}`, T the mass of the largest loss E. So the weight :math:`(q/T) e^{u}` of a level is the number of patterns
that reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.base import FloatArray

SAME = 1e-12  # relative to the largest loss: levels closer than this are one level
_ROUNDING = 1e-11  # relative error of a mass that was computed as a mass
_LARGEST_WEIGHT = 700.0  # its logarithm; e^700 is still a double


@dataclass(frozen=True)
class Levels:
    """Levels of a symmetric polygon.

    Attributes
    ----------
    top : float
        The largest loss E.
    drop : ndarray of float
        u = (E - loss) / 2, ascending from 0 to E.
    weight : ndarray of float
        q e^u / T, 1 at both ends and symmetric.
    error : ndarray of float
        By how much rounding may have changed each weight.
    """

    top: float
    drop: FloatArray
    weight: FloatArray
    error: FloatArray

    @property
    def same(self) -> float:
        """Drops closer than this are one level."""
        return SAME * self.top

    def refined(self, epsilon: float, copies: int) -> float:
        """Return a factor with more digits: all its copies together reach a level, and people type few digits."""
        whole = epsilon * copies
        place = int(np.argmin(np.abs(self.drop - whole)))
        if abs(self.drop[place] - whole) <= self.same * copies:
            epsilon = float(self.drop[place]) / copies
        short = float(f"{epsilon:.12g}")
        return short if abs(short - epsilon) * copies <= 4e-16 * self.top else epsilon


def levels_of(polygon: Polygon, tolerance: float) -> Levels:
    """Return the levels of a symmetric polygon whose largest loss is above 0.

    Parameters
    ----------
    polygon : Polygon
        The region.
    tolerance : float
        Relative error of its deltas; 0 if its masses were computed as masses. A mass is a second difference of
        deltas, so a small one beside a large delta has few digits.
    """
    # signs that cancel add up to 0 only up to rounding, on either side
    use = (polygon.q > 0) & (polygon.loss >= -SAME * polygon.max_loss)
    loss, q = np.maximum(polygon.loss[use][::-1], 0.0), polygon.q[use][::-1]
    top = float(loss[0])
    drop = 0.5 * (top - loss)
    with np.errstate(over="ignore", divide="ignore"):
        weight = np.exp(np.minimum(np.log(q) - np.log(q[0]) + drop, _LARGEST_WEIGHT))
        delta = polygon.delta_bounds(loss)[1]
        step = loss[:-1] - loss[1:]
        last = 2.0 * loss[-1] if loss[-1] > SAME * top else step[-1]  # down to the mirror image
        below, above = np.append(step, last), np.append(np.inf, step)
        unsure = tolerance * delta * (1.0 / -np.expm1(-below) + 1.0 / np.expm1(above)) / q
    error = weight * np.minimum(_ROUNDING + unsure + unsure[0], 1e3)
    error[0] = 0.0
    other = loss[::-1] > SAME * top  # the lower half is the mirror image of the upper one
    return Levels(
        top,
        np.concatenate((drop, top - drop[::-1][other])),
        np.concatenate((weight, weight[::-1][other])),
        np.concatenate((error, error[::-1][other])),
    )


@dataclass(frozen=True)
class Sums:
    """Sums of chosen numbers, ascending, and in how many ways each is reached."""

    drop: FloatArray
    ways: FloatArray

    @classmethod
    def empty(cls) -> Sums:
        """Return the sums of no numbers: 0, in one way."""
        return cls(np.zeros(1), np.ones(1))

    def with_copies(self, epsilon: float, copies: int, same: float) -> Sums:
        """Return the sums when `copies` more numbers `epsilon` may be chosen: times (1 + z^epsilon)^copies."""
        number = np.arange(copies + 1.0)
        log_ways = gammaln(copies + 1.0) - gammaln(number + 1.0) - gammaln(copies - number + 1.0)
        choose = np.exp(np.minimum(log_ways, _LARGEST_WEIGHT))
        if copies < 50:
            choose = np.rint(choose)
        drop = np.add.outer(number * epsilon, self.drop).ravel()
        ways = np.multiply.outer(choose, self.ways).ravel()
        order = np.argsort(drop, kind="stable")
        drop, ways = drop[order], ways[order]
        starts = np.flatnonzero(np.append(True, np.diff(drop) > same))
        return Sums(drop[starts], np.add.reduceat(ways, starts))

    def at(self, drop: FloatArray, same: float) -> tuple[FloatArray, FloatArray]:
        """Return in how many ways each drop is reached, and the first sums that are not among the drops."""
        place = np.clip(np.searchsorted(self.drop, drop), 1, max(1, self.drop.size - 1))
        right = np.minimum(place, self.drop.size - 1)
        near = np.where(drop - self.drop[place - 1] <= self.drop[right] - drop, place - 1, right)
        hit = np.abs(self.drop[near] - drop) <= same
        missing = np.ones(self.drop.size, dtype=bool)
        missing[near[hit]] = False
        return np.where(hit, self.ways[near], 0.0), self.drop[missing]


def product_polygon(factors: Sequence[tuple[float, int]], total_delta: float) -> Polygon:
    """Return the polygon of a product of copies of (epsilon, 0)-DP with a mass `total_delta` at infinity.

    Every mass is a product and a sum of positive terms: T times the number of patterns times e^-u.
    """
    top = float(np.sum([epsilon * copies for epsilon, copies in factors]))
    sums = Sums.empty()
    log_top = np.log1p(-total_delta)
    for epsilon, copies in factors:
        sums = sums.with_copies(epsilon, copies, SAME * top)
        log_top -= copies * np.log1p(np.exp(-epsilon))
    loss = top - 2.0 * sums.drop[::-1]
    loss = np.where(np.abs(loss) <= SAME * top, 0.0, loss)
    with np.errstate(under="ignore"):
        q = np.exp(log_top + np.log(sums.ways) - sums.drop)[::-1]
        p = np.exp(log_top + np.log(sums.ways) - sums.drop)
    loss = 0.5 * (loss - loss[::-1])
    return Polygon(loss, p, q, total_delta, total_delta, symmetric=True, method="product of single constraints")
