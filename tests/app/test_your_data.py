"""The page Your data: the table that all its tools work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dpcore.app import work, your_data, your_data_table
from dpcore.utility.samples import sample_sheet, sample_tables, samples
from tests.app.visits import Page, alts, drawings, errors, said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = Page("pages/17_Your_data.py", "Your data")
pytestmark = pytest.mark.usefixtures("quick_charts")
CSV = b"age;answer\n51;yes\n74;no\nold;yes\n130;no\n;yes\n"


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    app = PAGE.opened(data_table=your_data_table.UPLOAD, **parameters)
    assert "Choose a file" in said(app)
    app.file_uploader(key="data_file").upload("people.csv", content, "text/csv")
    return PAGE.ran(app)


def test_sample_tables_have_the_columns_that_are_described() -> None:
    for table in sample_tables():
        described = {name.split(".")[1] for name in samples() if name.startswith(f"{table}.")}
        assert set(sample_sheet(table).columns) == described
        assert your_data.DEFAULTS[f"data_column_{table}"] in described


def test_an_upload_is_read_told_and_kept_by_its_visitor() -> None:
    before = set(work.cache().kept)
    app = uploaded(CSV)
    assert "Type both bounds" in said(app)
    app.text_input(key="data_lower").set_value("0")
    app.text_input(key="data_upper").set_value("100")
    PAGE.ran(app)
    assert "3 numbers read from 5 rows of column 'age'" in said(app)
    assert "1 no number (the first: 'old' in row 3)" in said(app)
    assert "1 value above 100 moved to the nearer bound (clipped)" in said(app)
    assert not errors(app)
    new = [key for key in work.cache().kept if key not in before]
    assert "old" not in repr(new)
    assert not [key for key in new if "read_column" in repr(key)]


@pytest.mark.parametrize(
    ("content", "low", "high", "words"),
    [
        (CSV, "100", "0", "The lower bound must be below the upper bound, got 100 and 0."),
        (CSV, "x", "0", "Lower bound must be a number"),
        (b"", "0", "1", "The file has no row"),
        (b"a\nx\ny\n", "0", "1", "Column 'a' gives no number"),
    ],
)
def test_a_bad_file_or_bound_is_explained_and_nothing_is_lost(content: bytes, low: str, high: str, words: str) -> None:
    app = uploaded(content, data_lower=low, data_upper=high)
    assert words in errors(app)
    if app.text_input:
        assert app.text_input(key="data_lower").value == low
    assert app.selectbox(key="data_table").value == your_data_table.UPLOAD


def test_other_data_have_no_bounds_of_the_former() -> None:
    app = PAGE.opened(data_lower="10", data_upper="90")
    app.selectbox(key="data_column_ages").select("household")
    PAGE.ran(app)
    assert app.text_input(key="data_lower").value == ""
    app.selectbox(key="data_table").select("survey")
    PAGE.ran(app)
    assert app.selectbox(key="data_column_survey").value == "study_hours"
    assert not errors(app)


# ---- intervals -------------------------------------------------------------------------------------------------


def test_an_interval_says_what_it_covers_and_how_often() -> None:
    app = PAGE.opened(data_upper="60")
    assert len(alts(app)) == 2
    assert "It covers the population mean of values moved into [0, 60]" in alts(app)[0]
    assert "of 2 000 simulated intervals contain the population mean of values moved into [0, 60]" in alts(app)[1]
    assert "484 values lie outside the bounds" in said(app)
    assert "share of the budget for the estimate" in said(app)
    assert "A simulation, not a release" in said(app)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"data_statistic": "proportion"}, "Type which rows count"),
        ({"data_delta": "0"}, "Gaussian noise needs a δ above 0"),
        ({"data_epsilon": "0"}, "ε must be"),
        ({"data_level": "2"}, "Level must be"),
        ({"data_statistic": "quantile", "data_probability": "1"}, "Quantile must be"),
        (
            {"data_table": "survey", "data_column_survey": "transport", "data_lower": "0", "data_upper": "1"},
            "gives no number",
        ),
        ({"data_tool": "Sensitivity", "data_probability": "x"}, "Probability must be"),
        ({"data_tool": "Sensitivity", "data_query": "trimmed mean", "data_trim": "0.5"}, "Share at each end must be"),
    ],
)
def test_a_question_that_is_not_complete_is_explained(parameters: dict[str, str], words: str) -> None:
    app = PAGE.opened(**parameters)
    assert words in said(app) + errors(app)
    assert not alts(app)


def test_one_row_and_a_constant_column() -> None:
    app = uploaded(b"pay\n5\n", data_lower="0", data_upper="10")
    assert "needs at least 2 records, got 1" in said(app) + errors(app)
    app = uploaded(b"pay\n" + b"5\n" * 40, data_lower="0", data_upper="10")
    assert len(alts(app)) == 2
    assert not errors(app)


# ---- sensitivity -----------------------------------------------------------------------------------------------


def test_the_workbench_names_the_best_mechanism_and_draws_all_regions() -> None:
    app = PAGE.opened(data_tool="Sensitivity", data_table="staff")
    assert len(alts(app)) == 3
    assert "Least error of the median of these 1 200 records: " in alts(app)[0]
    assert "(local)" in alts(app)[1]
    assert "promise of Cauchy, smooth" in str(drawings(app)[2])
    assert "A promise is an upper bound" in said(app)


def test_what_was_typed_for_one_tool_is_there_after_the_other() -> None:
    app = PAGE.opened(data_lower="10", data_level="0.9", data_statistic="variance")
    app.segmented_control(key="data_tool").set_value("Sensitivity")
    PAGE.ran(app)
    assert app.text_input(key="data_lower").value == "10"
    app.segmented_control(key="data_tool").set_value("Intervals")
    PAGE.ran(app)
    assert app.text_input(key="data_level").value == "0.9"
    assert app.segmented_control(key="data_statistic").value == "variance"


def test_a_visitors_file_enters_no_shared_cache_in_either_tool() -> None:
    rows = b"pay\n" + b"\n".join(str(i % 37).encode() for i in range(300))
    for tool, figures in (("Intervals", 2), ("Sensitivity", 3)):
        before = set(work.cache().kept)
        app = uploaded(rows, data_tool=tool, data_lower="0", data_upper="40")
        assert len(alts(app)) == figures
        new = [key for key in work.cache().kept if key not in before]
        assert all("regions" in repr(key) or "bytes" not in repr(key) for key in new)
        assert not [key for key in new if "your.csv" in repr(key)]
