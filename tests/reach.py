"""Line and branch coverage of a test run, printed before pytest's closing line: ``pytest -p tests.reach``.

SlipCover puts probes into the modules of the package as they are imported and takes out those that have fired: each process
starts some five seconds later and then loses little, while a tracer doubles the time. Every worker of pytest-xdist counts for itself, and the controller adds up.
Processes that tests start are not counted. No number is demanded: a low one is a place to look.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import slipcover

if TYPE_CHECKING:
    import pytest

PACKAGES: Final = ("dpcore", "dpcore_verify")
ROOT: Final = Path(__file__).resolve().parents[1]
MISSING: Final = ROOT / "build" / "coverage.txt"

_probes = slipcover.Slipcover(branch=True)
_imports = slipcover.ImportManager(_probes, slipcover.FileMatcher([ROOT / package for package in PACKAGES]))
_imports.__enter__()  # for as long as the process lives: modules are imported until the last test
_parts: list[dict[str, Any]] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker has reached to the controller; without workers, keep it."""
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        _parts.append(_probes.get_coverage())
    else:
        output["reach"] = json.dumps(_probes.get_coverage())


def pytest_testnodedown(node: Any) -> None:
    """Keep what a worker has reached; one that crashed has said nothing."""
    text = getattr(node, "workeroutput", {}).get("reach")
    if text is not None:
        _parts.append(json.loads(text))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print lines and branches of each room, and write the missing ones of each file to `MISSING`."""
    if not _parts:
        return
    everything, *others = _parts
    for part in others:
        slipcover.merge_coverage(everything, part)
    slipcover.merge_coverage(everything, _unseen(everything["files"]))
    MISSING.parent.mkdir(exist_ok=True)
    with MISSING.open("w", encoding="utf-8") as file:
        slipcover.print_coverage(everything, outfile=file, skip_covered=True)
    terminalreporter.section("lines and branches that the tests reach")
    for line in table(everything["files"]):
        terminalreporter.write_line(line)


def _unseen(files: dict[str, Any]) -> dict[str, Any]:
    """Return the modules that no test imports, all their lines missing."""
    sources, seen = [str(ROOT / package) for package in PACKAGES], [str(ROOT / name) for name in files]
    return slipcover.Slipcover(branch=True, source=sources, omit=seen).get_coverage()  # type: ignore[no-any-return]


def table(files: dict[str, dict[str, Any]]) -> list[str]:
    """Return one line for each room and one for all, with what is reached and of how many."""
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, file in files.items():
        counts = [
            len(file[kind]) for kind in ("executed_lines", "missing_lines", "executed_branches", "missing_branches")
        ]
        package, *inside = Path(name).parts
        room = package if len(inside) == 1 or package != PACKAGES[0] else inside[0]
        for row in (rooms[room], rooms["together"]):
            row[:] = (total + count for total, count in zip(row, counts, strict=True))
    order = sorted(rooms, key=lambda room: (room == "together", room))
    return [f"{'':<16}{'lines':>16}{'branches':>18}"] + [
        f"{room:<16}{_share(*rooms[room][:2])}{_share(*rooms[room][2:]):>18}" for room in order
    ]


def _share(reached: int, missing: int) -> str:
    """Return the percentage, rounded down, and the total."""
    total = reached + missing
    return f"{100 * reached // total:>4} % of {total:>6}" if total else f"{'-':>16}"
