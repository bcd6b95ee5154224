"""A real server and visitors for the browser tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import WIDE, Visitor, start_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """Run the app and give its address."""
    server, address = start_server()
    yield address
    stop_server(server)


def new_context(browser: Browser, *, dark: bool = False) -> BrowserContext:
    """Return a browser that was never here: no cache, no cookies; still pictures, which cost less to show."""
    return browser.new_context(
        color_scheme="dark" if dark else "light", viewport=WIDE, reduced_motion="reduce", accept_downloads=True
    )


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Iterator[Callable[[bool], BrowserContext]]:
    """Give the one context of each colour scheme that the visits of a session share, with its cache of scripts."""
    made: dict[bool, BrowserContext] = {}
    yield lambda dark: made.setdefault(dark, made.get(dark) or new_context(browser, dark=dark))
    for context in made.values():
        context.close()


@pytest.fixture
def visit(app: str, contexts: Callable[[bool], BrowserContext]) -> Iterator[Callable[..., Visitor]]:
    """Give a maker of visitors, ``visit(dark=True)``: the browser has the scripts already, the app knows none of them."""
    tabs = []

    def make(*, dark: bool = False) -> Visitor:
        tabs.append(contexts(dark).new_page())
        return Visitor(tabs[-1], app)

    yield make
    for tab in tabs:
        tab.close()


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
