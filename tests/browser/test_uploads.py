"""Uploads: what the page promises is what the server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore.app.uploads import MEGABYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


def test_a_file_below_the_promised_size_reaches_our_reader(visit: Callable[..., Visitor]) -> None:
    """Seven megabytes are more than the server took before; the reader refuses them for what they are."""
    visitor = visit()
    visitor.open("Ledger")
    visitor.page.get_by_role("button", name="Open a file").click()
    uploader = visitor.page.get_by_test_id("stFileUploader").first
    assert f"{MEGABYTES}MB" in uploader.inner_text().replace(" ", "")
    data = b"wrong,names\n" + b"a,b\n" * 1_750_000
    visitor.page.locator("input[type=file]").first.set_input_files(
        {"name": "large.csv", "mimeType": "text/csv", "buffer": data}
    )
    visitor.page.get_by_text("The first line must name the columns").first.wait_for()
    assert "413" not in uploader.inner_text()
