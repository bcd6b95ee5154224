r"""k copies of a mechanism beside their central limit: the distance, the bound of the theorem, and where the limit is unsafe.

A limit is not a bound. Its epsilon at one delta may lie below the true one, and publishing it then promises more than
is true. The tables here use certified numbers: *below the truth* means below the certified lower side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.central_limit.distance import Distance, Goal, distance
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.central_limit.limit import Limit, limit
from dpcore.core.domains import COUNT, SHARE
from dpcore.core.effort import checkpoint, effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import EXACT, FACTS, kind, labelled
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.language import parse
from dpcore.regions import gate
from dpcore.words import between, grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

BELOW, ABOVE, OPEN = "below the truth", "above the truth", "not decided"
KS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
"""Numbers of copies at which tables and charts over k are computed: two in each decade."""
DELTAS = tuple(10.0**-power for power in range(1, 13))
LARGEST_K = 10**6
COLUMNS = (
    "k", "mu", "gamma", "bound", "distance", "distance_lower", "optimistic", "optimistic_lower",
    "epsilon", "epsilon_lower", "epsilon_clt", "verdict", "note", *FACTS,
)  # fmt: skip
ROW_WORK = 3e7
"""Operations allowed for one number of copies: a few seconds."""
_SAME = 1e-12  # relative: numbers that differ by rounding only


@dataclass(frozen=True)
class Copies:
    """k copies of a mechanism beside their limit."""

    mechanism: TradeOff
    k: int
    limit: Limit

    @Lazy
    def composed(self) -> TradeOff:
        """The composition itself."""
        return self.mechanism**self.k

    @property
    def goal(self) -> Goal:
        """The limit by its numbers."""
        return Goal(self.limit.mu * math.sqrt(self.k), self.limit.failing(self.k))

    @Lazy
    def region(self) -> TradeOff:
        """The limit as a region; an approximation of the composition."""
        return self.goal.region

    def distance(self) -> Distance:
        """Return how far the composition is from the limit."""
        return distance(self.composed, self.goal)


def copies(mechanism: TradeOff | str, k: int) -> Copies:
    """Return k copies of a mechanism beside their limit; raise if they are Gaussian already."""
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    count = COUNT.but(high=LARGEST_K).check(k)
    if region.curve.gaussian_mu is not None:
        msg = "No limit is needed: k Gaussian mechanisms are Gaussian privacy exactly, with μ √k."
        raise DomainError(msg)
    return Copies(region, count, limit(region))


def convergence(mechanism: TradeOff | str, delta: float = 1e-6, ks: Sequence[int] | None = None) -> pd.DataFrame:
    """Tabulate the distance to the central limit as the number of copies grows.

    Work is counted, not timed, so every machine gives the same table: rows that take more than `ROW_WORK` operations have
    kind ``none`` and say so. A deadline refuses the whole table.

    Parameters
    ----------
    mechanism : TradeOff or str
        A region, or its expression.
    delta : float, default 1e-6
        Where epsilon is compared, in (0, 1].
    ks : sequence of int, optional
        Numbers of copies; by default those of `rungs`.

    Returns
    -------
    DataFrame
        `k, mu, gamma, bound, distance, distance_lower, optimistic, optimistic_lower, epsilon, epsilon_lower,
        epsilon_clt, verdict, note, kind, theorem, neighbours`. `bound` is what gamma promises about `distance` =
        sup|f - G|, inf if it says nothing. `kind` is ``exact`` if both the distance and epsilon are. `verdict` compares
        `epsilon_clt`, an approximation, with the certified bracket of the truth.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    target = SHARE.but(name="delta").check(delta)
    counts = [COUNT.but(high=LARGEST_K).check(k) for k in (rungs(region) if ks is None else ks)]
    first = copies(region, 1)
    rows = {}
    for step, k in enumerate(dict.fromkeys(counts)):
        checkpoint(step / len(counts))
        row = Copies(region, k, first.limit)
        try:
            with effort(work=ROW_WORK):
                rows[k] = _row(row, target)
        except BudgetError as error:
            checkpoint()  # raises if the time has run out
            rows[k] = (*_closed_forms(row, target), 1.0, 0.0, 1.0, 0.0, math.inf, 0.0, OPEN, str(error), "none")
    frame = pd.DataFrame([_ordered(k, rows[k]) for k in counts], columns=[*COLUMNS[:-2]])
    return labelled(frame, theorem=[(region**k).theorem for k in counts], neighbours=region.neighbours)


def rungs(region: TradeOff) -> tuple[int, ...]:
    """Return numbers of copies from 1 to 10^5, two in each decade.

    A few copies of a pair whose directions differ have no quick composition: 1 is then followed by 100.
    """
    return KS if region.pair.symmetric else tuple(k for k in KS if k == 1 or k >= 100)


def _closed_forms(row: Copies, delta: float) -> tuple[float, float, float, float]:
    """Return mu, gamma, its bound and the limit's epsilon, which take no time."""
    gamma = row.limit.gamma(row.k)
    return row.goal.mu, gamma, row.limit.furthest(row.k), clt_epsilon(row.goal, delta)


def _row(row: Copies, delta: float) -> tuple[object, ...]:
    apart = row.distance()
    low, high = _bounds(row.composed, delta)
    closed = _closed_forms(row, delta)
    return (
        *closed,
        apart.largest.upper,
        apart.largest.lower,
        apart.optimistic.upper,
        apart.optimistic.lower,
        high,
        low,
        verdict(closed[3], low, high),
        row.limit.silence(row.k),
        kind(low, high, "upper") if apart.kind == EXACT else "upper",
    )


