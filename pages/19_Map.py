"""Map: one measure over two parameters, as shades with contour lines."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, work
from dpcore.app import map as model
from dpcore.app import map_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup("Map", "One number over two parameters at once: where is ε small enough, and what changes it most?")
page.preset_row("Map", model.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    query = panels.ask()
work.fresh(query)


def draw(held: Mapping[str, str]) -> None:
    """Draw the map, with the value of a slider that is held if the map is small."""
    current = query.moved(held) if query.is_live else query
    try:
        with work.progress("Computing the map"):
            figure.draw(figure.figure_of(current.spec(), height=model.HEIGHT), "map")
    except DpcoreError as error:
        figure.trouble(error, "map")


if query is None:
    left.info("Correct the field with the error to see the map.", icon=":material/edit:")
else:
    with left:
        live.follow("map", model.SLIDERS, draw)
    with below:
        figure.explain(query.spec(), height=model.HEIGHT)
        figure.offer(query.spec(), key="map")
        preset_note("Map", model.DEFAULTS)
page.guide("sweeps")
