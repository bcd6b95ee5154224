"""The parts of the page of subsampling: each shows widgets or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dpcore.app import figure, inputs, work
from dpcore.app import subsampling as page
from dpcore.app.export import csv_of
from dpcore.app.figure import plain
from dpcore.core.domains import SHARE, SIGMA
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import FACTS, readable
from dpcore.core.numerals import nearest
from dpcore.words import of_100

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000


def ask_once() -> tuple[page.Once | None, DeltaGenerator]:
    """Show the fields of one use; None with the reason shown where the place handed back is."""
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
    first, second = st.columns(2)
    below = st.container()
    with first:
        p = inputs.number_field("Share p", "sub_p", page.DEFAULTS["sub_p"], SHARE, trouble=below)
    with second:
        delta = inputs.number_field(
            "δ stated before sampling",
            "sub_stated",
            page.DEFAULTS["sub_stated"],
            trouble=below,
            help_text="The smallest ε at this δ is the statement that gets amplified.",
        )
    inputs.log_slider("Share of the records in a sample", "sub_p", page.PS, p)
    if p is None or delta is None:
        return None, below
    if len(text) > LONGEST:
        below.error(f"A mechanism is written in at most {LONGEST} characters, got {len(text)}.")
        return None, below
    return page.Once(text.strip(), p, scheme or page.DEFAULTS["sub_scheme"], delta), below


def ready(query: page.Once | None, below: DeltaGenerator) -> bool:
    """Whether the mechanism can be sampled; if not, say why next to its field."""
    return query is not None and figure.ready(lambda: page.found(query), "Amplifying", below)


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


def ask_steps() -> page.TrainingSteps | None:
    """Show the fields of many steps; None with the reason shown under the field."""
    columns = st.columns(4)
    below = st.container()
    with columns[0]:
        sigma = inputs.number_field(
            "Noise σ",
            "sub_sigma",
            page.DEFAULTS["sub_sigma"],
            SIGMA.but(low=0.1, high=100.0, low_open=False, infinite=False),
            trouble=below,
            help_text="Standard deviation of the noise divided by the sensitivity: the noise multiplier.",
        )
    with columns[1]:
        q = inputs.number_field("Sampling rate q", "sub_q", page.DEFAULTS["sub_q"], SHARE, trouble=below)
    with columns[2]:
        steps = inputs.integer_field(
            "Steps T", "sub_steps", page.DEFAULTS["sub_steps"], low=1, high=page.LARGEST_T, trouble=below
        )
    with columns[3]:
        delta = inputs.number_field("At δ", "sub_delta", page.DEFAULTS["sub_delta"], SHARE, trouble=below)
    inputs.log_slider("Number of steps", "sub_steps", page.TS, steps)
    if sigma is None or q is None or steps is None or delta is None:
        return None
    return page.TrainingSteps(sigma, q, steps, delta)


def say_once(query: page.Once) -> None:
    """List the forms with what each number is."""
    st.markdown("\n".join(f"- {line}" for line in page.form_lines(query)))
    st.caption(
        "At the δ after sampling all three have the same ε: the whole region is what all statements say together, one "
        "statement is one line of it."
    )


def say_steps(query: page.TrainingSteps) -> bool:
    """Say the certified number and flag an approximation below it; False if there is none."""
    try:
        with work.progress("Composing the steps"):
            unsafe, words = page.steps_words(query)
            table = page.summary(query)
    except DpcoreError as error:
        figure.trouble(error, "subsampling_composing_the_steps")
        return False
    if unsafe:
        st.info(plain(words), icon=":material/flag:")
    else:
        st.success(plain(words), icon=":material/check_circle:")
    st.dataframe(table, hide_index=True, width="stretch", key="sub_summary")
    st.download_button(
        "These numbers as CSV",
        data=lambda: csv_of(page.numbers(query)),
        file_name="gradients.csv",
        mime="text/csv",
        on_click="ignore",
        key="sub_numbers_csv",
        icon=":material/download:",
    )
    return True


def show_rates(query: page.TrainingSteps) -> None:
    """List what an attacker finds at low false-positive rates."""
    try:
        with work.progress("Attacking"):
            rows = page.rate_rows(query)
            rows = rows[rows["fpr"].isin(page.DECADES)]
    except DpcoreError as error:
        figure.trouble(error, "subsampling_attacking")
        return
    shown = pd.DataFrame(
        {
            "Wrongly accused": [of_100(float(rate)) for rate in rows["fpr"]],
            "Found, at most": [of_100(float(rate)) for rate in rows["tpr"]],
            "By Rényi (bound)": [of_100(float(rate)) for rate in rows["renyi"]],
            "By CLT (approximation)": [f"about {nearest(float(rate), 4)}" for rate in rows["clt"]],
            "The CLT is": rows["verdict"],
            **rows[list(FACTS)],
        }
    )
    st.dataframe(readable(shown), hide_index=True, width="stretch", key="sub_rates")
