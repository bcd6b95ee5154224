"""The optimal composition of equal statements: the worst case is attained, so nothing smaller is true for every mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import DELTA, LOSS
from dpcore.core.rounding import failure, sum_up
from dpcore.regions.guarantees import DP
from dpcore.theorems.domain import LATTICE_COPIES
from dpcore.theorems.lattice import binomial_law, deltas_at_drops, reserve
from dpcore.theorems.optimal import corner_table, optimal_epsilon, optimal_region
from dpcore.theorems.record import Account, Theorem, TheoremOracle
from dpcore.theorems.releases import equal
from dpcore.theorems.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.regions.algebra import Factors
    from dpcore.theorems.listing import Listing
    from dpcore.theorems.record import Promise, PromisedRegion
    from dpcore.theorems.releases import Releases, Statements


def kov_optimal(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Compose k mechanisms that are (epsilon, delta)-DP each, adaptively, without loss.

    For i = 0..floor(k/2) the composition is :math:`((k-2i)\varepsilon, 1-(1-\delta)^k(1-\delta_i))`-DP,

    .. math:: \delta_i = \sum_{l<i} \binom{k}{l}
              \frac{e^{(k-l)\varepsilon}-e^{(k-2i+l)\varepsilon}}{(1+e^\varepsilon)^k}.

    In words: the rows together are the whole truth about k unknown mechanisms; some mechanism attains every row at
    once.
    Reference: Kairouz, Oh, Viswanath (2015), Theorem 3.3.

    Parameters
    ----------
    epsilon : float
        Of each mechanism, at least 0.
    delta : float
        Of each mechanism, in [0, 1].
    k : int
        How many mechanisms, from 1.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per corner, k // 2 + 1 of them.
    """
    step, failing = LOSS.check(epsilon), DELTA.check(delta)
    copies = LATTICE_COPIES.check(k)
    lost = failure([(failing, copies)])
    if step == 0 or lost == 1:
        return table("kov_optimal", 0.0, lost, "exact", "no finite loss: one number says it all")
    LOSS.but(name="k * epsilon").check(step * copies)
    reserve(copies // 2 + 1, "kov_optimal")
    index = np.arange(0.0, copies // 2 + 1)
    deltas = deltas_at_drops(2 * step * index, binomial_law(copies, step)[: copies // 2 + 1])
    corners = step * (copies - 2 * index)
    corners[0] = sum_up([(step, copies)])  # rounded down, the largest loss would not cover itself
    return corner_table("kov_optimal", corners, deltas, lost, "corner")


def _listing(listing: Listing, _slacks: Sequence[float]) -> pd.DataFrame | None:
    return kov_optimal(*equal(listing.triples)) if listing.equal else None


def _worst_cases(statements: Statements) -> Factors:
    return [(DP(step.epsilon, step.delta), count) for step, count in statements.parts]


def _note(statements: Statements) -> str:
    unused = "bound on total variation not used" if statements.tv_helps else ""
    return "; ".join(part for part in (statements.note, unused) if part)


def _epsilon(releases: Releases, delta: float) -> Promise:
    statements = releases.statements(delta)
    return optimal_epsilon(
        statements, _worst_cases(statements), delta, tight=not statements.tv_helps, note=_note(statements)
    )


def _region(releases: Releases, delta: float, _slack: float) -> PromisedRegion:
    statements = releases.statements(delta)
    return optimal_region(statements, _worst_cases(statements), tight=not statements.tv_helps, note=_note(statements))


THEOREM = Theorem(
    name="kov_optimal",
    title="Optimal composition of equal statements",
    formula=r"\Bigl((k-2i)\varepsilon,\ 1-(1-\delta)^k\bigl(1-\sum_{l<i}\tbinom{k}{l}"
    r"\tfrac{e^{(k-l)\varepsilon}-e^{(k-2i+l)\varepsilon}}{(1+e^\varepsilon)^k}\bigr)\Bigr),"
    r"\ i=0,\dots,\lfloor k/2\rfloor",
    meaning="The exact region of k unknown mechanisms: some mechanism attains every corner at once.",
    reference="Kairouz, Oh, Viswanath 2015, Theorem 3.3",
    kind="exact",
    oracles=(
        # k = 2 by hand: delta_1 = (e^(2 eps) - 1)/(1 + e^eps)^2 = tanh(eps/2); eps = 2 log 2 gives 3/5.
        TheoremOracle((1.3862943611198906, 0.0, 2), 0.0, 0.6, 1e-15),
        TheoremOracle((1.3862943611198906, 0.5, 2), 0.0, 0.9, 1e-15),
        TheoremOracle((0.1, 1e-3, 1), 0.1, 1e-3, 1e-15),
    ),
    label="KOV optimal",
    function=kov_optimal,
    listing=_listing,
    unlisted="It is about copies of one mechanism; kov_heterogeneous is its form for different ones.",
    objection=lambda releases, _delta: releases.too_many(),
    epsilon=_epsilon,
    region=_region,
    never_above=("kov_simplified",),
    because="It is the exact composition of the statements (ε, δ) of the rows.",
    account=Account(
        formula=r"\min\{\varepsilon:\ \delta_{(\varepsilon_0,\delta_0)^{\otimes k}}(\varepsilon)\le\delta\}",
        meaning="The best that can be said when one (ε, δ) statement per use is all that is known.",
    ),
)
