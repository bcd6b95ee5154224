"""The guide's texts: their Python runs and prints what they say, every number in them is computed, nothing is left out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from latex2mathml.converter import convert

from dpcore.core import registry
from dpcore.labs import errata
from dpcore.mechanisms.base import Mechanism, kinds
from dpcore.site import examples
from dpcore.specs import code, drawers, figures_in
from dpcore.specs.sections import section, with_sections
from dpcore.theorems import THEOREMS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "guide"
TEXTS = sorted(FOLDER.glob("*.md"))
ORDER = tomllib.loads((FOLDER / "order.toml").read_text(encoding="utf-8"))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def read(file: Path) -> str:
    """Return a text as it is shown: with the sections that mechanisms make themselves."""
    return with_sections(file, file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_the_code_of_a_guide_text_runs_and_prints_what_it_says(file: Path) -> None:
    text = read(file)
    assert examples.examples(text), "a guide text needs a worked example"
    examples.outputs(text, file.name)


# ---- every number is computed --------------------------------------------------------------------------------


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_every_number_in_the_prose_is_computed(file: Path) -> None:
    """Those of a section that a mechanism's own file makes are its own."""
    constants = {*ORDER["constants"]["any"], *ORDER["constants"].get(file.stem, [])}
    assert examples.unknown_numbers(file.read_text(encoding="utf-8"), constants) == []


def test_the_number_check_can_fail() -> None:
    text = (
        "It is 0.3053, not 0.306; see Theorem 2.14 and 12.5 and 0.1,\nin 2024, $7.5\\cdot10^{-6}$, 149 or 150 of 100 000.\n\n"
        "```text\nvalue 0.30526339 7.4533e-06 149\n```\n"
    )
    assert [number for number, _ in examples.numbers(text)] == ["0.3053", "0.306", "12.5", "7.5e-6", "149", "150"]
    assert examples.unknown_numbers(text) == [("0.306", 1), ("12.5", 1), ("150", 2)]
    assert examples.unknown_numbers(text, ("12.5",)) == [("0.306", 1), ("150", 2)]


# ---- order, pictures, completeness ---------------------------------------------------------------------------


def test_every_text_has_a_place_and_a_title() -> None:
    listed = [name for chapter in ORDER["chapter"] for name in chapter["texts"]]
    assert len(listed) == len(set(listed))
    assert set(listed) == {file.stem for file in TEXTS} == set(ORDER["title"])
    assert set(ORDER["constants"]) - {"any"} <= set(listed)
    assert len(set(ORDER["title"].values())) == len(listed)


def test_every_text_has_a_written_summary() -> None:
    """One or two whole sentences, without links: they stand on other pages too."""
    assert set(ORDER["summary"]) == set(ORDER["title"])
    for name, summary in ORDER["summary"].items():
        assert summary.endswith("."), name
        assert 20 <= len(summary) <= 170, name
        assert "](" not in summary, name


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_pictures_are_specs_with_code(file: Path) -> None:
    for spec in figures_in(file.read_text(encoding="utf-8"), file=file.name, folder=FOLDER):
        assert spec["draw"] in drawers()
        assert spec["title"]
        assert spec["caption"]
        assert "figure = " in code(spec)


def test_texts_have_pictures_where_a_picture_helps() -> None:
    drawn = {file.stem: len(figures_in(file.read_text(encoding="utf-8"), file=file.name)) for file in TEXTS}
    assert all(drawn[name] for name in ("what_is_a_region", "guarantees", "mechanisms", "theorems", "four_views"))


