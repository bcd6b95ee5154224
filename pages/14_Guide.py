"""Guide: what everything means, with formulas, proofs and pictures."""

import streamlit as st

from dpcore.app import guide, guide_texts, page, work

page.setup(
    "Guide",
    "What a privacy region is, what the numbers promise, and why that is true. The code next to the text computes every "
    "number, and the pictures are drawn as you read.",
)
page.preset_row("Guide", guide.DEFAULTS)
name = guide.choose()
work.fresh(("guide", name))
left, right = st.columns([3, 1], gap="large")
with right:
    guide.contents(name)
with left:
    st.header(guide_texts.titles()[name], anchor=False)
    guide_texts.show_text(name)
guide.onward(name)
st.caption("The page's address keeps your choice of text.")
