"""From concentrated privacy to (epsilon, delta), best order: use the moment with the smallest epsilon at delta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.numerals import nearest
from dpcore.theorems.rdp_tight import tight_delta, tight_epsilon
from dpcore.theorems.record import SINGLE, Account, Route, Theorem
from dpcore.theorems.zcdp_bun_steinke import plain_delta, plain_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

_GOLDEN = (math.sqrt(5) - 1) / 2
_LEAST = math.log(2.0**-50)  # of log(order - 1): a smaller one rounds the order to 1, which no bound allows


def best_epsilon(rho: float, xi: float, delta: float) -> tuple[float, str]:
    """Return the smallest tight epsilon of (xi, rho)-zCDP at delta, and its order."""
    start = 1 + math.sqrt(-math.log(delta) / rho) if rho > 0 and delta < 1 else 2.0
    best, order = _smallest(lambda order: tight_epsilon(order, xi + rho * order, delta), start)
    return min(best, plain_epsilon(rho, xi, delta)), f"order {nearest(order)}"


def _delta(rho: float, xi: float, point: float) -> tuple[float, str]:
    """Return the smallest tight delta of (xi, rho)-zCDP at epsilon `point`, and its order."""
    start = 1 + (point - xi) / (2 * rho) if rho > 0 and point > xi else 2.0
    best, order = _smallest(lambda order: tight_delta(order, xi + rho * order, point), start)
    return min(best, plain_delta(rho, xi, point)), f"order {nearest(order)}"


def _smallest(bound: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return the smallest value found, and its order, by golden section in log(order - 1) around `start`.

    Every order gives a valid bound, so a search that stops early is loose and never wrong.
    """
    centre = math.log(max(start - 1, 1e-12))
    # Coarse first: the bound need not be unimodal over many decades.
    grid = [max(centre + step / 4, _LEAST) for step in range(-60, 61)]
    values = [bound(1 + math.exp(point)) for point in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    while high - low > 1e-9:  # golden sections
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if bound(1 + math.exp(left)) <= bound(1 + math.exp(right)):
            high = right
        else:
            low = left
    order = 1 + math.exp((low + high) / 2)
    return min((bound(order), order), (values[best], 1 + math.exp(grid[best])))


THEOREM = Theorem(
    name="zcdp_tight",
    title="From concentrated privacy, best order",
    formula=r"\min_{a>1}\ \xi+\rho a+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1}",
    meaning="Use the moment that gives the smallest ε at this δ.",
    assumptions=SINGLE,
    reference="Canonne, Kamath, Steinke 2020, Proposition 12",
    kind="upper",
    account=Account(
        "zCDP, better conversion",
        r"\min_{a>1}\ k\rho a+\log\frac{a-1}a-\frac{\log\delta+\log a}{a-1}",
        "The same ρ with the better conversion at the best order.",
    ),
    route=Route(
        "zcdp",
        "dp",
        r"\min_{a>1}\ \xi+\rho a+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        ("zcdp(0.5)", "epsilon", 4.728386984943314, 1e-12, "minimum over orders, high precision"),
        best_epsilon,
        _delta,
    ),
)
