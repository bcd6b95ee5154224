r"""What each accountant reports: the epsilon of k uses of one mechanism at delta.

Numbers of accountants that rest on a theorem are rounded up and never below the truth. The others are marked
``approximate``, and a table shows where they lie below the certified bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.central_limit.convergence import verdict
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.domains import COUNT, DELTA
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import EXACT, FACTS
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.rounding import up
from dpcore.language import parse
from dpcore.mechanisms.base import Mechanism
from dpcore.regions import gate
from dpcore.regions.algebra import factors
from dpcore.regions.guarantees import RDP
from dpcore.theorems import divergences, theorem
from dpcore.theorems.catalogue import composing, promises
from dpcore.theorems.releases import Releases
from dpcore.theorems.step import step_of
from dpcore.training.accountants import ACCOUNTANTS, COMPOSED, MOMENT_ORDERS, USUAL_ORDERS, accountant
from dpcore.training.gradients import clt_mu
from dpcore.training.gradients import renyi as sampled_renyi
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems import Theorem
    from dpcore.theorems.record import Promise

LARGEST_K = 10**6
COLUMNS = ("accountant", "title", "epsilon", "delta", "verdict", "note", *FACTS)
"""Columns of a table of accountants."""
SILENT = "does not apply"
ROUNDING = 1e-9  # relative: numbers this close are the same, because exact ones are right to 1e-10
_AROUND = 1  # orders on either side of the best one that the optimal conversion tries; each needs an exact region
_NEEDS_DELTA = "It needs δ above 0."

Number = tuple[float, str, str]
"""Epsilon (inf if there is none), kind and note."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one accountant reports; with kind ``none`` it does not apply, and `note` says why."""

    name: str
    title: str
    epsilon: float
    delta: float
    kind: str
    note: str


@dataclass(frozen=True)
class Uses:
    """k uses of a mechanism at one delta."""

    region: TradeOff
    k: int
    delta: float

    @Lazy
    def total(self) -> TradeOff:
        """All uses together."""
        return self.region if self.k == 1 else self.region**self.k

    @Lazy
    def bracket(self) -> tuple[float, float]:
        """The certified bracket of epsilon."""
        low, high = gate.epsilon_bounds(self.total, np.array([self.delta]))
        return float(low[0]), float(high[0])

    @Lazy
    def promises(self) -> dict[str, Promise]:
        """What the theorems about lists of releases say."""
        releases = Releases([(node, count * self.k) for node, count in factors(self.region)])
        return promises(composing(), releases, self.delta)

    @property
    def mu(self) -> float | None:
        """The mu of Gaussian noise, None for any other."""
        return self.region.curve.gaussian_mu

    @property
    def sampled(self) -> tuple[float, float] | None:
        """Sigma and q of normal noise on a Poisson sample, None for anything else."""
        return self.region.sampled_gaussian if isinstance(self.region, Mechanism) else None

    def renyi(self, orders: Sequence[float]) -> FloatArray:
        """Return k times the Rényi divergence of every order, rounded up; inf if it is not known."""
        one = self.region
        sigma, q = self.sampled or (math.inf, 0.0)
        if q > 0 and math.isfinite(sigma):
            divergence = sampled_renyi(sigma, q, list(orders))
        else:
            values = (divergences.renyi(one, order) for order in orders)
            divergence = np.array([math.inf if value is None else value[0] for value in values])
        with np.errstate(over="ignore"):
            return np.array(
                [up(value) if math.isfinite(value) else math.inf for value in (self.k * divergence).tolist()]
            )


def uses(mechanism: TradeOff | str, k: int, delta: float) -> Uses:
    """Return k uses of a mechanism, after checking the numbers."""
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    return Uses(region, COUNT.but(high=LARGEST_K).check(k), DELTA.check(delta))


