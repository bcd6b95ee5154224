"""A data engineer's walk: from a CSV to the report of a release, by clicks that are counted, and by the keyboard."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import walk
from tests.browser.test_pages import TOO_WIDE, violations
from tests.browser.visitor import CALM, CHART, HEADING, PATIENCE, PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
DEPARTMENTS = ("Administration", "Production", "Research", "Sales", "Support")
MOST_CLICKS = 15


class Clicks:
    """A visitor who counts clicks; choosing a file in the system's dialog is one."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.page, self.count = visitor, visitor.page, 0

    def on(self, place: Locator) -> None:
        """Click."""
        place.click()
        self.count += 1
        self.visitor.settle()

    def file(self, path: Path) -> None:
        """Choose a file."""
        self.page.locator(".st-key-plan_file input[type=file]").set_input_files(path)
        self.count += 1

    def button(self, name: str) -> None:
        """Click a button by its whole name."""
        self.on(self.page.get_by_role("button", name=name, exact=True))

    def choose(self, key: str, option: str) -> None:
        """Open a menu and choose an option: two clicks."""
        self.on(self.page.locator(f".st-key-{key} input"))
        self.on(self.page.get_by_role("option", name=option, exact=True))


def people(path: Path, rows: int) -> Path:
    """Write a table of people."""
    draw = random.Random(19)
    lines = (f"{draw.choice(DEPARTMENTS)},{draw.randint(25_000, 130_000)}\n" for _ in range(rows))
    path.write_text("department,salary\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("rows", [2000, 1_000_000])
def test_five_counts_and_a_mean_from_a_file_to_a_report(
    newcomer: Callable[..., Visitor], tmp_path: Path, rows: int
) -> None:
    visitor = newcomer()
    visitor.open("", shows=CHART)
    clicks, page = Clicks(visitor), visitor.page
    clicks.on(page.get_by_role("link", name="Release numbers"))
    page.get_by_role("heading", name="Plan a release", level=1).wait_for()
    visitor.settle(CHART)
    clicks.on(page.get_by_role("button", name="Table: staff"))
    clicks.file(people(tmp_path / "people.csv", rows))
    page.get_by_text("Add what you want to publish").wait_for(timeout=PATIENCE)
    page.keyboard.press("Escape")
    visitor.settle()
    clicks.on(page.get_by_role("button", name="Add an answer"))
    clicks.choose("plan_form_column", "department")
    clicks.button("Use what the file suggests")
    page.get_by_text("no noise hides that").wait_for()
    clicks.on(page.locator(".st-key-plan_form_add").get_by_role("button"))
    page.get_by_text("Five numbers at (1, 1e-6)").first.wait_for(timeout=PATIENCE)
    clicks.choose("plan_form_column", "salary")
    clicks.button("Use what the file suggests")
    clicks.on(page.locator(".st-key-plan_form_add").get_by_role("button"))
    page.get_by_text("Six numbers at (1, 1e-6)").first.wait_for(timeout=PATIENCE)
    page.keyboard.press("Escape")
    clicks.on(page.locator(".st-key-plan_panels").get_by_role("button", name="Report"))
    page.get_by_role("heading", name="Who is protected").wait_for(timeout=PATIENCE)
    report = page.get_by_test_id("stMain").inner_text()
    assert "Part 1 holds 5 answers about disjoint records (apart in the column department)" in report
    assert "they are charged once" in report
    assert "This does not hold for department, salary" in report  # both were read off the file
    assert "the 5 counts are off by at most 6 records" in visitor.words()
    assert clicks.count <= MOST_CLICKS, clicks.count
    assert visitor.strangers == []
    with page.expect_download() as coming:
        page.get_by_role("button", name="Report as HTML").click()
    page_text = Path(coming.value.path()).read_text(encoding="utf-8")
    assert "<svg" in page_text
    assert "Who is protected" in page_text
    with page.expect_download() as coming:
        page.get_by_role("button", name="Label as HTML").click()
    label = Path(coming.value.path()).read_text(encoding="utf-8")
    assert "five counts" in label.lower() or "department" in label
    assert "salary" in label
    assert "<script src" not in label


def test_the_link_restores_the_plan_in_another_browser(newcomer: Callable[..., Visitor]) -> None:
    visitor = newcomer()
    visitor.open("Plan_a_release", shows=CHART)
    visitor.chart()
    walk.put(visitor, "plan_epsilon", "0.7")
    walk.put(visitor, "plan_split", "equal error")
    words, link = visitor.chart(), walk.link(visitor)
    assert words.startswith("Six numbers at (0.7, 1e-6)")
    again = newcomer()
    again.page.goto(link)
    assert again.chart() == words


def test_a_weight_moves_by_keyboard_and_undo_brings_it_back(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open("Plan_a_release", shows=CHART)
    before = visitor.chart()
    slider = visitor.page.locator(".st-key-plan_weight_1 input[type=range]")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
        visitor.settle(HEADING, CALM)
    after = visitor.chart()
    assert _error(after, "Mean salary") < _error(before, "Mean salary")
    assert _error(after, "counts are off") > _error(before, "counts are off")
    for _ in range(3):
        visitor.page.get_by_role("button", name="Undo").click()
        visitor.settle()
    assert visitor.chart() == before


def _error(words: str, name: str) -> float:
    """Return the error that a sentence gives for an answer."""
    found = re.search(rf"{name} by (?:at most|about) ([0-9.]+)", words)
    assert found, words
    return float(found[1])


@pytest.mark.parametrize("dark", [False, True])
def test_all_that_is_made_of_a_plan_reads_right(visit: Callable[..., Visitor], *, dark: bool) -> None:
    visitor = visit(dark=dark)
    visitor.open("Plan_a_release", shows=CHART)
    visitor.chart()
    for panel in ("Report", "Simulate once"):
        visitor.page.locator(".st-key-plan_panels").get_by_role("button", name=panel).click()
        visitor.settle(CHART, 2 * CALM)
    visitor.page.mouse.move(1, 1)  # what lies under the pointer may look different
    visitor.shot(f"Plan_a_release_panels_{'dark' if dark else 'light'}")
    assert violations(visitor) == []
    visitor.page.set_viewport_size(PHONE)
    visitor.settle(CHART, 2 * CALM)
    assert visitor.page.evaluate(TOO_WIDE) <= 1
    assert violations(visitor) == []


def test_chart_and_controls_fit_one_screen(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.page.set_viewport_size({"width": 1366, "height": 768})
    visitor.open("Plan_a_release", shows=CHART)
    visitor.chart()
    for place in (
        visitor.page.get_by_test_id("stVegaLiteChart").first,
        *(
            visitor.page.locator(f".st-key-plan_{key}")
            for key in ("epsilon_slider", "delta_slider", "split", "weight_1")
        ),
    ):
        box = place.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768
