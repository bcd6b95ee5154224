"""Mechanisms: the noise, the exact region, and what is claimed about it."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, mechanisms, page, work
from dpcore.app import mechanisms_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Mechanisms",
    "A mechanism adds noise to an answer. See the noise on two neighbouring datasets, and the region of all tests that an attacker can run on it.",
)
page.preset_row("Mechanisms", mechanisms.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()
if view is None:
    with left:
        st.info("Correct the field with the error to see the mechanism.", icon=":material/edit:")
    st.stop()

work.fresh(view)


def draw(held: Mapping[str, str]) -> None:
    """Draw the noise and the region with the test, with the value of a slider that is held."""
    moved = panels.moved(view, held)
    panels.show_noise(moved)
    with page.under_controls("region"):
        panels.say_noise(moved)
        st.header("Its region and the statements about it")
        panels.show_region(moved)


with left:
    live.follow("mechanism", panels.sliders(), draw, lambda held: panels.handles(panels.moved(view, held)))
with right:
    st.header("Smallest statements")
    panels.show_statements(view)
    st.header("Claimed and true")
    panels.show_claim(view)
    st.header("Noise for a goal")
    panels.show_goal(view)

left, right = st.columns(2, gap="large")
with left:
    panels.offer("Region", mechanisms.region_spec, view, key=panels.CHART)
with right:
    if not view.no_noise:
        panels.offer("Noise", mechanisms.noise_spec, view, key="noise", link=False)

panels.show_source(view.mechanism)
left, right = st.columns(2, gap="large")
for column, title, spec, key in (
    (left, "Profile δ(ε)", mechanisms.profile_spec, "profile"),
    (right, "Loss distribution", mechanisms.loss_spec, "loss"),
):
    with column:
        st.header(title)
        try:
            figure.show(spec(view), key=key, link=False)
        except DpcoreError as error:
            figure.trouble(error, key)
