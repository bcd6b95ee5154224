"""Local privacy: the channel that keeps one person's value private and still answers an analyst's question best."""

import streamlit as st

from dpcore.app import hand_figure, local_privacy, page, privacy_regions_panels, work
from dpcore.app import local_privacy_panels as parts

page.setup(
    "Local privacy",
    "Nobody hands over their private value: everybody sends a random answer drawn through a channel, and the analyst, who "
    "wants to tell two hypotheses about the values apart, sees only the answers. Which channel keeps most of the "
    "difference, how much can no channel keep, and how many people must be asked?",
)
page.preset_row("Local_privacy", local_privacy.DEFAULTS)
note = st.container()
dark = page.look().dark

left, right = st.columns([5, 3], gap="large")
with right:
    view = parts.ask()
with note:
    privacy_regions_panels.preset_note("Local_privacy", local_privacy.DEFAULTS)
if view is None:
    with left:
        st.info("Correct the field beside to see the channels.", icon=":material/edit:")
    st.stop()

work.fresh(view)
with left, work.progress("Computing"):
    curves = work.attempt(local_privacy.sweep_picture, view, dark=dark)
    channel = work.attempt(local_privacy.channel_picture, view, dark=dark)
    region = work.attempt(local_privacy.region_picture, view, dark=dark)
with left:
    st.header("What survives the channel")
    hand_figure.show_or_say(curves, code=local_privacy.sweep_code(view), key="local_curves")
with right:
    st.subheader("People an analyst needs")
    parts.say_people(view)
    parts.say_limits(view)

left, right = st.columns(2, gap="large")
with left:
    st.header("How to answer")
    hand_figure.show_or_say(channel, code=local_privacy.channel_code(view), key="local_channel_picture", link=False)
with right:
    st.header("What an answer gives away")
    hand_figure.show_or_say(region, code=local_privacy.region_code(view), key="local_region", link=False)

st.header("What is proved, checked here")
parts.show_bounds(view)
page.guide("local_privacy")
