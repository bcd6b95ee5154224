"""Columns of a CSV: lines that are split many at once and rows that Python's reader splits one by one give the same."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.files import columns
from dpcore.files.columns import CodedRows, read_columns
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv

PIECES = st.lists(
    st.sampled_from(
        ["a", "b c", "  b  c ", "1.5", "-2", "é", "NA", "", " ", "'=1+1", "''=x", "\u00a0", "\x1f", "日本"]
    ),
    min_size=1,
    max_size=4,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def cells(rows: CodedRows) -> list[list[str]]:
    return [[column.texts[code] for code in column.codes] for column in rows.columns]


def one_by_one(data: bytes, monkeypatch: pytest.MonkeyPatch) -> CodedRows:
    """Read without the quick way."""
    with monkeypatch.context() as patch:
        patch.setattr(columns, "_even", lambda *_: None)
        sheet = open_csv(data)
        return read_columns(sheet, sheet.columns)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12), ENDS, st.sampled_from([",", ";", "\t"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.booleans())  # fmt: skip
def test_both_ways_read_the_same(rows: list[list[str]], end: str, mark: str, encoding: str, last: bool) -> None:
    lines = [mark.join(row) for row in [["name", "x"], *rows]]
    data = (end.join(lines) + end * last).encode(encoding)
    sheet = open_csv(data)
    quick = read_columns(sheet, sheet.columns)
    with pytest.MonkeyPatch.context() as patch:
        slow = one_by_one(data, patch)
    assert cells(quick) == cells(slow)
    assert (quick.rows, quick.empty, quick.uneven, quick.breaks) == (slow.rows, slow.empty, slow.uneven, slow.breaks)
    text = data.decode(encoding)
    plain = list(csv.reader(io.StringIO(text, newline=""), delimiter=sheet.delimiter))
    while not "".join(plain[0]).strip():  # empty lines above the names
        plain.pop(0)
    assert quick.rows + len(quick.empty) == len(plain) - sheet.header


@pytest.mark.parametrize("start", [b"", "\ufeff".encode()])
@pytest.mark.parametrize("block", [1, 2**20])
def test_a_byte_order_mark_is_one_at_the_start_of_the_file_alone(
    start: bytes, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_BYTES", block)
    data = start + "age,answer\n27,yes\n\ufeff5,no\n\ufeff".encode()
    found = read_columns(open_csv(data), ["age", "answer"])
    assert cells(found) == [["27", "\ufeff5", "\ufeff"], ["yes", "no", ""]]
    assert cells(found) == cells(one_by_one(data, monkeypatch))
    unnamed = read_columns(open_csv(start + b"1,2\n3,4\n"), ["column 1"])
    assert cells(unnamed) == [["1", "3"]]


@pytest.mark.parametrize("block", [1, 7, 64, 2**20])
def test_blocks_of_any_size(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_BYTES", block)
    data = b"\n\nname,x\r\nA,1\r\n,\r\nB,2\r\n\r\nA,3,4\r\nC\r\nA,1"
    sheet = open_csv(data)
    found = read_columns(sheet, ["x", "name", "x"])
    assert cells(found) == [["1", "2", "3", "", "1"], ["A", "B", "A", "C", "A"], ["1", "2", "3", "", "1"]]
    assert (found.rows, found.empty, found.uneven) == (5, (2, 4), 2)
    assert [found.row_number(place) for place in range(5)] == [1, 3, 5, 6, 7]


def test_a_column_reads_as_often_as_it_is_named_and_unknown_ones_are_answered() -> None:
    sheet = open_csv(b"a,b\n1,2\n")
    with pytest.raises(DomainError, match="there is no column 'c'"):
        read_columns(sheet, ["c"])
    assert read_microdata(sheet, ["b"]).names == ["b"]
    assert read_microdata(sheet).names == ["a", "b"]


def test_a_table_of_too_many_texts_is_refused_before_it_fills_the_memory() -> None:
    data = b"a\n" + b"\n".join(b"x%d" % one for one in range(200_000))
    with effort(memory=1_000_000), pytest.raises(BudgetError, match="The texts of this table would need"):
        read_columns(open_csv(data), ["a"])


def test_codes_take_the_smallest_type() -> None:
    data = b"a,b\n" + b"\n".join(b"%d,%d" % (one % 7, one) for one in range(300))
    sheet = open_csv(data)
    few, many = read_columns(sheet, sheet.columns).columns
    assert (few.codes.dtype, many.codes.dtype) == (np.uint8, np.uint16)
    assert many.texts[299] == "299"
