"""Home: what a privacy region is, in one story; then doors to the pages."""

from pathlib import Path

import streamlit as st

from dpcore.app import figure, page, start
from dpcore.charts import theme

page.setup(
    "Privacy you can see",
    "A clinic publishes how many of its patients have a rare illness. Somebody who knows everybody else wants to know: "
    "**are you one of them?** Move the two sliders and see what one published number gives away.",
)
page.linked({"eps": start.EPSILON, "t": start.THRESHOLD})
st.session_state.setdefault("answers", 0)


def ask_again() -> None:
    """Draw the next answer."""
    st.session_state["answers"] += 1


left, right = st.columns(2, gap="large")
with left:
    st.header("1. The answer is noisy")
    st.markdown(
        f"With you the count is **{start.WITHIN}**, without you **{start.WITHOUT}**. These are *neighbouring datasets*: "
        "one person apart. So that nobody can tell which of them is the real one, random noise is added before the "
        "count is published. The smaller ε, the more noise."
    )
    epsilon = st.select_slider(
        theme.EPSILON_TITLE,
        start.EPSILONS,
        start.EPSILON,
        key="eps",
        bind="query-params",
        format_func=lambda value: f"{value:g}",
        help="How much one person may change the answer's probabilities: by a factor of at most e^ε.",
    )
with right:
    st.header("2. Somebody guesses")
    st.markdown(
        "All the attacker sees is one noisy answer. The best they can do is to draw a line: *accuse you of being in the "
        "data if the answer is above t*. Wherever the line is, the guess errs in two ways."
    )
    threshold = st.slider(
        "Accuse if the answer is above t",
        *start.WINDOW,
        start.THRESHOLD,
        0.1,
        format="%.1f",
        key="t",
        bind="query-params",
        help="To the right fewer people are wrongly accused, but more are missed.",
    )
told = start.StartStory(epsilon, threshold)
number = st.session_state["answers"]
with left, st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        "Ask once",
        icon=":material/casino:",
        on_click=ask_again,
        help="A coin puts you into the data or not; one answer with fresh noise is published",
    )
    st.markdown(
        told.answer_words(number)
        if number
        else "One answer with fresh noise, you in the data or not: is the guess right?"
    )
accused, missed = told.errors_words()
dark = page.look().dark

left, right = st.columns(2, gap="large")
with left:
    st.header("3. Two kinds of error")
    st.markdown(f"- {accused}\n- {missed}\n\n{told.verdict()}")
    figure.show(told.noise(number, dark=dark), key="noisy_count", code=told.noise_code(number), link=False)
with right:
    st.header("4. The privacy region")
    st.markdown(
        "Every guess is a point: its wrong accusations across, its misses up. The points that guesses can reach, "
        "however clever, make the **privacy region**. A small region, close to the line of blind guessing, means good "
        "privacy."
    )
    figure.show(told.region(dark=dark), key="count_region", code=told.region_code())

st.header("Go on")
doors = start.doors(Path(__file__).parent / "pages")
for first in range(0, len(doors), 3):
    for column, door in zip(st.columns(3), doors[first : first + 3], strict=False):
        with column, st.container(border=True, height="stretch"):
            st.page_link(door.path, label=f"**{door.label}**", icon=":material/arrow_forward:")
            st.markdown(door.purpose)
