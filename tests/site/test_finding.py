"""Finding things: the search index, references by name, links that are checked, the page for wrong addresses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dpcore.site import build_site
from dpcore.site.finding import check_links
from dpcore.site.search import index_of, words_of
from dpcore.site.svg import visible
from dpcore.specs import SpecError
from dpcore.specs.references import Reference, reference, replaced

if TYPE_CHECKING:
    from pathlib import Path

MOST_INDEX = 300_000  # bytes
SPEC = """title = "Small"
lead = "Two texts."
{address}
[[section]]
name = "texts"
title = "Texts"
kind = "texts"
folder = "texts"
"""

FIGURE = """
```figure
draw = "regions"
title = "One"
regions = ["dp(1)"]
caption = "See [another](three.md)."
```
"""


def decoded(script: str) -> dict[str, list[str]]:
    """Return the places of each word, by the steps that the page's script takes."""
    data = json.loads(script.removeprefix("window.dpcoreIndex=").rstrip().removesuffix(";"))
    places = []
    for (path, _), own in zip(data["pages"], data["sections"], strict=True):
        places += [path, *(f"{path}#{anchor}" for anchor in own[::2])]
    found: dict[str, list[str]] = {}
    before = ""
    for line in data["words"].split("\n"):
        head, steps = line.split(" ")
        before = before[: int(head[0], 36)] + head[1:]
        last, at, numbers = -1, 0, []
        while at < len(steps):
            size = {",": 2, ";": 4}.get(steps[at], 1)
            at += size > 1
            last += int(steps[at : at + size], 36)
            numbers.append(places[last])
            at += size
        found[before] = numbers
    return found


def test_every_word_of_a_text_leads_back_to_its_section() -> None:
    body = "<h1>One</h1><article><p>Alpha beta.</p><h2 id='x'>no id here</h2>{}</article>"
    parts = "".join(
        f'<h2 id="s{i}">Part {i}</h2><p>common word{i} &epsilon; <code>poisson_gaussian</code></p>' for i in range(60)
    )
    found = decoded(index_of({"one.html": body.format(parts), "two.html": "<h1>Two</h1><article>common</article>"}))
    assert found["common"] == [*(f"one.html#s{i}" for i in range(60)), "two.html"]
    assert found["word59"] == ["one.html#s59"]
    assert found["ε"] == found["poisson_gaussian"] == found["gaussian"] == [f"one.html#s{i}" for i in range(60)]
    assert found["alpha"] == ["one.html"]


def test_the_folder_of_a_page_is_a_word_of_its_sections() -> None:
    page = '<h1>One</h1><article><p>Alpha.</p><h2 id="x">Part</h2><p>Beta.</p></article>'
    found = decoded(index_of({"errata/one.html": page, "index.html": page}))
    assert found["errata"] == ["errata/one.html", "errata/one.html#x"]


def test_words_are_names_letters_and_places() -> None:
    assert words_of("The δ of `rdp_tight`, Theorem 4.1, 0.123 and 77.") == {
        "δ",
        "rdp_tight",
        "rdp",
        "tight",
        "theorem",
        "4.1",
    }
    assert words_of("Rényi's ε") == words_of("Renyi's ε")


def test_references_are_read_outside_of_code() -> None:
    assert reference("theorem:basic") == Reference("theorem", "basic")
    assert reference("a:b") == Reference("", "a:b")
    text = "[[dp|privacy]] `[[dp]]`\n```text\n[[dp]]\n```\n"
    assert replaced(text, lambda one: one.words) == text.replace("[[dp|privacy]]", "privacy")


def write(folder: Path, text: str, address: str = "") -> Path:
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "site.toml").write_text(SPEC.format(address=address), encoding="utf-8")
    (folder / "texts" / "one.md").write_text(f"# One\n\nLead.\n\n{text}\n", encoding="utf-8")
    (folder / "texts" / "two.md").write_text(
        "# The second text\n\nLead.\n\n## About `dptv`\n\nWords.\n", encoding="utf-8"
    )
    return folder / "site.toml"


