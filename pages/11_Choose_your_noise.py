"""Choose your noise: say what you want, leave one thing open, and compare what every noise answers."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from dpcore.app import choose_your_noise, figure, live, page, work
from dpcore.app import choose_your_noise_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import BudgetError, DpcoreError

page.setup(
    "Choose your noise",
    "State your goals and leave one number open: compare what each kind of noise needs, side by side.",
)
page.preset_row("Choose_your_noise", choose_your_noise.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
with right:
    unknown, kind = panels.choose()
    question = panels.ask(unknown, kind)
    view = panels.view()
    preset_note("Choose_your_noise", choose_your_noise.DEFAULTS)
work.fresh(question)
if question is None:
    with left:
        st.info("Correct the field with the error to see the answers.", icon=":material/edit:")
    st.stop()


def draw(held: Mapping[str, str]) -> None:
    """Say which noise is best and draw all of them, for the value of a slider that is held."""
    asked = panels.moved(unknown, kind, held, question)
    with work.progress("Calibrating"):
        if panels.say(asked):
            figure.draw(figure.figure_of(choose_your_noise.spec(asked, view), height=panels.HEIGHT), "choices")


spec = choose_your_noise.spec(question, view)
with left:
    try:  # before the part that follows sliders: a Stop belongs to the page
        with work.progress("Calibrating"):
            if choose_your_noise.is_drawable(question):
                figure.figure_of(spec, height=panels.HEIGHT)
    except BudgetError as error:
        figure.trouble(error, "choices")
        st.stop()
    except DpcoreError:
        pass  # said where the picture would be
    live.follow("choose", panels.sliders(unknown, kind), draw)
with suppress(DpcoreError), work.progress("Calibrating"):  # an error is said where the picture would be
    st.caption(figure.plain(choose_your_noise.asked_words(question)))
    if choose_your_noise.is_drawable(question):
        figure.words(figure.figure_of(spec, height=panels.HEIGHT))
        figure.offer(spec, key="choices")
    st.header("All answers side by side")
    panels.show_table(question)
    panels.show_lines(question)
page.guide("choose_your_noise")