REGISTERED = [
    *(("guarantees", entry.name) for entry in registry.entries("guarantee")),
    *(("mechanisms", entry.name) for entry in registry.entries("mechanism")),
    ("mechanisms", "log_concave"),  # takes Python functions, so the language has no name for it
    *(("theorems", theorem.name) for theorem in THEOREMS),
]
PROOF = re.compile(r"^\*(?:Proof|The exact region)[^*\n]*\.\*.*?∎", re.MULTILINE | re.DOTALL)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a Markdown text by their headings."""
    pieces = re.split(r"^### (.+)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def missing(text: str, name: str) -> list[str]:
    """Return which of the five parts the section of a name lacks: the name must occur in its examples."""
    found = [body for heading, body in sections(text).items() if f"`{name}`" in heading]
    if len(found) != 1:
        return [f"{len(found)} sections"]
    (body,) = found
    fenced = FENCE.findall(body)
    drawn = "\n".join(inside for kind, inside in fenced if kind == "figure")
    worked = "\n".join(one.code + one.output for one in examples.examples(body) if one.output)
    has = {
        "formula": "$$" in body,
        "assumptions": "**Assumes**" in body,
        "proof idea": PROOF.search(body) is not None,
        "picture": bool(drawn),
        "worked example": re.search(rf"\b{name}\b", worked) is not None,
    }
    return [part for part, there in has.items() if not there]


@pytest.mark.parametrize(("text", "name"), REGISTERED, ids=lambda one: one)
def test_everything_registered_has_all_five_parts(text: str, name: str) -> None:
    """Formula, assumptions, proof idea, picture, worked example; the list is that of the registry."""
    assert missing(read(FOLDER / f"{text}.md"), name) == []


IN_THE_LANGUAGE = [one for one in REGISTERED if one[0] != "theorems" and registry.knows(one[1])]


@pytest.mark.parametrize(("text", "name"), IN_THE_LANGUAGE, ids=lambda one: one)
def test_the_picture_of_a_section_shows_its_name(text: str, name: str) -> None:
    all_of_it = sections(read(FOLDER / f"{text}.md"))
    body = next(body for heading, body in all_of_it.items() if f"`{name}`" in heading)
    drawn = "\n".join(inside for kind, inside in FENCE.findall(body) if kind == "figure")
    assert re.search(rf"\b{name}\b", drawn)


def test_every_operation_is_explained() -> None:
    """The table of what can be done with regions names all operations of the language."""
    text = sections((FOLDER / "what_is_a_region.md").read_text(encoding="utf-8"))["Putting regions together"]
    assert [entry.name for entry in registry.entries("operation") if f"`{entry.name}(" not in text] == []


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.entry.name)
def test_a_section_that_nobody_wrote_has_all_five_parts(kind: type[Mechanism]) -> None:
    """What a mechanism's own file says is enough for a section: its example runs, its picture is a spec."""
    text = "```python\nfrom dpcore import parse\n```\n\n" + section(kind)
    assert missing(text, kind.entry.name) == []
    examples.outputs(text, "section")
    assert len(figures_in(text, file="section")) == 1
    whole = with_sections(FOLDER / "mechanisms.md", "")
    assert section(kind) in whole
    assert with_sections(FOLDER / "mechanisms.md", whole) == whole


def test_the_check_of_the_five_parts_can_fail() -> None:
    whole = (FOLDER / "mechanisms.md").read_text(encoding="utf-8")
    body = sections(whole)["Uniform noise: `uniform`"]
    assert missing(whole, "uniform") == []
    for part, hurt in {
        "formula": body.replace("$$", "$"),
        "assumptions": body.replace("**Assumes**", "It takes"),
        "proof idea": body.replace("*Proof.*", "Surely."),
        "picture": body.replace("```figure", "```toml"),
        "worked example": body.replace('parse("uniform(10)")', 'parse("tv(0.05)")'),
    }.items():
        assert missing(whole.replace(body, hurt), "uniform") == [part]
    assert missing(whole, "nothing") == ["0 sections"]


def formulas(text: str) -> list[str]:
    """Return the formulas of a Markdown text."""
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.sub(r"`[^`\n]*`", "", text), re.DOTALL)
    return [shown or inline for shown, inline in found]


def test_formulas_become_mathml_without_rest() -> None:
    """What the site's converter does not know would be left as a backslash."""
    texts = {file.stem: examples.prose(file.read_text(encoding="utf-8")) for file in TEXTS}
    texts |= {row.name: f"{row.printed}\n{row.corrected}" for row in errata.rows()}
    left = [
        (name, formula)
        for name, text in texts.items()
        for formula in formulas(text)
        if "\\" in re.sub(r"<[^>]+>", "", convert(formula))
    ]
    assert left == []


FORBIDDEN = (r"\operatorname*", r"\begin{align", r"\DeclareMath", r"\newcommand", "<!--", "<br", "<span")


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_formulas_stay_within_what_page_and_site_can_show(file: Path) -> None:
    text = examples.prose(file.read_text(encoding="utf-8"))
    assert [sign for sign in FORBIDDEN if sign in text] == []
    assert re.sub(r"`[^`]*`", "", text).count("$") % 2 == 0
    assert not re.search(r"^#{1,2} ", text, re.MULTILINE), "texts begin at the third level of headings"
