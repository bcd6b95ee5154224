"""Fuzzers of what strangers write around their numbers: tops of reports, specs of sites, matrices, series and kept parts of sweeps."""

from __future__ import annotations

import json
import math
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpcore.files.matrices import read_matrix
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv
from dpcore.planner.series import SeriesModel, fit, read_panel
from dpcore.site.config import read_config
from dpcore.site.report.front import read_front, split
from dpcore.sweeps.cells import compute_part, part_of
from dpcore.sweeps.grid import Grid
from tests.fuzz.kinds import Answer, Kind
from tests.fuzz.language import NUMBERS
from tests.fuzz.readers import mutated

if TYPE_CHECKING:
    from collections.abc import Callable

FRONT: Final = (
    b'+++\ntitle = "A release"\nauthors = ["A", "B"]\ndate = "2026-01-31"\nlanguage = "en"\n\n[set]\nlimit = 4\n\n'
    b"[values]\nused = 'epsilons(\"gdp(1)\", delta=1e-6)'\n+++\n# Head\n\nText.\n"
)
SITE: Final = (
    b'title = "A site"\nlead = "Two words."\napp = "https://example.org/app"\naddress = "https://example.org"\n\n'
    b'[[question]]\ntext = "How?"\npage = "guide/x"\n\n[[section]]\nname = "guide"\ntitle = "Guide"\nsummary = "All."\nkind = "errata"\nfolder = "."\n'
)
MATRICES: Final = (b"0.5,0.1\n0,0.4\n", b",a,b\na,0.9,0\nb,0,0.9\n", b"a;b\n0,5;0,1\n0;0,5\n", b"1\n")
PANELS: Final = (
    b"user,time,value\nu,1,0.5\nu,2,0.25\nv,1,0.75\nv,2,0.5\nu,3,0.1\nv,3,0.6\n",
    b"user,a,b,c\nu,0.1,0.2,0.3\nv,0.4,0.5,0.1\nw,0.9,0.1,0.5\n",
)
GRID: Final = Grid.of("gdp({m})", "delta", {"m": [1, 2]}, epsilon=1)


def _drawer(name: str, starts: tuple[bytes, ...]) -> Callable[[int, int], bytes]:
    """Return how files of a kind are drawn: good ones, changed byte by byte or in their numbers."""

    def draw(seed: int, index: int) -> bytes:
        turn = random.Random(f"{name} {seed} {index}")
        text = turn.choice(starts)
        if turn.random() < 0.5:
            return mutated(text, turn)
        return text.replace(
            turn.choice((b"0.5", b"0.1", b"1", b"0", b"4")), turn.choice(NUMBERS).encode(), turn.randint(1, 2)
        )

    return draw


def ask_front(data: bytes) -> None:
    """Read the top of a report."""
    toml, _, above = split(data.decode("utf-8", "replace"), "x.md")
    read_front(toml, "x.md", {}, above=above)


def ask_site(data: bytes) -> None:
    """Read the spec of a site, in a folder of its own that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.toml"
        path.write_bytes(data)
        read_config(path)


def ask_matrix(data: bytes) -> Answer:
    """Read a matrix and let it be that of a series: what it becomes in the long run has no NaN."""
    rows = read_matrix(open_csv(data)).rows
    size = len(rows)
    model = SeriesModel(rows, tuple(tuple(float(i == j) for j in range(size)) for i in range(size)), 1.0)
    return Answer((), [model.radius, *map(float, model.stationary().ravel())])


def ask_panel(data: bytes) -> Answer:
    """Read users and times, both layouts, and fit a series."""
    table = read_microdata(open_csv(data))
    long = "time" in table.names
    panel = read_panel(table, table.names[0], *(("time", "value") if long else ()), lower=0.0, upper=1.0)
    return Answer((), [fit(panel).model.radius])


def draw_part(seed: int, index: int) -> str:
    """Return a kept part of a sweep, changed."""
    turn = random.Random(f"parts {seed} {index}")
    text = json.dumps(compute_part(GRID, 0, 1e-6).plain())
    return mutated(text.encode(), turn).decode("utf-8", "replace")


def ask_part(text: str) -> Answer:
    """Read a kept part: what is taken has its cells, in order."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return Answer()
    part = part_of(GRID, 0, plain)
    if part is None:
        return Answer()
    sides = [(cell.lower, cell.upper) for cell in part.cells if not isinstance(cell, str)]
    assert all(low <= high for low, high in sides), "the sides are not in order"
    return Answer((), [side for pair in sides for side in pair if not math.isinf(side)])


_FUZZERS: Final = (
    Kind("front", "tops of reports, TOML", _drawer("front", (FRONT,)), ask_front, 3_000, 2.0),
    Kind("site", "specs of sites, TOML", _drawer("site", (SITE,)), ask_site, 3_000, 2.0),
    Kind("matrix", "matrices of a series, CSV", _drawer("matrix", MATRICES), ask_matrix, 3_000, 2.0),
    Kind("panel", "users and times, CSV", _drawer("panel", PANELS), ask_panel, 3_000, 2.0),
    Kind("parts", "kept parts of a sweep, JSON", draw_part, ask_part, 3_000, 2.0),
)
KINDS: Final = {kind.name: kind for kind in _FUZZERS}