def _ordered(k: int, row: tuple[object, ...]) -> tuple[object, ...]:
    """Return a row in the order of the columns."""
    mu, gamma, bound, clt, *apart, high, low, side, note, what = row
    return (k, mu, gamma, bound, *apart, high, low, clt, side, note, what)


def _bounds(region: TradeOff, delta: float) -> tuple[float, float]:
    low, high = region.epsilon_bounds(np.array([delta]))
    return float(low[0]) + 0.0, float(high[0]) + 0.0


def clt_epsilon(goal: Goal, delta: float) -> float:
    """Return the epsilon of the limit at delta, an approximation."""
    return float(epsilons_of(np.array([goal.mu]), np.array([goal.lost]), delta, certified=False)[0])


def verdict(approximation: float, lower: float, upper: float) -> str:
    """Return on which side of the truth an approximation lies, or that the bracket does not decide it."""
    if approximation < lower * (1 - _SAME) or (math.isinf(lower) and math.isfinite(approximation)):
        return BELOW
    return ABOVE if approximation > upper * (1 + _SAME) else OPEN


def safety(row: Copies, deltas: Sequence[float] = DELTAS) -> pd.DataFrame:
    """Compare the limit's epsilon with the true one at several deltas.

    Returns
    -------
    DataFrame
        `delta, epsilon, epsilon_lower, epsilon_clt, verdict, kind, theorem, neighbours`: the truth lies between `epsilon_lower` and
        `epsilon`; `epsilon_clt` is an approximation.
    """
    at = SHARE.but(name="delta").array(deltas)
    region = row.composed
    low, high = region.epsilon_bounds(at)
    rows = []
    for delta, lower, upper in zip(at.tolist(), low.tolist(), high.tolist(), strict=True):
        clt = clt_epsilon(row.goal, delta)
        rows.append((delta, upper + 0.0, lower + 0.0, clt, verdict(clt, lower, upper), kind(lower, upper, "upper")))
    frame = pd.DataFrame(rows, columns=["delta", "epsilon", "epsilon_lower", "epsilon_clt", "verdict", "kind"])
    return labelled(frame, region)


def warning(row: Copies, delta: float, apart: Distance | None = None) -> tuple[bool, str]:
    """Return whether the limit is below the truth at delta, and sentences with the certified numbers.

    Parameters
    ----------
    row : Copies
        What `copies` returns.
    delta : float
        Where epsilon is compared.
    apart : Distance, optional
        What ``row.distance()`` returns; a last sentence says where the limit understates delta most.

    Returns
    -------
    tuple of (bool, str)
        The verdict and the sentences.
    """
    low, high = _bounds(row.composed, delta)
    clt = clt_epsilon(row.goal, delta)
    side = verdict(clt, low, high)
    many = f"For k = {grouped(row.k)} and δ = {outward(delta, 6)}"
    statement = f"the limit says ε ≈ {nearest(clt, 5)}" if math.isfinite(clt) else "the limit has no ε"
    if side == BELOW:
        needs = f"needs ε ≥ {outward(low, 5, up=False)}" if math.isfinite(low) else "has no ε at all"
        sure = "exact" if low == high else "lower bound"
        words = f"The CLT number is below the truth. {many} {statement}, but the mechanism {needs} ({sure})."
    elif math.isinf(high):
        words = f"{many} no ε holds, with or without a limit: the mechanisms fail more often than that."
    elif side == ABOVE:
        sure = "exact" if low == high else "upper bound"
        words = f"{many} {statement} and the truth is at most {outward(high, 5)} ({sure}): the limit is above the truth here, which no theorem promises."
    else:
        words = f"{many} {statement}; the truth is between {between(low, high, 5)}."
    return side == BELOW, words if apart is None else f"{words} {understated(row, apart)}".strip()


def understated(row: Copies, apart: Distance) -> str:
    """Say where the limit understates delta most; empty if it never does."""
    if apart.optimistic.lower <= 0:
        return ""
    at = np.array([apart.worst])
    true = float(gate.delta_bounds(row.composed, at)[0][0])
    limit_delta = float(row.goal.delta(at)[0])
    if true <= limit_delta:
        return ""
    return (
        f"The limit's δ is furthest below the truth at ε = {nearest(apart.worst, 4)}: it says {nearest(limit_delta, 5)}, the truth is at least "
        f"{outward(true, 5, up=False)}."
    )


def unsafe_words(rows: pd.DataFrame) -> str:
    """Say at which deltas of a `safety` table the limit is below the truth; empty if it never is."""
    below = rows[rows["verdict"] == BELOW]
    if below.empty:
        return ""
    runs: list[list[float]] = []
    flags = (rows["verdict"] == BELOW).tolist()
    for delta, flag, before in zip(rows["delta"].tolist(), flags, [False, *flags[:-1]], strict=True):
        if flag and not before:
            runs.append([delta, delta])
        elif flag:
            runs[-1][1] = delta
    parts = [
        outward(first, 3) if first == last else f"{outward(first, 3)} down to {outward(last, 3)}"
        for first, last in runs
    ]
    return f"Of the δ listed, the CLT number is below the truth at {' and at '.join(parts)}."
