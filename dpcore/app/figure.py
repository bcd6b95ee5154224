"""The figure of a page: a chart with its sentence, and one row with its table, files, code and link."""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
import streamlit as st

from dpcore import specs
from dpcore.app import badge, export, work
from dpcore.app.page import link_box, linked, look, under_controls
from dpcore.charts.export import render
from dpcore.charts.movable import FACTS, movable
from dpcore.charts.theme import Look
from dpcore.charts.zoom import zoomable
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.kinds import WORDS
from dpcore.core.notices import collected
from dpcore.core.numerals import nearest
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.app.work import ResultCache
    from dpcore.charts.figure import Figure

MOST_ROWS: Final = 10_000
_MOST_WRITTEN: Final = 20_000
"""Cells of a table whose numbers are written here, which takes time; the browser writes those of a longer one, 1e-5 as 0.00001."""
TABLE, EXPORT, CODE, LINK = "Table", "Export", "Code", "Link"
FONT: Final = '"Source Sans", sans-serif'
"""Font for text in charts: that of the surrounding page, which Streamlit applies only to axes and legends."""
_ALTS: Final = "_alts"  # descriptions of the charts on the page, by key
_THOUSANDS: Final = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_ICONS: Final = {TABLE: "table_rows", EXPORT: "download", CODE: "code", LINK: "link"}


# ---- from a spec to a figure -----------------------------------------------------------------------------------


def figure_of(spec: Mapping[str, Any], *, height: int = 0, store: ResultCache | None = None) -> Figure:
    """Return the figure of a spec in the visitor's theme; call it inside `work.progress`.

    Parameters
    ----------
    spec : mapping of str to object
        A spec for `dpcore.specs.draw`; the pages' tolerance is added.
    height : int, default 0
        Height of the chart in points; 0 uses the chart's own.
    store : ResultCache, optional
        Where to store the figure; by default in the cache that all visitors share.
    """
    source = _at_tolerance(spec)
    with _own_words():
        for text in specs.expressions(source):
            work.region(text)  # so the amount of work is known before it starts
    style = Look(dark=look().dark, height=height)
    key = ("figure", *_name(source), style)

    def draw() -> Figure:
        with _own_words():
            figure = specs.draw(source, style)
        figure.outline  # noqa: B018  kept with the figure: a page that shows it again need not generate it again
        return figure

    return (store or work.cache()).get(key, draw)


def table_of(spec: Mapping[str, Any], figure: Figure, *, store: ResultCache | None = None) -> pd.DataFrame:
    """Return the downloadable table of a figure; call it inside `work.progress`."""
    source = _at_tolerance(spec)

    def make() -> pd.DataFrame | None:
        with _own_words():
            return specs.table(source)

    rows = (store or work.cache()).get(("table", *_name(source)), make)
    return figure.table if rows is None else rows


def code_of(spec: Mapping[str, Any], key: str) -> str:
    """Return the Python code that makes the figure and its table, and saves the picture in the format of Export."""
    with _own_words():
        return specs.code(_at_tolerance(spec), file=f"{key}{export.suffix_of(key)}", **export.format_of(key))


def _at_tolerance(spec: Mapping[str, Any]) -> specs.Spec:
    """Return a spec without empty values, with the pages' tolerance unless it has its own."""
    values = {name: value for name, value in spec.items() if value is not None}
    return replace(specs.as_spec(spec), table={"tolerance": work.TOLERANCE, **values})


def _name(source: specs.Spec) -> tuple[Hashable, ...]:
    """Return the key for the results of a spec: its values, and its files wherever they are."""
    return work.name_of(source.table), work.name_of(source.files), str(source.folder)


@contextmanager
def _own_words() -> Iterator[None]:
    """Raise the library's own error: on a page it appears next to its field and needs no file or line."""
    try:
        with collected():  # notices about a value appear next to its field
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
    """Draw a figure with its sentence and the row below it, or say why there is none.

    Parameters
    ----------
    spec : mapping of str to object
        The spec to draw (`dpcore.specs`).
    key : str
        Name of the figure on the page and of its files.
    words : str, default "Drawing"
        What the visitor is waiting for.
    height : int, default 0
        Height of the chart in points; 0 uses the chart's own.
    link : bool, default True
        Whether to offer the link that restores the page.
    command : callable, optional
        Takes the table and returns the command that prints all its rows; empty if the table is complete.
    store : ResultCache, optional
        Where to store results: the visitor's own cache for uploaded data; by default the shared one.
    below : DeltaGenerator, optional
        Where the row goes; under the chart by default.
    """
    if picture_of(spec, key=key, words=words, height=height, store=store, apart=below is not None):
        with below if below is not None else st.container():
            offer(spec, key=key, link=link, command=command, store=store)


