"""Subsampling: the privacy of private training, many noisy steps on random samples, and of a single sample."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, subsampling, work
from dpcore.app import subsampling_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Subsampling",
    "Private training (DP-SGD): each of T steps takes every record with probability q and adds Gaussian noise σ.",
)
page.preset_row("Subsampling", subsampling.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    steps = panels.ask_steps()
st.header("One use of a sample")
once_left, once_right = st.columns([5, 3], gap="large")
once_below = st.container()
with once_right:
    once, trouble = panels.ask_once()
    view = panels.view()
work.fresh((once, steps))


def draw_steps(held: Mapping[str, str]) -> None:
    """Say what all steps reveal and draw it, with the value of a slider that is held."""
    query = steps.moved(held)
    try:
        with work.progress("Composing the steps"):
            st.success(figure.plain(subsampling.answer(query)), icon=":material/check_circle:")
            spec = subsampling.steps_spec(query)
            figure.picture(figure.figure_of(spec, height=subsampling.HEIGHT), "steps")
            st.caption(subsampling.CONDITIONS)
            panels.say_comparison(query)
    except DpcoreError as error:
        figure.trouble(error, "steps")


def draw_once(held: Mapping[str, str]) -> None:
    """Draw the region before and after sampling, with the value of a slider that is held."""
    spec = subsampling.once_spec(once.moved(held), view)
    try:
        with work.progress("Sampling"):
            figure.picture(figure.figure_of(spec, height=subsampling.HEIGHT), "sampled")
    except DpcoreError as error:
        figure.trouble(error, "sampled")


if steps is None:
    left.info("Correct the field beside to see the steps.", icon=":material/edit:")
elif figure.ready(lambda: (subsampling.numbers(steps), ()), "Composing the steps", left):
    with left:
        live.follow("steps", subsampling.SLIDERS, draw_steps)
    with below:
        figure.offer(subsampling.steps_spec(steps), key="steps")
        preset_note("Subsampling", subsampling.DEFAULTS)
        panels.show_summary(steps)
        st.header("Found at low false-positive rates")
        figure.show(
            subsampling.rates_spec(steps), key="rates", words="Attacking", height=subsampling.HEIGHT, link=False
        )
        panels.show_rates(steps)
if once is None or not figure.ready(lambda: subsampling.forms_of(once), "Amplifying", trouble):
    once_left.info("Correct the field beside to see what sampling does.", icon=":material/edit:")
else:
    with once_left:
        live.follow("sampled", ["sub_p_slider"], draw_once)
    with once_below:
        figure.offer(subsampling.once_spec(once, view), key="sampled", link=False)
        panels.say_once(once)
page.guide("subsampling")
