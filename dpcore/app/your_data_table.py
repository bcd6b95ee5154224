"""The table for all tools of the page Your data: a sample dataset or the visitor's own CSV, its columns and bounds.

An upload is held only by the visitor's session: pass `OpenTable.store` on to whatever computes with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from dpcore.app import inputs, page, uploads, work
from dpcore.app.figure import plain
from dpcore.app.uploads import FILE, UPLOAD
from dpcore.core.domains import REAL
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.core.results import kept_by, result
from dpcore.language.numbers import read_value
from dpcore.specs import Spec
from dpcore.utility.reading import ColumnReading, read_column
from dpcore.utility.samples import Sample, sample_sheet, sample_tables, samples

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.files.sheet import Sheet

_Question = TypeVar("_Question")
BOUND = REAL.but(low=-1e12, high=1e12)
DEFAULTS: dict[str, Any] = {
    "data_table": "ages",
    "data_column_ages": "age",
    "data_column_survey": "study_hours",
    "data_column_staff": "salary",
    "data_column_sport": "hours",
    "data_column_homes": "electricity",
    "data_lower": "",
    "data_upper": "",
}
_BOUNDS = ("data_lower", "data_upper")


@dataclass(frozen=True)
class OpenTable:
    """A table that is open on the page.

    Attributes
    ----------
    sheet : Sheet
        Its cells.
    fields : dict of str to object
        The fields that name it in a spec (`dpcore.specs.kinds.own_data.TableDrawer`).
    store : ResultCache
        Where results about it are kept: the visitor's own cache for an upload.
    files : mapping of str to bytes
        The file, if it was uploaded.
    name : str
        Its name in the link and in widget keys; empty for an upload.
    """

    sheet: Sheet
    fields: dict[str, Any]
    store: work.ResultCache
    files: Mapping[str, bytes] = field(default_factory=dict)
    name: str = ""
    identity: str = ""

    def spec(self, draw: str, **own: Any) -> Spec:
        """Return the spec of a figure about the table; values that are None are left out."""
        values = {"draw": draw, **self.fields, **own}
        return Spec({name: value for name, value in values.items() if value is not None}, files=self.files)

    def key(self, name: str) -> str:
        """Return the key of a widget about this table: in the link for a sample, in the session for an upload."""
        return f"{name}_{self.name or self.identity}"

    def bound(self) -> dict[str, Any]:
        """Return the option that puts a widget about this table into the link, where that is allowed."""
        return {"bind": "query-params"} if self.name else {}

    def about(self, column: str) -> Sample | None:
        """Return what is known about a column of a sample dataset."""
        return samples().get(f"{self.name}.{column}")


def ask(below: DeltaGenerator | None = None) -> OpenTable | None:
    """Show the choice of table and return it; None, with the reason shown, until there is one.

    Parameters
    ----------
    below : DeltaGenerator, optional
        Where the uploader and messages go; under the menu by default.
    """
    chosen = st.selectbox(
        "Table",
        [*sample_tables(), UPLOAD],  # a link carries the text of an option
        key="data_table",
        bind="query-params",
        on_change=_other_column,
        help="Invented tables that come with the app, or your own, which stays in your session.",
    )
    with below if below is not None else st.container():
        try:
            if chosen == UPLOAD:
                return _upload()
            uploads.forget("data")
            return OpenTable(result(sample_sheet, chosen), {"sample": chosen}, work.cache(), name=str(chosen))
        except DpcoreError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return None


def _upload() -> OpenTable | None:
    """Show the uploader, and how the file is read."""
    words = "Choose a file. It stays in the memory of your session; the link carries parameters only."
    file = uploads.choose("data", words)
    if file is None:
        return None
    store, content = uploads.store_of("data", file), file.getvalue()
    with st.expander("How the file is read", icon=":material/table_view:"):
        sheet, mark = uploads.sheet_of("data", file)
        for words in sheet.notes:
            st.caption(plain(words))
    fields = {"file": FILE, "delimiter": mark}
    return OpenTable(sheet, fields, store, {FILE: content}, identity=str(file.file_id))


def _other_column() -> None:
    """Forget bounds that were typed for another column."""
    for key in _BOUNDS:
        if st.session_state.get(key):
            page.remember(key)
            st.session_state[key] = ""


def ask_column(table: OpenTable, *, kind: str = "") -> str:
    """Show the menu of columns and return the chosen one.

    Parameters
    ----------
    table : OpenTable
        What `ask` returned.
    kind : str, default ""
        ``numbers`` or ``labels`` leaves out columns of a sample dataset of the other kind; an upload offers them all.
    """
    names = [name for name in table.sheet.columns if not kind or _kind(table, name) in ("", kind)]
    key = table.key("data_column")
    default = DEFAULTS.get(key)
    about = table.about(str(st.session_state.get(key, default)))
    return str(
        st.selectbox(
            "Column",
            names,
            index=names.index(default) if default in names else 0,
            key=key,
            help="What it holds: " + about.title.split(": ", 1)[1] + "." if about is not None else None,
            on_change=_other_column,
            **table.bound(),
        )
    )


def ask_table_and_column(*, kind: str = "") -> tuple[OpenTable, str] | None:
    """Show the menus of tables and columns side by side; None, with the reason shown, until a table is open."""
    left, right = st.columns(2)
    below = st.container()
    with left:
        table = ask(below)
    if table is None:
        return None
    with right:
        return table, ask_column(table, kind=kind)


def _kind(table: OpenTable, column: str) -> str:
    about = table.about(column)
    return "" if about is None else about.kind


def places(
    ask: Callable[[], _Question | None], waiting: str
) -> tuple[DeltaGenerator, DeltaGenerator, _Question | None]:
    """Ask on the right; return the place for the picture, the place below both, and the question.

    Parameters
    ----------
    ask : callable
        Shows the fields of a tool and returns the question, or None if something is missing.
    waiting : str
        What is shown in place of the picture then.
    """
    left, right = st.columns([5, 3], gap="large")
    below = st.container()
    with right:
        question = ask()
    if question is None:
        left.info(waiting, icon=":material/edit:")
    return left, below, question


def ask_bounds(table: OpenTable, column: str) -> tuple[float, float] | None:
    """Ask for the public bounds of a column of numbers; None, with the reason shown, until both are there and in order."""
    about = table.about(column)
    known = ("0", "100") if about is None else (nearest(about.low), nearest(about.high))
    left, right = st.columns(2)
    below = st.container()
    texts = []
    for place, key, label, shown in zip((left, right), _BOUNDS, ("Lower bound", "Upper bound"), known, strict=True):
        with place:
            text = st.text_input(
                label,
                "",
                key=key,
                bind="query-params",
                placeholder=shown,
                on_change=inputs.keep_former,
                args=(key,),
                help="A public number, chosen without looking at the data: the noise hides a person only within the bounds."
                + ("" if about is None else " Empty for the bounds of the sample."),
            )
        inputs.note_former(key, text)
        texts.append(text.strip() or ("" if about is None else shown))
    if not all(texts):
        below.info(
            "Type both bounds. They are public and must not be taken from the data: the noise hides a person only within them.",
            icon=":material/straighten:",
        )
        return None
    try:
        low, high = (
            float(read_value(BOUND, text, label))
            for text, label in zip(texts, ("Lower bound", "Upper bound"), strict=True)
        )
    except DpcoreError as error:
        below.error(plain(str(error)), icon=":material/error:")
        return None
    if not low < high:
        below.error(
            plain(f"The lower bound must be below the upper bound, got {nearest(low)} and {nearest(high)}."),
            icon=":material/error:",
        )
        return None
    return low, high


def read(table: OpenTable, column: str, **how: Any) -> ColumnReading | None:
    """Read a column as the figures do (`dpcore.utility.reading.read_column`) and say what became of every row.

    Parameters
    ----------
    table : OpenTable
        What `ask` returned.
    column : str
        What `ask_column` returned.
    how : object
        ``lower`` and ``upper``, or ``categories``.

    Returns
    -------
    ColumnReading or None
        None, with the reason shown, if the column cannot be read in this way.
    """
    try:
        with work.progress("Reading", store=table.store), kept_by(work.keeper(table.store)):
            reading: ColumnReading = result(read_column, table.sheet, column, **how)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    lost = reading.unusual
    if lost or not table.name:
        words = " ".join(map(plain, reading.notes))
        (st.warning if lost else st.success)(words, icon=":material/rule:" if lost else ":material/check:")
        if not table.name:
            st.caption("These counts are for you alone: they depend on the data, and no noise protects them.")
    return reading
