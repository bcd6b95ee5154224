"""Mechanisms: the noise, the exact region, and what is claimed about it."""

import streamlit as st

from dpcore.app import figure, live, mechanisms, page, work
from dpcore.app import mechanisms_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Mechanisms",
    "A mechanism adds noise to an answer: the noise on two neighbouring datasets, and the exact region of all tests of it.",
)
page.preset_row("Mechanisms", mechanisms.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()
if view is None:
    with left:
        st.info("Correct the field beside to see the mechanism.", icon=":material/edit:")
    st.stop()

work.fresh(view)


with left:
    live.follow("noise", panels.sliders(), lambda held: panels.show_noise(panels.moved(view, held)))
    if not view.no_noise:
        panels.offer(mechanisms.noise_spec, view, key="noise", link=False)

left, right = st.columns([5, 3], gap="large")
with left:
    st.subheader("Its region, and what is said about it")
    live.follow("mechanism", panels.sliders(), lambda held: panels.show_region(panels.moved(view, held)))
    panels.offer(mechanisms.region_spec, view, key=panels.CHART, link=True)
with right:
    st.subheader("Smallest statements")
    panels.show_statements(view)
    st.subheader("Claimed and true")
    panels.show_claim(view)
    st.subheader("Noise for a goal")
    panels.show_goal(view)

left, right = st.columns(2, gap="large")
for column, title, spec, key in (
    (left, "Profile δ(ε)", mechanisms.profile_spec, "profile"),
    (right, "Loss distribution", mechanisms.loss_spec, "loss"),
):
    with column:
        st.subheader(title)
        try:
            figure.show(spec(view), key=key, link=False)
        except DpcoreError as error:
            figure.trouble(error, key)
