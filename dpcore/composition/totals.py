"""The epsilon of every named theorem for a list of releases at one delta: one number for every page, table and command."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore import gate
from dpcore.algebra import Power, Product
from dpcore.composition.clt import limit
from dpcore.composition.gaussians import epsilons_of
from dpcore.composition.parts import MOST_DIFFERENT, Statements, statements
from dpcore.composition.renyi import concentrated_epsilon, renyi_epsilon
from dpcore.composition.tails import epsilon_of_copies
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError, DomainError, DpcoreError
from dpcore.guarantees import DP, DPTV
from dpcore.limits import current, limits
from dpcore.notices import collected
from dpcore.theorems.bounds import course_applies
from dpcore.theorems.rounding import failure
from dpcore.theorems.sharing import advanced_epsilon, basic_epsilon, pure_advanced_epsilon, simplified_epsilon
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpcore.algebra import Factors
    from dpcore.composition.step import Step
    from dpcore.tradeoff import TradeOff

TITLES = {
    "dptv": "DP-TV",
    "kov_optimal": "KOV optimal",
    "gdp": "Gaussian (GDP)",
    "rdp": "Rényi, best order",
    "zcdp": "Concentrated (zCDP)",
    "kov_simplified": "KOV simplified",
    "advanced_drv": "Advanced (DRV)",
    "advanced_course": "Advanced (pure)",
    "basic": "Basic",
    "clt": "CLT, approximate",
}
COMPOSED = ("dptv", "kov_optimal")  # what may take long
BELOW = "No ε reaches this δ by this theorem: what remains at ε = ∞ is already larger."
# a theorem, and one that follows from it about the same statements or rates: never below it
_WEAKER = (
    ("kov_simplified", "basic"),
    ("kov_optimal", "kov_simplified"),
    ("dptv", "kov_optimal"),
    ("rdp", "zcdp"),
)
_UP = 1 + 1e-13
_ENOUGH = 1e-4  # tolerance of bounds that are loose anyway


class Row(NamedTuple):
    """What one theorem says: with kind ``none`` epsilon is inf and `note` says why the theorem is silent."""

    epsilon: float
    kind: str
    note: str = ""


def silent(why: str) -> Row:
    """Return the row of a theorem that does not apply."""
    return Row(math.inf, "none", why)


def ordered(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Return the rows such that no theorem is above a weaker one by the tolerance of its own computation."""
    found = dict(rows)
    for strong, weak in _WEAKER:
        one, other = found.get(strong), found.get(weak)
        if one is not None and other is not None and "none" not in (one.kind, other.kind):
            found[strong] = one._replace(epsilon=min(one.epsilon, other.epsilon))
    return found


def composed(parts: Factors) -> TradeOff:
    """Return the region of all releases together; perfect privacy where there are none."""
    powers = tuple(node if count == 1 else Power(node, count) for node, count in parts)
    return DP(0.0) if not powers else powers[0] if len(powers) == 1 else Product(powers)


def statement_region(step: Step) -> TradeOff:
    """Return dptv(epsilon, delta, eta); rounding of eta at its largest value is not worth a warning."""
    with collected():
        return DPTV.make(step.epsilon, step.delta, step.eta)


