"""Many powers of one region at once: what their epsilons share is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import current
from dpcore.curves.composed import Certified, Directed
from dpcore.engine.contour_powers import PowerContour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff


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
    with np.errstate(invalid="ignore"):
        wide = ~(upper - lower <= current().tolerance * upper)
    lower[wide] = upper[wide] = np.nan
    for other in lines[1:]:
        known = np.flatnonzero(np.isfinite(upper))
        # an epsilon holds for both directions if the other one keeps to delta there
        worse = known[other.exceeds(copies[known], upper[known], delta[known])]
        lower[worse] = upper[worse] = np.nan
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
