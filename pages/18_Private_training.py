"""Private training: the ε of a training run, what libraries print for it, and a statement to publish."""

from collections.abc import Mapping

import streamlit as st

from dpcore.app import figure, live, page, work
from dpcore.app import private_training as model
from dpcore.app import private_training_panels as panels
from dpcore.app.privacy_regions_panels import preset_note
from dpcore.core.errors import DpcoreError

page.setup(
    "Private training",
    "DP-SGD: each step clips the gradients of sampled records, adds them up and adds Gaussian noise σ. Here is what all the steps reveal together.",
)
page.preset_row("Private_training", model.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
below = st.container()
with right:
    query = panels.ask()
    view = panels.view()
work.fresh(query)


def draw(held: Mapping[str, str]) -> None:
    """Say what all steps reveal and draw it, with the value of a slider that is held."""
    current = query.moved(held)
    try:
        with work.progress("Composing the steps"):
            st.success(figure.sentence(model.answer(current)), icon=":material/check_circle:")
            spec = model.spec(current, view)
            figure.picture(figure.figure_of(spec, height=model.HEIGHT), "training", apart=True)
    except DpcoreError as error:
        figure.trouble(error, "training")


if query is None:
    left.info("Correct the field with the error to see the training run.", icon=":material/edit:")
elif query.sampler == model.SHUFFLED:
    with left:
        panels.show_shuffled(query)
elif figure.ready(lambda: (model.numbers(query), ()), "Composing the steps", left):
    with left:
        live.follow("training", model.SLIDERS, draw)
        with page.under_controls("conditions"):
            st.caption(model.conditions(query))
    with below:
        figure.offer(model.spec(query, view), key="training")
        note = st.container()
        panels.say_mu(query)
        panels.show_claim(query)
        panels.show_libraries(query)
        panels.show_target(query)
        with note:
            preset_note("Private_training", model.DEFAULTS)
        panels.show_tuning(query)
        panels.show_statement(query)
        st.header("Found at low false-positive rates")
        if view != model.ATTACKS:
            figure.show(
                model.rates_spec(query), key="training_rates", words="Attacking", height=model.HEIGHT, link=False
            )
        panels.show_rates(query)
page.guide("private_training")
