"""Choose your noise: say what you want, leave one thing open, and compare what every noise answers."""

import streamlit as st

from dpcore.app import choose_your_noise, page, work
from dpcore.app import choose_your_noise_panels as panels
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Choose your noise",
    "Say what you want in your own terms: a statement (ε, δ), what an attacker may find, how far beliefs may move, or how "
    "far answers may be off. One thing is unknown; every noise answers, side by side.",
)
page.preset_row("Choose_your_noise", choose_your_noise.DEFAULTS)
note = st.container()
dark = page.look().dark

unknown, kind = panels.choose()
left, right = st.columns([5, 3], gap="large")
with right:
    question, trouble = panels.ask(unknown, kind)
work.fresh(question)
with left:
    if question is None or not panels.say(question, trouble):
        st.info("Correct the field beside to see the answers.", icon=":material/edit:")
        st.stop()
    panels.show(question, panels.view(), dark=dark)
st.header("All answers side by side")
panels.show_table(question)
panels.show_lines(question)
with note:
    preset_note("Choose_your_noise", choose_your_noise.DEFAULTS)
page.guide("choose_your_noise")
