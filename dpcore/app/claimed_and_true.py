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


def region(asked: ClaimQuery) -> tuple[TradeOff, tuple[str, ...]]:
    """Return one use and what the library warned about while reading it."""
    return work.region(asked.mechanism)


def reported(asked: ClaimQuery) -> Report | None:
    """Return what the accountant reports; None if nobody is named."""
    if not asked.by:
        return None
    one = region(asked)[0]
    key = ("report", asked.by, str(one), asked.k, asked.delta)
    return work.cache().get(key, lambda: report(asked.by, one, asked.k, asked.delta))


def epsilon(asked: ClaimQuery) -> float:
    """Return the claimed epsilon: as typed, or as the accountant reports it."""
    if asked.epsilon is not None:
        return asked.epsilon
    found = reported(asked)
    if found is None:
        msg = "Type the claimed ε, or choose the accountant who reports one."
        raise DomainError(msg)
    if not found.epsilon <= LARGEST_EPSILON:
        why = found.note if found.kind == "none" else f"{found.epsilon:.4g} is above {LARGEST_EPSILON:g}."
        msg = f"{found.title} reports no ε that could be checked: {why}"
        raise DomainError(msg)
    return found.epsilon


def judged(asked: ClaimQuery) -> Judgement:
    """Return the verdict."""
    one, claim = region(asked)[0], epsilon(asked)
    key = ("judge", str(one), asked.k, claim, asked.delta)
    return work.cache().get(key, lambda: judge(one, asked.k, claim, asked.delta))


def everybody(asked: ClaimQuery) -> pd.DataFrame:
    """Return what every accountant reports."""
    one = region(asked)[0]
    return work.cache().get(("reports", str(one), asked.k, asked.delta), lambda: reports(one, asked.k, asked.delta))


# ---- pictures ------------------------------------------------------------------------------------------------


def _key(asked: ClaimQuery) -> tuple[Any, ...]:
    return (str(region(asked)[0]), asked.k, epsilon(asked), asked.delta)


def claim_picture(asked: ClaimQuery, *, dark: bool) -> Figure:
    """Return the claim on the true profile."""
    found = judged(asked)
    return work.cache().get(("claim", *_key(asked), dark), lambda: claim_figure(found, look=Look(dark=dark)))


def region_picture(asked: ClaimQuery, view: str, *, dark: bool) -> Figure:
    """Return the region of the claim beside the true one."""
    found = judged(asked)
    regions = {CLAIMED: found.claimed, TRUE: found.total}
    log = view == LOGLOG
    key = ("claimed regions", *_key(asked), log, dark)
    return work.cache().get(key, lambda: region_figure(regions, log=log, filled=not log, look=Look(dark=dark)))


def drawable(asked: ClaimQuery) -> bool:
    """Whether any accountant reports a finite epsilon."""
    return bool((everybody(asked)["epsilon"] <= LARGEST_EPSILON).any())


def accountants_picture(asked: ClaimQuery, *, dark: bool) -> Figure:
    """Return every accountant's epsilon beside the truth."""
    frame, claim = everybody(asked), epsilon(asked)
    key = ("accountants", *_key(asked), dark)
    return work.cache().get(key, lambda: accountants_figure(frame, claimed=claim, look=Look(dark=dark)))


# ---- words ---------------------------------------------------------------------------------------------------


def sentences(asked: ClaimQuery) -> tuple[bool, list[str]]:
    """Return whether the claim is wrong, and what there is to say about it: verdict, noise, attack."""
    found = judged(asked)

    def make() -> tuple[bool, list[str]]:
        said = [found.words()]
        noise = found.least_noise
        said.append(noise if isinstance(noise, str) else noise.words())
        if found.exposed is not None:
            said.append(found.exposed.words())
        return found.verdict == WRONG, said

    return work.cache().get(("judgement in words", *_key(asked)), make)


def source_words(asked: ClaimQuery) -> str:
    """Say what the accountant named reports, and whether the claim is that."""
    found = reported(asked)
    if found is None:
        return ""
    about = next(one for one in ACCOUNTANTS if one.name == found.name)
    if found.kind == "none":
        return f"{found.title} does not apply here. {found.note}"
    value = f"about {found.epsilon:.6g}" if found.kind == "approximate" else outward(found.epsilon, 6)
    kind = {"exact": "exact", "upper": "an upper bound", "approximate": "an approximation, no promise"}[found.kind]
    note = f"; {found.note}" if found.note else ""
    return f"{found.title} reports an ε of {value} ({kind}{note}). {about.meaning} {about.reference}."


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reports as people read them."""
    cells = zip(frame["epsilon"], frame["kind"], strict=True)
    shown = [
        "–" if kind == "none" else f"about {value:.5g}" if kind == "approximate" else outward(float(value), 5)
        for value, kind in cells
    ]
    sides = frame["verdict"].replace({OPEN: "the truth", SILENT: "–"})
    found = frame[["title", "verdict", "note", *FACTS]].assign(verdict=sides)
    found.insert(1, "epsilon", shown)
    names = {"title": "Accountant", "epsilon": "ε", "verdict": "It is", "note": "Note"}
    return readable(found).rename(columns=names)


def noise_link(one: TradeOff) -> str:
    """Return the address of a mechanism on its page, '' for what is not a single mechanism."""
    return f"Mechanisms?expression={quote(str(one))}" if isinstance(one, Mechanism) else ""


# ---- code ----------------------------------------------------------------------------------------------------


def _judge_lines(asked: ClaimQuery) -> list[str]:
    one = region(asked)[0]
    return [
        f"with effort(tolerance={work.TOLERANCE}):",
        f"    found = judge({str(one)!r}, {asked.k}, {epsilon(asked)!r}, {asked.delta!r})",
    ]


def claim_code(asked: ClaimQuery) -> str:
    """Return the Python lines that judge the claim and draw it."""
    return "\n".join(
        [
            "from dpcore.training import judge",
            "from dpcore.charts import save",
            "from dpcore.charts.claims import claim_figure",
            "from dpcore.core.effort import effort",
            "",
            *_judge_lines(asked),
            "    print(found.verdict, found.words())",
            "    figure = claim_figure(found)",
            'save(figure, "claim.svg")',
        ]
    )


def region_code(asked: ClaimQuery, view: str) -> str:
    """Return the Python lines that draw both regions."""
    options = ", log=True, filled=False" if view == LOGLOG else ""
    return "\n".join(
        [
            "from dpcore.training import judge",
            "from dpcore.charts import region_figure, save",
            "from dpcore.core.effort import effort",
            "",
            *_judge_lines(asked),
            f"    regions = {{{CLAIMED!r}: found.claimed, {TRUE!r}: found.total}}",
            f"    figure = region_figure(regions{options})",
            'save(figure, "regions.svg")',
        ]
    )


def accountants_code(asked: ClaimQuery) -> str:
    """Return the Python lines that tabulate and draw what every accountant reports."""
    one = region(asked)[0]
    return "\n".join(
        [
            "from dpcore.training import reports",
            "from dpcore.charts import save",
            "from dpcore.charts.claims import accountants_figure",
            "from dpcore.core.effort import effort",
            "",
            f"with effort(tolerance={work.TOLERANCE}):",
            f"    table = reports({str(one)!r}, {asked.k}, {asked.delta!r})",
            f"figure = accountants_figure(table, claimed={epsilon(asked)!r})",
            'save(figure, "accountants.svg")',
        ]
    )
