"""Privacy regions: draw, edit, combine and compare any number of them."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpcore.app import editing, figure, listing, live, page, privacy_regions, work
from dpcore.app import privacy_regions_panels as panels
from dpcore.core.errors import DpcoreError

DEFAULTS: dict[str, Any] = {
    "regions": "dp(1); laplace(1)",
    "picture": privacy_regions.REGION,
    "axes": "f-DP",
    "scale": "linear",
    "draw": "filled",
    "legend": True,
    "front": False,
    "pick": [],
}

page.setup(
    "Privacy regions",
    "A region holds the pairs of error rates that attackers can reach. The smaller it is, the better the privacy.",
)
page.preset_row("Privacy_regions", DEFAULTS)
left, right = st.columns([5, 3], gap="large")
about, written = st.container(), st.container()

with right:
    chosen, styling, adding, combining = st.container(border=True), st.container(), st.container(), st.container()
with written:
    items, complaints = panels.list_text(DEFAULTS["regions"])
with adding:
    panels.add(items, complaints)
with chosen:
    index = panels.selection(items)
with combining:
    pair = panels.combine(items)
with styling:
    view = panels.view_options()
with left:
    work.fresh((listing.write(items), view["picture"]))
    with work.progress():  # after all widgets, so that a visitor who does not wait loses nothing
        lines = privacy_regions.lines(items)


def spec(every: list[privacy_regions.RegionLine]) -> dict[str, Any]:
    """Return the spec of the list, the selected region in front if that is wanted."""
    front = index is not None and view["front"]
    return privacy_regions.spec(every, view, selected=every[index].label if front and index is not None else None)


def draw(held: Mapping[str, str]) -> None:
    """Draw the list, the selected region with the value of a slider that is held."""
    try:
        with work.progress("Drawing"):
            every = privacy_regions.lines(editing.moved(items, index, held)) if held else lines
            picture = figure.figure_of(spec(every), height=privacy_regions.height(every, view))
            with st.container(key=panels.FRAME):
                figure.draw(picture, "privacy_regions")
            with page.under_controls("answer"):
                figure.words(picture)
    except DpcoreError as error:
        figure.trouble(error, "drawing")


def handles(held: Mapping[str, str]) -> list[live.Handle]:
    """Return what can be dragged on the chart: corner and end of an (ε, δ) region that is selected."""
    if index is None or view["picture"] != privacy_regions.REGION:
        return []
    item = editing.moved(items, index, held)[index]
    return panels.handles(item.expression, log=view["scale"] == "log-log")


with left:
    panels.troubles(lines, index)
    if not any(line.drawn for line in lines):
        st.info("Nothing is drawn yet: add a region, or open an example.", icon=":material/add_chart:")
    live.follow("regions", st.session_state[panels.SLIDERS], draw, handles)
    with page.under_controls("row"):
        figure.offer(spec(lines), key="privacy_regions", command=lambda _: privacy_regions.command(lines, view))
        if pair is not None:
            panels.comparison(*(lines[at] for at in pair))
        panels.preset_note("Privacy_regions", DEFAULTS)
if index is not None:
    with about:
        panels.details(lines[index])
