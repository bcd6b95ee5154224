"""A real server and visitors for the browser tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import WIDE, Visitor, start_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """Run the app and give its address."""
    server, address = start_server()
    yield address
    stop_server(server)


def new_context(browser: Browser) -> BrowserContext:
    """Return a browser that was never here: no cache, no cookies; still pictures, which cost less to show."""
    return browser.new_context(viewport=WIDE, reduced_motion="reduce", accept_downloads=True)


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Page]:
    """Give the one tab that the visits of a session share: its browser has read the app's scripts already."""
    context = new_context(browser)
    yield context.new_page()
    context.close()


@pytest.fixture
def visit(app: str, tab: Page) -> Iterator[Callable[..., Visitor]]:
    """Give a maker of visitors, ``visit(dark=True)`` or ``visit(address)``, whom the app does not know.

    They come one after the other, in the same tab: the next one ends the visit before.
    """
    made: list[Visitor] = []

    def leave() -> None:
        while made:
            made.pop().leave()

    def make(address: str = app, *, dark: bool = False) -> Visitor:
        leave()
        made.append(Visitor(tab, address))
        made[0].wear(dark=dark)
        made[0].page.set_viewport_size(WIDE)
        return made[0]

    yield make
    leave()


@pytest.fixture
def newcomer(app: str, browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Give a maker of visitors with a new browser each, here or at another address: ``newcomer(address)``."""
    made = []

    def make(address: str = app) -> Visitor:
        made.append(new_context(browser))
        return Visitor(made[-1].new_page(), address)

    yield make
    for context in made:
        context.close()
