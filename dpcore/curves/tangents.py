r"""What follows from tangents of a symmetric curve: every (epsilon, delta) is a line below the curve.

The attacker's power is the infimum over epsilon of :math:`\delta(\varepsilon)+e^\varepsilon\alpha`, so each epsilon
tried gives a safe answer and a poor choice costs width, never truth. Nothing is subtracted from 1: a power of 1e-12
keeps its digits. A finite set of tangents is a polygon that contains the region.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri_exp

from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import BudgetError
from dpcore.curves.base import Curve, FloatArray
from dpcore.curves.bound import Outer
from dpcore.curves.combined import Both, ByBeta, Grouped
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.polygon import Polygon
from dpcore.curves.possible import betas, deltas
from dpcore.curves.quantiles import gaussian_above, pure_mu_above
from dpcore.curves.slopes import steepest

# The grids and rounds below cost time and width, never truth: every tangent is a valid bound.
_FIRST = 41  # epsilons of the first grid of a power
_FAN = np.linspace(0.0, 1.0, 9)  # each round narrows the best epsilon to a quarter
_ROUNDS_EXACT, _ROUNDS = 13, 7  # rounds down to 1e-8 of a cell for exact deltas, to 1e-4 for brackets
_BEYOND = 0.9  # share of the diagonal's alpha from which negative epsilons are tried too
_ROUGH = 1e-4  # tolerance that is enough to find a place
_AREA_ROUGH = 1e-3  # share of an area that its tangents may leave out
_AREA_TANGENTS, _AREA_ROUNDS = 257, 8  # first grid, and rounds that split its cells
_AREA_RATES = 4001  # steps of an area by betas
_TINY = 1e-290  # smaller deltas are left out: the tangent at the largest loss covers them
_MU_TANGENTS, _MU_ROUNDS = 97, 12  # first grid of a mu, and rounds that split its cells
_MU_CLOSE = 1e-7  # relative width; finer than the default width of a certified delta
_MOST_TANGENTS = 3000
_NEARLY_NOTHING = 1e-6  # largest loss below which the bound of pure privacy stands for mu


def upper_deltas(curve: Curve, epsilon: FloatArray) -> FloatArray:
    """Return the safe delta at each epsilon; 1, which always holds, where the engine has no answer."""
    try:
        return deltas(curve, epsilon)[1]
    except BudgetError:
        checkpoint(0.0)  # raises again if time has run out
        if epsilon.size == 1:
            return np.ones(1)
    half = epsilon.size // 2
    return np.concatenate((upper_deltas(curve, epsilon[:half]), upper_deltas(curve, epsilon[half:])))


def power(curve: Curve, alpha: FloatArray) -> FloatArray:
    """Return the attacker's largest true-positive rate at each false-positive rate, the safe (upper) side.

    0 is an attacker who finds nobody, 1 one who finds everybody.
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if isinstance(curve, Both):
        return np.asarray(np.minimum.reduce([power(part, alpha) for part in curve.parts]), dtype=np.float64)
    if isinstance(curve, Outer):
        return power(curve.outer, alpha)
    if isinstance(curve, Grouped):
        for _ in range(curve.size):
            alpha = power(curve.base, alpha)
        return alpha
    if type(curve).power_bounds is not Curve.power_bounds:
        return np.asarray(np.maximum(curve.power_bounds(alpha)[1], alpha), dtype=np.float64)
    value = np.where(alpha <= 0.0, curve.q_inf, 1.0)
    low = (alpha > 0.0) & (alpha < 0.5)
    if low.any():
        value[low] = np.minimum(_lowest(curve, alpha[low]), 1.0)
    rest = (alpha > 0.0) & (alpha >= _BEYOND * overlap(curve)[0] / 2)  # past the diagonal the optimum is negative
    if rest.any():
        value[rest] = np.minimum(value[rest], _by_beta(curve, alpha[rest]))
    return np.asarray(np.maximum(value, alpha), dtype=np.float64)


def _by_beta(curve: Curve, alpha: FloatArray) -> FloatArray:
    """Return 1 - beta, or 1 where the engine has no answer."""
    try:
        return np.asarray(1.0 - betas(curve, alpha)[0], dtype=np.float64)
    except BudgetError:
        checkpoint(0.0)
        return np.ones(alpha.size)


