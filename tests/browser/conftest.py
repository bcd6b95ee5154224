"""A real server and a real Chromium for the browser tests."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.visitor import Visitor, start_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """Run the app and give its address."""
    server, address = start_server()
    yield address
    stop_server(server)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("The browser tests need Chromium (on Debian: apt-get install chromium).")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=quiet)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def regular(app: str, browser: Browser) -> Iterator[Callable[[], Visitor]]:
    """Give visitors who were here before: the browser has the scripts already, the app knows nothing of them."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield lambda: Visitor(context.new_page(), app)
    context.close()


@pytest.fixture
def visit(app: str, browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Give a maker of visitors: ``visit(dark=True, phone=True)``."""
    contexts = []

    def make(*, dark: bool = False, phone: bool = False) -> Visitor:
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 900},
            accept_downloads=True,
        )
        contexts.append(context)
        return Visitor(context.new_page(), app)

    yield make
    for context in contexts:
        context.close()