class Totals:
    """The named theorems about one list of releases at one delta.

    Parameters
    ----------
    factors : different regions with their counts.
    delta : by how much the whole list may exceed e^epsilon, in [0, 1].
    given : the statements of all releases, if they are known already, or why there are none.
    ends_at : when the numbers must be there, on the clock of `time.monotonic`; what does not fit says so.
    """

    def __init__(
        self,
        factors: Factors,
        delta: float,
        *,
        given: Statements | DpcoreError | None = None,
        ends_at: float = math.inf,
    ) -> None:
        self.factors, self.delta, self.ends_at = factors, delta, ends_at
        self._given: dict[bool, Statements | DpcoreError] = {} if given is None else {True: given}
        self._bounded: dict[str, Step] = {}

    def row(self, name: str) -> Row:
        """Return what one theorem says."""
        if not self.factors:
            return Row(0.0, "exact", "nothing was released")
        routes: dict[str, Callable[[], Row]] = {
            "dptv": self._dptv,
            "kov_optimal": self._kov,
            "gdp": self._gdp,
            "rdp": lambda: self._moments(renyi_epsilon),
            "zcdp": lambda: self._moments(concentrated_epsilon),
            "kov_simplified": self._simplified,
            "advanced_drv": self._advanced,
            "advanced_course": self._pure_advanced,
            "basic": self._basic,
            "clt": self._clt,
        }
        try:
            with limits(deadline=max(_LEAST, self.ends_at - time.monotonic())):
                found = routes[name]()
        except DpcoreError as error:
            if isinstance(error, BudgetError) and time.monotonic() > current().ends_at:
                raise
            return silent(str(error))
        return found._replace(note=BELOW) if math.isinf(found.epsilon) and found.kind != "none" else found

    def statements(self, *, gaussian: bool = True) -> Statements:
        """Return the statements of all releases; without `gaussian` those of Gaussian releases are left out."""
        if gaussian not in self._given:
            try:
                self._given[gaussian] = statements(self.factors, self.delta, gaussian=gaussian, known=self._bounded)
            except DomainError as error:
                self._given[gaussian] = error
        found = self._given[gaussian]
        if isinstance(found, DpcoreError):
            raise found
        return found

    # ---- theorems about statements ---------------------------------------------------------------------------

    def _dptv(self) -> Row:
        if len(self.factors) > MOST_DIFFERENT:
            return self._too_many()
        given = self.statements()
        if not given.tv_helps:
            return silent(no_tv(given))
        return self._optimal(given, [(_with_tv(step), count) for step, count in given.parts], tight=True)

    def _kov(self) -> Row:
        if len(self.factors) > MOST_DIFFERENT:
            return self._too_many()
        given = self.statements()
        parts: Factors = [(DP(step.epsilon, step.delta), count) for step, count in given.parts]
        return self._optimal(given, parts, tight=not given.tv_helps)

    def _too_many(self) -> Row:
        return silent(
            f"There are {grouped(len(self.factors))} different releases; with more than {grouped(MOST_DIFFERENT)} only "
            "the regions themselves are composed."
        )

    def _optimal(self, given: Statements, parts: Factors, *, tight: bool) -> Row:
        """Return the exact composition of statements, equal ones counted together."""
        counts: dict[str, tuple[TradeOff, int]] = {}
        for node, count in parts:
            counts[node.text] = (node, count + counts.get(node.text, (node, 0))[1])
        region = composed(list(counts.values()))
        few = None
        if len(counts) == 1:  # of equal statements the few masses that decide are enough
            ((node, count),) = counts.values()
            pair = node.pair
            few = epsilon_of_copies(pair, count, self.delta) if isinstance(pair, Polygon) and pair.symmetric else None
        if given.attained and tight:
            if few is not None:
                return Row(few + 0.0, "exact", given.note)
            return Row(float(gate.epsilon_bounds(region, np.array([self.delta]))[1][0]) + 0.0, region.kind, given.note)
        if few is None:
            with limits(tolerance=max(current().tolerance, _ENOUGH)):
                few = float(region.epsilon(self.delta))
        # right to rounding; as an upper bound it must not be below the truth at all
        return Row(few * _UP + 0.0, "upper", kov_note(given) if not tight else given.note)

    def _simplified(self) -> Row:
        given = self.statements()
        return Row(simplified_epsilon(given.triples, self.delta), "upper", given.note)

    def _basic(self) -> Row:
        given = self.statements()
        return Row(basic_epsilon(given.triples, self.delta), "upper", given.note)

    def _equal(self) -> tuple[float, float, int]:
        """Return the one statement all releases make, or say that they differ."""
        triples = self.statements().triples
        if len({(epsilon, delta) for epsilon, delta, _ in triples}) > 1:
            msg = "It is about equal mechanisms; these releases differ."
            raise DomainError(msg)
        return triples[0][0], triples[0][1], sum(count for *_, count in triples)

    def _advanced(self) -> Row:
        return Row(advanced_epsilon(*self._equal(), self.delta), "upper", self.statements().note)

    def _pure_advanced(self) -> Row:
        epsilon, failing, k = self._equal()
        if failing > 0 or not self.delta > 0:
            got = f"δ = {outward(failing, 4)}" if failing > 0 else "a total δ of 0"
            return silent(f"It is about δ = 0 per release and a total δ above 0; here {got}.")
        if not course_applies(epsilon, k, self.delta):
            most = outward(-math.log(self.delta), 4, up=False)
            return silent(f"It holds for ε²k up to log(1/δ) = {most} only, here {epsilon * epsilon * k:.4g}.")
        return Row(pure_advanced_epsilon(epsilon, k, self.delta), "upper", self.statements().note)

    # ---- other notions ---------------------------------------------------------------------------------------

    def _gdp(self) -> Row:
        mus = [(mu, count) for node, count in self.factors if (mu := node.curve.gaussian_mu) is not None]
        if len(mus) == len(self.factors):
            region = composed(self.factors)
            mu = math.hypot(*(mu * math.sqrt(count) for mu, count in mus))
            value = float(gate.epsilon_bounds(region, np.array([self.delta]))[1][0])
            return Row(value + 0.0, region.kind, f"μ = {outward(mu, 6)}")
        given = self.statements(gaussian=False)
        mu = math.hypot(*(step.bounding_mu * math.sqrt(count) for step, count in given.parts)) * _UP
        if not math.isfinite(mu):
            return silent("Its μ is too large for a number.")
        lost = min(1.0, failure([(step.delta, count) for step, count in given.parts]) * _UP)
        value = float(epsilons_of(np.array([mu]), np.array([lost]), self.delta)[0])
        return Row(value, "upper", f"every release inside Gaussian privacy, together μ = {outward(mu, 6)}")

    def _moments(self, route: Callable[[Factors, float], tuple[float, str]]) -> Row:
        if self.delta <= 0:
            return silent("Moments promise nothing at δ = 0.")
        epsilon, note = route(self.factors, self.delta)
        return Row(epsilon, "upper", note)

    def _clt(self) -> Row:
        if all(node.curve.gaussian_mu is not None for node, _ in self.factors):
            return silent(f"No limit is needed: {TITLES['gdp']} is exact.")
        if len(self.factors) > MOST_DIFFERENT:
            return silent(f"It is not computed for more than {grouped(MOST_DIFFERENT)} different releases.")
        found = limit(composed(self.factors))  # moments are summed over the factors
        value = float(epsilons_of(np.array([found.mu]), np.array([found.lost]), self.delta, certified=False)[0])
        return Row(value, "approximate", f"μ = {found.mu:.6g}; an approximation, not a promise")


_LEAST = 0.05  # seconds every theorem may take, however late it is


def _with_tv(step: Step) -> TradeOff:
    """Return the statement with its total variation; a bound that changes nothing is left out."""
    return statement_region(step) if step.tv_helps else DP(step.epsilon, step.delta)


def no_tv(given: Statements) -> str:
    """Say why the theorem with total variation adds nothing."""
    shown = outward(given.parts[0][0].eta, 4) if len(given.parts) == 1 else ""
    return f"No total variation below that of (ε, δ){shown and f', {shown},'} is known: {TITLES['kov_optimal']} is the same."


def kov_note(given: Statements) -> str:
    """Say what the optimal theorem leaves unused."""
    unused = "bound on total variation not used" if given.tv_helps else ""
    return "; ".join(part for part in (given.note, unused) if part)
