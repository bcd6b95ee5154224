r"""Privacy filters: rules that say before each release whether it may follow, valid under full adaptivity.

The theorems of `dpcore.ledger.bounds` assume a list of strengths that was fixed before the first answer was seen. If
strengths or counts are chosen on the way, a filter is needed: it adds up the costs of all releases and lets the next one
pass only if the sum, including the new release, stays within a limit fixed by the budget (epsilon, delta). These rules
are valid whatever depends on earlier answers:

* **basic**: the sums of epsilon_i and of delta_i;
* **Rényi**: the sum of the divergences of one order, fixed before the first release;
* **concentrated**: the sum of rho_i, where :math:`D_a\le\rho_i a` for every order a;
* **Gaussian**: the sum of :math:`\mu_i^2`.

One filter must be chosen before the first release: letting through what any of several filters accepts is not a valid
filter. Composing whole regions and stopping when the product leaves the budget is not valid either; the guide has proofs
and a counterexample.

References: Rogers, Roth, Ullman, Vadhan (2016); Feldman, Zrnic (2021); Smith, Thakurta (2022),
arXiv:2210.17520; Whitehouse, Ramdas, Rogers, Wu (2023); arXiv:2602.06756 for the limits of general trade-off functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import OPEN_ORDER, PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.rounding import up
from dpcore.curves.gaussian import GaussianCurve
from dpcore.regions.guarantees import RDP
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.divergence_sums import divergences
from dpcore.theorems.divergences import concentrated
from dpcore.theorems.renyi import rdp_delta, zcdp_delta
from dpcore.theorems.step import steps_at
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.ledger.budget import Budget
    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff

TITLES = {"basic": "Basic filter", "rdp": "Rényi filter", "zcdp": "Concentrated filter", "gdp": "Gaussian filter"}
UNITS = {"basic": "ε", "rdp": "D", "zcdp": "ρ", "gdp": "μ²"}
PART = 1e-3  # of the budget's delta, for every release of unbounded loss that enters the basic filter
_DOWN = 1 - 2.0**-50  # four units in the last place: limits are rounded down
_TYPED = Fraction(1, 2**52)  # a decimal number and the double next to it differ by half of this
_HALVINGS = 60  # down to neighbouring doubles
_EXACT_HALVINGS = 16  # of the exact Rényi region, each some hundredths of a second; they leave 1e-6 of the limit
_ORDERS = 1.0 + np.geomspace(1e-2, 1e5, 281)  # forty per decade, 6 % apart


@dataclass(frozen=True, slots=True)
class Price:
    """What releases cost in a filter, exactly: `amount` in its unit, and delta if the filter counts it."""

    amount: Fraction = Fraction(0)
    failing: Fraction = Fraction(0)

    def plus(self, other: Price, count: int) -> Price:
        """Return the sum of this price and `count` times another."""
        return Price(self.amount + count * other.amount, self.failing + count * other.failing)


@dataclass(frozen=True, slots=True)
class Filter:
    """One privacy filter for one budget.

    Attributes
    ----------
    name, title : str
        ``basic``, ``rdp``, ``zcdp`` or ``gdp``, and as people read it.
    limit : float
        Limit for the sum of all costs, rounded down.
    limit_failing : float, default 0
        Limit for the sum of the deltas; 0 except for the basic filter.
    order : float, default 0
        Of the Rényi filter; otherwise 0.
    each : float, default 0
        Delta that the basic filter grants a release of unbounded loss.
    """

    name: str
    limit: float
    limit_failing: float = 0.0
    order: float = 0.0
    each: float = 0.0

    @property
    def title(self) -> str:
        """The filter as people read it; the Rényi filter with its order."""
        return f"{TITLES[self.name]}, order {nearest(self.order, 4)}" if self.order else TITLES[self.name]

    @property
    def unit(self) -> str:
        """What is added up."""
        return UNITS[self.name]

    def price(self, parts: Factors) -> Price:
        """Return the price of a release with the factors `parts`; raises `DomainError` if it has none in this filter."""
        route = {"basic": self._basic, "rdp": self._renyi, "zcdp": _concentrated, "gdp": _gaussian}[self.name]
        total = Price()
        for node, count in parts:
            amount, failing = route(node)
            if not math.isfinite(amount):
                msg = f"{_name(node)} has no finite {self.unit} in this filter."
                raise DomainError(msg)
            total = total.plus(Price(Fraction(amount), Fraction(failing)), count)
        return total

    def holds(self, spent: Price) -> bool:
        """Whether a sum is within the limits."""
        counts = (
            _how_many(self.limit, spent.amount, Fraction(0)),
            _how_many(self.limit_failing, spent.failing, Fraction(0)),
        )
        return counts == (None, None)

    def fits(self, spent: Price, price: Price) -> int | None:
        """Return how many more releases of one price fit after `spent`; None if any number does."""
        counts = [
            _how_many(self.limit, spent.amount, price.amount),
            _how_many(self.limit_failing, spent.failing, price.failing),
        ]
        finite = [count for count in counts if count is not None]
        return min(finite) if finite else None

    def _basic(self, node: TradeOff) -> tuple[float, float]:
        curve = node.curve
        if math.isinf(curve.max_loss) and curve.q_inf < 1 and not self.each > 0:
            msg = f"{_name(node)} has unbounded loss; the basic filter needs a δ above 0 for it."
            raise DomainError(msg)
        step = steps_at(node, [self.each])[0]
        return step.epsilon, step.delta

    def _renyi(self, node: TradeOff) -> tuple[float, float]:
        _refuse_failures(node)
        return float(divergences(node, np.array([self.order]))[0]), 0.0


def _concentrated(node: TradeOff) -> tuple[float, float]:
    _refuse_failures(node)
    rate = concentrated(node)
    if rate is None or not math.isfinite(rate.rho):
        msg = f"For {_name(node)} no rate of concentrated privacy is known."
        raise DomainError(msg)
    if rate.xi > 0:
        # With two numbers the best order depends on the path, and the best of many orders is not a valid filter.
        msg = f"{_name(node)} is concentrated with ξ = {outward(rate.xi, 4)}; this filter adds up ρ alone."
        raise DomainError(msg)
    return up(rate.rho), 0.0


def _gaussian(node: TradeOff) -> tuple[float, float]:
    curve = node.curve
    if curve.gaussian_mu is not None:
        return up(curve.gaussian_mu * curve.gaussian_mu), 0.0
    _refuse_failures(node)
    if math.isinf(curve.max_loss):
        msg = f"{_name(node)} is not known to lie inside Gaussian privacy of any μ."
        raise DomainError(msg)
    mu = steps_at(node, [0.0])[0].bounding_mu
    return up(mu * mu), 0.0


def _name(node: TradeOff) -> str:
    return shorten(str(node), 40)


def _refuse_failures(node: TradeOff) -> None:
    if node.fails:
        msg = f"{_name(node)} fails with probability {outward(node.curve.q_inf, 4)}: only the basic filter counts failures."
        raise DomainError(msg)


def _how_many(limit: float, spent: Fraction, price: Fraction) -> int | None:
    """Return the largest n with spent + n price <= limit, in exact arithmetic; None if there is no largest one.

    Eighty times the double 0.1 is a little above 8: a sum that exceeds the limit only by the rounding of typed numbers
    counts as within it.
    """
    if math.isinf(limit):
        return None
    most = Fraction(limit) * (1 + _TYPED)
    if price == 0:
        return None if spent <= most else 0
    return max(0, (most - spent) // price)


def as_float(value: Fraction) -> float:
    """Return the float nearest to a fraction; inf beyond the doubles."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


