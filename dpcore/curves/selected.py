r"""The best of a random number of runs: what selecting one output by its score reveals.

A mechanism M runs K times, independently; of its outputs the one with the best score is published, and K is not. Let F be the
generating function of K, :math:`F(x)=E[x^K]`, and q(y) the probability under one run that an output is not better than
y (ties are broken at random). The published output then has the density

.. math:: a(y) = m(y)\,F'(q(y)).

Let m, q belong to one dataset and m', q' to its neighbour. The outputs better than y have probability u = 1 - q under m, so at most T(u)
under m', T the power of the region of M. F' rises, so :math:`F'(q)\le e^{c}F'(q')` with

.. math:: c = \sup_u \log\frac{F'(1-u)}{F'(1-T(u))}.

Hence for every set S

.. math:: A(S)-e^{\varepsilon}A'(S)\le\int_S F'(q)\,(m-e^{\varepsilon-c}m')\le\int_{1-\delta}^1F'(q)\,dq=1-F(1-\delta),\qquad
    \delta=\delta_M(\varepsilon-c),

because the positive part of m - e^(eps-c) m' has mass delta and at most the density of q, which is uniform, and F' is largest near 1.

- Truncated negative binomial K of shape s (0 logarithmic, 1 geometric): F'(x) is proportional to (1 - (1-g) x)^(-s-1), and the
  supremum is (s+1) r, with r the smallest number for which M is (r, (e^r - 1) g / (1-g))-private: that says
  g + (1-g) T(u) <= e^r (g + (1-g) u) for all u.
- Poisson K of mean m: log F' is linear, and c is m times the total variation of M. For many runs a smaller c is enough:
  outputs with u > v are published with probability F(1-v), which is added to delta, and for the others c is m times the
  largest T(u) - u with u <= v.

For pure epsilon-privacy this is at most (2+s) epsilon, the bound of Papernot and Steinke (2022).

Some mechanism attains the lower side: rank outputs by their likelihood ratio, upwards or downwards, and check whether
the best one is beyond a threshold. Upwards the rates are (1-F(1-u), 1-F(1-T(u))), downwards, when all runs lie in a
set, (F(u)-F(0), F(T(u))-F(0)).

*Rounding*, in units of u = 2^-53, a library function having 4. The parameter is kept as log g, and everything else follows from this
one double, with x = (1-g)/g = e^(-log g) - 1. It is lowered until the mean computed from it is above the mean wanted by more than
its own rounding (4 units for x, 5 for 1 - g^s, 3 products): the law in use has at least as many runs. That is safe: 1 - F(1-d) is
h(dx)/h(x) with h(x) = 1 - (1+x)^-s, or log(1+x) for s = 0, whose elasticity s x/((1+x)((1+x)^s - 1)) falls, since 1 - (1+x)^-s <= s x; so
the quotient rises with x, and with it r, since the statement asks for less delta. In doubles the quotient has at most 40 units: 4 for
x, 1 for the product, 5 for log(1+dx), which has an elasticity of at most 1, and so has e^y - 1 for y <= 0 beyond its 4, once above and
once below. The polygon of n statements takes its masses from differences. A difference of neighbours is off by 3 units of the delta on
its left, and by the h e^(-h)/(1 - e^-h) <= 1 units that a step h of the losses may be off; since the same difference enters the masses at
both ends of its step with opposite signs, what is left in delta at epsilon is at most those 4 units, and 4 for the exponentials, of
each delta to the right of epsilon and of the one before it: 8 (n + 2) units of delta. A mass below 8 units of the discounted mass S above
it counts as 0 (`polygon_algebra.masses`); delta(epsilon) is at least (1 - e^(epsilon-L)) S, so that each takes at most 8 units of delta.
Sums of positive masses add at most n + 1, the mirror image 10: with n = 1200 less than 21 000 in all.

References: Liu, Talwar (2019); Papernot, Steinke (2022); Koskela, Redberg, Wang (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.core.rounding import UNIT
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer
from dpcore.curves.possible import deltas, raised

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.curves.polygon import Polygon

_NODES = 1200  # statements whose polygon is published: four times as many change epsilon by less than 1e-4
_FEWER = (10_000, 150), (100, 300)
"""Copies from which fewer statements describe one run, and how many: epsilon grows by 1 %, or by less than 0.5 %."""
_SMALLEST_DELTA = 1e-30  # smallest delta of one run; below it the selection promises nothing
_WIDEN = 1.0 + 1e-11  # 90 000 units of 2^-53; the module counts less than 21 000
_MEAN_UNITS = 32.0 * UNIT  # relative rounding of a mean, twice what is counted
_ROUNDS, _FAN = 5, 33  # each round of a search narrows it to a 32nd
_LEAST_RATE = 1e-9  # smallest rate of the attained side: smaller rates drown in the rounding of 1 - beta
_SAFE_SHARE = 1.0 - 1e-6  # share of an attained power that is kept: it takes off more than that rounding
_ATTAINED = 240  # points of the attained side
_LEFT_OUT = tuple(
    10.0**-power for power in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)
)  # probabilities of outputs left out
_FAR = 1e4  # larger than any loss that a statement about a selection needs


@dataclass(frozen=True)
class RunCount:
    """The law of the number of runs: truncated negative binomial of a shape, or Poisson (shape inf).

    Attributes
    ----------
    mean : float
        Expected number of runs; above 1, or above 0 for Poisson.
    shape : float
        0 is logarithmic, 1 geometric, inf Poisson.
    """

    mean: float
    shape: float

    @Lazy
    def log_gamma(self) -> float:
        """The logarithm of the parameter g in (0, 1), from the mean s (1-g) / (g (1-g^s)), never above the truth."""
        low, high = math.log(1e-18), 0.0
        enough = self.mean * (1.0 + _MEAN_UNITS)
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._mean(middle) > enough else (low, middle)
        return low

    @property
    def gamma(self) -> float:
        """The parameter g."""
        return math.exp(self.log_gamma)

    @Lazy
    def _odds(self) -> float:
        """(1 - g) / g."""
        return math.expm1(-self.log_gamma)

    def _mean(self, log_gamma: float) -> float:
        s = self.shape
        odds = math.expm1(-log_gamma)
        if s == 0.0:
            return odds / -log_gamma
        return s * odds / -math.expm1(s * log_gamma)

    def some(self, share: FloatArray) -> FloatArray:
        """Return 1 - F(1 - share): the probability that one of the runs falls into a set of this probability, and none without runs."""
        if math.isinf(self.shape):
            return np.asarray(-np.expm1(-self.mean * share), dtype=np.float64)
        size = np.log1p(share * self._odds)
        if self.shape == 0.0:
            return np.asarray(size / -self.log_gamma, dtype=np.float64)
        return np.asarray(np.expm1(-self.shape * size) / math.expm1(self.shape * self.log_gamma), dtype=np.float64)

    def all(self, share: FloatArray) -> FloatArray:
        """Return F(share) - F(0): the probability that there are runs and all fall into a set of this probability."""
        if math.isinf(self.shape):
            return np.asarray(np.exp(-self.mean * (1.0 - share)) * -np.expm1(-self.mean * share), dtype=np.float64)
        return np.asarray(1.0 - self.some(1.0 - share), dtype=np.float64)

    def shifts(self, curve: Curve) -> list[tuple[float, float]]:
        """Return pairs of c and what is added to delta for it: outputs left out, at which the densities differ by more.

        All numbers are rounded up.
        """
        if math.isinf(self.shape):
            return self._poisson_shifts(curve)
        low, high = 0.0, max(0.0, min(curve.max_loss, -self.log_gamma))  # without a common output there is no loss
        for _ in range(_ROUNDS):
            fan = np.linspace(low, high, _FAN)
            holds = np.flatnonzero(deltas(curve, fan)[1] <= np.expm1(fan) / self._odds * (2.0 - _WIDEN))
            first = int(holds[0]) if holds.size else _FAN - 1
            low, high = float(fan[max(first - 1, 0)]), float(fan[first])
        return [((1.0 + self.shape) * high * _WIDEN, 0.0)]

    def _poisson_shifts(self, curve: Curve) -> list[tuple[float, float]]:
        """Leave out outputs whose rank is so low that they are hardly ever the best.

        T(u) - u is concave: left of v it lies below the extended chord from v to a point on its right.
        """
        variation = float(deltas(curve, np.zeros(1))[1][0])
        pairs = [(self.mean * variation * _WIDEN, 0.0)]
        left_out = np.array(_LEFT_OUT)
        rank = -np.log(left_out) / self.mean
        left_out, rank = left_out[rank < 0.9], rank[rank < 0.9]
        if not rank.size:
            return pairs
        beyond = rank * 1.05
        most = curve.power_bounds(rank)[1] - rank
        fall = np.maximum(most - (curve.power_bounds(beyond)[0] - beyond), 0.0) / (beyond - rank)
        gain = np.minimum(most + fall * rank, variation)
        cs, rests = self.mean * gain * _WIDEN, left_out * _WIDEN
        return [*pairs, *zip(cs.tolist(), rests.tolist(), strict=True)]


class Selection(Outer):
    """Every selection from one run, between what some rankings attain and a polygon in which all of them lie.

    Parameters
    ----------
    curve, inner : Curve
        One run, symmetric; and a curve inside it that some mechanism attains.
    runs : RunCount
        How many runs.
    """

    def __init__(self, curve: Curve, inner: Curve, runs: RunCount) -> None:
        super().__init__(selected(curve, runs), attained(inner, runs), "selection")
        self._run, self._runs = curve, runs

    def for_copies(self, copies: int) -> Curve:
        """Return the bound by fewer statements for many copies: its law has fewer losses, and composes faster."""
        nodes = next((nodes for least, nodes in _FEWER if copies >= least), None)
        return self if nodes is None else Outer(selected(self._run, self._runs, nodes), self.inner, self.method)


def selected(curve: Curve, runs: RunCount, nodes: int = _NODES) -> Polygon:
    """Return a symmetric polygon inside which every selection lies, from the region of one run.

    Parameters
    ----------
    curve : Curve
        One run, symmetric.
    runs : RunCount
        How many runs.
    nodes : int, default 1200
        Number of statements.

    Returns
    -------
    Polygon
        Of the statements at some epsilons; the convex envelope of safe statements is safe.
    """
    end = curve.max_loss if math.isfinite(curve.max_loss) else _end(curve)
    shifts = runs.shifts(curve)
    epsilon = np.unique(np.linspace(0.0, (shifts[0][0] + end) * _WIDEN, nodes))
    delta = np.ones(epsilon.size)
    for place, (shift, rest) in enumerate(shifts):
        checkpoint(place / len(shifts))
        one = raised(np.minimum(deltas(curve, epsilon - shift)[1], 1.0), epsilon - shift, curve.max_loss)
        delta = np.minimum(delta, runs.some(one) * _WIDEN + rest)
    if math.isfinite(curve.max_loss):
        delta[-1] = float(runs.some(np.array([curve.q_inf]))[0]) * _WIDEN
    return _polygon(epsilon, np.minimum.accumulate(delta))


def _end(curve: Curve) -> float:
    """Return an epsilon beyond which delta hardly matters or its upper bound hardly falls.

    The upper bound of a composition can have a floor above the smallest delta, and the search for an epsilon below it never ends.
    """
    low, high = (float(bound[0]) for bound in deltas(curve, np.array([_FAR])))
    if low > max(_SMALLEST_DELTA, 2.0 * curve.q_inf):
        return _FAR
    end = float(curve.epsilon_bounds(np.array([max(_SMALLEST_DELTA, 2.0 * high)]))[1][0])
    return min(end, _FAR)


def _polygon(epsilon: FloatArray, delta: FloatArray) -> Polygon:
    """Return the symmetric polygon of statements (epsilon, delta), both sorted, the last delta for every larger epsilon too."""
    points = [(-np.inf, 1.0), *zip(epsilon.tolist(), delta.tolist(), strict=True), (np.inf, float(delta[-1]))]
    hull: list[tuple[float, float]] = []
    for point in points:
        while len(hull) >= 2 and polygon_algebra.not_below(
            hull[-2], hull[-1], point
        ):  # every point is removed once at most
            hull.pop()
        hull.append(point)
    corner = np.array(hull)
    loss, q = corner[:, 0], polygon_algebra.masses(corner[:, 0], corner[:, 1])
    keep = (loss >= 0.0) & (q > 0.0) & np.isfinite(loss)
    return polygon_algebra.from_half(loss[keep], q[keep], float(corner[-1, 1]), "selection of one run")


def attained(curve: Curve, runs: RunCount) -> tuple[Polygon, ...]:
    """Return two polygons, each attained by some mechanism with this curve and some ranking of its outputs.

    Parameters
    ----------
    curve : Curve
        One run, attained by some mechanism.
    runs : RunCount
        How many runs.

    Returns
    -------
    tuple of Polygon
        Ranked by rising and by falling likelihood ratio.
    """
    tail = np.geomspace(_LEAST_RATE, 0.5, _ATTAINED // 2)
    rate = np.concatenate((tail, 1.0 - tail[-2::-1]))
    power = np.clip(curve.power_bounds(rate)[0], rate, 1.0)
    curves = []
    for rule in (runs.some, runs.all):
        alpha, found = rule(rate), rule(power) * _SAFE_SHARE
        keep = (alpha >= _LEAST_RATE) & (found > alpha)
        alpha, found = alpha[keep], found[keep]
        curves.append(polygon_algebra.from_points(alpha, 1.0 - found))
    return tuple(curves)
