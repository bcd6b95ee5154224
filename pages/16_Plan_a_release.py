"""Plan a release: from a table to numbers that can be published, how far off each is, and what they cost together."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, work
from dpcore.app import plan_a_release as planner
from dpcore.app import plan_a_release_data as data
from dpcore.app import plan_a_release_form as form
from dpcore.app import plan_a_release_panels as panels
from dpcore.app import plan_a_release_results as results
from dpcore.core.errors import DpcoreError

page.setup(
    "Plan a release",
    "Which numbers do you want to publish about the people in a table? See how far off each will be, and what they cost together.",
)
examples, steps = st.columns([1, 2])
with examples:
    page.preset_row("Plan_a_release", planner.DEFAULTS)
below = st.container()
with steps, st.container(horizontal=True, horizontal_alignment="right"):
    table, suggestion = data.ask(below)
    public = st.popover("Who is protected", icon=":material/shield_person:")
    adding = st.popover("Add an answer", icon=":material/add_circle:")
    answers, columns = panels.ask_texts()
left, right = st.columns([5, 3], gap="large")
with right:
    picture, budget = panels.ask_budget()
with public:
    people = panels.ask_public(suggestion, is_shipped=table is not None and bool(table.name))
draft = None
if budget is not None and people is not None:
    try:
        known = table.sheet.columns if table is not None else ()
        draft = planner.draft_of(answers, columns, {**budget, **people}, known)
    except DpcoreError as error:
        left.error(figure.plain(str(error)), icon=":material/error:")
if draft is None:
    with left:
        st.info("Correct the fields to see the plan.", icon=":material/edit:")
    st.stop()

with public:
    panels.edit_facts(draft)
with adding:
    form.ask(draft, table.sheet.columns if table is not None else (), suggestion)
view = planner.view_of(draft, table, picture, data.own_store())
is_read = False
with left:
    if view is None:
        st.info(
            "Add what you want to publish with **Add an answer**: the first one draws the picture.",
            icon=":material/add_circle:",
        )
    else:
        work.fresh((view.plan, view.table.identity if view.table else ""))
        is_read = results.read(view)
if view is not None and is_read:
    with right:
        weights = panels.ask_weights(view, draft)

    def draw(held: Mapping[str, str]) -> None:
        """Say how far the answers are off and draw it, for the value of a slider that is held."""
        with work.progress("Planning", store=view.store):
            drawing = figure.figure_of(view.moved(held).spec, height=planner.HEIGHT, store=view.store)
            st.success(figure.sentence(drawing.takeaway), icon=":material/check_circle:")
            figure.draw(drawing, "plan_figure")

    with left:
        live.follow("plan", [*panels.SLIDERS, *weights], draw)
    figure.offer(view.spec, key="plan_figure", store=view.store)
    results.show(view)
    results.say_table(view)

st.header("Answers")
panels.edit_answers(draft, view, results.error_texts(view) if view is not None and is_read else ())
page.guide("plan_a_release")
