"""On a small laptop the picture of a page and its first controls are seen together, without scrolling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.test_pages import PAGES, TEXTS
from tests.browser.visitor import CHART

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import ViewportSize

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
LOWEST = 700
_ENDS = """() => {
  const main = document.querySelector("[data-testid='stMain']");
  const boxes = names => [...main.querySelectorAll(names)].map(one => one.getBoundingClientRect()).filter(box => box.height > 1);
  const chart = boxes("[data-testid='stVegaLiteChart']")[0];
  const controls = boxes("[data-testid='stSlider'], [data-testid='stTextInput'], [data-testid='stSelectbox']");
  return [chart.bottom, Math.min(...controls.map(box => box.bottom))];
}"""


@pytest.mark.parametrize("path", [path for path in PAGES if path not in TEXTS], ids=lambda path: path or "Home")
def test_chart_and_control_end_within_the_first_700_pixels(visit: Callable[..., Visitor], path: str) -> None:
    visitor = visit()
    visitor.page.set_viewport_size(LAPTOP)
    visitor.open(path, shows=CHART)
    visitor.chart()
    chart, control = visitor.page.evaluate(_ENDS)
    assert chart <= LOWEST
    assert control <= LOWEST
