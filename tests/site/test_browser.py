"""dpcore's own site in a real Chromium, from a folder and without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# one page of every kind, whole; of a long one, a part is looked at that holds everything that repeats
SAMPLE = {
    "index.html": "main",
    "guide/what_does_1_1e5_mean.html": "",
    "guide/theorems.html": "article > :nth-child(-n+8)",
    "gallery/composition.html": "",
    "errata.html": "article > :nth-child(-n+3)",
    "errata/variation.html": "article > :nth-child(-n+12)",
    "404.html": "",
    "reference/mechanisms.html": "article > :nth-child(-n+4)",
    "reference/command_line.html": "article > :nth-child(-n+12)",
    "reference/dpcore_frames.html": "",
}
_DONE = """() => {
  const near = [...document.querySelectorAll("[data-figure]")].filter(p => p.getBoundingClientRect().top < innerHeight);
  const wide = [...document.querySelectorAll(".formula")].filter(f => f.scrollWidth > f.clientWidth + 1);
  const reached = wide.every(f => f.tabIndex === 0);  // soon after the page is shown
  return document.readyState === "complete" && reached && near.every(p => p.classList.contains("shown"));
}"""


class Visit:
    """One page as a visitor sees it, with all that went wrong."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder, self.trouble = page, folder, list[str]()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: self.trouble.append(message.text))
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("requestfailed", lambda request: self.trouble.append(f"failed: {request.url}"))
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        if not url.startswith((self.folder.as_uri(), "data:")):
            self.trouble.append(f"a request left the folder: {url}")

    def open(self, path: str) -> Page:
        self.page.goto((self.folder / path).as_uri())
        self.page.mouse.move(2, 2)
        self.page.wait_for_function(_DONE, polling=100)
        return self.page


Visitor = Callable[..., Visit]


@pytest.fixture
def visit(site: Path, browser: Browser) -> Iterator[Visitor]:
    contexts = []

    def make(*, dark: bool = False, phone: bool = False, folder: Path = site, scripts: bool = True) -> Visit:
        context = browser.new_context(
            offline=True,
            color_scheme="dark" if dark else "light",
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 900},
            java_script_enabled=scripts,
        )
        contexts.append(context)
        return Visit(context.new_page(), folder)

    yield make
    for context in contexts:
        context.close()


@pytest.mark.long
@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, True)], ids=["light, wide", "dark, phone"])
def test_pages_open_without_network_and_read_right(visit: Visitor, dark: bool, phone: bool) -> None:
    visitor = visit(dark=dark, phone=phone)
    found = []
    for path, part in SAMPLE.items():
        page = visitor.open(path)
        seen = Axe().run(page, context=part or None, options={"preload": False}).response["violations"]
        found += [f"{path}: {v['id']}: {v['nodes'][0]['html'][:120]}" for v in seen]
        if page.evaluate("document.documentElement.scrollWidth - window.innerWidth") > 0:
            found.append(f"{path}: wider than the screen")
    assert found == []
    assert visitor.trouble == []


def test_formulas_are_set_in_the_font_of_the_site(visit: Visitor) -> None:
    page = visit().open("guide/theorems.html")
    page.evaluate("document.fonts.ready")
    assert page.evaluate("[...document.fonts].filter(f => f.status === 'loaded').length") == 1
    tall = page.evaluate(
        "Math.max(...[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height))"
    )
    assert tall > 30, "a fraction is higher than a line"


def test_sliders_answer_the_keyboard(visit: Visitor) -> None:
    visitor = visit()
    page = visitor.open("index.html")
    slider = page.get_by_role("slider", name="ε").first
    words = page.locator("[data-figure='home-first-look'] .live svg text", has_text="of 100: (ε, δ)-DP")
    before = words.text_content()
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("old => !document.body.textContent.includes(old)", arg=before)
    assert float(slider.input_value()) == pytest.approx(1.5)
    # delta = 0.01, epsilon = 1.5: 1 - max(0, 0.99 - 0.05 e^1.5) = 0.2341, rounded up
    assert words.text_content() == "23.5 of 100: (ε, δ)-DP"
    assert visitor.trouble == []


