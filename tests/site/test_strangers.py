"""Sites and reports that a stranger wrote: no path leads out, no link runs a script, no text takes long."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dpcore.core.errors import DpcoreError
from dpcore.site import build_report, build_site
from dpcore.site.finding import MISSING
from dpcore.site.manifest import MANIFEST
from dpcore.site.markdown import Writer, read
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable

SITE = """title = "A site"
app = "{app}"
[[question]]
text = "Why?"
page = "{page}"
[[section]]
name = "{name}"
title = "Texts"
kind = "texts"
folder = "{folder}"
"""
GOOD = {"app": "http://localhost:8501", "page": "guide/one.html", "name": "guide", "folder": "texts"}
FIGURE = '```figure\ndraw = "ledger"\ntitle = "t"\ncaption = "c"\nfile = "{file}"\nepsilon = 1\ndelta = 1e-6\n```\n'
LEDGER = "label,expression,count\na,laplace(0.1),2\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a folder with a site in it and a stranger's file beside it."""
    (tmp_path / "home" / "texts").mkdir(parents=True)
    (tmp_path / "home" / "texts" / "one.md").write_text("# One\n\nText.\n", encoding="utf-8")
    (tmp_path / "secret.md").write_text("a secret", encoding="utf-8")
    return tmp_path / "home"


def site(home: Path, **other: str) -> list[str]:
    """Build the site and return its pages."""
    (home / "site.toml").write_text(SITE.format(**{**GOOD, **other}), encoding="utf-8")
    build_site(home / "site.toml", home / "out", processes=1)
    pages = (path.relative_to(home / "out").as_posix() for path in home.parent.rglob("*.html"))
    return sorted(page for page in pages if page != MISSING)


def report(home: Path, text: str, name: str = "report.md") -> str:
    """Build a report and return its page."""
    (home / name).write_text(text, encoding="utf-8")
    return build_report(home / name, home / "report.html").read_text(encoding="utf-8")


# ---- paths ---------------------------------------------------------------------------------------------------


def test_the_site_itself_is_built(home: Path) -> None:
    assert site(home) == ["guide/one.html", "index.html"]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("name", "../../../x", r"name begins the addresses of its pages: .*, got '\.\./\.\./\.\./x'"),
        ("name", "/tmp/x", "name begins the addresses of its pages"),
        ("folder", "..", r"folder: '\.\.' leads out of the folder"),
        ("folder", "/etc", "folder: '/etc' leads out of the folder"),
        ("app", "javascript:alert(1)", r"line 2: The link 'javascript:alert\(1\)' is not allowed"),
        ("app", "guide", "line 2: The link 'guide' is not allowed"),
        ("page", "javascript:alert(1)", r"page: The link 'javascript:alert\(1\)' is not allowed"),
    ],
)
def test_a_site_names_nothing_outside(home: Path, key: str, value: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        site(home, **{key: value})
    assert list(home.parent.rglob("*.html")) == []


def test_a_text_that_is_a_link_to_another_place_is_refused(home: Path) -> None:
    (home / "texts" / "two.md").symlink_to(home.parent / "secret.md")
    with pytest.raises(SpecError, match=r"section guide: 'two\.md' leads out") as caught:
        site(home)
    assert "secret" not in str(caught.value)


def manifest(out: Path, names: dict[str, str]) -> None:
    out.mkdir(exist_ok=True)
    pieces = {"pieces": {"one": {"key": "k", "files": names}}}
    (out / MANIFEST).write_text(json.dumps(pieces), encoding="utf-8")


@pytest.mark.parametrize("name", ["../../victim.txt", "guide/link.txt", "/{victim}"])
def test_a_manifest_removes_nothing_outside(home: Path, name: str) -> None:
    victim = home.parent / "victim.txt"
    victim.write_text("keep me", encoding="utf-8")
    (home / "out" / "guide").mkdir(parents=True)
    (home / "out" / "guide" / "link.txt").symlink_to(victim)
    manifest(home / "out", {name.format(victim=str(victim).lstrip("/")): "0"})
    with pytest.raises(DpcoreError, match=r"would be outside the folder of the site, .*; look into its manifest\.json"):
        site(home)
    assert victim.read_text(encoding="utf-8") == "keep me"
    assert not (home / "out" / "index.html").exists(), "nothing is built either"


def test_no_page_is_written_through_a_link(home: Path) -> None:
    (home.parent / "elsewhere").mkdir()
    manifest(home / "out", {})
    (home / "out" / "guide").symlink_to(home.parent / "elsewhere")
    with pytest.raises(DpcoreError, match=r"'guide/one\.html' would be outside"):
        site(home)
    assert list((home.parent / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, '{"pieces": 1}', '{"pieces": {"a": 1}}', '{"pieces": {"a": {"key": 1, "files": []}}}', "[]", "\x00"],
)
def test_a_manifest_that_is_none_is_written_again(home: Path, text: str) -> None:
    (home / "out").mkdir()
    (home / "out" / MANIFEST).write_text(text, encoding="utf-8")
    assert site(home) == ["guide/one.html", "index.html"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.md", "link.csv"])
def test_a_report_reads_its_own_folder_only(home: Path, name: str) -> None:
    (home / "link.csv").symlink_to(home.parent / "secret.md")
    with pytest.raises(SpecError, match=r"file: '.*' leads out of the folder of its document") as caught:
        report(home, f"# T\n\nx\n\n{FIGURE.format(file=name)}")
    assert "secret" not in str(caught.value).replace("secret.md", "")
    assert "root:" not in str(caught.value)


def test_a_gallery_reads_its_own_folder_only(home: Path) -> None:
    body = FIGURE.format(file="../secret.md").replace("```figure", '[[figure]]\nname = "a"').replace("```", "")
    (home / "texts" / "all.toml").write_text(body, encoding="utf-8")
    spec = SITE.format(**GOOD).replace('"texts"', '"gallery"', 1).replace('folder = "gallery"', 'folder = "texts"')
    (home / "site.toml").write_text(spec, encoding="utf-8")
    with pytest.raises(SpecError, match=r"all\.toml, line 6, figure a, file: '\.\./secret\.md' leads out"):
        build_site(home / "site.toml", home / "out", processes=1)


def test_a_report_reads_a_ledger_beside_it(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "ledger.csv").write_text(LEDGER, encoding="utf-8")
    assert "laplace" in report(home, f"# T\n\nx\n\n{FIGURE.format(file='data/ledger.csv')}")


# ---- links ---------------------------------------------------------------------------------------------------


def test_the_app_of_a_report_is_on_the_web(home: Path) -> None:
    with pytest.raises(SpecError, match=r"report\.toml, line 2: The link 'javascript:alert\(1\)' is not allowed"):
        report(home, 'title = "t"\napp = "javascript:alert(1)"\n', "report.toml")


@pytest.mark.parametrize("target", ["//evil.example", "data:image/png;base64,AAAA"])
def test_markdown_links_have_a_scheme_that_is_known(home: Path, target: str) -> None:
    with pytest.raises(SpecError, match=rf"report\.md, line 5: The link '{target}' is not allowed"):
        report(home, f"# T\n\nx\n\n[a]({target})\n")


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "vbscript:x", "file:///etc/passwd", "data:text/html,x"]
)
def test_markdown_never_makes_a_link_of_a_script(home: Path, target: str) -> None:
    """The parser refuses such a link by itself; the text that is left over is an error."""
    with pytest.raises(SpecError, match=r"report\.md, line 5: '\[a\]\(.*The link is not allowed"):
        report(home, f"# T\n\nx\n\n[a]({target})\n")
    with pytest.raises(SpecError, match=r"report\.md, line 5: .*there is no link with this name"):
        report(home, f"# T\n\nx\n\n[b][c]\n\n[c]: {target}\n")


