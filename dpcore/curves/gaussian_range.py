r"""The best Gaussian curve below a curve of unbounded loss, on a range of false-positive rates.

Near alpha = 0 no finite number of tangents decides whether a Gaussian curve stays below another one, so alpha is
restricted to [alpha_0, 1/2]. There :math:`G_\mu \le f` exactly if

.. math:: \mu \ge m(\alpha) = \Phi^{-1}(1-f(\alpha)) - \Phi^{-1}(\alpha)

at every alpha, and the smallest mu is the supremum of m. Both curves are their own inverses, so m takes the same value
at alpha and at f(alpha): only alphas up to the diagonal alpha = f(alpha) matter, down to alpha_0 or to f(1/2), whichever
is smaller.

Upper side: tangents of f bound it by a polygon from below; a Gaussian curve is convex, so it lies below the polygon
if it does at the corners and at the end of the range. Lower side: m at single alphas, by the lower side of the power.
Two distances measure what the Gaussian curve loses, both for alpha in the range. The regret is the smallest
:math:`\kappa` with :math:`f(\alpha)-\kappa\le G_\mu(\alpha-\kappa)`: both rates are off by at most that. The gap is the largest
vertical distance, :math:`f-G_\mu`, and never smaller. Between two alphas f lies under its chord and :math:`G_\mu` over its tangent,
both linear, so the ends of the cell bound them. References: Dong, Roth, Su (2022), Definition 2.6; Kaissis et al. (2024) and
Kulynych et al. (2025) for the regret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri_exp

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.question import question
from dpcore.curves.base import Curve
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.possible import betas, deltas
from dpcore.curves.quantiles import gaussian_above, gaussian_below
from dpcore.curves.slopes import steepest
from dpcore.curves.tangents import corners, power, upper_deltas

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

ALPHA = 1e-12
# Every tangent and every alpha gives a valid side: more of them cost time and narrow the bracket.
_TANGENTS = 129  # tangents of each of the two first grids, over the whole range and up to 4
_MOST_TANGENTS = 3000
_ROUNDS = 12  # rounds of refinement, each to a quarter of a cell
_CLOSE = 1e-7  # relative width; finer than the default width of a certified delta
_CLEAR = 1e-9  # relative width of a power that needs no further search: about a hundredth of `_CLOSE` in mu
_CANDIDATES = 5  # alphas for the lower side: those with the largest m, and the end of the range
_WINDOW = np.linspace(-0.02, 0.02, 41)  # around the best epsilon: convexity loses about the square of the step
_FAN = np.linspace(0.0, 1.0, 17)  # each fan narrows the best epsilon to an eighth
_FANS = 5  # 8^-5 of the range, about 1e-3, which the window covers
_CELLS = 1201  # alphas of the distances, on a geometric and on an even grid
_HALVINGS = 50  # halvings of a shift in [0, 1], down to 1e-15
_ROUNDING = 1e-12
"""Absolute rounding of a rate of the Gaussian curve, over 1 + mu. A quantile z is off by 1e-13 (1 + |z|) at most (checked by
`quantiles`), so G by 1e-13 (1 + |z|) phi(z - mu), and the slope of a tangent by mu times the first, relative; times half a cell the
slope is at most 1, since G is convex and between 0 and 1. alpha - shift is exact where the two are close (Sterbenz)."""


@dataclass(frozen=True, slots=True)
class BestGaussian:
    """The smallest mu on [alpha, 1/2], the regret and the gap of its curve there, each as (lower, upper)."""

    alpha: float
    mu: tuple[float, float]
    regret: tuple[float, float]
    gap: tuple[float, float]


def best_gaussian(curve: Curve, alpha: float = ALPHA) -> BestGaussian | None:
    """Return the smallest mu whose Gaussian curve lies below a symmetric curve on [alpha, 1/2], and its distances.

    None if no finite mu does: the curve reaches 0 on the range. The distances are those of the upper mu, which is
    published; a Gaussian curve has none.
    """
    if isinstance(curve, GaussianCurve):
        return BestGaussian(alpha, (curve.mu, curve.mu), (0.0, 0.0), (0.0, 0.0))
    with question():  # all parts ask about the same stretch of the curve
        middle = float(betas(curve, np.array([0.5]))[0][0])
        start = min(alpha, middle)
        if start <= 0.0:
            return None
        upper, at = _upper_mu(curve, start)
        if not math.isfinite(upper):
            return None
        lower = max(0.0, *(_lower_mu(curve, float(rate)) for rate in at))
        cells = _Cells(curve, alpha, upper)
    return BestGaussian(alpha, (min(lower, upper), upper), cells.regret(), cells.gap())


def _upper_mu(curve: Curve, start: float) -> tuple[float, FloatArray]:
    """Return a mu that is large enough, and the alphas where the polygon of tangents needs the largest."""
    end = min(curve.max_loss, steepest(curve, start) + 1.0)
    grid = np.unique(np.concatenate((np.linspace(0.0, end, _TANGENTS), np.linspace(0.0, min(end, 4.0), _TANGENTS))))
    first = np.log(power(curve, np.array([start])))
    at_start = float(gaussian_above(np.full(1, math.log(start)), first)[0])
    best, at = math.inf, np.array([start])
    delta = upper_deltas(curve, grid)
    for step in range(_ROUNDS):
        checkpoint(step / _ROUNDS)
        epsilon, log_alpha, log_power = corners(curve, grid, delta)
        inside = log_alpha >= math.log(start)
        if not inside.any():
            return at_start, at
        width = np.append(np.diff(epsilon), end - epsilon[-1])[inside]
        epsilon, log_alpha, log_power = epsilon[inside], log_alpha[inside], log_power[inside]
        value = gaussian_above(log_alpha, log_power)
        before, best = best, min(best, max(at_start, float(value.max())))
        at = np.exp(log_alpha[np.argsort(value)[-_CANDIDATES:]])
        # a cell of width h on a curve close to Gaussian overshoots by about h^2 / (8 mu)
        doubt = np.minimum(width * width / (4.0 * np.maximum(value, 1e-3)), value)
        floor = max(at_start, float((value - doubt).max()))
        open_ = (value >= floor) & (doubt > _CLOSE * value)
        if not open_.any() or grid.size > _MOST_TANGENTS or before - best < 0.1 * _CLOSE * best:
            break
        inner = epsilon[open_, None] + width[open_, None] * np.array([0.25, 0.5, 0.75])
        fresh = np.setdiff1d(inner, grid)
        order = np.argsort(np.concatenate((grid, fresh)))
        delta = np.concatenate((delta, upper_deltas(curve, fresh)))[order]
        grid = np.concatenate((grid, fresh))[order]
    return best, np.unique(np.append(at, start))


def _lower_mu(curve: Curve, alpha: float) -> float:
    """Return a mu below which the Gaussian curve lies above the other at this alpha."""
    if not 0.0 < alpha <= 0.5:
        return 0.0
    power_floor = 0.0
    if type(curve).beta_bounds is not Curve.beta_bounds:  # a curve with rates of its own has them at once
        power_floor, power_top = (float(side[0]) for side in curve.power_bounds(np.array([alpha])))
        if power_top - power_floor > _CLEAR * power_floor:
            power_floor = max(_lower_power(curve, alpha), power_floor)
    power_floor = power_floor or _lower_power(curve, alpha) or float(curve.power_bounds(np.array([alpha]))[0][0])
    power_floor = max(power_floor, alpha)
    log_power = np.log(np.array([power_floor]))
    return float(gaussian_below(np.full(1, math.log(alpha)), log_power)[0])


def _lower_power(curve: Curve, alpha: float) -> float:
    r"""Return a lower bound of the power at alpha that keeps the digits of a small one; 0 if there is none.

    The power is the least :math:`g(x)+\alpha x` with :math:`x=e^\varepsilon` and g the profile, convex in x: between two points g
    lies above the extended chords of the neighbouring cells.
    """
    try:
        low, high = 0.0, min(curve.max_loss, steepest(curve, alpha) + 1.0)
        for _ in range(_FANS):
            fan = low + (high - low) * _FAN
            best = int(np.argmin(deltas(curve, fan)[1] + np.exp(fan) * alpha))
            low, high = float(fan[max(best - 1, 0)]), float(fan[min(best + 1, fan.size - 1)])
        epsilon = np.unique(np.maximum(0.5 * (low + high) + _WINDOW, 0.0))
        least, most = deltas(curve, epsilon)
    except BudgetError:
        checkpoint(0.0)  # raises again if time has run out
        return 0.0
    x = np.exp(epsilon)
    step = np.diff(x)
    falls = (
        (most[1:] - least[:-1]) / step + alpha,
        (least[1:] - most[:-1]) / step + alpha,
    )  # slopes, rounded up and down
    if not falls[0][1] <= 0.0 <= falls[1][-2]:
        return 0.0  # the least may lie outside the window or in its first or last cell, which lack a neighbour
    # the extended chords of the cells before and after; at any x of the cell between, the larger one is a lower bound
    left = (least[1:-2], falls[1][:-2], x[1:-2])
    right = (least[2:-1], (most[3:] - least[2:-1]) / step[2:] + alpha, x[2:-1])
    values = [line[0] + alpha * line[2] for line in (left, right)]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (values[1] - values[0] + left[1] * left[2] - right[1] * right[2]) / (left[1] - right[1])
    meet = np.clip(np.where(np.isfinite(meet), meet, left[2]), left[2], right[2])
    at = [
        np.maximum(values[0] + left[1] * (spot - left[2]), values[1] + right[1] * (spot - right[2]))
        for spot in (left[2], meet, right[2])
    ]
    return max(0.0, float(np.minimum.reduce(at).min()) * (1.0 - 1e-15))


class _Cells:
    """The curve and G_mu at many alphas of the range, and bounds of their distance between them."""

    def __init__(self, curve: Curve, alpha: float, mu: float) -> None:
        self.mu = mu
        self.alpha = np.unique(np.concatenate((np.geomspace(alpha, 0.5, _CELLS), np.linspace(alpha, 0.5, _CELLS))))
        self.lower, self.upper = betas(curve, self.alpha)

    def _excess(self, shift: float) -> tuple[float, float]:
        """Return bounds of the largest f(alpha) - G(alpha - shift) on the range, G being 1 below 0."""
        moved = self.alpha - shift
        lower = float((self.lower - self._gaussian(moved)[0]).max())
        middle = 0.5 * (moved[1:] + moved[:-1])
        height, slope = self._gaussian(middle)
        half = 0.5 * np.diff(moved)
        ends = np.maximum(self.upper[:-1] - height + slope * half, self.upper[1:] - height - slope * half)
        # a cell that reaches below 0, where G has no tangent: G falls, so its right end bounds it
        ends = np.where(moved[:-1] <= 0.0, self.upper[:-1] - self._gaussian(moved[1:])[0], ends)
        error = _ROUNDING * (1.0 + self.mu)
        return lower - error, float(ends.max()) + error

    def _gaussian(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return G and its slope; 1 and 0 up to 0."""
        inside = alpha > 0.0
        z = -ndtri_exp(np.log(np.where(inside, alpha, 0.5)))
        slope = -np.exp(self.mu * z - self.mu * self.mu / 2)
        return np.where(inside, ndtr(z - self.mu), 1.0), np.where(inside, slope, 0.0)

    def gap(self) -> tuple[float, float]:
        """Return bounds of the largest f - G."""
        low, high = self._excess(0.0)
        return max(0.0, low), max(0.0, high)

    def regret(self) -> tuple[float, float]:
        """Return bounds of the smallest kappa with f(alpha) - kappa <= G(alpha - kappa)."""
        return self._smallest(0), self._smallest(1)

    def _smallest(self, side: int) -> float:
        """Return the smallest shift for one side of the bound: for the lower side one that fails, for the upper one that fits."""
        fails, fits = 0.0, 1.0
        for _ in range(_HALVINGS):
            shift = 0.5 * (fails + fits)
            if self._excess(shift)[side] <= shift:
                fits = shift
            else:
                fails = shift
        return fits if side else fails
