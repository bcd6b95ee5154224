"""An upload to the page of privacy and utility: it is read, told and drawn, and stays with its visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dpcore.app import privacy_and_utility, privacy_and_utility_data, work
from dpcore.core.results import kept_by
from dpcore.files.sheet import open_csv
from dpcore.utility import pair
from tests.app.test_utility import opened, ran
from tests.app.visits import alts, errors, listing, said

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.usefixtures("quick_charts")
CSV = b"age;answer\n51;yes\n74;no\nold;yes\n130;no\n;yes\n"


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    app = opened(utility_data=privacy_and_utility_data.UPLOAD, **parameters)
    assert "Choose a file" in said(app)
    assert not alts(app)
    app.file_uploader(key="utility_file").upload("people.csv", content, "text/csv")
    return ran(app)


def test_an_upload_is_read_told_and_drawn() -> None:
    app = uploaded(CSV)
    assert "Type both bounds" in said(app)
    app.text_input(key="utility_low").set_value("0")
    app.text_input(key="utility_high").set_value("100")
    ran(app)
    assert "3 numbers read from 5 rows of column 'age'" in said(app)
    assert "2 values dropped: 1 no number (the first: 'old' in row 3), 1 empty (the first: row 5)." in said(app)
    assert "1 value above 100 moved to the nearer bound (clipped)" in said(app)
    assert "The fields are separated by semicolons" in said(app)
    assert len(alts(app)) == 3
    app.selectbox(key="utility_outside").select("drop")
    ran(app)
    assert "1 outside the bounds" in said(app)
    app.segmented_control(key="utility_kind").set_value("answers")
    column = next(box for box in app.selectbox if box.label == "Column")
    column.select("answer")
    ran(app)
    assert "the mere existence of a bin" in said(app)
    assert not alts(app)
    app.text_input(key="utility_categories").set_value("yes, no")
    ran(app)
    assert "5 answers read from 5 rows of column 'answer'" in said(app)
    assert "Declared: yes, no, other. 0 answers not in the list counted as 'other'" in said(app)
    assert not errors(app)
    assert len(alts(app)) == 3


STAFF = b"department\n" + b"Sales\nHR\nSales\nCEO\n" * 25


def staff(**parameters: Any) -> AppTest:
    app = uploaded(STAFF, **parameters)
    app.segmented_control(key="utility_kind").set_value("answers")
    return ran(app)


def test_text_is_counted() -> None:
    app = staff(utility="count_laplace epsilon=1.0 probability=0.05 at_least=65.0 equals=")
    assert "To count one answer, type it under Choices, equals" in said(app)
    assert not alts(app)
    app.text_input(key="utility_count_laplace_equals").set_value("Sales")
    ran(app)
    assert not errors(app)
    assert "Counted: answers equal to Sales." in said(app)
    assert "the true answer is 50," in alts(app)[2]
    assert app.text_input(key="utility").value.endswith("equals=Sales")


def test_a_link_reads_the_file_the_same_way() -> None:
    link = {"utility_kind": "answers", "utility_categories": "Sales, HR", "utility_others": "leave their rows out"}
    app = uploaded(STAFF, **link)
    assert not errors(app)
    assert "Declared: Sales, HR." in said(app)
    numbers = uploaded(CSV, utility_low="0", utility_high="100", utility_outside="leave their rows out")
    assert "1 outside the bounds" in said(numbers)
    assert "the number of remaining rows is treated as public" in said(numbers)


def test_no_histogram_of_categories_that_nobody_declared() -> None:
    app = staff()
    assert "the mere existence of a bin" in said(app)
    assert not alts(app)
    assert "CEO" not in said(app)
    app.text_input(key="utility_categories").set_value("Sales, HR, IT")
    ran(app)
    assert "25 answers not in the list counted as 'other', a bin that always exists" in said(app)
    assert not any("CEO" in text for text in alts(app))
    app.selectbox(key="utility_others").select("drop")
    ran(app)
    assert "25 not in the list (the first: 'CEO' in row 4)" in said(app)
    app.text_input(key="utility_categories").set_value("Sales, Sales")
    assert "categories must be different from each other, got 'Sales' twice" in errors(ran(app))


PEOPLE = b"name,department,pay\nAnn,Sales,10\nBo,HR,20\nCy,Sales,n/a\nDi,Sales,40\n"


def test_the_first_column_of_numbers_is_read_first() -> None:
    app = uploaded(PEOPLE)
    assert next(box for box in app.selectbox if box.label == "Column").value == "pay"
    assert open_csv(PEOPLE).numeric == ("pay",)
    assert open_csv(CSV).numeric == ("age",)
    assert open_csv(STAFF).numeric == ()
    assert open_csv(b"1,2\n3,4\n").numeric == open_csv(b"1,2\n3,4\n").columns


def test_categories_have_no_slider_for_bins() -> None:
    key = "utility_histogram_laplace_bins"
    numbers = uploaded(PEOPLE, utility_low="0", utility_high="100")
    assert numbers.text_input(key=key).value == "10"
    answers = staff(utility_categories="Sales, HR")
    assert len(alts(answers)) == 3
    assert key not in {field.key for field in answers.text_input}
    assert not [slider for slider in answers.select_slider if slider.label == "bins"]


def test_clipped_data_are_told_their_bias() -> None:
    values = np.random.default_rng(3).exponential(10.0, 1000)
    content = ("v\n" + "\n".join(repr(float(v)) for v in values)).encode()
    app = uploaded(content, utility="mean_laplace epsilon=1.0", utility_low="0", utility_high="10")
    assert not errors(app)
    drawn = alts(app)
    assert "Mean squared error (exact): 13.8 at ε = 1" in drawn[0]
    assert "within 3.75 of the mean of the data in 95 of 100 releases (exact) (bias included, rounded up)" in said(app)
    assert "the true answer is 10.1399" in drawn[3]
    assert "Mean squared error is least, 0.00554 (exact), at upper bound 52" in drawn[2]
    assert "a bound chosen from it reveals something about them" in said(app)
    app.segmented_control(key="utility_side").set_value("lower")
    ran(app)
    assert "at lower bound" in alts(app)[2]


def test_an_upload_is_kept_by_its_session_alone() -> None:
    before = set(work.cache().kept)
    app = uploaded(CSV, utility_low="0", utility_high="100", utility="count_laplace")
    assert len(alts(app)) == 3
    assert set(work.cache().kept) <= before
    assert "_utility_own" in app.session_state
    assert not any("people" in str(value) or "51" in str(value) for value in app.query_params.values())
    other = opened(
        utility_data=privacy_and_utility_data.UPLOAD, utility_low="0", utility_high="100", utility="count_laplace"
    )
    assert not alts(other)
    app.selectbox(key="utility_data").select(privacy_and_utility_data.MADE_UP)
    ran(app)
    assert "_utility_own" not in app.session_state


def test_files_that_cannot_be_used_are_explained() -> None:
    app = opened(utility_data=privacy_and_utility_data.UPLOAD, utility_low="0", utility_high="100")
    for content, words in (
        (b"", "The file has no row"),
        (b"age\n", "0 rows of data"),
        (b"age\nx\ny\n", "gives no number: of its 2 rows, 2 no number (the first: 'x' in row 1)"),
        (b"PK\x03\x04", "spreadsheet or an archive"),
    ):
        app.file_uploader(key="utility_file").upload("people.csv", content, "text/csv")
        assert words in errors(ran(app))
        assert not alts(app)


def test_bounds_of_an_upload_are_checked() -> None:
    app = uploaded(CSV, utility_low="9", utility_high="3")
    assert "The lower bound must be below the upper bound" in errors(app)
    app.text_input(key="utility_low").set_value("abc")
    assert "Lower bound must be a number in [-1000000000000, 1000000000000], got 'abc'" in errors(ran(app))


def test_the_code_of_an_upload_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = uploaded(CSV, utility_low="0", utility_high="100", utility="count_laplace", utility_n="2")
    shown = listing(app, "utility_figure")
    (tmp_path / "your.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(shown.rsplit("\n", 1)[0], space)  # noqa: S102  the lines the page shows
    assert space["data"].values.tolist() == [51.0, 74.0]


def test_data_of_an_upload_are_kept_by_their_own_store_wherever_they_are_asked_for() -> None:
    """Outside of a wait the library's results go to the cache that all visitors share."""
    own, before = work.ResultCache(), set(work.cache().kept)
    fields = {"file": "your.csv", "column": "age", "lower": 0.0, "upper": 100.0}
    source = privacy_and_utility_data.DataSource(fields, 3, own, {"your.csv": CSV})
    view = privacy_and_utility.UtilityView(pair("count_laplace"), source, "epsilon", "quantile", 0, 1)
    with kept_by(work.keeper(work.cache())):
        assert view.data.values.tolist() == [51.0, 74.0, 100.0]
    assert set(work.cache().kept) == before
    assert own.kept
