"""The errata page: the selected rows, the current one, and its evidence, computed on the fly."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dpcore.app import figure, page, work
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import HEADINGS
from dpcore.labs.errata import KINDS, NOTE, READING, Row, rows, sources

ALL = "all"
ANY = "All sources"
FIRST = "gaussian-every-epsilon"
DEFAULTS: dict[str, Any] = {"err_source": ANY, "err_kind": ALL, "err_row": FIRST}
TABLE = "err_table"
NUMBERS = {
    **HEADINGS,
    "setting": "Setting",
    "stated": "What it gives",
    "says": "The source says",
    "true": "Computed",
    "refuted": "Contradicts it",
}
"""Headings of the evidence."""


def titles() -> dict[str, str]:
    """Return the name of each source by its title, as used in the link."""
    return {source.title: source.name for source in sources()}


def rows_of(source: str, kind: str) -> tuple[Row, ...]:
    """Return the rows of a source (by title) and a kind; an unknown value means all."""
    return rows(titles().get(source), kind if kind in KINDS else None)


def ask() -> tuple[str, str, Row | None]:
    """Show the menus of source, kind and row; the row is None if there is none."""
    first, second, third = st.columns([4, 7, 4], gap="small")  # room for five kinds side by side
    with first:
        source = st.selectbox(
            "Source",
            [ANY, *titles()],
            key="err_source",
            bind="query-params",
            on_change=page.remember,
            args=("err_source",),
        )
    with second:
        kind = st.segmented_control(
            "Kind",
            [ALL, *KINDS],
            default=ALL,
            key="err_kind",
            bind="query-params",
            required=True,
            help="; ".join(f"{kind}: {meaning}" for kind, meaning in KINDS.items()),
        )
    with third:
        row = _pick(rows_of(source or ANY, kind or ALL))
    return source or ANY, kind or ALL, row


def _pick(selection: tuple[Row, ...]) -> Row | None:
    """Show the menu of rows; the first row is the default if the link's row is not in the list."""
    if not selection:
        st.info("No rows for this source and kind.", icon=":material/info:")
        return None
    names = [row.name for row in selection]
    if st.session_state.get("err_row") not in names:
        st.session_state["err_row"] = FIRST if FIRST in names else selection[0].name
    name = st.selectbox(
        "Row",
        names,
        key="err_row",
        bind="query-params",
        on_change=page.remember,
        args=("err_row",),
    )
    return next((row for row in selection if row.name == name), selection[0])


def spec(source: str, kind: str) -> dict[str, Any]:
    """Return the spec of the bar chart for a source (by title) and a kind."""
    return {"draw": "errata", "source": titles().get(source), "of": kind if kind in KINDS else None}


def show_row(row: Row) -> None:
    """Show the printed text, the correction and the evidence."""
    source = next(one for one in sources() if one.name == row.source)
    st.header(row.place, anchor=False)
    new = " Found while checking the first list." if row.added else ""
    st.caption(f"{figure.plain(source.reference)}. Kind: **{row.kind}**, {KINDS[row.kind]}.{new}")
    with st.container(border=True):
        st.markdown("**In the converted text**" if row.kind == READING else "**As printed**")
        st.markdown(row.printed)
    with st.container(border=True):
        st.markdown("**Corrected**" if row.kind != NOTE else "**What can be said**")
        st.markdown(row.corrected)
    if row.fails:
        st.markdown(f"**Where it fails.** {figure.plain(row.fails)}")
    try:
        with work.progress("Computing the evidence"):
            text, numbers = work.cache().get(("evidence", row.name), row.evidence)
    except DpcoreError as error:
        figure.trouble(error, "evidence")
        return
    st.markdown(f"**Evidence.** {figure.sentence(text)}")
    if numbers is not None and len(numbers):
        figure.numbers(numbers, f"err_numbers_{row.name}", NUMBERS)


def listing(selection: tuple[Row, ...]) -> None:
    """List the rows; a click selects one."""
    by_name = {source.name: source.title for source in sources()}
    cells = [(by_name[r.source], r.place, r.kind, r.why, r.fails, "new" if r.added else "") for r in selection]
    frame = pd.DataFrame(cells, columns=["Source", "Place", "Kind", "What is wrong", "Where it fails", "Found here"])

    def choose() -> None:
        lines = st.session_state[TABLE]["selection"]["rows"]
        if lines:
            page.change("err_row", selection[lines[0]].name)

    st.dataframe(frame, hide_index=True, width="stretch", key=TABLE, on_select=choose, selection_mode="single-row")
