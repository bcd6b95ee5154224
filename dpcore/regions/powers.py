"""Many powers of one region at once: what their epsilons share is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import current
from dpcore.curves.composed import Certified, Directed
from dpcore.engine.contour_powers import PowerContour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff

_SPARE: Final = 1e-8
"""Share of delta that removed far jumps may have."""

_ROUNDING: Final = 1e-12
"""Relative rounding of a normal tail at x and of a few operations, with room: x^2 units of 2^-53, and x is below 40."""


def power_epsilons(region: TradeOff, copies: NDArray[np.int64], delta: FloatArray) -> Bounds | None:
    """Return (lower, upper) of the epsilon of ``region ** k`` at a delta, for many k and delta.

    The brackets are proved as those of single powers are, and no wider than the tolerance; an answer does not depend on what
    else is asked.

    Parameters
    ----------
    region : TradeOff
        The region that is repeated.
    copies : ndarray of int
        Numbers of copies, from 2.
    delta : ndarray of float
        A delta for each, in (0, 1).

    Returns
    -------
    tuple of ndarray of float, or None
        Lower and upper sides, NaN where this method proves nothing; None if it does not suit the region.
    """
    directions = _directions((region**2).pair)
    if not directions:
        return None
    lines = [PowerContour(curve) for curve in directions]
    lower, upper = lines[0].epsilon_bounds(copies, delta)
    _forget_wide(lower, upper)
    if directions[0].has_far_jumps and (left := np.flatnonzero(np.isnan(upper))).size:
        lower[left], upper[left] = _without_jumps(directions[0], copies[left], delta[left])
        _forget_wide(lower, upper)
    for other in lines[1:]:
        known = np.flatnonzero(np.isfinite(upper))
        # an epsilon holds for both directions if the other one keeps to delta there
        worse = known[other.exceeds(copies[known], upper[known], delta[known])]
        lower[worse] = upper[worse] = np.nan
    return lower, upper


def _forget_wide(lower: FloatArray, upper: FloatArray) -> None:
    """Set brackets that are wider than the tolerance to NaN."""
    with np.errstate(invalid="ignore"):
        wide = ~(upper - lower <= current().tolerance * upper)
    lower[wide] = upper[wide] = np.nan


def _without_jumps(curve: Curve, copies: NDArray[np.int64], delta: FloatArray) -> Bounds:
    r"""Return the epsilons of powers of a pair without its rare far jumps, which make its transform explode.

    Let A be the outputs of one copy that `trimmed` keeps and :math:`q_\infty \ge P_1(A^c)`. The transform of the kept losses belongs to

    .. math:: \delta'(e) = E_{P_1^k}[(1-e^{e-L})_+;\, A^k], \qquad
              \delta(e) - \delta'(e) = E_{P_1^k}[(1-e^{e-L})_+;\, (A^k)^c] \in [0, D], \quad D = 1-(1-q_\infty)^k,

    since the integrand is between 0 and 1. So delta' >= delta at an epsilon proves that the true value is not below the target there,
    and delta' <= delta - D that it is not above: the lower side is taken at delta, the upper one at delta - D. Nothing is proved
    where D >= delta, which the fixed end of the law on the left (see `cut_normal`) causes for deltas below about 2e-28 k. This
    is the direction of the pair whose losses have no upper end; the caller asks the other one, untrimmed, at the upper side.
    """
    lower, upper = np.full(delta.size, np.nan), np.full(delta.size, np.nan)
    # of one question alone, so that no answer depends on the others
    level = np.floor(np.log10(_SPARE * delta / copies))
    for exponent in np.unique(level):
        trimmed = curve.trimmed(10.0**exponent)
        jumps = -np.expm1(copies * np.log1p(-trimmed.q_inf)) * (1 + _ROUNDING)
        at = np.flatnonzero((level == exponent) & (jumps < delta))
        lines = PowerContour(trimmed)
        lower[at] = lines.epsilon_bounds(copies[at], delta[at])[0]
        upper[at] = lines.epsilon_bounds(copies[at], (delta[at] - jumps[at]) * (1 - _ROUNDING))[1]
    return lower, upper


def _directions(pair: Curve) -> list[Curve]:
    """Return the one part of a power in both directions, or in one if they are equal; nothing if there is no transform."""
    forward = pair.forward if isinstance(pair, Directed) else pair
    if not isinstance(forward, Certified) or len(forward.parts) != 1 or not forward.has_mgf:
        return []
    curve = forward.parts[0][0]
    if curve.q_inf or curve.p_inf:
        return []
    return [curve] if curve.symmetric else [curve, curve.inverse()]
