"""How much work a region takes, estimated before any of it is done.

The unit is one elementary operation of numpy on one number; a core does about 10^8 of them in a second. The estimate is
rough, right to about a factor of ten, and depends on the expression alone. It decides where work may run and whether it
starts at all, and a refusal quotes the same number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.curves.polygon import Polygon
from dpcore.regions.algebra import Composite, Group, SelfComposing, factors
from dpcore.regions.tradeoff import TradeOff

if TYPE_CHECKING:
    from dpcore.regions.algebra import Factors

PER_SECOND = 1e8
"""Operations of one core in a second."""

# Measured on pictures of regions (some 200 points each), in operations as above. Wrong values only move the work to
# another place; they never change a number.
CLOSED_FORM = 1e6  # a curve in closed form
PER_LOSS = 3e3  # one loss of a polygon that is composed
PER_ENTRY = 50.0  # one entry of a table that a mechanism makes: geometric noise over 10^6 steps and its group of two take 0.1 and 0.8 s
LATTICE = 3e8  # a part known by its profile alone: two lattices and their transforms
ADAPTIVE = 1.5e8  # a worst case over adaptive choices
QUICK = 3e7  # up to here the curve of a part is computed for the estimate


def operations(region: TradeOff) -> float:
    """Return about how many operations it takes to draw a region.

    Parameters
    ----------
    region : TradeOff
        Any region; only curves that cost next to nothing are computed.

    Returns
    -------
    float
        1e6 for a closed form (10 ms), 3e8 and more for lattices (seconds).

    Examples
    --------
    >>> from dpcore import parse
    >>> operations(parse("laplace(1)"))
    1000000.0
    """
    if isinstance(region, Composite):
        return _product(factors(region))
    combined = parts(region)
    if not combined:
        return CLOSED_FORM + PER_ENTRY * region.table_size
    repetitions = float(region.k) if isinstance(region, Group) else 1.0
    return CLOSED_FORM + PER_ENTRY * region.table_size + repetitions * sum(map(operations, combined))


def parts(region: TradeOff) -> list[TradeOff]:
    """Return the regions that an operation combines; none for a named guarantee or mechanism."""
    combined: list[TradeOff] = []
    for value in region.__getstate__().values():
        combined += [item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, TradeOff)]
    return combined


def _product(powers: Factors) -> float:
    """Return the work of a composition: that of its parts, and that of the method that composes them."""
    if len(powers) == 1 and powers[0][1] == 1:
        return operations(powers[0][0])
    return CLOSED_FORM + sum(_factor(node, count) for node, count in powers)


def _factor(node: TradeOff, count: int) -> float:
    own = operations(node)
    if isinstance(node, SelfComposing):
        return own + ADAPTIVE
    if own > QUICK:
        return own + max(LATTICE, PER_LOSS * _table_size(node))
    curve = node.pair
    if curve.gaussian_mu is not None:
        return own
    if isinstance(curve, Polygon):
        return own + PER_LOSS * curve.size
    return own + (curve.transform_effort(count) if curve.has_mgf else LATTICE)


def _table_size(region: TradeOff) -> int:
    """Return how many losses the tables of its mechanisms have together."""
    return region.table_size + sum(map(_table_size, parts(region)))
