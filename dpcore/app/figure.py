"""The figure of a page: a spec becomes a chart with its sentence, and one row offers table, files, code and link."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore import specs
from dpcore.app import work
from dpcore.app.export import show_files
from dpcore.app.page import link_box, look
from dpcore.charts.theme import Look
from dpcore.charts.zoom import zoomable
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.notices import collected

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.app.work import ResultCache
    from dpcore.charts.figure import Figure

MOST_ROWS: Final = 10_000
TABLE, EXPORT, CODE, LINK = "Table", "Export", "Code", "Link"
_ICONS: Final = {TABLE: "table_rows", EXPORT: "download", CODE: "code", LINK: "link"}


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
    key = ("figure", *_name(source), style)

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

    rows = (store or work.cache()).get(("table", *_name(source)), make)
    return figure.table if rows is None else rows


def code_of(spec: Mapping[str, Any], key: str) -> str:
    """Return the Python lines that make the figure and its table, and save the picture."""
    with _own_words():
        return specs.code(_at_tolerance(spec), file=f"{key}.svg")


def _at_tolerance(spec: Mapping[str, Any]) -> specs.Spec:
    """Return a spec with the tolerance of the pages, unless it has one, and without empty values."""
    values = {name: value for name, value in spec.items() if value is not None}
    return replace(specs.as_spec(spec), table={"tolerance": work.TOLERANCE, **values})


def _name(source: specs.Spec) -> tuple[Hashable, ...]:
    """Return what the results of a spec are kept under: its values, and its files wherever they are."""
    return work.name_of(source.table), work.name_of(source.files), str(source.folder)


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
                show_files(_at_tolerance(spec), figure, _sheet(spec, figure, store), key)
        if CODE in panels:
            st.code(code_of(spec, key), language="python")
    except DpcoreError as error:
        trouble(error, f"{key}_row")
    if LINK in panels:
        link_box()


def _sheet(spec: Mapping[str, Any], figure: Figure, store: ResultCache | None) -> pd.DataFrame:
    """Return the table that describes itself, for files."""
    source = _at_tolerance(spec)

    def make() -> pd.DataFrame:
        with _own_words():
            return specs.sheet(source, figure)

    with work.progress("Listing", store=store):
        return (store or work.cache()).get(("sheet", *_name(source)), make)


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
