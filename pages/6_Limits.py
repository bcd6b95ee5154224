"""Limits: many small losses become Gaussian, how fast, and when that number must not be trusted."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, limits, live, page, work
from dpcore.app import limits_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Limits",
    "Many mechanisms together look like Gaussian noise. That gives a short formula, but its ε may be below the truth.",
)
page.preset_row("Limits", limits.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    asked, trouble = panels.ask()
    view = panels.view()
st.header("Weaker mechanisms, more of them")
st.markdown(
    "For one fixed mechanism the two curves need not approach each other: the loss grows with k, and the difference moves "
    "to false-positive rates too small to see. They do approach each other if every mechanism gets weaker as there are "
    "more of them. Here are three ways."
)
array_left, array_right = st.columns([5, 3], gap="large")
with array_right:
    rows = panels.ask_arrays()
work.fresh((asked, rows))


def draw(held: Mapping[str, str]) -> None:
    """Say whether the limit is safe and draw it, with the value of a slider that is held."""
    query = asked.moved(held)
    try:
        with work.progress("Composing"):
            panels.say(query)
            figure.draw(figure.figure_of(limits.spec(query, view), height=limits.HEIGHT), "limits")
    except DpcoreError as error:
        figure.trouble(error, "limits")


if asked is None or not figure.ready(lambda: limits.row_of(asked), "Reading", trouble):
    left.info("Correct the field with the error to see the limit.", icon=":material/edit:")
else:
    with left:
        live.follow("limits", limits.SLIDERS, draw)
    with below:
        figure.explain(limits.spec(asked, view), height=limits.HEIGHT)
        figure.offer(limits.spec(asked, view), key="limits")
        preset_note("Limits", limits.DEFAULTS)
        panels.show_numbers(asked)
        grows, safe = st.columns(2, gap="large")
        with grows:
            st.header("As k grows")
            figure.show(limits.distance_spec(asked), key="limit_distance", words="Climbing", link=False)
        with safe:
            st.header("Is the limit's ε safe?")
            figure.show(limits.safety_spec(asked), key="limit_safety", words="Checking", link=False)
if rows is not None:
    with array_right:
        st.markdown(limits.array_words(rows))
    with array_left:
        figure.show(limits.array_spec(rows, "distances", view), key="arrays", words="Converging", link=False)
        figure.show(limits.array_spec(rows, "regions", view), key="array_regions", words="Drawing", link=False)
page.guide("limits")
