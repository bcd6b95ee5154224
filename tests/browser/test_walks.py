"""Walks of people who know the README alone, by what they can read on the screen; clicks are counted.

The data engineer's walk, from a CSV to a report, is in `test_plan_a_release`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import CHART, PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Download

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


class Walk:
    """A visitor who clicks and types what is labelled on the screen, and counts."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.page = visitor, visitor.page
        self.clicks = 0
        visitor.open("", shows=CHART)

    def door(self, name: str, heading: str) -> None:
        """Follow a link and wait for its page."""
        self.page.get_by_role("link", name=name, exact=True).first.click()
        self.clicks += 1
        self.page.get_by_role("heading", name=heading, level=1).wait_for(timeout=PATIENCE)
        self.visitor.settle()

    def press(self, name: str, role: str = "button") -> None:
        """Press a button, a pill or a switch, whose icon is read before its name."""
        self.page.get_by_test_id("stMain").get_by_role(role, name=name).first.click()  # type: ignore[arg-type]  # a role
        self.clicks += 1
        self.visitor.settle()

    def fill(self, label: str, text: str) -> None:
        """Click into a field and type."""
        field = self.page.get_by_test_id("stTextInput").get_by_label(label, exact=True).first
        field.click()
        self.clicks += 1
        field.fill(text)
        field.press("Enter")
        self.visitor.settle()

    def download(self, name: str) -> Download:
        """Press a download button."""
        with self.page.expect_download() as coming:
            self.press(name)
        return coming.value

    def text(self) -> str:
        """Return all that the page says, with ordinary spaces."""
        return self.page.get_by_test_id("stMain").inner_text().replace("\u00a0", " ")


def test_a_student_learns_what_1_and_1e_5_mean(newcomer: Callable[..., Visitor]) -> None:
    walk = Walk(newcomer())
    walk.door("Privacy regions", "Privacy regions")
    walk.visitor.settle(CHART)
    walk.fill("δ (delta)", "1e-5")
    words = walk.text()
    assert re.search(r"An attacker who wrongly accuses 5 of 100 people outside the data finds", words), words[:2000]
    assert "at most 14 of 100 under DP, ε = 1, δ = 1e-5" in words
    assert walk.clicks <= 3
    walk.door("Guide", "Guide")
    assert re.search(r"\bδ\b", walk.text())


def test_a_training_engineer_checks_the_epsilon_that_was_stated(newcomer: Callable[..., Visitor]) -> None:
    walk = Walk(newcomer())
    walk.door("Train a model", "Private training")
    walk.visitor.settle(CHART)
    for label, text in (
        ("Records N", "50000"),
        ("Batch B", "512"),
        ("Epochs E", "20"),
        ("Noise σ", "1"),
        ("At δ", "1e-5"),
    ):
        walk.fill(label, text)
    first = walk.text()
    answer = re.search(r"ε (?:is at most|≤|at most|=) ?([0-9.]+)", first)
    assert answer, first[:1500]
    walk.fill("Claimed ε", "1")
    said = walk.text()
    assert said != first
    assert re.search(r"not (?:so|true|right)|too small|wrong|larger|understates|false", said), said[-3000:]
    assert walk.clicks <= 10


def test_a_researcher_takes_a_figure_its_numbers_its_code_and_its_link(newcomer: Callable[..., Visitor]) -> None:
    walk = Walk(newcomer())
    walk.door("Write a paper", "Composition")
    walk.visitor.settle(CHART)
    walk.press("Export")
    walk.page.get_by_text("Format for a paper: millimetres", exact=False).first.click()
    walk.clicks += 1
    walk.visitor.settle()
    walk.fill("Width in mm", "85")
    walk.page.get_by_text("Greys", exact=True).first.click()
    walk.clicks += 1
    walk.visitor.settle()
    pdf = walk.download("PDF").path().read_bytes()
    box = re.search(rb"/MediaBox ?\[ ?0 0 ([0-9.]+) ", pdf)
    assert box
    assert float(box[1]) == pytest.approx(85 / 25.4 * 72, abs=0.6)
    table = walk.download("CSV").path().read_text(encoding="utf-8")
    assert {"expression", "k", "version"} <= set(table.splitlines()[0].split(","))
    walk.press("Code")
    code = walk.page.get_by_test_id("stCode").first.inner_text()
    assert "85" in code
    walk.press("Link")
    assert "/Composition?" in walk.text()
    assert walk.clicks <= 12
