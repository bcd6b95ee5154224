"""The guide's texts: their Python runs and prints what they say, every number in them is computed, nothing is left out."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest
from latex2mathml.converter import convert

from dpcore import errata, registry
from dpcore.app import guide
from dpcore.specs import code, drawers, figures_in
from dpcore.theorems import THEOREMS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "guide"
TEXTS = sorted(FOLDER.glob("*.md"))
ORDER = tomllib.loads((FOLDER / "order.toml").read_text(encoding="utf-8"))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w]|\.\d)")
PLACE = re.compile(
    r"(?:Theorem|Section|Figure|Lemma|Proposition|Corollary|Table|Example|Definition|[Qq]uestions?)s?\s*$"
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def blocks(text: str) -> list[tuple[str, str]]:
    """Return each Python block with the text block that follows it directly, or an empty one."""
    return re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", text, re.DOTALL)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_the_code_of_a_guide_text_runs_and_prints_what_it_says(file: Path) -> None:
    found = blocks(file.read_text(encoding="utf-8"))
    assert found, "a guide text needs a worked example"
    names: dict[str, object] = {}
    for code_, printed in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code_, file.name, "exec"), names)  # noqa: S102  our own text
        if printed:
            assert out.getvalue().strip() == printed.strip()


# ---- every number is computed --------------------------------------------------------------------------------


def digits(number: str) -> int:
    """Return how many significant digits a written number has."""
    return len(number.split("e", maxsplit=1)[0].replace(".", "").lstrip("0"))


def told(text: str) -> list[str]:
    """Return the decimals of at least three digits in the prose, less the numbers of places such as Theorem 2.14."""
    prose = re.sub(r"\\[a-zA-Z]+", " ", guide.prose(text))  # a command of LaTeX may stand right before a number
    return [
        found[0]
        for found in DECIMAL.finditer(prose)
        if digits(found[0]) >= 3 and not PLACE.search(prose[max(0, found.start() - 14) : found.start()])
    ]


def known(text: str) -> list[float]:
    """Return the numbers that a text computes (its printed output) or gives to the computation."""
    inside = "\n".join(body for kind, body in FENCE.findall(text) if kind in ("text", "python", "figure"))
    return [float(number) for number in NUMBER.findall(inside)]


def is_known(number: str, computed: list[float]) -> bool:
    """Whether a written number is one of these, rounded to the digits written."""
    mantissa, _, power = number.partition("e")
    half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.split(".")[1]))
    return any(abs(abs(value) - float(number)) <= half * (1 + 1e-9) for value in computed)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_every_number_in_the_prose_is_computed(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    constants = {*ORDER["constants"]["any"], *ORDER["constants"].get(file.stem, [])}
    computed = known(text)
    assert [n for n in told(text) if n not in constants and not is_known(n, computed)] == []


def test_the_number_check_can_fail() -> None:
    text = "It is 0.3053, not 0.306; see Theorem 2.14 and 12.5 and 0.01.\n\n```text\nvalue 0.30526339\n```\n"
    assert told(text) == ["0.3053", "0.306", "12.5"]
    assert [is_known(number, known(text)) for number in told(text)] == [True, False, False]


# ---- order, pictures, completeness ---------------------------------------------------------------------------


def test_every_text_has_a_place_and_a_title() -> None:
    listed = [name for chapter in ORDER["chapter"] for name in chapter["texts"]]
    assert len(listed) == len(set(listed))
    assert set(listed) == {file.stem for file in TEXTS} == set(ORDER["title"])
    assert set(ORDER["constants"]) - {"any"} <= set(listed)
    assert len(set(ORDER["title"].values())) == len(listed)


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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("guarantees", [entry.name for entry in registry.entries() if entry.group == "guarantee"]),
        ("mechanisms", [entry.name for entry in registry.entries() if entry.group == "mechanism"]),
        ("theorems", [theorem.name for theorem in THEOREMS]),
    ],
)
def test_everything_registered_has_a_section(text: str, names: list[str]) -> None:
    headings = "\n".join(guide.headings(text))
    assert [name for name in names if f"`{name}`" not in headings] == []


def formulas(text: str) -> list[str]:
    """Return the formulas of a Markdown text."""
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.sub(r"`[^`\n]*`", "", text), re.DOTALL)
    return [shown or inline for shown, inline in found]


def test_formulas_become_mathml_without_rest() -> None:
    """What the site's converter does not know would be left as a backslash."""
    texts = {file.stem: guide.prose(file.read_text(encoding="utf-8")) for file in TEXTS}
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
    text = guide.prose(file.read_text(encoding="utf-8"))
    assert [sign for sign in FORBIDDEN if sign in text] == []
    assert re.sub(r"`[^`]*`", "", text).count("$") % 2 == 0
    assert not re.search(r"^#{1,2} ", text, re.MULTILINE), "texts begin at the third level of headings"
