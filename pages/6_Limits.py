"""Limits: many small losses become Gaussian, how fast, and when that number must not be trusted."""

import streamlit as st

from dpcore.app import limits, page, work
from dpcore.app import limits_panels as panels
from dpcore.app.hand_figure import show_made
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Limits",
    "Many mechanisms together look like Gaussian noise. That central limit gives a short formula, and a number that may "
    "be below the truth. Here it stands beside the exact composition, inside the band that the theorem does promise.",
)
page.preset_row("Limits", limits.DEFAULTS)
note = st.container()
dark = page.look().dark

left, right = st.columns([3, 2], gap="large")
grown, safe = st.columns(2, gap="large")
st.header("Weaker mechanisms, more of them")
st.markdown(
    "For one fixed mechanism the two curves need not approach each other: the loss grows with k, and the difference moves "
    "to false-positive rates too small to see. They do approach each other when every mechanism gets weaker as there are "
    "more of them. Three ways to do so:"
)
with right:
    asked, trouble = panels.ask()
    view = panels.view()
rows = panels.ask_arrays()
work.fresh((asked, rows))

with left:
    if not panels.ready(asked, trouble):
        asked = None
        st.info("Correct the field beside to see the limit.", icon=":material/edit:")
if asked is not None:
    with right:
        panels.say(asked)
        panels.show_numbers(asked)
    with left:
        code = limits.picture_code(asked, view)
        show_made(lambda: limits.picture(asked, view, dark=dark), "Composing", key="limits", code=code)
    with grown:
        st.header("As k grows")
        code = limits.distance_code(asked)
        show_made(
            lambda: limits.distance_picture(asked, dark=dark), "Climbing", key="limit_distance", code=code, link=False
        )
    with safe:
        st.header("Is the limit's ε safe?")
        code = limits.safety_code(asked)
        show_made(
            lambda: limits.safety_picture(asked, dark=dark), "Checking", key="limit_safety", code=code, link=False
        )
if rows is not None:
    st.markdown(limits.array_words(rows))
    left, right = st.columns(2, gap="large")
    with left:
        code = limits.array_code(rows, regions=False, view=view)
        show_made(lambda: limits.array_picture(rows, dark=dark), "Converging", key="arrays", code=code, link=False)
    with right:
        code = limits.array_code(rows, regions=True, view=view)
        show_made(
            lambda: limits.array_regions(rows, view, dark=dark), "Drawing", key="array_regions", code=code, link=False
        )
with note:
    preset_note("Limits", limits.DEFAULTS)
page.guide("limits")
