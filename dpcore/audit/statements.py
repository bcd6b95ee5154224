"""What an audit says in words: whether it contradicts a claim, and the smallest statements it does not contradict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.audit.bounds import Audit, epsilons, etas, mus, power_of
from dpcore.audit.measurements import Counts
from dpcore.core.kinds import FACTS, labelled
from dpcore.core.notices import collected
from dpcore.core.numerals import nearest
from dpcore.regions.guarantees import DP, DPTV, GDP, TV
from dpcore.theorems.conversion.claims import NotionStatement
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

DELTAS = (0.0, 1e-5, 1e-3)
RATES = (0.01, 0.1)
COLUMNS = ("measure", "at", "value", "region", "verdict", "words", *FACTS)
KINDS = {"lower": "lower", "approximate": "estimate", "upper": "upper"}  # kind -> column of `bounds_table`
METHOD, NEIGHBOURS = "Clopper-Pearson limits of a measurement", "as measured"
_SLACK = 1e-9  # a claim must be missed by more than rounding
_DIGITS = 4


@dataclass(frozen=True)
class Verdict:
    """What a measurement says about a claim.

    Attributes
    ----------
    claim : TradeOff
        The region claimed.
    contradicted : bool
        Whether, with the audit's confidence, no mechanism that satisfies the claim produced this.
    alpha, power : float
        The most telling test: it accuses at most this share of outsiders and finds at least this share of members.
    allowed : float
        The largest share that the claim allows a test with these false positives to find.
    words : str
        The same in a sentence.
    """

    claim: TradeOff
    contradicted: bool
    alpha: float
    power: float
    allowed: float
    words: str


def percent(confidence: float) -> str:
    """Return a confidence in percent: ``95 %``."""
    return f"{nearest(100 * confidence)} %"


def verdict(audit: Audit, claim: TradeOff) -> Verdict:
    """Say whether a measurement contradicts a claim.

    A claim with curve f is contradicted if f(a) > b at a corner (a, b) of the proved curve; f is convex, so the corners
    are enough. The certified lower side of f is used, with a margin for rounding.

    Parameters
    ----------
    audit : Audit
        What was measured.
    claim : TradeOff
        The region that is claimed.

    Returns
    -------
    Verdict
        Whether it is contradicted, and by which test.
    """
    alpha, beta = audit.proved
    allowed = np.asarray(claim.power(alpha), dtype=np.float64)
    excess = (1.0 - beta) - allowed
    worst = int(np.argmax(excess))
    against = bool(excess[worst] > _SLACK)
    rates = (float(alpha[worst]), float(1.0 - beta[worst]), float(allowed[worst]))
    return Verdict(claim, against, *rates, _verdict_words(audit, claim, against, *rates))


def _verdict_words(audit: Audit, claim: TradeOff, against: bool, alpha: float, power: float, allowed: float) -> str:
    sure = percent(audit.confidence)
    if not against:
        return (
            f"The claim {claim} is not contradicted: at {sure} confidence it allows everything that was measured. That is "
            "no proof that it holds: another attack or more trials may show more."
        )
    digits = _DIGITS
    while digits < 12 and float(outward(power, digits, up=False)) <= float(outward(allowed, digits)):  # to 12
        digits += 1
    return (
        f"The claim {claim} is contradicted with {sure} confidence: a test that accuses at most a share of "
        f"{outward(alpha, digits)} of the outsiders finds at least {outward(power, digits, up=False)} of the members (lower bound), "
        f"where the claim allows at most {outward(allowed, digits)}."
    )


def sentence(audit: Audit, delta: float) -> str:
    """Say the lower bounds: no mechanism that is more private produced this measurement.

    Parameters
    ----------
    audit : Audit
        What was measured.
    delta : float
        Where epsilon is stated, in [0, 1].

    Returns
    -------
    str
        One sentence.
    """
    epsilon, sure = audit.epsilon(delta), percent(audit.confidence)
    if audit.eta == 0.0:
        return (
            f"At {sure} confidence the measurement shows no privacy loss: answers that reveal nothing about anybody could "
            "have produced it."
        )
    parts = [
        f"μ below {outward(audit.mu, _DIGITS, up=False)}",
        f"an advantage below {outward(audit.eta, _DIGITS, up=False)}",
    ]
    first = f"ε below {outward(epsilon, _DIGITS, up=False)} at δ = {nearest(delta)}"
    if epsilon == 0.0:
        return f"With {sure} confidence no mechanism with {' or with '.join(parts)} produced this (lower bounds, rounded down); at δ = {nearest(delta)} no ε is ruled out."
    return f"With {sure} confidence no mechanism with {first} produced this, nor one with {' or with '.join(parts)} (lower bounds, rounded down)."


def ceiling_sentence(audit: Audit, delta: float) -> str:
    """Say the most that this number of trials could prove."""
    out, own = audit.measurement.trials
    most = outward(audit.ceiling(delta), _DIGITS)
    return (
        f"With {grouped(out)} outsiders and {grouped(own)} members even an attack without any error would not prove more "
        f"than ε = {most} (rounded up) at δ = {nearest(delta)}."
    )


def epsilon_if_gaussian(audit: Audit, delta: float) -> float:
    """Return epsilon at delta of the Gaussian curve with the proved mu: a lower bound if the noise is Gaussian."""
    return float(GDP(audit.mu).epsilon_bounds(np.array([delta]))[0][0])


def consistent(audit: Audit, delta: float) -> list[NotionStatement]:
    """Return the smallest (epsilon, delta), DP-TV and Gaussian statements that the measurement does not contradict.

    They are lower bounds: what holds for the mechanism is no smaller, but need not be one of them.

    Parameters
    ----------
    audit : Audit
        What was measured.
    delta : float
        Where epsilon is stated, in [0, 1].

    Returns
    -------
    list of NotionStatement
        One for each notion, in this order.
    """
    epsilon, eta, mu = _up(audit.epsilon(delta)), _up(audit.eta), _up(audit.mu)
    kind = "lower bound"
    numbers = [outward(x, 5, up=False) for x in (audit.epsilon(delta), audit.eta, audit.mu)]
    return [
        NotionStatement(
            "(ε, δ)-DP", DP(epsilon, delta), kind, f"ε = {numbers[0]} (rounded down) at δ = {nearest(delta)}."
        ),
        NotionStatement(
            "DP-TV",
            _dptv(epsilon, delta, min(1.0, eta)),
            kind,
            f"ε = {numbers[0]} at δ = {nearest(delta)}, η = {numbers[1]} (rounded down).",
        ),
        NotionStatement("μ-GDP", GDP(mu), kind, f"μ = {numbers[2]} (rounded down)."),
    ]


def _up(value: float) -> float:
    """Return a little more, so that rounding does not contradict the smallest statement itself."""
    return value * (1.0 + 1e-9) if value else 0.0


def _dptv(epsilon: float, delta: float, eta: float) -> TradeOff:
    if epsilon == 0.0 or eta <= delta:
        return TV(min(delta, eta) if epsilon == 0.0 else eta)
    with collected():  # an eta that changes nothing is left out
        return DPTV(epsilon, delta, eta)


# ---- the table -----------------------------------------------------------------------------------------------


def bounds_table(audit: Audit, deltas: Sequence[float] = DELTAS, rates: Sequence[float] = RATES) -> pd.DataFrame:
    """Tabulate what is proved, what was measured, and the most that the attack itself can reach.

    Parameters
    ----------
    audit : Audit
        What was measured.
    deltas : sequence of float, default DELTAS
        Where epsilon is stated.
    rates : sequence of float, default RATES
        False-positive rates where the true-positive rate is stated.

    Returns
    -------
    DataFrame
        `measure, at, lower, estimate, upper, kind, theorem, neighbours`: `lower` bounds the mechanism from below with
        the audit's confidence and comes from the most telling test. `estimate` is the measured value of that test
        (approximate), `upper` its largest value with the same confidence; another test or attack may do better. `at` is
        the delta or false-positive rate, None if there is none; `kind` is that of `lower`.
    """
    rows: list[tuple[str, float | None, float, float, float]] = [
        ("epsilon", float(delta), *_at_the_best(audit, partial(epsilons, delta=delta))) for delta in deltas
    ]
    rows.append(("mu", None, *_at_the_best(audit, mus)))
    rows.append(("advantage", None, *_at_the_best(audit, etas)))
    for rate in rates:
        low, middle, high = (power_of(curve, rate) for curve in (audit.proved, audit.measured, audit.optimistic))
        rows.append(("true_positive_rate", float(rate), low, middle, high))
    frame = pd.DataFrame(rows, columns=["measure", "at", "lower", "estimate", "upper"])
    frame["at"] = np.array([row[1] for row in rows], dtype=object)
    return labelled(frame, kind="lower", theorem=METHOD, neighbours=NEIGHBOURS)


def _at_the_best(audit: Audit, value: Callable[[Bounds], FloatArray]) -> tuple[float, float, float]:
    """Return lower bound, measured value and upper bound of a number, at the test with the largest lower bound."""
    lower = value(audit.limits)
    best = int(np.argmax(lower))
    return float(lower[best]), float(value(audit.measurement.rates())[best]), float(value(audit.attack)[best])


def report(audit: Audit, claims: Sequence[TradeOff] = (), deltas: Sequence[float] = DELTAS) -> pd.DataFrame:
    """Tabulate everything an audit says, one number per row.

    Parameters
    ----------
    audit : Audit
        What was measured.
    claims : sequence of TradeOff, default ()
        Regions that are claimed.
    deltas : sequence of float, default DELTAS
        Where epsilon is stated.

    Returns
    -------
    DataFrame
        `measure, at, value, region, verdict, words, kind, theorem, neighbours`. Rows of kind ``lower`` are certified with
        the audit's confidence, ``approximate`` rows are measured values, ``upper`` rows are about one test of this attack
        only. Rows of measure ``consistent`` name the smallest statements. Rows of measure ``claim`` say in `verdict`
        whether a claim is contradicted; their value is the least share that the most telling test finds, at its
        false-positive rate.
    """
    rows: list[tuple[str, float | None, float, str, str, str, str]] = []  # kind last
    bounds = bounds_table(audit, deltas)
    for index, (measure, at) in enumerate(zip(bounds["measure"], bounds["at"], strict=True)):
        for kind, column in KINDS.items():
            value = float(bounds[column].iloc[index])
            rows.append((measure, at, value, "", "", _row_words(measure, at, value, kind, audit), kind))
    for delta in deltas:
        if 0.0 < delta < 1.0:
            gaussian = epsilon_if_gaussian(audit, delta)
            words = f"If the noise is known to be Gaussian, its ε at δ = {nearest(delta)} is at least {outward(gaussian, 5, up=False)}."
            rows.append(("epsilon_if_gaussian", float(delta), gaussian, "", "", words, "lower"))
        rows.append(("ceiling", float(delta), audit.ceiling(delta), "", "", ceiling_sentence(audit, delta), "upper"))
        for statement in consistent(audit, delta)[: 3 if delta == deltas[0] else 2]:
            value = audit.mu if statement.notion == "μ-GDP" else audit.epsilon(delta)
            at = None if statement.notion == "μ-GDP" else float(delta)
            rows.append(
                ("consistent", at, value, str(statement.region), "", f"{statement.notion}: {statement.words}", "lower")
            )
    for claim in claims:
        judgement = verdict(audit, claim)
        word = "contradicted" if judgement.contradicted else "not contradicted"
        rows.append(("claim", judgement.alpha, judgement.power, str(claim), word, judgement.words, "lower"))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-2]))
    frame["at"] = np.array([row[1] for row in rows], dtype=object)
    return labelled(frame, theorem=METHOD, neighbours=NEIGHBOURS)


TESTED = ("epsilon", "mu", "advantage")  # bounded at one test
_NAMES = {
    "epsilon": "ε",
    "mu": "μ of Gaussian privacy",
    "advantage": "advantage over blind guessing",
    "true_positive_rate": "share of members found",
}


def _row_words(measure: str, at: float | None, value: float, kind: str, audit: Audit) -> str:
    place = "δ =" if measure == "epsilon" else "false positives of"
    where = "" if at is None else f" at {place} {nearest(at)}"
    name, sure = f"{_NAMES[measure]}{where}", percent(audit.confidence)
    if kind == "lower":
        return f"The mechanism's {name} is at least {outward(value, 5, up=False)} ({sure} confidence)."
    if kind == "approximate":
        return f"Measured: {name} of about {nearest(value, 4)}."
    whose = "The most telling test's" if measure in TESTED else "This attack's"
    return f"{whose} own {name} is at most {outward(value, 5)} ({sure} confidence); another attack may do better."


def about(audit: Audit) -> str:
    """Say what was measured, and why the limits hold."""
    out, own = audit.measurement.trials
    if isinstance(audit.measurement, Counts):
        tests = audit.measurement.tp.size
        several = "1 test" if tests == 1 else f"{grouped(tests)} tests, which share the risk"
        return f"{several}; at most {grouped(out)} outsiders and {grouped(own)} members each. Limits of Clopper and Pearson."
    return (
        f"Scores of {grouped(out)} outsiders and {grouped(own)} members. Limits of Clopper and Pearson at one level for which "
        "all thresholds hold at once, so the threshold may be chosen after looking."
    )
