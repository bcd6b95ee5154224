r"""The exact composition theorems: the worst case is attained, so nothing smaller is true for every mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.errors import BudgetError
from dpcore.notices import notice
from dpcore.theorems import domain
from dpcore.theorems.lattice import binomial_law, deltas_at_drops, reserve, sum_of_binomials, trinomial_masses
from dpcore.theorems.rounding import failure, sum_up
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

LARGEST_ENUMERATION = 2**20


def kov_optimal(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Compose k mechanisms that are (epsilon, delta)-DP each, adaptively, without loss.

    For i = 0..floor(k/2) the composition is :math:`((k-2i)\varepsilon, 1-(1-\delta)^k(1-\delta_i))`-DP,

    .. math:: \delta_i = \sum_{l<i} \binom{k}{l}
              \frac{e^{(k-l)\varepsilon}-e^{(k-2i+l)\varepsilon}}{(1+e^\varepsilon)^k}.

    In words: the rows together are the whole truth about k unknown mechanisms; some mechanism attains every row at
    once.
    Reference: Kairouz, Oh, Viswanath (2015), Theorem 3.3.
    """
    step, failing = domain.number(epsilon, "epsilon"), domain.probability(delta, "delta")
    copies = domain.integer(k, "k", high=domain.LARGEST_LATTICE_K)
    lost = failure([(failing, copies)])
    if step == 0 or lost == 1:
        return table("kov_optimal", 0.0, lost, "exact", "no finite loss: one number says it all")
    domain.number(step * copies, "k * epsilon")
    reserve(copies // 2 + 1, "kov_optimal")
    index = np.arange(0.0, copies // 2 + 1)
    deltas = deltas_at_drops(2 * step * index, binomial_law(copies, step)[: copies // 2 + 1])
    corners = step * (copies - 2 * index)
    corners[0] = sum_up([(step, copies)])  # rounded down, the largest loss would not cover itself
    return _corners("kov_optimal", corners, deltas, lost, "corner")


def kov_heterogeneous(statements: object) -> pd.DataFrame:
    r"""Compose mechanisms with different (epsilon_l, delta_l), adaptively, without loss, by listing all sign patterns.

    .. math:: \delta(\varepsilon) = 1 - \prod_l(1-\delta_l)\,\bigl(1 - E[(1-e^{\varepsilon-L})^+]\bigr), \quad
              L = \sum_l \pm\varepsilon_l .

    In words: each mechanism's worst case answers truthfully or not, like a coin; the losses of the coins add. The
    number of patterns, prod (copies + 1) over the different epsilons, may be at most 2^20: twenty different ones, or
    few kinds of many copies. Statements are (epsilon, delta) or (epsilon, delta, copies).
    Reference: Kairouz, Oh, Viswanath (2015), section 5; Murtagh, Vadhan (2016), Theorem 1.5 (#P-complete in general).
    """
    given = domain.statements(statements)
    lost = failure((delta, copies) for _, delta, copies in given)
    kinds: dict[float, int] = {}
    for step, _, copies in given:
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
    total = domain.number(sum_up(kinds.items()), "sum of epsilon")
    drop, mass = sum_of_binomials(sorted(kinds.items()))
    corners = total - drop
    corners[np.abs(corners) <= 1e-14 * total] = 0.0
    kept = corners >= 0
    deltas = deltas_at_drops(drop, mass)
    return _corners("kov_heterogeneous", corners[kept], deltas[kept], lost, "corner")


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
    """
    step, failing = domain.number(epsilon, "epsilon"), domain.probability(delta, "delta")
    distance, copies = domain.probability(eta, "eta"), domain.integer(k, "k", high=domain.LARGEST_LATTICE_K)
    largest = failing + (1 - failing) * math.tanh(step / 2)
    if distance > largest * (1 + 1e-15):
        msg = f"eta = {distance!r} is above {largest!r}, the most ({step!r}, {failing!r})-DP allows: clamped to it."
        notice(msg, stacklevel=2)
    if distance <= failing or step == 0:
        note = "eta at most delta: tv(eta) alone" if distance <= failing else "epsilon is 0: tv(min(delta, eta)) alone"
        return table("dptv", 0.0, failure([(min(distance, failing), copies)]), "exact", note)
    lost = failure([(failing, copies)])
    if lost == 1:
        return table("dptv", 0.0, lost, "exact", "no finite loss: one number says it all")
    domain.number(step * copies, "k * epsilon")
    reserve(copies + 1, "dptv")
    move = min(1.0, (distance - failing) / ((1 - failing) * math.tanh(step / 2)))
    index = np.arange(0.0, copies + 1)
    deltas = deltas_at_drops(step * index, trinomial_masses(copies, step, move))
    corners = step * (copies - index)
    corners[0] = sum_up([(step, copies)])
    note = "profile" if distance <= largest else f"eta clamped to {largest!r}"
    return _corners("dptv", corners, deltas, lost, note)


def _corners(name: str, epsilon: FloatArray, delta: FloatArray, lost: float, note: str) -> pd.DataFrame:
    """Return corners in ascending epsilon, the finite part's deltas joined with the mass at infinite loss."""
    joined = np.minimum(lost + (1 - lost) * delta, 1.0)
    return table(name, epsilon[::-1], joined[::-1], "exact", note)
