r"""Parallel rows: releases about disjoint parts of the data, only a few of which one person's data touch.

Let the rows of a group have the trade-off functions :math:`f_1,\dots,f_n`, and let one person's data touch at most m
of them: in all others the two neighbours are the same data. Put the rows in any order and let
:math:`u_j=(\min_{i\ge j}f_i)^{**}` be the union of the regions at places j and later. Then the group is bounded by

.. math:: u_1\otimes u_2\otimes\dots\otimes u_m ,

even if it depends on earlier answers which rows touch the person. Proof: :math:`u_1\le u_2\le\dots`, so by Blackwell a
draw of the pair of :math:`u_j` can be turned into a draw of the pair of :math:`u_l` for every l >= j, hence of
:math:`f_l\ge u_l`. Take one draw of each of :math:`u_1,\dots,u_m`. When a row at place l touches the person, use the
last free draw with a place of at most l. One is always free: of all touching rows at most j have a place up to j, for
they are different rows, and at most m exist at all; a unit-time schedule that takes the latest free slot before each
deadline never fails if any schedule exists. So the answers are made from the m draws, and no test does better. With
m = 1 this is the union: what the worst part reveals. If the rows are ordered, each region inside the one before, then
:math:`u_j=f_j` and the m worst rows are composed, which somebody may attain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DpcoreError
from dpcore.ledger.inside import maximal
from dpcore.regions.algebra import Loose, Union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.base import Curve
    from dpcore.regions.tradeoff import TradeOff

ORDERED_AT = 1e-6  # the delta at whose epsilon rows are ordered; every order gives a valid bound


@dataclass(frozen=True, eq=False, repr=False)
class Worst(Union, Loose):
    """The union of rows if none of them is the worst everywhere; composed with others it is an upper bound."""

    why_loose: ClassVar[str] = "the union of rows on disjoint data composed"

    def attained(self) -> Curve | None:
        """Return the row at the first place: the person may be in it."""
        return self.parts[0].curve


def group_factors(members: Sequence[TradeOff], limit: int) -> list[TradeOff]:
    """Return regions whose composition bounds a group if one person's data touch at most `limit` of its rows."""
    if limit >= len(members):
        return list(members)
    if limit == 1:
        return [_union(members)]
    order = _ordered(members)
    return [_union(order[place:]) for place in range(limit)]


def essential(members: Sequence[TradeOff], limit: int) -> set[int]:
    """Return the places of the members whose removal may change the bound."""
    if limit >= len(members) - 1:
        return set(range(len(members)))
    order = list(members) if limit == 1 else _ordered(members)
    ids = {id(member) for member in order[:limit]} if limit > 1 else set()
    for place in range(limit):
        ids |= {id(member) for member in maximal(order[place:])}
    return {place for place, member in enumerate(members) if id(member) in ids}


def _ordered(members: Sequence[TradeOff]) -> list[TradeOff]:
    keys = {}
    for place, member in enumerate(members):
        checkpoint(place / len(members))
        try:
            keys[id(member)] = float(member.epsilon(ORDERED_AT))
        except DpcoreError:
            keys[id(member)] = math.inf
    return sorted(members, key=lambda member: -keys[id(member)])


def _union(members: Sequence[TradeOff]) -> TradeOff:
    worst = maximal(members)
    return worst[0] if len(worst) == 1 else Worst(tuple(_ordered(worst)))
