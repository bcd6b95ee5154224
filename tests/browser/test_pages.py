"""Every page as a person meets it: links, keyboard, downloads, dark mode, phone, screen reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

from dpcore.app.page import Preset, presets
from tests.browser.visitor import ROOT, Visitor, start_server, stop_server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
FILES = sorted((ROOT / "pages").glob("*.py"), key=lambda file: int(file.stem.split("_", maxsplit=1)[0]))
PAGES = ["", *(file.stem.split("_", maxsplit=1)[1] for file in FILES)]
CHARTS = [page for page in PAGES if page]

UPSTREAM = {
    # finding of axe -> Streamlit issue that tracks it
    "scrollable-region-focusable": "streamlit#8399",
    "region": "streamlit#16149",
}


def violations(visitor: Visitor) -> list[str]:
    """Return what axe finds, less what is Streamlit's own and tracked there."""
    found = Axe().run(visitor.page).response["violations"]
    return [f"{item['id']}: {item['nodes'][0]['html'][:160]}" for item in found if item["id"] not in UPSTREAM]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "Home")
@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, False), (True, True)])
def test_pages_look_right_and_read_right(visit: Visit, page: str, dark: bool, phone: bool) -> None:
    visitor = visit(dark=dark, phone=phone)
    visitor.open(page)
    assert visitor.chart()
    assert visitor.page.get_by_test_id("stException").count() == 0
    visitor.shot(f"{page or 'Home'}_{'dark' if dark else 'light'}_{'phone' if phone else 'wide'}")
    assert violations(visitor) == []
    assert visitor.strangers == []
    wide = visitor.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 1, "the page is wider than the screen"


def test_a_cold_server_answers_a_deep_link(browser: Any) -> None:
    """The very first request of a fresh server goes to a page with state, not to the home page."""
    server, address = start_server()
    try:
        visitor = Visitor(browser.new_context().new_page(), address)
        visitor.open("Privacy_regions?regions=gdp(1.25)")
        assert "gdp(1.25)" in visitor.chart()
        assert visitor.page.get_by_text("Page not found").count() == 0
    finally:
        stop_server(server)


@pytest.mark.parametrize("preset", presets(), ids=lambda p: f"{p.page}-{p.name}")
def test_preset_links_open_their_view(regular: Visit, preset: Preset) -> None:
    visitor = regular()
    visitor.open(f"{preset.page}?{preset.query}")
    if preset.state.get("regions") == "":
        visitor.page.get_by_text("Nothing is drawn yet: add a region").wait_for()
    else:
        assert visitor.chart(settled=False)
    assert visitor.page.get_by_test_id("stException").count() == 0
    assert visitor.page.get_by_test_id("stAlertContentError").count() == 0
    visitor.page.close()


@pytest.mark.parametrize("page", CHARTS)
def test_a_link_restores_the_same_chart_and_table(visit: Visit, page: str) -> None:
    """The last preset of a page, opened in two fresh browsers: same words, same CSV."""
    preset = [preset for preset in presets() if preset.page == page][-1]
    seen = []
    for _ in range(2):
        visitor = visit()
        visitor.open(f"{preset.page}?{preset.query}")
        words = visitor.chart()
        seen.append((words, Path(visitor.download("CSV").path()).read_bytes()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("page", CHARTS)
def test_downloads_open(visit: Visit, tmp_path: Path, page: str) -> None:
    visitor = visit()
    visitor.open(page)
    visitor.chart()
    for label in ("CSV", "JSON", "SVG", "PNG"):
        coming = visitor.download(label)
        file = tmp_path / coming.suggested_filename
        coming.save_as(file)
        if label == "CSV":
            frame = pd.read_csv(file)
            assert len(frame) > 0
            assert all(name == name.lower() for name in frame.columns)
        elif label == "JSON":
            body = json.loads(file.read_text(encoding="utf-8"))
            assert body["spec"]["$schema"]
            assert body["rows"]
        elif label == "SVG":
            assert file.read_text(encoding="utf-8").startswith("<svg")
        else:
            assert file.read_bytes().startswith(b"\x89PNG")


HOSTILE = [
    "regions=%3Cscript%3Ealert(1)%3C/script%3E",
    "regions=dp(1)%5E1000000000000",
    "regions=foo(1)%3B%20dp(1)",
    "regions=" + "A" * 6000,
    "regions=%00%FF%FE;dp(1)",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_links_get_a_page_and_a_sentence(visit: Visit, query: str) -> None:
    visitor = visit()
    dialogs: list[str] = []
    visitor.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    visitor.open(f"Privacy_regions?{query}")
    assert visitor.page.get_by_test_id("stException").count() == 0
    assert visitor.page.get_by_test_id("stAlertContentError").count() >= 1
    assert dialogs == []


def test_the_home_slider_moves_by_keyboard_and_the_link_follows(visit: Visit) -> None:
    visitor = visit()
    visitor.open("")
    before = visitor.chart()
    slider = visitor.page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    visitor.settle()
    visitor.page.wait_for_function("window.location.search.length > 1")
    after = visitor.chart()
    assert after != before
    again = visit()
    again.open(visitor.page.url.removeprefix(f"{visitor.address}/"))
    assert again.chart() == after
