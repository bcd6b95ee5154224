"""The page of claims: what is claimed, judged once, as figures, words and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dpcore.app import work
from dpcore.central_limit.convergence import OPEN
from dpcore.charts import Look, region_figure
from dpcore.charts.claims import accountants_figure, claim_figure
from dpcore.core.errors import DomainError
from dpcore.core.kinds import FACTS, readable
from dpcore.core.numerals import nearest
from dpcore.mechanisms.base import Mechanism
from dpcore.training import ACCOUNTANTS, WRONG, Judgement, Report, judge, report, reports
from dpcore.training.reports import SILENT
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.charts.figure import Figure
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
LARGEST_K = 10**6
LARGEST_EPSILON = 1e4
LONGEST = 2000
CLAIMED, TRUE = "the claim", "the truth"


@dataclass(frozen=True, slots=True)
class ClaimQuery:
    """One use as an expression, how often it is used, the claim, and who arrived at it ('' if that is not said).

    Without an epsilon the claim is what the accountant reports.
    """

    mechanism: str
    k: int
    epsilon: float | None
    delta: float
    by: str


# ---- computed once -------------------------------------------------------------------------------------------


def region(query: ClaimQuery) -> tuple[TradeOff, tuple[str, ...]]:
    """Return one use and what the library warned about while reading it."""
    return work.region(query.mechanism)


def reported(query: ClaimQuery) -> Report | None:
    """Return what the accountant reports; None if nobody is named."""
    if not query.by:
        return None
    one = region(query)[0]
    key = ("report", query.by, str(one), query.k, query.delta)
    return work.cache().get(key, lambda: report(query.by, one, query.k, query.delta))


def epsilon(query: ClaimQuery) -> float:
    """Return the claimed epsilon: as typed, or as the accountant reports it."""
    if query.epsilon is not None:
        return query.epsilon
    judgement = reported(query)
    if judgement is None:
        msg = "Type the claimed ε, or choose the accountant who reports one."
        raise DomainError(msg)
    if not judgement.epsilon <= LARGEST_EPSILON:
        why = (
            judgement.note
            if judgement.kind == "none"
            else f"{nearest(judgement.epsilon, 4)} is above {nearest(LARGEST_EPSILON)}."
        )
        msg = f"{judgement.title} reports no ε that could be checked: {why}"
        raise DomainError(msg)
    return judgement.epsilon


def judged(query: ClaimQuery) -> Judgement:
    """Return the verdict."""
    one, claim = region(query)[0], epsilon(query)
    key = ("judge", str(one), query.k, claim, query.delta)
    return work.cache().get(key, lambda: judge(one, query.k, claim, query.delta))


def everybody(query: ClaimQuery) -> pd.DataFrame:
    """Return what every accountant reports."""
    one = region(query)[0]
    return work.cache().get(("reports", str(one), query.k, query.delta), lambda: reports(one, query.k, query.delta))


# ---- pictures ------------------------------------------------------------------------------------------------


def _key(query: ClaimQuery) -> tuple[Any, ...]:
    return (str(region(query)[0]), query.k, epsilon(query), query.delta)


def claim_picture(query: ClaimQuery, *, dark: bool) -> Figure:
    """Return the claim on the true profile."""
    judgement = judged(query)
    return work.cache().get(("claim", *_key(query), dark), lambda: claim_figure(judgement, look=Look(dark=dark)))


def region_picture(query: ClaimQuery, view: str, *, dark: bool) -> Figure:
    """Return the region of the claim beside the true one."""
    judgement = judged(query)
    regions = {CLAIMED: judgement.claimed, TRUE: judgement.total}
    log = view == LOGLOG
    key = ("claimed regions", *_key(query), log, dark)
    return work.cache().get(key, lambda: region_figure(regions, log=log, filled=not log, look=Look(dark=dark)))


def drawable(query: ClaimQuery) -> bool:
    """Whether any accountant reports a finite epsilon."""
    return bool((everybody(query)["epsilon"] <= LARGEST_EPSILON).any())


def accountants_picture(query: ClaimQuery, *, dark: bool) -> Figure:
    """Return every accountant's epsilon beside the truth."""
    frame, claim = everybody(query), epsilon(query)
    key = ("accountants", *_key(query), dark)
    return work.cache().get(key, lambda: accountants_figure(frame, claimed=claim, look=Look(dark=dark)))


