"""The data of the page: a sample, made-up records, or the visitor's own CSV, which stays in the visitor's own session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import uploads, work
from dpcore.app.figure import plain
from dpcore.core.domains import COUNT, REAL
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.language.numbers import read_value
from dpcore.utility.dataset import OTHER
from dpcore.utility.reading import MOST_ROWS, OTHERS, OUTSIDE, UNDECLARED, declared, read_labels, read_numbers
from dpcore.utility.samples import part, sample, samples
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Hashable

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from dpcore.files.sheet import Sheet
    from dpcore.utility import Dataset, UtilityPair

MADE_UP, UPLOAD = "made-up", "your CSV"
MOST_MADE_UP = 10**6
FIRST = "ages: age in years"
BOUND = REAL.but(low=-1e12, high=1e12)
KINDS = ("numbers", "answers")
_CLIPPING = {"clip": "move them to the nearer bound", "drop": "leave their rows out"}
_OTHERS = {"count": f"count them in a bin called {OTHER}", "drop": "leave their rows out"}


@dataclass(frozen=True)
class DataSource:
    """Data, how many records there are to take them from, where results may be kept, and the Python that reads them."""

    data: Dataset
    most: int
    key: Hashable
    cache: work.ResultCache
    imports: tuple[str, ...]
    code: tuple[str, ...]


def options() -> dict[str, str]:
    """Return what the menu and the link say -> name of the sample; made-up data and an upload have none."""
    named = {f"{name.split('.')[0]}: {about.title.split(': ')[1]}": name for name, about in samples().items()}
    return {**named, MADE_UP: "", UPLOAD: ""}


def fitting(pair: UtilityPair, now: str) -> str:
    """Return data that the pair can answer about, as the menu says them: those chosen now if possible."""
    known = options()
    if now in (MADE_UP, UPLOAD) or not pair.uses_data:
        return now
    for option in (now, FIRST, *known):
        try:
            pair.closed_forms(sample(known[option]))
            pair.answer(sample(known[option]))
        except (DpcoreError, KeyError):
            continue
        return option
    return MADE_UP


def choose() -> str:
    """Show the menu of the data and return what it says."""
    name = st.selectbox(
        "Data",
        list(options()),
        index=list(options()).index(FIRST),
        key="utility_data",
        bind="query-params",
        on_change=_other_data,
        help="Invented samples that come with the app, or a table of yours, which stays in your session.",
    )
    if name != UPLOAD:
        uploads.forget("utility")
    return str(name)


def ask(pair: UtilityPair, name: str, details: DeltaGenerator) -> DataSource | None:
    """Show what the data need and return them; None where something is to be corrected, which is said.

    Parameters
    ----------
    pair : UtilityPair
        The query, for which data may be made up.
    name : str
        What the menu says.
    details : DeltaGenerator
        Where an upload's layout is shown.
    """
    try:
        if not pair.uses_data:
            st.caption("This query looks at no data: its parameters say all.")
            return DataSource(pair.example(), 0, (), work.cache(), (), ("data = query.example()",))
        if name == UPLOAD:
            return _upload(pair, details)
        return _public(name, pair)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def _other_data() -> None:
    """Forget bounds, size and categories that were typed for other data."""
    for key in ("utility_n", "utility_low", "utility_high", "utility_categories"):
        st.session_state[key] = ""


# ---- public data ---------------------------------------------------------------------------------------------


def _public(name: str, pair: UtilityPair) -> DataSource:
    """Return a sample or made-up data, cut to the size and bounds typed."""
    known = options()[name]
    whole = sample(known) if known else pair.example()
    most = whole.n if known else MOST_MADE_UP
    with st.expander(f"{grouped(whole.n)} records{_range(whole)}", icon=":material/dataset:"):
        _about(known)
        cut = _cut(whole, "First n records" if known else "Number of records", most)
    if not known and cut["n"] is not None:  # made up as many as asked
        made, size = pair.example(cut["n"]), f"query.example({cut['n']})"
        cut = {**cut, "n": None}
    else:
        made, size = whole, "query.example()"
    data = part(made, **cut)
    if data.n != whole.n or any(value is not None for value in cut.values()):
        st.caption(f"Used: {grouped(data.n)} records{_range(data)}.")
    typed = "".join(f", {key}={value!r}" for key, value in cut.items() if value is not None)
    if not known:
        code = (f"data = part({size}{typed})",) if typed else (f"data = {size}",)
        imports = ("from dpcore.utility.samples import part",) if typed else ()
    else:
        code, imports = (f"data = sample({known!r}{typed})",), ("from dpcore.utility.samples import sample",)
    key = (name, data.n, pair.name if not known else "", *cut.values())
    return DataSource(data, most, key, work.cache(), imports, code)


def _about(name: str) -> None:
    if name in samples():
        st.caption(plain(samples()[name].provenance))
    else:
        st.caption("Records computed by the library for this query, the same each time.")


def _range(data: Dataset) -> str:
    if data.categories:
        return f", {len(data.categories)} answers"
    return f" in [{nearest(data.low)}, {nearest(data.high)}]" if data.d == 1 else f" of {data.d} numbers"


def _cut(whole: Dataset, size: str, most: int) -> dict[str, Any]:
    """Show the fields for size and bounds; empty fields leave the data as they are.

    Parameters
    ----------
    size : str
        Label of the number of records.
    most : int
        How many there may be.
    """
    columns = st.columns(3)
    texts = {}
    fields = {"n": (size, str(whole.n))}
    if not whole.categories and whole.d == 1:
        fields |= {"low": ("Lower bound", nearest(whole.low)), "high": ("Upper bound", nearest(whole.high))}
    for column, (name, (label, shown)) in zip(columns, fields.items(), strict=False):
        with column:
            texts[name] = st.text_input(
                label, "", key=f"utility_{name}", bind="query-params", placeholder=shown, help="May be empty."
            ).strip()
    n = read_value(COUNT.but(high=most), texts["n"], size) if texts["n"] else None
    low, high = (read_value(BOUND, texts[k], fields[k][0]) if texts.get(k) else None for k in ("low", "high"))
    return {"n": n, "low": low, "high": high}


# ---- an upload -----------------------------------------------------------------------------------------------


def _upload(pair: UtilityPair, details: DeltaGenerator) -> DataSource | None:
    """Show the uploader and what the file needs; say what was read and what was lost."""
    columns = st.columns(3)
    with columns[0]:
        file = uploads.choose("utility", rows=f" and {grouped(MOST_ROWS)} rows")
    if file is None:
        st.info(
            "Choose a file to see its answers. It stays in the memory of your session; the link carries parameters only.",
            icon=":material/upload_file:",
        )
        return None
    with details:
        sheet = _layout(file)
    with columns[1]:
        column = st.selectbox("Column", sheet.columns, key=f"utility_column_{file.file_id}")
        kind = (
            st.segmented_control(
                "Read as", KINDS, default=KINDS[0], required=True, key="utility_kind", bind="query-params"
            )
            or KINDS[0]
        )
    with columns[2]:
        how = _categories(pair) if kind == KINDS[1] else _bounds()
    if how is None and kind == KINDS[1]:
        counts = "equals" in {parameter.name for parameter in pair.parameters()}
        hint = " To count one answer, type it under Parameters, equals." if counts else ""
        st.info(f"{UNDECLARED}{hint}", icon=":material/list_alt:")
    return None if how is None else _read(file, sheet, column, how)


def _layout(file: UploadedFile) -> Sheet:
    """Show how the file is read, and let the delimiter and the number of rows be chosen."""
    with st.expander("How the file is read", icon=":material/table_view:"):
        sheet = uploads.sheet_of("utility", file)
        st.text_input(
            "First n records", "", key="utility_n", bind="query-params", placeholder="all", help="May be empty."
        )
        for words in sheet.notes:
            st.caption(plain(words))
    return sheet


def _bounds() -> tuple[float, float, str] | None:
    """Ask for the bounds: public numbers, which the app must not read off the data."""
    left, right = st.columns(2)
    with left:
        low = st.text_input("Lower bound", "", key="utility_low", bind="query-params", placeholder="0").strip()
    with right:
        high = st.text_input("Upper bound", "", key="utility_high", bind="query-params", placeholder="100").strip()
    outside = st.selectbox(
        "Values outside the bounds",
        OUTSIDE,
        key="utility_outside",
        bind="query-params",
        format_func=_CLIPPING.__getitem__,
    )
    if not low or not high:
        st.info(
            "Type both bounds. They are public and must not be read off the data: the noise hides one person only within "
            "them.",
            icon=":material/straighten:",
        )
        return None
    return read_value(BOUND, low, "Lower bound"), read_value(BOUND, high, "Upper bound"), outside


def _categories(pair: UtilityPair) -> tuple[tuple[str, ...], str] | None:
    """Ask for the answers that may be there: declared, or named by the query; the app must not read them off the data."""
    text = st.text_input(
        "Categories, with commas between them",
        "",
        key="utility_categories",
        bind="query-params",
        placeholder="Sales, Support, Research",
        help="The answers that may be there, as known without the data. The link carries them.",
    ).strip()
    others = st.selectbox(
        "Other answers", OTHERS, key="utility_others", bind="query-params", format_func=_OTHERS.__getitem__
    )
    if text:
        return declared(text), others
    return (pair.named(), others) if pair.named() else None


def _read(
    file: UploadedFile, sheet: Sheet, column: str, how: tuple[float, float, str] | tuple[tuple[str, ...], str]
) -> DataSource:
    """Read the column once per choice, into the session; say what became of every row."""
    asked = (file.file_id, sheet.delimiter, column, repr(how))
    reading, cache = uploads.read_once(
        "utility",
        asked,
        lambda: read_labels(sheet, column, *how) if len(how) == 2 else read_numbers(sheet, column, *how),
    )
    lost = bool(reading.dropped) or any(reading.clipped)
    words = " ".join(plain(text) for text in reading.notes)
    (st.warning if lost else st.success)(words, icon=":material/rule:" if lost else ":material/check:")
    st.caption("These counts are for you: they depend on the data and are not protected by the noise.")
    text = str(st.session_state.get("utility_n", "")).strip()
    n = read_value(COUNT.but(high=reading.dataset.n), text, "First n records") if text else None
    call = ", ".join(repr(value) for value in (column, *how))
    read = "read_labels" if len(how) == 2 else "read_numbers"
    imports = [*uploads.IMPORTS, f"from dpcore.utility.reading import {read}"]
    code = [uploads.sheet_code(sheet), f"data = {read}(sheet, {call}).dataset"]
    if n is not None:
        imports, code = [*imports, "from dpcore.utility.samples import part"], [*code, f"data = part(data, n={n})"]
    return DataSource(part(reading.dataset, n=n), reading.dataset.n, (*asked, n), cache, tuple(imports), tuple(code))