def picture_of(
    spec: Mapping[str, Any],
    *,
    key: str,
    words: str = "Drawing",
    height: int = 0,
    store: ResultCache | None = None,
    apart: bool = False,
) -> bool:
    """Draw a figure with its sentence, or say why there is none; return whether it was drawn. `apart` as in `picture`."""
    try:
        with work.progress(words, store=store):
            picture(figure_of(spec, height=height, store=store), key, apart=apart)
    except DomainError as error:  # nothing to draw is an answer, not an error
        st.info(plain(str(error)), icon=":material/info:")
        return False
    except DpcoreError as error:
        trouble(error, key)
        return False
    return True


def picture(figure: Figure, key: str, *, apart: bool = False, **options: Any) -> Any:
    """Draw the chart with its sentence and notes; return its selection event if `options` has `on_select`.

    If the chart has controls beside it (`apart`), they come between the two on a phone: directly under the chart.
    """
    event = draw(figure, key, **options)
    with under_controls(key) if apart else nullcontext():
        words(figure)
    return event


def explain(spec: Mapping[str, Any], *, height: int = 0, store: ResultCache | None = None) -> None:
    """Show the sentence and the notes of a figure below its controls; an error is shown where the picture would be."""
    with suppress(DpcoreError), work.progress("Drawing", store=store):
        words(figure_of(spec, height=height, store=store))


def words(figure: Figure) -> None:
    """Show the sentence and the notes of a figure."""
    st.markdown(answer(figure))
    say_notes(figure)


def say_notes(figure: Figure) -> None:
    """Show the notes of a figure."""
    for note in figure.notes:
        st.caption(plain(note))


def answer(figure: Figure) -> str:
    """Return the Markdown of a figure's sentence, with the badge of the table where the sentence has none."""
    text = sentence(figure.takeaway)
    return text if badge.is_marked(text) else f"{text} {badge.of_table(figure.table)}".rstrip()


def draw(figure: Figure, key: str, **options: Any) -> Any:
    """Draw only the chart; return its selection event if `options` has `on_select`."""
    outline, tables = figure.outline
    spec, facts = movable(outline, tables)
    tables = tables if facts is None else {**tables, FACTS: facts}
    looks = {**spec.get("config", {}), "font": FONT}
    data = {**spec.get("datasets", {}), **{name: _arrow(table) for name, table in tables.items()}}
    return st.vega_lite_chart(
        spec={**zoomable(spec), "datasets": data, "config": looks},
        key=key,
        alt=_alt(figure, key),
        theme=None,
        width="stretch",
        **options,
    )


def _alt(figure: Figure, key: str) -> str:
    """Return the description of a chart for screen readers: its sentence, which stays as it is while a slider is held.

    Streamlit's script rebuilds a chart if anything but its data changes, including the description, and drops one
    that is not finished when the next arrives: a large chart would not appear before the slider is released.
    """
    alts: dict[str, str] = st.session_state.setdefault(_ALTS, {})
    if not work.is_held() or key not in alts:
        alts[key] = figure.takeaway
    return alts[key]


def _arrow(table: pd.DataFrame) -> pa.Table:
    """Return a table in Arrow format; Streamlit's own way keeps the pandas metadata and takes three times as long."""
    return pa.table({str(name): pa.array(table[name].to_numpy()) for name in table.columns})


def offer(
    spec: Mapping[str, Any],
    *,
    key: str,
    link: bool = True,
    command: Callable[[pd.DataFrame], str] | None = None,
    store: ResultCache | None = None,
) -> None:
    """Show the row with a figure's table, files, code and link; the arguments are those of `show`."""
    work.part(lambda: _row(spec, key, link, command, store))


