r"""Triangular arrays: row n holds n copies of a mechanism that gets weaker with n, so that the rows converge.

Three kinds, all with the same mu in the limit:

- pure: :math:`\varepsilon_n=\mu/\sqrt n`, because :math:`\sum\varepsilon^2\to\mu^2`; limit :math:`G_\mu`;
- with failures: also :math:`\delta_n=d/n`; the failures add up to :math:`1-e^{-d}`, limit
  :math:`G_\mu\otimes f_{0,1-e^{-d}}`;
- with total variation: :math:`\varepsilon_n=\mu n^{-c}` and :math:`\eta_n=\mu n^{c-1}/2` with 0 < c < 1/2. Each
  epsilon may fall arbitrarily slowly if the total variation makes up for it: :math:`\sum\varepsilon\eta=\mu^2/2`,
  limit :math:`G_\mu`.

References: Dong, Roth, Su (2022), Section 3; Ghazi, Issa (2023), Theorem 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from dpcore.central_limit.convergence import KS
from dpcore.central_limit.distance import Goal, distance
from dpcore.core.domains import COUNT, LOSS, POSITIVE, SHARE
from dpcore.core.effort import checkpoint
from dpcore.core.kinds import EXACT, FACTS
from dpcore.regions.guarantees import DP, DPTV, largest_eta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

PURE, FAILING, VARYING = "pure", "failing", "varying"
TITLES = {PURE: "pure: ε = μ/√n", FAILING: "with δ: δ = d/n", VARYING: "with TV: ε = μ/n^c"}
NS = KS
LARGEST_N = 10**6
COLUMNS = ("n", "array", "title", "mechanism", "distance", "distance_lower", "optimistic", "cautious", *FACTS)


class RowStatement(NamedTuple):
    """What each mechanism of a row promises; a total variation of 1 is no restriction."""

    epsilon: float
    delta: float = 0.0
    eta: float = 1.0


@dataclass(frozen=True, slots=True)
class Array:
    """One kind of array: the mechanism of row n, and the limit of the rows.

    Attributes
    ----------
    name : str
        ``pure``, ``failing`` or ``varying``.
    mu : float
        Of the limit.
    failing : float
        What the deltas sum to, in the array with failures.
    power : float
        The power of n with which epsilon falls, in the array with total variation.
    """

    name: str
    mu: float
    failing: float
    power: float

    @property
    def title(self) -> str:
        """What a legend calls it."""
        return TITLES[self.name]

    @property
    def goal(self) -> Goal:
        """The limit of the rows."""
        return Goal(self.mu, -math.expm1(-self.failing)) if self.name == FAILING else Goal(self.mu)

    def statement(self, n: int) -> RowStatement:
        """Return what one mechanism of row n promises."""
        count = COUNT.but(name="n", high=LARGEST_N).check(n)
        if self.name != VARYING:
            failing = min(1.0, self.failing / count) if self.name == FAILING else 0.0
            return RowStatement(self.mu / math.sqrt(count), failing)
        epsilon = self.mu * count**-self.power
        eta = self.mu * count ** (self.power - 1.0) / 2
        # for small n, eta may exceed what epsilon allows; it is then no restriction
        return RowStatement(epsilon, 0.0, min(eta, largest_eta(epsilon, 0.0)))

    def mechanism(self, n: int) -> TradeOff:
        """Return one mechanism of row n."""
        epsilon, delta, eta = self.statement(n)
        return DPTV.make(epsilon, delta, eta) if eta < 1 else DP(epsilon, delta)

    def composed(self, n: int) -> TradeOff:
        """Return row n as a whole."""
        return self.mechanism(n) ** n


def arrays(mu: float, delta: float, c: float) -> tuple[Array, Array, Array]:
    """Return the three arrays with limit mu.

    Parameters
    ----------
    mu : float
        Of the limit, in (0, 20].
    delta : float
        What the deltas of the second array sum to, in [0, 20].
    c : float
        Power with which epsilon falls in the third array, in (0, 1/2].

    Returns
    -------
    tuple of three Array
        Pure, with failures, with total variation.
    """
    limit_mu = POSITIVE.but(name="mu", high=20.0).check(mu)
    failing = LOSS.but(name="delta", high=20.0).check(delta)
    power = SHARE.but(name="c", high=0.5).check(c)
    pure, with_failures, with_variation = (Array(name, limit_mu, failing, power) for name in TITLES)
    return pure, with_failures, with_variation


def array_distances(arrays: Sequence[Array], ns: Sequence[int] | None = None) -> pd.DataFrame:
    """Tabulate how far row n of each array is from its limit.

    Returns
    -------
    DataFrame
        `n, array, title, mechanism, distance, distance_lower, optimistic, cautious, kind, theorem, neighbours`:
        `distance` is the largest vertical distance sup|f - G|; `optimistic` is sup(G - f), by how much the limit
        promises too much.
    """
    counts = [COUNT.but(name="n", high=LARGEST_N).check(n) for n in (NS if ns is None else ns)]
    rows = []
    for step, (array, n) in enumerate((array, n) for array in arrays for n in counts):
        checkpoint(step / (len(arrays) * len(counts)))
        one = array.mechanism(n)
        row = one**n
        gap = distance(row, array.goal)
        rows.append(
            (
                n,
                array.name,
                array.title,
                str(one),
                gap.largest.upper,
                gap.largest.lower,
                gap.optimistic.upper,
                gap.cautious.upper,
                EXACT if gap.kind == EXACT else "upper",
                row.theorem,
                row.neighbours,
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
