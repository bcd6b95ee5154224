"""The reference: every public name is described from its source, with an example that runs; nothing is listed that is not there."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import numpy as np
import pytest

import dpcore
from dpcore.core.errors import DpcoreError
from dpcore.files.data import data_folder
from dpcore.site.reference.constants import assigned, constants_of
from dpcore.site.reference.examples import read_examples, run_example
from dpcore.site.reference.library import ROOMS, described, rooms, things_of
from dpcore.site.reference.origin import PACKAGE, place_of

EXAMPLES = tomllib.loads((data_folder() / "examples.toml").read_text(encoding="utf-8"))
THINGS = [(room, thing) for room in rooms() for thing in things_of(importlib.import_module(room))]


def test_examples_belong_to_public_names() -> None:
    public = {(room, thing.name) for room, thing in THINGS}
    assert {(room, name) for room, names in EXAMPLES.items() if room in rooms() for name in names} <= public


def test_every_room_with_public_names_has_a_page() -> None:
    """The contributing guide promises the names in the `__all__` of each room; the command line has a page of its own."""
    top = Path(dpcore.__file__).parent
    planner = {f"dpcore.planner.{file.name.removesuffix('.py')}" for file in (top / "planner").iterdir()}
    empty = {"dpcore.planner.release"}  # its names are those of dpcore.planner
    sources = {file.parent.name: file for file in top.glob("*/__init__.py")} | {
        file.stem: file for file in top.glob("[a-z]*.py")
    }
    public = {f"dpcore.{name}" for name, file in sources.items() if "__all__ =" in file.read_text(encoding="utf-8")}
    assert {"dpcore.planner", "dpcore.values", "dpcore.sweeps"} <= public
    assert public - {"dpcore.cli"} <= set(ROOMS)
    assert {one for one in planner if not one.rpartition(".")[2].startswith("_")} - empty <= set(ROOMS)
    assert not hasattr(importlib.import_module("dpcore.planner.release"), "__all__")


def test_every_public_name_is_a_thing_or_a_constant_with_a_meaning() -> None:
    for room in rooms():
        module = importlib.import_module(room)
        constants = list(constants_of(module))
        things = {thing.name for thing in things_of(module)}
        assert things | {one.name for one in constants} >= set(getattr(module, "__all__", ()))
        assert [one.name for one in constants if not (one.doc and one.typed)] == []
        for one in constants:
            assert one.name in (PACKAGE / one.file).read_text(encoding="utf-8").splitlines()[one.line - 1]


def test_constants_are_read_where_they_are_assigned() -> None:
    file, _, typed, doc = assigned("dpcore.utility", "PAIRS")
    assert (file, typed) == ("dpcore/utility/base.py", "dict[str, type[UtilityPair]]")
    assert "by name" in doc
    errata = {one.name: one for one in constants_of(importlib.import_module("dpcore.labs.errata"))}
    assert (errata["NOTE"].value, errata["NOTE"].literal) == ("'note'", True)
    assert dict(errata["KINDS"].meanings)["note"].startswith("true, but loose")
    with pytest.raises(LookupError, match="nothing_here"):
        assigned("dpcore.utility", "nothing_here")


def test_every_public_name_has_an_example() -> None:
    """Two names need a library of others: theirs are shown, and run by the tests that have the library."""
    without = {
        f"{room}.{thing.name}"
        for room, thing in THINGS
        if ">>>" not in thing.doc and thing.name not in EXAMPLES.get(room, {})
    }
    assert without == {"dpcore.training.ledger_from_opendp", "dpcore.training.opacus_accountant"}


def test_an_example_is_run_like_a_session() -> None:
    code = read_examples("dpcore.words")["grouped"]
    assert run_example("grouped", code)["output"] == "14 063"
    with pytest.raises(DpcoreError, match=r"examples\.toml, broken: the example fails: NameError"):
        run_example("broken", "nothing_here\n")


def test_sources_are_files_and_lines_of_the_package() -> None:
    file, line = place_of(run_example)
    assert "def run_example" in (PACKAGE / file).read_text(encoding="utf-8").splitlines()[line - 1]
    found = described(run_example)
    assert [one.name for one in found.parameters] == ["name", "code"]
    assert str(found.returns) == "dict[str, str]"
    assert described(np.mean) is None


def test_the_reference_shows_types_examples_and_places(site: Path) -> None:
    page = (site / "reference" / "dpcore_frames.html").read_text(encoding="utf-8")
    part = page[page.index('id="deltas"') : page.index('id="epsilons"')]
    assert "deltas(regions: Regions, epsilon: ArrayLike | None = None)" in part
    assert "dp(0.6, 0.05) ** 5" in part
    assert "<code>dpcore/frames.py</code>, line " in part
    names = (site / "reference" / "guarantees.html").read_text(encoding="utf-8")
    assert 'href="../guide/guarantees.html#' in names
