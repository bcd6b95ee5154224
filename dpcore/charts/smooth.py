"""Smooth curves: points on the curve, denser where it bends, until the drawn line looks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.charts import pixels
from dpcore.charts.thinning import Path
from dpcore.core.effort import checkpoint
from dpcore.curves.base import Curve
from dpcore.curves.possible import betas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

_LOWEST = 1e-13  # a decade below the axis, so that the line leaves the picture
_ROUNDS = 8  # of halving; the budget of points usually ends them earlier
_GRID = np.union1d(np.geomspace(_LOWEST, 0.5, 64), np.linspace(0.02, 0.5, 49))
_HALF_BUDGET = pixels.MOST_POINTS // 2 - 2
_RESOLVED = 1e-11  # a smaller drop, taken as a difference of numbers near 1, has too few digits for a slope


def smooth_path(curve: Curve) -> Path:
    """Return points of a curve: one half from beta(alpha) at small alpha, the other from its inverse.

    Each half keeps the digits of its small rates. beta is the safe (lower) side of the curve's bracket.
    """
    left = _half(curve)
    right = left if curve.symmetric else _half(curve.inverse())
    alpha = np.concatenate((left[0], right[1][::-1], [1.0]))
    beta = np.concatenate((left[1], right[0][::-1], [0.0]))
    # segments of the other half are walked backwards: where one started, it now ends
    loss = np.concatenate((left[2], [0.0], -right[2][::-1], [-np.inf, -np.inf]))
    open_loss = np.concatenate((left[3], [False], right[3][::-1], [False, False]))
    keep = np.concatenate(([True], (np.diff(alpha) >= 0) & (np.diff(beta) <= 0)))
    keep[1:] &= (np.diff(alpha) > 0) | (np.diff(beta) < 0)
    none = np.zeros(alpha.size, dtype=bool)
    # beyond the diagonal beta is the small rate, so 1 - beta has all its digits
    power = None if left[4] is None else np.concatenate((left[4], 1.0 - beta[left[0].size :]))[keep]
    return Path(alpha[keep], beta[keep], loss[keep], none[keep], none[keep], open_loss[keep], power=power)


def _half(curve: Curve) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_], FloatArray | None]:
    """Return (alpha, beta, loss, open loss, power) up to the diagonal alpha = beta; losses are one shorter.

    `power` is None if the curve has nothing better than 1 - beta.
    """
    tolerance = 0.1
    alpha, beta = _down_to_diagonal(curve, _GRID)
    fresh = np.ones(alpha.size - 1, dtype=bool)
    for step in range(_ROUNDS):
        checkpoint(step / _ROUNDS)
        middle = np.sqrt(alpha[1:] * alpha[:-1])
        if not fresh.any():
            break
        inside = np.interp(middle, alpha, beta)
        inside[fresh] = _beta(curve, middle[fresh])
        bad = fresh & (pixels.deviation((alpha, beta), (middle, inside)) > tolerance)
        if not bad.any() or alpha.size + int(bad.sum()) > _HALF_BUDGET:
            break
        places = np.flatnonzero(bad) + 1
        alpha, beta = np.insert(alpha, places, middle[bad]), np.insert(beta, places, inside[bad])
        added = places + np.arange(places.size)
        fresh = np.zeros(alpha.size - 1, dtype=bool)
        fresh[added] = fresh[added - 1] = True
    alpha, beta = np.concatenate(([0.0], alpha)), np.concatenate(([1.0 - curve.q_inf], beta))
    better = type(curve).power_bounds is not Curve.power_bounds
    power = curve.power_bounds(alpha)[1] if better else None
    return alpha, beta, *_losses(curve, alpha, beta, power), power


def _down_to_diagonal(curve: Curve, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the grid points above the diagonal and one close to it; f falls, so it meets the diagonal once."""
    beta = _beta(curve, grid)
    above = int(np.searchsorted(grid > beta, True))
    if above == 0:
        return grid[:1], beta[:1]
    alpha, beta = grid[:above], beta[:above]
    low, high = float(grid[above - 1]), float(grid[above]) if above < grid.size else 0.5
    for _ in range(2):
        probe = np.linspace(low, high, 21)[1:]
        values = _beta(curve, probe)
        good = int(np.searchsorted(probe > values, True))
        if good:
            low, end = float(probe[good - 1]), float(values[good - 1])
            alpha, beta = np.append(alpha[:above], low), np.append(beta[:above], end)
        high = float(probe[good]) if good < probe.size else high
    return alpha, beta


def _beta(curve: Curve, alpha: FloatArray) -> FloatArray:
    return np.asarray(betas(curve, alpha)[0], dtype=np.float64)


def _losses(
    curve: Curve, alpha: FloatArray, beta: FloatArray, power: FloatArray | None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the loss of each segment, log of drop over width, and whether it is only a lower bound.

    Losses fall along the curve, so where a drop near 1 has lost its digits, the loss of the next segment bounds it.
    """
    drop = -np.diff(beta)
    resolved = drop > _RESOLVED
    if power is not None:
        drop, resolved = np.diff(power), np.diff(power) > 1e-6 * power[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(resolved, np.log(drop / np.diff(alpha)), -np.inf)
    loss = np.minimum(loss, curve.max_loss)
    running = np.maximum.accumulate(np.maximum(loss, 0.0)[::-1])[::-1]
    open_loss = ~resolved
    open_loss[0] |= running[0] < curve.max_loss
    return np.asarray(running, dtype=np.float64), open_loss
