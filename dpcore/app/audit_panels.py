"""The parts of the audit page: each shows widgets or results and returns the input."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import audit, audit_data, work
from dpcore.app.audit import DEFAULTS, LINEAR, LOGLOG, LONGEST, AuditView, regions
from dpcore.app.badge import marked
from dpcore.app.export import csv_of
from dpcore.app.figure import plain
from dpcore.app.inputs import DELTAS, round_values, slider_field
from dpcore.audit.one_run import CANARIES, CORRECT, GUESSES
from dpcore.charts import theme
from dpcore.core.domains import CONFIDENCE, DELTA
from dpcore.core.errors import DomainError, DpcoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

SLIDERS = ("audit_trials_slider", "audit_confidence_slider", "audit_delta_slider")
_CONFIDENCES = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.98", "0.99", "0.995", "0.999", "0.9999")
HEIGHT = 420  # the chart, the verdict and the main fields fit on one screen


def ask() -> AuditView | None:
    """Show the fields and return their values; None, with the error shown, if one is wrong."""
    menu, kinds = st.columns([5, 6])
    with menu:
        name = audit_data.choose()
    source = audit_data.ask(name, DEFAULTS, kinds)
    claim = _claim()
    confidence = slider_field(
        "Confidence", "audit_confidence", DEFAULTS["audit_confidence"], _CONFIDENCES, CONFIDENCE,
        help_text="In what share of audits all bounds must be right. Choose it before you look.",
    )  # fmt: skip
    delta = slider_field(
        "At δ", "audit_delta", DEFAULTS["audit_delta"], DELTAS, DELTA,
        help_text="The smallest ε not ruled out is stated at this δ.",
    )  # fmt: skip
    others, smallest, log = _looks()
    if source is None or claim is None or confidence is None or delta is None or others is None:
        return None
    return AuditView(source, claim, others, confidence, delta, smallest, log)


def moved(view: AuditView, held: Mapping[str, str]) -> AuditView:
    """Return the view with the value of a slider that is held."""
    trials, confidence, delta = (held.get(name) for name in SLIDERS)
    source = view.source
    if trials is not None:
        source = replace(source, fields={**source.fields, "trials": int(float(trials))})
    return replace(
        view, source=source, confidence=float(confidence or view.confidence), delta=float(delta or view.delta)
    )


def _claim() -> str | None:
    """Show the field for the claim, which may be empty; return None, with the error shown, if it is wrong."""
    text: str = st.text_input(
        "Claim to test (may be empty)",
        DEFAULTS["audit_claim"],
        key="audit_claim",
        bind="query-params",
        help="What the mechanism is said to satisfy; any expression: dp(1, 1e-5), gdp(1), laplace(1)^3 & gdp(2).",
    ).strip()
    if not text:
        return ""
    try:
        if len(text) > LONGEST:
            msg = f"A claim may have at most {LONGEST} characters, got {len(text)}."
            raise DomainError(msg)
        region, notices = work.region(text)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    for warning in notices:
        st.warning(plain(warning))
    if region.neighbours != "any":
        st.caption(f"The datasets with and without the person must be {region.neighbours} neighbours, as in the claim.")
    return text


def _looks() -> tuple[tuple[str, ...] | None, bool, bool]:
    """Show the options for what else is drawn and on which axes."""
    axes = st.segmented_control(
        "Axes",
        (LINEAR, LOGLOG),
        default=DEFAULTS["audit_view"],
        required=True,
        key="audit_view",
        bind="query-params",
        help="Log-log shows attacks that accuse very few people.",
    )
    smallest = st.toggle("Draw smallest statements", key="audit_smallest", bind="query-params")
    text = st.text_input(
        "More regions to draw (may be empty)",
        DEFAULTS["audit_others"],
        key="audit_others",
        bind="query-params",
        help="Up to four expressions joined by semicolons, such as gdp(1); laplace(1).",
    )
    try:
        return regions(text), bool(smallest), axes == LOGLOG
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None, bool(smallest), axes == LOGLOG


# ---- results: inside `work.progress` with the store of the source ---------------------------------------------


def say_verdict(view: AuditView) -> None:
    """Say whether the claim is contradicted."""
    judgement = audit.judgement(view)
    if judgement is None:
        return
    name = plain(theme.short(str(judgement.claim)))
    if judgement.contradicted:
        st.info(f"**The claim {name} is contradicted.**", icon=":material/gavel:")
    else:
        st.info(f"**The claim {name} is not contradicted**, which does not prove it.", icon=":material/gavel:")


def show_bounds(view: AuditView) -> None:
    """Show the table of bounds and what else is known about them."""
    st.dataframe(audit.shown_bounds(audit.bounds(view)), hide_index=True, width="stretch", key="audit_bounds")
    st.caption(
        "Lower bound: proved about the mechanism. Measured: approximate, at the most telling test. Upper bound: about that "
        "test only; another may do better."
    )
    for words in audit.words(view):
        st.caption(plain(words))


def show_statements(view: AuditView) -> None:
    """List the smallest statements that are not contradicted."""
    statements = audit.statements(view)
    st.markdown("No smaller statement of its kind is consistent with the measurement; a larger one may be the truth.")
    st.markdown(marked("\n".join(f"- **{plain(s.notion)}** ({s.kind}): {plain(s.words)}" for s in statements)))
    with st.expander("As expressions", icon=":material/table_rows:"):
        for statement in statements:
            st.code(str(statement.region), language=None, wrap_lines=True)
        st.caption("What is proved, as a region that the mechanism's own region contains:")
        st.code(str(audit.findings(view).region), language=None, wrap_lines=True)


def show_downloads(view: AuditView) -> None:
    """Offer downloads of all numbers and of the measurement."""
    numbers, measurement = audit.everything(view), audit.findings(view).measurement
    with st.container(horizontal=True):
        for label, make, name in (
            ("All numbers", lambda: csv_of(numbers), "audit_report.csv"),
            ("Measurement", lambda: audit.measurement_csv(measurement), "audit_measurement.csv"),
        ):
            st.download_button(
                label, make, name, "text/csv", on_click="ignore", key=f"audit_{name}", icon=":material/download:"
            )


# ---- one run -------------------------------------------------------------------------------------------------


def show_one_run(view: AuditView) -> None:
    """Ask for the guesses of an audit with one training run, and say what they prove."""
    st.header("One training run")
    st.markdown(
        "Training cannot be repeated a thousand times. Instead, toss a fair coin for each of many canaries to decide "
        "whether it is in the data of one run, then guess the coins from the model. Fix the number of guesses before you look. Confidence, δ and claim are those above."
    )
    numbers = []
    for column, (label, key, parameter, help_text) in zip(st.columns(3), _ONE_RUN, strict=True):
        with column:
            value = slider_field(label, key, DEFAULTS[key], _GUESSES, parameter, help_text=help_text)
            numbers.append(None if value is None else int(value))
    below = st.container()
    canaries, guesses, correct = numbers
    if canaries is None or guesses is None or correct is None:
        return
    try:
        with work.progress("Auditing one run"):
            words, table = audit.one_run(view, (canaries, guesses, correct))
    except DpcoreError as error:
        below.error(plain(str(error)), icon=":material/error:")
        return
    st.info(plain(words), icon=":material/gavel:")
    claims = table[table["measure"] == "p-value"]
    for sentence in claims["words"]:
        st.markdown(plain(sentence))
    st.download_button(
        "All numbers", lambda: csv_of(table), "one_run.csv", "text/csv", on_click="ignore", key="audit_one_run_csv",
        icon=":material/download:",
    )  # fmt: skip


_GUESSES = round_values(0, 5)
_ONE_RUN = (
    (
        "Canaries",
        "audit_canaries",
        CANARIES,
        "How many canaries there were; a fair coin decided for each whether it was in the data.",
    ),
    ("Guesses", "audit_guesses", GUESSES, "How many of the coins you guessed; fix this number beforehand."),
    ("Right guesses", "audit_correct", CORRECT, "How many of the guesses were right."),
)
