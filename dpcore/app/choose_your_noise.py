"""The page of inverse questions: what is asked, the spec of its figure, and the answer for every noise in words."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, cast
from urllib.parse import quote

import pandas as pd

from dpcore.calibration.answers import COUNT, NOISE, PRIVACY, RECORDS, NoiseAnswer, Question, answers
from dpcore.calibration.sentences import verdict, words
from dpcore.core.kinds import WORDS, facts, readable
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language import parse
from dpcore.words import grouped, of_100, outward

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
    """Return which requirements can be combined with the unknown."""
    if unknown == NOISE:
        return (STATEMENT, ADVANTAGE, ATTACK, POSTERIOR, ERROR)
    if unknown == PRIVACY:
        return (ADVANTAGE, ATTACK, POSTERIOR, ERROR)
    return (STATEMENT, ADVANTAGE, ATTACK, POSTERIOR)


# ---- computed once -------------------------------------------------------------------------------------------


def results(question: Question) -> tuple[NoiseAnswer, ...]:
    """Return the answer for every noise."""
    return result(answers, question)


def is_drawable(question: Question) -> bool:
    """Whether any noise has an answer."""
    return not all(one.trouble for one in results(question))


def spec(question: Question, view: str) -> dict[str, Any]:
    """Return the spec of the regions of the answers, or of the unknown against the number of the requirement."""
    requirement = question.requirement
    return {
        "draw": "calibration",
        "unknown": question.unknown,
        "requirement": None if requirement is None else asdict(cast("Any", requirement)),
        "error": question.error,
        "probability": question.probability,
        "k": question.k,
        "width": question.width,
        "delta": question.delta,
        "fpr": question.fpr,
        "q": question.q,
        "view": LADDER if view == LADDER else REGIONS,
        "log": view == LOGLOG,
    }


def lines(question: Question) -> list[tuple[str, str]]:
    """Return the answer for every noise in words, with the address of its page ('' if there is no answer)."""
    return [(words(question, one), link(one)) for one in results(question)]


def link(answer: NoiseAnswer) -> str:
    """Return the address of a single use on the page Mechanisms."""
    return "" if answer.trouble else f"Mechanisms?expression={quote(answer.one)}"


def best_words(question: Question) -> str:
    """Say which noise to prefer."""
    return verdict(question, results(question))


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
        parts.append(f"{whose} is off by at most {nearest(question.error)} in all but {miss} cases")
    many = f" for {grouped(question.k)} answers" if question.unknown != COUNT and question.k > 1 else ""
    return f"{what}{many} such that {' and '.join(parts)}."


def summary(question: Question) -> pd.DataFrame:
    """Return the answers side by side for reading; numbers are rounded to their safe side."""
    rows = [_row(question, one) for one in results(question) if not one.trouble]
    return readable(pd.DataFrame(rows)) if rows else pd.DataFrame()


def _row(question: Question, one: NoiseAnswer) -> dict[str, str]:
    up = one.candidate.is_noise
    shown = grouped(outward(one.value, 5, up=up if question.requirement is not None else not up))
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
        "Standard deviation": "–" if spread is None else grouped(nearest(spread, 4)),
        f"Error, exceeded in {of_100(question.probability)}": "–"
        if one.error is None
        else grouped(outward(one.error, 4)),
        f"ε at δ = {outward(question.delta, 6)}": "none"
        if math.isinf(one.epsilon)
        else grouped(outward(one.epsilon, 4)),
        "Advantage": outward(one.advantage, 4),
        f"Found at FPR {nearest(question.fpr)}": outward(one.tpr, 4),
        "kind": one.worth_kind,
        **facts(total),
    }
