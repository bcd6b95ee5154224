r"""Sums of Rényi divergences, order by order: what the theorems about moments add.

The Rényi divergence of a pair of order a is :math:`D_a=\log M(a-1)/(a-1)` with M the moment generating function of the
loss under P1, and the other way round :math:`\log M(-a)/(a-1)`. Divergences of releases with independent noise
add, even if they are chosen adaptively. At each order the larger direction is taken, so the sum bounds both.
References: Mironov (2017); Bun, Steinke (2016); Canonne, Kamath, Steinke (2020), Proposition 12.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.rounding import UNIT, up
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.divergences import renyi
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.releases import Releases


def divergence_sum(factors: Factors, orders: FloatArray) -> FloatArray:
    """Return the sum of the divergences, at least the truth; inf where one is not known."""
    out = np.zeros(orders.size)
    for place, (node, count) in enumerate(factors):
        if place % 100 == 0:
            checkpoint(place / len(factors))
        out += count * divergences(node, orders)
    return out


def divergences(node: TradeOff, orders: FloatArray) -> FloatArray:
    """Return the Rényi divergence of one release at each order, the larger direction, rounded up; inf if unknown."""
    pair = node.pair
    if pair.has_mgf:
        with np.errstate(all="ignore"):
            logs, units = zip(*(pair.log_moments(c) for c in (orders - 1.0, -orders)), strict=True)
        larger = np.maximum(*logs)
        error = UNIT * (np.maximum(*units) + 8 * np.abs(larger))
        value = (np.maximum(larger, 0.0) + error) / (orders - 1.0)
        return np.asarray(np.where(np.isfinite(larger), value, np.inf), dtype=np.float64)
    values = [renyi(node, float(order)) for order in orders]
    return np.array([math.inf if one is None else up(one[0]) for one in values])


def infinite(releases: Releases, delta: float) -> str:
    """Say why moments promise nothing: at delta 0, or about a release that can fail; empty where they do."""
    if delta <= 0:
        return "Moments promise nothing at δ = 0."
    for node, _ in releases.factors:
        if node.fails:
            return f"{shorten(str(node), 40)} fails with probability {outward(node.curve.q_inf, 4)}: its divergences are infinite."
    return ""