def _lowest(curve: Curve, alpha: FloatArray) -> FloatArray:
    """Return min over epsilon >= 0 of delta + e^epsilon alpha: a common grid, then a narrowing fan for each alpha.

    The sum is convex in e^epsilon, so it has one minimum.
    """
    top = steepest(curve, float(alpha.min()))
    grid = np.linspace(0.0, top, _FIRST)
    value = _roughly(curve, grid)[None, :] + np.exp(grid)[None, :] * alpha[:, None]
    at = value.argmin(axis=1)
    best = value.min(axis=1)
    left, right = grid[np.maximum(at - 1, 0)], grid[np.minimum(at + 1, _FIRST - 1)]
    rows = np.arange(alpha.size)
    for step in range(_ROUNDS_EXACT if curve.exact else _ROUNDS):
        checkpoint(step / _ROUNDS_EXACT)
        fan = left[:, None] + (right - left)[:, None] * _FAN
        value = _roughly(curve, fan.ravel()).reshape(fan.shape) + np.exp(fan) * alpha[:, None]
        at = value.argmin(axis=1)
        best = np.minimum(best, value[rows, at])
        left, right = fan[rows, np.maximum(at - 1, 0)], fan[rows, np.minimum(at + 1, _FAN.size - 1)]
    if curve.exact:
        return np.asarray(best, dtype=np.float64)
    centre = fan[rows, at]
    return np.asarray(np.minimum(best, upper_deltas(curve, centre) + np.exp(centre) * alpha), dtype=np.float64)


def _roughly(curve: Curve, epsilon: FloatArray) -> FloatArray:
    """Return safe deltas of a wider bracket: faster, and enough to find a place."""
    with effort(tolerance=max(current().tolerance, _ROUGH)):
        return upper_deltas(curve, epsilon)


def overlap(curve: Curve) -> tuple[float, bool]:
    """Return 1 - total variation of a symmetric curve, never above the truth, and whether it is exact to 1e-10."""
    if isinstance(curve, Polygon):
        return min(1.0, float(np.minimum(curve.p, curve.q).sum())), True
    if isinstance(curve, GaussianCurve):
        return 2.0 * float(ndtr(-curve.mu / 2)), True
    if isinstance(curve, LaplaceCurve):
        return math.exp(-curve.epsilon / 2), True
    if isinstance(curve, (Both, Outer)):
        parts = curve.parts if isinstance(curve, Both) else (curve.outer,)
        shared, sure = zip(*(overlap(part) for part in parts), strict=True)
        return max(shared), all(sure) and isinstance(curve, Both)
    rest = 1.0 - deltas(curve, np.zeros(1))[1].item()
    if curve.exact and rest > 1e-5:
        return rest, True
    return max(0.0, rest - 4e-16), False


