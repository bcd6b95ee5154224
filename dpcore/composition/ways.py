"""The ways to compose k copies of one mechanism, each as a region, or with the reason why it does not apply."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.composition.clt import Limit, limit
from dpcore.composition.step import Step, step_of
from dpcore.curves.gaussian import Gaussian
from dpcore.errors import DomainError, DomainWarning, DpcoreError
from dpcore.guarantees import DP, DPTV, GDP, TV
from dpcore.language import parse
from dpcore.theorems import advanced_course, advanced_drv, basic, domain, kov_simplified
from dpcore.theorems.rounding import failure
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.tradeoff import TradeOff

TITLES = {
    "exact": "Actual mechanism",
    "dptv": "DP-TV",
    "kov_optimal": "KOV optimal",
    "kov_simplified": "KOV simplified",
    "advanced_drv": "Advanced (DRV)",
    "advanced_course": "Advanced (pure)",
    "basic": "Basic",
    "gdp": "Gaussian (GDP)",
    "clt": "CLT, approximate",
}
LARGEST_K = 10**9


@dataclass(frozen=True, slots=True)
class Way:
    """What one theorem says about the composition.

    Attributes
    ----------
    name, title : of the theorem.
    region : what it promises; None where it does not apply, and `note` says why.
    kind : ``exact``, ``upper`` (a valid bound), ``approximate`` (no promise) or ``none``.
    note : what the number rests on, in words.
    """

    name: str
    title: str
    region: TradeOff | None
    kind: str
    note: str


def ways(mechanism: TradeOff | str, k: int, *, slack: float = 1e-6, delta: float = 1e-6) -> tuple[Way, ...]:
    """Return every way to compose k copies of a mechanism.

    Parameters
    ----------
    mechanism : a region, or its expression.
    k : how many copies, from 1 to 10^9.
    slack : extra failure probability the closed-form theorems spend, in (0, 1].
    delta : failure probability the total is asked at; it matters for mechanisms of unbounded loss only.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    copies = domain.integer(k, "k", high=LARGEST_K)
    spent = domain.positive_probability(slack, "slack")
    wanted = domain.probability(delta, "delta")
    step, why = None, ""
    try:
        step = step_of(region, copies, wanted)
    except DpcoreError as error:
        why = str(error)
    found = [_exact(region, step, copies), _gdp(region, step, copies), _clt(region, copies)]
    if step is None:
        found += [_none(name, why) for name in TITLES if name not in {"exact", "clt", "gdp"}]
    else:
        found += [_dptv(step, copies), _kov(step, copies), *_closed(step, copies, spent)]
    by_name = {way.name: way for way in found}
    return tuple(by_name[name] for name in TITLES)


def _none(name: str, why: str) -> Way:
    return Way(name, TITLES[name], None, "none", why)


def _exact(region: TradeOff, step: Step | None, k: int) -> Way:
    if step is not None and step.attained:
        twin = TITLES["dptv"] if step.tv_helps else TITLES["kov_optimal"]
        return _none("exact", f"Nothing but the statement is known: {twin} is its exact composition.")
    return Way("exact", TITLES["exact"], region**k, "exact", "exact composition of the mechanism itself")


def _kind(step: Step, tight: bool) -> str:
    return "exact" if step.attained and tight else "upper"


def _dptv(step: Step, k: int) -> Way:
    if not step.tv_helps:
        return _none("dptv", no_tv(step))
    return Way("dptv", TITLES["dptv"], statement_region(step) ** k, _kind(step, tight=True), step.note)


def no_tv(step: Step) -> str:
    """Say why the theorem with total variation adds nothing."""
    shown = outward(step.eta, 4)
    return f"No total variation below that of (ε, δ), {shown}, is known: {TITLES['kov_optimal']} is the same."


def _kov(step: Step, k: int) -> Way:
    region = DP(step.epsilon, step.delta) ** k
    return Way("kov_optimal", TITLES["kov_optimal"], region, _kind(step, tight=not step.tv_helps), kov_note(step))


def kov_note(step: Step) -> str:
    """Say what the optimal theorem leaves unused."""
    return step.note or ("bound on total variation not used" if step.tv_helps else "")


def _closed(step: Step, k: int, slack: float) -> list[Way]:
    """Return the closed-form theorems, each one statement."""
    given = [(step.epsilon, step.delta, k)]
    found = [
        _statement("kov_simplified", kov_simplified(given, slack), step),
        _statement("advanced_drv", advanced_drv(step.epsilon, step.delta, k, slack), step),
        _statement("basic", basic(given), step),
    ]
    if step.delta > 0:
        return [
            *found,
            _none("advanced_course", f"It is about δ = 0 per mechanism, here δ = {outward(step.delta, 4)}."),
        ]
    try:
        return [*found, _statement("advanced_course", advanced_course(step.epsilon, k, slack), step)]
    except DomainError as error:
        return [*found, _none("advanced_course", str(error))]


def _statement(name: str, rows: pd.DataFrame, step: Step) -> Way:
    epsilon, delta = float(rows["epsilon"].iloc[0]), float(rows["delta"].iloc[0])
    note = "; ".join(part for part in (str(rows["note"].iloc[0]), step.note) if part)
    if not math.isfinite(epsilon):
        return _none(name, "Its ε is too large for a number.")
    return Way(name, TITLES[name], DP(epsilon, delta), "upper", note)


def _gdp(region: TradeOff, step: Step | None, k: int) -> Way:
    curve = region.curve
    if isinstance(curve, Gaussian):
        mu = curve.mu * math.sqrt(k)
        return Way("gdp", TITLES["gdp"], GDP(mu), "exact", f"μ = {outward(mu, 6)}")
    if step is None:
        return _none("gdp", "The mechanism is not Gaussian privacy and its loss is unbounded.")
    mu, lost = step.bounding_mu * math.sqrt(k), failure([(step.delta, k)])
    if not math.isfinite(mu):
        return _none("gdp", "Its μ is too large for a number.")
    note = f"μ = {outward(mu, 6)}" + (f", failing with probability {outward(lost, 4)}" if lost else "")
    note += f"; one mechanism is inside gdp({outward(step.bounding_mu, 4)})"
    return Way("gdp", TITLES["gdp"], joined(mu, lost), "upper", "; ".join(filter(None, (note, step.note))))


def _clt(region: TradeOff, k: int) -> Way:
    if isinstance(region.curve, Gaussian):
        return _none("clt", f"No limit is needed: {TITLES['gdp']} is exact.")
    try:
        found = limit(region)
    except DpcoreError as error:
        return _none("clt", str(error))
    mu, lost = found.mu * math.sqrt(k), failure([(found.lost, k)])
    return Way("clt", TITLES["clt"], joined(mu, lost), "approximate", f"μ = {mu:.6g}; {band(found, k)}")


def band(found: Limit, k: int) -> str:
    """Say how far off the central limit may be."""
    gamma = found.gamma(k)
    return "how far off is not known" if math.isinf(gamma) else f"both rates are off by at most {outward(gamma, 3)}"


def joined(mu: float, lost: float) -> TradeOff:
    """Return Gaussian privacy together with a failure probability."""
    return GDP(mu) if lost == 0 else GDP(mu) * TV(lost) if mu > 0 else TV(lost)


def statement_region(step: Step) -> TradeOff:
    """Return dptv(epsilon, delta, eta); rounding of eta at its largest value is not worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DomainWarning)
        return DPTV.make(step.epsilon, step.delta, step.eta)
