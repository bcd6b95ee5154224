"""What one training run proves, as sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.audit.statements import COLUMNS, DELTAS, percent
from dpcore.core.kinds import labelled
from dpcore.core.numerals import nearest
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.audit.one_run import OneRunAudit
    from dpcore.regions.tradeoff import TradeOff

BINOMIAL, REGION = "Steinke, Nasr, Jagielski 2023", "Mahloujifar, Melis, Chaudhuri 2024"
NEIGHBOURS = "add/remove"

Row = tuple[str, float | None, float, str, str, str, str, str]


def one_run_report(
    audit: OneRunAudit, claims: Sequence[TradeOff] = (), deltas: Sequence[float] = DELTAS
) -> pd.DataFrame:
    """Tabulate what one run proves, one number per row.

    Parameters
    ----------
    audit : OneRunAudit
        The guesses and the confidence.
    claims : sequence of TradeOff, default ()
        Regions that are claimed.
    deltas : sequence of float, default DELTAS
        Where epsilon is stated.

    Returns
    -------
    DataFrame
        `measure, at, value, region, verdict, words, kind, theorem, neighbours`: per delta the lower bound of epsilon by either form and
        the largest epsilon that this many guesses could prove; the lower bound of mu; per claim its p-value.
    """
    sure = percent(audit.confidence)
    rows: list[Row] = []
    for delta in deltas:
        at = float(delta)
        for value, theorem in ((audit.epsilon_binomial(at), BINOMIAL), (audit.epsilon_region(at), REGION)):
            words = f"ε at δ = {nearest(at)} is at least {outward(value, 5, up=False)} ({sure} confidence; {theorem})."
            rows.append(("epsilon", at, value, "", "", words, "lower", theorem))
        most = audit.ceiling(at)
        words = f"Even if all are right, this many guesses cannot prove more than ε = {outward(most, 5)}."
        rows.append(("ceiling", at, most, "", "", words, "upper", f"{BINOMIAL}; {REGION}"))
    words = f"μ of Gaussian privacy is at least {outward(audit.mu, 5, up=False)} ({sure} confidence)."
    rows.append(("mu", None, audit.mu, "", "", words, "lower", REGION))
    for claim in claims:
        value = audit.chance_of(claim)
        word = "contradicted" if value <= audit.risk else "not contradicted"
        rows.append(
            (
                "p-value",
                None,
                value,
                str(claim),
                word,
                claim_words(audit, claim, value),
                "upper",
                f"{BINOMIAL}; {REGION}",
            )
        )
    frame = pd.DataFrame(rows, columns=[*COLUMNS[:-2], "theorem"])
    frame["at"] = np.array([row[1] for row in rows], dtype=object)
    return labelled(frame, neighbours=NEIGHBOURS)


def claim_words(audit: OneRunAudit, claim: TradeOff, chance: float) -> str:
    """Say whether one run contradicts a claim.

    Parameters
    ----------
    audit : OneRunAudit
        The guesses and the confidence.
    claim : TradeOff
        The region that is claimed.
    chance : float
        Its p-value, `audit.chance_of(claim)`.

    Returns
    -------
    str
        A sentence or two.
    """
    run = audit.run
    right = f"{grouped(run.correct)} of {grouped(run.guesses)} right guesses"
    if chance > audit.risk:
        return (
            f"The claim {claim} is not contradicted: it allows {right} with a probability of up to {outward(min(chance, 1.0), 3)}. That is "
            "no proof that it holds."
        )
    return (
        f"The claim {claim} is contradicted with {percent(audit.confidence)} confidence: under it, {right} or more have a probability of at "
        f"most {outward(chance, 3)}."
    )


def one_run_sentence(audit: OneRunAudit, delta: float = 1e-5) -> str:
    """Say in a sentence what one run proves.

    Parameters
    ----------
    audit : OneRunAudit
        The guesses and the confidence.
    delta : float, default 1e-5
        Where epsilon is stated.

    Returns
    -------
    str
        One sentence.
    """
    run = audit.run
    value = audit.epsilon(delta)
    if value == 0.0:
        return f"{grouped(run.correct)} of {grouped(run.guesses)} guesses are right: at {percent(audit.confidence)} confidence that shows no privacy loss."
    return (
        f"{grouped(run.correct)} of {grouped(run.guesses)} guesses are right: with {percent(audit.confidence)} confidence, ε at δ = "
        f"{nearest(delta)} is at least {outward(value, 4, up=False)}, and μ at least {outward(audit.mu, 4, up=False)}."
    )
