"""Paths and links that a document names: none leads out of its folder, none runs a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore.core.errors import DomainError
from dpcore.files.paths import inside, link

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_of_the_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    assert inside(tmp_path, "deep/../deep/a.csv") == tmp_path.resolve() / "deep" / "a.csv"
    assert inside(tmp_path, ".") == tmp_path.resolve()
    assert inside(tmp_path, tmp_path / "a.csv") == tmp_path.resolve() / "a.csv"


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/passwd", "..", "deep/link/x", "link", "loop", "a\0b", "a" * 5000, "~/../../x"]
)
def test_what_leads_out_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    (tmp_path / "x").write_text("a secret", encoding="utf-8")
    (home / "deep" / "link").symlink_to(tmp_path)
    (home / "link").symlink_to(tmp_path / "x")
    (home / "loop").symlink_to(home / "loop")
    with pytest.raises(DomainError) as caught:
        inside(home, name)
    assert repr(name[:80])[:-1] in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_folder_that_is_itself_a_link_is_the_callers_choice(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert inside(tmp_path / "alias", "a.csv") == tmp_path.resolve() / "real" / "a.csv"


@pytest.mark.parametrize(
    "target",
    ["https://example.org/a?b#c", "HTTP://example.org", "mailto:a@example.org", "guide/one.html#a", "#a", "?q=1:2", ""],
)
def test_links_to_pages_and_letters_pass(target: str) -> None:
    assert link(target) == target


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
        "\x01javascript:alert(1)", "data:text/html,x", "data:image/png;base64,AA", "vbscript:x", "file:///etc/passwd",
        "//evil.example/", "\\\\evil.example", "/\\evil.example", "blob:x", "about:blank", "c:/x",
    ],
)  # fmt: skip
def test_every_other_link_is_refused(target: str) -> None:
    with pytest.raises(DomainError, match="is not allowed; a link starts with http:, https:, mailto: or"):
        link(target)


def test_an_address_of_the_app_needs_the_web() -> None:
    with pytest.raises(DomainError, match="a link starts with http: or https:"):
        link("guide.html", ("http", "https"), relative=False)
