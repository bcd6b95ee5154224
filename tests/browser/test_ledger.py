"""The table of releases stays where it is while it is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import CHART, PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
HEADER, ROW = 35, 33  # px of the lines of Streamlit's table


def test_a_wrong_row_is_explained_below_the_table_which_does_not_move(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open("Ledger", shows=CHART)
    visitor.chart()
    table = visitor.page.get_by_test_id("stDataFrame").first
    before = table.bounding_box()
    assert before is not None
    visitor.page.mouse.dblclick(before["x"] + 260, before["y"] + HEADER + 1.5 * ROW)  # the expression of row 2
    visitor.page.wait_for_timeout(1000)  # the cell's editor opens; a person sees it before they type
    visitor.page.keyboard.press("Control+a")
    visitor.page.keyboard.type("gausian(20)", delay=40)
    visitor.page.wait_for_timeout(500)
    visitor.page.keyboard.press("Enter")
    words = visitor.page.get_by_text("Unknown name 'gausian'").first
    words.wait_for(timeout=PATIENCE)
    assert visitor.page.get_by_test_id("stDataFrame").first.bounding_box() == before
    place = words.bounding_box()
    assert place is not None
    assert place["y"] > before["y"] + before["height"]
