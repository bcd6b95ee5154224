"""Start: what a privacy region is, in one story, and links to the pages."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, inputs, live, navigation, page, start
from dpcore.app.badge import marked
from dpcore.charts import theme

page.setup(
    "Privacy you can see",
    f"A clinic publishes how many of its patients have a rare illness: {start.WITHIN} with you, {start.WITHOUT} without "
    "you, plus random noise. An attacker who knows about everyone else wants to know: **are you one of them?** Drag the sliders.",
)
st.session_state.setdefault("_answers", 0)


def ask(more: int) -> None:
    """Draw more answers."""
    page.change("_answers", min(st.session_state["_answers"] + more, start.MOST_ANSWERS))


controls, questions = st.columns(2, gap="large", vertical_alignment="bottom")
with controls:
    page.preset_row("Start", start.DEFAULTS)
with questions, st.container(horizontal=True):
    st.button(
        "Ask once",
        icon=":material/casino:",
        on_click=ask,
        args=(1,),
        help="A coin decides whether you are in the data; then one answer with fresh noise is published",
    )
    words = f"With a new coin for every answer; up to {start.MOST_ANSWERS} answers"
    enough = st.session_state["_answers"] >= start.MOST_ANSWERS
    st.button("Ask 100 times", on_click=ask, args=(start.HUNDRED,), help=words, disabled=enough)
number = st.session_state["_answers"]
left, right = st.columns(2, gap="large")
with left:
    epsilon = inputs.slider_field(
        "Bound ε",
        "eps",
        start.DEFAULTS["eps"],
        start.EPSILONS,
        start.BOUND,
        name=theme.EPSILON_TITLE,
        help_text="One person changes the probability of any answer by a factor of at most e^ε. A smaller ε means more noise.",
    )
with right:
    threshold = inputs.slider_field(
        "Threshold t",
        "t",
        start.DEFAULTS["t"],
        start.THRESHOLDS,
        start.LINE,
        name="Accuse if the answer is above t",
        help_text="Further right, fewer people are wrongly accused, but more are missed.",
    )
shown = start.StartStory(epsilon or start.EPSILON, threshold or start.THRESHOLD)


def story_at(held: Mapping[str, str]) -> start.StartStory:
    """Return the story for the current value of a held slider."""
    return start.StartStory(float(held.get("eps_slider", shown.epsilon)), float(held.get("t_slider", shown.threshold)))


def draw(held: Mapping[str, str]) -> None:
    """Draw both pictures and their sentences for the current value of a held slider."""
    story = story_at(held)
    left, right = st.columns(2, gap="large")
    with left, st.container(key="noisy_count_frame"):
        figure.draw(figure.figure_of(story.noise(number), height=start.HEIGHT), "noisy_count")
    with right, st.container(key="count_region_frame"):
        figure.draw(figure.figure_of(story.region(number), height=start.HEIGHT), "count_region")
    accused, missed = story.errors_words()
    st.markdown(marked(f"- {accused}\n- {missed}\n\n{story.verdict()}"))


live.follow("start", ["eps_slider", "t_slider"], draw, lambda held: story_at(held).handles())
if number:
    st.markdown(shown.answer_words(number))
    if number >= start.HUNDRED:
        st.markdown(shown.tally_words(number))

st.header("Where do you want to go?")
for column, door in zip(st.columns(len(navigation.FOUR)), navigation.FOUR, strict=True):
    with column, st.container(border=True, height="stretch"):
        door.link(bold=True)
        st.markdown(door.purpose)

st.header("What you see")
left, right = st.columns(2, gap="large")
with left:
    st.markdown(
        "**The noisy answer.** The data with you and without you are *neighbouring datasets*: they differ in one person. "
        "Random noise is added before the count is published, so nobody can be sure which of the two is real.\n\n"
        "**The guess.** All the attacker sees is one noisy answer. The best they can do is draw a line and accuse "
        "you if the answer is above it. Wherever the line is, the guess can be wrong in two ways: the two shaded areas."
    )
    figure.offer(shown.noise(number), key="noisy_count", link=False)
with right:
    st.markdown(
        "**The privacy region.** Every guess is a point: wrong accusations on the horizontal axis, misses on the vertical one. The points that "
        "any guess can reach, however clever, form the region. A small region, close to the line of blind guessing, means "
        "good privacy."
    )
    figure.offer(shown.region(number), key="count_region")
