"""The series planner on the page Your data: its sample, uploads, matrices and mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dpcore.app import work, your_data, your_data_table
from dpcore.labs import LABS
from tests.app.visits import Page, errors, said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = Page("pages/17_Your_data.py", "Your data")
pytestmark = pytest.mark.usefixtures("quick_charts")
CSV = b"who,when,hours\n" + b"".join(
    f"{user},{time},{5 + (7 * ord(user) + 3 * time * time) % 11}\n".encode() for user in "abcd" for time in range(1, 7)
)


def opened(**parameters: Any) -> AppTest:
    return PAGE.opened(data_tool="Series", **parameters)


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    app = opened(data_table=your_data_table.UPLOAD, **parameters)
    app.file_uploader(key="data_file").upload("people.csv", content, "text/csv")
    return PAGE.ran(app)


def test_the_sample_is_planned() -> None:
    app = opened(data_table="sport")
    assert not errors(app)
    assert "on each of 12 means" in said(app)
    assert "plus 0.558 times the one before" in said(app)


def test_a_sample_without_times_offers_the_one_that_has_them() -> None:
    app = opened()
    assert "no times" in said(app)
    app.button(key="data_sport").click()
    PAGE.ran(app)
    assert app.selectbox(key="data_table").value == "sport"
    assert "on each of 12 means" in said(app)


def test_a_full_fit_stands_beside_the_pooled_one() -> None:
    app = opened(data_table="homes", data_series_model="full", data_releases="4")
    assert not errors(app)
    assert "4 users at 60 times, 59 steps" in said(app)
    assert "plausible after this fit, the least noise at event level is" in said(app)
    tables = [frame.value for frame in app.dataframe]
    entries = next(table for table in tables if "standard_error" in table)
    assert len(entries) == 4 + 16 + 10
    assert "A[North, East]" in set(entries["parameter"])
    both = next(table for table in tables if "model" in table)
    assert both["model"].tolist() == ["pooled"] * 3 + ["full"] * 3
    assert both["noise"].iloc[3] > both["noise"].iloc[0], "neighbours tell more than one's own past"
    assert "No full fit: A full autoregression of 80 users needs at least 83 times" in said(opened(data_table="sport"))


def test_matrices_are_planned() -> None:
    app = opened(data_source="A and Σ", data_releases="3", data_prior="flat")
    assert not errors(app)
    assert "on each of 3 means" in said(app)


def test_an_upload_is_planned_and_kept_by_its_visitor() -> None:
    before = set(work.cache().kept)
    app = uploaded(CSV, data_lower="0", data_upper="20", data_releases="6")
    assert not errors(app)
    assert "4 users at 6 times" in said(app)
    new = [key for key in work.cache().kept if key not in before]
    assert "who" not in repr(new)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"data_a": "0.5, 0.1\n0, x"}, "must hold finite numbers, got 'x' in row 2, column 2"),
        ({"data_a": "0.5, 0.1"}, "must be square"),
        ({"data_sigma": "1, 2\n2, 1"}, "least eigenvalue must be at least 0, got -1"),
        ({"data_sigma": "1, 0.2\n0.1, 1"}, "must be symmetric"),
        ({"data_a": "1.2, 0\n0, 0.5"}, "largest eigenvalue of A must have a size below 1, got 1.2"),
        ({"data_a": "1, 1\n1, 1", "data_prior": "flat"}, "must be invertible"),
        ({"data_releases": "0"}, "Releases must be"),
        ({"data_series_noise": "-1"}, "must be a number"),
    ],
)
def test_bad_matrices_and_numbers_are_explained(state: dict[str, str], words: str) -> None:
    app = opened(data_source="A and Σ", **state)
    assert words in errors(app)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"who,when,hours\na,1,x\n", "Row 1: column 'hours' must hold a number, got 'x'"),
        (b"who,when,hours\na,1,2\na,1,3\n", "Row 2: user 'a' has a value at '1' already, in row 1"),
        (b"who,when,hours\na,1,2\na,2,2\na,3,2\n", "All values are 2"),
        (b"who,when,hours\na,1,2\n", "needs 2 to 200 times, got 1"),
    ],
)
def test_bad_files_are_explained(content: bytes, words: str) -> None:
    app = uploaded(content, data_lower="0", data_upper="20")
    assert words in errors(app)


def test_the_lab_opens_the_tool_with_a_table_that_has_times() -> None:
    app = PAGE.opened(**your_data.opening("Series"))
    assert not errors(app)
    assert "on each of 12 means" in said(app)
    assert {lab.tool for lab in LABS.values() if lab.tool} <= set(your_data.SECTIONS)
