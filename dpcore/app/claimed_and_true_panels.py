"""The parts of the page Claimed and true: each shows widgets or results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import certificate, figure, inputs, work
from dpcore.app import claimed_and_true as page
from dpcore.app.figure import plain, sentence
from dpcore.core.errors import DpcoreError
from dpcore.training import ACCOUNTANTS

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def ask() -> tuple[page.ClaimQuery | None, DeltaGenerator]:
    """Show the fields; return the query, or None with the reason shown, and the place for errors."""
    text: str = st.text_input(
        "Mechanism, one use",
        page.DEFAULTS["claimed_mechanism"],
        key="claimed_mechanism",
        bind="query-params",
        help="Any expression: gaussian(2), laplace(0.1), poisson_gaussian(1, 0.01), rr(1, 5), dp(0.5), "
        "group(dp(1, 1e-5), 3). For a statement such as dp(0.5) the truth is that of the worst mechanism it allows.",
    )
    below = st.container()
    k = inputs.slider_field(
        "Uses k", "claimed_k", page.DEFAULTS["claimed_k"], page.KS, page.USES, name="Number of uses k"
    )
    epsilon = inputs.slider_field(
        "Claimed ε",
        "claimed_epsilon",
        page.DEFAULTS["claimed_epsilon"],
        inputs.LOSSES,
        page.EPSILON,
        optional=True,
        help_text="Leave it empty to take what the accountant reports.",
    )
    delta = inputs.slider_field("Claimed δ", "claimed_delta", page.DEFAULTS["claimed_delta"], inputs.DELTAS)
    by = st.selectbox(
        "Accountant",
        [page.UNSAID, *page.NAMES],
        index=1 + list(page.NAMES).index(page.DEFAULTS["claimed_by"]),
        key="claimed_by",
        bind="query-params",
        help="How the claim was computed.",
    )
    if k is None or epsilon is None or delta is None:
        return None, below
    if len(text) > page.LONGEST:
        below.error(f"A mechanism may have at most {page.LONGEST} characters, got {len(text)}.")
        return None, below
    typed = None if math.isnan(epsilon) else epsilon
    return page.ClaimQuery(text.strip(), int(k), typed, delta, page.NAMES.get(by or "", "")), below


def read(query: page.ClaimQuery) -> tuple[object, tuple[str, ...]]:
    """Judge the claim; return what the library warned about while reading the mechanism."""
    _, notices = page.region(query)
    return page.judgement_of(query), notices


def say(query: page.ClaimQuery) -> None:
    """Show the verdict."""
    wrong, words = page.verdict(query)
    if wrong:
        st.info(sentence(words), icon=":material/flag:")
    else:
        st.success(sentence(words), icon=":material/check_circle:")


def show_advice(query: page.ClaimQuery) -> None:
    """Say how much noise the claim needs, which attack it excludes, and what its accountant reports."""
    try:
        with work.progress("Searching for the least noise"):
            words = [*page.advice(query), page.source_words(query)]
    except DpcoreError as error:
        figure.trouble(error, "claimed_advice")
        return
    for line in filter(None, words):
        st.markdown(sentence(line))
    certificate.offer(str(page.judgement_of(query).total), "claimed", delta=query.delta)
    one, _ = page.region(query)
    if link := page.noise_link(one):
        st.markdown(f"[{plain(str(one))} on the page Mechanisms]({link})")


def view() -> str:
    """Show the drawing options for the regions."""
    scale = st.segmented_control(
        "Scale",
        (page.LINEAR, page.LOGLOG),
        default=page.DEFAULTS["claimed_view"],
        required=True,
        key="claimed_view",
        bind="query-params",
    )
    return scale or str(page.DEFAULTS["claimed_view"])


def show_table(query: page.ClaimQuery) -> None:
    """List what every accountant reports; if that failed, the figure above says why."""
    try:
        with work.progress("Computing what each accountant reports"):
            frame = page.report_rows(query)
    except DpcoreError:
        return
    st.dataframe(page.table(frame), hide_index=True, width="stretch", height="content", key="claimed_reports")
    with st.expander("How each accountant counts", icon=":material/function:"):
        for one in ACCOUNTANTS:
            st.markdown(f"- **{plain(one.title)}**: ${one.formula}$. {plain(one.meaning)} {plain(one.reference)}.")
