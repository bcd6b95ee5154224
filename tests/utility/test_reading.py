"""A user's CSV, however it comes: read, or refused in a sentence; every row is a value or is counted."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.files import columns, sheet
from dpcore.files.sheet import open_csv
from dpcore.utility import PAIRS, pair
from dpcore.utility.reading import ColumnReading, read_labels, read_numbers
from dpcore.utility.samples import sample, samples

DATASETS = Path(__file__).resolve().parents[2] / "data" / "datasets"


def numbers(
    data: bytes | str, column: str | None = None, low: float = 0.0, high: float = 100.0, **how: Any
) -> ColumnReading:
    opened = open_csv(data.encode() if isinstance(data, str) else data)
    found = read_numbers(opened, column or opened.columns[0], low, high, **how)
    assert found.rows == found.dataset.n + sum(found.dropped.values())
    return found


def said(found: ColumnReading) -> str:
    return " ".join(found.notes)


# ---- what can be in a file -----------------------------------------------------------------------------------


def test_a_plain_file() -> None:
    found = numbers("age,name\n51,Ada\n74,Bo\n62,Cy\n")
    assert found.dataset.values.tolist() == [51.0, 74.0, 62.0]
    assert (found.dataset.low, found.dataset.high, found.dataset.name) == (0.0, 100.0, "age")
    assert found.dropped == {}
    assert said(found) == "3 numbers read from 3 rows of column 'age'."


def test_text_and_missing_cells_are_counted_by_kind() -> None:
    found = numbers("age\n51\nabout forty\n\nNaN\nn/a\n62\ninf\n1e999\n7_0\n-\n")
    assert found.dataset.values.tolist() == [51.0, 62.0]
    assert found.dropped == {"no number": 2, "empty": 1, "marked as missing": 3, "not finite": 2}
    assert found.rows == 10
    assert (
        "8 values dropped: 2 no number (the first: 'about forty' in row 2), 1 empty (the first: row 3), 3 marked as missing"
        in said(found)
    )
    assert "2 not finite (the first: 'inf' in row 7)" in said(found)


def test_values_outside_the_bounds_are_clipped_or_dropped_and_counted() -> None:
    text = "age\n-5\n0\n50\n100\n130\n200\n"
    clipped = numbers(text)
    assert clipped.dataset.values.tolist() == [0.0, 0.0, 50.0, 100.0, 100.0, 100.0]
    assert clipped.clipped == (1, 2)
    assert "1 value below 0 and 2 values above 100 moved to the nearer bound (clipped)." in said(clipped)
    dropped = numbers(text, outside="drop")
    assert dropped.dataset.values.tolist() == [0.0, 50.0, 100.0]
    assert dropped.dropped == {"outside the bounds": 3}
    assert dropped.clipped == (0, 0)
    assert "3 values dropped: 3 outside the bounds." in said(dropped)


@pytest.mark.parametrize(("mark", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_another_delimiter_is_found_and_said(mark: str, words: str) -> None:
    opened = open_csv(f"age{mark}name\n51{mark}Ada\n74{mark}Bo\n".encode())
    assert opened.columns == ("age", "name")
    assert f"The fields are separated by {words}, not by commas." in opened.notes
    assert read_numbers(opened, "age", 0, 100).dataset.values.tolist() == [51.0, 74.0]


def test_decimal_commas_beside_semicolons() -> None:
    found = numbers("x;y\n3,5;1\n4,25;2\n5;3\n1,2,3;4\n")
    assert found.dataset.values.tolist() == [3.5, 4.25, 5.0]
    assert found.dropped == {"no number": 1}
    assert "In 2 values of column 'x' the comma was read as the decimal sign (the first: '3,5' in row 1)." in said(
        found
    )


def test_a_comma_in_a_column_of_its_own_is_a_decimal_sign() -> None:
    assert numbers("x\n3,5\n4,25\n").dataset.values.tolist() == [3.5, 4.25]


def test_a_quoted_thousand_is_not_guessed() -> None:
    found = numbers('x,y\n"1,234",1\n5,2\n', high=10_000)
    assert found.dataset.values.tolist() == [5.0]
    assert found.dropped == {"no number": 1}


def test_the_wrong_delimiter_chosen_by_hand_is_said() -> None:
    opened = open_csv(b"age,name\n51,Ada\n", delimiter=";")
    assert opened.columns == ("age,name",)
    with pytest.raises(
        DomainError, match=r"gives no number: of its 1 row, 1 no number \(the first: '51,Ada' in row 1\)"
    ):
        read_numbers(opened, "age,name", 0, 100)
    with pytest.raises(DomainError, match="delimiter must be one of"):
        open_csv(b"a,b\n", delimiter="x")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("\ufeffage,b\n51,1\n".encode(), "byte-order mark"),
        ("age,b\n51,1\n".encode("utf-16"), "UTF-16"),
        ("age,b\n51,caf\xe9\n".encode("latin-1"), "Latin-1"),
    ],
)
def test_encodings(data: bytes, words: str) -> None:
    opened = open_csv(data)
    assert opened.columns[0] == "age"
    assert words in " ".join(opened.notes)
    assert read_numbers(opened, "age", 0, 100).dataset.values.tolist() == [51.0]


def test_a_file_without_names() -> None:
    opened = open_csv(b"51,1\n74,NaN\n")
    assert opened.columns == ("column 1", "column 2")
    assert "named by their place" in " ".join(opened.notes)
    assert read_numbers(opened, "column 1", 0, 100).rows == 2
    assert open_csv(b"nan,1\n2,3\n").header is False  # a missing value is no name


def test_names_are_made_different_and_printable() -> None:
    assert open_csv(b"a,a,,\x07b,a\n1,2,3,4,5\n").columns == ("a", "a (2)", "column 3", "b", "a (3)")
    assert len(open_csv(b"x" * 500 + b",y\n1,2\n").columns[0]) == sheet.LONGEST_NAME


def test_uneven_rows_and_line_breaks_in_quotes_are_said() -> None:
    found = numbers("a,b\n1,2\n3\n4,5,6\n7,8\n", "b")
    assert found.dataset.values.tolist() == [2.0, 5.0, 8.0]
    assert found.dropped == {"empty": 1}
    assert "2 rows with more or fewer fields than the first" in said(found)
    broken = numbers('a,b\n1,"x\n2,y\n3,z"\n4,w\n')
    assert broken.dataset.values.tolist() == [1.0, 4.0]
    assert "2 line breaks inside quotation marks" in said(broken)


def test_empty_lines_above_the_table_are_no_rows_and_those_inside_are() -> None:
    found = numbers("\n  \n\nage\n51\n\n62\n")
    assert found.rows == 3
    assert found.dropped == {"empty": 1}
    assert numbers("age,b\n\n51,1\n").dropped == {"empty": 1}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings(ending: str) -> None:
    assert numbers(ending.join(["age,b", "51,1", "62,2", ""])).dataset.values.tolist() == [51.0, 62.0]


# ---- answers -------------------------------------------------------------------------------------------------


def test_answers_are_coded_in_the_order_declared() -> None:
    opened = open_csv(b"cheated,grade\nyes,10\nno,9\n ,2\nyes,?\nno,10\n")
    found = read_labels(opened, "cheated", ("no", "yes"), "drop")
    assert found.dataset.categories == ("no", "yes")
    assert found.dataset.values.tolist() == [1, 0, 1, 0]
    assert found.dropped == {"empty": 1}
    assert (
        said(found)
        == "4 answers read from 5 rows of column 'cheated'. 1 value dropped: 1 empty (the first: row 3). Declared: no, yes."
    )
    grades = read_labels(opened, "grade", "10, 9")
    assert grades.dataset.categories == ("10", "9", "other")
    assert grades.dataset.values.tolist() == [0, 1, 2, 0]
    assert grades.dropped == {"marked as missing": 1}
    assert said(grades).endswith("1 answer not in the list counted as 'other', a bin that always exists.")


CEO = b"department\nSales\nHR\nSales\nCEO\nn/a\n"


def test_the_bins_depend_on_the_declaration_alone() -> None:
    """One person more or less, with whatever answer, changes no bin: the existence of a bin tells nothing."""
    with_them, without = open_csv(CEO), open_csv(CEO.replace(b"CEO\n", b""))
    names = {read_labels(data, "department", "Sales,HR,IT").dataset.categories for data in (with_them, without)}
    assert names == {("Sales", "HR", "IT", "other")}
    left_out = read_labels(with_them, "department", "Sales,HR,IT", "drop")
    assert left_out.dataset.categories == ("Sales", "HR", "IT")
    assert left_out.dropped == {"not in the list": 1, "marked as missing": 1}
    assert "1 not in the list (the first: 'CEO' in row 4)" in said(left_out)
    assert left_out.rows == left_out.dataset.n + sum(left_out.dropped.values())


def test_undeclared_categories_are_refused_with_the_reason() -> None:
    with pytest.raises(DomainError, match="the mere existence of a bin") as found:
        read_labels(open_csv(CEO), "department")
    assert "CEO" not in str(found.value)


def test_a_declared_name_may_look_like_a_missing_value_or_be_called_other() -> None:
    found = read_labels(open_csv(CEO), "department", "n/a,other")
    assert found.dataset.categories == ("n/a", "other")
    assert found.dataset.values.tolist() == [1, 1, 1, 1, 0]
    assert read_labels(open_csv(b'a\n"x,y"\nz\n'), "a", 'z,"x,y"', "drop").dataset.values.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("categories", "others", "words"),
    [
        ("A,A", "count", "categories must be different from each other, got 'A' twice"),
        ("A,,B", "count", "none of them empty"),
        ([f"n{i}" for i in range(101)], "count", "categories must be 1 to 100 names"),
        (["x" * 61], "count", "at most 60 characters"),
        ("A", "drop", "at least two bins, that of other answers included; got 'A' alone"),
        ("A,B", "keep", "others must be one of count, drop, got 'keep'"),
    ],
)
def test_declarations_are_checked(categories: Any, others: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        read_labels(open_csv(CEO), "department", categories, others)


def test_a_column_without_answers() -> None:
    with pytest.raises(DomainError, match="gives no answer: of its 2 rows, 2 marked as missing"):
        read_labels(open_csv(b"a\n-\n?\n"), "a", "yes,no")
    with pytest.raises(DomainError, match="gives no answer: of its 1 row, 1 not in the list"):
        read_labels(open_csv(b"a\nmaybe\n"), "a", "yes,no", "drop")


def test_other_answers_have_no_place_between_no_and_yes() -> None:
    opened = open_csv(b"a\nyes\nno\nperhaps\n")
    with pytest.raises(DomainError, match="the bin 'other' has no place in that order"):
        pair("survey_rr").closed_forms(read_labels(opened, "a", "no,yes").dataset)
    assert pair("survey_rr").answer(read_labels(opened, "a", "no,yes", "drop").dataset) == 0.5


def test_only_declared_answers_are_ever_published() -> None:
    """Every pair that takes answers: its labels are those declared, whoever is in the data."""
    for name, cls in PAIRS.items():
        if not cls.uses_data:
            continue
        seen = []
        for content in (CEO, CEO.replace(b"CEO", b"HR")):
            data = read_labels(open_csv(content), "department", "Sales,HR").dataset
            query = pair(name, **({"equals": "Sales"} if name.startswith("count_") else {}))
            try:
                seen.append((query.labels(data), query.answer(data).shape))
            except DomainError:
                seen.append(((), ()))
        assert seen[0] == seen[1]
        assert "CEO" not in str(seen)


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no row: it has 0 bytes"),
        (b"\n \n\n", "no line with text"),
        (b",,\n,,\n", "no line with text"),
        (b"PK\x03\x04rest", "spreadsheet or an archive"),
        (b"a,b\n1,\x00\n", "zero bytes"),
        (",".join(f"c{i}" for i in range(201)).encode(), "201 columns; at most 200"),
        (b'a,"' + b"x" * 200_000, "quotation mark may be missing"),
    ],
)
def test_files_that_cannot_be_read(data: bytes, words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        open_csv(data)


def test_no_rows_under_the_names() -> None:
    with pytest.raises(DomainError, match="0 rows of data under its first line, so column 'age' is empty"):
        numbers("age,b\n")


def test_a_file_above_the_size_limit_is_refused_unread() -> None:
    with pytest.raises(DomainError, match="at most 10 are read"):
        open_csv(b"a,b\n1,2\n1,2\n", most_bytes=10)


def test_rows_above_the_limit_are_refused_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_ROWS", 40_000)
    with pytest.raises(DomainError, match="40 000 rows or more"):
        numbers("a\n" + "1\n" * 40_001)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))])
def test_bounds_are_checked(bounds: tuple[float, float]) -> None:
    with pytest.raises(DomainError, match="lower bound must be below the upper bound"):
        numbers("a\n1\n", None, *bounds)


def test_wrong_names_are_answered() -> None:
    opened = open_csv(b"a,b\n1,2\n")
    with pytest.raises(DomainError, match="The file has the columns a, b; there is no column 'c'"):
        read_numbers(opened, "c", 0, 1)
    with pytest.raises(DomainError, match="outside must be one of clip, drop, got 'x'"):
        read_numbers(opened, "a", 0, 1, "x")


# ---- size ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_million_rows() -> None:
    """Ten different lines, repeated; a listener hears of the progress, and the counts are exact."""
    lines = ["5", "17", "abc", "99", "", "101", "-3", "42.5", "NaN", "64"]
    data = ("age\n" + "\n".join(lines) * 1 + "\n").encode() + ("\n".join(lines) + "\n").encode() * 99_999
    heard: list[float] = []
    with effort(progress=heard.append):
        found = numbers(data)
    assert found.rows == 1_000_000
    assert found.dataset.n == 700_000
    assert found.dropped == {"no number": 100_000, "empty": 100_000, "marked as missing": 100_000}
    assert found.clipped == (100_000, 100_000)
    assert found.dataset.values.sum() == pytest.approx(100_000 * (5 + 17 + 99 + 100 + 0 + 42.5 + 64))
    assert len(heard) >= 4
    assert heard == sorted(heard)


# ---- laws ----------------------------------------------------------------------------------------------------

CELL = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
    st.integers(-200, 200).map(str),
    st.sampled_from(["", "NaN", "-", "inf", "x", "1,5", " 7 ", '"', "a;b", "1e5", "é", "7_0"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=30), st.sampled_from([",", ";", "\t"]))
def test_every_row_is_a_value_or_is_counted(rows: list[tuple[str, str]], mark: str) -> None:
    """Against Python's own float, cell by cell."""
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows([("age", "other"), *rows])
    opened = open_csv(out.getvalue().encode(), delimiter=mark)
    cells = [text.replace(",", ".") if mark != "," and text == "1,5" else text for text, _ in rows]
    wanted = [float(c) for c in cells if re.fullmatch(r"\s*[-+]?\d+(\.\d*)?(e[-+]?\d+)?\s*", c)]
    if not wanted:
        with pytest.raises(DomainError, match="gives no number"):
            read_numbers(opened, "age", -1e6, 1e6)
        return
    found = read_numbers(opened, "age", -1e6, 1e6)
    assert found.rows == len(rows)
    assert found.dataset.values.tolist() == np.clip(wanted, -1e6, 1e6).tolist()
    assert sum(found.dropped.values()) == len(rows) - len(wanted)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_garbage_is_read_or_refused_in_a_sentence(data: bytes) -> None:
    def refusal(read: Any, *arguments: Any) -> str:
        try:
            read(*arguments)
        except DomainError as error:
            return str(error)
        return "."

    assert refusal(open_csv, data).endswith(".")
    if refusal(open_csv, data) == ".":
        opened = open_csv(data)
        for column in opened.columns:
            assert refusal(read_labels, opened, column, "0,a,b").endswith(".")
            assert refusal(read_numbers, opened, column, 0.0, 1.0).endswith(".")


