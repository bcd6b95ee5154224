"""Figures of pages that are not described by a spec yet: the page hands over the chart and writes its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import work
from dpcore.app.figure import (
    _ICONS,
    CODE,
    LINK,
    TABLE,
    _show_table,
    picture,
    plain,
    trouble,
)
from dpcore.app.page import link_box
from dpcore.core.errors import DomainError, DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.charts.figure import Figure


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


def offer(
    figure: Figure, *, key: str, code: str, table: pd.DataFrame | None = None, command: str = "", link: bool = True
) -> None:
    """Offer what a reader may take away of a figure: its numbers, files, code and link; the arguments are those of `show`."""
    work.part(lambda: _row(figure.table if table is None else table, key, code, command, link))


def show_or_say(made: Figure | DpcoreError, *, key: str, code: str, **options: Any) -> None:
    """Show a figure with the code that makes it, or in its own words the error that it ended with."""
    if isinstance(made, DpcoreError):
        trouble(made, key)
    else:
        show(made, key=key, code=code, **options)


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


def _row(rows: pd.DataFrame, key: str, code: str, command: str, link: bool) -> None:
    panels = st.pills(
        "Take away",
        [TABLE, CODE, *([LINK] if link else [])],
        selection_mode="multi",
        format_func=lambda panel: f":material/{_ICONS[panel]}: {panel}",
        key=f"{key}_row",
        label_visibility="collapsed",
    )
    if TABLE in panels:
        _show_table(rows, key, command)
    if CODE in panels:
        st.code(at_tolerance(code), language="python")
    if LINK in panels:
        link_box()