def corners(
    curve: Curve, epsilon: FloatArray, delta: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (epsilon, log alpha, log power) of the corners where neighbouring tangents at these epsilons meet.

    Only tangents that matter remain: the lower convex hull of the points (e^epsilon, delta), epsilon ascending from 0.
    Corner j lies on the tangent of the returned epsilon j; by symmetry the other half mirrors them. `delta` are the safe
    deltas of the epsilons, if they are known.
    """
    delta = upper_deltas(curve, epsilon) if delta is None else delta
    hull: list[int] = []
    log_alpha: list[float] = []
    for index in range(epsilon.size):
        if not (delta[index] > _TINY or index == epsilon.size - 1):
            continue
        meet = math.inf
        while hull:  # each round removes one for good
            fall = float(delta[hull[-1]] - delta[index])
            if fall <= 0.0:
                break
            step = float(epsilon[index] - epsilon[hull[-1]])
            meet = math.log(fall) - float(epsilon[index]) - math.log(-math.expm1(-step))
            if log_alpha and meet >= log_alpha[-1]:
                hull.pop()
                log_alpha.pop()
            else:
                break
        if hull and delta[hull[-1]] <= delta[index]:
            continue  # a steeper line that starts no lower is never touched
        if hull:
            log_alpha.append(meet)
        hull.append(index)
    place = np.array(hull[: len(log_alpha)], dtype=np.intp)
    alpha = np.array(log_alpha, dtype=np.float64)
    with np.errstate(divide="ignore"):
        height = np.logaddexp(np.log(delta[place]), epsilon[place] + alpha)
    return epsilon[place], alpha, np.asarray(np.minimum(height, 0.0), dtype=np.float64)


def area(curve: Curve) -> tuple[float, bool]:
    """Return the area under a symmetric trade-off curve, never above the truth, and whether it is exact.

    1/2 is perfect privacy, 0 none. By symmetry twice the area between the curve and the diagonal, the curve replaced
    by the polygon of its tangents.
    """
    own = getattr(curve, "area", None)
    if own is not None:
        return float(own), True
    if isinstance(curve, Outer):
        return area(curve.outer)[0], False
    middle = overlap(curve)[0] / 2
    if isinstance(curve, ByBeta) or type(curve).power_bounds is not Curve.power_bounds:
        alpha = np.concatenate(([0.0], np.geomspace(1e-12, 1.0, _AREA_RATES) * middle))
        return _steps(alpha, np.asarray(1.0 - power(curve, alpha), dtype=np.float64)), False
    with effort(tolerance=max(current().tolerance, _AREA_ROUGH)):
        end = _reach(curve)
        grid = np.linspace(0.0, end, _AREA_TANGENTS)
        last = upper_deltas(curve, np.array([end])).item()
        total = 0.0
        for step in range(_AREA_ROUNDS):
            checkpoint(step / _AREA_ROUNDS)
            estimate, cell, doubt = _between(*corners(curve, grid), middle, last, end)
            before, total = total, max(total, estimate)
            allowed = _AREA_ROUGH * total + 1e-15
            if doubt.sum() <= allowed or total - before <= 0.1 * allowed or grid.size > _MOST_TANGENTS:
                break
            wide = cell[doubt > allowed / _AREA_TANGENTS]
            grid = np.unique(np.concatenate((grid, (wide[:, :1] + np.diff(wide) * _FAN).ravel())))
    return max(0.0, total - 1e-15), False


def _between(
    epsilon: FloatArray, log_alpha: FloatArray, log_power: FloatArray, middle: float, last: float, end: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return twice the area between the corners of `corners` and the diagonal, and how much each corner may leave out.

    A curve touches each tangent somewhere between two corners, so it cuts off no more of a corner than the triangle with
    its two neighbours. Rows of the second array are the epsilons of the two tangents that meet there.
    """
    alpha = np.concatenate(([middle], np.exp(log_alpha), [0.0]))
    beta = np.concatenate(([middle], 1.0 - np.exp(log_power), [1.0 - last]))
    inside = alpha <= middle
    ends = np.column_stack((epsilon, np.append(epsilon, end)[1:]))[inside[1:-1]]
    alpha, beta = alpha[inside], beta[inside]
    gap = np.maximum(beta - alpha, 0.0)
    run, rise = -np.diff(alpha), np.diff(beta)
    doubt = np.abs(run[:-1] * rise[1:] - run[1:] * rise[:-1])
    return float(np.sum(run * (gap[1:] + gap[:-1]))), ends, np.asarray(doubt, dtype=np.float64)


def _steps(alpha: FloatArray, beta: FloatArray) -> float:
    """Return twice the area above the diagonal of a falling curve known at ascending alphas, by its lower steps."""
    low = np.maximum.accumulate(beta[::-1])[::-1][1:]
    width, mean = np.diff(alpha), (alpha[1:] + alpha[:-1]) / 2
    return max(0.0, 2.0 * float(np.sum(width * np.maximum(low - mean, 0.0))) - 1e-15)


def _reach(curve: Curve) -> float:
    """Return an epsilon beyond which delta hardly falls."""
    if math.isfinite(curve.max_loss):
        top = max(curve.max_loss, 1e-12)
        if top <= 1.0:
            return top
    else:
        top = 1e4
    end = 1.0
    while end < top:  # a quarter longer each round: 42 rounds to 1e4, some 3200 to the largest double
        checkpoint()
        if upper_deltas(curve, np.array([end])).item() - curve.q_inf <= 1e-8:
            return end
        end *= 1.25
    return top


def smallest_mu(curve: Curve, largest_loss: float | None = None) -> tuple[float, bool] | None:
    r"""Return the smallest mu whose Gaussian curve lies below a symmetric curve, rounded up, and whether it is exact.

    .. math:: \mu = \sup_\alpha\; \Phi^{-1}(1-f(\alpha)) - \Phi^{-1}(\alpha)

    On a polygon the supremum is at a corner, because a Gaussian curve is convex; any other curve of bounded loss is
    replaced by the polygon of its tangents. 0 is perfect privacy, infinity means that no Gaussian noise is as bad; None
    means that the loss is unbounded and no finite number of tangents decides. `largest_loss` is needed if the curve
    leaves out corners whose mass is below the smallest double.
    """
    if curve.q_inf > 0.0:
        return math.inf, True
    if isinstance(curve, GaussianCurve):
        return curve.mu, True
    end = curve.max_loss if largest_loss is None else largest_loss
    if not math.isfinite(end):
        return None
    most = pure_mu_above(max(end, 0.0))
    if end < _NEARLY_NOTHING:
        # mu is a difference of quantiles near 0: rounding would dominate it
        return most, end <= 0.0
    if isinstance(curve, Polygon):
        mu = _polygon_mu(curve)
        return (most, False) if mu is None else (mu, True)
    return min(most, _tangent_mu(curve)), False


def _polygon_mu(curve: Polygon) -> float | None:
    """Return the largest mu of the corners from their masses; None if some masses are too small for a double."""
    if curve.corner_count > curve.loss.size or np.any((curve.p <= 0.0) | (curve.q <= 0.0)):
        return None
    log_p, log_q = np.log(curve.p), np.log(curve.q)
    alpha = np.logaddexp.accumulate(log_p[::-1])[:-1]
    power = np.logaddexp.accumulate(log_q[::-1])[:-1]
    missed = np.logaddexp.accumulate(log_q)[-2::-1]
    half = alpha <= missed + 1e-12  # the other half is the mirror image
    if not half.any():
        return 0.0
    return max(0.0, float(gaussian_through(alpha[half], power[half], missed[half]).max()))


def gaussian_through(log_alpha: FloatArray, log_power: FloatArray, log_beta: FloatArray) -> FloatArray:
    """Return the mu of the Gaussian curve through each point, from whichever of power and beta is the smaller."""
    high = np.where(log_power < -0.7, ndtri_exp(np.minimum(log_power, -0.5)), -ndtri_exp(np.minimum(log_beta, -0.5)))
    return np.asarray(high - ndtri_exp(np.minimum(log_alpha, 0.0)), dtype=np.float64)


def _tangent_mu(curve: Curve) -> float:
    """Return the largest mu of the corners between tangents, refined where it matters."""
    end = curve.max_loss
    grid = np.unique(np.concatenate((np.linspace(0.0, min(end, 60.0), _MU_TANGENTS), np.linspace(0.0, end, 33))))
    best = math.inf
    for step in range(_MU_ROUNDS):
        checkpoint(step / _MU_ROUNDS)
        epsilon, log_alpha, log_power = corners(curve, grid)
        value = gaussian_above(log_alpha, log_power)
        before, best = best, min(best, float(value.max()))
        following = np.append(epsilon[1:], end)
        width = following - epsilon
        # a cell of width h on a curve close to Gaussian overshoots by about h^2 / (8 mu)
        doubt = np.minimum(width * width / (4.0 * np.maximum(value, 1e-3)), value)
        open_ = (value >= float((value - doubt).max())) & (doubt > _MU_CLOSE * value)
        if not open_.any() or grid.size > _MOST_TANGENTS or before - best < 0.1 * _MU_CLOSE * best:
            break
        inner = epsilon[open_, None] + width[open_, None] * np.array([0.25, 0.5, 0.75])
        grid = np.unique(np.concatenate((grid, inner.ravel())))
    return best