def report(name: str, mechanism: TradeOff | str, k: int = 1, delta: float = 1e-5) -> Report:
    """Return what one accountant reports.

    Parameters
    ----------
    name : str
        One of `ACCOUNTANTS`, such as ``rdp_tight``.
    mechanism : TradeOff or str
        One use, a region or its expression.
    k : int, default 1
        How many uses, from 1 to 10^6.
    delta : float, default 1e-5
        Where epsilon is reported, in [0, 1].

    Returns
    -------
    Report
        Epsilon, its kind and a note.

    Examples
    --------
    >>> round(report("gdp_clt", "poisson_gaussian(1, 0.01)", 1000, 1e-5).epsilon, 4)
    1.6177
    """
    question = uses(mechanism, k, delta)
    return _report(accountant(name).name, question)


def _report(name: str, question: Uses) -> Report:
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of noise at the ends of the doubles
            epsilon, kind, note = _NUMBERS[name](question)
    except DpcoreError as error:
        epsilon, kind, note = math.inf, "none", str(error)
    return Report(name, accountant(name).title, epsilon, question.delta, kind, note)


def reports(mechanism: TradeOff | str, k: int = 1, delta: float = 1e-5) -> pd.DataFrame:
    """Tabulate what every accountant reports, beside the certified truth.

    Parameters
    ----------
    mechanism : TradeOff or str
        One use, a region or its expression.
    k : int, default 1
        How many uses, from 1 to 10^6.
    delta : float, default 1e-5
        Where epsilon is reported, in [0, 1].

    Returns
    -------
    DataFrame
        `accountant, title, epsilon, delta, verdict, note, kind, theorem, neighbours`. `kind` is ``exact``, ``upper``, ``approximate`` or
        ``none``; `theorem` names what the accountant rests on; `verdict` compares epsilon with the certified bracket: below the truth, above the truth, or not
        decided (the same number, as far as is known).
    """
    question = uses(mechanism, k, delta)
    low, high = question.bracket
    rows = []
    for index, one in enumerate(ACCOUNTANTS):
        checkpoint(index / len(ACCOUNTANTS))
        row = _report(one.name, question)
        side = SILENT if row.kind == "none" else _side(row.epsilon, low, high)
        theorem = question.total.theorem if one.name == COMPOSED else one.reference
        facts = (row.kind, theorem, question.total.neighbours)
        rows.append((row.name, row.title, row.epsilon, row.delta, side, row.note, *facts))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _side(epsilon: float, low: float, high: float) -> str:
    return verdict(epsilon, low * (1 - ROUNDING), high * (1 + ROUNDING) if math.isfinite(high) else high)


# ---- the numbers ---------------------------------------------------------------------------------------------


def _composed(question: Uses) -> Number:
    low, high = question.bracket
    if low == high:
        return high, EXACT, "" if math.isfinite(high) else "No ε holds at this δ."
    return high, "upper", f"at least {outward(low, 6, up=False)}"


def _by_theorem(record: Theorem) -> Callable[[Uses], Number]:
    """Return the number of a theorem about k releases, or of one that turns divergences into epsilon."""
    if record.composes:
        return lambda question: question.promises[record.name]
    rdp = record.route is not None and record.route.source == "rdp"
    return _converted(USUAL_ORDERS, record) if rdp else _zcdp(record)


def _naive(question: Uses) -> Number:
    """Return the first term of the advanced theorem at the slack that spends all of delta."""
    step = step_of(question.region, question.k, question.delta)
    slack = question.delta - question.k * step.delta
    if not slack > 0:
        return math.inf, "none", "No slack is left: the δ of the parts add up to δ or more."
    value = step.epsilon * math.sqrt(-2 * question.k * math.log(min(slack, 1.0)))
    left_out = outward(question.k * step.epsilon * math.expm1(min(step.epsilon, 700.0)), 4, up=False)
    return value, "approximate", f"leaves out kε(e^ε − 1) = {left_out}"


def _classic(question: Uses) -> Number:
    if question.mu is None:
        return math.inf, "none", "It applies to Gaussian noise only."
    if not 0 < question.delta < 1:
        return math.inf, "none", "It needs δ between 0 and 1."
    value = up(math.sqrt(2 * math.log(1.25 / question.delta)) * question.mu * math.sqrt(question.k))
    if value < 1:
        return value, "upper", "proved for ε below 1"
    return value, "approximate", "proved for ε below 1 only"


