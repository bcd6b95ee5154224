"""The page of inverse questions: what is asked, answered once by every noise, as figures, words and Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from dpcore.app import work
from dpcore.calibration.answers import (
    COUNT,
    FACTORS,
    NOISE,
    PRIVACY,
    RECORDS,
    NoiseAnswer,
    Question,
    answers,
    ladder,
    regions,
)
from dpcore.calibration.sentences import verdict, words
from dpcore.charts import Look, region_figure, utility_figure
from dpcore.core.kinds import WORDS, facts, readable
from dpcore.core.numerals import nearest
from dpcore.language import parse
from dpcore.words import grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.charts.figure import Figure

STATEMENT, ADVANTAGE, ATTACK, POSTERIOR, ERROR = "(ε, δ)", "advantage", "TPR at FPR", "posterior", "error"
UNKNOWNS = {"noise": NOISE, "ε": PRIVACY, "answers k": COUNT, "records n": RECORDS}
REGIONS, LOGLOG, LADDER = "regions", "log-log", "ladder"
DEFAULTS: dict[str, Any] = {
    "choose_unknown": "noise",
    "choose_wish": STATEMENT,
    "choose_epsilon": "1",
    "choose_delta": "1e-5",
    "choose_advantage": "0.1",
    "choose_tpr": "0.05",
    "choose_fpr": "0.01",
    "choose_prior": "0.1",
    "choose_posterior": "0.2",
    "choose_accused": "0",
    "choose_error": "10",
    "choose_miss": "0.05",
    "choose_k": "1",
    "choose_width": "1",
    "choose_q": "1",
    "choose_stated": "1e-5",
    "choose_picture": REGIONS,
}
LARGEST_K = 10**5


def requirements_for(unknown: str) -> tuple[str, ...]:
    """Return which requirements can be combined with what is left open."""
    if unknown == NOISE:
        return (STATEMENT, ADVANTAGE, ATTACK, POSTERIOR, ERROR)
    if unknown == PRIVACY:
        return (ADVANTAGE, ATTACK, POSTERIOR, ERROR)
    return (STATEMENT, ADVANTAGE, ATTACK, POSTERIOR)


# ---- computed once -------------------------------------------------------------------------------------------


def found(question: Question) -> tuple[NoiseAnswer, ...]:
    """Return what every noise answers."""
    return work.cache().get(("answers", question), lambda: answers(question))


def lines(question: Question) -> list[tuple[str, str]]:
    """Return what every noise answers in words, with the address of its page ('' where there is no answer)."""
    return [(words(question, one), link(one)) for one in found(question)]


def link(answer: NoiseAnswer) -> str:
    """Return the address of one use on the page of mechanisms."""
    return "" if answer.trouble else f"Mechanisms?expression={quote(answer.one)}"


def best_words(question: Question) -> str:
    """Say what was asked, and which noise to prefer."""
    return f"{asked_words(question)} {verdict(question, found(question))}"


def asked_words(question: Question) -> str:
    """Repeat the question."""
    what = {
        NOISE: "Noise",
        PRIVACY: "The ε",
        COUNT: "How many answers",
        RECORDS: "How many records",
    }[question.unknown]
    parts = [] if question.requirement is None else [question.requirement.words]
    if question.error is not None:
        whose = "the mean" if question.unknown == RECORDS else "one answer"
        miss = of_100(question.probability)
        parts.append(f"{whose} is off by more than {nearest(question.error)} in at most {miss} cases")
    many = f" for {grouped(question.k)} answers" if question.unknown != COUNT and question.k > 1 else ""
    return f"{what}{many} such that {' and '.join(parts)}."


def summary(question: Question) -> pd.DataFrame:
    """Return the answers side by side, as people read them; numbers are rounded to their safe side."""
    rows = [_row(question, one) for one in found(question) if not one.trouble]
    return readable(pd.DataFrame(rows)) if rows else pd.DataFrame()


def _row(question: Question, one: NoiseAnswer) -> dict[str, str]:
    up = one.candidate.is_noise
    shown = outward(one.value, 5, up=up if question.requirement is not None else not up)
    row = {"Mechanism": one.candidate.title}
    if question.unknown == COUNT:
        row["Answers k"] = grouped(one.k)
    if question.unknown == RECORDS:
        row["Records n"] = grouped(one.n)
    spread = one.candidate.deviation(one.value)
    total = parse(one.total)
    return {
        **row,
        "Each answer": f"{one.candidate.symbol} = {shown} ({WORDS[one.kind]})",
        "Standard deviation": "–" if spread is None else nearest(spread, 4),
        f"Error, all but {of_100(question.probability)}": "–" if one.error is None else outward(one.error, 4),
        f"ε at δ = {outward(question.delta, 6)}": "none" if math.isinf(one.epsilon) else outward(one.epsilon, 4),
        "Advantage": outward(one.advantage, 4),
        f"Found at FPR {nearest(question.fpr)}": outward(one.tpr, 4),
        "kind": one.worth_kind,
        **facts(total),
    }


# ---- pictures ------------------------------------------------------------------------------------------------


def picture(question: Question, view: str, *, dark: bool) -> Figure:
    """Return the regions of the answers, or what was left open against the number of the requirement."""
    look = Look(dark=dark, height=500 if view != LADDER else 420)
    key = ("choices", question, view, dark)
    if view == LADDER:
        return work.cache().get(key, lambda: ladder_picture(question, look))
    every = found(question)
    log = view == LOGLOG
    return work.cache().get(key, lambda: region_figure(regions(question, every), log=log, filled=False, look=look))


def ladder_picture(question: Question, look: Look) -> Figure:
    """Return the ladder: one line per noise, a dotted line at what is asked."""
    frame = ladder(question)
    return utility_figure(frame, current=question.place, parameter=across(question), value=up(question), look=look)


def across(question: Question) -> str:
    """Return the title of the axis across."""
    return question.requirement.axis if question.requirement is not None else "error allowed"


def up(question: Question) -> str:
    """Return the title of the axis upwards."""
    if question.unknown == NOISE and question.requirement is not None:
        return f"error, in all but {of_100(question.probability)} answers"
    if question.unknown in (NOISE, PRIVACY):
        return f"ε at δ = {outward(question.delta, 6)}"
    return "answers k" if question.unknown == COUNT else "records n"


# ---- code ----------------------------------------------------------------------------------------------------


def code(question: Question, view: str) -> str:
    """Return the Python lines that answer the question and draw the picture."""
    imports = (
        []
        if question.requirement is None
        else [f"from dpcore.calibration.requirements import {type(question.requirement).__name__}"]
    )
    if view == LADDER:
        names, charts = "Question, ladder", "save, utility_figure"
        options = f"current=question.place, parameter={across(question)!r}, value={up(question)!r}"
        body = [f"    table = ladder(question, {FACTORS!r})", f"    figure = utility_figure(table, {options})"]
    else:
        names, charts = "Question, answers, regions, table", "region_figure, save"
        options = ", log=True, filled=False" if view == LOGLOG else ", filled=False"
        body = [
            "    found = answers(question)",
            "    print(table(question, found))",
            f"    figure = region_figure(regions(question, found){options})",
        ]
    return "\n".join(
        [
            f"from dpcore.calibration.answers import {names}",
            *imports,
            f"from dpcore.charts import {charts}",
            "from dpcore.core.effort import effort",
            "",
            f"question = {question!r}",
            f"with effort(tolerance={work.TOLERANCE}):",
            *body,
            'save(figure, "answers.svg")',
        ]
    )
