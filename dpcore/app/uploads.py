"""A visitor's own file: how it is asked for, how it is read, and where what was read is kept.

An upload is held by the session alone: no cache that visitors share ever sees it, the link carries no part of it, and it is
let go when the file is removed or other data are chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from dpcore.app import work
from dpcore.files.sheet import DELIMITERS, MOST_BYTES, Sheet, open_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_OWN = 8_000_000  # bytes of results about an upload that its visitor's session keeps
MEGABYTES = MOST_BYTES // 2**20  # as Streamlit counts them; `.streamlit/config.toml` names the same
TYPES = ("csv", "txt", "tsv")


def choose(
    name: str, words: str = "", rows: str = "", on_change: Callable[[], None] | None = None
) -> UploadedFile | None:
    """Show the uploader of a page; without a file say `words` and let go of what was read before.

    Parameters
    ----------
    name : str
        Prefix of the page's keys.
    words : str, default ""
        What to choose.
    rows : str, default ""
        How many rows are read at most, for the help; may be empty.
    on_change : callable, optional
        Called before the page runs with another file.
    """
    file = st.file_uploader(
        "CSV file",
        type=list(TYPES),
        key=f"{name}_file",
        max_upload_size=MEGABYTES,
        on_change=on_change,
        help=f"Up to {MEGABYTES} MB{rows}. It is held in the memory of your session, never stored, shared or put into the "
        "link.",
    )
    if file is None:
        forget(name)
        if words:
            st.info(words, icon=":material/upload_file:")
    return file


def sheet_of(name: str, file: UploadedFile) -> Sheet:
    """Let the delimiter be chosen and return the cells of a file."""
    marks = {"": "found by itself", **DELIMITERS}
    mark = st.selectbox("Fields are separated by", list(marks), key=f"{name}_mark", format_func=marks.__getitem__)
    return open_csv(file.getvalue(), delimiter=mark or None)


def store_of(
    name: str, file: UploadedFile, make: Callable[[int], work.ResultCache] = work.ResultCache
) -> work.ResultCache:
    """Return the session's own cache of results about a file, which `make` makes."""
    own: Any = st.session_state.get(f"_{name}_own")
    if own is None or own[0] != file.file_id:
        own = st.session_state[f"_{name}_own"] = (file.file_id, make(MOST_OWN))
    return cast("work.ResultCache", own[-1])


def forget(name: str) -> None:
    """Let go of what was read."""
    st.session_state.pop(f"_{name}_own", None)
