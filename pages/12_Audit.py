"""Audit: what an attack was measured to do, against what is claimed."""

import streamlit as st

from dpcore.app import audit, figure, page, work
from dpcore.app import audit_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Audit",
    "Attack a mechanism many times, with a person in the data and without, and count how often the attack is right. Here you "
    "see what such a measurement proves, with a stated confidence, and whether it contradicts what is claimed.",
)
page.preset_row("Audit", audit.DEFAULTS)

left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()
if view is None:
    with left:
        st.info("Correct or complete the fields beside to see the audit.", icon=":material/edit:")
    page.guide("audit")
    st.stop()

work.fresh(view.key)
with left:
    try:
        with work.progress("Auditing"):
            found = audit.result(view, dark=page.look().dark)
    except DpcoreError as error:
        figure.trouble(error, "auditing")
        st.stop()
    panels.show_figure(view, found)

left, right = st.columns([5, 3], gap="large")
with left:
    st.header("What is proved")
    panels.show_bounds(found)
    panels.show_downloads(view, found)
with right:
    st.header("Smallest statements")
    panels.show_statements(found)
page.guide("audit")
