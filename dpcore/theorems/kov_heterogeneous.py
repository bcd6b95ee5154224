"""The optimal composition of different statements, by listing all sign patterns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import LOSS
from dpcore.core.errors import BudgetError
from dpcore.core.rounding import failure, sum_up
from dpcore.theorems import domain
from dpcore.theorems.lattice import deltas_at_drops, reserve, sum_of_binomials
from dpcore.theorems.optimal import corner_table
from dpcore.theorems.record import Theorem, TheoremOracle
from dpcore.theorems.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.listing import Listing

LARGEST_ENUMERATION = 2**20


def kov_heterogeneous(statements: object) -> pd.DataFrame:
    r"""Compose mechanisms with different (epsilon_l, delta_l), adaptively, without loss, by listing all sign patterns.

    .. math:: \delta(\varepsilon) = 1 - \prod_l(1-\delta_l)\,\bigl(1 - E[(1-e^{\varepsilon-L})^+]\bigr), \quad
              L = \sum_l \pm\varepsilon_l .

    In words: each mechanism's worst case answers truthfully or not, like a coin; the losses of the coins add. The
    number of patterns, prod (copies + 1) over the different epsilons, may be at most 2^20: twenty different ones, or
    few kinds of many copies. Statements are (epsilon, delta) or (epsilon, delta, copies).
    Reference: Kairouz, Oh, Viswanath (2015), section 5; Murtagh, Vadhan (2016), Theorem 1.5 (#P-complete in general).

    Parameters
    ----------
    statements : sequence of tuple
        (epsilon, delta) or (epsilon, delta, copies), at least one.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per corner.
    """
    triples = domain.statements(statements)
    lost = failure((delta, copies) for _, delta, copies in triples)
    kinds: dict[float, int] = {}
    for step, _, copies in triples:
        if step > 0:
            kinds[step] = kinds.get(step, 0) + copies
    if not kinds or lost == 1:
        return table("kov_heterogeneous", 0.0, lost, "exact", "no finite loss: one number says it all")
    patterns = math.prod(copies + 1 for copies in kinds.values())
    if patterns > LARGEST_ENUMERATION:
        count = str(patterns) if patterns < 10**18 else "more than 10^18"
        msg = f"kov_heterogeneous would list {count} sign patterns; at most {LARGEST_ENUMERATION} (2^20) are listed."
        raise BudgetError(msg)
    reserve(patterns, "kov_heterogeneous")
    total = LOSS.but(name="sum of epsilon").check(sum_up(kinds.items()))
    drop, mass = sum_of_binomials(sorted(kinds.items()))
    corners = total - drop
    corners[np.abs(corners) <= 1e-14 * total] = 0.0
    positive = corners >= 0
    deltas = deltas_at_drops(drop, mass)
    return corner_table("kov_heterogeneous", corners[positive], deltas[positive], lost, "corner")


def _listing(listing: Listing, _slacks: Sequence[float]) -> pd.DataFrame | None:
    return kov_heterogeneous(listing.triples) if listing.triples and not listing.equal else None


THEOREM = Theorem(
    name="kov_heterogeneous",
    title="Optimal composition of different statements",
    formula=r"1-\prod_l(1-\delta_l)\bigl(1-E[(1-e^{\varepsilon-L})^+]\bigr),\quad L=\sum_l\pm\varepsilon_l",
    meaning="The exact region of a short list of unknown mechanisms with different parameters.",
    reference="Kairouz, Oh, Viswanath 2015, section 5; Murtagh, Vadhan 2016, Theorem 1.5",
    kind="exact",
    oracles=(
        # log 2 and log 3: top mass (2/3)(3/4) = 1/2, next loss log(3/2) of mass 1/4; at log(3/2): (1/2)(1 - 1/4).
        TheoremOracle(([(0.6931471805599453, 0.0), (1.0986122886681098, 0.0)],), 0.4054651081081644, 0.375, 1e-14),
    ),
    function=kov_heterogeneous,
    listing=_listing,
    unlisted="It is about different mechanisms; kov_optimal is its form for copies of one.",
)
