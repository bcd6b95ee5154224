"""On a phone the control of a chart stands directly under it; sentences and rows come after the controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import CHART, PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
PAGES = (
    "Privacy_regions",
    "Composition",
    "Mechanisms",
    "Privacy_and_utility",
    "Several_constraints",
    "Limits",
    "Subsampling",
    "Claimed_and_true",
    "Choose_your_noise",
    "Audit",
    "Statistics_lab",
    "Plan_a_release",
    "Your_data",
    "Private_training",
    "Local_privacy",
    "Map",
)
_BETWEEN = """() => {
  const main = document.querySelector("[data-testid='stMain']");
  const top = element => element.getBoundingClientRect().top;
  const seen = names => [...main.querySelectorAll(names)].filter(one => one.getBoundingClientRect().height > 1);
  const chart = main.querySelector("[data-testid='stVegaLiteChart']").getBoundingClientRect();
  const controls = "[data-testid='stSlider'], [data-testid='stTextInput'], [data-testid='stSelectbox'], " +
    "[data-testid='stDataFrame'], [data-testid='stRadio'], [data-testid='stButtonGroup']";
  const first = Math.min(...seen(controls).map(top).filter(place => place > chart.bottom - 5));
  const texts = seen("[data-testid='stMarkdown'], [data-testid='stAlert'], [data-testid='stCaptionContainer']")
    .filter(one => top(one) > chart.bottom - 5 && top(one) < first - 5 && !one.closest("[data-testid='stHeading']"));
  const row = [...main.querySelectorAll("[class*='st-key-'][class*='_row']")].find(one => top(one) > chart.bottom - 5);
  const ends = one => one.getBoundingClientRect().right;
  const clipped = [...main.querySelectorAll("[data-testid='stVegaLiteChart'] svg")].flatMap(picture =>
    [...picture.querySelectorAll(".role-legend text")].filter(name => ends(name) > ends(picture)).map(name => name.textContent));
  return { clipped, texts: texts.map(one => one.innerText), gap: first - chart.bottom, row: row ? top(row) - first : 1 };
}"""


@pytest.mark.parametrize("path", PAGES)
def test_the_control_stands_directly_under_its_chart(visit: Callable[..., Visitor], path: str) -> None:
    visitor = visit()
    visitor.page.set_viewport_size(PHONE)
    visitor.open(path, shows=CHART)
    visitor.chart()
    found = visitor.page.evaluate(_BETWEEN)
    assert found["gap"] < 150
    assert found["row"] > 0, "the row of the figure comes after the controls"
    assert found["clipped"] == [], "names of the legend are cut at the edge of the picture"
    assert [text for text in found["texts"] if len(text) > 60] == []
