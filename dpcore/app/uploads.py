"""A visitor's own file: how it is uploaded and read, and where its contents are kept.

An upload is held only by the session: no shared cache ever sees it, the link carries no part of it, and it is
dropped when the file is removed or other data are chosen. Its columns are read once and kept with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from dpcore.app import work
from dpcore.app.cache import TableCache
from dpcore.core.results import result
from dpcore.files.columns import MOST_ROWS
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import DELIMITERS, Sheet, open_csv
from dpcore.utility.reading import read_column
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_OWN = 8_000_000  # bytes of results about an upload that the visitor's session keeps
MEGABYTES = 50  # as Streamlit counts them: a million rows of a few columns; `.streamlit/config.toml` has it too
TYPES = ("csv", "txt", "tsv")
UPLOAD = "your CSV"  # in menus of tables
FILE = "your.csv"  # in the code: the name of a visitor's file is nobody else's business


def choose(name: str, words: str = "", on_change: Callable[[], None] | None = None) -> UploadedFile | None:
    """Show the uploader of a page; without a file show `words` and drop what was read before.

    Parameters
    ----------
    name : str
        Prefix of the page's keys.
    words : str, default ""
        What to choose.
    on_change : callable, optional
        Called before the page runs with another file.
    """
    file = st.file_uploader(
        "CSV file",
        type=list(TYPES),
        key=f"{name}_file",
        max_upload_size=MEGABYTES,
        on_change=on_change,
        help=f"Up to {MEGABYTES} MB and {grouped(MOST_ROWS)} rows. It is held in the memory of your session, never stored, shared or put into the "
        "link.",
    )
    if file is None:
        forget(name)
        if words:
            st.info(words, icon=":material/upload_file:")
    return file


def sheet_of(name: str, file: UploadedFile) -> tuple[Sheet, str | None]:
    """Let the visitor choose the delimiter; return the cells of a file and the choice, None for automatic detection."""
    marks = {"": "detected automatically", **DELIMITERS}
    mark = st.selectbox("Fields are separated by", list(marks), key=f"{name}_mark", format_func=marks.__getitem__)
    with work.progress("Opening", store=store_of(name, file)):
        return result(open_csv, file.getvalue(), delimiter=mark or None), mark or None


class TableStore(work.ResultCache):
    """Results about a table, and what was read from it (`hold`)."""

    def __init__(self) -> None:
        super().__init__(MOST_OWN)
        self.tables = TableCache()

    def reading(self, function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> object | None:
        """Return what a function reads from the table, now or earlier; None for other functions."""
        if function not in _PURPOSES:
            return None
        content, *rest = args
        purpose = _PURPOSES[function](*rest, **options)
        key = (function.__qualname__, work.name_of(content), work.name_of(purpose))
        table = self.tables.get(key)
        if table is None:
            table = function(*args, **options)
            self.tables.put(key, table)
        return cast("object", table)


_PURPOSES: dict[Callable[..., Any], Callable[..., object]] = {}


def hold(reader: Callable[..., Any], purpose: Callable[..., object] = lambda *args, **options: (args, options)) -> None:
    """Keep what a function reads from an uploaded table with the table.

    Parameters
    ----------
    reader : callable
        Its first argument is the file, or what was read from it before.
    purpose : callable, default all of them
        Takes the other arguments and returns those parts that determine the reading.
    """
    _PURPOSES[reader] = purpose


for _reader in (open_csv, read_column, read_microdata):
    hold(_reader)


def store_of(name: str, file: UploadedFile) -> TableStore:
    """Return the session's own cache of results about a file."""
    own: Any = st.session_state.get(f"_{name}_own")
    if own is None or own[0] != file.file_id:
        own = st.session_state[f"_{name}_own"] = (file.file_id, TableStore())
    return cast("TableStore", own[-1])


def forget(name: str) -> None:
    """Drop what was read."""
    st.session_state.pop(f"_{name}_own", None)
