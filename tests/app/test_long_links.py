"""A link that could not be read for its length: its page says so, once and nowhere else."""

from __future__ import annotations

import pytest

from tests.app import visits

PAGE = visits.Page("pages/14_Guide.py", "Guide")
SENTENCE = "The link has 1000008 characters; links work up to 8000. The page starts from its defaults."


def test_the_page_names_the_length_and_keeps_the_address_clean() -> None:
    app = PAGE.opened(link_length="1000008")
    assert visits.errors(app) == SENTENCE
    assert "link_length" not in app.query_params
    assert visits.errors(PAGE.ran(app)) == SENTENCE


@pytest.mark.parametrize("value", ["abc", "-1", "", "1e5", "<script>", "9" * 40])
def test_a_length_that_is_none_is_left_out(value: str) -> None:
    app = PAGE.opened(link_length=value)
    assert not app.error
    assert "link_length" not in app.query_params
