"""Reports that a stranger wrote as documents: references, pictures and folders bring nothing in and lead nowhere."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from dpcore.cli.program import main
from dpcore.core.errors import DpcoreError
from dpcore.site import build_report

if TYPE_CHECKING:
    from pathlib import Path

TOP = '+++\ntitle = "T"\n{0}\n+++\n\nFirst.\n\n'
REFERENCES = r"""@book{evil, author = {Eve, A.}, year = 2020, url = {javascript:alert(3)},
title = {A \input{/etc/passwd} B \includegraphics{/etc/passwd} C \href{javascript:alert(1)}{click} $\input{/etc/hosts}$ $x^2$ D},
publisher = {\write18{id} <script>alert(4)</script>}}
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" {0}>{1}</svg>'
SQUARE = '<rect width="{0}" height="{0}"/>'


def document(folder: Path, text: str, suffix: str, top: str = "") -> Path:
    """Build a report as a document."""
    (folder / "report.md").write_text(TOP.format(top) + text, encoding="utf-8")
    return build_report(folder / "report.md", folder / f"out{suffix}")


def test_references_are_words(tmp_path: Path) -> None:
    (tmp_path / "r.bib").write_text(REFERENCES, encoding="utf-8")
    made = {
        suffix: document(tmp_path, "As in [@evil].", suffix, 'bibliography = "r.bib"')
        for suffix in (".tex", ".md", ".docx", ".pdf", ".html")
    }
    tex, markdown, page = (made[suffix].read_text(encoding="utf-8") for suffix in (".tex", ".md", ".html"))
    assert "Eve" in tex
    assert "(x^2\\)" in tex, "a formula that is known stays one"
    for command in ("\\input{", "\\includegraphics", "\\write", "\\href{javascript:", "\\url{javascript:"):
        assert command not in tex
    with zipfile.ZipFile(made[".docx"]) as parts:
        assert b'"javascript:' not in parts.read("word/_rels/document.xml.rels")
    assert "](javascript:" not in markdown
    assert "<javascript:" not in markdown
    assert 'href="javascript:' not in page
    assert "<script>alert" not in page + markdown


@pytest.mark.parametrize(
    ("svg", "words"),
    [
        (SVG.format("", "<g>"), "could not write the document: expected 'g' tag"),
        (SVG.format('width="1000000" height="1000000"', SQUARE.format(9)), "memory allocation of .* failed"),
        (
            "\ufeff<!-- \u733c\u6776\u733c\u6776 -->" + SVG.format("", "<script/>"),
            "is not the kind of file that its name says",
        ),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_one_sentence(tmp_path: Path, svg: str, words: str) -> None:
    (tmp_path / "a.svg").write_bytes(svg.encode("utf-16-le" if svg.startswith("\ufeff") else "utf-8"))
    with pytest.raises(DpcoreError, match=rf"report\.md, line \d+: .*{words}") as caught:
        document(tmp_path, "![a](a.svg)", ".docx")
    assert "Stack" not in str(caught.value)


def test_pictures_of_one_name_stay_two(tmp_path: Path) -> None:
    for size in (3, 9):
        (tmp_path / str(size)).mkdir()
        (tmp_path / str(size) / "a.svg").write_text(SVG.format('viewBox="0 0 9 9"', SQUARE.format(size)))
    text = document(tmp_path, "![a](3/a.svg) ![b](9/a.svg) ![c](3/a.svg)", ".md").read_text(encoding="utf-8")
    names = [
        name
        for name in ("out_files/a.svg", "out_files/a-2.svg")
        for _ in range(text.count(f'"{name}"') + text.count(f"({name})"))
    ]
    assert names == ["out_files/a.svg", "out_files/a.svg", "out_files/a-2.svg"]
    assert SQUARE.format(3) in (tmp_path / "out_files" / "a.svg").read_text(encoding="utf-8")
    assert SQUARE.format(9) in (tmp_path / "out_files" / "a-2.svg").read_text(encoding="utf-8")


def test_no_picture_is_written_through_a_link(tmp_path: Path) -> None:
    victim, home = tmp_path / "victim", tmp_path / "home"
    for folder in (victim, home):
        folder.mkdir()
    (home / "a.svg").write_text(SVG.format('viewBox="0 0 9 9"', SQUARE.format(3)))
    (home / "out_files").symlink_to(victim)
    with pytest.raises(DpcoreError, match="'out_files' leads out of the folder"):
        document(home, "![a](a.svg)", ".md")
    (home / "out_files").unlink()
    (home / "out_files").mkdir()
    (home / "out_files" / "a.svg").symlink_to(victim / "a.svg")
    with pytest.raises(DpcoreError, match=r"'a\.svg' leads out of the folder"):
        document(home, "![a](a.svg)", ".md")
    assert list(victim.iterdir()) == []


def test_a_build_trusts_nothing_that_came_with_the_report(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "report.md").write_text(TOP.format("") + "{{ 1 + 1 }}\n", encoding="utf-8")
    before = {path.name for path in home.iterdir()}
    assert main(["report", "build", str(home / "report.md"), "--quiet"]) == 0
    assert {path.name for path in home.iterdir()} == {*before, "report.html"}, "figures and records are kept elsewhere"
    assert (tmp_path / "cache" / "dpcore").is_dir()
