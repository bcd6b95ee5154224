"""The parts of the ledger page: the table, the budget, and the statements about them."""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, ledger, navigation, page, uploads, work
from dpcore.app.badge import marked
from dpcore.app.figure import plain
from dpcore.app.label_control import offer_label
from dpcore.app.ledger import AS_ROWS, DEFAULTS, LONG, MOST_EDITED, MOST_LINKED, OWN, SHOWN, STATUS, LedgerView
from dpcore.core.domains import DELTA, LOSS
from dpcore.core.errors import BudgetError, DomainError, DpcoreError, RelationError
from dpcore.ledger import ASSUMPTION, CHOICE, Budget, more_words, read_ledger, to_csv, to_json
from dpcore.ledger.records import MOST_ROWS
from dpcore.theorems.sharing import RULE
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.ledger import LedgerReading
    from dpcore.specs import Spec

MOST_NAMED = 10
TABLE_HEIGHT, CHART_HEIGHT = 203, 260  # the table, the chart and its sliders fit on one screen
SLIDERS = ("ledger_epsilon_slider", "ledger_delta_slider")
_CACHE, _NOTICES = "_ledger_cache", "_ledger_notices"
_EPSILON, _DELTA = LOSS.but(high=1e6), DELTA
_HELP = {
    "label": "What was released.",
    "expression": "The region of one release: laplace(0.1), gaussian(5), dp(1, 1e-6), poisson_gaussian(1, 0.01) ...",
    "count": "How many such releases, each with its own noise; 1 or more.",
    "group": "Rows with the same group are about different people, such as one row per department: together they cost as "
    "much as the worst of them. Empty: about everybody.",
    "group_limit": "In how many rows of its group one person can be; empty means 1, or 2 if records are replaced (substitution).",
    "date": "Free text.",
    "note": "Free text.",
    STATUS: "Whether the row is included in the numbers, and if not, why.",
}
_WIDTHS: dict[str, Any] = {"label": 170, "expression": 210, "count": 75, STATUS: 95, "group": 90, "group_limit": 105}
_PEOPLE = "A file with personal data does not belong here: plan a release from it, and add that release to the ledger."
GROUPS = (
    "Rows with the same **group** are about different people, such as one row per department: together they cost as much as "
    "the worst of them. **group_limit** says in how many of them one person can be: 1 if empty, or 2 for substitution, where a "
    "replaced record may move to another part."
)


# ---- the table -----------------------------------------------------------------------------------------------


def ask_table(files: DeltaGenerator) -> tuple[str, LedgerReading] | None:
    """Show the table and its downloads; return its text and rows, or None with the error shown below the table."""
    table, below = st.container(), st.container()
    with files, st.container(horizontal=True, horizontal_alignment="right"):
        saving = st.empty()
        with st.popover("Open a file", icon=":material/upload_file:"):
            _upload()
        text = _text()
    st.session_state[OWN] = "" if ledger.is_public(text) else text
    work.fresh((text, *(st.session_state.get(key) for key in DEFAULTS)))
    refused, notices = st.session_state.pop(_NOTICES, ("", ()))
    if refused:
        with below:
            st.error(plain(refused), icon=":material/error:")
            navigation.PLANNER.point("Plan a release from a table of people")
    try:
        with work.progress("Reading", store=store_of(text)):
            reading = ledger.read(text)
    except DpcoreError as error:
        figure.trouble(error, "ledger_reading", below)
        return None
    with table:
        _editor(reading)
    with below:
        _say(reading, notices)
    with saving.popover("Save the table", icon=":material/save:"):
        _downloads(reading)
    return text, reading


def store_of(text: str) -> work.ResultCache:
    """Return where results about a table are kept: shared by all visitors for an example, otherwise in the session."""
    if ledger.is_public(text):
        return work.cache()
    if _CACHE not in st.session_state:
        st.session_state[_CACHE] = work.ResultCache(uploads.MOST_OWN)
    own: work.ResultCache = st.session_state[_CACHE]
    return own


def _text() -> str:
    """Show the table as text, which the link carries if it is short, and return it."""
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
            st.button("Discard it", on_click=page.apply, args=({LONG: ""},), key="ledger_put_away")
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
    """Make an uploaded file the table; anything unusual about it is reported below the table."""
    file = st.session_state.get("ledger_file")
    if file is None:
        return
    try:
        reading = read_ledger(file.getvalue())
    except DpcoreError as error:
        st.session_state[_NOTICES] = (f"{error} {_PEOPLE}", ())
        return
    if reading.relation:
        page.change("ledger_relation", reading.relation)
    take(to_csv(reading))
    count = len(reading.entries)
    read = f"{file.name}: {grouped(count)} {'row' if count == 1 else 'rows'} read."
    st.session_state[_NOTICES] = ("", (read, *reading.messages))


