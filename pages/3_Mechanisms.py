"""Mechanisms: the noise, the exact region, and what is claimed about it."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, hand_figure, live, mechanisms, page, work
from dpcore.app import mechanisms_panels as panels
from dpcore.core.errors import DpcoreError

page.setup(
    "Mechanisms",
    "A mechanism adds noise to an answer. Here you see the noise on two neighbouring datasets, the test that an attacker "
    "can make of it, the exact privacy region of all tests, and how the usual statements compare with it.",
)
page.preset_row("Mechanisms", mechanisms.DEFAULTS)
dark = page.look().dark

left, right = st.columns([5, 3], gap="large")
with right:
    view = panels.ask()
if view is None:
    with left:
        st.info("Correct the field beside to see the mechanism.", icon=":material/edit:")
    st.stop()

work.fresh((view.name, view.alpha, view.delta))


def draw(held: Mapping[str, str]) -> None:
    """Draw the noise and the test, with the value of a slider that is held."""
    with work.progress("Drawing"):
        moved = work.attempt(panels.moved, view, held)
        noise = moved if isinstance(moved, DpcoreError) else panels.attempt(mechanisms.noise_picture, moved, dark=dark)
    if isinstance(noise, DpcoreError):
        figure.trouble(noise, "noise")
    elif noise is None:
        st.info(figure.plain(view.no_noise), icon=":material/info:")
    else:
        figure.picture(noise, "noise")
    if not isinstance(moved, DpcoreError):
        panels.show_best(moved)


with left:
    st.header("One noisy answer, and a test")
    live.follow("mechanism", ["test_alpha", *st.session_state[panels.SLIDERS]], draw)
with left, work.progress("Computing"):
    noise = panels.attempt(mechanisms.noise_picture, view, dark=dark)
    regions = panels.attempt(mechanisms.region_picture, view, dark=dark)
    profile = panels.attempt(mechanisms.profile_picture, view, dark=dark)
    losses = panels.attempt(mechanisms.loss_picture, view, dark=dark)
with left:
    if noise is not None and not isinstance(noise, DpcoreError):
        hand_figure.offer(noise, key="noise", code=mechanisms.noise_code(view), link=False)

left, right = st.columns([5, 3], gap="large")
with left:
    st.header("Its region, and what is said about it")
    clicks = {"on_select": panels.take_click, "selection_mode": mechanisms.PICK}
    panels.show(regions, mechanisms.region_code, view, key=panels.CHART, **clicks)
with right:
    st.subheader("Smallest statements")
    panels.show_statements(view)
    st.subheader("Claimed and true")
    panels.show_claim(view)
    st.subheader("Noise for a goal")
    panels.show_goal(view)

left, right = st.columns(2, gap="large")
with left:
    st.subheader("Profile δ(ε)")
    panels.show(profile, mechanisms.profile_code, view, key="profile", link=False)
with right:
    st.subheader("Loss distribution")
    panels.show(losses, mechanisms.loss_code, view, key="loss", link=False)
