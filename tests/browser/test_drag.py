"""What is drawn can be taken in the hand: a threshold, a point, the corner of a region; charts zoom and come back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import CHART

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
CORNER = 0.9 / (1 + math.e)
# address, container of the chart, slider, window, where the handle is and where it goes in the units of the axes, the value there
DRAGS = {
    "threshold": ("", "noisy_count_frame", "t_slider", (33.0, 48.0), (40.5, 0.5), (43.5, 0.5), 43.5),
    "guess": ("", "count_region_frame", "t_slider", (0.0, 1.0), (0.3033, 0.3033), (0.1839, 0.5), 41.0),
    "corner": (
        "Privacy_regions?regions=dp(1%2C+0.1)", "privacy_regions_frame", "edit_dp_epsilon_slide", (0.0, 1.0),
        (CORNER, CORNER), (0.9 / (1 + math.exp(2)), 0.9 / (1 + math.exp(2))), 2.0,
    ),
    "end": (
        "Privacy_regions?regions=dp(1%2C+0.1)", "privacy_regions_frame", "edit_dp_delta_slide", (0.0, 1.0),
        (0.0, 0.9), (0.0, 0.7), 0.3,
    ),
}  # fmt: skip
_BOX = """frame => {
  const box = document.querySelector(`.st-key-${frame} svg.marks g.root > g > path.background`).getBoundingClientRect();
  return [box.left, box.top, box.width, box.height];
}"""


def axis(visitor: Visitor, frame: str) -> list[float]:
    """Return the numbers along the horizontal axis, in their order."""
    labels = visitor.page.locator(f".st-key-{frame} [aria-label^='X-axis'] .role-axis-label text")
    return sorted(float(text) for text in labels.all_text_contents() if text)


@pytest.mark.parametrize("name", DRAGS)
def test_a_place_on_the_chart_is_dragged(visit: Callable[..., Visitor], name: str) -> None:
    path, frame, slider, (low, high), start, end, value = DRAGS[name]
    visitor = visit()
    visitor.open(path, shows=CHART)
    visitor.chart()
    left, top, width, height = visitor.page.evaluate(_BOX, frame)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return left + width * (point[0] - low) / (high - low), top + height * (1 - point[1])

    (x0, y0), (x1, y1) = place(start), place(end)
    seen = set()
    visitor.page.mouse.move(x0, y0)
    visitor.page.mouse.down()
    for step in range(1, 13):
        visitor.page.mouse.move(x0 + (x1 - x0) * step / 12, y0 + (y1 - y0) * step / 12)
        visitor.page.wait_for_timeout(120)
        seen.add(visitor.page.locator(f".st-key-{slider} input[type=range]").get_attribute("aria-valuetext"))
    visitor.page.mouse.up()
    visitor.chart()
    shown = visitor.page.locator(f".st-key-{slider} input[type=range]").get_attribute("aria-valuetext")
    assert float(shown or "nan") == pytest.approx(value, abs=0.02 * (high - low) + 0.1)
    assert len(seen) >= 4
    assert "?" in visitor.page.url, "the link follows"


def test_a_chart_zooms_and_comes_back(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open("Privacy_regions?regions=gdp(1)", shows=CHART)
    visitor.chart()
    frame = "privacy_regions_frame"
    whole = axis(visitor, frame)
    left, top, width, height = visitor.page.evaluate(_BOX, frame)
    visitor.page.mouse.move(left + width / 2, top + height / 3)
    visitor.page.mouse.wheel(0, -200)
    visitor.page.wait_for_timeout(500)
    assert axis(visitor, frame) == whole, "the wheel alone scrolls the page"
    left, top, width, height = visitor.page.evaluate(_BOX, frame)
    visitor.page.mouse.move(left + width / 2, top + height / 3)
    visitor.page.keyboard.down("Control")
    visitor.page.mouse.wheel(0, -400)
    visitor.page.keyboard.up("Control")
    visitor.page.wait_for_timeout(800)
    assert axis(visitor, frame) != whole
    visitor.page.mouse.dblclick(left + width / 2, top + height / 3)
    visitor.page.wait_for_timeout(800)
    assert axis(visitor, frame) == whole
