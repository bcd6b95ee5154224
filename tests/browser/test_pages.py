"""Every page as a person meets it: links, keyboard, downloads, dark mode, phone, screen reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

from dpcore.app.page import Preset, presets
from tests.app.visits import alts, page_of
from tests.browser.visitor import CALM, CHART, HEADING, PHONE, ROOT, WIDE, Visitor, free_port, start_server, stop_server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
FILES = sorted((ROOT / "pages").glob("*.py"), key=lambda file: int(file.stem.split("_", maxsplit=1)[0]))
PAGES = ["", *(file.stem.split("_", maxsplit=1)[1] for file in FILES)]
TEXTS = {"Guide"}  # pages that may open without a chart; every other page opens with one
LAST = {preset.page: preset for preset in presets()}  # of each page, the last preset

TOO_WIDE = """[document.documentElement, document.querySelector("[data-testid='stMain']")]
  .map(part => part.scrollWidth - Math.min(part.clientWidth, window.innerWidth)).reduce((a, b) => Math.max(a, b))"""

UPSTREAM = {
    # finding of axe -> Streamlit issue that tracks it
    "scrollable-region-focusable": "streamlit#8399",
    "region": "streamlit#16149",
}


def violations(visitor: Visitor) -> list[str]:
    """Return what axe finds, less what is Streamlit's own and tracked there."""
    if not visitor.page.evaluate("'axe' in window"):
        visitor.page.evaluate(Axe().axe_script)
    found = visitor.page.evaluate("axe.run({resultTypes: ['violations']}).then(seen => seen.violations)")
    return [f"{item['id']}: {item['nodes'][0]['html'][:160]}" for item in found if item["id"] not in UPSTREAM]


def looks_right_and_reads_right(visitor: Visitor, page: str, look: str) -> None:
    visitor.ground(dark=look.startswith("dark"))
    visitor.settle(HEADING if page in TEXTS else CHART, calm=2 * CALM)
    if page not in TEXTS:
        assert visitor.words()
    assert visitor.page.get_by_test_id("stException").count() == 0
    visitor.shot(f"{page or 'Home'}_{look}")
    assert violations(visitor) == [], look
    assert visitor.strangers == []
    assert visitor.page.evaluate(TOO_WIDE) <= 1, f"{look}: the page is wider than the screen"


def downloads_open(visitor: Visitor, folder: Path) -> None:
    """All downloads of the first figure are what their names say."""
    for label in ("CSV", "JSON", "SVG", "PDF", "PNG"):
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
        elif label == "PDF":
            assert file.read_bytes().startswith(b"%PDF")
        else:
            assert file.read_bytes().startswith(b"\x89PNG")


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
    assert visitor.strangers == []


@pytest.mark.long
@pytest.mark.parametrize(
    "preset", [preset for preset in presets() if preset is not LAST[preset.page]], ids=lambda p: f"{p.page}-{p.name}"
)
def test_preset_links_open_their_view(visit: Visit, preset: Preset) -> None:
    """The chart says what the page says of it when a test runs it; the last preset of each page is opened below."""
    visitor = visit()
    opens(visitor, preset)
    said = alts(page_of(preset).opened(**preset.state))
    if said:
        assert visitor.words() == said[0]


def seen(visitor: Visitor, page: str) -> tuple[str, bytes]:
    """Return what a page says and gives to take away: the words and the CSV of its first chart, or the text of the page."""
    if page in TEXTS:
        visitor.settle(calm=2 * CALM)
        return visitor.page.get_by_test_id("stMain").inner_text(), b""
    return visitor.chart(), Path(visitor.download("CSV").path()).read_bytes()


@pytest.fixture(scope="session")
def port() -> int:
    """Give the port of the cold servers, one after the other: a browser that met one has read the scripts of all."""
    return free_port()


@pytest.fixture
def cold(port: int) -> Iterator[str]:
    """Start a server that nobody has asked anything yet; give its address."""
    server, address = start_server(port)
    yield address
    stop_server(server)


def chooses(visitor: Visitor, preset: Preset) -> None:
    """Choose a preset as a reader of the page does; Home has none, there another link is opened."""
    if not preset.name:
        return opens(visitor, preset)
    visitor.page.get_by_role("button", name="Examples").click()
    visitor.page.locator(f".st-key-preset_{preset.name}").get_by_role("button").click()
    visitor.page.keyboard.press("Escape")  # the menu closes
    visitor.page.wait_for_function("() => window.location.search.length > 1")
    return visitor.settle(HEADING if preset.page in TEXTS else CHART, calm=2 * CALM)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "Home")
def test_a_cold_server_answers_a_deep_link_and_the_next_visitor_sees_all_of_the_page(
    cold: str, visit: Visit, page: str, tmp_path: Path
) -> None:
    """The very first request goes to a page with state.

    The next visitor opens the page itself by night, goes on on a phone and by day, takes the downloads, and by choosing
    that state comes to the same words and the same CSV.
    """
    preset = LAST.get(page) or Preset("", page, "", "", state={"eps": 0.5, "t": 42.3})
    first = visit(cold)
    opens(first, preset)
    assert first.page.get_by_text("Page not found").count() == 0
    by_link = seen(first, page)
    second = visit(cold, dark=True)
    second.open(page)
    looks_right_and_reads_right(second, page, "dark_wide")
    second.page.set_viewport_size(PHONE)
    looks_right_and_reads_right(second, page, "dark_phone")
    second.page.set_viewport_size(WIDE)
    second.wear(dark=False)
    looks_right_and_reads_right(second, page, "light_wide")
    if page not in TEXTS:
        downloads_open(second, tmp_path)
    chooses(second, preset)
    assert seen(second, page) == by_link


def test_a_cold_server_answers_a_deep_link_that_no_preset_has(cold: str, newcomer: Visit) -> None:
    visitor = newcomer(cold)
    visitor.open("Privacy_regions?regions=gdp(1.25)")
    assert "Gaussian DP, μ = 1.25" in visitor.chart()
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
    visitor.open(f"Privacy_regions?{query}")
    assert visitor.page.get_by_test_id("stException").count() == 0
    assert visitor.page.get_by_test_id("stAlertContentError").count() >= 1
    assert visitor.dialogs == []


def test_the_home_slider_moves_by_keyboard_and_the_link_follows(visit: Visit, newcomer: Visit) -> None:
    visitor = visit()
    visitor.open("")
    before = visitor.chart()
    slider = visitor.page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    visitor.settle()
    visitor.page.wait_for_function("() => window.location.search.length > 1")
    after = visitor.chart()
    assert after != before
    again = newcomer()
    again.open(visitor.page.url.removeprefix(f"{visitor.address}/"))
    assert again.chart() == after
