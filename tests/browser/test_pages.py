"""Every page as a person meets it: links, keyboard, downloads, dark mode, phone, screen reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

from dpcore.app.page import Preset, presets
from tests.browser.visitor import CALM, CHART, HEADING, ROOT, Visitor, start_server, stop_server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
FILES = sorted((ROOT / "pages").glob("*.py"), key=lambda file: int(file.stem.split("_", maxsplit=1)[0]))
PAGES = ["", *(file.stem.split("_", maxsplit=1)[1] for file in FILES)]
TEXTS = {"Guide"}  # pages that may open without a chart; every other page opens with one
LAST = {preset.page: preset for preset in presets()}  # of each page, the last preset

UPSTREAM = {
    # finding of axe -> Streamlit issue that tracks it
    "scrollable-region-focusable": "streamlit#8399",
    "region": "streamlit#16149",
}


def violations(visitor: Visitor) -> list[str]:
    """Return what axe finds, less what is Streamlit's own and tracked there."""
    found = Axe().run(visitor.page).response["violations"]
    return [f"{item['id']}: {item['nodes'][0]['html'][:160]}" for item in found if item["id"] not in UPSTREAM]


def looks_right_and_reads_right(visitor: Visitor, page: str, look: str) -> None:
    if page in TEXTS:
        visitor.settle(calm=2 * CALM)
    else:
        assert visitor.chart()
    assert visitor.page.get_by_test_id("stException").count() == 0
    visitor.shot(f"{page or 'Home'}_{look}")
    assert violations(visitor) == [], look
    assert visitor.strangers == []
    wide = visitor.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 1, f"{look}: the page is wider than the screen"


def downloads_open(visitor: Visitor, folder: Path) -> None:
    """All four downloads of the first figure are what their names say."""
    for label in ("CSV", "JSON", "SVG", "PNG"):
        coming = visitor.download(label)
        file = folder / coming.suggested_filename
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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "Home")
def test_by_day_pages_look_right_and_read_right_and_their_downloads_open(
    visit: Visit, page: str, tmp_path: Path
) -> None:
    visitor = visit()
    visitor.open(page)
    looks_right_and_reads_right(visitor, page, "light_wide")
    if page not in TEXTS:
        downloads_open(visitor, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "Home")
def test_by_night_and_on_a_phone_pages_look_right_and_read_right(visit: Visit, page: str) -> None:
    visitor = visit(dark=True)
    visitor.open(page)
    looks_right_and_reads_right(visitor, page, "dark_wide")
    visitor.resize(390, 844)
    looks_right_and_reads_right(visitor, page, "dark_phone")


def opens(visitor: Visitor, preset: Preset) -> None:
    """Open a preset's link: it shows its view, and nothing is wrong with it."""
    draws = preset.page not in TEXTS and preset.state.get("regions") != ""
    visitor.open(f"{preset.page}?{preset.query}", shows=CHART if draws else HEADING)
    if draws:
        assert visitor.words()
    elif preset.page not in TEXTS:
        visitor.page.get_by_text("Nothing is drawn yet: add a region").wait_for()
    assert visitor.page.get_by_test_id("stException").count() == 0
    assert visitor.page.get_by_test_id("stAlertContentError").count() == 0


@pytest.mark.parametrize(
    "preset", [preset for preset in presets() if preset is not LAST[preset.page]], ids=lambda p: f"{p.page}-{p.name}"
)
def test_preset_links_open_their_view(visit: Visit, preset: Preset) -> None:
    """The last preset of each page is opened below."""
    opens(visit(), preset)


def seen(visitor: Visitor, page: str) -> tuple[str, bytes]:
    """Return what a page says and gives to take away: the words and the CSV of its first chart, or the text of the page."""
    if page in TEXTS:
        visitor.settle(calm=2 * CALM)
        return visitor.page.get_by_test_id("stMain").inner_text(), b""
    return visitor.chart(), Path(visitor.download("CSV").path()).read_bytes()


@pytest.fixture
def cold() -> Iterator[str]:
    """Start a server that nobody has asked anything yet; give its address."""
    server, address = start_server()
    yield address
    stop_server(server)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "Home")
def test_a_cold_server_answers_a_deep_link_and_a_new_browser_sees_the_same(
    cold: str, newcomer: Visit, page: str
) -> None:
    """The very first request goes to a page with state; a second fresh browser gets the same words and the same CSV."""
    preset = LAST.get(page) or Preset("", page, "", "", state={} if page else {"eps": 0.5, "t": 42.3})
    first, second = newcomer(cold), newcomer(cold)
    opens(first, preset)
    assert first.page.get_by_text("Page not found").count() == 0
    opens(second, preset)
    assert seen(first, page) == seen(second, page)


def test_a_cold_server_answers_a_deep_link_that_no_preset_has(cold: str, newcomer: Visit) -> None:
    visitor = newcomer(cold)
    visitor.open("Privacy_regions?regions=gdp(1.25)")
    assert "gdp(1.25)" in visitor.chart()
    assert visitor.page.get_by_text("Page not found").count() == 0


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


def test_the_home_slider_moves_by_keyboard_and_the_link_follows(visit: Visit, newcomer: Visit) -> None:
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
    again = newcomer()
    again.open(visitor.page.url.removeprefix(f"{visitor.address}/"))
    assert again.chart() == after
