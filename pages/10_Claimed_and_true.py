"""Claimed and true: what a paper, a vendor or a program claims, against the truth."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import claimed_and_true, figure, live, page, work
from dpcore.app import claimed_and_true_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Claimed and true",
    "What a paper, a vendor or a program claims about its noise, beside the truth: is the claim safe, wasteful "
    "or wrong, and by how much?",
)
page.preset_row("Claimed_and_true", claimed_and_true.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    asked, trouble = panels.ask()
work.fresh(asked)
if asked is None or not figure.ready(lambda: panels.read(asked), "Judging", trouble):
    left.info("Correct the field with the error to see the verdict.", icon=":material/edit:")
    st.stop()


def draw(held: Mapping[str, str]) -> None:
    """Say the verdict and draw the claim, with the value of a slider that is held."""
    query = asked.moved(held)
    try:
        with work.progress("Judging"):
            panels.say(query)
            spec = claimed_and_true.claim_spec(query)
            figure.draw(figure.figure_of(spec, height=claimed_and_true.HEIGHT), "claim")
    except DpcoreError as error:
        figure.trouble(error, "claim")


with left:
    live.follow("claim", claimed_and_true.SLIDERS, draw)
with below:
    figure.explain(claimed_and_true.claim_spec(asked), height=claimed_and_true.HEIGHT)
    figure.offer(claimed_and_true.claim_spec(asked), key="claim")
    preset_note("Claimed_and_true", claimed_and_true.DEFAULTS)
    panels.show_advice(asked)

left, right = st.columns([5, 3], gap="large")
with left:
    st.header("What each accountant would report")
    figure.show(
        claimed_and_true.accountants_spec(asked),
        key="accountants",
        words="Computing what each accountant reports",
        link=False,
    )
with right:
    st.header("The two regions")
    view = panels.view()
    figure.show(claimed_and_true.region_spec(asked, view), key="claim_regions", words="Drawing the regions", link=False)
panels.show_table(asked)
page.guide("claimed_and_true")
