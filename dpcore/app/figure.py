"""The figure of a page: a spec becomes a chart with its sentence, and one row offers table, files, code and link."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore import specs
from dpcore.app import work
from dpcore.app.page import link_box, look
from dpcore.charts.export import render, specification
from dpcore.charts.theme import Look
from dpcore.charts.zoom import zoomable
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.notices import collected
from dpcore.files.csv_writer import frame_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.app.work import ResultCache
    from dpcore.charts.figure import Figure

MOST_ROWS: Final = 10_000
TABLE, EXPORT, CODE, LINK = "Table", "Export", "Code", "Link"
_ICONS: Final = {TABLE: "table_rows", EXPORT: "download", CODE: "code", LINK: "link"}
_MIME: Final = {".svg": "image/svg+xml", ".pdf": "application/pdf", ".png": "image/png"}


# ---- from a spec to a figure -----------------------------------------------------------------------------------


def figure_of(spec: Mapping[str, Any], *, height: int = 0, store: ResultCache | None = None) -> Figure:
    """Return the figure of a spec in the theme the visitor sees; inside `work.progress`.

    Parameters
    ----------
    spec : mapping of str to object
        What `dpcore.specs.draw` takes; the tolerance of the pages is added.
    height : int, default 0
        Of the chart in points; 0 leaves it to the chart.
    store : ResultCache, optional
        Where the figure is kept; with all visitors' by default.
    """
    source = _at_tolerance(spec)
    with _own_words():
        for text in specs.expressions(source):
            work.region(text)  # its work is known before it is begun
    style = Look(dark=look().dark, height=height)
    key = ("figure", work.name_of((source.table, source.files)), str(source.folder), style)

    def draw() -> Figure:
        with _own_words():
            return specs.draw(source, style)

    return (store or work.cache()).get(key, draw)


def table_of(spec: Mapping[str, Any], figure: Figure, *, store: ResultCache | None = None) -> pd.DataFrame:
    """Return the table to take away with a figure; inside `work.progress`."""
    source = _at_tolerance(spec)

    def make() -> pd.DataFrame | None:
        with _own_words():
            return specs.table(source)

    key = ("table", work.name_of((source.table, source.files)), str(source.folder))
    rows = (store or work.cache()).get(key, make)
    return figure.table if rows is None else rows


def code_of(spec: Mapping[str, Any], key: str) -> str:
    """Return the Python lines that make the figure and its table, and save the picture."""
    with _own_words():
        return specs.code(_at_tolerance(spec), file=f"{key}.svg")


def _at_tolerance(spec: Mapping[str, Any]) -> specs.Spec:
    """Return a spec with the tolerance of the pages, unless it has one, and without empty values."""
    values = {name: value for name, value in spec.items() if value is not None}
    return replace(specs.as_spec(spec), table={"tolerance": work.TOLERANCE, **values})


@contextmanager
def _own_words() -> Iterator[None]:
    """Raise the library's own error: on a page, a mistake is next to its field and needs no file and line."""
    try:
        with collected():  # what is noted about a value is said next to its field
            yield
    except specs.SpecError as error:
        if isinstance(error.__cause__, DpcoreError):
            raise error.__cause__ from None
        raise


# ---- on the page -----------------------------------------------------------------------------------------------


def show(
    spec: Mapping[str, Any],
    *,
    key: str,
    words: str = "Drawing",
    height: int = 0,
    link: bool = True,
    command: Callable[[pd.DataFrame], str] | None = None,
    store: ResultCache | None = None,
    below: DeltaGenerator | None = None,
) -> None:
    """Draw a figure with its sentence and all that a reader may take away, or say in its place why there is none.

    Parameters
    ----------
    spec : mapping of str to object
        What to draw (`dpcore.specs`).
    key : str
        Name of the figure on the page, and of its files.
    words : str, default "Drawing"
        What the visitor waits for.
    height : int, default 0
        Of the chart in points; 0 leaves it to the chart.
    link : bool, default True
        Offer the link that restores the page.
    command : callable, optional
        Returns the command that prints all rows of a table that is cut, given the table; empty if it is whole.
    store : ResultCache, optional
        Where results are kept; the visitor's own for their data, with all visitors' by default.
    below : DeltaGenerator, optional
        Where the row goes; under the chart by default.
    """
    if picture_of(spec, key=key, words=words, height=height, store=store):
        with below if below is not None else st.container():
            offer(spec, key=key, link=link, command=command, store=store)


def picture_of(
    spec: Mapping[str, Any],
    *,
    key: str,
    words: str = "Drawing",
    height: int = 0,
    store: ResultCache | None = None,
) -> bool:
    """Draw a figure with its sentence, or say in its place why there is none; return whether it is drawn."""
    try:
        with work.progress(words, store=store):
            picture(figure_of(spec, height=height, store=store), key)
    except DomainError as error:  # nothing to draw is an answer, not a mistake
        st.info(plain(str(error)), icon=":material/info:")
        return False
    except DpcoreError as error:
        trouble(error, key)
        return False
    return True


def picture(figure: Figure, key: str, **options: Any) -> Any:
    """Draw the chart with its sentence and notes; return its selection event, if `on_select` was given in `options`."""
    event = draw(figure, key, **options)
    words(figure)
    return event


