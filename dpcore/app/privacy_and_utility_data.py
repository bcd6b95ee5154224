"""The data of the page: a sample, made-up records, or the visitor's own CSV, which stays in the visitor's own session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpcore.app import page, uploads, work
from dpcore.app.figure import plain
from dpcore.app.inputs import FIELD_WIDTH
from dpcore.app.uploads import FILE, UPLOAD
from dpcore.core.domains import COUNT, REAL
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.files.sheet import DELIMITERS
from dpcore.language.numbers import number, read_value
from dpcore.specs import Spec, intermediate
from dpcore.utility.dataset import OTHER
from dpcore.utility.reading import OTHERS, OUTSIDE, UNDECLARED, declared
from dpcore.utility.samples import part, sample, samples
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from dpcore.files.sheet import Sheet
    from dpcore.utility import Dataset, UtilityPair

MADE_UP = "made-up"
MOST_MADE_UP = 10**6
FIRST = "ages: age in years"
SIZE = "utility_n_slide"
_STEPS = 61  # of a slider
BOUND = REAL.but(low=-1e12, high=1e12)
KINDS = ("numbers", "answers")
_CLIPPING = {"clip": "move them to the nearer bound", "drop": "leave their rows out"}
_OTHERS = {"count": f"count them in a bin called {OTHER}", "drop": "leave their rows out"}


@dataclass(frozen=True)
class DataSource:
    """Data: the fields of their spec, their files, the number of records, and where results are kept.

    `is_categorical` means that they are answers from a list, not numbers.
    """

    fields: dict[str, Any]
    most: int
    store: work.ResultCache
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_categorical: bool = False


def options() -> dict[str, str]:
    """Return text in the menu and link -> name of the sample; made-up data and uploads have none."""
    named = {f"{name.split('.')[0]}: {about.title.split(': ')[1]}": name for name, about in samples().items()}
    return {**named, MADE_UP: "", UPLOAD: ""}


def fitting(pair: UtilityPair, now: str) -> str:
    """Return data that suit the pair, as named in the menu: the current choice if possible."""
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
    """Show the data menu and return the choice."""
    name = st.selectbox(
        "Data",
        list(options()),
        index=list(options()).index(FIRST),
        key="utility_data",
        bind="query-params",
        on_change=_other_data,
        help="Invented samples that come with the app, or your own table, which stays in your session.",
    )
    if name != UPLOAD:
        uploads.forget("utility")
    return str(name)


def ask(pair: UtilityPair, name: str) -> DataSource | None:
    """Show the fields for the data and return the data; None, with the reason shown, if something must be corrected.

    Parameters
    ----------
    pair : UtilityPair
        The query, for which data may be made up.
    name : str
        The choice in the menu.
    """
    try:
        if not pair.uses_data:
            st.caption("This query uses no data; its parameters are enough.")
            return DataSource({}, 0, work.cache())
        if name == UPLOAD:
            return _upload(pair)
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
    """Return a sample or made-up data, cut to the typed size and bounds."""
    known = options()[name]
    whole = sample(known) if known else pair.example()
    most = whole.n if known else MOST_MADE_UP
    n = _size(whole.n, most, "First n records" if known else "Number of records")
    with st.expander(f"{grouped(whole.n)} records{_range(whole)}", icon=":material/dataset:"):
        _about(known)
        low, high = _limits(whole)
    fields = {"sample": known or None, "n": n, "lower": low, "upper": high}
    data = part(whole if known or n is None else pair.example(n), n=n if known else None, low=low, high=high)
    if n is not None or low is not None or high is not None:
        st.caption(f"Used: {grouped(data.n)} records{_range(data)}.")
    return DataSource(fields, most, work.cache(), is_categorical=bool(data.categories))


def _size(whole: int, most: int, label: str) -> int | None:
    """Show how many records are used, as a slider and a field that may be empty; None means all."""
    text = str(st.session_state.get("utility_n", "")).strip()
    wanted = number(text) if text else float(whole)
    pair = st.container(horizontal=True, vertical_alignment="bottom")
    slider = pair.container()
    shared: dict[str, Any] = {"placeholder": str(whole), "help": "Empty for all of them.", "width": FIELD_WIDTH}
    with pair:
        text = st.text_input(label, "", key="utility_n", bind="query-params", **shared).strip()
    if wanted is not None and 1 <= wanted <= most and wanted == int(wanted):
        st.session_state[SIZE] = int(wanted)
        places = sorted({*map(int, np.geomspace(1, most, _STEPS)), most, int(wanted)})
        with slider:
            st.select_slider("n (records)", places, key=SIZE, format_func=str, on_change=_take_size)
    return int(read_value(COUNT.but(high=most), text, label)) if text else None


def _take_size() -> None:
    page.change("utility_n", str(st.session_state[SIZE]))


def _about(name: str) -> None:
    if name in samples():
        st.caption(plain(samples()[name].provenance))
    else:
        st.caption("Records computed by the library for this query, the same each time.")


def _range(data: Dataset) -> str:
    if data.categories:
        return f", {len(data.categories)} answers"
    return f" in [{nearest(data.low)}, {nearest(data.high)}]" if data.d == 1 else f" of {data.d} numbers"


def _limits(whole: Dataset) -> tuple[float | None, float | None]:
    """Show the fields for other bounds of a column of numbers; empty fields leave the data as they are."""
    if whole.categories or whole.d != 1:
        return None, None
    values = []
    for column, key, label, shown in zip(
        st.columns(2), ("low", "high"), ("Lower bound", "Upper bound"), (whole.low, whole.high), strict=True
    ):
        with column:
            text = st.text_input(
                label, "", key=f"utility_{key}", bind="query-params", placeholder=nearest(shown), help="May be empty."
            ).strip()
        values.append(float(read_value(BOUND, text, label)) if text else None)
    return values[0], values[1]


# ---- an upload -----------------------------------------------------------------------------------------------


def _upload(pair: UtilityPair) -> DataSource | None:
    """Show the uploader and the fields for the file; say what was read and what was lost."""
    file = uploads.choose("utility")
    if file is None:
        st.info(
            "Choose a file. It stays in the memory of your session; the link carries parameters only.",
            icon=":material/upload_file:",
        )
        return None
    with st.expander("How the file is read", icon=":material/table_view:"):
        sheet, _ = uploads.sheet_of("utility", file)
        for words in sheet.notes:
            st.caption(plain(words))
    numeric = sheet.numeric
    first = sheet.columns.index(numeric[0]) if numeric else 0
    column = st.selectbox("Column", sheet.columns, index=first, key=f"utility_column_{file.file_id}")
    kind = st.segmented_control(
        "Read as", KINDS, default=KINDS[0], required=True, key="utility_kind", bind="query-params"
    )
    how = _categories(pair) if kind == KINDS[1] else _bounds()
    if how is None and kind == KINDS[1]:
        counts = "equals" in {parameter.name for parameter in pair.parameters()}
        hint = " To count one answer, type it under Choices, equals." if counts else ""
        st.info(f"{UNDECLARED}{hint}", icon=":material/list_alt:")
    return None if how is None else _read(file, sheet, column, how)


def _bounds() -> dict[str, Any] | None:
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
            "Type both bounds. They are public and must not be taken from the data: the noise hides a person only within "
            "them.",
            icon=":material/straighten:",
        )
        return None
    lower, upper = read_value(BOUND, low, "Lower bound"), read_value(BOUND, high, "Upper bound")
    return {"lower": lower, "upper": upper, "outside": outside}


def _categories(pair: UtilityPair) -> dict[str, Any] | None:
    """Ask for the possible answers: declared, or named by the query; the app must not read them off the data."""
    text = st.text_input(
        "Categories, separated by commas",
        "",
        key="utility_categories",
        bind="query-params",
        placeholder="Sales, Support, Research",
        help="The possible answers, known without looking at the data. They are part of the link.",
    ).strip()
    others = st.selectbox(
        "Other answers", OTHERS, key="utility_others", bind="query-params", format_func=_OTHERS.__getitem__
    )
    if text:
        declared(text)
        return {"categories": text, "others": others}
    return {"categories": ",".join(map(_quoted, pair.named())), "others": others} if pair.named() else None


def _quoted(name: str) -> str:
    """Return one name for a comma-separated list."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _read(file: UploadedFile, sheet: Sheet, column: str, how: dict[str, Any]) -> DataSource:
    """Read the column according to its spec and say what became of every row; the result stays in the session."""
    mark = sheet.delimiter if sheet.delimiter in DELIMITERS else None
    fields = {"file": FILE, "delimiter": mark, "column": column, **how}
    files, store = {FILE: file.getvalue()}, uploads.store_of("utility", file)
    query = {"draw": "utility_region", "utility": "count_laplace"}
    with work.progress("Reading", store=store):
        reading = intermediate(
            Spec({**query, **{name: value for name, value in fields.items() if value is not None}}, files=files),
            "reading",
        )
    lost = reading.unusual
    words = " ".join(plain(text) for text in reading.notes)
    (st.warning if lost else st.success)(words, icon=":material/rule:" if lost else ":material/check:")
    st.caption("These counts are for you alone: they depend on the data, and no noise protects them.")
    most = reading.dataset.n
    return DataSource(
        {**fields, "n": _size(most, most, "First n records")}, most, store, files, bool(reading.dataset.categories)
    )