# ---- the samples ---------------------------------------------------------------------------------------------


def test_the_script_makes_the_files_again() -> None:
    spec: Any = importlib.util.spec_from_file_location("make_datasets", DATASETS / "make_datasets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.datasets()
    assert set(made) == {"ages.csv", "homes.csv", "sport.csv", "staff.csv", "survey.csv"}
    for name, content in made.items():
        assert (DATASETS / name).read_bytes() == content


def test_the_samples_are_what_they_say() -> None:
    assert set(samples()) >= {"ages.age", "survey.cheated", "survey.transport"}
    for name, about in samples().items():
        data = sample(name)
        assert about.provenance
        assert data.n == {"ages": 2000, "survey": 1500, "staff": 1200, "sport": 960, "homes": 240}[name.split(".")[0]]
        if about.kind == "numbers":
            assert (data.low, data.high) == (about.low, about.high)
            assert data.moved == (13 if name == "staff.salary" else 0)  # a few earn more than the scale's end
            raw = [
                float(row[about.column]) for row in csv.DictReader(about.file.read_text(encoding="utf-8").splitlines())
            ]
            assert data.raw_column.tolist() == raw
    assert sample("survey.cheated").categories == ("no", "yes")
    assert sample("survey.cheated").values.sum() == 327
    assert len(sample("survey.transport").categories) == 5
    assert sample("ages.age") is not sample("ages.age")  # what one caller computes from it is not kept for all
    with pytest.raises(DomainError, match=r"no sample dataset 'x'; choose one of ages\.age"):
        sample("x")
