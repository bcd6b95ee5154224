"""What the two exact theorems about statements share: the composition of their worst cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import current, effort
from dpcore.curves.polygon import Polygon
from dpcore.regions import gate
from dpcore.theorems.record import Promise, PromisedRegion
from dpcore.theorems.releases import composed
from dpcore.theorems.table import table
from dpcore.theorems.tails import epsilon_of_copies

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.releases import Statements

    FloatArray = NDArray[np.float64]

SAFE = 1 + 1e-13
"""Turns a number that is right up to rounding into an upper bound, which must not be below the truth at all."""
_ENOUGH = 1e-4  # relative width of the bracket of a bound that is loose anyway: narrower only costs time


def merged(parts: Factors) -> list[tuple[TradeOff, int]]:
    """Return the worst cases, equal ones counted together."""
    counts: dict[str, tuple[TradeOff, int]] = {}
    for node, count in parts:
        counts[node.text] = (node, count + counts.get(node.text, (node, 0))[1])
    return list(counts.values())


def optimal_epsilon(statements: Statements, parts: Factors, delta: float, *, tight: bool, note: str) -> Promise:
    """Return epsilon of the composed worst cases; `tight` if they say all that the statements say."""
    counts = merged(parts)
    region = composed(counts)
    few = None
    if len(counts) == 1:  # of equal statements the few masses that decide are enough
        ((node, count),) = counts
        pair = node.pair
        few = epsilon_of_copies(pair, count, delta) if isinstance(pair, Polygon) and pair.symmetric else None
    if statements.attained and tight:
        if few is not None:
            return Promise(few + 0.0, "exact", note)
        return Promise(float(gate.epsilon_bounds(region, np.array([delta]))[1][0]) + 0.0, region.kind, note)
    if few is None:
        with effort(tolerance=max(current().tolerance, _ENOUGH)):
            few = float(region.epsilon(delta))
    return Promise(few * SAFE + 0.0, "upper", note)


def optimal_region(statements: Statements, parts: Factors, *, tight: bool, note: str) -> PromisedRegion:
    """Return the same composition as a region."""
    return PromisedRegion(composed(merged(parts)), "exact" if statements.attained and tight else "upper", note)


def corner_table(name: str, epsilon: FloatArray, delta: FloatArray, lost: float, note: str) -> pd.DataFrame:
    """Return corners in ascending epsilon, the finite part's deltas joined with the mass at infinite loss."""
    joined = np.minimum(lost + (1 - lost) * delta, 1.0)
    return table(name, epsilon[::-1], joined[::-1], "exact", note)
