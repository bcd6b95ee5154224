"""Errata: mistakes in the sources, what is right, and the numbers that show it."""

import streamlit as st

from dpcore.app import errata, figure, page, work
from dpcore.app.privacy_regions_panels import preset_note

page.setup(
    "Errata",
    "Where our sources are wrong: the place, what is printed, what is right, and evidence computed on the spot.",
)
page.preset_row("Errata", errata.DEFAULTS)
note = st.container()
source, kind, row = errata.ask()
selection = errata.rows_of(source, kind)
work.fresh((source, kind, row))
left, right = st.columns([3, 2], gap="large")
with left:
    if row is not None:
        errata.show_row(row)
with right:
    figure.show(errata.spec(source, kind), key="errata", words="Counting")
st.header("All rows in this selection")
st.markdown(
    "Click a row to see its evidence above. The CSV and JSON files under the chart contain all rows with their evidence. "
    "We read the sources in a version converted to text; if the conversion may have changed a mark, the row is called a reading."
)
errata.listing(selection)
with note:
    preset_note("Errata", errata.DEFAULTS)
