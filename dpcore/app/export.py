"""The files of a figure: its table as CSV and JSON, its picture as SVG, PDF and PNG, on request in a paper's format."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore import specs
from dpcore.charts.export import render, specification
from dpcore.charts.paper import Paper
from dpcore.core.domains import HEIGHT_MM, LETTER_SIZE, REAL, WIDTH_MM
from dpcore.core.errors import DpcoreError
from dpcore.files.csv_writer import frame_text
from dpcore.language.numbers import read_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from dpcore.charts.figure import Figure
    from dpcore.charts.paper import Range

_MIME: Final = {".svg": "image/svg+xml", ".pdf": "application/pdf", ".png": "image/png"}
FONTS: Final = ("sans-serif", "serif", "monospace")
COLUMN: Final = (85, 60)
"""Millimetres of a figure in one of two columns."""


def show_files(spec: Mapping[str, Any], figure: Figure, table: pd.DataFrame, key: str) -> None:
    """Show the downloads as CSV, JSON, SVG, PDF and PNG; each file is made on demand."""
    format_ = _paper(key)
    name = specs.file_name(spec, "")
    with st.container(horizontal=True):
        _button("CSV", lambda: csv_of(table), f"{name}.csv", "text/csv", key)
        _button("JSON", lambda: json_of(figure, table), f"{name}.json", "application/json", key)
        for suffix, mime in _MIME.items():
            _button(suffix[1:].upper(), lambda s=suffix: render(figure, s, **format_), f"{name}{suffix}", mime, key)


def _paper(key: str) -> dict[str, Any]:
    """Ask for the format of a paper, if one is wanted; return it as options of `render`."""
    if not st.toggle("Format for a paper: millimetres, font, greys, ranges of the axes", key=f"{key}_paper"):
        return {}
    first, second, third, fourth, fifth = st.columns([2, 2, 3, 2, 2], vertical_alignment="bottom")
    width = first.text_input("Width in mm", str(COLUMN[0]), key=f"{key}_width")
    height = second.text_input("Height in mm", str(COLUMN[1]), key=f"{key}_height")
    font = third.selectbox("Font", FONTS, key=f"{key}_font")
    size = fourth.text_input("Letters in pt", "8", key=f"{key}_size")
    grey = fifth.toggle("Greys", key=f"{key}_grey")
    left, right = st.columns(2)
    words = "Two numbers, such as 0 and 0.1, separated by a comma; empty for the whole axis."
    across = left.text_input("Range of the horizontal axis", "", key=f"{key}_x_range", help=words)
    up = right.text_input("Range of the vertical axis", "", key=f"{key}_y_range", help=words)
    try:
        paper = Paper(
            read_value(WIDTH_MM, width), read_value(HEIGHT_MM, height), font, read_value(LETTER_SIZE, size), grey
        )
        return {"paper": paper, "x_range": _range(across), "y_range": _range(up)}
    except DpcoreError as error:
        st.error(str(error), icon=":material/error:")
        return {}


def _range(text: str) -> Range | None:
    """Return the two ends that a text names; None if it is empty."""
    if not text.strip():
        return None
    low, _, high = text.partition(",")
    return read_value(REAL, low.strip(), "The start of a range"), read_value(REAL, high.strip(), "The end of a range")


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
    """Return a table as CSV with full precision; infinity is written as inf, and no text can run as a formula."""
    return frame_text(table).encode("utf-8")


def json_of(figure: Figure, table: pd.DataFrame) -> bytes:
    """Return the chart's specification and the table's rows as one file; infinity, which JSON lacks, is "inf"."""
    cells = table.astype(object).where(table.notna(), None)
    rows = [{name: _plain_value(value) for name, value in row.items()} for row in cells.to_dict("records")]
    body = {"title": figure.title, "takeaway": figure.takeaway, "spec": specification(figure), "rows": rows}
    return (json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain_value(value: Any) -> Any:
    """Return a cell as a JSON value, numbers in full precision."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, float) and math.isinf(value) else value
