"""The parts of the page of claims: each shows widgets or results."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import claimed_and_true as page
from dpcore.app import figure, hand_figure, inputs, work
from dpcore.app.figure import plain
from dpcore.core.domains import LOSS
from dpcore.core.errors import DpcoreError
from dpcore.training import ACCOUNTANTS

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def ask() -> tuple[page.ClaimQuery | None, DeltaGenerator]:
    """Show the fields; None with the reason shown where the place handed back is."""
    left, right = st.columns([3, 2])
    with left:
        text: str = st.text_input(
            "Mechanism, one use",
            page.DEFAULTS["claimed_mechanism"],
            key="claimed_mechanism",
            bind="query-params",
            help="Any expression: gaussian(2), laplace(0.1), poisson_gaussian(1, 0.01), rr(1, 5), dp(0.5), "
            "group(dp(1, 1e-5), 3). Of a statement such as dp(0.5) the truth is that of the worst mechanism it allows.",
        )
    with right:
        by = st.selectbox(
            "Accountant",
            [page.UNSAID, *page.NAMES],
            index=1 + list(page.NAMES).index(page.DEFAULTS["claimed_by"]),
            key="claimed_by",
            bind="query-params",
            help="How the claim was arrived at.",
        )
    k, epsilon, delta = _numbers(below := st.container())
    if k is None or epsilon is None or delta is None:
        return None, below
    if len(text) > page.LONGEST:
        below.error(f"A mechanism is written in at most {page.LONGEST} characters, got {len(text)}.")
        return None, below
    typed = None if math.isnan(epsilon) else epsilon
    return page.ClaimQuery(text.strip(), k, typed, delta, page.NAMES.get(by or "", "")), below


def _numbers(below: DeltaGenerator) -> tuple[int | None, float | None, float | None]:
    """Show k, epsilon and delta of the claim above the place where errors go."""
    with below:
        columns = st.columns(3)
    with columns[0]:
        k = inputs.integer_field(
            "Uses k", "claimed_k", page.DEFAULTS["claimed_k"], low=1, high=page.LARGEST_K, trouble=below
        )
    with columns[1]:
        epsilon = inputs.number_field(
            "Claimed ε",
            "claimed_epsilon",
            page.DEFAULTS["claimed_epsilon"],
            LOSS.but(high=page.LARGEST_EPSILON),
            optional=True,
            help_text="Leave it empty to take what the accountant reports.",
            trouble=below,
        )
    with columns[2]:
        delta = inputs.number_field("Claimed δ", "claimed_delta", page.DEFAULTS["claimed_delta"], trouble=below)
    return k, epsilon, delta


def say(query: page.ClaimQuery, below: DeltaGenerator) -> bool:
    """Say the verdict; False with the reason next to the fields where there is none."""
    try:
        with work.progress("Judging"):
            one, notices = page.region(query)
            wrong, said = page.sentences(query)
            source = page.source_words(query)
    except DpcoreError as error:
        figure.trouble(error, "claimed", below)
        return False
    for warning in notices:
        below.warning(plain(warning))
    text = "\n\n".join(plain(sentence) for sentence in said)
    if wrong:
        st.info(text, icon=":material/flag:")
    else:
        st.success(text, icon=":material/check_circle:")
    link = page.noise_link(one)
    if source:
        st.markdown(plain(source))
    if link:
        st.markdown(f"[{plain(str(one))} on the page of mechanisms]({link})")
    return True


def view() -> str:
    """Show how to draw the regions."""
    scale = st.segmented_control(
        "Scale",
        (page.LINEAR, page.LOGLOG),
        default=page.DEFAULTS["claimed_view"],
        required=True,
        key="claimed_view",
        bind="query-params",
    )
    return scale or str(page.DEFAULTS["claimed_view"])


def show_accountants(query: page.ClaimQuery, *, dark: bool) -> None:
    """Draw what every accountant reports."""
    try:
        with work.progress("Computing what each accountant reports"):
            some = page.drawable(query)
    except DpcoreError as error:
        figure.trouble(error, "claimed_asking_around")
        return
    if not some:
        st.info("No accountant reports a finite ε at this δ.", icon=":material/info:")
        return
    code = page.accountants_code(query)
    picture = partial(page.accountants_picture, query, dark=dark)
    hand_figure.show_made(picture, "Drawing", key="accountants", code=code, link=False)


def show_table(query: page.ClaimQuery) -> None:
    """List what every accountant reports; where that took too long, it was said beside."""
    try:
        frame = page.everybody(query)
    except DpcoreError:
        return
    st.dataframe(page.table(frame), hide_index=True, width="stretch", height="content", key="claimed_reports")
    with st.expander("How each accountant counts", icon=":material/function:"):
        for one in ACCOUNTANTS:
            st.markdown(f"- **{plain(one.title)}**: ${one.formula}$. {plain(one.meaning)} {plain(one.reference)}.")
