"""A link restores the view it was copied from, whatever was shown and hidden on the way there."""

from __future__ import annotations

import random
import urllib.parse
from typing import TYPE_CHECKING

import pytest

from tests.app.visits import Page
from tests.browser import walk
from tests.browser.visitor import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]

FILES = ["streamlit_app.py", *(f"pages/{file.name}" for file in sorted((ROOT / "pages").glob("*.py")))]
SEED = 2  # with it the walk on Composition meets a slider that disappears
STEPS = 4


def linked(file: str) -> list[str]:
    """Return the keys that a page's link carries, with the sliders and menus that write them."""
    app = Page(file, "").made().run()
    keys = app.session_state["_linked"][app.session_state["_page"]]
    return [name for key in keys for name in (key, f"{key}_slider", f"{key}_menu")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.rpartition("/")[2].removesuffix(".py"))
def test_a_link_opens_the_view_it_was_copied_from(visit: Callable[..., Visitor], file: str) -> None:
    name = file.rpartition("/")[2].removesuffix(".py")
    path = name.partition("_")[2] if file.startswith("pages/") else ""
    visitor = visit()
    visitor.page.set_viewport_size(walk.ALL)
    visitor.open(path)
    done = walk.steps(visitor, linked(file), random.Random(SEED), STEPS)
    opens_as_it_was(visitor, done)


@pytest.mark.parametrize(
    ("path", "moves"),
    [
        ("Composition", [("mechanism", "laplace(0.1)"), ("k", "30"), ("view", "profile")]),
        ("Choose_your_noise", [("choose_wish", "error"), ("choose_k", "5")]),
    ],
)
def test_a_widget_that_disappears_takes_nothing_from_the_link(
    visit: Callable[..., Visitor], path: str, moves: list[tuple[str, str]]
) -> None:
    visitor = visit()
    visitor.page.set_viewport_size(walk.ALL)
    visitor.open(path)
    for key, value in moves:
        walk.put(visitor, key, value)
    link, address = (urllib.parse.parse_qs(text.partition("?")[2]) for text in (walk.link(visitor), visitor.page.url))
    assert address == {key: [value] for key, value in moves}
    assert link.items() >= address.items()
    assert len(link) > len(address)  # the link to copy has the defaults too, which another version may change
    opens_as_it_was(visitor, moves)


def opens_as_it_was(visitor: Visitor, done: object) -> None:
    """Copy the link, open it as somebody else, and compare all that is said, listed and typed."""
    before, address = walk.seen(visitor), walk.link(visitor)
    visitor.page.goto("about:blank")
    visitor.page.goto(address)
    assert not walk.parting(visitor, before), (done, address)
