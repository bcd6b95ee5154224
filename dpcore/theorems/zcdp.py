"""Composition of concentrated privacy: rates add, and the sum is turned into (epsilon, delta)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.rounding import up
from dpcore.regions.guarantees import GDP
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.divergence_sums import infinite
from dpcore.theorems.divergences import concentrated
from dpcore.theorems.record import Promise, Theorem, TheoremOracle
from dpcore.theorems.zcdp_tight import best_epsilon
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.theorems.releases import Releases


def _epsilon(releases: Releases, delta: float) -> Promise:
    """Return the smallest epsilon at `delta` that the sum of the rates gives, and a note with the sum."""
    rho = xi = 0.0
    for place, (node, count) in enumerate(releases.factors):
        if place % 100 == 0:
            checkpoint(place / len(releases.factors))
        rate = concentrated(node)
        if rate is None:
            msg = f"For {shorten(str(node), 40)} no rate of concentrated privacy is known."
            raise DomainError(msg)
        rho, xi = rho + count * rate.rho, xi + count * rate.xi
    epsilon, _ = best_epsilon(up(rho), up(xi) if xi else 0.0, delta)
    return Promise(epsilon, "upper", f"ρ = {outward(rho, 6)}")


THEOREM = Theorem(
    name="zcdp",
    title="Composition of concentrated privacy",
    label="Concentrated (zCDP)",
    formula=r"\rho=\sum_i\rho_i,\ \xi=\sum_i\xi_i;\quad"
    r"\min_{a>1}\ \xi+\rho a+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1}",
    meaning="The rates that bound all moments add up.",
    reference="Bun, Steinke 2016, Lemma 1.7; Canonne, Kamath, Steinke 2020, Proposition 12",
    kind="upper",
    # Four times mu = 1/2 is mu = 1 and ρ = 1/2: the minimum over orders of `zcdp_tight`, in high precision.
    oracles=(TheoremOracle(([(GDP(0.5), 4)], 1e-5), 4.728386984943314, 1e-5, 1e-9),),
    objection=infinite,
    of_statements=False,
    epsilon=_epsilon,
    because="The rates of concentrated privacy add up, and little is lost when they become (ε, δ).",
    account=None,
)
