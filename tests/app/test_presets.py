"""Every preset: its link restores what a click on it shows, chart by chart and table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.test_listings import EXAMPLES
from tests.app.visits import alts, choose_example, drawings, page_of, said
from tests.test_tables import check

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from dpcore.app.page import Preset


def tables(app: AppTest) -> list[str]:
    return [frame.value.to_csv() for frame in app.dataframe]


@pytest.mark.parametrize("preset", EXAMPLES)
def test_a_preset_is_the_same_by_link_and_by_click(preset: Preset) -> None:
    page = page_of(preset)
    by_link = page.opened(**preset.state)
    clicked = choose_example(page.opened(), preset.name)
    assert not by_link.error
    assert alts(clicked) == alts(by_link)
    assert drawings(clicked) == drawings(by_link)
    assert tables(clicked) == tables(by_link)
    for frame in by_link.dataframe:
        check(frame.value, preset.name)
    assert said(clicked) == said(by_link)
