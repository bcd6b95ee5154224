"""Local privacy: the channel that keeps one person's value private and still answers an analyst's question best."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from dpcore.app import figure, live, local_privacy, page, privacy_regions_panels, work
from dpcore.app import local_privacy_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Local privacy",
    "Everyone sends a random answer instead of their private value, here called a letter: which channel tells an analyst the most?",
)
page.preset_row("Local_privacy", local_privacy.DEFAULTS)

left, right = st.columns([5, 3], gap="large")
about, counting = st.container(), st.container()
first, second = st.columns(2, gap="large")
with counting:
    st.header("How many people does an analyst need?")
with second:
    st.header("What answers give away")
with right:
    view = panels.ask(counting, second)
    privacy_regions_panels.preset_note("Local_privacy", local_privacy.DEFAULTS)
if view is None:
    with left:
        st.info("Correct the field with the error to see the channels.", icon=":material/edit:")
    st.stop()
work.fresh(view)


def draw_curves(held: Mapping[str, str]) -> None:
    """Draw what channels keep as ε grows, for the value of a slider that is held."""
    with work.progress("Comparing"):
        figure.draw(figure.figure_of(panels.moved(view, held).spec("divergence"), height=panels.HEIGHT), "local_curves")


def draw_region(held: Mapping[str, str]) -> None:
    """Draw what one person's answers give away."""
    figure.picture_of(panels.moved(view, held).spec("region"), key="local_region", words="Drawing")


with left:
    live.follow("local_curves", panels.PROMISE_SLIDERS, draw_curves)
with about:
    with suppress(DpcoreError), work.progress("Comparing"):  # an error is said where the picture would be
        figure.words(figure.figure_of(view.spec("divergence"), height=panels.HEIGHT))
    figure.offer(view.spec("divergence"), key="local_curves")
with counting:
    panels.say_people(view)
    panels.say_limits(view)
with first:
    st.header("How to answer")
    figure.show(view.spec("channel"), key="local_channel_picture", words="Optimizing", link=False)
with second:
    live.follow("local_region", [panels.TIMES_SLIDER], draw_region)
    figure.offer(view.spec("region"), key="local_region", link=False)

st.header("Proved bounds, checked here")
panels.show_bounds(view)
page.guide("local_privacy")
