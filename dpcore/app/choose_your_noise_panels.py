"""The parts of the page of inverse questions: each shows widgets or results."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from dpcore.app import choose_your_noise as page
from dpcore.app import inputs
from dpcore.app.figure import plain, sentence
from dpcore.calibration.answers import COUNT, NOISE, RECORDS, Question
from dpcore.calibration.requirements import LARGEST_EPSILON, Advantage, AttackRates, EpsilonDelta, Posterior
from dpcore.core.domains import COUNT as COUNTED
from dpcore.core.domains import LOSS, POSITIVE, PROBABILITY, SHARE
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import numeral

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.calibration.requirements import PrivacyRequirement
    from dpcore.core.parameter import Parameter

HEIGHT = 430
AMOUNT = POSITIVE.but(high=1e15)
ERROR_SHARE = SHARE.but(high=0.99)
RATES = [numeral(step / 1000) for step in (*range(1, 20), *range(20, 100, 5), *range(100, 1000, 10))]
ERRORS = inputs.round_values(-3, 4)
COUNTS = inputs.round_values(0, 5)
ACCUSED = (
    "0: no single answer, however rare, raises the belief above the posterior. A rate such as 0.01: the bound is on "
    "the belief about the people accused, for every attacker who wrongly accuses at least that share."
)
Numbers = tuple[float | None, ...]
NumberField = tuple[str, str, "Parameter", str, "Sequence[str]"]  # label, key, allowed, help, values of its slider


def choose() -> tuple[str, str]:
    """Show the menus of the unknown and of the requirement, and return both choices."""
    left, right = st.columns(2)
    with left:
        unknown = page.UNKNOWNS[_menu("What is unknown", "choose_unknown", tuple(page.UNKNOWNS))]
    with right:
        kind = _menu("What you want", "choose_wish", page.requirements_for(unknown))
    return unknown, kind


def ask(unknown: str, kind: str) -> Question | None:
    """Show the fields; return None, with the reason shown below them, if something is wrong."""
    requirement = _fields(_requirement_fields(kind))
    error = _fields(_error_fields(unknown, kind))
    others = _fields(_other_fields(unknown))
    if None in (*requirement, *error, *others):
        return None
    try:
        return _question(unknown, kind, requirement, error, others)
    except DpcoreError as error_:
        st.error(plain(str(error_)), icon=":material/error:")
        return None


def moved(unknown: str, kind: str, held: Mapping[str, str], question: Question) -> Question:
    """Return the question with the value of a slider that is held."""
    if not held:
        return question
    requirement = () if question.requirement is None else astuple(cast("Any", question.requirement))
    error = (question.probability,) if question.error is None else (question.error, question.probability)
    fields = _other_fields(unknown)
    known = {
        "choose_k": question.k,
        "choose_width": question.width,
        "choose_stated": question.delta,
        "choose_q": question.q,
    }
    others = _held(fields, [known[key] for _, key, *_ in fields], held)
    return _question(
        unknown,
        kind,
        _held(_requirement_fields(kind), requirement, held),
        _held(_error_fields(unknown, kind), error, held),
        others,
    )


def _held(fields: Sequence[NumberField], values: Sequence[float], held: Mapping[str, str]) -> Numbers:
    """Return the values of some fields, with the value of a held slider in place of its field's."""
    return tuple(float(held.get(f"{key}_slider", value)) for (_, key, *_), value in zip(fields, values, strict=True))


def sliders(unknown: str, kind: str) -> list[str]:
    """Return the keys of the sliders that the picture follows."""
    fields = (*_requirement_fields(kind), *_error_fields(unknown, kind), *_other_fields(unknown))
    return [f"{key}_slider" for _, key, *_ in fields]


def _menu(label: str, key: str, options: Sequence[str]) -> str:
    """Show a choice that the link carries; one that is no longer available falls back to the first."""
    if st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    return str(st.selectbox(label, options, key=key, bind="query-params"))


def _fields(fields: Sequence[NumberField]) -> Numbers:
    """Show some numbers, each with its slider and its errors below."""
    return tuple(
        inputs.slider_field(label, key, page.DEFAULTS[key], values, allowed, help_text=words)
        for label, key, allowed, words, values in fields
    )


