"""The files of a figure: its table as CSV and JSON, its picture as SVG, PDF and PNG, optionally in a paper's format."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore import specs
from dpcore.charts.export import render, specification
from dpcore.charts.paper import Paper
from dpcore.core.domains import HEIGHT_MM, LETTER_SIZE, REAL, WIDTH_MM
from dpcore.core.numerals import nearest
from dpcore.files.csv_writer import frame_text
from dpcore.language.numbers import read_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from dpcore.charts.figure import Figure
    from dpcore.charts.paper import Range

_MIME: Final = {".svg": "image/svg+xml", ".pdf": "application/pdf", ".png": "image/png"}
FONTS: Final = ("sans-serif", "serif", "monospace")
SCREEN: Final = ".svg"
"""The picture that the code saves if there is no paper format."""
FIELDS: Final[dict[str, Any]] = {
    "paper": False,
    "width": "85",
    "height": "60",
    "font": FONTS[0],
    "size": "8",
    "grey": False,
    "x_range": "",
    "y_range": "",
    "file": ".pdf",
}
"""The format of a figure in a paper: its fields and their initial values; 85 mm is one of two columns."""
_INCH: Final = 25.4  # millimetres
_DOTS: Final = 96  # pixels per inch of a screen


# ---- the format of a paper -------------------------------------------------------------------------------------


def fields(key: str) -> dict[str, Any]:
    """Return the fields of a figure's format by their name in the link, with their initial values."""
    return {f"{key}_{name}": value for name, value in FIELDS.items()}


def is_for_paper(key: str) -> bool:
    """Whether a figure has a paper format."""
    return bool(st.session_state.get(f"{key}_paper", False))


def keep_fields(key: str) -> None:
    """Keep the values of hidden fields, which Streamlit would forget."""
    for name in fields(key):
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]


def format_of(key: str) -> dict[str, Any]:
    """Return a figure's format as options of `dpcore.charts.save`; without a paper format there are none."""
    if not is_for_paper(key):
        return {}
    width, height, font, size, grey, across, up = (
        st.session_state.get(f"{key}_{name}", FIELDS[name])
        for name in ("width", "height", "font", "size", "grey", "x_range", "y_range")
    )
    paper = Paper(read_value(WIDTH_MM, width), read_value(HEIGHT_MM, height), font, read_value(LETTER_SIZE, size), grey)
    return {"paper": paper, "x_range": _range(across), "y_range": _range(up)}


def suffix_of(key: str) -> str:
    """Return the file extension of the picture that the code saves."""
    return str(st.session_state.get(f"{key}_file") or FIELDS["file"]) if is_for_paper(key) else SCREEN


def ask_format(key: str) -> None:
    """Ask whether the figure is for a paper, and if so for its format."""
    shared: dict[str, Any] = {"bind": "query-params"}
    words = "Format for a paper: millimetres, font, greys, ranges of the axes"
    if not st.toggle(words, key=f"{key}_paper", **shared):
        return
    first, second, third, fourth, fifth = st.columns([2, 2, 3, 2, 2], vertical_alignment="bottom")
    first.text_input("Width in mm", FIELDS["width"], key=f"{key}_width", **shared)
    second.text_input("Height in mm", FIELDS["height"], key=f"{key}_height", **shared)
    third.selectbox("Font", FONTS, key=f"{key}_font", **shared)
    fourth.text_input("Font size in pt", FIELDS["size"], key=f"{key}_size", **shared)
    fifth.toggle("Greys", key=f"{key}_grey", **shared)
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    shared["help"] = "Two numbers, such as 0 and 0.1, separated by a comma; empty for the whole axis."
    left.text_input("Range of the horizontal axis", "", key=f"{key}_x_range", **shared)
    middle.text_input("Range of the vertical axis", "", key=f"{key}_y_range", **shared)
    shared["help"] = "Which of the three pictures the lines under Code save."
    right.segmented_control(
        "File in the code", list(_MIME), default=FIELDS["file"], required=True, key=f"{key}_file", **shared
    )


def show_preview(svg: bytes, paper: Paper, words: str) -> None:
    """Show the figure as it will be in the paper, at its own size."""
    st.image(svg.decode(), width=round(paper.width_mm / _INCH * _DOTS), alt=words)
    st.caption(f"In print: {nearest(paper.width_mm)} × {nearest(paper.height_mm)} mm.")


# ---- the files -------------------------------------------------------------------------------------------------


def show_files(
    spec: Mapping[str, Any], figure: Figure, table: pd.DataFrame, key: str, style: Mapping[str, Any]
) -> None:
    """Show the downloads as CSV, JSON, SVG, PDF and PNG, with the pictures in the paper format if there is one."""
    name = specs.file_name(spec, "")
    with st.container(horizontal=True):
        _button("CSV", lambda: csv_of(table), f"{name}.csv", "text/csv", key)
        _button("JSON", lambda: json_of(figure, table), f"{name}.json", "application/json", key)
        for suffix, mime in _MIME.items():
            _button(suffix[1:].upper(), lambda s=suffix: render(figure, s, **style), f"{name}{suffix}", mime, key)


def _range(text: str) -> Range | None:
    """Return the two ends named in a text; None if it is empty."""
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
    """Return the chart's specification and the table's rows as one file; infinity, which JSON lacks, becomes "inf"."""
    cells = table.astype(object).where(table.notna(), None)
    rows = [{name: _plain_value(value) for name, value in row.items()} for row in cells.to_dict("records")]
    body = {"title": figure.title, "takeaway": figure.takeaway, "spec": specification(figure), "rows": rows}
    return (json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain_value(value: Any) -> Any:
    """Return a cell as a JSON value, with numbers in full precision."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, float) and math.isinf(value) else value