def take(text: str) -> None:
    """Make a text the table: in the link if it is short, otherwise in the session."""
    if len(text) <= MOST_LINKED:
        page.apply({"ledger_rows": text, LONG: ""})
    else:
        page.apply({LONG: text})


def _say(reading: LedgerReading, notices: tuple[str, ...]) -> None:
    """Say what became of a file, and which rows are not included."""
    if notices:
        st.success(" ".join(plain(words) for words in notices[:MOST_NAMED]), icon=":material/check:")
    for words in reading.messages[:MOST_NAMED] if not notices else ():
        st.caption(plain(words))
    if reading.problems:
        rest = len(reading.problems) - MOST_NAMED
        lines = [f"- {plain(words)}" for words in reading.problems[:MOST_NAMED]]
        lines += [f"- and {grouped(rest)} more rows"] if rest > 0 else []
        head = "All numbers below are without these rows, so they are too small:"
        st.error("\n".join([head, "", *lines]), icon=":material/error:")


def _editor(reading: LedgerReading) -> None:
    """Show the table for editing, always with the same height; a long one is read-only."""
    table = ledger.editor_table(reading)
    if len(table) > MOST_EDITED:
        rows = table.head(MOST_EDITED)
        st.dataframe(rows, hide_index=True, width="stretch", height=TABLE_HEIGHT, key="ledger_shown")
        st.caption(
            f"The first {grouped(MOST_EDITED)} of {grouped(len(table))} rows; a table this long is edited in its file."
        )
        return
    key = f"ledger_table_{zlib.crc32(to_csv(reading).encode())}_{bool(st.session_state.get(LONG))}"
    st.data_editor(
        table,
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        height=TABLE_HEIGHT,
        key=key,
        on_change=_take_edits,
        args=(key, reading),
        disabled=[STATUS],
        column_config={
            name: st.column_config.TextColumn(
                help=_HELP.get(name), default="1" if name == "count" else None, width=_WIDTHS.get(name, "small")
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
    """Offer the table as files that can be opened again, including wrong rows."""
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


def ask_budget() -> tuple[Budget | None, str]:
    """Show the budget and the relation."""
    epsilon = inputs.slider_field(
        "Budget ε", "ledger_epsilon", DEFAULTS["ledger_epsilon"], inputs.LOSSES, _EPSILON,
        help_text="How much may be spent in total.",
    )  # fmt: skip
    delta = inputs.slider_field(
        "Budget δ", "ledger_delta", DEFAULTS["ledger_delta"], inputs.DELTAS, _DELTA,
        help_text=f"{inputs.delta_help('all rows together')} Every ε on this page is at this δ.",
    )  # fmt: skip
    relation = st.radio(
        "Neighbours",
        (AS_ROWS, "substitution", "add/remove"),
        horizontal=True,  # wraps if there is no room for all three
        key="ledger_relation",
        bind="query-params",
        help="Neighbouring datasets differ in one person, whose data are changed, or added or removed. If the rows "
        "disagree, state one relation for all of them.",
    )
    budget = None if epsilon is None or delta is None else Budget(epsilon, delta)
    return budget, "" if relation in (AS_ROWS, None) else str(relation)


def moved(budget: Budget, held: Mapping[str, str]) -> Budget:
    """Return the budget with the value of a slider that is held."""
    return Budget(float(held.get(SLIDERS[0], budget.epsilon)), float(held.get(SLIDERS[1], budget.delta)))


def ask_row(view: LedgerView) -> int | None:
    """Ask which row to repeat; return its index from 0, or the last row if the number is too large."""
    row = inputs.integer_field(
        "More of row", "ledger_more", DEFAULTS["ledger_more"], low=1, high=MOST_ROWS, trouble=st.container(),
        help_text="Number of the row that you plan to release more of.",
    )  # fmt: skip
    return None if row is None else min(row, len(view.ledger)) - 1


# ---- results -------------------------------------------------------------------------------------------------


def view_of(text: str, reading: LedgerReading, budget: Budget, relation: str) -> LedgerView | None:
    """Return the question; None, with the reason shown, if the rows cannot be added up."""
    store = store_of(text)
    if not reading.ledger.rows:
        st.info("No row counts yet: add one to see what it reveals.", icon=":material/edit:")
        return None
    rows = ledger.readable(reading, text)
    try:
        with work.progress("Reading", store=store):
            view = LedgerView(rows, ledger.opened(rows, relation), relation, budget, store)
        _ = view.ledger.neighbours
        _ = view.ledger.factors
    except RelationError as error:
        st.error(plain(str(error)), icon=":material/error:")
        with st.container(horizontal=True):
            for name in ("substitution", "add/remove"):
                st.button(
                    f"All rows hold under {name}",
                    on_click=page.change,
                    args=("ledger_relation", name),
                    key=f"ledger_state_{name}",
                )
        return None
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return view


def show(view: LedgerView, kind: str, words: str, **fields: Any) -> None:
    """Show a picture of the ledger with its sentence and downloads, or say why there is none."""
    spec = view.spec(kind, **fields)
    if draw(view, spec, words):
        say_figure(view, spec)


def draw(view: LedgerView, spec: Spec, words: str, height: int = 0) -> bool:
    """Draw a picture of the ledger, or say in its place why there is none; return whether it was drawn."""
    key = f"ledger_{spec['view']}"
    ledger.expect(view)
    try:
        with work.progress(words, store=view.store):
            figure.draw(figure.figure_of(spec, height=height, store=view.store), key)
    except DomainError as error:  # nothing to draw is an answer, not an error
        st.info(plain(str(error)), icon=":material/info:")
        return False
    except DpcoreError as error:
        figure.trouble(error, key)
        say_command(view, error)
        return False
    return True


def say_figure(view: LedgerView, spec: Spec, height: int = 0, *, link: bool = False) -> None:
    """Show the sentence of a picture and its downloads, if it could be drawn."""
    with suppress(DpcoreError), work.progress("Drawing", store=view.store):  # the error is shown in the picture's place
        figure.words(figure.figure_of(spec, height=height, store=view.store))
        command = (lambda _: view.command()) if link else None
        figure.offer(spec, key=f"ledger_{spec['view']}", link=link, command=command, store=view.store)


def say_command(view: LedgerView, error: DpcoreError) -> None:
    """If only the time was too short, say where there is more of it."""
    if isinstance(error, BudgetError) and not st.session_state.get("_stopped"):
        st.caption("Nothing is shown in its place. The command line has no time limit; save the table, then run")
        st.code(view.command(), language="bash")


def say(view: LedgerView, make: Callable[[], str], words: str, key: str) -> None:
    """Show a sentence that takes time to compute, or say why there is none."""
    try:
        with work.progress(words, store=view.store):
            text = make()
    except DpcoreError as error:
        figure.trouble(error, key)
        say_command(view, error)
    else:
        st.markdown(marked(_bold(text)))


def _bold(words: str) -> str:
    """Return words in which only **the name** is Markdown."""
    before, name, after = [*words.split("**"), "", ""][:3]
    return f"{plain(before)}**{plain(name)}**{plain(after)}" if name else plain(words)


def say_rows(view: LedgerView) -> None:
    """Say what is assumed about the rows, how many there are, and which theorem composes them best."""
    say(view, lambda: ledger.verdict(view), "Applying the theorems", "ledger_theorems")
    say(view, lambda: ledger.total_words(view), "Adding up", "ledger_total")
    say(view, lambda: ledger.mu_words(view), "Fitting", "ledger_mu")
    for words in (ledger.assumed_words(view), ledger.group_words(view)):
        if words:
            st.markdown(figure.sentence(words))
    st.caption(RULE)


def show_label(view: LedgerView, reading: LedgerReading) -> None:
    """Offer the label of the releases if every row counts and they stay within their budget, since it states both."""
    with suppress(DpcoreError), work.progress("Adding up", store=view.store):  # the error is shown with the rows
        if not reading.problems and ledger.is_within(view):
            offer_label(view.ledger, key="ledger_label", delta=view.budget.delta, epsilon=view.budget.epsilon)


def show_more(view: LedgerView, row: int) -> None:
    """Say how many more releases of a row fit."""
    say(view, lambda: more_words(view.ledger, ledger.more(view, row), view.budget), "Counting", "ledger_more")
    st.caption(ASSUMPTION)


def show_filters(view: LedgerView, row: int) -> None:
    """Show whether one more release of a row may follow if strengths and numbers are chosen adaptively."""
    show(view, "filters", "Running the filters", row=row + 1)
    st.caption(CHOICE)
