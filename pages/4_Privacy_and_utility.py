"""Privacy and utility: how far answers are off, beside what an attacker can do."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, hand_figure, live, page, privacy_and_utility, work
from dpcore.app import privacy_and_utility_panels as panels
from dpcore.app import privacy_and_utility_results as results
from dpcore.app import privacy_regions_panels as examples
from dpcore.core.errors import DpcoreError

page.setup(
    "Privacy and utility",
    "More noise hides a person better and answers worse. Choose a question and how it is answered: on the left how far the "
    "answers are off, on the right what an attacker can do, and one slider for both.",
)
page.preset_row("Privacy_and_utility", privacy_and_utility.DEFAULTS)
note = st.container()
dark = page.look().dark
asked, figures, slider, under, trade, last = (st.container() for _ in range(6))
left, right = last.columns(2, gap="large")
with asked:
    view = panels.ask(draws=left)
if view is None:
    st.info("Correct or complete the fields above to see the trade-off.", icon=":material/edit:")
    st.stop()

work.fresh((*view.key, view.seed))
with figures, work.progress("Simulating"):
    words = work.attempt(privacy_and_utility.words, view)
    regions = work.attempt(privacy_and_utility.region_picture, view, dark=dark)
    release = work.attempt(privacy_and_utility.release_picture, view, dark=dark)
    drawn = work.attempt(
        privacy_and_utility.utility_picture, view, dark=dark
    )  # last: what comes before it survives a Stop
with left:
    hand_figure.show_or_say(release, code=privacy_and_utility.release_code(view), key="utility_release", link=False)
with right:
    st.header("The inverse question")
    results.ask_needed(view)

below = under.columns(2, gap="large")
left, right = figures.columns(2, gap="large")
with left:
    st.header("Utility")
    hand_figure.show_or_say(drawn, code=privacy_and_utility.utility_code(view), key="utility_figure", below=below[0])


def draw(held: Mapping[str, str]) -> None:
    """Draw the region at the value of the slider while it is held."""
    try:
        with work.progress("Drawing"):
            picture = privacy_and_utility.region_picture(results.moved(view, held), dark=dark)
        figure.picture(picture, "utility_region")
    except DpcoreError as error:
        figure.trouble(error, "utility_region")


with right:
    st.header("Privacy region")
    live.follow("utility", [results.SLIDER], draw)
if not isinstance(regions, DpcoreError):
    with below[1]:
        hand_figure.offer(regions, key="utility_region", code=privacy_and_utility.region_code(view), link=False)
with slider:
    results.slider(view)
    results.show_words(words)
with below[1]:
    results.show_facts(view)
with trade:
    results.show_bounds(view, dark=dark)
with note:  # last: a link is known when all its fields are there
    examples.preset_note("Privacy_and_utility", privacy_and_utility.DEFAULTS)
page.guide("privacy_and_utility")
