"""Privacy regions: draw, edit, combine and compare any number of them."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from dpcore.app import editing, figure, hand_figure, listing, live, page, privacy_regions, privacy_regions_panels, work
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
    "Each region holds the pairs of error rates that some attacker can reach. The smaller the region, the closer every "
    "attacker stays to blind guessing, and the better the privacy.",
)
page.preset_row("Privacy_regions", DEFAULTS)
left, right = st.columns([3, 2], gap="large")
about, below, written = st.container(), st.container(), st.container()

with right:
    chosen, adding, combining = st.container(border=True), st.container(), st.container()
with written:
    items, complaints = privacy_regions_panels.list_text(DEFAULTS["regions"])
with adding:
    privacy_regions_panels.add(items, complaints)
with chosen:
    index = privacy_regions_panels.selection(items)
with combining:
    pair = privacy_regions_panels.combine(items)
with left:
    view = privacy_regions_panels.view_options()
    work.fresh((listing.write(items), view["picture"]))
    with work.progress():  # after all widgets, so that a visitor who does not wait loses nothing
        lines = privacy_regions.lines(items)

drawn = [line for line in lines if line.drawn]
front = index is not None and view["front"]


def draw(held: Mapping[str, str]) -> None:
    """Draw the list, the selected region with the value of a slider that is held."""
    try:
        with work.progress("Drawing"):
            every = privacy_regions.lines(editing.moved(items, index, held)) if held else lines
            selected = every[index].label if front and index is not None else None
            figure.picture(
                privacy_regions.picture(every, view, selected=selected, dark=page.look().dark)[0], "privacy_regions"
            )
    except DpcoreError as error:
        figure.trouble(error, "drawing")


with left:
    privacy_regions_panels.troubles(lines, index)
    if not drawn:
        st.info("Nothing is drawn yet: add a region, or open an example.", icon=":material/add_chart:")
        empty, code = privacy_regions.blank(view, dark=page.look().dark)
        hand_figure.show(empty, key="privacy_regions", code=code, below=below)
    else:
        live.follow("regions", st.session_state[privacy_regions_panels.SLIDERS], draw)
        with below, suppress(DpcoreError):  # which is said where the picture would be
            selected = lines[index].label if front and index is not None else None
            picture, options = privacy_regions.picture(lines, view, selected=selected, dark=page.look().dark)
            table, command = privacy_regions.table(drawn, view["picture"], picture)
            code = privacy_regions.code(drawn, view["picture"], options)
            hand_figure.offer(picture, key="privacy_regions", code=code, table=table, command=command)
    if pair is not None:
        privacy_regions_panels.comparison(*(lines[at] for at in pair))
    privacy_regions_panels.preset_note("Privacy_regions", DEFAULTS)
if index is not None:
    with about:
        privacy_regions_panels.details(lines[index])
