"""What the reference owes a reader: the formula of each object and what it assumes, or a reason why it has none."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any, Final

import pytest

from dpcore.cli.describe import commands
from dpcore.core.registry import entries
from dpcore.labs import LABS
from dpcore.site import default_file
from dpcore.site.compose import Composer, Site
from dpcore.site.config import read_config
from dpcore.site.places import Directory
from dpcore.site.reference.commands import command_page
from dpcore.site.reference.kinds import kinds_page
from dpcore.site.reference.names import name_pages
from dpcore.site.reference.pairs import lab_page, pair_page
from dpcore.site.reference.theorems import theorem_page
from dpcore.specs import drawers
from dpcore.theorems import THEOREMS
from dpcore.utility import PAIRS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.site.pages import Page

STATED: Final[dict[str, Mapping[str, Any]]] = {
    "guarantee": {one.name: one for one in entries("guarantee")},
    "mechanism": {one.name: one for one in entries("mechanism")},
    "operation": {one.name: one for one in entries("operation")},
    "theorem": {one.name: one for one in THEOREMS},
    "pair": {name: PAIRS[name] for name in PAIRS},
    "lab": {name: LABS[name] for name in LABS},
}
REASONS: Final = {
    "kind": "a figure shows numbers of theorems, mechanisms and queries, which state their own",
    "command": "a command prints numbers of theorems, mechanisms and queries, which state their own",
}


def pages() -> dict[str, Page]:
    """Return the page of each kind of object."""
    guarantee, mechanism, operation = name_pages("reference")
    return {
        "guarantee": guarantee,
        "mechanism": mechanism,
        "operation": operation,
        "theorem": theorem_page("reference"),
        "pair": pair_page("reference"),
        "lab": lab_page("reference"),
        "kind": kinds_page("reference"),
        "command": command_page("reference", commands()),
    }


def parts(page: Page) -> dict[str, str]:
    """Return the HTML of each object of a page by the anchor of its heading; links lead nowhere here."""
    site = Site(read_config(default_file()), [page], {}, {}, Directory(()))
    pieces = re.split(r'<h2 id="([^"]+)"', page.make(Composer(site, page)))
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@pytest.mark.parametrize("kind", STATED)
def test_every_object_has_its_formula_and_its_assumptions(kind: str) -> None:
    shown, objects = parts(pages()[kind]), STATED[kind]
    assert set(shown) == set(objects)
    without = [
        name
        for name, one in objects.items()
        if not (one.formula and one.assumptions)
        or 'class="formula"' not in shown[name]
        or not re.search(r"<dt>Assumptions</dt><dd>[^<]", shown[name])
    ]
    assert without == []


def test_figures_and_commands_have_what_they_take_and_print() -> None:
    assert set(pages()) == set(STATED) | set(REASONS)
    kinds, lines = parts(pages()["kind"]), parts(pages()["command"])
    assert set(kinds) >= {f"kind-{name}" for name in drawers()}
    assert set(lines) == {f"dpcore-{one.name}" for one in commands()}
    for name, drawer in drawers().items():
        words = unescape(kinds[f"kind-{name}"])
        assert drawer.meaning
        assert drawer.meaning[1:] in words
        assert "<td><code>" in words
    for one in commands():
        words = unescape(lines[f"dpcore-{one.name}"])
        assert one.help[1:] in words
        assert f"dpcore {one.name}" in words
        assert all(text for _, text in one.arguments), one.name


def test_the_count_of_objects_does_not_fall() -> None:
    """A kind whose register is not loaded would pass with no objects at all."""
    counts = {kind: len(objects) for kind, objects in STATED.items()} | {
        "kind": len(drawers()),
        "command": len(commands()),
    }
    least = {
        "guarantee": 10,
        "mechanism": 37,
        "operation": 12,
        "theorem": 19,
        "pair": 29,
        "lab": 12,
        "kind": 61,
        "command": 29,
    }
    assert {kind: counts[kind] >= least[kind] for kind in least} == dict.fromkeys(least, True)
