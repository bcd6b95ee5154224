"""A visitor who changes a page at random, as fields, menus and sliders allow: for the test of links."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.browser.visitor import HEADING, PATIENCE

if TYPE_CHECKING:
    from random import Random

    from playwright.sync_api import ViewportSize

    from tests.browser.visitor import Visitor

TRIES = 12
BRIEF = 250  # ms without a change after a step; the end of a walk waits longer
EXPRESSIONS = {
    # fields that hold no number: what is typed there
    "mechanism": ("laplace(0.1)", "gaussian(2)", ""),
    "regions": ("dp(0.5); gdp(1)", "a := laplace(1); !tv(0.2)"),
    "expression": ("gaussian(2)", "rr(1, 5)"),
    "lim_mechanism": ("dp(0.1)", "laplace(0.2)"),
    "sub_base": ("laplace(0.5)", "dp(1, 0.01)"),
    "claimed_mechanism": ("laplace(0.5)", "gaussian(2)"),
    "cons_list": ("0.5, 0.01; 0, 0.1", "dp(0.4, 0.1)"),
    "local_p0": ("0.2, 0.3, 0.5",),
    "local_p1": ("0.6, 0.2, 0.2",),
    "local_names": ("a, b, c",),
    "audit_claim": ("dp(2)", "gdp(1)"),
}
# all that is said and listed: the texts, what screen readers hear of charts, the cells of tables, what fields hold
_SEEN = """() => {
  const main = document.querySelector("[data-testid='stMain']");
  const list = (selector, value) => [...main.querySelectorAll(selector)].map(value);
  const text = main.cloneNode(true);
  text.querySelectorAll("svg, canvas, style").forEach(part => part.remove());
  const cells = [];
  list("canvas", (canvas, table) => canvas.querySelectorAll("td").forEach(cell => cells.push([
    [table, cell.parentNode.ariaRowIndex, cell.ariaColIndex].join(" "), cell.textContent])));
  return [[
    text.textContent,
    ...list("[data-testid='stVegaLiteChart']", part => part.getAttribute("aria-label")),
    ...list("canvas table", part => part.ariaRowCount + " rows, " + part.ariaColCount + " columns"),
    ...list("input, textarea", part => part.type === "checkbox" ? part.checked : part.value),
  ].map(String), Object.fromEntries(cells)];
}"""
ALL: ViewportSize = {"width": 1900, "height": 6000}  # a table lists the cells that can be seen


def steps(visitor: Visitor, keys: list[str], random: Random, count: int) -> list[str]:
    """Change `count` of the widgets that the page shows at each moment; return what was done.

    Those that decide what is shown take turns with those that hold a number.
    """
    done = []
    for step in range(count):
        shown = [key for key in keys if _usable(visitor, key)]
        turn = [key for key in shown if _decides(visitor, key) == (step % 2 == 0)]
        done.append(_change(visitor, random.choice(turn or shown), random))
        visitor.settle(HEADING, BRIEF)
    return done


def _decides(visitor: Visitor, key: str) -> bool:
    """Whether a widget is a menu, a choice or a field for an expression."""
    choices = "[data-testid='stSelectbox'], [data-testid='stButtonGroup'], input[type=radio]"
    return key in EXPRESSIONS or visitor.page.locator(f".st-key-{key}").locator(choices).count() > 0


def put(visitor: Visitor, key: str, value: str) -> None:
    """Type a text into a field, or choose an option by its name."""
    place = visitor.page.locator(f".st-key-{key}")
    # The frame of a widget is drawn before the widget, which may still be loading its script.
    place.locator("[data-testid='stButtonGroup'], input, textarea").first.wait_for(timeout=PATIENCE)
    if place.get_by_test_id("stButtonGroup").count():
        place.get_by_text(value, exact=True).click()
    else:
        place.locator("input").fill(value)
        visitor.page.keyboard.press("Enter")
    for _ in range(TRIES):  # a busy server may begin only after the page was quiet for a moment
        visitor.settle(HEADING, BRIEF)
        if value in parse_qs(urlsplit(visitor.page.url).query).get(key, []):
            break


def _usable(visitor: Visitor, key: str) -> bool:
    """Whether the widget of a key is there to be used."""
    place = visitor.page.locator(f".st-key-{key}")
    return place.count() == 1 and place.is_visible() and not place.locator(":disabled, [aria-disabled=true]").count()


def _change(visitor: Visitor, key: str, random: Random) -> str:
    """Change one widget as a visitor does, and say how."""
    place = visitor.page.locator(f".st-key-{key}")
    keyboard = visitor.page.keyboard
    if place.locator("input[type=range]").count():
        move = random.choice(["ArrowLeft", "ArrowRight"])
        place.locator("input[type=range]").first.focus()
        keyboard.press(move)
    elif place.get_by_test_id("stSelectbox").count():
        place.locator("input").click()
        options = visitor.page.get_by_role("option")
        options.first.wait_for()
        move = str(random.randrange(min(options.count(), 6)))
        options.nth(int(move)).click()
    elif place.get_by_test_id("stButtonGroup").count():
        buttons = place.get_by_test_id("stButtonGroup").locator("[role=radio], [aria-pressed], [aria-checked]")
        move = str(random.randrange(buttons.count()))
        buttons.nth(int(move)).click()
    elif place.locator("input[type=checkbox], input[type=radio]").count():
        labels = place.locator("label:has(input)")
        move = str(random.randrange(labels.count()))
        labels.nth(int(move)).click()
    else:
        field = place.locator("input, textarea").first
        move = _text(key, field.input_value(), random)
        field.fill(move)
        keyboard.press("Control+Enter" if place.locator("textarea").count() else "Enter")
    return f"{key}: {move}"


def _text(key: str, old: str, random: Random) -> str:
    """Return what is typed into a field: another number, or another expression."""
    if key in EXPRESSIONS:
        return random.choice(EXPRESSIONS[key])
    try:
        value = float(old)
    except ValueError:
        return old
    return f"{value * random.choice([0.5, 2, 3]) if value != int(value) else int(value) * random.choice([2, 3]):g}"


@dataclass(frozen=True)
class Reading:
    """What a page says and what its fields hold, and the cells of its tables by their place."""

    texts: list[str]
    cells: dict[str, str]

    def parting(self, other: Reading) -> str:
        """Say where another reading parts from this one; of a table, the cells that both saw are compared."""
        for one, two in zip_longest(self.texts, other.texts, fillvalue=""):
            if one != two:
                both = enumerate(zip(one, two, strict=False))
                at = next((place for place, (a, b) in both if a != b), min(len(one), len(two)))
                return f"{one[max(0, at - 80) : at + 80]!r} is not {two[max(0, at - 80) : at + 80]!r}"
        cells = [place for place in self.cells if other.cells.get(place, self.cells[place]) != self.cells[place]]
        if self.cells and not self.cells.keys() & other.cells.keys():
            return "no cell of any table is seen twice"
        return f"cells {cells} differ" if cells else ""


def seen(visitor: Visitor) -> Reading:
    """Read a page."""
    visitor.page.mouse.move(1, 1)  # what lies under the pointer may look different
    visitor.settle(HEADING)
    texts, cells = visitor.page.evaluate(_SEEN)
    return Reading(texts, cells)


def parting(visitor: Visitor, before: Reading) -> str:
    """Say where a page parts from a former reading; its last parts may come late, so it is read again for a while."""
    words = ""
    for _ in range(TRIES):
        words = before.parting(seen(visitor))
        if not words:
            break
    return words


def link(visitor: Visitor) -> str:
    """Return the link that the page offers to be copied, or its address where it offers none."""
    groups = visitor.page.get_by_test_id("stButtonGroup")
    if not groups.get_by_role("button", name="Link").count():
        return visitor.page.url
    visitor.panel("Link")
    codes = visitor.page.get_by_test_id("stCode").all_inner_texts()
    visitor.panel("Link")
    return next((text.strip() for text in codes if text.startswith("http")), visitor.page.url)
