"""The parts of the page of audits: each shows widgets or results, and hands back what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import audit_data, hand_figure, work
from dpcore.app.audit import (
    DEFAULTS,
    LINEAR,
    LOGLOG,
    LONGEST,
    AuditView,
    Result,
    code,
    measured_csv,
    regions,
    shown_bounds,
)
from dpcore.app.figure import csv_of, plain
from dpcore.app.inputs import number_field
from dpcore.charts import theme
from dpcore.core.domains import CONFIDENCE, DELTA
from dpcore.core.errors import DomainError, DpcoreError

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def ask() -> AuditView | None:
    """Show the fields and return what they say; None with the error shown."""
    name = audit_data.choose()
    source = audit_data.ask(name, DEFAULTS)
    claim, good = _claim()
    columns, trouble = st.columns(2), st.container()
    with columns[0]:
        confidence = number_field(
            "Confidence",
            "audit_confidence",
            DEFAULTS["audit_confidence"],
            CONFIDENCE,
            trouble=trouble,
            help_text="How often, over many audits, all bounds shall be right. Choose it before looking.",
        )
    with columns[1]:
        delta = number_field(
            "At δ",
            "audit_delta",
            DEFAULTS["audit_delta"],
            DELTA,
            trouble=trouble,
            help_text="The smallest ε not ruled out is stated at this δ; typed as 1e-5.",
        )
    others, smallest, log = _looks()
    if source is None or not good or confidence is None or delta is None or others is None:
        return None
    return AuditView(source, claim, others, confidence, delta, smallest, log)


def _claim() -> tuple[TradeOff | None, bool]:
    """Show the field of the claim; it may be empty."""
    text = st.text_input(
        "Claim to test (may be empty)",
        DEFAULTS["audit_claim"],
        key="audit_claim",
        bind="query-params",
        help="What is promised of the mechanism, any expression: dp(1, 1e-5), gdp(1), laplace(1)^3 & gdp(2).",
    ).strip()
    if not text:
        return None, True
    try:
        if len(text) > LONGEST:
            msg = f"A claim is written in at most {LONGEST} characters, got {len(text)}."
            raise DomainError(msg)
        claim, told = work.region(text)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None, False
    for warning in told:
        st.warning(plain(warning))
    st.caption(
        plain(f"Neighbouring datasets of the claim: {claim.neighbours}. Inside and outside must differ in this way.")
    )
    return claim, True


def _looks() -> tuple[tuple[TradeOff, ...] | None, bool, bool]:
    """Show what else is drawn, and on which axes."""
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


# ---- results -------------------------------------------------------------------------------------------------


def show_figure(view: AuditView, result: Result) -> None:
    """Show the verdict in a line, and the figure with its sentences."""
    if result.judged is not None:
        name = plain(theme.short(str(result.judged.claim)))
        if result.judged.contradicted:
            st.info(f"**The claim {name} is contradicted.**", icon=":material/gavel:")
        else:
            st.info(f"**The claim {name} is not contradicted**, which does not prove it.", icon=":material/gavel:")
    hand_figure.show(result.figure, key="audit_figure", code=code(view))


def show_bounds(result: Result) -> None:
    """Show the table of bounds, and what else is known of them."""
    st.dataframe(shown_bounds(result.bounds), hide_index=True, width="stretch", key="audit_bounds")
    st.caption(
        "Lower bound: proved of the mechanism. Measured: approximate, at the most telling test. Upper bound: of that test "
        "only, another may do better."
    )
    for words in result.words:
        st.caption(plain(words))


def show_statements(result: Result) -> None:
    """List the smallest statements that are not contradicted."""
    st.markdown("No smaller statement of its kind is consistent with the measurement; a larger one may be the truth.")
    st.markdown("\n".join(f"- **{plain(s.notion)}** ({s.kind}): {plain(s.words)}" for s in result.statements))
    with st.expander("As expressions", icon=":material/table_rows:"):
        for statement in result.statements:
            st.code(str(statement.region), language=None, wrap_lines=True)
        st.caption("What is proved, as a region that the mechanism's own region contains:")
        st.code(result.proved, language=None, wrap_lines=True)


def show_downloads(view: AuditView, result: Result) -> None:
    """Offer all numbers, and the measurement itself."""
    with st.container(horizontal=True):
        for label, make, name in (
            ("All numbers", lambda: csv_of(result.report), "audit_report.csv"),
            ("Measurement", lambda: measured_csv(view.source), "audit_measurement.csv"),
        ):
            st.download_button(
                label, make, name, "text/csv", on_click="ignore", key=f"audit_{name}", icon=":material/download:"
            )