# ---- time ----------------------------------------------------------------------------------------------------

LONG = 100_000


@pytest.mark.parametrize(
    "line",
    ["## " + "(" * LONG, "[" * LONG, "$" + "{" * LONG + "$", "|" + "a" * LONG + "|\n|-|", "$$\n" + "x" * LONG + "\n$$"],
)
def test_a_line_that_is_too_long_is_refused_with_its_place(home: Path, line: str) -> None:
    with pytest.raises(
        SpecError,
        match=r"report\.md, line [56]: a (paragraph, heading or cell|formula) has 1000\d\d characters; at most",
    ):
        report(home, f"# T\n\nx\n\n{line}\n")


@pytest.mark.parametrize("signs", ["\\[", "\\[=", "`", "``a`", "[@a", "{{", "**", "|a"])
def test_a_paragraph_of_one_sign_is_read_to_its_end(home: Path, signs: str) -> None:
    """Patterns with two ways to read a sign would take hours here."""
    with contextlib.suppress(SpecError):
        report(home, f"# T\n\nx {(signs * 9900)[:9900]}\n")


class Counted(set[str]):
    """A set that counts how often it is looked into."""

    looks = 0

    def __contains__(self, item: object) -> bool:
        """Count."""
        self.looks += 1
        return super().__contains__(item)


def test_equal_headings_get_ids_of_their_own_without_trying_all() -> None:
    writer = Writer("x.md")
    writer.ids = looked = Counted()
    text = read("## Same\n\n" * 2000 + "## Same 7\n", file="x.md", folder=Path(), lead=False)
    writer.text(text)
    names = [heading.id for heading in writer.headings]
    assert names[:3] == ["same", "same-2", "same-3"]
    assert names[-1] == "same-7-2"
    assert len(set(names)) == 2001
    assert looked.looks < 3 * 2001


@pytest.mark.parametrize(
    ("title", "name"),
    [("f(x) and (y", "f-and-y"), ("f(g(x))", "f"), ("`a_b` (see *c*)", "ab"), ("(((", "part"), (")(", "part")],
)
def test_ids_leave_out_what_stands_in_brackets(title: str, name: str) -> None:
    assert Writer("x.md").heading(title).startswith(f'<h2 id="{name}">')


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: "[" * 3000 + "]" * 3000, "line 2: brackets or keys are nested more than 64 deep"),
        (lambda: "1" * 5000, "line 2: a number or a key has 5 000 characters; at most 300"),
    ],
)
def test_toml_beyond_the_bounds_is_one_sentence(home: Path, make: Callable[[], str], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        report(home, f'title = "t"\nsummary = {make()}\n', "report.toml")
    with pytest.raises(SpecError, match=words.replace("line 2", "line 6")):
        report(home, f"# T\n\nx\n\n```figure\na = {make()}\n```\n")