def _row(
    spec: Mapping[str, Any],
    key: str,
    link: bool,
    command: Callable[[pd.DataFrame], str] | None,
    store: ResultCache | None,
) -> None:
    """Show the row and its open panels; closed panels compute nothing."""
    if f"{key}_row" not in st.session_state and st.query_params.get(f"{key}_paper") == "true":
        st.session_state[f"{key}_row"] = [EXPORT]  # a link with a paper format
    panels = st.pills(
        "Table, export, code and link",
        [TABLE, EXPORT, CODE, *([LINK] if link else [])],
        selection_mode="multi",
        format_func=lambda panel: f":material/{_ICONS[panel]}: {panel}",
        key=f"{key}_row",
        label_visibility="collapsed",
    )
    if EXPORT not in panels:
        export.keep_fields(key)
    try:
        if TABLE in panels or EXPORT in panels:
            with work.progress("Listing", store=store):
                figure = figure_of(spec, store=store)
                table = table_of(spec, figure, store=store)
            if TABLE in panels:
                _show_table(table, key, command(table) if command is not None else "")
            if EXPORT in panels:
                _export(spec, figure, key, store)
        if CODE in panels:
            st.code(code_of(spec, key), language="python")
    except DpcoreError as error:
        trouble(error, f"{key}_row")
    linked(export.fields(key), needed=export.is_for_paper(key))
    if LINK in panels:
        link_box()


def _export(spec: Mapping[str, Any], figure: Figure, key: str, store: ResultCache | None) -> None:
    """Show the files of a figure, their format, and the figure in the format of a paper."""
    export.ask_format(key)
    style = export.format_of(key)
    source = _at_tolerance(spec)
    export.show_files(source, figure, _sheet(spec, figure, store), key, style)
    if style:
        with work.progress("Drawing", store=store):
            parts = ("preview", *_name(source), work.name_of(style))
            svg = (store or work.cache()).get(parts, lambda: render(figure, ".svg", **style))
        export.show_preview(svg, style["paper"], figure.takeaway)


def _sheet(spec: Mapping[str, Any], figure: Figure, store: ResultCache | None) -> pd.DataFrame:
    """Return the self-describing table, for files."""
    source = _at_tolerance(spec)

    def make() -> pd.DataFrame:
        with _own_words():
            return specs.sheet(source, figure)

    with work.progress("Listing", store=store):
        return (store or work.cache()).get(("sheet", *_name(source)), make)


def _show_table(rows: pd.DataFrame, key: str, command: str) -> None:
    numbers(rows.head(MOST_ROWS), f"{key}_table")
    if len(rows) > MOST_ROWS:
        st.caption(plain(f"The first {grouped(MOST_ROWS)} of {grouped(len(rows))} rows."))
    if command:
        st.caption(f"All rows: `{command}`")


def ready(make: Callable[[], tuple[object, Iterable[str]]], words: str, place: DeltaGenerator) -> bool:
    """Whether the fields give a valid object; show the error or the library's notices next to them."""
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
    """Show an error, here or in `place`; offer to restart work that was stopped or ran out of time."""
    with place or st.container():
        st.error(plain(str(error)), icon=":material/error:")
        if isinstance(error, BudgetError):
            st.button("Try again", icon=":material/replay:", on_click=work.try_again, key=f"{key}_again")


def numbers(table: pd.DataFrame, key: str, headings: Mapping[str, str] | None = None) -> None:
    """Show a table with ten digits, its numbers written as everywhere else; they are still sorted as numbers.

    Parameters
    ----------
    table : DataFrame
        The table.
    key : str
        Its name on the page.
    headings : mapping of str to str, optional
        Headings of columns in place of their names, which files keep; with one for ``kind``, kinds are in words.
    """
    above = {name: label for name, label in (headings or {}).items() if name in table.columns}
    if table.size <= _MOST_WRITTEN:
        rows = table if table.index.is_unique else table.reset_index(drop=True)  # a styled table needs one name per row
        cells = rows.style.set_uuid(key).format(_cell, na_rep="")  # a name of its own: the one it gets tells its place
        if "kind" in above:
            cells = cells.format(lambda kind: WORDS.get(str(kind), str(kind)), subset=["kind"])
        st.dataframe(cells, hide_index=True, width="stretch", key=key, column_config=above)
        return
    digits = {
        name: st.column_config.NumberColumn(above.get(name), format="%.10g")
        for name in table.select_dtypes("float").columns
    }
    st.dataframe(table, hide_index=True, width="stretch", key=key, column_config={**above, **digits})


def _cell(value: object) -> str:
    return nearest(float(value), 10) if isinstance(value, float | np.floating) else str(value)


def sentence(text: str) -> str:
    """Return the Markdown of a sentence about numbers, with the kind of each number as a badge."""
    return badge.marked(plain(text))


def plain(text: str) -> str:
    """Escape a text for Markdown and keep numbers such as 1 000 on one line."""
    return re.sub(r"([\\`*_\[\]$~<>#:|^])", r"\\\1", unbroken(text))


def unbroken(text: str) -> str:
    """Keep numbers such as 1 000 on one line; code between backticks stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _THOUSANDS.sub("\u00a0", part) for part in parts)
