"""Several constraints: what they say together, composed k times, and whether a region is a product of single ones."""

import streamlit as st

from dpcore.app import hand_figure, page, several_constraints, work
from dpcore.app import several_constraints_panels as panels

page.setup(
    "Several constraints",
    "More may be known about a mechanism than one pair (ε, δ): several pairs, or a bound on its total variation. Here "
    "you see what such a list says together, which part of it counts, what k such mechanisms reveal at most, and when "
    "a region is the same as a few single constraints one after another.",
)
page.preset_row("Several_constraints", several_constraints.DEFAULTS)
dark = page.look().dark

work.fresh(panels.asked())
left, right = st.columns([5, 3], gap="large")
with left:
    st.header("One mechanism, and k of them")
with right:
    view = panels.ask()
if view is None:
    left.info("Correct the field beside to see the region.", icon=":material/edit:")
else:
    with left, work.progress("Composing"):
        regions = work.attempt(lambda: several_constraints.picture(view, dark=dark))
        pair = work.attempt(lambda: several_constraints.pair_picture(view, dark=dark))
    with left:
        hand_figure.show_or_say(regions, key="cons_regions", code=several_constraints.code(view))
    st.header("Which statements count")
    panels.show_activity(view)
    st.header("The corners")
    panels.show_corners(view)
    st.header("The worst mechanism")
    left, right = st.columns([5, 3], gap="large")
    with left:
        hand_figure.show_or_say(pair, key="cons_pair", code=several_constraints.pair_code(view), link=False)
    with right:
        panels.show_pair(view)

st.header("Is a region a product of single constraints?")
region = panels.ask_region(view)
answer = None if region is None else panels.split(region)
if region is not None and answer is not None:
    panels.show_answer(answer)
    if len(answer.steps):
        left, right = st.columns([5, 3], gap="large")
        with right:
            step = panels.ask_step(answer)
        with left:
            panels.show_step(answer, step, dark=dark)
    if not answer.is_product:
        st.header("A product that contains it")
        panels.show_product(region, panels.ask_factors(), dark=dark)

page.guide("several_constraints")
