"""Links that are longer than Streamlit reads: the page comes, and says so."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser
MEGABYTE = 1_000_000


def test_a_link_of_a_megabyte_gets_the_page_and_a_sentence(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.open("Privacy_regions?regions=" + "A" * MEGABYTE)
    assert visitor.page.get_by_test_id("stException").count() == 0
    said = visitor.page.get_by_test_id("stAlertContentError").all_inner_texts()
    assert said == ["The link has 1000008 characters; links work up to 8000. The page starts from its defaults."]
    assert "link_length" not in visitor.page.url
    assert "Privacy_regions" in visitor.page.url


@pytest.mark.parametrize("query", ["epsilon=" + "1" * 600_000, "&".join(f"a{i}=1" for i in range(1500))])
def test_every_page_answers_a_link_too_long_to_read(app: str, query: str) -> None:
    with urllib.request.urlopen(f"{app}/Composition?{query}", timeout=30) as answer:
        assert answer.status == 200
        assert answer.url == f"{app}/Composition?link_length={len(query)}"


def test_a_link_that_can_be_read_is_left_alone(app: str) -> None:
    with urllib.request.urlopen(f"{app}/Composition?epsilon={'1' * 60_000}", timeout=30) as answer:
        assert answer.status == 200
        assert "link_length" not in answer.url
