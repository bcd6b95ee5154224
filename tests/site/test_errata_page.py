"""The page of errata on the static site: what each row is called, and where a false statement fails."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from dpcore.labs import errata
from dpcore.site import build_site

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """title = "Errata only"
lead = "One page."

[[section]]
name = "errata"
title = "Errata"
summary = "Where the sources are wrong."
kind = "errata"
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("errata")
    (folder / "site.toml").write_text(SPEC, encoding="utf-8")
    build_site(folder / "site.toml", folder / "out", processes=1)
    files = [folder / "out" / "errata.html", *sorted((folder / "out" / "errata").glob("*.html"))]
    return unescape("".join(file.read_text(encoding="utf-8") for file in files))


def test_every_row_says_its_kind(page: str) -> None:
    for kind in errata.KINDS:
        rows = errata.rows(kind=kind)
        assert f"({len(rows)} rows)" in page
        assert page.count(f'<p><span class="badge {kind}">{kind}</span></p>') == len(rows) > 0
    assert page.count("As it stands in the converted text</p>") == len(errata.rows(kind=errata.READING))


def test_every_false_statement_says_where_it_fails(page: str) -> None:
    false = errata.rows(kind=errata.FALSE)
    assert page.count("Where it fails.") == len(false)
    for row in false:
        assert row.fails in page, row.name


def test_formulas_of_the_rows_are_set(page: str) -> None:
    """No dollar sign and no unknown command is left in the text."""
    text = re.sub(r"<annotation.*?</annotation>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "$" not in text
    assert not re.search(r"\\[a-zA-Z]{2,}", text)