def test_a_reference_becomes_a_link_and_a_dead_one_fails(tmp_path: Path) -> None:
    spec = write(tmp_path, "See [[two]] and [[text:two|the *other*]], not `[[two]]`.")
    build_site(spec, tmp_path / "out", processes=1)
    page = (tmp_path / "out" / "texts" / "one.html").read_text(encoding="utf-8")
    assert '<a href="two.html">The second text</a>' in page
    assert '<a href="two.html">the <em>other</em></a>' in page
    assert "<code>[[two]]</code>" in page
    with pytest.raises(SpecError, match=r"one\.md, line 5: \[\[tow\]\] refers to .* did you mean two\?"):
        build_site(write(tmp_path, "See [[tow]]."), tmp_path / "out", processes=1)


@pytest.mark.parametrize("link", ["three.md", "two.md#nowhere", "#nothing"])
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, link: str) -> None:
    with pytest.raises(SpecError, match=r"Links that lead nowhere: one\.md, line 6 links to"):
        build_site(write(tmp_path, f"Two lines:\nsee [this]({link})."), tmp_path / "out", processes=1)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("site.toml", SPEC.format(address="text = '''\nA [link](texts/three.md).\n'''"), "site.toml, line 4"),
        ("site.toml", SPEC.format(address='[[question]]\ntext = "?"\npage = "texts/three.html"'), "site.toml, line 5"),
        ("site.toml", SPEC.format(address="").replace("Two texts.", "A [text](texts/three.md)."), "site.toml, line 2"),
        ("texts/two.md", f"# Two\n\nA figure.\n{FIGURE}", "two.md, line 9"),
    ],
)
def test_a_dead_link_is_named_with_its_line(tmp_path: Path, file: str, text: str, said: str) -> None:
    spec = write(tmp_path, "Text.")
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=rf"Links that lead nowhere: {said} links to [a-z/]*three\.html"):
        build_site(spec, tmp_path / "out", processes=1)


def test_links_are_checked_page_by_page() -> None:
    check_links({"a/b.html": '<a href="../c.html#x">c</a>', "c.html": '<p id="x"></p>'}, {"a/b.html", "c.html"})
    with pytest.raises(SpecError, match=r"a/b\.html links to \.\./c\.html#y"):
        check_links({"a/b.html": '<a href="../c.html#y">c</a>', "c.html": '<p id="x"></p>'}, {"a/b.html", "c.html"})


def test_a_site_with_an_address_is_listed_for_search_engines(tmp_path: Path) -> None:
    build_site(write(tmp_path, "Text."), tmp_path / "out", processes=1)
    assert not (tmp_path / "out" / "sitemap.xml").exists()
    spec = write(tmp_path, "Text.", 'address = "https://privacy.example/site/"')
    build_site(spec, tmp_path / "out", processes=1)
    listed = (tmp_path / "out" / "sitemap.xml").read_text(encoding="utf-8")
    assert "<loc>https://privacy.example/site/texts/one.html</loc>" in listed
    assert "404" not in listed
    page = (tmp_path / "out" / "texts" / "one.html").read_text(encoding="utf-8")
    assert '<link rel="canonical" href="https://privacy.example/site/texts/one.html">' in page
    assert '<meta name="description" content="Lead.">' in page
    assert 'href="https://privacy.example/site/index.html"' in (tmp_path / "out" / "404.html").read_text(
        encoding="utf-8"
    )


def test_the_index_of_the_whole_site_is_small(site: Path) -> None:
    assert (site / "assets" / "search.js").stat().st_size < MOST_INDEX
    found = decoded((site / "assets" / "search.js").read_text(encoding="utf-8"))
    assert len(found["ε"]) > 50
    assert "reference/guarantees.html" in found["dptv"] or any("guarantees" in place for place in found["dptv"])


def test_only_pages_with_a_figure_load_vega(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert ("assets/vega.js" in page) == ("data-figure=" in page), path.name


def test_corners_that_cannot_be_seen_are_left_out() -> None:
    line = [(float(x), 0.01 * (x % 2)) for x in range(50)]
    assert visible(line) == [line[0], line[-1]]
    bend = [(0.0, 0.0), (5.0, 0.0), (5.0, 5.0)]
    assert visible(bend) == bend
