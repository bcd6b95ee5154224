"""Claimed and true: what a paper, a vendor or a program claims, against the certified truth."""

import streamlit as st

from dpcore.app import claimed_and_true, hand_figure, page, work
from dpcore.app import claimed_and_true_panels as panels
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Claimed and true",
    "Enter what a paper, a vendor or a program claims about its noise. The page compares the claim with the certified "
    "truth and says whether it is safe, wastes noise, or is wrong, and by how much.",
)
page.preset_row("Claimed_and_true", claimed_and_true.DEFAULTS)
note = st.container()
dark = page.look().dark

asked, trouble = panels.ask()
work.fresh(asked)
if asked is None or not panels.say(asked, trouble):
    st.info("Correct the field above to see the verdict.", icon=":material/edit:")
    st.stop()

left, right = st.columns(2, gap="large")
with left:
    st.header("The claim on the true profile")
    code = claimed_and_true.claim_code(asked)
    hand_figure.show_made(
        lambda: claimed_and_true.claim_picture(asked, dark=dark), "Drawing the claim", key="claim", code=code
    )
with right:
    st.header("Two regions")
    view = panels.view()
    code = claimed_and_true.region_code(asked, view)
    hand_figure.show_made(
        lambda: claimed_and_true.region_picture(asked, view, dark=dark),
        "Drawing the regions",
        key="claim_regions",
        code=code,
        link=False,
    )
st.header("What each accountant would report")
left, right = st.columns(2, gap="large")
with left:
    panels.show_accountants(asked, dark=dark)
with right:
    panels.show_table(asked)
with note:
    preset_note("Claimed_and_true", claimed_and_true.DEFAULTS)
page.guide("claimed_and_true")
