"""An audit for its page: the state in the link, the spec of the figure, sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.app import audit_data, work
from dpcore.audit import (
    Audit,
    Counts,
    OneRun,
    OneRunAudit,
    Scores,
    bounds_table,
    consistent,
    one_run_report,
    one_run_sentence,
    report,
    verdict,
)
from dpcore.audit.simulate import attack_on
from dpcore.audit.statements import about, ceiling_sentence, epsilon_if_gaussian
from dpcore.core.errors import DomainError
from dpcore.core.kinds import HEADINGS
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.specs import Spec, intermediate
from dpcore.words import best_advantage, outward

if TYPE_CHECKING:
    from dpcore.app.audit_data import AuditSource
    from dpcore.audit.measurements import Measurement
    from dpcore.audit.statements import Verdict
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.conversion.claims import NotionStatement

LINEAR, LOGLOG = "linear", "log-log"
LONGEST = 2000
MOST_OTHERS = 4
# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "audit_data": audit_data.SIMULATED,
    "audit_mechanism": "laplace(2)",
    "audit_trials": "1000",
    "audit_seed": "1",
    "audit_claim": "dp(1)",
    "audit_confidence": "0.95",
    "audit_delta": "1e-5",
    "audit_others": "",
    "audit_smallest": False,
    "audit_view": LINEAR,
    "audit_canaries": "1000",
    "audit_guesses": "100",
    "audit_correct": "90",
}
_LABELS = {
    "epsilon": "ε at δ = {}",
    "mu": "μ of Gaussian privacy",
    "advantage": "advantage over blind guessing",
    "true_positive_rate": "members found at α = {}",
}


@dataclass(frozen=True)
class AuditView:
    """Where the measurement comes from, what is claimed, and how it is viewed."""

    source: AuditSource
    claim: str
    others: tuple[str, ...]
    confidence: float
    delta: float
    smallest: bool = False
    log: bool = False

    @property
    def spec(self) -> Spec:
        """The spec of the figure."""
        table = {
            "draw": "audit",
            **self.source.fields,
            **({"claim": self.claim} if self.claim else {}),
            **({"others": list(self.others)} if self.others else {}),
            "confidence": self.confidence,
            "delta": self.delta,
            "smallest": self.smallest,
            "log": self.log,
        }
        return Spec(table, files=self.source.files)

    @property
    def deltas(self) -> list[float]:
        """Where ε is tabulated."""
        return sorted({0.0, self.delta, 1e-3})


def regions(text: str) -> tuple[str, ...]:
    """Return the expressions of a list joined by semicolons; raise if something is wrong with it."""
    if len(text) > LONGEST:
        msg = f"The list of regions may have at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    parts = tuple(part.strip() for part in text.split(";") if part.strip())
    if len(parts) > MOST_OTHERS:
        msg = f"At most {MOST_OTHERS} more regions are drawn, got {len(parts)}."
        raise DomainError(msg)
    for part in parts:
        work.region(part)
    return parts


# ---- results: inside `work.progress` with the store of the source ---------------------------------------------


def findings(view: AuditView) -> Audit:
    """Return the audit, made by the calls of the figure's own recipe."""
    audit: Audit = intermediate(view.spec, "audit")
    return audit


def judgement(view: AuditView) -> Verdict | None:
    """Return what is proved about the claim; None if there is no claim."""
    return result(verdict, findings(view), work.region(view.claim)[0]) if view.claim else None


def statements(view: AuditView) -> tuple[NotionStatement, ...]:
    """Return the smallest statements that are not contradicted."""
    return tuple(result(consistent, findings(view), view.delta))


def bounds(view: AuditView) -> pd.DataFrame:
    """Return what is proved, what was measured, and the most that the attack can reach."""
    return result(bounds_table, findings(view), view.deltas)


def everything(view: AuditView) -> pd.DataFrame:
    """Return all numbers in one table."""
    claims = [work.region(view.claim)[0]] if view.claim else []
    return result(report, findings(view), claims, view.deltas)


def words(view: AuditView) -> tuple[str, ...]:
    """Say how it was measured, what could be proved at most, and, for a simulation, the truth."""
    audit = findings(view)
    sentences = [about(audit), ceiling_sentence(audit, view.delta)]
    truth = view.source.truth
    if 0.0 < view.delta < 1.0 and audit.mu > 0 and (truth is None or truth.curve.gaussian_mu is not None):
        gaussian = outward(epsilon_if_gaussian(audit, view.delta), 4, up=False)
        sentences.append(
            f"If the noise is known to be Gaussian, the bound on μ says more: ε is at least {gaussian} at δ = {nearest(view.delta)} "
            "(lower bound, rounded down)."
        )
    if truth is not None:
        sentences += [attack_on(truth).words, _truth_words(truth, view.delta)]
    return tuple(sentences)


def _truth_words(truth: TradeOff, delta: float) -> str:
    epsilon = float(truth.epsilon(delta))
    shown = "no finite ε" if np.isinf(epsilon) else f"ε = {outward(epsilon, 5)}"
    advantage, what = best_advantage(truth)
    return (
        f"The data are simulated, so the truth is known: {truth} has {shown} at δ = {nearest(delta)} and an advantage of "
        f"{outward(advantage, 4)} ({what}, rounded up)."
    )


def shown_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the table of bounds as the page shows it: each column says what kind its numbers are."""
    labels = [
        _LABELS[m].format("" if pd.isna(at) else nearest(at))
        for m, at in zip(bounds["measure"], bounds["at"], strict=True)
    ]
    return pd.DataFrame(
        {
            "measure": labels,
            "lower bound": [outward(v, 5, up=False) for v in bounds["lower"]],
            "measured": [nearest(v, 4) for v in bounds["estimate"]],
            "upper bound": [outward(v, 5) for v in bounds["upper"]],
            HEADINGS["kind"]: "as its column says",
            **bounds[["theorem", "neighbours"]].rename(columns=HEADINGS),
        }
    )


# ---- one run -------------------------------------------------------------------------------------------------


def _one_run(numbers: tuple[int, int, int], confidence: float, delta: float, claim: str) -> tuple[str, pd.DataFrame]:
    audit_of_run = OneRunAudit(OneRun(*numbers), confidence)
    claims = [work.region(claim)[0]] if claim else []
    return one_run_sentence(audit_of_run, delta), one_run_report(audit_of_run, claims, (delta,))


def one_run(view: AuditView, numbers: tuple[int, int, int]) -> tuple[str, pd.DataFrame]:
    """Return what one run with these canaries, guesses and correct guesses proves: a sentence and all numbers."""
    return result(_one_run, numbers, view.confidence, view.delta, view.claim)


def measurement_csv(measured: Measurement) -> bytes:
    """Return a measurement as a file that the page and the command line can read."""
    if isinstance(measured, Counts):
        columns = {name: getattr(measured, name) for name in ("tp", "fp", "tn", "fn")}
        return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()
    return scores_csv(measured)


def scores_csv(measured: Scores) -> bytes:
    """Return scores with their labels, outsiders first."""
    scores = np.concatenate((measured.outsiders, measured.members))
    labels = np.repeat((0, 1), measured.trials)
    return pd.DataFrame({"score": scores, "label": labels}).to_csv(index=False, lineterminator="\n").encode()
