"""The page Claimed and true: its question, answered once, as specs of figures and as sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dpcore.app import inputs, work
from dpcore.central_limit.convergence import OPEN
from dpcore.charts.figure import rounded_up
from dpcore.core.domains import COUNT, LOSS, PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.kinds import FACTS, readable
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.mechanisms.base import Mechanism
from dpcore.training import ACCOUNTANTS, WRONG, Judgement, Report, judge, report, reports
from dpcore.training.reports import LARGEST_K, SILENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from dpcore.regions.tradeoff import TradeOff

LINEAR, LOGLOG = "linear", "log-log"
UNSAID = "not said"
NAMES = {one.title: one.name for one in ACCOUNTANTS}
DEFAULTS: dict[str, Any] = {
    "claimed_mechanism": "gaussian_classic(10, 1e-5)",
    "claimed_k": "1",
    "claimed_epsilon": "10",
    "claimed_delta": "1e-5",
    "claimed_by": "Classical Gaussian",
    "claimed_view": LINEAR,
}
USES = COUNT.but(high=LARGEST_K)
EPSILON = LOSS.but(high=1e4)
LONGEST = 2000
CLAIMED, TRUE = "the claim", "the truth"
HEIGHT = 380
KS = inputs.round_values(0, 6)
SLIDERS = ("claimed_epsilon_slider", "claimed_delta_slider", "claimed_k_slider")
APPROXIMATE = "approximate"


@dataclass(frozen=True, slots=True)
class ClaimQuery:
    """One use as an expression, the number of uses, the claim, and the accountant it comes from ('' if unknown).

    Without an epsilon the claim is what the accountant reports.
    """

    mechanism: str
    k: int
    epsilon: float | None
    delta: float
    by: str

    def moved(self, held: Mapping[str, str]) -> ClaimQuery:
        """Return the query with the value of a slider that is held in place of that of its field."""
        if "claimed_k_slider" in held:
            return replace(self, k=int(read_value(USES, held["claimed_k_slider"], "Uses k")))
        if "claimed_epsilon_slider" in held:
            return replace(self, epsilon=float(read_value(EPSILON, held["claimed_epsilon_slider"], "Claimed ε")))
        if "claimed_delta_slider" in held:
            return replace(self, delta=float(read_value(PROBABILITY, held["claimed_delta_slider"], "Claimed δ")))
        return self


# ---- computed once -------------------------------------------------------------------------------------------


def reported(query: ClaimQuery) -> Report | None:
    """Return what the accountant reports; None if none is named."""
    return result(report, query.by, query.mechanism, query.k, query.delta) if query.by else None


def epsilon(query: ClaimQuery) -> float:
    """Return the claimed epsilon: as typed, or as the accountant reports it."""
    if query.epsilon is not None:
        return query.epsilon
    row = reported(query)
    if row is None:
        msg = "Type the claimed ε, or choose an accountant that reports one."
        raise DomainError(msg)
    if not row.epsilon <= EPSILON.high:
        why = row.note if row.kind == "none" else f"{nearest(row.epsilon, 4)} is above {nearest(EPSILON.high)}."
        msg = f"{row.title} reports no ε that can be checked: {why}"
        raise DomainError(msg)
    return row.epsilon


def judgement_of(query: ClaimQuery) -> Judgement:
    """Return the verdict."""
    return result(judge, query.mechanism, query.k, epsilon(query), query.delta)


def report_rows(query: ClaimQuery) -> pd.DataFrame:
    """Return what every accountant reports."""
    return result(reports, query.mechanism, query.k, query.delta)


def advice(query: ClaimQuery) -> list[str]:
    """Return how much noise the claim needs, and the attack that it excludes if it is wrong."""
    return result(_advice, query)


def _advice(query: ClaimQuery) -> list[str]:
    judgement = judgement_of(query)
    noise, attack = judgement.least_noise, judgement.refutation
    return [noise if isinstance(noise, str) else noise.words(), *([] if attack is None else [attack.words()])]


# ---- figures -------------------------------------------------------------------------------------------------


def claim_spec(query: ClaimQuery) -> dict[str, Any]:
    """Return the spec of the claim beside the true profile."""
    shared = {"mechanism": query.mechanism, "k": query.k, "delta": query.delta}
    return {"draw": "claim", **shared, "epsilon": epsilon(query)}


def region_spec(query: ClaimQuery, view: str) -> dict[str, Any]:
    """Return the spec of the region of the claim beside the true one."""
    judgement = judgement_of(query)
    return {
        "draw": "regions",
        "regions": [str(judgement.claimed), str(judgement.total)],
        "labels": [CLAIMED, TRUE],
        "log": view == LOGLOG,
        "fill": view != LOGLOG,
    }


def accountants_spec(query: ClaimQuery) -> dict[str, Any]:
    """Return the spec of every accountant's epsilon beside the truth."""
    shared = {"mechanism": query.mechanism, "k": query.k, "delta": query.delta}
    return {"draw": "accountants", **shared, "claimed": epsilon(query)}


# ---- words ---------------------------------------------------------------------------------------------------


def verdict(query: ClaimQuery) -> tuple[bool, str]:
    """Return whether the claim is wrong, and the verdict in one sentence."""
    judgement = judgement_of(query)
    return judgement.verdict == WRONG, judgement.answer()


def source_words(query: ClaimQuery) -> str:
    """Say what the accountant reports and what its number rests on."""
    row = reported(query)
    if row is None:
        return ""
    about = next(one for one in ACCOUNTANTS if one.name == row.name)
    if row.kind == "none":
        return f"{row.title} does not apply here. {row.note}"
    kind = {"exact": "exact", "upper": "an upper bound", APPROXIMATE: "an approximation, no promise"}[row.kind]
    note = f"; {row.note}" if row.note else ""
    return f"{row.title} reports an ε of {_epsilon_text(row.epsilon, row.kind, 6)} ({kind}{note}). {about.meaning} {about.reference}."


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reports for reading."""
    sides = frame["verdict"].replace({OPEN: "the truth", SILENT: "–"})
    rows = frame[["title", "verdict", "note", *FACTS]].assign(verdict=sides)
    rows.insert(1, "epsilon", [_epsilon_text(*pair, 5) for pair in zip(frame["epsilon"], frame["kind"], strict=True)])
    return readable(rows).rename(columns={"title": "Accountant", "epsilon": "ε", "verdict": "It is", "note": "Note"})


def _epsilon_text(value: float, kind: str, digits: int) -> str:
    if kind == "none":
        return "–"
    return rounded_up(value, kind, digits)


def noise_link(one: TradeOff) -> str:
    """Return the address of a mechanism on the page Mechanisms, '' for anything but a single mechanism."""
    return f"Mechanisms?expression={quote(str(one))}" if isinstance(one, Mechanism) else ""


def region(query: ClaimQuery) -> tuple[TradeOff, tuple[str, ...]]:
    """Return one use and what the library warned about while reading it."""
    return work.region(query.mechanism)
