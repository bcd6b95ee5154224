"""The parts of the local privacy page: each shows widgets and returns their input."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dpcore.app import figure, page, work
from dpcore.app.figure import plain, sentence
from dpcore.app.inputs import DELTAS, LOSSES, even_values, round_values, slider_field
from dpcore.app.local_privacy import (
    CHANNELS,
    DEFAULTS,
    HEADINGS,
    LONGEST,
    MOST_PAGE_EPSILON,
    MOST_TIMES,
    SHOWN,
    LocalPrivacyView,
    checks,
    people_sentence,
    read_masses,
    read_names,
    regime_sentence,
)
from dpcore.core.domains import COUNT, DELTA, LOSS, SHARE
from dpcore.core.errors import DpcoreError
from dpcore.local import Hypotheses, LocalPromise, not_applicable, why_not
from dpcore.local.hypotheses import MOST_LETTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator

HEIGHT = 490  # with a legend of seven lines
PROMISE_SLIDERS = ("local_epsilon_slider", "local_delta_slider", "local_eta_slider")
TIMES_SLIDER = "local_times_slider"
_EPSILONS = [value for value in LOSSES if float(value) <= MOST_PAGE_EPSILON]
_DELTA = DELTA.but(high=0.999)
_DELTAS = ["0", *DELTAS, *even_values(0.05, 0.5, 9)]
_ETAS = even_values(0.05, 1.0, 19)
_TIMES = round_values(0, 3)
_ERROR = SHARE.but(high=0.499)
_ERRORS = even_values(0.01, 0.49, 48)


def ask(counting: DeltaGenerator, answering: DeltaGenerator) -> LocalPrivacyView | None:
    """Show all fields, some in places of their own; return None, with the error shown, if one is wrong."""
    promise = _promise()
    left, right = st.columns(2)
    with left:
        show = st.selectbox(
            "What is compared",
            list(SHOWN),
            key="local_show",
            bind="query-params",
            help="A distance between the distributions of one answer under the two hypotheses; at 0 an answer tells nothing.",
        )
    with right:
        channel = st.selectbox(
            "Channel shown",
            list(CHANNELS),
            key="local_channel",
            bind="query-params",
            help="The best channel is found by a linear program; the other two have formulas.",
        )
    question = _question()
    with counting:
        alarm, miss, search = _people()
    with answering:
        times = slider_field(
            "Answers per person", "local_times", "1", _TIMES, COUNT.but(high=MOST_TIMES),
            help_text="How often one person answers about the same letter; the region composes these answers.",
        )  # fmt: skip
    if question is None or promise is None or times is None or alarm is None or miss is None:
        return None
    return LocalPrivacyView(question, promise, str(show), str(channel), int(times), alarm, miss, search)


def moved(view: LocalPrivacyView, held: Mapping[str, str]) -> LocalPrivacyView:
    """Return the view with the value of a slider that is held."""
    names = dict(zip(PROMISE_SLIDERS, ("epsilon", "delta", "eta"), strict=True))
    promise = replace(view.promise, **{names[key]: float(text) for key, text in held.items() if key in names})
    return replace(view, promise=promise, times=int(float(held.get(TIMES_SLIDER, view.times))))


def _people() -> tuple[float | None, float | None, bool]:
    """Ask how often the analyst may be wrong, and whether to count people exactly."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        alarm = slider_field("False alarms", "local_alarm", "0.05", _ERRORS, _ERROR)
    with middle:
        miss = slider_field("Misses", "local_miss", "0.05", _ERRORS, _ERROR)
    with right:
        search = st.toggle(
            "Count exactly",
            key="local_search",
            bind="query-params",
            help="Composes the answers of n people until both sides of the bound meet; it may take seconds.",
        )
    return alarm, miss, bool(search)


def _question() -> Hypotheses | None:
    """Ask for the two distributions, as text that the link carries or as a table."""
    texts = [
        st.text_input(
            f"{name}: {what}",
            DEFAULTS[key],
            key=key,
            bind="query-params",
            help="Probabilities separated by commas, such as 0.5, 0.3, 0.2 or 1/3, 2/3; they must add up to 1 within 1e-9.",
        )
        for name, key, what in (
            ("P0", "local_p0", "letters under the first hypothesis"),
            ("P1", "local_p1", "letters under the second"),
        )
    ]
    names = st.text_input(
        "Names of the letters (may be empty)", "", key="local_names", bind="query-params", placeholder="1, 2, 3"
    )
    trouble = st.container()  # a place of its own, so that an error does not close the table below
    question: Hypotheses | None = None
    try:
        masses = read_masses(texts[0], "P0"), read_masses(texts[1], "P1")
        question = Hypotheses(*masses, read_names(names))
    except DpcoreError as error:
        trouble.error(plain(str(error)), icon=":material/error:")
    if max(map(len, (*texts, names))) <= LONGEST:
        _table(texts, names)
    return question


