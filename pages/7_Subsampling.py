"""Subsampling: what it is worth that a mechanism sees only a sample, once and over many steps."""

import streamlit as st

from dpcore.app import page, subsampling, work
from dpcore.app import subsampling_panels as panels
from dpcore.app.hand_figure import show_made
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Subsampling",
    "A mechanism that looks at a random sample cannot say much about anyone in particular: most of the time they are not "
    "in the sample. How much that is worth depends on how it is counted.",
)
page.preset_row("Subsampling", subsampling.DEFAULTS)
note = st.container()
dark = page.look().dark

st.header("One use of a sample")
left, right = st.columns([3, 2], gap="large")
with right:
    once, trouble = panels.ask_once()
    view = panels.view()
st.header("Many steps of noisy gradients")
st.markdown(
    "Each step takes every record with probability q and adds Gaussian noise σ to the clipped sum. Two datasets differ "
    "in one record added or removed."
)
steps = panels.ask_steps()
work.fresh((once, steps))

with left:
    if not panels.ready(once, trouble):
        once = None
        st.info("Correct the field beside to see what sampling does.", icon=":material/edit:")
if once is not None:
    with left:
        code = subsampling.once_code(once, view)
        show_made(lambda: subsampling.picture(once, view, dark=dark), "Sampling", key="sampled", code=code)
    with right:
        panels.say_once(once)
if steps is not None and panels.say_steps(steps):
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("ε as T grows")
        code = subsampling.ladder_code(steps)
        show_made(lambda: subsampling.ladder_picture(steps, dark=dark), "Climbing", key="steps", code=code, link=False)
    with right:
        st.subheader("Found at low false-positive rates")
        code = subsampling.rate_code(steps)
        show_made(lambda: subsampling.rate_picture(steps, dark=dark), "Drawing", key="rates", code=code, link=False)
    panels.show_rates(steps)
with note:
    preset_note("Subsampling", subsampling.DEFAULTS)
page.guide("subsampling")
