"""The parts of the page of limits: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import figure, inputs, work
from dpcore.app import limits as page
from dpcore.app.figure import plain
from dpcore.core.domains import LOSS, POSITIVE, SHARE
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000


def ask() -> tuple[page.LimitsQuery | None, DeltaGenerator]:
    """Show the fields of the copies; None with the reason shown where the place handed back is."""
    text: str = st.text_input(
        "Mechanism",
        page.DEFAULTS["lim_mechanism"],
        key="lim_mechanism",
        bind="query-params",
        help="Any expression: rr(1, 10), dp(0.1), dptv(0.1, 0, 0.03), laplace(0.1), poisson_gaussian(1, 0.01).",
    )
    trouble = st.container()
    first, second = st.columns(2)
    below = st.container()
    with first:
        k = inputs.integer_field("Copies k", "lim_k", page.DEFAULTS["lim_k"], low=1, high=page.LARGEST_K, trouble=below)
    with second:
        delta = inputs.number_field(
            "Compared at δ",
            "lim_delta",
            page.DEFAULTS["lim_delta"],
            SHARE,
            trouble=below,
            help_text="The limit's ε and the true ε are compared at this δ: what may exceed the bound ε.",
        )
    inputs.log_slider("Number of copies", "lim_k", page.KS, k)
    if k is None or delta is None:
        return None, trouble
    if len(text) > LONGEST:
        trouble.error(f"A mechanism is written in at most {LONGEST} characters, got {len(text)}.")
        return None, trouble
    return page.LimitsQuery(text.strip(), k, delta), trouble


def ready(query: page.LimitsQuery | None, trouble: DeltaGenerator) -> bool:
    """Whether the mechanism has a limit; if not, say why next to its field."""
    return query is not None and figure.ready(lambda: page.row_of(query), "Reading", trouble)


def view() -> dict[str, str]:
    """Show how to draw."""
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
    """Show the fields of the arrays; None with the reason shown under the field."""
    columns = st.columns(4)
    below = st.container()
    with columns[0]:
        mu = inputs.number_field(
            "μ of the limit",
            "lim_mu",
            page.DEFAULTS["lim_mu"],
            POSITIVE.but(high=10.0),
            trouble=below,
        )
    with columns[1]:
        words = "What the δ = d/n of the mechanisms in the second array sum to."
        failing = inputs.number_field(
            "Sum d of the δ",
            "lim_failing",
            page.DEFAULTS["lim_failing"],
            LOSS.but(high=10.0),
            trouble=below,
            help_text=words,
        )
    with columns[2]:
        words = "In the third array ε = μ/n^c and η = μ n^(c−1)/2: the smaller c, the slower ε falls."
        c = inputs.number_field(
            "Power c",
            "lim_c",
            page.DEFAULTS["lim_c"],
            SHARE.but(high=0.5),
            trouble=below,
            help_text=words,
        )
    with columns[3]:
        n = inputs.integer_field("Row n", "lim_n", page.DEFAULTS["lim_n"], low=1, high=page.LARGEST_K, trouble=below)
    inputs.log_slider("Number of mechanisms in the row", "lim_n", page.KS, n)
    if mu is None or failing is None or c is None or n is None:
        return None
    return page.Rows(mu, failing, c, n)


def say(query: page.LimitsQuery) -> None:
    """Say whether the limit is below the truth, loudly where it is."""
    try:
        with work.progress("Comparing"):
            unsafe, words = page.verdict(query)
    except DpcoreError as error:
        figure.trouble(error, "limits_comparing")
        return
    if unsafe:
        st.info(plain(words), icon=":material/flag:")
    else:
        st.info(plain(words), icon=":material/info:")


def show_numbers(query: page.LimitsQuery) -> None:
    """List the moments."""
    st.dataframe(page.numbers(query), hide_index=True, width="stretch", key="lim_numbers")
