"""The parts of the page Subsampling: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from dpcore.app import inputs
from dpcore.app import subsampling as page
from dpcore.app.badge import marked
from dpcore.app.navigation import TRAINING
from dpcore.core.domains import SHARE

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000


def pass_on() -> None:
    """Open Private training for an old link to its numbers; if the link also describes one use, only link to it."""
    state = page.training_link(st.query_params)
    if not state:
        return
    try:
        if any(key in st.query_params for key in page.DEFAULTS):
            st.page_link(
                TRAINING, label="The training run of this link", icon=":material/model_training:", query_params=state
            )
        else:
            st.switch_page(TRAINING, query_params=state)
    except StreamlitPageNotFoundError:
        return  # a page that runs alone, without the app, has no other pages


def ask_once() -> tuple[page.Once | None, DeltaGenerator]:
    """Show the fields for one use; return the query, or None with the reason shown, and the place for errors."""
    scheme = st.segmented_control(
        "Sampling",
        page.SCHEMES,
        default=page.DEFAULTS["sub_scheme"],
        required=True,
        key="sub_scheme",
        bind="query-params",
        help="Poisson: each record independently with probability p; a neighbour has one record more or less. Fixed size: m "
        "of n records, p = m/n; a neighbour has one record replaced.",
    )
    text: str = st.text_input(
        "Mechanism before sampling",
        page.DEFAULTS["sub_base"],
        key="sub_base",
        bind="query-params",
        help="Any expression: gaussian(1), laplace(1), dp(1, 0.01), dptv(1, 0, 0.2), rr(1, 5) for a fixed size.",
    )
    trouble = st.container()
    p = inputs.slider_field(
        "Share p", "sub_p", page.DEFAULTS["sub_p"], page.PS, SHARE, help_text="Share of the records in a sample."
    )
    delta = inputs.slider_field(
        "Stated δ",
        "sub_stated",
        page.DEFAULTS["sub_stated"],
        inputs.DELTAS,
        name="δ stated before sampling",
        help_text="The smallest ε at this δ is the statement that gets amplified.",
    )
    if p is None or delta is None:
        return None, trouble
    if len(text) > LONGEST:
        trouble.error(f"A mechanism may have at most {LONGEST} characters, got {len(text)}.")
        return None, trouble
    return page.Once(text.strip(), p, scheme or page.DEFAULTS["sub_scheme"], delta), trouble


def view() -> str:
    """Show the drawing options for the regions of one use."""
    scale = st.segmented_control(
        "Scale",
        (page.LINEAR, page.LOGLOG),
        default=page.DEFAULTS["sub_view"],
        required=True,
        key="sub_view",
        bind="query-params",
    )
    return scale or str(page.DEFAULTS["sub_view"])


def say_once(query: page.Once) -> None:
    """List the forms with the kind of each number."""
    st.markdown(marked("\n".join(f"- {line}" for line in page.form_lines(query))))
    st.caption(
        "All three have the same ε at the δ after sampling. A statement is one tangent of the region; the whole region "
        "is all its statements together."
    )