# ---- words ---------------------------------------------------------------------------------------------------


def sentences(query: ClaimQuery) -> tuple[bool, list[str]]:
    """Return whether the claim is wrong, and what there is to say about it: verdict, noise, attack."""
    judgement = judged(query)

    def make() -> tuple[bool, list[str]]:
        words = [judgement.words()]
        noise = judgement.least_noise
        words.append(noise if isinstance(noise, str) else noise.words())
        if judgement.refutation is not None:
            words.append(judgement.refutation.words())
        return judgement.verdict == WRONG, words

    return work.cache().get(("judgement in words", *_key(query)), make)


def source_words(query: ClaimQuery) -> str:
    """Say what the accountant named reports, and whether the claim is that."""
    judgement = reported(query)
    if judgement is None:
        return ""
    about = next(one for one in ACCOUNTANTS if one.name == judgement.name)
    if judgement.kind == "none":
        return f"{judgement.title} does not apply here. {judgement.note}"
    value = f"about {nearest(judgement.epsilon)}" if judgement.kind == "approximate" else outward(judgement.epsilon, 6)
    kind = {"exact": "exact", "upper": "an upper bound", "approximate": "an approximation, no promise"}[judgement.kind]
    note = f"; {judgement.note}" if judgement.note else ""
    return f"{judgement.title} reports an ε of {value} ({kind}{note}). {about.meaning} {about.reference}."


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reports as people read them."""
    cells = zip(frame["epsilon"], frame["kind"], strict=True)
    shown = [
        "–" if kind == "none" else f"about {nearest(value, 5)}" if kind == "approximate" else outward(float(value), 5)
        for value, kind in cells
    ]
    sides = frame["verdict"].replace({OPEN: "the truth", SILENT: "–"})
    judgement = frame[["title", "verdict", "note", *FACTS]].assign(verdict=sides)
    judgement.insert(1, "epsilon", shown)
    names = {"title": "Accountant", "epsilon": "ε", "verdict": "It is", "note": "Note"}
    return readable(judgement).rename(columns=names)


def noise_link(one: TradeOff) -> str:
    """Return the address of a mechanism on its page, '' for what is not a single mechanism."""
    return f"Mechanisms?expression={quote(str(one))}" if isinstance(one, Mechanism) else ""


# ---- code ----------------------------------------------------------------------------------------------------


def _judge_lines(query: ClaimQuery) -> list[str]:
    one = region(query)[0]
    return [
        f"with effort(tolerance={work.TOLERANCE}):",
        f"    found = judge({str(one)!r}, {query.k}, {epsilon(query)!r}, {query.delta!r})",
    ]


def claim_code(query: ClaimQuery) -> str:
    """Return the Python lines that judge the claim and draw it."""
    return "\n".join(
        [
            "from dpcore.training import judge",
            "from dpcore.charts import save",
            "from dpcore.charts.claims import claim_figure",
            "from dpcore.core.effort import effort",
            "",
            *_judge_lines(query),
            "    print(found.verdict, found.words())",
            "    figure = claim_figure(found)",
            'save(figure, "claim.svg")',
        ]
    )


def region_code(query: ClaimQuery, view: str) -> str:
    """Return the Python lines that draw both regions."""
    options = ", log=True, filled=False" if view == LOGLOG else ""
    return "\n".join(
        [
            "from dpcore.training import judge",
            "from dpcore.charts import region_figure, save",
            "from dpcore.core.effort import effort",
            "",
            *_judge_lines(query),
            f"    regions = {{{CLAIMED!r}: found.claimed, {TRUE!r}: found.total}}",
            f"    figure = region_figure(regions{options})",
            'save(figure, "regions.svg")',
        ]
    )


def accountants_code(query: ClaimQuery) -> str:
    """Return the Python lines that tabulate and draw what every accountant reports."""
    one = region(query)[0]
    return "\n".join(
        [
            "from dpcore.training import reports",
            "from dpcore.charts import save",
            "from dpcore.charts.claims import accountants_figure",
            "from dpcore.core.effort import effort",
            "",
            f"with effort(tolerance={work.TOLERANCE}):",
            f"    table = reports({str(one)!r}, {query.k}, {query.delta!r})",
            f"figure = accountants_figure(table, claimed={epsilon(query)!r})",
            'save(figure, "accountants.svg")',
        ]
    )
