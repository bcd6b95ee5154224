"""Several constraints: what they say together, composed k times, and whether a region is a product of single ones."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, several_constraints, work
from dpcore.app import several_constraints_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Several constraints",
    "You know several pairs (ε, δ) of a mechanism, or a bound on its total variation: what do k such mechanisms reveal?",
)
page.preset_row("Several_constraints", several_constraints.DEFAULTS)
work.fresh(panels.asked())
left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()


def draw(held: Mapping[str, str]) -> None:
    """Draw one mechanism and k of them, with the value of a slider that is held."""
    shown = view.moved(held)
    try:
        with work.progress("Composing"):
            st.success(figure.sentence(several_constraints.answer(shown)), icon=":material/check_circle:")
            figure.draw(figure.figure_of(shown.spec(), height=several_constraints.HEIGHT), "cons_regions")
    except DpcoreError as error:
        figure.trouble(error, "cons_regions")


if view is None:
    left.info("Correct the field with the error to see the region.", icon=":material/edit:")
else:
    with left:
        live.follow("constraints", several_constraints.SLIDERS, draw)
    figure.explain(view.spec(), height=several_constraints.HEIGHT)
    figure.offer(view.spec(), key="cons_regions")
    note = st.container()
    st.header("Which statements count")
    panels.show_activity(view)
    st.header("The corners")
    panels.show_corners(view)
    st.header("The worst mechanism")
    left, right = st.columns([5, 3], gap="large")
    with left:
        figure.show(view.pair_spec(), key="cons_pair", words="Drawing the pair", link=False)
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
            spec = several_constraints.peeling_spec(region, step)
            figure.show(spec, key="cons_peeling", words="Peeling", link=False)
    if not answer.is_product:
        st.header("A product that contains it")
        panels.show_product(region, panels.ask_factors())

if view is not None:
    with note:  # when all fields of the page are there to be compared
        preset_note("Several_constraints", several_constraints.DEFAULTS)
page.guide("several_constraints")
