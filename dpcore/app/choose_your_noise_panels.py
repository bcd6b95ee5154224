"""The parts of the page of inverse questions: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import choose_your_noise as page
from dpcore.app import figure, hand_figure, inputs, work
from dpcore.app.figure import plain
from dpcore.calibration.answers import COUNT, NOISE, RECORDS, Question
from dpcore.calibration.requirements import LARGEST_EPSILON, Advantage, AttackRates, EpsilonDelta, Posterior
from dpcore.core.domains import LOSS, POSITIVE, PROBABILITY, SHARE
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.calibration.requirements import PrivacyRequirement
    from dpcore.core.parameter import Parameter

AMOUNT = POSITIVE.but(high=1e15)
ACCUSED = (
    "0: no single answer, however rare, brings the belief above. A rate such as 0.01: of the people accused by anybody "
    "who wrongly accuses at least that many."
)
Numbers = tuple[float | None, ...]


def choose() -> tuple[str, str]:
    """Show what can be unknown and what can be wanted, and return both choices."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = _control("What is unknown", "choose_unknown", tuple(page.UNKNOWNS), page.DEFAULTS["choose_unknown"])
        unknown = page.UNKNOWNS[shown]
        requirements = page.requirements_for(unknown)
        kind = _control("What you want", "choose_wish", requirements, page.DEFAULTS["choose_wish"])
    return unknown, kind


def ask(unknown: str, kind: str) -> tuple[Question | None, DeltaGenerator]:
    """Show the fields; None with the reason shown where the place handed back is."""
    below = st.container()
    wish_numbers = _wish_fields(kind, below)
    error_numbers = _error_fields(unknown, kind, below)
    others = _other_fields(unknown, below)
    if None in (*wish_numbers, *error_numbers, *others):
        return None, below
    try:
        return _question(unknown, kind, wish_numbers, error_numbers, others), below
    except DpcoreError as error:
        below.error(plain(str(error)), icon=":material/error:")
        return None, below


def _control(label: str, key: str, options: Sequence[str], default: str) -> str:
    """Show a choice that the link carries; what cannot be chosen any more falls back to the first."""
    first = default if default in options else options[0]
    if st.session_state.get(key, first) not in options:
        st.session_state[key] = first
    chosen = st.segmented_control(label, options, default=first, required=True, key=key, bind="query-params")
    return chosen or first


def _fields(names: Sequence[tuple[str, str, Parameter, str]], trouble: DeltaGenerator, *, columns: int = 3) -> Numbers:
    """Show some number fields side by side; each is (label, key, allowed, help)."""
    places = st.columns(columns)
    found: list[float | None] = []
    for index, (label, key, allowed, words) in enumerate(names):
        with places[index % columns]:
            found.append(inputs.number_field(label, key, page.DEFAULTS[key], allowed, trouble=trouble, help_text=words))
    return tuple(found)


def _wish_fields(kind: str, trouble: DeltaGenerator) -> Numbers:
    """Show the numbers of the requirement."""
    rate = PROBABILITY
    fields = {
        page.STATEMENT: [
            (
                "ε",
                "choose_epsilon",
                LOSS.but(high=LARGEST_EPSILON),
                "Bound on the privacy loss of all answers together.",
            ),
            ("δ", "choose_delta", rate, "What may exceed that bound, of all answers together."),
        ],
        page.ADVANTAGE: [
            ("Advantage, at most", "choose_advantage", rate, "True minus false accusations: 0 is blind guessing.")
        ],
        page.ATTACK: [
            ("TPR, at most", "choose_tpr", rate, "Share of the people inside the data that an attacker finds."),
            ("at FPR", "choose_fpr", rate, "Share of the people outside the data who are wrongly accused."),
        ],
        page.POSTERIOR: [
            ("Prior", "choose_prior", rate, "The attacker's belief that a person is in the data, before any answer."),
            ("Posterior, at most", "choose_posterior", rate, "The belief afterwards."),
            (
                "among at least (FPR)",
                "choose_accused",
                rate,
                ACCUSED,
            ),
        ],
    }
    return _fields(fields[kind], trouble) if kind in fields else ()


def _error_fields(unknown: str, kind: str, trouble: DeltaGenerator) -> Numbers:
    """Show the error where it is wanted, and always how often it may be larger."""
    miss = (
        "in all but",
        "choose_miss",
        SHARE.but(high=0.99),
        "How often the error may be larger.",
    )
    label = "Error of the mean" if unknown == RECORDS else "Error of an answer"
    if kind == page.ERROR or unknown in (COUNT, RECORDS):
        return _fields(
            [(label, "choose_error", AMOUNT, "At most, in the units of the answer."), miss], trouble, columns=2
        )
    return _fields([("Share of larger errors", *miss[1:])], trouble, columns=2)


