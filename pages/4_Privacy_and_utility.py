"""Privacy and utility: how far answers are off, beside what an attacker can do."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, privacy_and_utility, work
from dpcore.app import privacy_and_utility_panels as panels
from dpcore.app import privacy_and_utility_results as results
from dpcore.app import privacy_regions_panels as examples

page.setup(
    "Privacy and utility",
    "More noise hides a person better and answers worse. Choose a question, and see both as you drag a slider.",
)
page.preset_row("Privacy_and_utility", privacy_and_utility.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
release, inverse = st.columns(2, gap="large")
with right:
    view = panels.ask(draws=release)
if view is None:
    with left:
        st.info("Correct or complete the fields to see the trade-off.", icon=":material/edit:")
    st.stop()

work.fresh((view.pair, tuple(view.source.fields.items()), view.moves, view.measure, view.releases, view.seed))
store = view.source.store


def draw(held: Mapping[str, str]) -> None:
    """Draw the error and the region, with the value of a slider that is held."""
    results.show_pictures(view.moved(held))


with left:
    live.follow("utility", panels.sliders(), draw)
with below:
    left, right = st.columns(2, gap="large")
    with left:
        st.caption("Utility")
        figure.offer(view.utility_spec(), key="utility_figure", store=store)
    with right:
        st.caption("Privacy region")
        figure.offer(view.region_spec(), key="utility_region", link=False, store=store)
    results.offer_plan(view)
    results.show_facts(view)
    results.show_source(view)
    note = st.container()
    results.show_bounds(view)
with release:
    figure.show(view.release_spec(), key="utility_release", words="Releasing", link=False, store=store)
with inverse:
    st.header("The inverse question")
    results.ask_needed(view)
with note:  # last: a link is known when all its fields are there
    examples.preset_note("Privacy_and_utility", privacy_and_utility.DEFAULTS)
page.guide("privacy_and_utility")