def _converted(orders: Sequence[float], record: Theorem) -> Callable[[Uses], Number]:
    """Return the accountant that takes the best of some orders by one of the closed-form conversions."""

    def find(question: Uses) -> Number:
        curve = question.renyi(orders)
        if not question.delta > 0 or not np.isfinite(curve).any():
            return math.inf, "none", _no_divergence(question)
        epsilon, order = _best_order(orders, curve, question.delta, record)
        return epsilon, "upper", f"order {nearest(order)}, of {len(orders)} that are tried"

    return find


def _no_divergence(question: Uses) -> str:
    return _NEEDS_DELTA if not question.delta > 0 else "Its Rényi divergences are infinite or not known."


def _best_order(orders: Sequence[float], curve: FloatArray, delta: float, record: Theorem) -> tuple[float, float]:
    """Return the smallest epsilon and its order; every order gives a valid bound."""
    pairs = zip(orders, curve.tolist(), strict=True)
    bounds = [(_epsilon(record, order, bound, delta), order) for order, bound in pairs if math.isfinite(bound)]
    return min(bounds)


def _epsilon(record: Theorem, first: float, second: float, delta: float) -> float:
    return float(record.conversion_rows(first, second, delta)["epsilon"].iloc[0])


def _optimal(question: Uses) -> Number:
    """Return the best of a few orders by the exact region of Rényi privacy; every order gives a valid bound."""
    curve = question.renyi(USUAL_ORDERS)
    if not question.delta > 0 or not np.isfinite(curve).any():
        return math.inf, "none", _no_divergence(question)
    _, best = _best_order(USUAL_ORDERS, curve, question.delta, theorem("rdp_tight"))
    middle = USUAL_ORDERS.index(best)
    near = range(max(0, middle - _AROUND), min(len(USUAL_ORDERS), middle + _AROUND + 1))
    bounds = [
        (float(RDP(USUAL_ORDERS[at], float(curve[at])).epsilon(question.delta)), USUAL_ORDERS[at])
        for at in near
        if math.isfinite(curve[at])
    ]
    epsilon, order = min(bounds)
    return epsilon, "upper", f"order {nearest(order)}, of {len(USUAL_ORDERS)} that are tried"


def _zcdp(record: Theorem) -> Callable[[Uses], Number]:
    def find(question: Uses) -> Number:
        if not question.delta > 0:
            return math.inf, "none", _NEEDS_DELTA
        rate = divergences.concentrated(question.region)
        if rate is None or not math.isfinite(rate.rho):
            return math.inf, "none", "No finite ρ is known."
        epsilon = _epsilon(record, up(question.k * rate.rho), up(question.k * rate.xi), question.delta)
        return epsilon, "upper", f"ρ = {outward(question.k * rate.rho, 5)}"

    return find


def _limit(question: Uses) -> Number:
    """Return the central limit: for gradients the formula of GDP accountants, for others by moments."""
    if question.mu is not None:
        mu = question.mu * math.sqrt(question.k)
        return (
            float(epsilons_of(np.array([mu]), np.zeros(1), question.delta)[0]),
            "exact",
            f"μ = {nearest(mu)}; no limit needed",
        )
    if question.sampled is None:
        return question.promises["clt"]
    mu = clt_mu(*question.sampled, question.k)
    epsilon = float(epsilons_of(np.array([mu]), np.zeros(1), question.delta, certified=False)[0])
    return epsilon, "approximate", f"μ = {nearest(mu)}"


_NUMBERS: dict[str, Callable[[Uses], Number]] = {
    COMPOSED: _composed,
    "advanced_naive": _naive,
    "classic": _classic,
    "moments": _converted(MOMENT_ORDERS, theorem("rdp_mironov")),
    "rdp_optimal": _optimal,
    "gdp_clt": _limit,
    **{one.name: _by_theorem(one.theorem) for one in ACCOUNTANTS if one.theorem is not None},
}
