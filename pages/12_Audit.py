"""Audit: what an attack was measured to do, against what is claimed."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import audit, figure, live, page, work
from dpcore.app import audit_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Audit",
    "Attack a mechanism many times, with a person in the data and without: what does the measurement prove?",
)
page.preset_row("Audit", audit.DEFAULTS)

left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()
if view is None:
    with left:
        st.info("Correct or complete the fields to see the audit.", icon=":material/edit:")
    page.guide("audit")
    st.stop()

store = view.source.store
work.fresh(work.name_of((view.spec, view.spec.files)))


def draw(held: Mapping[str, str]) -> None:
    """Say whether the claim is contradicted and draw the attack, for the value of a slider that is held."""
    asked = panels.moved(view, held)
    with work.progress("Auditing", store=store):
        panels.say_verdict(asked)
        figure.draw(figure.figure_of(asked.spec, height=panels.HEIGHT, store=store), "audit_figure")


with left:
    live.follow("audit", panels.SLIDERS, draw)
try:
    with work.progress("Auditing", store=store):
        figure.words(figure.figure_of(view.spec, height=panels.HEIGHT, store=store))
except DpcoreError:  # it is said where the picture would be
    st.stop()
figure.offer(view.spec, key="audit_figure", store=store)

left, right = st.columns([5, 3], gap="large")
try:
    with work.progress("Tabulating", store=store):
        with left:
            st.header("What is proved")
            panels.show_bounds(view)
            panels.show_downloads(view)
        with right:
            st.header("Smallest statements")
            panels.show_statements(view)
except DpcoreError as error:
    figure.trouble(error, "tabulating")
panels.show_one_run(view)
page.guide("audit")
