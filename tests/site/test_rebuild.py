"""Building again: whatever a page or a figure is made from is noticed when it changes, and nothing old is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dpcore import specs
from dpcore.cli.describe import commands
from dpcore.files import fingerprint
from dpcore.files import manifest as written
from dpcore.files.data import data_folder
from dpcore.files.manifest import unchanged_pages
from dpcore.labs import errata
from dpcore.site import build_site, manifest
from dpcore.site.config import read_config
from dpcore.site.errata import errata_pages
from dpcore.site.progress import Progress
from dpcore.specs import SpecError, presets

SPEC = """title = "Tiny"
text = '''
Words.
'''

[[section]]
name = "texts"
title = "Texts"
summary = "All texts."
kind = "texts"
folder = "texts"

[[section]]
name = "pictures"
title = "Pictures"
kind = "gallery"
folder = "pictures"
"""
GALLERY = """title = "Figures"

[[figure]]
name = "first"
draw = "composition"
title = "First"
caption = "With two theorems."
mechanism = "dp(0.1)"
k = 4
theorems = ["basic", "kov_optimal"]
preset = "audit_honest"
"""
ORDER = '[[chapter]]\ntitle = "One"\ntexts = ["b", "a"]\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    for name, text in {
        "site.toml": SPEC,
        "texts/a.md": "# A\n\nFirst of a.\n",
        "texts/b.md": "# B\n\nFirst of b.\n",
        "texts/order.toml": ORDER,
        "pictures/figures.toml": GALLERY,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    build_site(folder / "site.toml", folder / "out", processes=1)
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "own")


def change(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")


def again(folder: Path) -> tuple[set[str], tuple[str, ...], tuple[str, ...]]:
    """Build again, and return what was written (but for what follows from all pages), drawn and removed."""
    found = build_site(folder / "site.toml", folder / "out", processes=1)
    known = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))["pieces"].values()
    named = {name for piece in known for name in piece["files"]} | {"manifest.json"}
    there = {path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*") if path.is_file()}
    assert there == named, "every file belongs to a piece"
    return set(found.written) - {"404.html", "assets/search.js"}, found.drawn, found.removed


PAGES = {"index.html", "texts/a.html", "texts/b.html", "pictures/figures.html"}


@pytest.mark.parametrize(
    ("file", "old", "new", "written", "shown"),
    [
        ("site.toml", 'title = "Texts"', 'title = "Writings"', PAGES, ">Writings<"),
        ("site.toml", "All texts.", "Both texts.", {"index.html"}, "Both texts."),
        ("site.toml", "Words.", "Other words.", {"index.html"}, "Other words."),
        (
            "site.toml",
            'title = "Tiny"',
            'title = "Tiny"\napp = "https://app.example"',
            {"pictures/figures.html"},
            "https://app.example",
        ),
        ("texts/a.md", "First of a.", "Another first.", {"index.html", "texts/a.html"}, "Another first."),
        ("texts/a.md", "First of a.", "First of a.\n\nMore.", {"texts/a.html"}, "<p>More.</p>"),
        ("texts/a.md", "# A", "# Aa", PAGES, ">Aa<"),
        ("texts/order.toml", '"One"', '"Two"', PAGES - {"pictures/figures.html"}, "Two"),
    ],
)
def test_only_what_changed_is_written(
    folder: Path, file: str, old: str, new: str, written: set[str], shown: str
) -> None:
    change(folder, file, old, new)
    assert again(folder) == (written, (), ())
    assert any(shown in (folder / "out" / page).read_text(encoding="utf-8") for page in written)


def test_a_figure_is_drawn_again_alone(folder: Path) -> None:
    change(folder, "pictures/figures.toml", "k = 4", "k = 5")
    written, drawn, removed = again(folder)
    assert (drawn, removed) == (("first",), ())
    assert written == {"pictures/figures.html", *(f"figures/first.{end}" for end in ("csv", "json", "svg", "js"))}


def test_another_image_is_another_page(folder: Path) -> None:
    pictures = Path(__file__).resolve().parents[2] / "data" / "pictures"
    shutil.copy(pictures / "start.png", folder / "texts" / "own.png")
    change(folder, "texts/a.md", "First of a.", "First of a.\n\n![The start page.](own.png)")
    assert again(folder) == ({"texts/a.html"}, (), ())
    shutil.copy(pictures / "start_dark.png", folder / "texts" / "own.png")
    assert again(folder) == ({"texts/a.html"}, (), ())


# ---- whether anything changed, before anything is planned ---------------------------------------------------


@pytest.fixture
def current(folder: Path) -> Path:
    """Return a site as the command builds it, that is with the commands in its record."""
    build_site(folder / "site.toml", folder / "out", processes=1, commands=commands())
    assert unchanged_pages(folder / "site.toml", folder / "out") == len(PAGES)
    return folder


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("site.toml", SPEC.replace("Words.", "Other words.")),
        ("texts/a.md", "# A\n\nAnother first.\n"),
        ("texts/new.md", "# New\n\nA new text.\n"),
        ("texts/deep/er/new.md", "# New\n\nA new text.\n"),
        ("pictures/figures.toml", GALLERY.replace("k = 4", "k = 5")),
        ("ledger.csv", "mechanism\nlaplace(1)\n"),
        ("out/texts/a.html", "broken"),
        ("out/assets/style.css", ""),
    ],
)
def test_a_changed_file_is_a_reason_to_build(current: Path, file: str, text: str) -> None:
    (current / file).parent.mkdir(parents=True, exist_ok=True)
    (current / file).write_text(text, encoding="utf-8")
    assert unchanged_pages(current / "site.toml", current / "out") == 0


def test_a_file_that_is_gone_is_a_reason_to_build(current: Path) -> None:
    (current / "out" / "assets" / "style.css").unlink()
    assert unchanged_pages(current / "site.toml", current / "out") == 0
    build_site(current / "site.toml", current / "out", processes=1, commands=commands())
    (current / "texts" / "b.md").unlink()
    assert unchanged_pages(current / "site.toml", current / "out") == 0


def test_other_code_other_data_or_another_spec_is_a_reason_to_build(
    current: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, out = current / "site.toml", current / "out"
    shutil.copy(spec, current / "other.toml")
    assert unchanged_pages(current / "other.toml", out) == 0
    (current / "other.toml").unlink()
    assert unchanged_pages(spec, out)
    with monkeypatch.context() as patch:
        patch.setattr(written, "fingerprint", lambda: "other code")
        assert unchanged_pages(spec, out) == 0
    data = shutil.copytree(data_folder(), current / "out.of" / "data")
    (data / "errata.toml").write_text("", encoding="utf-8")
    monkeypatch.setattr(written, "data_folder", lambda: data)
    assert unchanged_pages(spec, out) == 0


def test_a_build_without_commands_is_not_that_of_the_command(folder: Path) -> None:
    assert again(folder) == (set(), (), ())
    assert unchanged_pages(folder / "site.toml", folder / "out") == 0


def test_links_and_pipes_beside_a_spec_are_not_opened(current: Path, tmp_path: Path) -> None:
    spec, out = current / "site.toml", current / "out"
    os.mkfifo(current / "pipe")  # reading it would wait for ever
    (tmp_path / "elsewhere").mkdir()
    (current / "link").symlink_to(tmp_path / "elsewhere")
    before = written.inputs_of(spec, out, commands=True)
    (tmp_path / "elsewhere" / "file").write_text("not an input", encoding="utf-8")
    assert written.inputs_of(spec, out, commands=True) == before != ""
    (current / "link").unlink()
    (current / "link").symlink_to(tmp_path)
    assert written.inputs_of(spec, out, commands=True) != before


@pytest.mark.parametrize(("limit", "value"), [("MOST_INPUTS", 3), ("MOST_INPUT_BYTES", 100)])
def test_too_many_files_beside_a_spec_are_not_read(
    current: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(written, limit, value)
    assert written.inputs_of(current / "site.toml", current / "out", commands=True) == ""
    assert unchanged_pages(current / "site.toml", current / "out") == 0


def test_the_command_says_so_without_loading_charts(current: Path) -> None:
    asked = [sys.executable, "-X", "importtime", "-m", "dpcore", "site", "--spec", "site.toml", "-o", "out"]
    root = str(Path(__file__).resolve().parents[2])
    result = subprocess.run(
        asked, cwd=current, env=os.environ | {"PYTHONPATH": root}, capture_output=True, text=True, check=True
    )
    assert result.stdout == f"out: {len(PAGES)} pages, nothing changed\n"
    loaded = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert not loaded & {"altair", "jinja2", "markdown_it", "dpcore.site", "dpcore.charts"}


def test_a_bar_moves_while_it_builds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, "pictures/figures.toml", "k = 4", "k = 6")
    build_site(folder / "site.toml", folder / "out", processes=1, progress=Progress())
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "[##############..............] 1/2 first"
    assert last == "[############################] 2/2 pictures/figures.html"
    build_site(folder / "site.toml", folder / "out", processes=1, progress=Progress())
    assert capsys.readouterr().err == ""


def test_another_preset_is_another_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tuple(replace(one, state={"audit_claim": "gdp(7)"}) for one in presets.presets())
    monkeypatch.setattr(presets, "presets", lambda: other)
    assert again(folder) == ({"pictures/figures.html"}, (), ())
    assert "Audit?audit_claim=gdp%287%29" in (folder / "out" / "pictures" / "figures.html").read_text(encoding="utf-8")


def test_what_is_no_longer_listed_is_gone_with_its_folder(folder: Path) -> None:
    text = (folder / "site.toml").read_text(encoding="utf-8")
    (folder / "site.toml").write_text(text[: text.index('[[section]]\nname = "pictures"')], encoding="utf-8")
    written, drawn, removed = again(folder)
    assert (written, drawn) == (PAGES - {"pictures/figures.html"}, ())
    assert "pictures/figures.html" in removed
    assert "figures/first.csv" in removed
    assert sorted(path.name for path in (folder / "out").iterdir() if path.is_dir()) == ["assets", "texts"]


def test_a_build_that_was_stopped_is_taken_up_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(manifest.Work, "finish", stopped)
        with pytest.raises(KeyboardInterrupt):
            build_site(folder / "site.toml", folder / "new", processes=1)
    build_site(folder / "site.toml", folder / "new", processes=1)
    pages = [path.read_bytes() for path in sorted((folder / "new").rglob("*.html"))]
    assert pages == [path.read_bytes() for path in sorted((folder / "out").rglob("*.html"))]


def test_evidence_depends_on_its_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = read_config(folder / "site.toml").sections[0]
    before = [job for page in errata_pages(section) for job in page.jobs]
    rows = errata.rows()
    changed = (replace(rows[0], why="Another sentence."), *rows[1:])
    monkeypatch.setattr(errata, "rows", lambda: changed)
    after = [job for page in errata_pages(section) for job in page.jobs]
    assert [one.source != two.source for one, two in zip(before, after, strict=True)] == [True] + [False] * (
        len(rows) - 1
    )


def test_figures_depend_on_the_sample_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "ages.csv").write_text("age\n1\n", encoding="utf-8")
    made = manifest.fingerprint.__wrapped__
    before = made(drawing=True)
    monkeypatch.setattr(fingerprint, "data_folder", lambda: tmp_path)
    one = made(drawing=True)
    (tmp_path / "datasets" / "ages.csv").write_text("age\n2\n", encoding="utf-8")
    two = made(drawing=True)
    assert len({before, one, two}) == 3
    (tmp_path / "datasets" / "__pycache__").mkdir()
    assert made(drawing=True) == two


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("texts/order.toml", '"a"', '"c"', r"order.toml lists 'c', but there is no c.md"),
        ("texts/order.toml", '"a"', '"b"', "order.toml: the text 'b' is listed twice"),
        ("texts/order.toml", '["b", "a"]', '"b"', r"order.toml: a \[\[chapter\]\] has a title and texts"),
        ("texts/order.toml", "[[chapter]]", "[chapter]\n[[chapter.x]]", r"order.toml: a \[\[chapter\]\] has a title"),
        ("texts/order.toml", "[[chapter]]", "title = 3\n[[chapter]]", "order.toml: title is a table of texts, got 3"),
        ("site.toml", "Words.", "Words with $\\foo$.", r"site.toml, line 3: The formula .*\\foo"),
        (
            "site.toml",
            "Words.",
            "```figure\ndraw = 'live'\nmu = 'x'\n```",
            "site.toml, line 5, figure home-figure-1, mu",
        ),
        ("site.toml", "[[section]]", "section = 3\n[[sections]]", r"site.toml: .sections. is not a key"),
        ("texts/a.md", "First", "First,\nthen $\\foo$", r"a.md, line 4: The formula .*\\foo"),
        ("pictures/figures.toml", "two theorems", "$\\\\foo$", r"figures.toml, line 7: The formula .*\\foo"),
        (
            "pictures/figures.toml",
            '"audit_honest"',
            "3",
            "figures.toml, line 11, figure first, preset: expected a text",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(folder: Path, file: str, old: str, new: str, said: str) -> None:
    change(folder, file, old, new)
    with pytest.raises(SpecError, match=said):
        again(folder)


def test_the_files_of_a_figure_restore_it(built: Path) -> None:
    facts = json.loads((built / "out" / "figures" / "first.json").read_text(encoding="utf-8"))
    assert facts["parameters"] == {"mechanism": "dp(0.1)", "k": 4, "theorems": ["basic", "kov_optimal"]}
    assert (facts["title"], facts["figure"]["caption"]) == ("First", "With two theorems.")
    drawn = specs.draw(facts["figure"])
    assert (drawn.title, drawn.takeaway) == (facts["title"], facts["takeaway"])
    written = pd.read_csv(built / "out" / "figures" / facts["numbers"])
    assert (list(written.columns), len(written)) == (facts["columns"], facts["rows"])
    for name in ("label", "alpha", "beta", "kind"):
        assert list(written[name]) == list(drawn.table[name])
    page = (built / "out" / "pictures" / "figures.html").read_text(encoding="utf-8")
    assert "<code>k = 4</code>, <code>theorems = basic; kov_optimal</code>." in page