# ---- limits --------------------------------------------------------------------------------------------------


def filters(budget: Budget, *, order: float | None = None, each: float | None = None) -> tuple[Filter, ...]:
    """Return the four filters of a budget.

    Parameters
    ----------
    budget : Budget
        (epsilon, delta) of everything that will ever be released.
    order : float, optional
        Of the Rényi filter, above 1; by default the order at which the most Gaussian releases fit into the budget. It
        depends on the budget alone, never on what is released.
    each : float, optional
        Delta that the basic filter grants every release of unbounded loss, by default a thousandth of
        the budget's delta.

    Returns
    -------
    tuple of Filter
        The basic, Rényi, concentrated and Gaussian filter.

    Examples
    --------
    >>> from dpcore.ledger import Budget
    >>> [(one.name, f"{one.limit:.5g}") for one in filters(Budget(3.0, 1e-6), order=8.0)]
    [('basic', '3'), ('rdp', '1.457'), ('zcdp', '0.18507'), ('gdp', '0.41955')]
    """
    epsilon, delta = budget.epsilon, budget.delta
    granted = PART * delta if each is None else PROBABILITY.but(name="each").check(each)
    a = best_order(epsilon, delta) if order is None else OPEN_ORDER.check(order)
    return (
        Filter("basic", epsilon, delta, each=granted)
        if delta < 1
        else Filter("basic", math.inf, math.inf, each=granted),
        Filter("rdp", largest_divergence(a, epsilon, delta) * _DOWN, order=a),
        Filter("zcdp", largest_rho(epsilon, delta) * _DOWN),
        Filter("gdp", largest_mu(epsilon, delta) ** 2 * _DOWN),
    )


