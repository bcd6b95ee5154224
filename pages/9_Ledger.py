"""Ledger: all releases about the same people, what they reveal together, and what still fits into the budget."""

import streamlit as st

from dpcore.app import ledger, page, work
from dpcore.app import ledger_panels as panels

page.setup(
    "Ledger",
    "Write down every release about the same people. The page adds them up by every theorem there is, names the best one, "
    "says what each row costs, how many more releases of a fixed plan fit into the budget, and whether one more may follow "
    "when the plan changes with the answers.",
)
page.preset_row("Ledger", {**ledger.DEFAULTS, ledger.LONG: ""})
dark = page.look().dark

view = panels.ask()
if view is None:
    st.info("Correct the table or the fields above to see what the releases reveal.", icon=":material/edit:")
elif panels.usable(view):
    work.fresh((*view.asked, view.budget))
    ledger.expect(view)
    with work.progress("Adding up"):
        budget = work.attempt(lambda: ledger.budget_picture(view, dark=dark))
    with work.progress("Asking the theorems"):
        rows = work.attempt(lambda: ledger.theorems(view))
    left, right = st.columns(2, gap="large")
    with left:
        st.header("The budget")
        panels.show(view, budget, key="ledger_budget", code=ledger.budget_code(view), command=ledger.command(view))
    with right:
        st.header("The best theorem")
        panels.show_theorems(view, rows)
    left, right = st.columns(2, gap="large")
    with left:
        st.header("How many more fit")
        view = panels.ask_more(view)
        panels.show_more(view)
    with right:
        st.header("May I release this too?")
        panels.show_filters(view)
    left, right = st.columns(2, gap="large")
    with left:
        st.header("What each row costs")
        with work.progress("Leaving rows out"):
            costs = work.attempt(lambda: ledger.cost_picture(view, dark=dark))
        panels.show(view, costs, key="ledger_costs", code=ledger.cost_code(view), link=False)
    with right:
        st.header("The whole region")
        with work.progress("Drawing the region"):
            region = work.attempt(lambda: ledger.region_picture(view, dark=dark))
        panels.show(view, region, key="ledger_region", code=ledger.region_code(view), link=False)
    st.header("The table of deltas")
    with work.progress("Computing deltas"):
        deltas = work.attempt(lambda: ledger.deltas(view))
    panels.show_deltas(view, deltas)

page.guide("ledger")
