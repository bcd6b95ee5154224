"""Composition: what many answers reveal together, by every theorem."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from dpcore.app import composition, figure, live, page, privacy_regions_panels, work
from dpcore.core.errors import DpcoreError

page.setup(
    "Composition",
    "Many answers together cost more privacy than one. Here is how much more, by each theorem, for the same k mechanisms.",
)
page.preset_row("Composition", composition.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
titles = composition.theorems()
reasons = st.container()
with right:
    query = composition.ask()
    view = composition.options()
    privacy_regions_panels.preset_note("Composition", composition.DEFAULTS)
if query is None:
    with left:
        st.info("Correct the field to see the composition.", icon=":material/edit:")
    st.stop()

work.fresh(query)
with left:
    try:
        with work.progress("Composing"):
            _, notices = work.region(query.mechanism)
            composition.rows(query)
    except DpcoreError as error:
        figure.trouble(error, "composing")
        st.stop()
    for notice in notices:
        st.warning(figure.plain(notice))


spec = composition.spec(query, view, titles)


def draw(held: Mapping[str, str]) -> None:
    """Say which theorem is best and draw them all, for the current value of a held slider."""
    current = composition.with_slider(query, held)
    with work.progress("Composing"):
        composition.say(current)
        picture = figure.figure_of(composition.spec(current, view, titles), height=composition.HEIGHT)
        figure.draw(picture, "composition")


below = st.container()
with left:
    live.follow("composition", composition.SLIDERS, draw)
with below:
    with suppress(DpcoreError), work.progress("Drawing"):  # the error appears where the picture would be
        drawing = figure.figure_of(spec, height=composition.HEIGHT)
        with reasons:  # beside the choice of what is drawn
            figure.say_notes(drawing)
        st.markdown(figure.answer(drawing))
        composition.say_gaps(query, titles)
    figure.offer(spec, key="composition", command=lambda table: composition.command(query, table))

st.header("What each theorem promises")
composition.show_summary(query)
composition.say_mu(query)

st.header("As k grows")
figure.show(
    composition.ladder_spec(query, titles), key="ladder", words="Computing", height=composition.HEIGHT, link=False
)