def best_order(epsilon: float, delta: float) -> float:
    r"""Return the order a at which the most Gaussian releases fit: where the largest divergence over a is largest.

    Gaussian noise has :math:`D_a=a\mu^2/2`. The order depends on the budget alone, so it is fixed before any release.
    """
    if not 0 < delta < 1:
        return 2.0
    rates = _closed_divergence(_ORDERS, epsilon, delta) / _ORDERS
    return float(f"{_ORDERS[int(np.argmax(rates))]:.3g}")


def _closed_divergence(order: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Return the divergence that the closed-form conversion turns into (epsilon, delta), not below 0."""
    value = epsilon - np.log1p(-1 / order) + (math.log(delta) + np.log(order)) / (order - 1)
    return np.asarray(np.maximum(value, 0.0), dtype=np.float64)


@lru_cache(maxsize=64)  # the exact region takes a quarter of a second
def largest_divergence(order: float, epsilon: float, delta: float) -> float:
    """Return a divergence for which (order, divergence)-RDP implies (epsilon, delta)-DP, nearly the largest.

    The closed form of Canonne, Kamath and Steinke gives a first value, the exact region of Rényi privacy a larger one.
    """
    if delta >= 1:
        return math.inf
    if delta <= 0:
        return 0.0
    start = float(_closed_divergence(np.array([order]), epsilon, delta)[0])

    def closed(bound: float) -> bool:
        rows = rdp_delta(order, bound, epsilon)
        return float(rows.loc[rows["theorem"] == "rdp_tight", "delta"].iloc[0]) <= delta

    def exact(bound: float) -> bool:
        return float(RDP(order, bound).curve.delta_bounds(np.array([epsilon]))[1][0]) <= delta

    low = _largest(closed, start * (1 - 1e-9), start * (1 + 1e-9)) if start > 0 else 0.0
    step = max(start, 1 / (order - 1)) * 0.05
    return _largest(exact, low, low + step, _EXACT_HALVINGS)


def largest_rho(epsilon: float, delta: float) -> float:
    """Return nearly the largest rho for which rho-zCDP implies (epsilon, delta)-DP, by the best order."""
    if delta >= 1:
        return math.inf
    if delta <= 0:
        return 0.0

    def holds(rho: float) -> bool:
        rows = zcdp_delta(rho, 0.0, epsilon)
        return float(rows.loc[rows["theorem"] == "zcdp_tight", "delta"].iloc[0]) <= delta

    high = largest_mu(epsilon, delta) ** 2 / 2  # Gaussian noise has this rho, and a larger mu would miss the budget
    return _largest(holds, 0.0, high * (1 + 1e-9))


def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu for which mu-GDP implies (epsilon, delta)-DP, rounded down."""
    if delta >= 1:
        return math.inf
    if delta <= 0:
        return 0.0

    def holds(mu: float) -> bool:
        return mu == 0 or float(GaussianCurve(mu).delta_bounds(np.array([epsilon]))[1][0]) <= delta

    high = 1.0
    while holds(high):  # doubles: delta tends to 1, within 513 rounds for the largest epsilon
        high *= 2
    return _largest(holds, 0.0, high)


def _largest(holds: Callable[[float], bool], low: float, high: float, halvings: int = _HALVINGS) -> float:
    """Return nearly the largest number from `low` to `high` that holds; 0 always does."""
    if holds(high):
        return high
    if low > 0 and not holds(low):
        low, high = 0.0, low
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
        if high - low <= 1e-15 * high:
            break
    return low
