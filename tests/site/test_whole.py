"""dpcore's own site, without a browser: its links, files, formulas and words."""

from __future__ import annotations

import html.parser
import json
import re
import urllib.parse
from pathlib import Path

import pandas as pd
import pytest

from dpcore import parse
from dpcore.site import default_file
from dpcore.site.config import read_config
from dpcore.site.finding import MISSING
from dpcore.specs import drawers

MOST_BYTES = 15_000_000


class Reader(html.parser.HTMLParser):
    """Collects what a page links to, loads, names and holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        self.loaded += [str(given[name]) for name in ("src", "data-script") if given.get(name)]
        if tag == "link" and given.get("href"):
            self.loaded.append(str(given["href"]))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Reader]:
    found = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*.html"))}
    return {name: Reader(path.read_text(encoding="utf-8")) for name, path in found.items()}


def test_all_links_lead_somewhere(site: Path, pages: dict[str, Reader]) -> None:
    app = read_config(default_file()).app
    broken = []
    for name, page in pages.items():
        for link in [*page.links, *page.loaded]:
            where = urllib.parse.urlsplit(link)
            if link.startswith(app):
                continue
            if where.scheme in ("http", "https"):
                broken += [f"{name}: {link} is loaded"] if link in page.loaded else []
                continue
            target = (site / name).parent / urllib.parse.unquote(where.path) if where.path else site / name
            if not target.is_file():
                broken.append(f"{name}: {link}")
            elif where.fragment and target.suffix == ".html":
                ids = pages[target.resolve().relative_to(site.resolve()).as_posix()].ids
                broken += [] if where.fragment in ids else [f"{name}: {link}"]
    assert broken == []


def test_links_into_the_app_name_its_pages(pages: dict[str, Reader]) -> None:
    config = read_config(default_file())
    files = sorted((Path(__file__).resolve().parents[2] / "pages").glob("*.py"))
    known = {file.stem.split("_", 1)[1] for file in files}
    used = {
        link.removeprefix(f"{config.app}/").split("?")[0]
        for page in pages.values()
        for link in page.links
        if link.startswith(config.app)
    }
    assert len(used) > 3
    assert used <= known


def test_every_page_keeps_the_rules(site: Path, pages: dict[str, Reader]) -> None:
    for name, page in pages.items():
        tags = [tag for tag, _ in page.tags]
        assert tags.count("h1") == tags.count("main") == tags.count("title") == 1, name
        assert len(page.ids) == len(set(page.ids)), name
        metas = {str(m.get("http-equiv") or m.get("name")): str(m.get("content")) for t, m in page.tags if t == "meta"}
        policy = metas["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for tag, given in page.tags:
            assert "style" not in given, f"{name}: a style in an element"
            assert not any(key.startswith("on") for key in given), name
            assert tag != "img" or given.get("alt"), name
            assert tag != "script" or given.get("src"), f"{name}: a script inside the page"
    text = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    assert "&lt;p&gt;" not in text
    history = (site / "about" / "changelog.html").read_text(encoding="utf-8")  # tells what was mended
    assert "NaN" not in re.sub(r"no NaN|NaN never", "", text.replace(history, ""))


def test_formulas_are_mathml(pages: dict[str, Reader]) -> None:
    counts = {name: sum(tag == "math" for tag, _ in page.tags) for name, page in pages.items()}
    assert counts["guide/theorems.html"] > 20
    assert counts["reference/theorems.html"] > 10
    assert sum(counts.values()) > 500


def test_every_figure_has_its_files(site: Path, pages: dict[str, Reader]) -> None:
    figures = [given["id"] for page in pages.values() for tag, given in page.tags if tag == "figure"]
    assert len(figures) > 100
    for name in figures:
        rows = pd.read_csv(site / f"figures/{name}.csv")
        facts = json.loads((site / f"figures/{name}.json").read_text(encoding="utf-8"))
        assert list(rows.columns) == facts["columns"], name
        assert len(rows) == facts["rows"] > 0, name
        assert facts["title"], name
        assert facts["takeaway"], name
        assert facts["figure"]["draw"] in drawers(), name
        assert facts["parameters"] or facts["figure"]["draw"] == "blank", name
        assert "figure = " in facts["code"], name
        svg = (site / f"figures/{name}.svg").read_text(encoding="utf-8")
        assert svg.startswith("<svg "), name
        assert all(one.startswith(f"{name}-") for one in re.findall(r' id="([^"]+)"', svg)), name


def test_a_figure_of_the_gallery_says_all(site: Path) -> None:
    wanted = ("caption", "<strong>In print:</strong>", "<strong>What differs:</strong>", "Open in the app</a>")
    found = [
        part for path in (site / "gallery").glob("*.html") for part in path.read_text("utf-8").split("<figure ")[1:]
    ]
    assert len(found) > 80
    for part in found:
        name = part.split('"')[3]
        missing = [text for text in wanted if text not in part]
        missing += [] if "<strong>Parameters:</strong>" in part or name == "thesis_3_3" else ["parameters"]
        missing += [end for end in ("csv", "json", "svg") if f'download="{name}.{end}"' not in part]
        assert missing == [], name


def test_a_newcomer_finds_the_deltas_of_a_hundred_answers(site: Path, pages: dict[str, Reader]) -> None:
    assert "#home-hundred-answers" in pages["index.html"].links
    rows = pd.read_csv(site / "figures/home-hundred-answers.csv")
    region = parse("dp(0.1)^100")
    own = rows[rows["region"] == str(region)]
    assert len(own) == 51
    for epsilon, delta in zip(own["epsilon"], own["delta"], strict=True):
        assert delta == pytest.approx(float(region.delta(epsilon)), rel=1e-12)


def test_the_site_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < MOST_BYTES


def test_home_lists_every_page(pages: dict[str, Reader]) -> None:
    assert set(pages) - {"index.html", MISSING} <= set(pages["index.html"].links)


def test_home_says_what_every_page_is_about(site: Path) -> None:
    cards = re.findall(r'<li><a href="([^"]+)">[^<]+</a><p>(.+?)</p></li>', (site / "index.html").read_text("utf-8"))
    assert {path for path, _ in cards} == {p.relative_to(site).as_posix() for p in site.rglob("*.html")} - {
        "index.html",
        MISSING,
    }


def test_pages_follow_each_other(site: Path, pages: dict[str, Reader]) -> None:
    def turn(name: str, way: str) -> str | None:
        found = [str(given["href"]) for tag, given in pages[name].tags if tag == "a" and given.get("rel") == way]
        assert len(found) <= 1
        target = (site / name).parent / found[0] if found else None
        return target.resolve().relative_to(site.resolve()).as_posix() if target else None

    seen, name = [], "index.html"
    assert turn(name, "prev") is None
    while following := turn(name, "next"):
        assert turn(following, "prev") == name
        seen.append(name)
        name = following
    assert sorted([*seen, name, MISSING]) == sorted(pages)


def test_a_page_of_several_parts_lists_them(pages: dict[str, Reader]) -> None:
    for name, page in pages.items():
        parts = [given["id"] for tag, given in page.tags if tag == "h2" and given.get("id")]
        listed = [given for tag, given in page.tags if tag == "nav" and given.get("class") == "toc"]
        assert len(parts) <= 1 or len(listed) == 1, name
        assert {f"#{part}" for part in parts if len(parts) > 1} <= set(page.links), name
