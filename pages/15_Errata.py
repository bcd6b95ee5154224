"""Errata: where the sources are wrong, what is right, and the numbers that show it."""

import streamlit as st

from dpcore.app import errata, figure, page, work
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Errata",
    "Books, papers and theses have mistakes, and whoever computes from the print inherits them. Here is what was found in "
    "the texts this work is built on: the place, what is printed, what is right, and evidence computed as you look. The texts "
    "were read in a conversion; where it may have changed a mark, the row is called a reading.",
)
page.preset_row("Errata", errata.DEFAULTS)
note = st.container()
source, kind, row = errata.ask()
listed = errata.chosen(source, kind)
work.fresh((source, kind, row))
left, right = st.columns([3, 2], gap="large")
with left:
    if row is not None:
        errata.show_row(row)
with right:
    figure.show(errata.spec(source, kind), key="errata", words="Counting")
st.header("All rows of this choice")
st.markdown(
    "Choose a line to see its evidence above. The CSV and JSON under the chart hold all of them, evidence included."
)
errata.listing(listed)
with note:
    preset_note("Errata", errata.DEFAULTS)
