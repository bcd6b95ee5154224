"""An audit as its page shows it: the state in the link, figure, words and tables, and the Python that makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpcore.app import audit_data, work
from dpcore.audit import Audit, Counts, Scores, audit, bounds_table, consistent, report, verdict
from dpcore.audit.statements import about, ceiling_sentence, epsilon_if_gaussian
from dpcore.charts import Figure, Look
from dpcore.charts.audit import audit_figure
from dpcore.core.errors import DomainError
from dpcore.core.kinds import HEADINGS
from dpcore.core.numerals import nearest
from dpcore.words import best_advantage, outward

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpcore.app.audit_data import AuditSource
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
}
_LABELS = {
    "epsilon": "ε at δ = {}",
    "mu": "μ of Gaussian privacy",
    "advantage": "advantage over blind guessing",
    "true_positive_rate": "members found at α = {}",
}


@dataclass(frozen=True)
class AuditView:
    """Where the measurement is from, what is claimed, and how it is looked at."""

    source: AuditSource
    claim: TradeOff | None
    others: tuple[TradeOff, ...]
    confidence: float
    delta: float
    smallest: bool = False
    log: bool = False

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What the results depend on, without the measurement's own content."""
        regions = (str(self.claim), *map(str, self.others))
        return (self.source.key, regions, self.confidence, self.delta, self.smallest, self.log)


class Result(NamedTuple):
    """Everything that is shown of one view."""

    figure: Figure
    bounds: pd.DataFrame
    report: pd.DataFrame
    judged: Verdict | None
    statements: tuple[NotionStatement, ...]
    proved: str
    words: tuple[str, ...]


def regions(text: str) -> tuple[TradeOff, ...]:
    """Return the regions of a list joined by semicolons, or say what is wrong with it."""
    if len(text) > LONGEST:
        msg = f"Regions are written in at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if len(parts) > MOST_OTHERS:
        msg = f"At most {MOST_OTHERS} more regions are drawn, got {len(parts)}."
        raise DomainError(msg)
    return tuple(work.region(part)[0] for part in parts)


def result(view: AuditView, *, dark: bool) -> Result:
    """Return what is shown, from the cache of the source: the shared one, or the visitor's own for an upload."""
    return view.source.cache.get(("audit", *view.key, dark), lambda: _made(view, dark=dark))


def _made(view: AuditView, *, dark: bool) -> Result:
    found = audit(view.source.make(), view.confidence)
    statements = tuple(consistent(found, view.delta))
    others = {str(region): region for region in view.others}
    if view.smallest:
        others |= {f"smallest {s.notion}": s.region for s in statements[1:] if s.region is not None}
    look = Look(dark=dark)
    figure = audit_figure(found, view.claim, others, delta=view.delta, log=view.log, look=look)
    deltas = sorted({0.0, view.delta, 1e-3})
    judged = None if view.claim is None else verdict(found, view.claim)
    return Result(
        figure,
        bounds_table(found, deltas),
        report(found, [] if view.claim is None else [view.claim], deltas),
        judged,
        statements,
        str(found.region),
        _words(view, found),
    )


def _words(view: AuditView, found: Audit) -> tuple[str, ...]:
    """Say how it was measured, what could be proved at most, and, of a simulation, the truth."""
    sentences = [about(found), ceiling_sentence(found, view.delta)]
    truth = view.source.truth
    if 0.0 < view.delta < 1.0 and found.mu > 0 and (truth is None or truth.curve.gaussian_mu is not None):
        gaussian = outward(epsilon_if_gaussian(found, view.delta), 4, up=False)
        sentences.append(
            f"If the noise is known to be Gaussian, the bound on μ says more: ε is at least {gaussian} at δ = {nearest(view.delta)} "
            "(lower bound, rounded down)."
        )
    if truth is not None:
        sentences.append(_truth_words(truth, view.delta))
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
    """Return the table of bounds as the page shows it: every column says what its numbers are."""
    labels = [_LABELS[m].format(nearest(at)) for m, at in zip(bounds["measure"], bounds["at"], strict=True)]
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


def measured_csv(source: AuditSource) -> bytes:
    """Return the measurement as a file that the page and the command line read."""
    measured = source.make()
    if isinstance(measured, Counts):
        columns = {name: getattr(measured, name) for name in ("tp", "fp", "tn", "fn")}
        return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()
    return scores_csv(measured)


def scores_csv(measured: Scores) -> bytes:
    """Return scores with their labels, outsiders first."""
    scores = np.concatenate((measured.outsiders, measured.members))
    labels = np.repeat((0, 1), measured.trials)
    return pd.DataFrame({"score": scores, "label": labels}).to_csv(index=False, lineterminator="\n").encode()


def code(view: AuditView) -> str:
    """Return the Python lines that draw the figure."""
    claim = [f"claim = {'None' if view.claim is None else f'parse({str(view.claim)!r})'}"]
    others = ", ".join(f"{str(region)!r}: parse({str(region)!r})" for region in view.others)
    smallest = ['others |= {f"smallest {s.notion}": s.region for s in consistent(found, delta)[1:]}'] * view.smallest
    names = ["audit", *(["consistent"] if view.smallest else []), "sentence", "verdict"]
    judged = ["print(verdict(found, claim).words)"] if view.claim is not None else []
    return "\n".join(
        [
            "from dpcore import parse",
            f"from dpcore.audit import {', '.join(names)}",
            "from dpcore.charts import save",
            "from dpcore.charts.audit import audit_figure",
            *view.source.imports,
            "",
            *view.source.code,
            f"found, delta = audit(measured, confidence={view.confidence!r}), {view.delta!r}",
            *claim,
            f"others = {{{others}}}",
            *smallest,
            "print(sentence(found, delta))",
            *judged,
            f"figure = audit_figure(found, claim, others, delta=delta, log={view.log!r})",
            'save(figure, "audit.svg")',
        ]
    )
