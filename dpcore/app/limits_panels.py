"""The parts of the page Limits: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import figure, inputs, work
from dpcore.app import limits as page
from dpcore.app.figure import sentence
from dpcore.core.domains import LOSS, POSITIVE, SHARE
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000


def ask() -> tuple[page.LimitsQuery | None, DeltaGenerator]:
    """Show the fields for the copies; return the query, or None with the reason shown, and the place for errors."""
    text: str = st.text_input(
        "Mechanism",
        page.DEFAULTS["lim_mechanism"],
        key="lim_mechanism",
        bind="query-params",
        help="Any expression: rr(1, 10), dp(0.1), dptv(0.1, 0, 0.03), laplace(0.1), poisson_gaussian(1, 0.01).",
    )
    trouble = st.container()
    k = inputs.slider_field(
        "Copies k", "lim_k", page.DEFAULTS["lim_k"], page.KS, page.COPIES, name="Number of copies k"
    )
    delta = inputs.slider_field(
        "Compared at δ",
        "lim_delta",
        page.DEFAULTS["lim_delta"],
        inputs.DELTAS,
        SHARE,
        help_text="The ε of the limit and the true ε are compared at this δ.",
    )
    if k is None or delta is None:
        return None, trouble
    if len(text) > LONGEST:
        trouble.error(f"A mechanism may have at most {LONGEST} characters, got {len(text)}.")
        return None, trouble
    return page.LimitsQuery(text.strip(), int(k), delta), trouble


def view() -> dict[str, str]:
    """Show the drawing options."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scale = st.segmented_control(
            "Scale",
            (page.LINEAR, page.LOGLOG),
            default=page.DEFAULTS["lim_view"],
            required=True,
            key="lim_view",
            bind="query-params",
        )
        axes = st.segmented_control(
            "Axes",
            ("f-DP", "thesis"),
            default=page.DEFAULTS["lim_axes"],
            required=True,
            key="lim_axes",
            bind="query-params",
        )
    return {"view": scale or page.DEFAULTS["lim_view"], "axes": axes or page.DEFAULTS["lim_axes"]}


def ask_arrays() -> page.Rows | None:
    """Show the fields for the arrays; return None, with the reason shown under the field, if one is wrong."""
    n = inputs.slider_field(
        "Row n", "lim_n", page.DEFAULTS["lim_n"], page.KS, page.COPIES, name="Mechanisms in the row, n"
    )
    fields = (
        ("μ of the limit", "lim_mu", POSITIVE.but(high=10.0), inputs.even_values(0.1, 5.0, 49), ""),
        (
            "Sum d of the δ",
            "lim_failing",
            LOSS.but(high=10.0),
            inputs.even_values(0.0, 2.0, 40),
            "Each mechanism of the second array has δ = d/n.",
        ),
        (
            "Power c",
            "lim_c",
            SHARE.but(high=0.5),
            inputs.even_values(0.02, 0.5, 24),
            "In the third array ε = μ/n^c and η = μ n^(c−1)/2: the smaller c, the slower ε falls.",
        ),
    )
    mu, failing, c = (
        inputs.slider_field(label, key, page.DEFAULTS[key], steps, allowed, help_text=words)
        for label, key, allowed, steps, words in fields
    )
    if mu is None or failing is None or c is None or n is None:
        return None
    return page.Rows(mu, failing, c, int(n))


def say(query: page.LimitsQuery) -> None:
    """Say whether the limit is below the truth."""
    unsafe, words = page.verdict(query)
    st.info(sentence(words), icon=":material/flag:" if unsafe else ":material/info:")


def show_numbers(query: page.LimitsQuery) -> None:
    """Say where the limit is furthest below the truth, and list the moments."""
    try:
        with work.progress("Comparing"):
            words, rows = page.worst(query), page.numbers(query)
    except DpcoreError as error:
        figure.trouble(error, "limits_comparing")
        return
    if words:
        st.markdown(sentence(words))
    st.dataframe(rows, hide_index=True, width="stretch", key="lim_numbers")
