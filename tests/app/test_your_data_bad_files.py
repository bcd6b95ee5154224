"""A strange file in every tool of the page Your data: a sentence with row and reason, and what was typed stays."""

from __future__ import annotations

import pytest

from dpcore.app import your_data, your_data_table
from tests.app.visits import Page, errors, said
from tests.planner.test_bad_files import FILES, HEAD

PAGE = Page("pages/17_Your_data.py", "Your data")
pytestmark = pytest.mark.usefixtures("quick_charts")
EMPTY = {"no row": "0 rows of data", "nothing": "The file has no row"}
REFUSALS = {
    ("Intervals", "text"): "2 no number (the first: 'lots' in row 1)",
    ("Sensitivity", "text"): "2 no number (the first: 'lots' in row 1)",
    ("Disclosure", "missing"): "Row 2: column 'dep' must hold one of the categories A, B, C, got a missing value.",
    ("Disclosure", "undeclared"): "Row 2: column 'dep' must hold one of the categories A, B, C, got 'CEO'.",
    ("Series", "text"): "Row 1: column 'pay' must hold a number, got 'lots'.",
    ("Series", "mixed"): "Row 3: column 'pay' must hold a number, got '1.234,5'.",
    ("Series", "one row"): "A series needs 2 to 200 times, got 1.",
    ("Series", "constant"): "All values are 5: a constant series has no autoregression to fit.",
    ("Series", "blank lines"): "Row 4: column 'pay' must hold a number, got 'x'.",
    ("Intervals", "one row"): "needs at least 2 records, got 1.",
}
LOSSES = {
    ("Intervals", "mixed"): "1 no number (the first: '1.234,5' in row 3)",
    ("Intervals", "missing"): "1 empty (the first: row 1), 1 marked as missing (the first: 'NA' in row 4)",
    ("Sensitivity", "missing"): "1 empty (the first: row 1), 1 marked as missing (the first: 'NA' in row 4)",
    ("Sensitivity", "blank lines"): "1 no number (the first: 'x' in row 4)",
}
TYPED = {"data_lower": "0", "data_upper": "2000", "data_releases": "3", "data_categories": "A, B, C"}


@pytest.mark.parametrize("tool", your_data.SECTIONS)
@pytest.mark.parametrize("name", FILES)
def test_a_strange_file(tool: str, name: str) -> None:
    app = PAGE.opened(data_tool=tool, data_table=your_data_table.UPLOAD, data_protect="PRAM", **TYPED)
    app.file_uploader(key="data_file").upload("people.csv", FILES[name].encode(), "text/csv")
    PAGE.ran(app)
    for label, column in {"Column": "pay", "User": "id", "Time": "t", "Value": "pay"}.items():
        for menu in (one for one in app.selectbox if one.label == label and column in one.options):
            menu.select(column)
    PAGE.ran(app)
    for field in app.text_input:  # another column has no bounds of the former
        if field.key in TYPED:
            field.set_value(TYPED[field.key])
    PAGE.ran(app)
    trouble = errors(app)
    if name in EMPTY:
        assert EMPTY[name] in trouble
    assert REFUSALS.get((tool, name), "") in trouble
    assert LOSSES.get((tool, name), "") in said(app)
    assert app.segmented_control(key="data_tool").value == tool
    assert app.selectbox(key="data_table").value == your_data_table.UPLOAD
    for field in app.text_input:
        assert field.key not in TYPED or field.value == TYPED[field.key]
    assert HEAD.strip() not in trouble, "no cell but the one that is wrong is repeated"
