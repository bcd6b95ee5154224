"""What all tests share: one browser a worker, and how examples are drawn: hypothesis explores, and says how to repeat."""

from __future__ import annotations

import os
import shutil
from itertools import chain, groupby
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The same browser without its own windows and menus first: they take more time than the pages."""

# A failure prints the line that repeats it; what was found is kept in the test as an @example.
settings.register_profile("exploring", max_examples=60, deadline=None, print_blob=True)
# A landing is judged by what it changes, not by what luck finds: there the examples are the same every time.
settings.register_profile("landing", settings.get_profile("exploring"), derandomize=True)
settings.load_profile("landing" if os.environ.get("CI") else "exploring")


def browser_path() -> str | None:
    """Return where the browser is; None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright, which cannot be started twice in one process."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    if path is None:
        pytest.fail("The browser tests need Chromium (on Debian: apt-get install chromium).")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=quiet)
        yield chromium
        chromium.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the app in a browser, which takes longest, between the other files, so that all workers end together.

    Each worker begins with a part of all tests, in order; in each part those that visit a whole page, the last of
    their file, come first.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))
    found = [item for item in items if item.path.parent.name == "browser"]
    slow = [item for worker in range(workers) for item in found[::-1][worker::workers]]
    if not slow:
        return
    others = [item for item in items if item.path.parent.name != "browser"]
    files = [list(file) for _, file in groupby(others, lambda item: item.path)]
    places = [round((number + 0.5) * len(files) / len(slow)) for number in range(len(slow))]
    for place, item in zip(reversed(places), reversed(slow), strict=True):
        files.insert(place, [item])
    items[:] = chain.from_iterable(files)
