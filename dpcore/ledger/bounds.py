"""What every theorem says about a whole ledger: its epsilon at one delta, and which theorem is best."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore import gate
from dpcore.algebra import Additive
from dpcore.composition.clt import limit
from dpcore.composition.gaussians import epsilons_of
from dpcore.composition.ways import TITLES as SINGLE
from dpcore.curves.gaussian import Gaussian
from dpcore.errors import BudgetError, DomainError, DpcoreError
from dpcore.guarantees import DP, DPTV
from dpcore.ledger.moments import concentrated_epsilon, renyi_epsilon
from dpcore.ledger.statements import MOST_DIFFERENT, Statements, statements
from dpcore.limits import current, limits
from dpcore.theorems import advanced_course, advanced_drv, domain, kov_simplified_epsilon
from dpcore.theorems.bounds import course_applies
from dpcore.theorems.rounding import failure, sum_up
from dpcore.tradeoff import shorten
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.algebra import Factors
    from dpcore.composition.step import Step
    from dpcore.ledger.records import Ledger
    from dpcore.tradeoff import TradeOff

TITLES = {
    "exact": "Regions composed",
    "dptv": SINGLE["dptv"],
    "kov_optimal": SINGLE["kov_optimal"],
    "gdp": SINGLE["gdp"],
    "rdp": "Rényi",
    "zcdp": "Concentrated (zCDP)",
    "kov_simplified": SINGLE["kov_simplified"],
    "advanced_drv": SINGLE["advanced_drv"],
    "advanced_course": SINGLE["advanced_course"],
    "basic": SINGLE["basic"],
    "clt": SINGLE["clt"],
}
_COMPOSED = ("dptv", "kov_optimal")
COLUMNS = ("theorem", "title", "delta", "epsilon", "epsilon_lower", "kind", "note")
_UP = 1 + 1e-13
_ENOUGH = 1e-4  # tolerance of bounds that are loose anyway
_LEAST = 0.05  # seconds every theorem may take, however late it is
_ROUNDING = 1e-15
_BELOW = "No ε reaches this δ by this theorem."


@dataclass(frozen=True)
class Total:
    """Epsilon of the whole ledger at one delta by composing the regions: a bracket of the truth."""

    lower: float
    upper: float
    kind: str
    method: str


def total(ledger: Ledger, delta: float) -> Total:
    """Return the smallest epsilon of a ledger at `delta` in [0, 1]: the regions themselves are composed."""
    wanted = domain.probability(delta, "delta")
    key = (wanted, current().tolerance)
    if key not in ledger.memory:
        ledger.memory[key] = _composed(ledger, wanted)
    found: Total = ledger.memory[key]
    return found


def _composed(ledger: Ledger, delta: float) -> Total:
    region = ledger.region
    lower, upper = (float(bound[0]) + 0.0 for bound in gate.epsilon_bounds(region, np.array([delta])))
    added = sum(count for _, count in ledger.factors) > 1 and any(isinstance(n, Additive) for n, _ in ledger.factors)
    if not added:
        return Total(min(lower, upper), upper, region.kind, region.theorem)
    # Rényi-type statements are added before they become a region: safe, but only each part alone is attained
    alone = [float(gate.epsilon_bounds(node, np.array([delta]))[0][0]) for node, _ in ledger.factors]
    return Total(min(max(alone), upper), upper, "upper", region.theorem)


def theorems(ledger: Ledger, delta: float, *, patience: float = 10.0) -> pd.DataFrame:
    """Tabulate the epsilon that every theorem promises for the whole ledger at one delta.

    Parameters
    ----------
    ledger : its rows; parallel groups enter by the region of their worst rows.
    delta : failure probability of the whole ledger, in [0, 1].
    patience : seconds for composing the regions, and as many for all other theorems together; what does not fit says so.

    Returns
    -------
    DataFrame
        `theorem, title, delta, epsilon, epsilon_lower, kind, note`, one row per theorem. The truth lies between
        `epsilon_lower` and every `epsilon` that is ``exact`` or ``upper``. ``approximate`` promises nothing; ``none``
        has epsilon inf, and `note` says why the theorem is silent.
    """
    wanted = domain.probability(delta, "delta")
    asked = _Asked(ledger.factors, wanted, patience)
    known, best = asked.composed(ledger)
    asked.begin()
    # what is composed once more comes last, so that it takes no time from the others
    found = {name: asked.answer(name, best) for name in sorted(TITLES, key=_COMPOSED.count) if name != "exact"}
    rows = {name: known if name == "exact" else found[name] for name in TITLES}
    floor = best.lower if best is not None else 0.0
    columns = [
        list(rows),
        [TITLES[name] for name in rows],
        [wanted] * len(rows),
        [row.epsilon + 0.0 for row in rows.values()],
        [floor] * len(rows),
        [row.kind for row in rows.values()],
        [row.note for row in rows.values()],
    ]
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


@dataclass(frozen=True)
class _Row:
    epsilon: float
    kind: str
    note: str = ""


def _silent(why: str) -> _Row:
    return _Row(math.inf, "none", why)


class _Asked:
    """One question: the different releases, delta, and the statements made of them once."""

    def __init__(self, factors: Factors, delta: float, patience: float) -> None:
        self.factors, self.delta, self.patience = factors, delta, patience
        self.ends_at = math.inf
        self._made: dict[tuple[float, bool], Statements | DpcoreError] = {}
        self._bounded: dict[str, Step] = {}

    def composed(self, ledger: Ledger) -> tuple[_Row, Total | None]:
        """Return the row of the regions themselves, and its bracket unless it could not be had."""
        try:
            with limits(deadline=self.patience):
                found = total(ledger, self.delta)
        except BudgetError as error:
            if time.monotonic() > current().ends_at:
                raise
            return _silent(str(error)), None
        note = _BELOW if math.isinf(found.upper) else found.method
        return _Row(found.upper, found.kind, note), found

    def begin(self) -> None:
        """Start the clock of the theorems about statements and moments."""
        self.ends_at = time.monotonic() + self.patience

    def answer(self, name: str, best: Total | None) -> _Row:
        """Return the row of one theorem."""
        if not self.factors:
            return _Row(0.0, "exact", "nothing was released")
        routes: dict[str, Callable[[Total | None], _Row]] = {
            "dptv": self._dptv,
            "kov_optimal": self._kov,
            "gdp": self._gdp,
        }
        plain: dict[str, Callable[[], _Row]] = {
            "rdp": lambda: self._moments(renyi_epsilon),
            "zcdp": lambda: self._moments(concentrated_epsilon),
            "kov_simplified": self._simplified,
            "advanced_drv": self._drv,
            "advanced_course": self._course,
            "basic": self._basic,
            "clt": self._clt,
        }
        try:
            with limits(deadline=max(_LEAST, self.ends_at - time.monotonic())):
                row = routes[name](best) if name in routes else plain[name]()
        except DpcoreError as error:
            if isinstance(error, BudgetError) and time.monotonic() > current().ends_at:
                raise
            return _silent(str(error))
        return _Row(row.epsilon, row.kind, _BELOW) if math.isinf(row.epsilon) and row.kind != "none" else row

    def statements(self, part: float = 0.5, *, gaussian: bool = True) -> Statements:
        """Return the statements of all releases, made once for each way to share delta."""
        key = (part, gaussian)
        if key not in self._made:
            try:
                self._made[key] = statements(
                    self.factors, self.delta, part=part, gaussian=gaussian, known=self._bounded
                )
            except DpcoreError as error:
                self._made[key] = error
        found = self._made[key]
        if isinstance(found, DpcoreError):
            raise found
        return found

    # ---- theorems about statements ---------------------------------------------------------------------------

    def _dptv(self, best: Total | None) -> _Row:
        if len(self.factors) > MOST_DIFFERENT:
            return self._too_many()
        given = self.statements()
        if not given.tv_helps:
            return _silent(f"No total variation below that of (ε, δ) is known: {TITLES['kov_optimal']} is the same.")
        return self._product(given, best, [(_dptv(s.epsilon, s.delta, s.eta), k) for s, k in given.parts], tight=True)

    def _kov(self, best: Total | None) -> _Row:
        if len(self.factors) > MOST_DIFFERENT:
            return self._too_many()
        given = self.statements()
        tight = not given.tv_helps
        return self._product(given, best, [(DP(s.epsilon, s.delta), k) for s, k in given.parts], tight=tight)

    def _too_many(self) -> _Row:
        return _silent(
            f"The ledger has {grouped(len(self.factors))} different releases; with more than {grouped(MOST_DIFFERENT)} only "
            f"{TITLES['exact']} is computed."
        )

    def _product(self, given: Statements, best: Total | None, parts: Factors, *, tight: bool) -> _Row:
        """Return the exact composition of statements, which is that of the regions where these are no more."""
        if given.attained and tight and best is not None:
            return _Row(best.upper, best.kind, "the rows are statements and nothing more")
        region: TradeOff | None = None
        for node, count in parts:
            power = node**count if count > 1 else node
            region = power if region is None else region * power
        if region is None:
            return _Row(0.0, "exact")
        with limits(tolerance=max(current().tolerance, _ENOUGH)):
            value = float(region.epsilon(self.delta)) * _UP
        unused = "" if tight or not given.tv_helps else "bounds on total variation not used"
        return _Row(value, "upper", "; ".join(part for part in (given.note, unused) if part))

    def _simplified(self) -> _Row:
        given = self.statements()
        rows = kov_simplified_epsilon(given.triples, self.delta)
        return _Row(float(rows["epsilon"].iloc[0]), "upper", given.note)

    def _equal(self) -> tuple[float, float, int]:
        """Return the one statement all releases make, or say that they differ."""
        triples = self.statements().triples
        if len({(epsilon, delta) for epsilon, delta, _ in triples}) > 1:
            msg = "It is about equal mechanisms; the releases of this ledger differ."
            raise DomainError(msg)
        return triples[0][0], triples[0][1], sum(count for *_, count in triples)

    def _drv(self) -> _Row:
        epsilon, delta, k = self._equal()
        if self.delta >= 1:
            return _Row(0.0, "upper")
        slack = (self.delta - sum_up([(delta, k)])) * (1 - 1e-15)
        if not slack > 0:
            return _Row(math.inf, "upper")
        return _Row(float(advanced_drv(epsilon, delta, k, slack)["epsilon"].iloc[0]), "upper", self.statements().note)

    def _course(self) -> _Row:
        epsilon, delta, k = self._equal()
        if delta > 0 or not 0 < self.delta <= 1:
            return _silent("It is about δ = 0 per release and a total δ above 0.")
        if not course_applies(epsilon, k, self.delta):
            budget = outward(-math.log(self.delta), 4, up=False)
            return _silent(f"It holds for ε²k up to log(1/δ) = {budget} only, here {epsilon * epsilon * k:.4g}.")
        return _Row(float(advanced_course(epsilon, k, self.delta)["epsilon"].iloc[0]), "upper", self.statements().note)

    def _basic(self) -> _Row:
        given = self.statements(1.0)
        return _Row(basic_epsilon(given, self.delta), "upper", given.note)

    # ---- other notions ---------------------------------------------------------------------------------------

    def _gdp(self, best: Total | None) -> _Row:
        if best is not None and all(isinstance(node.curve, Gaussian) for node, _ in self.factors):
            mu = math.hypot(*(node.curve.mu * math.sqrt(count) for node, count in self.factors))  # type: ignore[attr-defined]  # all are Gaussian
            return _Row(best.upper, best.kind, f"μ = {outward(mu, 6)}")
        given = self.statements(gaussian=False)
        mu = math.hypot(*(step.bounding_mu * math.sqrt(count) for step, count in given.parts)) * _UP
        if not math.isfinite(mu):
            return _silent("Its μ is too large for a number.")
        lost = min(1.0, failure([(step.delta, count) for step, count in given.parts]) * _UP)
        value = float(epsilons_of(np.array([mu]), np.array([lost]), self.delta)[0])
        return _Row(value, "upper", f"every row inside Gaussian privacy, together μ = {outward(mu, 6)}")

    def _moments(self, route: Callable[[Factors, float], tuple[float, str]]) -> _Row:
        if self.delta <= 0:
            return _silent("Moments promise nothing at δ = 0.")
        epsilon, note = route(self.factors, self.delta)
        return _Row(epsilon, "upper", note)

    def _clt(self) -> _Row:
        if all(isinstance(node.curve, Gaussian) for node, _ in self.factors):
            return _silent(f"No limit is needed: {TITLES['gdp']} is exact.")
        if len(self.factors) > MOST_DIFFERENT:
            return _silent(f"It is not computed for more than {grouped(MOST_DIFFERENT)} different releases.")
        square, lost = 0.0, []
        for node, count in self.factors:
            try:
                found = limit(node)
            except DomainError as error:
                return _silent(f"{shorten(str(node), 40)}: {error}")
            square += count * found.mu**2
            lost.append((found.lost, count))
        mu, gone = math.sqrt(square), failure(lost)
        value = float(epsilons_of(np.array([mu]), np.array([gone]), self.delta, certified=False)[0])
        return _Row(value, "approximate", f"μ = {mu:.6g}; an approximation, not a promise")


def _dptv(epsilon: float, delta: float, eta: float) -> TradeOff:
    """Return the statement with its total variation; a bound that changes nothing is left out."""
    most = DP(epsilon, delta).total_variation
    return DPTV.make(epsilon, delta, eta) if eta < most else DP(epsilon, delta)


def basic_epsilon(given: Statements, delta: float) -> float:
    """Return the sum of the epsilons if the sum of the deltas is within `delta`, else inf."""
    failing = sum_up((failing, count) for _, failing, count in given.triples)
    if failing > delta * (1 + _ROUNDING):
        return math.inf
    return 0.0 if delta >= 1 else sum_up((epsilon, count) for epsilon, _, count in given.triples)