def words(figure: Figure) -> None:
    """Show the sentence and the notes of a figure."""
    st.markdown(plain(figure.takeaway))
    for note in figure.notes:
        st.caption(plain(note))


def draw(figure: Figure, key: str, **options: Any) -> Any:
    """Draw the chart alone; return its selection event, if `on_select` was given in `options`."""
    spec, tables = figure.outline
    data = {**spec.get("datasets", {}), **tables}
    return st.vega_lite_chart(
        spec={**zoomable(spec), "datasets": data}, key=key, alt=figure.takeaway, theme=None, width="stretch", **options
    )


def offer(
    spec: Mapping[str, Any],
    *,
    key: str,
    link: bool = True,
    command: Callable[[pd.DataFrame], str] | None = None,
    store: ResultCache | None = None,
) -> None:
    """Offer table, files, code and link of a figure, each behind one control; the arguments are those of `show`."""
    work.part(lambda: _row(spec, key, link, command, store))


def _row(
    spec: Mapping[str, Any],
    key: str,
    link: bool,
    command: Callable[[pd.DataFrame], str] | None,
    store: ResultCache | None,
) -> None:
    """Show the row, and what is opened of it; nothing is computed for what is closed."""
    panels = st.pills(
        "Take away",
        [TABLE, EXPORT, CODE, *([LINK] if link else [])],
        selection_mode="multi",
        format_func=lambda panel: f":material/{_ICONS[panel]}: {panel}",
        key=f"{key}_row",
        label_visibility="collapsed",
    )
    try:
        if TABLE in panels or EXPORT in panels:
            with work.progress("Listing", store=store):
                figure = figure_of(spec, store=store)
                table = table_of(spec, figure, store=store)
            if TABLE in panels:
                _show_table(table, key, command(table) if command is not None else "")
            if EXPORT in panels:
                _downloads(figure, table.head(MOST_ROWS), key)
        if CODE in panels:
            st.code(code_of(spec, key), language="python")
    except DpcoreError as error:
        trouble(error, f"{key}_row")
    if LINK in panels:
        link_box()


def _show_table(rows: pd.DataFrame, key: str, command: str) -> None:
    numbers(rows.head(MOST_ROWS), f"{key}_table")
    if len(rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {len(rows)} rows.")
    if command:
        st.caption(f"All rows: `{command}`")


def ready(make: Callable[[], tuple[object, Iterable[str]]], words: str, place: DeltaGenerator) -> bool:
    """Whether something can be made of the fields; if not, say why next to them, and what the library warned about."""
    try:
        with work.progress(words):
            _, notices = make()
    except DpcoreError as error:
        trouble(error, words.lower(), place)
        return False
    for one in notices:
        place.warning(plain(one))
    return True


def trouble(error: DpcoreError, key: str, place: DeltaGenerator | None = None) -> None:
    """Show an error in its own words, here or in a place; work that was stopped, or whose time ended, can be started again."""
    with place or st.container():
        st.error(plain(str(error)), icon=":material/error:")
        if isinstance(error, BudgetError):
            st.button("Try again", icon=":material/replay:", on_click=work.try_again, key=f"{key}_again")


def numbers(table: pd.DataFrame, key: str) -> None:
    """Show a table with ten digits, small numbers as powers of ten."""
    digits = {name: st.column_config.NumberColumn(format="%.10g") for name in table.select_dtypes("float").columns}
    st.dataframe(table, hide_index=True, width="stretch", key=key, column_config=digits)


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, with no line broken inside a number such as 1 000."""
    text = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", text)
    return re.sub(r"([\\`*_\[\]$~<>#:|^])", r"\\\1", text)


# ---- files -----------------------------------------------------------------------------------------------------


def _downloads(figure: Figure, table: pd.DataFrame, key: str) -> None:
    """Offer CSV, JSON, SVG, PDF and PNG; each is made only when it is asked for."""
    with st.container(horizontal=True):
        _button("CSV", lambda: csv_of(table), f"{key}.csv", "text/csv", key)
        _button("JSON", lambda: json_of(figure, table), f"{key}.json", "application/json", key)
        for suffix, mime in _MIME.items():
            _button(suffix[1:].upper(), lambda s=suffix: render(figure, s), f"{key}{suffix}", mime, key)


def _button(label: str, data: Any, name: str, mime: str, key: str) -> None:
    st.download_button(
        label,
        data=data,
        file_name=name,
        mime=mime,
        on_click="ignore",
        key=f"{key}_{label}",
        icon=":material/download:",
        help=f"Download {name}",
    )


def csv_of(table: pd.DataFrame) -> bytes:
    """Return a table as CSV with full precision; infinity is written inf, and no text runs as a formula."""
    return frame_text(table).encode("utf-8")


def json_of(figure: Figure, table: pd.DataFrame) -> bytes:
    """Return the chart's specification and the table's rows in one file; JSON has no infinity, it is written "inf"."""
    cells = table.astype(object).where(table.notna(), None)
    rows = [{name: _plain_value(value) for name, value in row.items()} for row in cells.to_dict("records")]
    body = {"title": figure.title, "takeaway": figure.takeaway, "spec": specification(figure), "rows": rows}
    return (json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain_value(value: Any) -> Any:
    """Return a cell as JSON can hold it, numbers in full precision."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, float) and math.isinf(value) else value
