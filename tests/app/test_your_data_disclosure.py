"""The disclosure check on the page Your data: samples, uploads, mistakes, and the protected copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dpcore.app import work, your_data, your_data_disclosure, your_data_table
from dpcore.app.your_data_table import OpenTable
from dpcore.utility.samples import sample_sheet, sample_tables
from tests.app.visits import Page, errors, said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = Page("pages/17_Your_data.py", "Your data")
pytestmark = pytest.mark.usefixtures("quick_charts")
CSV = b"age,zip,diagnosis\n31,01067,flu\n34,01067,flu\n38,01069,=cmd()\n45,01097,cold\n47,01099,flu\n49,01097,cold\n"


def opened(**parameters: Any) -> AppTest:
    return PAGE.opened(data_tool="Disclosure", **parameters)


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    app = opened(data_table=your_data_table.UPLOAD, **parameters)
    app.file_uploader(key="data_file").upload("people.csv", content, "text/csv")
    return PAGE.ran(app)


def test_every_sample_has_its_fields_in_the_link() -> None:
    for name in sample_tables():
        columns = set(sample_sheet(name).columns)
        quasi, sensitive = (your_data.DEFAULTS[f"{part}_{name}"] for part in ("data_quasi", "data_sensitive"))
        assert quasi
        assert set(quasi) | set(sensitive) <= columns
        assert {your_data.DEFAULTS[f"{part}_{name}"] for part in ("data_pram_column", "data_noise_column")} <= columns


@pytest.mark.parametrize("table", ["ages", "survey", "staff", "sport", "homes"])
@pytest.mark.parametrize("view", your_data_disclosure.VIEWS)
def test_every_sample_and_view_is_drawn(table: str, view: str) -> None:
    app = opened(data_table=table, data_protect=view)
    assert not errors(app)
    assert "columns that are not named stay as they are" in said(app)


def test_the_numbers_are_those_of_the_library() -> None:
    app = opened(data_table="survey")
    assert "495 of 1 500 records are unique" in said(app)
    app = opened(data_table="survey", data_suppress="50")
    assert "rows are left out" in said(app)


def test_a_copy_takes_what_was_set_up_in_other_views() -> None:
    app = opened(data_table="survey")
    assert "look at them first" in said(app)
    app.segmented_control(key="data_protect").set_value("PRAM")
    PAGE.ran(app)
    also = next(one for one in app.get("button_group") if one.key == "data_also")
    also.set_value(["classes"])
    PAGE.ran(app)
    assert not errors(app)
    seen = app.session_state["_data_protections"]
    question = your_data_disclosure.DisclosureQuestion(
        OpenTable(sample_sheet("survey"), {"sample": "survey"}, work.cache(), name="survey"),
        "PRAM",
        *seen[1]["PRAM"][:1],
        1.0,
    )
    data, plan = question.with_others([seen[1]["classes"]]).plan()
    assert plan.rules
    assert plan.pram is not None
    released = plan.release(data, np.random.default_rng(1))
    assert len(released) == 1500
    assert set(released["study_hours"]).isdisjoint(set(data.frame()["study_hours"]))  # both: made coarser ...
    assert (
        released["cheated"].to_numpy() != data.frame()["cheated"].to_numpy()
    ).mean() > 0.05  # ... and changed at random


def test_an_upload_is_checked_and_kept_by_its_visitor() -> None:
    before = set(work.cache().kept)
    app = uploaded(CSV)
    assert "6 rows read" in said(app)
    assert not errors(app)
    app.text_input[0].set_value("age:10, zip:3*")
    PAGE.ran(app)
    assert "As released, 0 are unique and the smallest class has 3." in said(app)
    new = [key for key in work.cache().kept if key not in before]
    assert "diagnosis" not in repr(new)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("age:ten", "cannot be read"),
        ("years:10", "no column 'years'"),
        ("diagnosis:10@0", "Row 1: column 'diagnosis' must hold a number"),
        ("age:10,age:5", "each column once"),
    ],
)
def test_a_bad_rule_is_explained_and_nothing_is_lost(rules: str, words: str) -> None:
    app = uploaded(CSV)
    app.text_input[0].set_value(rules)
    PAGE.ran(app)
    assert words in errors(app)
    assert app.text_input[0].value == rules


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            {"data_protect": "PRAM", "data_matrix": ",no,yes\nno,0.9,0.2\nyes,0.3,0.7"},
            "Row 'no' of the matrix must hold",
        ),
        ({"data_protect": "PRAM", "data_matrix": "0.5,0.5,0\n1,0,0"}, "must be square"),
        ({"data_protect": "PRAM", "data_categories": "yes, maybe"}, "Row"),
        ({"data_protect": "PRAM", "data_keep": "1.5"}, "must be a number in [0, 1]"),
        (
            {"data_protect": "noise", "data_noise_column_survey": "transport"},
            "Row 1: column 'transport' must hold a number",
        ),
        ({"data_protect": "noise", "data_size": "0"}, "must be"),
    ],
)
def test_bad_fields_are_explained(state: dict[str, str], words: str) -> None:
    app = opened(data_table="survey", **state)
    assert words in errors(app)


def test_a_matrix_replaces_the_probability() -> None:
    app = opened(data_table="survey", data_protect="PRAM", data_matrix=",no,yes\nno,0.9,0.1\nyes,0.3,0.7")
    assert not errors(app)
    assert "ε at most 1.946" in said(app)
