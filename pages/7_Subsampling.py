"""Subsampling: what one use of a random sample hides, as a statement and as a region."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, subsampling, work
from dpcore.app import subsampling_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Subsampling",
    "A mechanism that sees only a random sample reveals less about each record. For many steps, see Private training.",
)
panels.pass_on()
page.preset_row("Subsampling", subsampling.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    once, trouble = panels.ask_once()
    view = panels.view()
work.fresh(once)


def draw(held: Mapping[str, str]) -> None:
    """Draw the region before and after sampling, with the value of a slider that is held."""
    spec = subsampling.once_spec(once.moved(held), view)
    try:
        with work.progress("Sampling"):
            figure.draw(figure.figure_of(spec, height=subsampling.HEIGHT), "sampled")
    except DpcoreError as error:
        figure.trouble(error, "sampled")


if once is None or not figure.ready(lambda: subsampling.forms_of(once), "Amplifying", trouble):
    left.info("Correct the field with the error to see what sampling does.", icon=":material/edit:")
else:
    with left:
        live.follow("sampled", subsampling.SLIDERS, draw)
    with below:
        figure.explain(subsampling.once_spec(once, view), height=subsampling.HEIGHT)
        figure.offer(subsampling.once_spec(once, view), key="sampled")
        preset_note("Subsampling", subsampling.DEFAULTS)
        panels.say_once(once)
page.guide("subsampling")
