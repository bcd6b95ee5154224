"""Ledger: all releases about the same people, what they reveal together, and what still fits into the budget."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import ledger, live, page
from dpcore.app import ledger_panels as panels

page.setup("Ledger", "List every release about the same people: what do they reveal together, and what still fits?")
examples, files = st.columns(2)
with examples:
    page.preset_row("Ledger", {**ledger.DEFAULTS, ledger.LONG: ""})
table = panels.ask_table(files)
left, right = st.columns([5, 3], gap="large")
with right:
    budget, relation = panels.ask_budget()
    st.caption(panels.GROUPS)
view = None
with left:
    if table is None or budget is None:
        st.info("Correct the table or the budget to see what the releases reveal.", icon=":material/edit:")
    else:
        view = panels.view_of(*table, budget, relation)

if view is not None:

    def draw(held: Mapping[str, str]) -> None:
        """Draw what is spent of the budget, for the value of a slider that is held."""
        spec = view.spec("budget", panels.moved(view.budget, held))
        panels.draw(view, spec, "Adding up", panels.CHART_HEIGHT)

    with left:
        live.follow("ledger", panels.SLIDERS, draw)
    panels.say_figure(view, view.spec("budget"), panels.CHART_HEIGHT, link=True)
    panels.say_rows(view)
    panels.show_label(view, table[1])

    left, right = st.columns(2, gap="large")
    with left:
        st.header("How many more fit?")
        row = panels.ask_row(view)
        if row is not None:
            panels.show_more(view, row)
    with right:
        st.header("May I release this too?")
        if row is not None:
            panels.show_filters(view, row)
    left, right = st.columns(2, gap="large")
    with left:
        st.header("What each row costs")
        panels.show(view, "costs", "Leaving rows out")
    with right:
        st.header("The whole region")
        panels.show(view, "region", "Drawing the region")
page.guide("ledger")