def _table(texts: list[str], names: str) -> None:
    """Show the distributions as an editable table, even if they do not add up to 1; changes go into the texts."""
    cells = [[part.strip() for part in text.replace(";", ",").split(",")][: MOST_LETTERS + 1] for text in texts]
    size = max(map(len, cells))
    letters = [*read_names(names)[:size], *(str(i + 1) for i in range(len(read_names(names)), size))]
    padded = [[*column, *["0"] * (size - len(column))] for column in cells]
    frame = pd.DataFrame({"letter": letters, "p0": padded[0], "p1": padded[1]})
    with st.expander("Edit as a table", icon=":material/table_edit:"):
        key = f"local_table_{abs(hash((*texts, names)))}"
        st.data_editor(
            frame,
            key=key,
            num_rows="dynamic",
            hide_index=True,
            width="stretch",
            on_change=_take_table,
            args=(key, frame),
            column_config={"letter": "Letter", "p0": "P0", "p1": "P1"},
        )
        st.caption("Rows can be added and deleted; while a column does not add up to 1, the page says so.")


def _take_table(key: str, frame: pd.DataFrame) -> None:
    """Write an edited table into the texts."""
    changes: dict[str, Any] = st.session_state.get(key) or {}
    rows = frame.to_dict("records")
    for index, cells in (changes.get("edited_rows") or {}).items():
        rows[int(index)].update(cells)
    gone = {int(index) for index in changes.get("deleted_rows") or ()}
    rows = [row for index, row in enumerate(rows) if index not in gone]
    for cells in changes.get("added_rows") or ():
        rows.append({"letter": str(len(rows) + 1), "p0": "0", "p1": "0", **cells})
    state = {f"local_{name}": ", ".join(_cell(row[name]) for row in rows) for name in ("p0", "p1")}
    names = [_cell(row["letter"]) for row in rows]
    plain_names = names == [str(i + 1) for i in range(len(names))]
    page.apply({**state, "local_names": "" if plain_names else ", ".join(names)})


def _cell(value: object) -> str:
    return str(value).replace(",", " ").replace(";", " ").strip() if value is not None else "0"


def _promise() -> LocalPromise | None:
    """Ask for epsilon, delta and eta."""
    epsilon = slider_field(
        "ε", "local_epsilon", "1", _EPSILONS, LOSS.but(high=MOST_PAGE_EPSILON),
        help_text="Another letter makes any answer likelier by a factor of at most e^ε, plus δ.",
    )  # fmt: skip
    delta = slider_field("δ", "local_delta", "0", _DELTAS, _DELTA, help_text="0 for pure local privacy.")
    eta = slider_field(
        "η", "local_eta", "", _ETAS, optional=True, name="Total variation η",
        help_text="A bound on the total variation between the answers of any two letters; empty: no bound.",
    )  # fmt: skip
    trouble = st.container()
    if epsilon is None or delta is None or eta is None:
        return None
    try:
        return LocalPromise(epsilon, delta, None if math.isnan(eta) else eta)  # an empty field is nan
    except DpcoreError as error:
        trouble.error(plain(str(error)), icon=":material/error:")
        return None


def say_limits(view: LocalPrivacyView) -> None:
    """Say why the best channel is missing, or where the simple ones are as good."""
    refused = why_not(view.question, view.promise)
    if refused:
        st.info(plain(refused), icon=":material/info:")
        return
    try:
        with work.progress("Comparing"):
            words = regime_sentence(view)
        if words:
            st.markdown(sentence(words))
    except DpcoreError as error:
        figure.trouble(error, "local_comparing")


def say_people(view: LocalPrivacyView) -> None:
    """Say how many people are needed."""
    try:
        with work.progress("Counting people"):
            st.markdown(sentence(people_sentence(view)))
    except DpcoreError as error:
        figure.trouble(error, "local_counting_people")


def show_bounds(view: LocalPrivacyView) -> None:
    """List every bound with its check."""
    try:
        with work.progress("Checking the bounds"):
            table = checks(view)
    except DpcoreError as error:
        figure.trouble(error, "local_checking_the_bounds")
        return
    wrong = table[(table["holds"] == "no") & (table["kind"] != "no bound")]
    if len(wrong):
        st.error(f"A bound stated as proved fails here: {plain(', '.join(wrong['bound']))}.")
    figure.numbers(table, "local_bounds", HEADINGS)
    st.caption(
        "t is the total variation of P0 and P1; the true value is the quantity that is bounded, computed by the linear "
        "program. Upper and lower bounds hold for every channel that keeps the promise."
    )
    notes = not_applicable(view.question, view.promise, view.measure)
    if notes:
        st.caption(plain(" ".join(notes)))
