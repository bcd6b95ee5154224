r"""Two accountants that add numbers: Rényi divergences order by order, and rates of concentrated privacy.

The Rényi divergence of a pair of order a is :math:`D_a=\log M(a-1)/(a-1)` with M the moment generating function of the
loss under P1, and the other way round :math:`\log M(-a)/(a-1)`. Divergences of independent, also adaptively chosen,
releases add. At each order the larger direction is taken, so the sum bounds both.
References: Mironov (2017); Bun, Steinke (2016); Canonne, Kamath, Steinke (2020), Proposition 12.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.divergences import concentrated, renyi
from dpcore.errors import DomainError
from dpcore.limits import checkpoint
from dpcore.theorems.renyi import rdp_to_dp, zcdp_to_dp
from dpcore.theorems.rounding import up
from dpcore.tradeoff import shorten
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.algebra import Factors
    from dpcore.curves.base import FloatArray
    from dpcore.tradeoff import TradeOff

ORDERS = 1.0 + np.concatenate((np.geomspace(0.01, 1.0, 12), np.geomspace(1.2, 1e4, 48)))
_FINER = 17  # odd: the best order so far is tried again
_ROUNDS = 4  # the order is then known to about 1e-4, and epsilon, flat there, to about 1e-9
_UNIT = 2.0**-53


def renyi_epsilon(factors: Factors, delta: float) -> tuple[float, str]:
    """Return the smallest epsilon at `delta` that Rényi divergences give, an upper bound, and a note with its order."""
    refuse_failures(factors)
    orders, total = ORDERS, divergence_sum(factors, ORDERS)
    for _ in range(_ROUNDS):  # every order holds; a search that stops early is loose and never wrong
        best = int(np.argmin(_tight(orders, total, delta)))
        orders = np.linspace(orders[max(best - 1, 0)], orders[min(best + 1, orders.size - 1)], _FINER)
        total = divergence_sum(factors, orders)
    place = int(np.argmin(_tight(orders, total, delta)))
    order, bound = float(orders[place]), float(total[place])
    if not math.isfinite(bound):
        return math.inf, "no order gives a finite sum"
    rows = rdp_to_dp(order, up(bound), delta)
    return float(rows.loc[rows["theorem"] == "rdp_tight", "epsilon"].iloc[0]), f"best order {order:.4g}"


def _tight(orders: FloatArray, bound: FloatArray, delta: float) -> FloatArray:
    """Return epsilon at each order without rounding care: it only chooses the order."""
    value = bound + np.log1p(-1.0 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1.0)
    return np.asarray(np.where(np.isfinite(bound), value, np.inf), dtype=np.float64)


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
            logs = [pair.log_mgf(s.astype(np.complex128)).real for s in (orders - 1.0, -orders)]
        larger = np.maximum(*logs)
        error = _UNIT * (4 * pair.mgf_rounding + 8 * np.abs(larger))
        value = (np.maximum(larger, 0.0) + error) / (orders - 1.0)
        return np.asarray(np.where(np.isfinite(larger), value, np.inf), dtype=np.float64)
    found = [renyi(node, float(order)) for order in orders]
    return np.array([math.inf if one is None else up(one[0]) for one in found])


def concentrated_epsilon(factors: Factors, delta: float) -> tuple[float, str]:
    """Return the smallest epsilon at `delta` that the sum of the rates of concentrated privacy gives, and a note."""
    refuse_failures(factors)
    rho = xi = 0.0
    for place, (node, count) in enumerate(factors):
        if place % 100 == 0:
            checkpoint(place / len(factors))
        rate = concentrated(node)
        if rate is None:
            msg = f"No rate of concentrated privacy is known for {shorten(str(node), 40)}."
            raise DomainError(msg)
        rho, xi = rho + count * rate.rho, xi + count * rate.xi
    rows = zcdp_to_dp(up(rho), up(xi) if xi else 0.0, delta)
    return float(rows.loc[rows["theorem"] == "zcdp_tight", "epsilon"].iloc[0]), f"ρ = {outward(rho, 6)}"


def refuse_failures(factors: Factors) -> None:
    """Refuse a list with a release that can fail: its divergences are infinite."""
    for node, _ in factors:
        if node.curve.q_inf > 0:
            msg = f"{shorten(str(node), 40)} fails with probability {outward(node.curve.q_inf, 4)}: its divergences are infinite."
            raise DomainError(msg)
