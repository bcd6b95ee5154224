"""The parts of the page Private training: each shows widgets or results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import certificate, figure, inputs, page, work
from dpcore.app import private_training as model
from dpcore.app.export import csv_of
from dpcore.app.figure import plain, sentence
from dpcore.app.label_control import offer_label
from dpcore.core.domains import LOSS
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import readable
from dpcore.language.numbers import read_fraction
from dpcore.ledger import Ledger
from dpcore.training import SAFE, TIGHT
from dpcore.training.tuning import RUNS

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore.app.private_training import RunQuery
    from dpcore.training import TrainingTarget

_HELP = {
    "examples": "How many records the training data has.",
    "batch": "How many records a step uses, on average.",
    "epochs": "How often a record is used, on average; N/B steps are one epoch.",
    "rate": "Probability that a step uses a record, such as 256/60000.",
    "steps": "Epochs × records / batch, such as 60*60000/256; a fraction is rounded up to a whole step.",
    "largest": "If more records are sampled, a random subset of this size is kept.",
    "unit": "The most records of one person, all protected together; 1 protects single records.",
    "sigma": "Noise multiplier: standard deviation of the noise over the clipping norm.",
    "delta": inputs.delta_help("all steps together"),
}
_SAMPLER_HELP = (
    "Poisson: each step takes each record independently with probability q. Truncated: the same, but never more than C records. Fixed size: "
    "a fresh batch of B records in every step. Allocated: each record is in one batch of every epoch, chosen at random (balls in bins). Full batch: all records. Shuffled: batches are cut from a shuffled list, as most data "
    "loaders do."
)


def ask() -> RunQuery | None:
    """Show the fields with their sliders; return the query, or None with the reason shown under the field."""
    sampler = st.pills(  # six names wrap on narrow screens
        "How does a step choose its records?",
        tuple(model.SAMPLERS),
        default=model.DEFAULTS["train_sampler"],
        required=True,
        key="train_sampler",
        bind="query-params",
        help=_SAMPLER_HELP,
    ) or str(model.DEFAULTS["train_sampler"])
    by = _choice("You know", (model.RECORDS, model.RATE), "train_by")
    names: tuple[str, ...] = ("examples", "batch", "epochs") if by == model.RECORDS else ("rate", "steps")
    if sampler == model.FULL:
        names = tuple(name for name in names if name not in {"examples", "batch", "rate"})
    if sampler == model.TRUNCATED:
        names = (*names, "largest") if "examples" in names else (*names, "examples", "largest")
    if sampler in {model.POISSON, model.FULL}:
        names = (*names, "unit")
    values: dict[str, Any] = {name: _field(name) for name in (*names, "sigma", "delta")}
    below = st.container()
    if any(value is None for value in values.values()):
        return None
    query = model.RunQuery(sampler, float(values.pop("delta")), float(values.pop("sigma")), **values)
    try:
        run = query.shuffled.poisson if sampler == model.SHUFFLED else query.run
    except DpcoreError as error:
        below.error(plain(str(error)), icon=":material/error:")
        return None
    if run.origin:
        below.caption(plain(f"{run.origin}."))
    return query


def _choice(label: str, options: tuple[str, ...], key: str, help_text: str = "") -> str:
    picked = st.segmented_control(
        label,
        options,
        default=model.DEFAULTS[key],
        required=True,
        key=key,
        bind="query-params",
        help=help_text or None,
    )
    return picked or str(model.DEFAULTS[key])


def _field(name: str) -> Fraction | None:
    """Show one number with its slider; return None if it is wrong. The typed fraction counts exactly."""
    label, parameter = model.FIELDS[name]
    key = f"train_{name}"
    value = inputs.slider_field(
        label,
        key,
        model.DEFAULTS[key],
        model.VALUES[name],
        parameter,
        name={"steps": "Number of steps T"}.get(name, ""),
        help_text=_HELP[name],
        round_up=name == "steps",
    )
    typed = str(st.session_state.get(key, model.DEFAULTS[key])).strip()
    return None if value is None else read_fraction(parameter, typed, label)


def view() -> str:
    """Show the choice of picture."""
    return _choice("Picture", (model.GROWTH, model.ATTACKS), "train_view")


def say_mu(query: RunQuery) -> None:
    """State mu and its regret."""
    try:
        with work.progress("Fitting"):
            st.markdown(plain(model.summary_of(query).mu_words()))
    except DpcoreError as error:
        figure.trouble(error, "training_mu")
    certificate.offer(str(query.run.region), "training", delta=query.delta)


def _claimed() -> float | None:
    """Ask for a claimed epsilon; return None if nothing is claimed or it is not a number."""
    st.header("Somebody claims ε = …: is it true?")
    claimed = inputs.slider_field(
        "Claimed ε",
        "train_claim",
        model.DEFAULTS["train_claim"],
        inputs.LOSSES,
        LOSS,
        optional=True,
        help_text="An ε that a paper, a library or a colleague states for this run at the δ above; may be empty.",
    )
    return None if claimed is None or math.isnan(claimed) else claimed


def show_shuffled(query: RunQuery) -> None:
    """Show what is proved about shuffled batches beside the number that Poisson samples would have."""
    try:
        with work.progress("Composing the epochs"):
            words, table = model.shuffled_answer(query)
    except DpcoreError as error:
        figure.trouble(error, "training_shuffled")
        return
    st.warning(plain(words), icon=":material/warning:")
    st.markdown(
        "A record is in exactly one batch of every epoch, and the attacker knows that: the largest noisy sum of an epoch gives it away. "
        "Sample with probability q in every step, and the page certifies an ε."
    )
    shown = table[["quantity", "value", "words", "kind", "theorem", "neighbours"]]
    st.dataframe(readable(shown), hide_index=True, width="stretch", key="train_shuffled")
    st.download_button(
        "All numbers as CSV",
        data=lambda: csv_of(table),
        file_name="shuffled.csv",
        mime="text/csv",
        on_click="ignore",
        key="train_shuffled_csv",
        icon=":material/download:",
    )
    claimed = _claimed()
    if claimed is not None:
        with work.progress("Judging"):
            st.info(sentence(model.shuffled_verdict(query, claimed)), icon=":material/flag:")


def show_tuning(query: RunQuery) -> None:
    """Ask how many runs the best one is chosen from, and say what the choice costs."""
    st.header("Tuning costs privacy too")
    if model.slow_curve(query):
        st.caption("Not computed for one epoch of allocated records: it needs the whole curve, which takes too long.")
        return
    runs = inputs.slider_field(
        "Runs",
        "train_runs",
        model.DEFAULTS["train_runs"],
        inputs.round_values(0, 3),
        RUNS,
        help_text="How many runs with different settings are made, or how many on average, before the best one is published.",
    )
    below = st.container()
    if runs is None:
        return
    try:
        with work.progress("Composing the runs"):
            rows = model.tuning(query, runs)
    except DpcoreError as error:
        figure.trouble(error, "training_tuning", below)
        return
    st.dataframe(rows, hide_index=True, width="stretch", key="train_tuning")
    st.caption(
        "A random number of runs, drawn beforehand and kept secret, hides how many runs the published one was chosen from. Each run draws its "
        "settings from a list fixed beforehand; the bound holds for every way to rank the runs."
    )


def show_claim(query: RunQuery) -> None:
    """Ask for a claimed epsilon and say whether it is true."""
    claimed = _claimed()
    below = st.container()
    if claimed is None:
        return
    try:
        with work.progress("Judging"):
            judgement = model.judged(query, claimed)
            words = sentence(judgement.words())
    except DpcoreError as error:
        figure.trouble(error, "training_claim", below)
        return
    if judgement.verdict in {SAFE, TIGHT}:
        st.success(words, icon=":material/check_circle:")
    else:
        st.info(words, icon=":material/flag:")


def show_libraries(query: RunQuery) -> None:
    """List what libraries print for the same numbers."""
    st.header("What libraries print for the same numbers")
    try:
        with work.progress("Computing the libraries' numbers"):
            rows = model.libraries(query)
    except DpcoreError as error:
        figure.trouble(error, "training_libraries")
        return
    st.dataframe(rows, hide_index=True, width="stretch", key="train_libraries")
    st.caption(
        "Computed here by the methods and settings that the libraries document (Opacus 1.6, dp-accounting 0.6), not by the libraries. A "
        "number below the truth promises too much."
    )
    st.download_button(
        "ε by every method as CSV",
        data=lambda: csv_of(model.numbers(query)),
        file_name="training.csv",
        mime="text/csv",
        on_click="ignore",
        key="train_numbers_csv",
        icon=":material/download:",
    )


def show_target(query: RunQuery) -> None:
    """Ask for a target epsilon and say which noise, number of steps, batch or number of records meets it."""
    st.header("For a target ε")
    sought, goal = st.columns([3, 2], vertical_alignment="bottom")
    below = st.container()
    known = [
        name
        for name, unknown in model.UNKNOWNS.items()
        if unknown in {"sigma", "steps"} or (query.examples is not None and query.rate is None)
    ]
    with sought:
        unknown = _choice("Find the", tuple(known), "train_unknown")
    with goal:
        epsilon = inputs.slider_field("Target ε", "train_target", model.DEFAULTS["train_target"], inputs.LOSSES, LOSS)
    if epsilon is None:
        return
    try:
        with work.progress("Solving"):
            target = model.target_of(query, unknown if unknown in known else known[0], epsilon)
    except DpcoreError as error:
        figure.trouble(error, "training_target", below)
        return
    st.success(plain(target.words), icon=":material/target:")
    st.button("Use it", on_click=page.apply, args=(_fields_of(target),), icon=":material/input:", key="train_use")


def _fields_of(target: TrainingTarget) -> dict[str, Any]:
    """Return the fields for a run that meets a target."""
    if target.unknown == "steps":
        return {"train_by": model.RATE, "train_rate": repr(target.run.rate), "train_steps": str(target.run.steps)}
    text = repr(target.value) if target.unknown == "sigma" else str(int(target.value))
    return {f"train_{target.unknown}": text}


def show_statement(query: RunQuery) -> None:
    """Show the statement to paste."""
    st.header("Statement for a paper or model card")
    try:
        with work.progress("Writing"):
            text = model.summary_of(query).statement()
    except DpcoreError as error:
        figure.trouble(error, "training_statement")
        return
    st.code(text, language=None, wrap_lines=True)
    run = model.summary_of(query).run
    offer_label(Ledger.of(("Training run", str(run.step), run.rounds)), key="train_label", delta=query.delta)


def show_rates(query: RunQuery) -> None:
    """List what an attacker finds at low false-positive rates."""
    try:
        with work.progress("Attacking"):
            rows = model.rate_table(query)
    except DpcoreError as error:
        figure.trouble(error, "training_attacking")
        return
    st.dataframe(rows, hide_index=True, width="stretch", key="train_rates")
