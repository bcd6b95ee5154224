r"""The last gate: a number that cannot be true is refused as an internal error and never published.

A profile lies in [0, 1] and falls with epsilon, a trade-off lies in [0, 1 - alpha] and falls with alpha, a lower bound
does not exceed its upper bound, and nothing is NaN. These are checked on the numbers of every answer.

That delta and beta belong to one region is checked once per region, if its curve computes both by separate formulas
(where one is derived from the other, or both are proved point by point, they agree by construction). For rates a - h, a,
a + h let S >= 0 be the height of the chord of beta above beta(a). The supporting line parallel to that chord is
:math:`1 - \delta(\varepsilon) - e^{\varepsilon} x` with :math:`e^{\varepsilon}` minus the chord's slope. Beta is
convex, so the chord is at most 2S above the curve, and hence at x = a

.. math:: \beta(a) - S \le 1 - \delta(\varepsilon) - e^{\varepsilon} a \le \beta(a).

Three betas and one delta decide: an optimistic delta breaks the right side, an optimistic beta the left one. Curves whose
deltas and betas are sums over the same masses, and whose betas are expensive, are checked at the first question for rates.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import kinds
from dpcore.core.errors import ImpossibleError, InternalError
from dpcore.core.numerals import numeral
from dpcore.curves.base import Curve
from dpcore.curves.bound import published
from dpcore.curves.combined import ByBeta
from dpcore.curves.polygon import Polygon
from dpcore.curves.possible import ROUNDING, SMALLEST_NORMAL, below_guessing, betas, raised, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

_RATES = np.array([1e-4, 0.02, 0.2, 0.6])  # a tail, two typical rates and the far side of the curve
_STEP = 1e-3  # h / a: with a smaller one the slope of the chord loses digits, with a larger one S hides more errors
_DUAL = 1e-9  # ten times the error promised of an exact number
_NEAR_END = 4e-15  # share of the largest loss by which rounded sums of losses may miss it


def delta_bounds(region: TradeOff, epsilon: FloatArray) -> Bounds:
    """Return (lower, upper) of delta at each epsilon, of any width."""
    curve = region.curve
    lower, upper = (bound + 0.0 for bound in curve.delta_bounds(epsilon))
    one_number = curve.exact & (upper - lower <= kinds.ROUNDING * upper)
    if math.isfinite(curve.max_loss) and not upper.all():
        upper = _above_zero(curve, epsilon, upper)
    _check(region, "delta", "epsilon", epsilon, (lower, upper), 1.0)
    if not curve.one_sum:
        _ = region.dual  # checked once
    lower = np.where(one_number, upper, lower)
    return np.where(lower < SMALLEST_NORMAL, 0.0, lower), raised(upper, epsilon, curve.max_loss)


def _above_zero(curve: Curve, epsilon: FloatArray, upper: FloatArray) -> FloatArray:
    """Return upper deltas that are 0 only from the largest loss upwards, not where sums of losses are rounded below it.

    No loss exceeds the largest one, so delta is at most 1 - e^(epsilon - largest), and it falls with epsilon.
    """
    near = (upper == 0.0) & (epsilon < curve.max_loss) & (epsilon >= curve.max_loss * (1.0 - _NEAR_END))
    if not near.any():
        return upper
    before = float(curve.delta_bounds(np.array([curve.max_loss * (1.0 - _NEAR_END)]))[1][0])
    return np.where(near, np.minimum(-np.expm1(epsilon - curve.max_loss), before), upper)


def epsilon_bounds(region: TradeOff, delta: FloatArray) -> Bounds:
    """Return (lower, upper) of the smallest epsilon >= 0 at each delta, of any width."""
    curve = region.curve
    lower, upper = (bound + 0.0 for bound in curve.epsilon_bounds(delta))
    _check(region, "epsilon", "delta", delta, (lower, upper), math.inf)
    if not curve.one_sum:
        _ = region.dual  # checked once
    return (upper, upper) if curve.exact else (lower, upper)


def beta_bounds(region: TradeOff, alpha: FloatArray) -> Bounds:
    """Return (lower, upper) of beta at each alpha, of any width."""
    with naming(region):
        lower, upper = (bound + 0.0 for bound in betas(region.curve, alpha))
    _ = region.dual  # checked once
    lost = upper < SMALLEST_NORMAL
    if lost.any():  # beta is 0 from the rate at which some answers are certain, and below every double before it
        certain = float(region.curve.beta_bounds(np.array([0.0]))[1][0])
        lost &= alpha < certain * (1.0 - ROUNDING)
        lower, upper = np.where(lost, 0.0, lower), np.where(lost, SMALLEST_NORMAL, upper)
    return lower, upper


def beta_safe(region: TradeOff, alpha: FloatArray, slack: float = 2.0**-52) -> FloatArray:
    """Return the lower, safe side of beta alone; `slack` is the rounding of alpha, larger where alpha is a sum."""
    lower = region.curve.beta_safe(alpha) + 0.0
    _check(region, "beta", "alpha", alpha, (lower, lower), 1.0)
    with naming(region):
        below_guessing(alpha, lower, slack)
    _ = region.dual  # checked once
    return lower


def power_bounds(region: TradeOff, alpha: FloatArray) -> Bounds:
    """Return (lower, upper) of the true-positive rate at each alpha, of any width."""
    lower, upper = (bound + 0.0 for bound in region.curve.power_bounds(alpha))
    _check(region, "power", "minus alpha", -alpha, (lower, upper), 1.0)
    _ = region.dual  # checked once
    return lower, upper


def area(region: TradeOff, value: float) -> float:
    """Return an area under the trade-off, in [0, 1/2] up to rounding."""
    if not 0.0 <= value <= 0.5 * (1.0 + ROUNDING):
        raise _refusal(region, f"The area under the curve came out as {numeral(value)}")
    return min(value, 0.5)


def border(region: TradeOff, alpha: FloatArray, beta: FloatArray, power: FloatArray) -> None:
    """Refuse the points of a border that no trade-off has.

    They are safe sides of brackets, which need not fall with alpha in their last digits. That the brackets fall is checked
    at the curve (`dpcore.curves.possible`), and for a polygon at its masses.
    """
    rates(region, "beta", beta)
    rates(region, "power", power)
    with naming(region):
        below_guessing(alpha, beta, ROUNDING)  # both rates of a corner are rounded sums
    _ = region.dual  # checked once


def corners(region: TradeOff, first: FloatArray, second: FloatArray, names: tuple[str, str]) -> None:
    """Refuse corners whose second coordinate is not a probability or grows with the first."""
    _check(region, names[1], names[0], first, (second, second), 1.0)
    _ = region.dual  # checked once


def rates(region: TradeOff, what: str, values: ArrayLike) -> None:
    """Refuse values outside [0, 1] that would be published as probabilities."""
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if wrong.any():
        raise _refusal(region, f"The {what} came out as {float(array[int(np.argmax(wrong))])!r}")


def _masses(region: TradeOff, polygon: Polygon) -> None:
    """Refuse a polygon whose masses are not two distributions."""
    for name, mass, rest in (("without", polygon.p, polygon.p_inf), ("with", polygon.q, polygon.q_inf)):
        whole = float(np.sum(mass)) + rest
        if not (np.all(mass >= 0.0) and rest >= 0.0 and abs(whole - 1.0) <= _DUAL):
            raise _refusal(region, f"The answers {name} the record came out with the total mass {numeral(whole)}")


@contextmanager
def naming(region: TradeOff, *others: TradeOff) -> Iterator[None]:
    """Add the names of the regions to an `ImpossibleError` of their curves inside the ``with`` block."""
    try:
        yield
    except ImpossibleError as error:
        raise _refusal(region, str(error), *others) from error


@contextmanager
def curve_of(region: TradeOff) -> Iterator[Curve]:
    """Yield the curve of a region to functions that take curves; an impossible number is refused with the expression."""
    polygon = published(region.curve)
    if isinstance(polygon, Polygon):
        _masses(region, polygon)
    elif not region.curve.one_sum:
        _ = region.dual  # checked once
    with naming(region):
        yield region.curve


def _check(region: TradeOff, what: str, where: str, at: FloatArray, bounds: Bounds, most: float) -> None:
    with naming(region):
        refuse(what, where, at, bounds, most)


def check_dual(region: TradeOff) -> bool:
    """Check that the deltas and betas of a region belong together, and the masses of a polygon; True, or an error."""
    curve = region.curve
    polygon = published(curve)
    if isinstance(polygon, Polygon):
        _masses(region, polygon)
    derived = type(curve).beta_bounds is Curve.beta_bounds or isinstance(curve, ByBeta)
    if derived or curve.proved or not curve.exact:
        return True
    three = np.stack((_RATES * (1.0 - _STEP), _RATES, _RATES * (1.0 + _STEP)))
    left, beta, right = curve.beta_bounds(three.ravel())[0].reshape(three.shape)
    falls = left - right
    slope = np.maximum(falls / (three[2] - three[0]), 1e-300)
    height = np.maximum(0.5 * (left + right) - beta, 0.0)
    epsilon = np.log(slope)
    line = 1.0 - curve.delta_bounds(epsilon)[0] - slope * _RATES
    # where beta has lost its digits (1 - alpha, or a tail) a slope means nothing; elsewhere the line is right to rounding
    good = falls > 1e-6 * left * _STEP
    slack = _DUAL + 1e-15 / _STEP * slope
    broken = good & ~((line <= beta + slack) & (line >= beta - height - slack))
    if broken.any():
        place = int(np.argmax(broken))
        numbers = f"beta({numeral(_RATES[place])}) = {numeral(beta[place])} and delta({numeral(epsilon[place])})"
        raise _refusal(region, f"{numbers} contradict each other")
    return True


def _refusal(region: TradeOff, what: str, *others: TradeOff) -> InternalError:
    names = (one.text if len(one.text) <= 200 else one.text[:197] + "..." for one in (region, *others))
    return InternalError(
        f"{what}: this cannot be true and is not published. It is an error of dpcore in {' or '.join(names)}."
    )
