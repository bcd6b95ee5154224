"""A site of one's own: brand, logo, language, footer, folders in any depth; and what is wrong with a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore.core.errors import DpcoreError
from dpcore.site import build_site
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """title = "Privacy at our office"
lead = "What we publish."
brand = "Our office"
logo = "logo.svg"
language = "de"
footer = "Questions: [methods](mailto:methods@example.org)."

[[section]]
name = "releases"
title = "Releases"
kind = "texts"
folder = "releases"
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4"/></svg>'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "site.toml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "logo.svg").write_text(LOGO, encoding="utf-8")
    for place in ("first", "north/second", "north/cities/third"):
        file = tmp_path / "releases" / f"{place}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# The {file.stem} text\n\nWords of {file.stem}.\n\n## Part\n\nMore.\n", encoding="utf-8")
    return tmp_path


def test_a_site_of_ones_own(home: Path) -> None:
    built = build_site(home / "site.toml", home / "public", processes=1)
    assert built.pages == 4
    deep = (home / "public" / "releases" / "north" / "cities" / "third.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in deep
    assert "Our office</a>" in deep
    assert 'src="../../../assets/logo.svg"' in deep
    assert 'href="mailto:methods@example.org"' in deep
    assert "North, Cities" in deep, "a folder is a chapter"
    assert "../../first.html" in deep
    assert (home / "public" / "assets" / "logo.svg").read_text(encoding="utf-8") == LOGO
    assert "nothing changed" in build_site(home / "site.toml", home / "public", processes=1).words


def test_a_first_paragraph_may_link_and_a_dead_link_is_named(home: Path) -> None:
    text = home / "releases" / "first.md"
    text.write_text("# First\n\nWords, and the [second](north/second.md).\n", encoding="utf-8")
    build_site(home / "site.toml", home / "public", processes=1)
    index = (home / "public" / "index.html").read_text(encoding="utf-8")
    assert "<p>Words, and the second.</p>" in index
    assert '<a href="north/second.html">second</a>' in (home / "public" / "releases" / "first.html").read_text("utf-8")
    text.write_text("# First\n\nWords, and the [second](north/secnd.md).\n", encoding="utf-8")
    with pytest.raises(
        DpcoreError, match=r"first\.md, line 3 links to north/secnd\.html \(did you mean north/second\.html\?\)"
    ):
        build_site(home / "site.toml", home / "public", processes=1)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('folder = "releases"', 'folder = "relaeses"', "there is no folder 'relaeses' beside site.toml"),
        ('"de"', '"a language"', "line 5: language must be a language tag"),
        ('"logo.svg"', '"../logo.svg"', "line 4: '../logo.svg' leads out of the folder"),
        ("brand =", "brnad =", "did you mean brand?"),
    ],
)
def test_mistakes_in_the_spec(home: Path, old: str, new: str, words: str) -> None:
    (home / "site.toml").write_text(SPEC.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        build_site(home / "site.toml", home / "public", processes=1)
    assert words in str(caught.value)


def test_a_logo_runs_nothing(home: Path) -> None:
    (home / "logo.svg").write_text(LOGO.replace("<circle", "<script>alert(1)</script><circle"), encoding="utf-8")
    with pytest.raises(SpecError, match="runs a script or loads another file"):
        build_site(home / "site.toml", home / "public", processes=1)
