"""Composition: what many answers together give away, by every theorem."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from dpcore.app import composition, figure, live, page, privacy_regions_panels, work
from dpcore.core.errors import DpcoreError

page.setup(
    "Composition",
    "Many answers together cost more privacy than one. How much more, each theorem says about the same k mechanisms.",
)
page.preset_row("Composition", composition.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
titles = composition.theorems()
with right:
    asked = composition.ask()
    view = composition.options()
    privacy_regions_panels.preset_note("Composition", composition.DEFAULTS)
if asked is None:
    with left:
        st.info("Correct the field beside to see the composition.", icon=":material/edit:")
    st.stop()

work.fresh(asked)
with left:
    try:
        with work.progress("Composing"):
            _, notices = work.region(asked.mechanism)
            composition.rows(asked)
    except DpcoreError as error:
        figure.trouble(error, "composing")
        st.stop()
    for notice in notices:
        st.warning(figure.plain(notice))


spec = composition.spec(asked, view, titles)


def draw(held: Mapping[str, str]) -> None:
    """Say which theorem is best and draw them all, for the value of a slider that is held."""
    query = composition.moved(asked, held)
    with work.progress("Composing"):
        composition.say(query)
        picture = figure.figure_of(composition.spec(query, view, titles), height=composition.HEIGHT)
        figure.draw(picture, "composition")


below = st.container()
with left:
    live.follow("composition", composition.SLIDERS, draw)
with below:
    with suppress(DpcoreError), work.progress("Drawing"):  # an error is said where the picture would be
        figure.words(figure.figure_of(spec, height=composition.HEIGHT))
        composition.say_gaps(asked, titles)
    figure.offer(spec, key="composition", command=lambda table: composition.command(asked, table))

st.subheader("What each theorem promises")
composition.show_summary(asked)

st.subheader("As k grows")
figure.show(
    composition.ladder_spec(asked, titles), key="ladder", words="Climbing", height=composition.HEIGHT, link=False
)