def test_a_page_is_whole_without_scripts_and_on_paper(visit: Visitor) -> None:
    page = visit(scripts=False).page
    page.goto((visit().folder / "index.html").as_uri())
    picture = page.locator("[data-figure='home-first-look'] img.still")
    picture.wait_for()
    assert page.get_by_role("img", name="An attacker who wrongly accuses").first.is_visible()
    live = visit(dark=True).open("index.html")
    still = live.locator("[data-figure='home-first-look'] img.still")
    assert not still.is_visible()
    live.emulate_media(media="print")
    assert still.is_visible()
    assert not live.locator("[data-figure='home-first-look'] .live").is_visible()


def test_dark_pictures_are_dark(visit: Visitor) -> None:
    page = visit(dark=True).open("index.html")
    drawn = page.locator("[data-figure='home-first-look'] .live svg")
    colours = drawn.evaluate("s => [...s.querySelectorAll('[stroke]')].map(e => e.getAttribute('stroke'))")
    assert "#56B4E9" in colours
    assert "#0072B2" not in colours


def test_a_newcomer_gets_to_the_three_answers_by_one_click(visit: Visitor) -> None:
    page = visit().open("index.html")
    page.get_by_role("link", name="What does (1, 1e-5) mean?").first.click()
    page.get_by_role("heading", level=1, name="What does (1, 1e-5) mean?").wait_for()
    page.go_back()
    page.get_by_role("link", name="The proof that question 4.1 of the thesis is solved").click()
    page.get_by_role("heading", level=1).wait_for()
    assert "4.1" in (page.get_by_role("main").text_content() or "")
    page.go_back()
    assert page.get_by_role("link", name="CSV of A hundred answers of ε = 0.1").is_visible()


# what a newcomer asks for, what they type, and where it is
SEARCHES = {
    "what does (1, 1e-5) mean": "guide/what_does_1_1e5_mean.html",
    "epsilon of a training run": "guide/tutorial_training.html",
    "100-fold composition csv": "index.html#home-hundred-answers",
    "renyi divergences": "guide/course_renyi.html",
    "hundred answers csv": "index.html#home-hundred-answers",
    "question 4.1 proof": "guide/the_two_solved_questions.html",
    "read ledger": "reference/dpcore_ledger.html#read_ledger",
    "read ledger function": "reference/dpcore_ledger.html#read_ledger",
    "errata theorem 29": "errata/thesis.html#variation-composition",
    "corollary 4 group privacy": "errata/thesis.html#group-privacy",
    "dptv": "reference/guarantees.html#dptv",
    "ε": "",
}


def test_a_newcomer_finds_things_by_one_search(visit: Visitor) -> None:
    visitor = visit()
    page = visitor.open("index.html")
    missed = {}
    for text, place in SEARCHES.items():
        page.get_by_role("combobox", name="Search these pages").fill(text)
        page.wait_for_function("() => !document.getElementById('results').hidden")
        page.wait_for_timeout(50)
        found = page.locator("#results a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        if not found or (place and not any(one == place or one.startswith(f"{place}#") for one in found[:12])):
            missed[text] = found[:6]
    assert missed == {}
    assert visitor.trouble == []


def test_a_search_leads_to_a_section_by_keyboard(visit: Visitor) -> None:
    visitor = visit(phone=True)
    page = visitor.open("guide/faq.html")
    page.keyboard.press("/")
    page.keyboard.type("dptv")
    page.locator("#results a").first.wait_for()
    box = page.locator("#results").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.keyboard.press("ArrowDown")
    assert "dptv" in (page.evaluate("document.activeElement.textContent") or "")
    page.keyboard.press("Enter")
    page.wait_for_url("**dptv**")
    assert visitor.trouble == []


def test_the_errata_can_be_filtered_and_code_copied(visit: Visitor) -> None:
    page = visit().open("errata.html")
    everything = page.locator("#rows tbody tr").count()
    page.get_by_label("Kind").select_option("false")
    shown = page.locator("#rows tbody tr:visible").count()
    assert 0 < shown < everything
    assert page.get_by_text(f"{shown} of {everything} rows").is_visible()
    text = visit().open("guide/four_views.html")
    heading = text.locator("article h2[id] a.permalink").first
    assert heading.get_attribute("href", timeout=5000).startswith("#")
    names = [one.get_attribute("aria-label") for one in text.get_by_role("button", name="Copy code block").all()]
    assert len(names) == len(set(names)) > 0  # those under closed figures are not reached yet
    text.locator("article .code:not(details *) code.language-python").first.scroll_into_view_if_needed()
    text.locator("pre .code-keyword").first.wait_for()
