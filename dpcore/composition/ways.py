"""The ways to compose k copies of one mechanism, each as a region, or with the reason why it does not apply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.algebra import factors
from dpcore.composition.clt import Limit, limit
from dpcore.composition.parts import statements as parted
from dpcore.composition.totals import TITLES as NAMED
from dpcore.composition.totals import composed, kov_note, no_tv, statement_region
from dpcore.errors import DomainError, DpcoreError
from dpcore.guarantees import DP, GDP, TV
from dpcore.language import parse
from dpcore.theorems import advanced_course, advanced_drv, basic, domain, kov_simplified
from dpcore.theorems.rounding import failure
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.algebra import Factors
    from dpcore.composition.parts import Statements
    from dpcore.tradeoff import TradeOff

TITLES = {
    "exact": "Actual mechanism",
    **{
        name: NAMED[name]
        for name in (
            "dptv", "kov_optimal", "kov_simplified", "advanced_drv", "advanced_course", "basic", "gdp", "clt",
        )
    },
}  # fmt: skip
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
    slack : what the closed-form theorems add to delta, in (0, 1].
    delta : the delta the total is asked at; it matters for mechanisms of unbounded loss only.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    copies = domain.integer(k, "k", high=LARGEST_K)
    spent = domain.positive_probability(slack, "slack")
    wanted = domain.probability(delta, "delta")
    parts: Factors = [(node, count * copies) for node, count in factors(region)]
    given, why = None, ""
    try:
        given = parted(parts, wanted)
    except DpcoreError as error:
        why = str(error)
    found = [_exact(region, given, copies), _gdp(parts, wanted), _clt(region, copies)]
    if given is None:
        found += [_none(name, why) for name in TITLES if name not in {"exact", "clt", "gdp"}]
    else:
        found += [_dptv(given), _kov(given), *_closed(given, spent)]
    by_name = {way.name: way for way in found}
    return tuple(by_name[name] for name in TITLES)


def _none(name: str, why: str) -> Way:
    return Way(name, TITLES[name], None, "none", why)


def _exact(region: TradeOff, given: Statements | None, k: int) -> Way:
    if given is not None and given.attained and len(given.parts) == 1:
        twin = TITLES["dptv"] if given.tv_helps else TITLES["kov_optimal"]
        return _none("exact", f"Nothing but the statement is known: {twin} is its exact composition.")
    return Way("exact", TITLES["exact"], region**k, "exact", "exact composition of the mechanism itself")


def _kind(given: Statements, tight: bool) -> str:
    return "exact" if given.attained and tight else "upper"


def _dptv(given: Statements) -> Way:
    if not given.tv_helps:
        return _none("dptv", no_tv(given))
    region = composed([(statement_region(step), count) for step, count in given.parts])
    return Way("dptv", TITLES["dptv"], region, _kind(given, tight=True), given.note)


def _kov(given: Statements) -> Way:
    region = composed([(DP(step.epsilon, step.delta), count) for step, count in given.parts])
    return Way("kov_optimal", TITLES["kov_optimal"], region, _kind(given, tight=not given.tv_helps), kov_note(given))


def _closed(given: Statements, slack: float) -> list[Way]:
    """Return the closed-form theorems, each one statement."""
    triples, note = given.triples, given.note
    found = [
        _statement("kov_simplified", kov_simplified(triples, slack), note),
        _statement("basic", basic(triples), note),
    ]
    if len({(epsilon, delta) for epsilon, delta, _ in triples}) > 1:
        why = "It is about equal mechanisms; these releases differ."
        return [*found, _none("advanced_drv", why), _none("advanced_course", why)]
    epsilon, delta, k = triples[0][0], triples[0][1], sum(count for *_, count in triples)
    found.append(_statement("advanced_drv", advanced_drv(epsilon, delta, k, slack), note))
    if delta > 0:
        return [*found, _none("advanced_course", f"It is about δ = 0 per mechanism, here δ = {outward(delta, 4)}.")]
    try:
        return [*found, _statement("advanced_course", advanced_course(epsilon, k, slack), note)]
    except DomainError as error:
        return [*found, _none("advanced_course", str(error))]


def _statement(name: str, rows: pd.DataFrame, taken: str) -> Way:
    epsilon, delta = float(rows["epsilon"].iloc[0]), float(rows["delta"].iloc[0])
    note = "; ".join(part for part in (str(rows["note"].iloc[0]), taken) if part)
    if not math.isfinite(epsilon):
        return _none(name, "Its ε is too large for a number.")
    return Way(name, TITLES[name], DP(epsilon, delta), "upper", note)


def _gdp(parts: Factors, delta: float) -> Way:
    name, mus = "gdp", [(mu, count) for node, count in parts if (mu := node.curve.gaussian_mu) is not None]
    if len(mus) == len(parts):
        mu = math.hypot(*(mu * math.sqrt(count) for mu, count in mus))
        return Way(name, TITLES[name], GDP(mu), "exact", f"μ = {outward(mu, 6)}")
    try:
        given = parted(parts, delta, gaussian=False)
    except DpcoreError as error:
        return _none(name, str(error))
    mu = math.hypot(*(step.bounding_mu * math.sqrt(count) for step, count in given.parts))
    lost = failure([(step.delta, count) for step, count in given.parts])
    if not math.isfinite(mu):
        return _none(name, "Its μ is too large for a number.")
    note = f"μ = {outward(mu, 6)}" + (f", failing with probability {outward(lost, 4)}" if lost else "")
    if len(given.parts) == 1:
        note += f"; one mechanism is inside gdp({outward(given.parts[0][0].bounding_mu, 4)})"
    return Way(name, TITLES[name], joined(mu, lost), "upper", "; ".join(filter(None, (note, given.note))))


def _clt(region: TradeOff, k: int) -> Way:
    if region.curve.gaussian_mu is not None:
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
    """Return Gaussian privacy together with a probability of infinite loss."""
    return GDP(mu) if lost == 0 else GDP(mu) * TV(lost) if mu > 0 else TV(lost)
