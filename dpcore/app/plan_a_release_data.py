"""The table of the planner page: a shipped one, or the visitor's own CSV, which stays in the visitor's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.app import page, uploads, work
from dpcore.app.figure import plain
from dpcore.app.plan_a_release import DEFAULTS
from dpcore.app.plan_a_release_lists import column_cells, columns_text
from dpcore.app.uploads import FILE, UPLOAD
from dpcore.app.your_data_table import OpenTable
from dpcore.core.errors import DpcoreError
from dpcore.core.results import result
from dpcore.planner import PublicColumn, read_table
from dpcore.planner.release.suggestions import NUMBERS, TEXT, ColumnSuggestion, TableSuggestion, suggest
from dpcore.planner.release.table import used_columns
from dpcore.utility.samples import sample_rows, sample_sheet, sample_tables, samples
from dpcore.words import grouped

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.planner import ReleasePlan

_FORMER = "_plan_former_table"  # which table was open when the page was last shown
_STORE = "_plan_store"
_ROUND = "_plan_round"  # a new uploader each time a shipped table is chosen, which drops the file


def ask(below: DeltaGenerator) -> tuple[OpenTable | None, TableSuggestion | None]:
    """Show the choice of table; return it with its suggestions, or None with the reason shown `below`."""
    options = list(dict.fromkeys((DEFAULTS["plan_table"], *sample_tables(), UPLOAD)))
    linked = st.query_params.get("plan_table", options[0])  # a link is known here before its menu is shown
    now = str(st.session_state.get("plan_table", linked))
    with st.popover(f"Table: {now if now in options else options[0]}", icon=":material/table:"):
        chosen = st.selectbox(
            "Table",
            options,
            key="plan_table",
            bind="query-params",
            on_change=_other_table,
            help="Invented tables that come with the app, or your own, which stays in your session.",
        )
        file = uploads.choose(_uploader(), on_change=_opened)
        st.session_state[_FORMER] = chosen
        if chosen != UPLOAD:
            if file is not None:  # Reset, Undo or an example has chosen another table
                _let_go()
            name = str(chosen)
            SHIPPED.cache = work.cache().cache  # results about shipped tables are shared by all visitors
            return OpenTable(sample_sheet(name), {"sample": name}, SHIPPED, name=name), _declared(name)
        if file is None:
            below.info(
                "Open the file again: a link carries the plan and never the data. Until then, errors follow from public "
                "numbers alone.",
                icon=":material/upload_file:",
            )
            return None, None
        store, content = uploads.store_of(_uploader(), file), file.getvalue()
        try:
            sheet, mark = uploads.sheet_of(_uploader(), file)
            with work.progress("Looking through the file", store=store):
                suggestion = result(suggest, sheet)
        except DpcoreError as error:
            below.error(plain(str(error)), icon=":material/error:")
            return None, None
        for words in (f"{grouped(suggestion.rows)} rows.", *sheet.notes):
            st.caption(plain(words))
    fields = {"file": FILE, "delimiter": mark}
    return OpenTable(sheet, fields, store, {FILE: content}, identity=str(file.file_id)), suggestion


def own_store() -> work.ResultCache:
    """Return the session's cache for a plan whose file is not open, since that is the visitor's own, too."""
    if _STORE not in st.session_state:
        st.session_state[_STORE] = work.ResultCache(uploads.MOST_OWN)
    own: work.ResultCache = st.session_state[_STORE]
    return own


def _uploader() -> str:
    """Return the prefix of the uploader's keys."""
    number = int(st.session_state.get(_ROUND, 0))
    return f"plan{number}" if number else "plan"


def _declared(name: str) -> TableSuggestion:
    """Return what is public about a shipped table."""
    columns = tuple(
        ColumnSuggestion(one.column, TEXT, categories=one.categories)
        if one.categories
        else ColumnSuggestion(one.column, NUMBERS, one.low, one.high)
        for one in samples().values()
        if one.name.startswith(f"{name}.")
    )
    return TableSuggestion(sample_rows(name), columns)


def _other_table() -> None:
    """Begin a plan for another table and drop the file of the old one."""
    chosen = str(st.session_state["plan_table"])
    if chosen != UPLOAD:
        _let_go()
    _begin(chosen)


def _let_go() -> None:
    """Drop a file and what was read from it; the next uploader starts empty."""
    uploads.forget(_uploader())
    st.session_state[_ROUND] = int(st.session_state.get(_ROUND, 0)) + 1


def _opened() -> None:
    """Accept a file: a plan for an uploaded file stays, one for a shipped table ends."""
    if st.session_state.get(f"{_uploader()}_file") is not None and st.session_state.get("plan_table") != UPLOAD:
        _begin(UPLOAD)


def _begin(table: str) -> None:
    """Start a new plan, with the public facts of a shipped table; one Undo restores the old plan and its table."""
    columns = [] if table == UPLOAD else [column_cells(public(one)) for one in _declared(table).columns]
    fresh = {
        "plan_table": table,
        "plan_answers": "",
        "plan_columns": columns_text(columns),
        "plan_person": "",
        "plan_records": "1",
        "plan_rows": "" if table == UPLOAD else str(sample_rows(table)),
    }
    page.keep({**{key: st.session_state.get(key) for key in fresh}, "plan_table": st.session_state.get(_FORMER)})
    st.session_state.update(fresh)


def public(one: ColumnSuggestion, *, from_data: bool = False) -> PublicColumn:
    """Return a suggestion as public facts."""
    if one.kind == TEXT:
        return PublicColumn(one.name, categories=one.categories, from_data=from_data)
    return PublicColumn(one.name, one.lower, one.upper, from_data=from_data)


# ---- what is read of a table -----------------------------------------------------------------------------------


def _columns_used(plan: ReleasePlan) -> object:
    """Return the part of a plan that determines which columns are read, whatever its budget."""
    return (*map(tuple, used_columns(plan)), plan.records, plan.person_column)


uploads.hold(read_table, _columns_used)
uploads.hold(suggest)
SHIPPED = uploads.TableStore()  # what all visitors share about the tables that come with the app
