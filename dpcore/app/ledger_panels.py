"""The parts of the ledger's page: each shows widgets and hands back what they say."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, hand_figure, inputs, ledger, page, uploads, work
from dpcore.app.figure import csv_of, numbers, plain
from dpcore.app.ledger import AS_ROWS, DEFAULTS, LONG, MOST_EDITED, MOST_LINKED, SHOWN, STATUS, LedgerView
from dpcore.core.domains import DELTA, LOSS
from dpcore.core.errors import BudgetError, DpcoreError, RelationError
from dpcore.core.kinds import labelled
from dpcore.ledger import (
    ASSUMPTION,
    CHOICE,
    Budget,
    filter_words,
    may_words,
    more_words,
    read_ledger,
    to_csv,
    to_json,
    verdict,
)
from dpcore.ledger.records import MOST_ROWS
from dpcore.theorems.sharing import RULE
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpcore.charts.figure import Figure
    from dpcore.ledger import LedgerReading

MOST_TOLD = 10
_CACHE, _TOLD = "_ledger_cache", "_ledger_told"
_EPSILON, _DELTA = LOSS.but(high=1e6), DELTA
_HELP = {
    "label": "What was released.",
    "expression": "The region of one release: laplace(0.1), gaussian(5), dp(1, 1e-6), poisson_gaussian(1, 0.01) ...",
    "count": "How many such releases, each with its own noise; from 1 upwards.",
    "group": "Rows with the same group are about disjoint parts of the data. Empty: about all of it.",
    "group_limit": "In how many rows of its group one person is at most; empty means 1.",
    "date": "Free text.",
    "note": "Free text.",
    STATUS: "Whether the row counts, and if not, why.",
}


# ---- the table -----------------------------------------------------------------------------------------------


def ask() -> LedgerView | None:
    """Show the table, the budget and the relation; return what they say, None with the error shown."""
    table, files, fields = st.container(), st.container(), st.container()
    with files, st.container(horizontal=True, vertical_alignment="bottom"):
        saving = st.empty()
        with st.popover("Open a file", icon=":material/upload_file:"):
            _upload()
        text = _text()
    reading = None
    own = bool(st.session_state.get(LONG))
    cache = _own_cache() if own else work.cache()
    with table:
        st.header("The releases")
        try:
            with work.progress("Reading"):
                reading = ledger.read(text, cache)
            _tell(reading)
            _editor(reading, own=own)
        except DpcoreError as error:
            figure.trouble(error, "ledger_reading")
    if reading is not None:
        with saving.popover("Save the table", icon=":material/save:"):
            _downloads(reading)
    with fields:
        budget, relation = _fields()
    if reading is None or budget is None:
        return None
    return LedgerView(text, reading, relation, budget, cache)


def _own_cache() -> work.ResultCache:
    if _CACHE not in st.session_state:
        st.session_state[_CACHE] = work.ResultCache(uploads.MOST_OWN)
    answer: work.ResultCache = st.session_state[_CACHE]
    return answer


def _text() -> str:
    """Show the table as text, which the link carries while it is short, and return it."""
    long = str(st.session_state.get(LONG) or "")
    with st.popover("The table as text", icon=":material/edit_note:"):
        text = st.text_area(
            "One row per line: label, expression, count, and optionally date, note, group, group_limit",
            DEFAULTS["ledger_rows"],
            key="ledger_rows",
            bind="query-params",
            height=240,
            disabled=bool(long),
            help="CSV, as a spreadsheet saves it; other columns are kept.",
            on_change=inputs.keep_former,
            args=("ledger_rows",),
        )
        inputs.note_former("ledger_rows", text)
        if long:
            st.caption(
                f"The table in use has {grouped(len(long))} characters: too long for a link. It stays in your session."
            )
            st.button("Put it away", on_click=page.apply, args=({LONG: ""},), key="ledger_put_away")
    return long or text


def _upload() -> None:
    """Show the uploader; a file that can be read becomes the table."""
    st.file_uploader(
        "CSV or JSON with label, expression, count",
        type=["csv", "txt", "tsv", "json"],
        key="ledger_file",
        max_upload_size=uploads.MEGABYTES,
        on_change=_take_file,
        help="A short file goes into the link like a typed table; a long one stays in the memory of your session.",
    )


def _take_file() -> None:
    """Make an uploaded file the table; what is unusual about it is said above the table."""
    file = st.session_state.get("ledger_file")
    if file is None:
        return
    try:
        reading = read_ledger(file.getvalue())
    except DpcoreError as error:
        st.session_state[_TOLD] = (str(error), ())
        return
    if reading.relation:
        page.change("ledger_relation", reading.relation)
    take(to_csv(reading))
    count = len(reading.entries)
    read = f"{file.name}: {grouped(count)} {'row' if count == 1 else 'rows'} read."
    st.session_state[_TOLD] = ("", (read, *reading.messages))


def take(text: str) -> None:
    """Make a text the table: in the link while it is short, in the session otherwise."""
    if len(text) <= MOST_LINKED:
        page.apply({"ledger_rows": text, LONG: ""})
    else:
        page.apply({LONG: text})


def _tell(reading: LedgerReading) -> None:
    """Say what became of a file, and which rows do not count."""
    refused, notices = st.session_state.pop(_TOLD, ("", ()))
    if refused:
        st.error(plain(refused), icon=":material/error:")
    if notices:
        st.success(" ".join(plain(words) for words in notices[:MOST_TOLD]), icon=":material/check:")
    for words in reading.messages[:MOST_TOLD] if not notices else ():
        st.caption(plain(words))
    if reading.problems:
        rest = len(reading.problems) - MOST_TOLD
        lines = [f"- {plain(words)}" for words in reading.problems[:MOST_TOLD]]
        lines += [f"- and {grouped(rest)} more rows"] if rest > 0 else []
        head = "All numbers below are without these rows, so they are too small:"
        st.error("\n".join([head, "", *lines]), icon=":material/error:")


def _editor(reading: LedgerReading, *, own: bool) -> None:
    """Show the table to be changed; a long one is only shown."""
    table = ledger.editor_table(reading)
    if len(table) > MOST_EDITED:
        st.dataframe(table.head(MOST_EDITED), hide_index=True, width="stretch", key="ledger_shown")
        st.caption(
            f"The first {grouped(MOST_EDITED)} of {grouped(len(table))} rows; a table this long is edited in its file."
        )
        return
    key = f"ledger_table_{zlib.crc32(to_csv(reading).encode())}_{own}"
    st.data_editor(
        table,
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        key=key,
        on_change=_take_edits,
        args=(key, reading),
        disabled=[STATUS],
        column_config={
            name: st.column_config.TextColumn(
                help=_HELP.get(name),
                default="1" if name == "count" else None,
                width="medium" if name in ("label", "expression", "note") else "small",
            )
            for name in table.columns
            if name in (*SHOWN, STATUS)
        },
    )


def _take_edits(key: str, reading: LedgerReading) -> None:
    """Write the edited table into the text."""
    new = ledger.edited(reading, st.session_state.get(key) or {})
    if new != to_csv(reading):
        take(new)


def _encoded(make: Callable[[LedgerReading], str], reading: LedgerReading) -> bytes:
    return make(reading).encode()


def _downloads(reading: LedgerReading) -> None:
    """Offer the table as files that can be opened again, rows that do not count included."""
    for label, make, name, mime in (
        ("Ledger as CSV", to_csv, "ledger.csv", "text/csv"),
        ("Ledger as JSON", to_json, "ledger.json", "application/json"),
    ):
        st.download_button(
            label,
            data=partial(_encoded, make, reading),
            file_name=name,
            mime=mime,
            on_click="ignore",
            key=f"ledger_save_{name}",
            icon=":material/download:",
        )


# ---- the questions -------------------------------------------------------------------------------------------


def _fields() -> tuple[Budget | None, str]:
    """Show the budget and the relation."""
    trouble = st.container()
    columns = st.columns([2, 2, 5], vertical_alignment="bottom")
    with columns[0]:
        epsilon = inputs.number_field(
            "Budget ε", "ledger_epsilon", DEFAULTS["ledger_epsilon"], _EPSILON, trouble=trouble,
            help_text="How much may be spent in all.",
        )  # fmt: skip
    with columns[1]:
        delta = inputs.number_field(
            "Budget δ", "ledger_delta", DEFAULTS["ledger_delta"], _DELTA, trouble=trouble,
            help_text="What may exceed the budget ε, of the whole ledger; every ε on this page is at this δ.",
        )  # fmt: skip
    with columns[2]:
        relation = st.segmented_control(
            "Neighbours",
            (AS_ROWS, "substitution", "add/remove"),
            default=AS_ROWS,
            required=True,
            key="ledger_relation",
            bind="query-params",
            help="Which data sets must be told apart badly: one person's data changed, or added or removed. Rows that "
            "disagree are added up only if you state one relation for all.",
        )
    budget = None if epsilon is None or delta is None else Budget(epsilon, delta)
    return budget, "" if relation in (AS_ROWS, None) else str(relation)


def ask_more(view: LedgerView) -> LedgerView:
    """Ask of which row more may follow; a number beyond the table means its last row."""
    row = inputs.integer_field(
        "More of row", "ledger_more", DEFAULTS["ledger_more"], low=1, high=MOST_ROWS, trouble=st.container(),
        help_text="The number of the row of which further releases are planned.",
    )  # fmt: skip
    return replace(view, more=None if row is None else min(row, len(view.ledger)) - 1)


# ---- results -------------------------------------------------------------------------------------------------


def usable(view: LedgerView) -> bool:
    """Show why the ledger cannot be added up, if it cannot; say what is assumed."""
    try:
        if not view.ledger.rows:
            st.info("The table has no row that counts: write one to see what it reveals.", icon=":material/edit:")
            return False
        _ = view.ledger.neighbours
        _ = view.ledger.factors
    except RelationError as error:
        st.error(plain(str(error)), icon=":material/error:")
        with st.container(horizontal=True):
            for relation in ("substitution", "add/remove"):
                st.button(
                    f"All rows hold under {relation}",
                    on_click=page.change,
                    args=("ledger_relation", relation),
                    key=f"ledger_state_{relation}",
                )
        return False
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    for words in (ledger.assumed_words(view), ledger.group_words(view)):
        if words:
            st.caption(plain(words))
    return True


def show(view: LedgerView, picture: Figure | DpcoreError, *, key: str, code: str, **options: Any) -> None:
    """Show a figure with the code that makes it, or the error that it ended with."""
    if isinstance(picture, DpcoreError):
        _trouble(view, picture, key)
    else:
        hand_figure.show(picture, key=key, code=code, **options)


def _trouble(view: LedgerView, error: DpcoreError, key: str) -> None:
    """Say why a result is missing; where only the time was too short, also who has more of it."""
    figure.trouble(error, key)
    if isinstance(error, BudgetError) and not st.session_state.get("_stopped"):
        st.caption("Nothing is shown in its place. The command line has no time limit; save the table, then run")
        st.code(ledger.command(view), language="bash")


def show_theorems(view: LedgerView, rows: pd.DataFrame | DpcoreError) -> None:
    """Name the best theorem in words and list all of them."""
    if isinstance(rows, DpcoreError):
        _trouble(view, rows, "ledger_theorems")
        return
    st.markdown(_bold(verdict(rows)))
    shown = rows.drop(columns=["theorem", "delta"]).rename(columns={"title": "theorem"})
    numbers(labelled(shown), "ledger_theorems")
    st.caption(RULE)


def _bold(words: str) -> str:
    """Return words in which only **the name** is Markdown."""
    before, name, after = [*words.split("**"), "", ""][:3]
    return f"{plain(before)}**{plain(name)}**{plain(after)}" if name else plain(words)


def show_more(view: LedgerView) -> None:
    """Say how many more releases of the chosen row fit."""
    try:
        with work.progress("Counting"):
            answer = ledger.more(view)
    except DpcoreError as error:
        _trouble(view, error, "ledger_more")
        return
    if answer is None:
        return
    words = more_words(view.ledger, answer, view.budget)
    (st.warning if answer.over else st.info)(plain(words), icon=":material/calculate:")
    st.caption(ASSUMPTION)


def show_filters(view: LedgerView) -> None:
    """Say whether one more release of the chosen row may follow, strengths and numbers being chosen on the way."""
    try:
        with work.progress("Asking the filters"):
            answer = ledger.may_release(view)
    except DpcoreError as error:
        _trouble(view, error, "ledger_filters")
        return
    if answer is None or view.more is None:
        return
    st.info(plain(may_words(view.ledger, view.more, answer)), icon=":material/filter_alt:")
    st.caption(CHOICE)
    st.markdown("\n".join(f"- {_bold(filter_words(row))}" for _, row in answer.iterrows()))
    with st.popover("Python and command line", icon=":material/code:"):
        st.code(ledger.filter_code(view), language="python")
        st.code(ledger.filter_command(view), language="bash")


def show_deltas(view: LedgerView, table: pd.DataFrame | DpcoreError) -> None:
    """List delta of the ledger at some epsilons."""
    if isinstance(table, DpcoreError):
        _trouble(view, table, "ledger_deltas")
        return
    st.markdown(plain(ledger.total_words(view, table)))
    numbers(table, "ledger_deltas")
    st.download_button(
        "Deltas as CSV",
        data=lambda: csv_of(table),
        file_name="deltas.csv",
        mime="text/csv",
        on_click="ignore",
        key="ledger_deltas_csv",
        icon=":material/download:",
    )
