"""What the planner page produces: the report, programs, a simulation and the rows for the ledger."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from dpcore.app import figure, ledger, navigation, work
from dpcore.app.figure import plain
from dpcore.app.guide_texts import show_pieces
from dpcore.app.label_control import offer_label
from dpcore.app.plan_a_release import HEIGHT
from dpcore.core.errors import DpcoreError
from dpcore.core.results import result
from dpcore.ledger import read_ledger, to_csv
from dpcore.ledger.writing import all_cells, cells_to_csv
from dpcore.planner import plan_report, solve
from dpcore.planner.release.planned import amount
from dpcore.specs import figures_in

if TYPE_CHECKING:
    from dpcore.app.plan_a_release import PlanView
    from dpcore.planner import PlannedRelease, PlanSolution

REPORT, PROGRAM, SIMULATION = "Report", "Program", "Simulate once"
_ICONS = {REPORT: "description", PROGRAM: "terminal", SIMULATION: "casino"}
PROGRAMS = {"OpenDP": "opendp", "numpy, not for release": "numpy"}
_STYLE = "<style>.st-key-plan_report [data-testid='stMarkdownContainer'] { overflow-x: auto; }</style>"
"""A wide table in the report scrolls on a phone; the page does not."""

PROGRAM_HEIGHT = 420
_CLOSED = "Open the table first: this needs the data themselves."


def read(view: PlanView) -> bool:
    """Read the table and solve the plan; return whether that worked, with the reason shown if not."""
    try:
        with work.progress("Reading and planning", store=view.store):
            _ = view.solution, view.release
    except DpcoreError as error:
        figure.trouble(error, "plan_reading")
        return False
    return True


def say_table(view: PlanView) -> None:
    """Say what was read from the table, and which public facts were read off it; none of this is protected."""
    if view.data is not None and view.table is not None and not view.table.name:
        st.caption(plain(f"For you alone: {' '.join(view.data.notes)}"))
    leaks = [column.name for column in view.plan.columns if column.from_data]
    if leaks:
        names = ", ".join(leaks)
        st.caption(plain(f"Bounds and categories of {names} were read off the data: no noise protects what they say."))


def error_texts(view: PlanView) -> list[str]:
    """Return the 95 % error of every answer as in the picture; empty if there is no picture."""
    try:
        with work.progress("Planning", store=view.store):
            table = figure.figure_of(view.spec, height=HEIGHT, store=view.store).table
    except DpcoreError:
        return []
    return [f"± {amount(float(row['halfwidth']), str(row['unit']))}" for _, row in table.iterrows()]


def show(view: PlanView) -> None:
    """Show the row of outputs of a plan, and its open panels."""
    work.part(lambda: _panels(view))


def _panels(view: PlanView) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = st.pills(
            "Report, program and simulation",
            list(_ICONS),
            selection_mode="multi",
            format_func=lambda panel: f":material/{_ICONS[panel]}: {panel}",
            key="plan_panels",
            label_visibility="collapsed",
            width="content",
        )
        if st.button("Add to the ledger", icon=":material/receipt_long:", key="plan_to_ledger"):
            open_ledger(view)
    try:
        with work.progress("Writing", store=view.store):
            release = view.release if chosen else None
        if REPORT in chosen:
            _report(view)
        if PROGRAM in chosen:
            _program(release)
        if SIMULATION in chosen:
            _simulation(release)
    except DpcoreError as error:
        figure.trouble(error, "plan_panels")


def _report(view: PlanView) -> None:
    """Show the report, which contains only public numbers, and offer it as files."""
    with work.progress("Writing", store=view.store):
        text = plan_report(view.plan)
    with st.container(horizontal=True):
        for name, data, kind in (
            ("report.html", partial(report_page, text), "text/html"),
            ("report.md", text.encode(), "text/markdown"),
        ):
            st.download_button(
                f"Report as {'HTML' if kind == 'text/html' else 'Markdown'}",
                data=data,
                file_name=name,
                mime=kind,
                on_click="ignore",
                key=f"plan_save_{name}",
                icon=":material/download:",
            )
        release = result(solve, view.plan).ledger
        offer_label(release, key="plan_label", delta=view.plan.delta, epsilon=view.plan.epsilon, plan=view.plan)
    st.html(_STYLE)
    with st.container(border=True, key="plan_report"):
        shown = text.replace("```toml", "```text")  # syntax colours are too pale to read
        show_pieces(shown, figures_in(text, file="report.md"), "plan_report", store=view.store)


def report_page(text: str) -> bytes:
    """Return a report as a page that needs no server and no network."""
    from dpcore.site import build_report  # noqa: PLC0415  # slow to import

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "report.md"
        source.write_text(text, encoding="utf-8")
        return build_report(source, source.with_suffix(".html")).read_bytes()


def _program(release: PlannedRelease | None) -> None:
    """Show the program that makes the release."""
    if release is None:
        st.info(_CLOSED, icon=":material/upload_file:")
        return
    name = st.segmented_control(
        "Library",
        list(PROGRAMS),
        default=next(iter(PROGRAMS)),
        required=True,
        key="plan_program",
        label_visibility="collapsed",
    )
    text = release.program(PROGRAMS[str(name)])
    st.download_button(
        "Program",
        data=text.encode(),
        file_name="release.py",
        mime="text/x-python",
        on_click="ignore",
        key="plan_save_program",
        icon=":material/download:",
    )
    st.code(text, language="python", height=PROGRAM_HEIGHT)


def _simulation(release: PlannedRelease | None) -> None:
    """Show one simulated release beside the true answers."""
    if release is None:
        st.info(_CLOSED, icon=":material/upload_file:")
        return
    st.warning(
        "A simulation, for you alone: the true answers are shown next to it, and its noise comes from a generator that protects "
        "nobody. Release with the program.",
        icon=":material/casino:",
    )
    seed = st.number_input("Draw", 1, 10**6, 1, key="plan_seed")
    table = release.cells_frame(np.random.default_rng(int(seed)))
    figure.numbers(table, "plan_cells")


# ---- the ledger ------------------------------------------------------------------------------------------------


def open_ledger(view: PlanView) -> None:
    """Open the ledger with the rows of the plan below those already there."""
    plan = view.plan
    text = ledger_text(view.solution, str(st.session_state.get(ledger.OWN) or ""))
    st.session_state[ledger.LONG] = text if len(text) > ledger.MOST_LINKED else ""
    state = ledger.link_state(text, plan.relation, plan.delta, plan.epsilon if plan.mu is None else None)
    st.switch_page(navigation.LEDGER.file, query_params=state)


def ledger_text(solution: PlanSolution, own: str) -> str:
    """Return the rows of a plan as a ledger, below the rows already there."""
    new = to_csv(solution.ledger)
    return cells_to_csv([*all_cells(read_ledger(own)), *all_cells(read_ledger(new))]) if own else new
