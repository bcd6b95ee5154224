"""The parts of the page Subsampling: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import figure, inputs, work
from dpcore.app import subsampling as page
from dpcore.app.export import csv_of
from dpcore.app.figure import plain
from dpcore.core.domains import SHARE
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000


# ---- many steps ----------------------------------------------------------------------------------------------


def ask_steps() -> page.TrainingSteps | None:
    """Show the fields of many steps, sliders beside them; None with the reason shown under the field."""
    sigma = inputs.slider_field(
        "Noise σ",
        "sub_sigma",
        page.DEFAULTS["sub_sigma"],
        page.SIGMAS,
        page.NOISE,
        help_text="Noise multiplier: standard deviation over sensitivity.",
    )
    q = inputs.slider_field(
        "Sampling rate q",
        "sub_q",
        page.DEFAULTS["sub_q"],
        page.QS,
        SHARE,
        help_text="Probability of each record in a step, such as 256/60000.",
    )
    steps = inputs.slider_field(
        "Steps T",
        "sub_steps",
        page.DEFAULTS["sub_steps"],
        page.TS,
        page.STEPS,
        name="Number of steps T",
        help_text="Epochs × records / batch size, such as 60*60000/256; a part of a step counts as a step.",
        round_up=True,
    )
    below = st.container()
    delta = inputs.number_field("At δ", "sub_delta", page.DEFAULTS["sub_delta"], SHARE, trouble=below)
    if sigma is None or q is None or steps is None or delta is None:
        return None
    return page.TrainingSteps(sigma, q, int(steps), delta)


def say_comparison(query: page.TrainingSteps) -> None:
    """Compare the usual numbers with the certified one, and flag an approximation below it."""
    unsafe, words = page.comparison(query)
    st.markdown(f":material/flag: {plain(words)}" if unsafe else plain(words))


def show_summary(query: page.TrainingSteps) -> None:
    """List epsilon by every method."""
    st.dataframe(page.summary(query), hide_index=True, width="stretch", key="sub_summary")
    st.download_button(
        "These numbers as CSV",
        data=lambda: csv_of(page.numbers(query)),
        file_name="gradients.csv",
        mime="text/csv",
        on_click="ignore",
        key="sub_numbers_csv",
        icon=":material/download:",
    )


def show_rates(query: page.TrainingSteps) -> None:
    """List what an attacker finds at low false-positive rates."""
    try:
        with work.progress("Attacking"):
            rows = page.rate_table(query)
    except DpcoreError as error:
        figure.trouble(error, "subsampling_attacking")
        return
    st.dataframe(rows, hide_index=True, width="stretch", key="sub_rates")


# ---- one use -------------------------------------------------------------------------------------------------


def ask_once() -> tuple[page.Once | None, DeltaGenerator]:
    """Show the fields of one use; return what they ask, or None with the reason shown, and the place for errors."""
    scheme = st.segmented_control(
        "Sampling",
        page.SCHEMES,
        default=page.DEFAULTS["sub_scheme"],
        required=True,
        key="sub_scheme",
        bind="query-params",
        help="Poisson: each record by itself with probability p; a neighbour has one record more or less. Fixed size: m "
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
    below = st.container()
    delta = inputs.number_field(
        "δ stated before sampling",
        "sub_stated",
        page.DEFAULTS["sub_stated"],
        trouble=below,
        help_text="The smallest ε at this δ is the statement that gets amplified.",
    )
    if p is None or delta is None:
        return None, trouble
    if len(text) > LONGEST:
        trouble.error(f"A mechanism is written in at most {LONGEST} characters, got {len(text)}.")
        return None, trouble
    return page.Once(text.strip(), p, scheme or page.DEFAULTS["sub_scheme"], delta), trouble


def view() -> str:
    """Show how to draw the regions of one use."""
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
    """List the forms with what each number is."""
    st.markdown("\n".join(f"- {line}" for line in page.form_lines(query)))
    st.caption(
        "All three have the same ε at the δ after sampling. A statement is one tangent of the region; the whole region "
        "is all its statements together."
    )
