"""The figure component: chart, sentence, table, downloads, code and link, written once for every page."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import work
from dpcore.app.page import link_box
from dpcore.charts.export import render, specification
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.files.csv_writer import frame_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.charts.figure import Figure

MOST_ROWS = 10_000
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


def show(
    figure: Figure,
    *,
    key: str,
    code: str,
    table: pd.DataFrame | None = None,
    command: str = "",
    link: bool = True,
    below: DeltaGenerator | None = None,
    **chart_options: Any,
) -> Any:
    """Draw a figure with everything a reader may want to take away.

    Parameters
    ----------
    figure : Figure
        Chart, numbers, sentence and notes.
    key : str
        Name of the figure on the page; also the name of its files.
    code : str
        Python lines that reproduce the view; the tolerance at which pages compute is stated around them.
    table : DataFrame, optional
        Numbers to list and download; those drawn by default.
    command : str, default ""
        Command line that prints all rows when the table is cut at 10 000.
    link : bool, default True
        Show the link that restores the page.
    below : DeltaGenerator, optional
        Where numbers, downloads, code and link go; under the chart by default.

    Returns
    -------
    The selection event of the chart, if `on_select` was given in `chart_options`.
    """
    event = picture(figure, key, **chart_options)
    with below if below is not None else st.container():
        offer(figure, key=key, code=code, table=table, command=command, link=link)
    return event


def picture(figure: Figure, key: str, **options: Any) -> Any:
    """Draw the chart with its sentence and notes; return its selection event, if `on_select` was given in `options`."""
    event = draw(figure, key, **options)
    st.markdown(plain(figure.takeaway))
    for note in figure.notes:
        st.caption(plain(note))
    return event


def offer(
    figure: Figure, *, key: str, code: str, table: pd.DataFrame | None = None, command: str = "", link: bool = True
) -> None:
    """Offer what a reader may take away of a figure: its numbers, files, code and link; the arguments are those of `show`."""
    _take_away(figure, figure.table if table is None else table, key, code, command)
    if link:
        link_box()


def draw(figure: Figure, key: str, **options: Any) -> Any:
    """Draw the chart alone; return its selection event, if `on_select` was given in `options`."""
    spec, tables = figure.outline
    data = {**spec.get("datasets", {}), **tables}
    return st.vega_lite_chart(
        spec={**spec, "datasets": data}, key=key, alt=figure.takeaway, theme=None, width="stretch", **options
    )


def show_or_say(made: Figure | DpcoreError, *, key: str, code: str, **options: Any) -> None:
    """Show a figure with the code that makes it, or in its own words the error that it ended with."""
    if isinstance(made, DpcoreError):
        trouble(made, key)
    else:
        show(made, key=key, code=code, **options)


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


def show_made(make: Callable[[], Figure], words: str, *, key: str, code: str, **options: Any) -> None:
    """Make a figure and show it, or in its own words the error that it ended with; `words` say what is waited for."""
    try:
        with work.progress(words):
            made = make()
        show(made, key=key, code=code, **options)
    except DomainError as error:  # nothing to draw is an answer, not a mistake
        st.info(plain(str(error)), icon=":material/info:")
    except DpcoreError as error:
        trouble(error, key)


def trouble(error: DpcoreError, key: str, place: DeltaGenerator | None = None) -> None:
    """Show an error in its own words, here or in a place; work that was stopped, or whose time ended, can be started again."""
    with place or st.container():
        st.error(plain(str(error)), icon=":material/error:")
        if isinstance(error, BudgetError):
            st.button("Try again", icon=":material/replay:", on_click=work.try_again, key=f"{key}_again")


def _take_away(figure: Figure, rows: pd.DataFrame, key: str, code: str, command: str) -> None:
    """Show the numbers, the downloads and the code."""
    visible = rows.head(MOST_ROWS)
    with st.expander("Numbers", icon=":material/table_rows:"):
        numbers(visible, f"{key}_table")
        if len(rows) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} of {len(rows)} rows.")
        if command:
            st.caption(f"All rows: `{command}`")
    _downloads(figure, visible, key)
    with st.expander("Python that makes this", icon=":material/code:"):
        st.code(at_tolerance(code), language="python")


def at_tolerance(code: str) -> str:
    """Return Python lines that compute at the tolerance of the pages; lines that state one stay as they are."""
    if "effort(" in code:
        return code
    lines = code.splitlines()
    first = next(
        (at for at, line in enumerate(lines) if line and not line.startswith(("from ", "import "))), len(lines)
    )
    imports = sorted([*(line for line in lines[:first] if line), "from dpcore.core.effort import effort"])
    body = [f"    {line}" if line else "" for line in lines[first:]]
    return "\n".join([*imports, "", f"with effort(tolerance={work.TOLERANCE}):", *body])


def numbers(table: pd.DataFrame, key: str) -> None:
    """Show a table with ten digits, small numbers as powers of ten."""
    digits = {name: st.column_config.NumberColumn(format="%.10g") for name in table.select_dtypes("float").columns}
    st.dataframe(table, hide_index=True, width="stretch", key=key, column_config=digits)


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, with no line broken inside a number such as 1 000."""
    text = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", text)
    return re.sub(r"([\\`*_\[\]$~<>#:|^])", r"\\\1", text)


def _downloads(figure: Figure, table: pd.DataFrame, key: str) -> None:
    """Offer CSV, JSON, SVG and PNG; each is made only when it is asked for."""
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
