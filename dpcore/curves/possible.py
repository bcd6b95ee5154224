"""What can be true of a curve: probabilities that fall, a lower side below the upper one, and no NaN.

Functions that work on a curve alone call `deltas` and `betas` here; `dpcore.regions.gate` adds the
name of the region to an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import ImpossibleError
from dpcore.core.numerals import numeral

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, Curve, FloatArray

ROUNDING = 1e-12
"""Relative rounding allowed in these comparisons."""

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
"""2.2e-308: smaller doubles have few digits or none, and nothing is concluded from their order."""


def deltas(curve: Curve, epsilon: FloatArray) -> Bounds:
    """Return the bounds of delta; refuse numbers that no profile has."""
    bounds = curve.delta_bounds(epsilon)
    refuse("delta", "epsilon", epsilon, bounds, 1.0)
    return bounds


def raised(upper: FloatArray, epsilon: FloatArray, max_loss: float | FloatArray) -> FloatArray:
    """Return upper deltas, none of them lost below the smallest normal double or 0 before the largest loss."""
    lost = (upper < SMALLEST_NORMAL) & ((upper > 0.0) | (epsilon < max_loss))
    return np.where(lost, SMALLEST_NORMAL, upper)


def betas(curve: Curve, alpha: FloatArray) -> Bounds:
    """Return the bounds of beta; refuse numbers that no trade-off has."""
    bounds = curve.beta_bounds(alpha)
    refuse("beta", "alpha", alpha, bounds, 1.0)
    below_guessing(alpha, bounds[0])
    return bounds


def below_guessing(alpha: FloatArray, beta: FloatArray, slack: float = 2.0**-52) -> None:
    """Refuse a beta above the line of blind guessing by more than the rounding of alpha, `slack`."""
    above = beta > (1.0 - alpha) * (1.0 + ROUNDING) + slack
    if above.any():
        place = int(np.argmax(above))
        msg = f"The beta at alpha = {numeral(alpha[place])} came out as {numeral(beta[place])}, above 1 - alpha"
        raise ImpossibleError(msg)


def refuse(what: str, where: str, at: FloatArray, bounds: Bounds, most: float) -> None:
    """Refuse numbers outside [0, most], a lower bound above its upper one, and answers that grow along `at`."""
    lower, upper = bounds
    if at.size == 1:
        low, high = float(lower[0]), float(upper[0])
        if 0.0 <= low <= high * (1.0 + ROUNDING) and high <= most:
            return
        raise _wrong(what, where, at, bounds, 0)
    wrong = ~((lower >= 0.0) & (lower <= upper * (1.0 + ROUNDING)) & (upper <= most))
    if wrong.any():
        raise _wrong(what, where, at, bounds, int(np.argmax(wrong)))
    order = np.argsort(at, kind="stable")
    ceiling = np.maximum(np.minimum.accumulate(upper[order]), SMALLEST_NORMAL)
    # at a negative epsilon the rounding of delta is that of 1
    slack = 2.0**-52 if at.size and at.min() < 0.0 else 0.0
    with np.errstate(invalid="ignore"):  # infinite epsilons
        grows = lower[order][1:] > ceiling[:-1] * (1.0 + ROUNDING) + slack
    if grows.any():
        place = int(order[1:][int(np.argmax(grows))])
        msg = f"The {what} at {where} = {numeral(at[place])} is larger than at a smaller {where}"
        raise ImpossibleError(msg)


def _wrong(what: str, where: str, at: FloatArray, bounds: Bounds, place: int) -> ImpossibleError:
    low, high, point = (float(column[place]) for column in (*bounds, at))
    return ImpossibleError(f"The {what} at {where} = {numeral(point)} came out as {numeral(low)} to {numeral(high)}")
