"""Composition with a bound on the total variation: exact for the worst case of (epsilon, delta, eta)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import DELTA, ETA, LOSS
from dpcore.core.notices import collected, notice
from dpcore.core.numerals import nearest, numeral
from dpcore.core.rounding import failure, sum_up
from dpcore.regions.guarantees import DP, DPTV
from dpcore.theorems.domain import LATTICE_COPIES
from dpcore.theorems.lattice import deltas_at_drops, reserve, trinomial_masses
from dpcore.theorems.optimal import corner_table, optimal_epsilon, optimal_region
from dpcore.theorems.record import Theorem, TheoremOracle
from dpcore.theorems.table import table
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.listing import Listing
    from dpcore.theorems.record import Promise, PromisedRegion
    from dpcore.theorems.releases import Releases, Statements
    from dpcore.theorems.step import Step


def dptv(epsilon: float, delta: float, eta: float, k: int) -> pd.DataFrame:
    r"""Compose k mechanisms that are (epsilon, delta)-DP and eta-TV each, adaptively, without loss.

    For j = 0..k the composition is :math:`(j\varepsilon, 1-(1-\delta)^k(1-\delta_j))`-DP; :math:`\delta_j` is the
    profile at :math:`j\varepsilon` of the sum of k losses :math:`+\varepsilon, 0, -\varepsilon` with probabilities
    :math:`(1-\alpha)e^\varepsilon/(1+e^\varepsilon), \alpha, (1-\alpha)/(1+e^\varepsilon)`,

    .. math:: \alpha = 1-\frac{(\eta-\delta)(1+e^\varepsilon)}{(1-\delta)(e^\varepsilon-1)} .

    In words: a bound on the total variation says how often a mechanism reveals anything at all. The row at 0 is the
    total variation of the composition. An eta above delta + (1-delta) tanh(epsilon/2) adds nothing and is clamped to
    it with a `DomainWarning`; eta at most delta is stronger than delta and means tv(eta).
    Reference: Ghazi, Issa (2023), Theorem 2.

    Parameters
    ----------
    epsilon : float
        Of each mechanism, at least 0.
    delta : float
        Of each mechanism, in [0, 1].
    eta : float
        Total variation of each mechanism, in [0, 1].
    k : int
        How many mechanisms, from 1.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per corner, k + 1 of them.
    """
    step, failing = LOSS.check(epsilon), DELTA.check(delta)
    distance, copies = ETA.check(eta), LATTICE_COPIES.check(k)
    largest = failing + (1 - failing) * math.tanh(step / 2)
    if distance > largest * (1 + 1e-15):
        msg = (
            f"eta = {numeral(distance)} is above what ({numeral(step)}, {numeral(failing)})-DP allows, about {nearest(largest)}: "
            "clamped to it."
        )
        notice(msg, stacklevel=2)
    if distance <= failing or step == 0:
        note = "eta at most delta: tv(eta) alone" if distance <= failing else "epsilon is 0: tv(min(delta, eta)) alone"
        return table("dptv", 0.0, failure([(min(distance, failing), copies)]), "exact", note)
    lost = failure([(failing, copies)])
    if lost == 1:
        return table("dptv", 0.0, lost, "exact", "no finite loss: one number says it all")
    LOSS.but(name="k * epsilon").check(step * copies)
    reserve(copies + 1, "dptv")
    move = min(1.0, (distance - failing) / ((1 - failing) * math.tanh(step / 2)))
    index = np.arange(0.0, copies + 1)
    deltas = deltas_at_drops(step * index, trinomial_masses(copies, step, move))
    corners = step * (copies - index)
    corners[0] = sum_up([(step, copies)])
    note = "profile" if distance <= largest else f"eta clamped to {numeral(largest)}"
    return corner_table("dptv", corners, deltas, lost, note)


def _listing(listing: Listing, _slacks: Sequence[float]) -> pd.DataFrame | None:
    if listing.kinds != {"dptv"} or len(listing.parts) != 1:
        return None
    ((_, (epsilon, delta, eta), count),) = listing.parts
    return dptv(epsilon, delta, eta, count)


def _worst_case(step: Step) -> TradeOff:
    """Return the statement with its total variation; a bound that changes nothing is left out."""
    if not step.tv_helps:
        return DP(step.epsilon, step.delta)
    if isinstance(step.region, DPTV):  # as it was typed: its total variation, computed, may differ in the last digit
        return step.region
    with collected():  # rounding of eta at its largest value is not worth a warning
        return DPTV.make(step.epsilon, step.delta, step.eta)


def _worst_cases(statements: Statements) -> Factors:
    return [(_worst_case(step), count) for step, count in statements.parts]


def _no_tv(statements: Statements) -> str:
    """Say why the theorem adds nothing; empty where it does."""
    if statements.tv_helps:
        return ""
    eta = outward(statements.parts[0][0].eta, 4) if len(statements.parts) == 1 else ""
    return f"No total variation below that of (ε, δ){eta and f', {eta},'} is known: KOV optimal is the same."


def _epsilon(releases: Releases, delta: float) -> Promise:
    statements = releases.statements(delta)
    return optimal_epsilon(statements, _worst_cases(statements), delta, tight=True, note=statements.note)


def _region(releases: Releases, delta: float, _slack: float) -> PromisedRegion:
    statements = releases.statements(delta)
    return optimal_region(statements, _worst_cases(statements), tight=True, note=statements.note)


THEOREM = Theorem(
    name="dptv",
    title="Composition with a bound on the total variation",
    formula=r"\bigl(j\varepsilon,\ 1-(1-\delta)^k(1-\delta_j)\bigr),\ j=0,\dots,k;\quad"
    r"\alpha=1-\tfrac{(\eta-\delta)(1+e^\varepsilon)}{(1-\delta)(e^\varepsilon-1)}",
    meaning="A mechanism of small total variation reveals something only now and then: their exact region.",
    reference="Ghazi, Issa 2023, Theorem 2",
    kind="exact",
    oracles=(
        TheoremOracle((0.6, 0.05, 0.2, 5), 0.0, 0.51005783, 1e-8),
        TheoremOracle((0.6, 0.05, 0.2, 5), 1.2, 0.2845929, 3e-8),
        TheoremOracle((1.0, 0.0, 0.3234820006999, 5), 4.0, 0.02218457, 3e-7),
        TheoremOracle((0.6, 0.15, 0.25, 3), 0.6, 0.42717598, 1e-8),
    ),
    label="DP-TV",
    function=dptv,
    listing=_listing,
    unlisted="It is about copies of one mechanism with a total variation below that of (ε, δ).",
    uses_tv=True,
    objection=lambda releases, delta: releases.too_many() or _no_tv(releases.statements(delta)),
    epsilon=_epsilon,
    region=_region,
    never_above=("kov_optimal",),
    because="It uses the total variation of every release besides its (ε, δ).",
    account=None,
)
