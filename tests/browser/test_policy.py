"""Every page under the server's own policy: nothing is refused, nothing goes wrong unseen, nothing comes from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_pages import PAGES, TEXTS
from tests.browser.visitor import CHART, HEADING

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import ConsoleMessage, Error

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]

# Streamlit looks for the base of its address by asking below the page first, and gets a 404 there
_ITS_OWN = re.compile(r"/[A-Za-z_]+/_stcore/(health|host-config)$")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page or "Home")
def test_nothing_goes_wrong_under_the_policy(visit: Callable[..., Visitor], page: str, dark: bool) -> None:
    visitor = visit(dark=dark)
    wrong: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and not _ITS_OWN.search(message.location["url"]):
            wrong.append(f"{message.text} at {message.location['url']}")

    def fail(error: Error) -> None:
        wrong.append(str(error))

    visitor.page.on("console", hear)
    visitor.page.on("pageerror", fail)
    try:
        visitor.open(page, shows=HEADING if page in TEXTS else CHART)
        visitor.ground(dark=dark)
        buttons = visitor.page.get_by_test_id("stDownloadButton")
        if page not in TEXTS:
            assert Path(visitor.download("SVG" if dark else "CSV").path()).stat().st_size > 100
        elif buttons.count():
            with visitor.page.expect_download() as coming:
                buttons.first.get_by_role("button").click()
            assert Path(coming.value.path()).stat().st_size > 0
        assert wrong == []
        assert visitor.violations == []
        assert visitor.strangers == []
    finally:
        visitor.page.remove_listener("console", hear)
        visitor.page.remove_listener("pageerror", fail)
