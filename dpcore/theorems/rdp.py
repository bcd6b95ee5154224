r"""Composition of Rényi privacy: divergences add order by order, and the best order is turned into (epsilon, delta)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.rounding import up
from dpcore.regions.algebra import Intersection
from dpcore.regions.guarantees import DP, GDP
from dpcore.theorems.divergence_sums import divergence_sum, infinite
from dpcore.theorems.rdp_tight import tight_epsilon
from dpcore.theorems.record import Promise, PromisedRegion, Theorem, TheoremOracle
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.theorems.releases import Releases

ORDERS = 1.0 + np.concatenate((np.geomspace(0.01, 1.0, 12), np.geomspace(1.2, 1e4, 48)))  # where the search begins
DELTAS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.4, 0.7)  # of the picture, dense where it is seen
_DIGITS = 4  # of their epsilons, rounded up: a table repeats them in each row
_FINER = 17  # odd: the best order so far is tried again
_ROUNDS = 4  # the order is then known to about 1e-4, and epsilon, flat there, to about 1e-9


def _epsilon(releases: Releases, delta: float) -> Promise:
    """Return the smallest epsilon at `delta` that Rényi divergences give, and a note with its order."""
    orders, total = ORDERS, divergence_sum(releases.factors, ORDERS)
    for _ in range(_ROUNDS):  # every order holds; a search that stops early is loose and never wrong
        best = _best(orders, total, delta)
        orders = np.linspace(orders[max(best - 1, 0)], orders[min(best + 1, orders.size - 1)], _FINER)
        total = divergence_sum(releases.factors, orders)
    place = _best(orders, total, delta)
    order, bound = float(orders[place]), float(total[place])
    if not math.isfinite(bound):
        return Promise(math.inf, "upper", "no order gives a finite sum")
    return Promise(tight_epsilon(order, up(bound), delta), "upper", f"best order {nearest(order, 4)}")


def _region(releases: Releases, delta: float, _slack: float) -> PromisedRegion:
    """Return what the statements at some deltas say together; each of them holds, so all of them do."""
    total = divergence_sum(releases.factors, ORDERS)
    promise = _epsilon(releases, delta)
    pairs = [(promise.epsilon, delta)] if math.isfinite(promise.epsilon) else []
    for other in DELTAS:
        place = _best(ORDERS, total, other)
        bound = float(total[place])
        if math.isfinite(bound):
            value = tight_epsilon(float(ORDERS[place]), up(bound), other)
            pairs += [] if other == delta else [(float(outward(value, _DIGITS)), other)]
    if not pairs:
        msg = "No order gives a finite sum."
        raise DomainError(msg)
    parts = tuple(DP(epsilon, failing) for epsilon, failing in sorted(set(pairs)))
    region = parts[0] if len(parts) == 1 else Intersection(parts)
    return PromisedRegion(region, "upper", f"{promise.note}; statements at {len(parts)} deltas")


def _best(orders: FloatArray, total: FloatArray, delta: float) -> int:
    """Return the place of the order with the smallest epsilon."""
    pairs = zip(orders.tolist(), total.tolist(), strict=True)
    return int(
        np.argmin([tight_epsilon(order, bound, delta) if math.isfinite(bound) else math.inf for order, bound in pairs])
    )


THEOREM = Theorem(
    name="rdp",
    title="Composition of Rényi privacy",
    label="Rényi, best order",
    formula=r"\min_{a>1}\ \sum_i D_a^{(i)}+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1}",
    meaning="The moments of the losses add up; the order with the smallest ε at this δ is used.",
    reference="Mironov 2017, Proposition 1; Canonne, Kamath, Steinke 2020, Proposition 12",
    kind="upper",
    # Four times mu = 1/2 is mu = 1 and ρ = 1/2: the minimum over orders of `zcdp_tight`, in high precision.
    oracles=(TheoremOracle(([(GDP(0.5), 4)], 1e-5), 4.728386984943314, 1e-5, 1e-9),),
    objection=infinite,
    of_statements=False,
    epsilon=_epsilon,
    region=_region,
    shown=False,
    never_above=("zcdp",),
    because="The moments of the losses add up without loss, and little is lost when they become (ε, δ).",
    account=None,
)
