"""Composition: what many answers together give away, by every theorem."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from dpcore.app import composition, figure, live, page, privacy_regions_panels, work
from dpcore.core.errors import BudgetError, DpcoreError

page.setup(
    "Composition",
    "One answer costs a little privacy; many answers together cost more. How much more depends on what is known about "
    "each mechanism, and on the theorem that adds it up. Here all of them speak about the same k mechanisms.",
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
dark = page.look().dark
below = st.container()
with left:
    try:
        with work.progress("Composing"):
            _, notices = composition.results(asked)
            composition.rows(asked)
            deltas = composition.deltas(asked)
    except DpcoreError as error:
        figure.trouble(error, "composing")
        st.stop()
    for notice in notices:
        st.warning(figure.plain(notice))

    def draw(held: Mapping[str, str]) -> None:
        """Say which theorem is best and draw them all, for the value of a slider that is held."""
        try:
            query = composition.moved(asked, held)
            composition.say(query)
            with work.progress("Drawing"):
                picture = composition.picture(query, view, titles, dark=dark)
            figure.picture(picture, "composition")
            composition.say_gaps(query, titles)
        except DpcoreError as error:
            figure.trouble(error, "composition")

    live.follow("composition", composition.SLIDERS, draw)
with below, suppress(DpcoreError):  # which is said where the picture would be
    figure.offer(
        composition.picture(asked, view, titles, dark=dark),
        key="composition",
        code=composition.code(asked, view, titles),
        table=deltas,
        command=composition.command(asked),
    )

st.header("What each theorem promises")
composition.show_summary(asked)

st.header("As k grows")
try:
    with work.progress("Climbing"):
        climbed = composition.ladder_picture(asked, titles, dark=dark)
        table = composition.rows(asked, whole=True)
    code = composition.ladder_code(asked, titles)
    figure.show(climbed, key="ladder", code=code, table=table, link=False)
except BudgetError as error:
    figure.trouble(error, "climbing")
except DpcoreError as error:
    st.info(figure.plain(str(error)))