def _other_fields(unknown: str, trouble: DeltaGenerator) -> Numbers:
    """Show k, the sensitivity, the sampling rate and the delta of the statements."""
    places = st.columns(2)
    k: int | None = 1
    with places[0]:
        if unknown != COUNT:
            words = "How many answers are given, each with its own noise."
            k = inputs.integer_field(
                "Answers k",
                "choose_k",
                page.DEFAULTS["choose_k"],
                low=1,
                high=page.LARGEST_K,
                trouble=trouble,
                help_text=words,
            )
    label, words = "Sensitivity Δ", "How far one person can move the answer: 1 for a count."
    if unknown == RECORDS:
        label, words = "Range w of a record", "Largest minus smallest value: 1 for a share."
    with places[1]:
        width = inputs.number_field(
            label, "choose_width", page.DEFAULTS["choose_width"], AMOUNT, trouble=trouble, help_text=words
        )
    more: list[tuple[str, str, Parameter, str]] = [
        ("ε is stated at δ", "choose_stated", PROBABILITY, "For the comparison of the answers.")
    ]
    if unknown == NOISE:
        words = "Below 1: Gaussian noise on Poisson samples, as in private training, is compared too."
        more.append(("Sampling rate q", "choose_q", SHARE, words))
    found = _fields(more, trouble, columns=2)
    return (k, width, found[0], found[1] if len(found) > 1 else 1.0)


def _question(unknown: str, kind: str, requirement: Numbers, error: Numbers, others: Numbers) -> Question:
    """Return the question that the fields make; what is wrong with it is said by the library."""
    numbers = [float(value) for value in requirement if value is not None]
    makers: dict[str, Callable[..., PrivacyRequirement]] = {
        page.STATEMENT: EpsilonDelta,
        page.ADVANTAGE: Advantage,
        page.ATTACK: AttackRates,
        page.POSTERIOR: Posterior,
    }
    wished = makers[kind](*numbers) if kind in makers else None
    *limit, miss = [float(value) for value in error if value is not None]
    k, width, delta, q = (float(value) for value in others if value is not None)
    fpr = numbers[1] if kind == page.ATTACK else 0.01
    return Question(unknown, wished, limit[0] if limit else None, miss, int(k), width, delta, fpr, q)


def view() -> str:
    """Show what to draw."""
    chosen = st.segmented_control(
        "Picture",
        (page.REGIONS, page.LOGLOG, page.LADDER),
        default=page.DEFAULTS["choose_picture"],
        required=True,
        key="choose_picture",
        bind="query-params",
        help="Regions of all answers together; or what is unknown, as the number you want moves.",
    )
    return chosen or str(page.DEFAULTS["choose_picture"])


def say(question: Question, below: DeltaGenerator) -> bool:
    """Say which noise to prefer; False with the reason next to the fields."""
    try:
        with work.progress("Calibrating"):
            words = page.best_words(question)
    except DpcoreError as error:
        figure.trouble(error, "choose", below)
        return False
    st.info(plain(words), icon=":material/tune:")
    return True


def show_table(question: Question) -> None:
    """Show the answers side by side."""
    table = page.summary(question)
    if len(table):
        st.dataframe(table, hide_index=True, width="stretch", key="choose_answers")
        st.caption(
            "Deviations and errors are those of the noise with the parameter shown: exact laws, errors rounded up. What ε, "
            "advantage and the share found are is said at the end of each row."
        )


def show_lines(question: Question) -> None:
    """Say every answer in words, with a link to its noise."""
    for words, address in page.lines(question):
        st.markdown(f"- {plain(words)}" + (f" [Look at this noise]({address})" if address else ""))


def show(question: Question, chosen: str, *, dark: bool) -> None:
    """Show the figure, or in its own words the error that it ended with."""
    if all(one.trouble for one in page.found(question)):
        st.warning(
            "There is nothing to draw: no noise has an answer. The reasons are below.", icon=":material/warning:"
        )
        return
    try:
        with work.progress("Drawing"):
            made = page.picture(question, chosen, dark=dark)
        hand_figure.show(made, key="choices", code=page.code(question, chosen))
    except DpcoreError as error:
        figure.trouble(error, "choosing_drawing")