def _requirement_fields(kind: str) -> list[NumberField]:
    """Return the numbers of the requirement."""
    rate, loss = PROBABILITY, LOSS.but(high=LARGEST_EPSILON)
    fields: dict[str, list[NumberField]] = {
        page.STATEMENT: [
            ("ε", "choose_epsilon", loss, "Bound on the privacy loss of all answers together.", inputs.LOSSES),
            (
                "δ",
                "choose_delta",
                rate,
                inputs.delta_help("all answers together"),
                inputs.DELTAS,
            ),
        ],
        page.ADVANTAGE: [
            (
                "Advantage",
                "choose_advantage",
                rate,
                "At most this: the true-positive rate minus the false-positive rate; 0 is blind guessing.",
                RATES,
            )
        ],
        page.ATTACK: [
            (
                "TPR",
                "choose_tpr",
                rate,
                "At most this: the share of the people inside the data whom an attacker finds.",
                RATES,
            ),
            ("FPR", "choose_fpr", rate, "The share of the people outside the data who are wrongly accused.", RATES),
        ],
        page.POSTERIOR: [
            (
                "Prior",
                "choose_prior",
                rate,
                "The attacker's belief that a person is in the data, before any answer.",
                RATES,
            ),
            ("Posterior", "choose_posterior", rate, "At most this: the belief after the answer.", RATES),
            ("FPR", "choose_accused", rate, ACCUSED, ["0", *RATES]),
        ],
    }
    return fields.get(kind, [])


def _error_fields(unknown: str, kind: str) -> list[NumberField]:
    """Return the error if it is limited, and in any case how often it may be larger."""
    larger: NumberField = (
        "Larger errors",
        "choose_miss",
        ERROR_SHARE,
        "The share of answers whose error may be larger than stated.",
        RATES,
    )
    if kind != page.ERROR and unknown not in (COUNT, RECORDS):
        return [larger]
    words = f"The largest error of {'the mean' if unknown == RECORDS else 'one answer'}, in its units."
    return [("Error", "choose_error", AMOUNT, words, ERRORS), larger]


def _other_fields(unknown: str) -> list[NumberField]:
    """Return k, the sensitivity, the delta of the comparison and the sampling rate."""
    answers: NumberField = (
        "Answers k",
        "choose_k",
        COUNTED.but(high=page.LARGEST_K),
        "How many answers are given, each with its own noise.",
        COUNTS,
    )
    label, words = "Sensitivity Δ", "How far one person can move the answer: 1 for a count."
    if unknown == RECORDS:
        label, words = "Range w", "Largest minus smallest value of a record; 1 for a share."
    width: NumberField = (label, "choose_width", AMOUNT, words, ERRORS)
    words = "The δ at which the ε of all answers is compared."
    stated: NumberField = ("Compare at δ", "choose_stated", PROBABILITY, words, inputs.DELTAS)
    words = "Sampling rate; below 1, Gaussian noise on Poisson samples, as in private training, is compared too."
    rate: NumberField = ("Rate q", "choose_q", SHARE, words, inputs.round_values(-4, 0))
    return [*([] if unknown == COUNT else [answers]), width, stated, *([rate] if unknown == NOISE else [])]


def _question(unknown: str, kind: str, requirement: Numbers, error: Numbers, others: Numbers) -> Question:
    """Return the question in the fields; the library says what is wrong with it."""
    numbers = [float(value) for value in requirement if value is not None]
    makers: dict[str, Callable[..., PrivacyRequirement]] = {
        page.STATEMENT: EpsilonDelta,
        page.ADVANTAGE: Advantage,
        page.ATTACK: AttackRates,
        page.POSTERIOR: Posterior,
    }
    wished = makers[kind](*numbers) if kind in makers else None
    *limit, miss = [float(value) for value in error if value is not None]
    fields = [key for _, key, *_ in _other_fields(unknown)]
    known = {"choose_k": 1.0, "choose_q": 1.0, **dict(zip(fields, others, strict=True))}
    k, width, delta, q = (float(known[key] or 0.0) for key in ("choose_k", "choose_width", "choose_stated", "choose_q"))
    fpr = numbers[1] if kind == page.ATTACK else 0.01
    return Question(unknown, wished, limit[0] if limit else None, miss, int(k), width, delta, fpr, q)


def view() -> str:
    """Show the drawing options."""
    chosen = st.segmented_control(
        "Picture",
        (page.REGIONS, page.LOGLOG, page.LADDER),
        default=page.DEFAULTS["choose_picture"],
        required=True,
        key="choose_picture",
        bind="query-params",
        help="The regions of all answers together, or the unknown number as your goal changes.",
    )
    return chosen or str(page.DEFAULTS["choose_picture"])


def say(question: Question) -> bool:
    """Say which noise to prefer; return whether there is something to draw."""
    st.markdown(sentence(page.best_words(question)))
    if page.is_drawable(question):
        return True
    st.warning(
        "There is nothing to draw: no kind of noise has an answer. The reasons are below.", icon=":material/warning:"
    )
    return False


def show_table(question: Question) -> None:
    """Show the answers side by side."""
    table = page.summary(question)
    if len(table):
        st.dataframe(table, hide_index=True, width="stretch", key="choose_answers")
        st.caption(
            "Standard deviations and errors follow exactly from the law of the noise; errors are rounded up. The last "
            "columns say whether ε, the advantage and the share of people found are exact or bounds."
        )


def show_lines(question: Question) -> None:
    """Show every answer in words, with a link to its noise."""
    for words, address in page.lines(question):
        st.markdown(f"- {sentence(words)}" + (f" [Look at this noise]({address})" if address else ""))
