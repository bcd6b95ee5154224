"""Laws of the house: a class name once, no switch on a mechanism outside its room, and no module of more than 500 lines."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "dpcore"
SWITCH = re.compile(r"isinstance\([^)]*(Laplace|Gaussian|Geometric|Uniform|Staircase|RandomizedResponse|Poisson)")
ROOMS = {"mechanisms", "curves", "engine"}
MOST_LINES = 500


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(file.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_switch_on_a_mechanism_outside_its_room() -> None:
    switches = [
        f"{file.relative_to(PACKAGE)}: {line.strip()}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if file.relative_to(PACKAGE).parts[0] not in ROOMS
        for line in file.read_text(encoding="utf-8").splitlines()
        if SWITCH.search(line)
    ]
    assert switches == []


def test_no_module_is_too_long_to_read() -> None:
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.with_name("dpcore_verify").rglob("*.py")]
    lines = {str(file): file.read_text(encoding="utf-8").count("\n") for file in files}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
