"""Guide: what it all means, with every formula, proof and picture."""

import streamlit as st

from dpcore.app import guide, guide_texts, page, work

page.setup(
    "Guide",
    "What a privacy region is, what the numbers promise, and why it is true. Every number in these texts is computed by the "
    "lines of Python beside it, and every picture is drawn as you read.",
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
st.caption("The address of this page keeps the text you chose.")
