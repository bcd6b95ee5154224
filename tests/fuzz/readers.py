"""Fuzzers of everything that reads a stranger's file: ledgers, audits, tables, plans, specs, texts and reports."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.audit import read_audit
from dpcore.core.errors import DomainError
from dpcore.files.csv_writer import read_frame
from dpcore.files.documents import json_of
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv
from dpcore.ledger import read_ledger, to_csv, to_json
from dpcore.planner import charges, plan_to_json, plan_to_toml, read_plan, read_table
from dpcore.planner.disclosure import check, protection
from dpcore.site.markdown import Writer, read
from dpcore.specs import Spec, code, load
from dpcore.specs import read as read_specs
from dpcore.specs.base import drawer_of
from dpcore.utility.reading import read_labels, read_numbers
from tests.fuzz.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

DATA: Final = Path(__file__).resolve().parents[2] / "data"
HOSTILE: Final = (
    b'"', b"'", b"'''", b'"""', b"[", b"]", b"{", b"}", b"(", b")", b"$", b"`", b"```", b"|", b"#", b"=", b"\\", b"\n", b"\r",
    b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b",", b";", b"1e999", b"-1", b"nan", b"NaN", b"inf", b"-inf", b"1" * 400, b"0x" + b"f" * 400,
    b"9" * 5000, b"[" * 200, b"{a=" * 100, b"a." * 100, b"(" * 2000, b"[" * 2000, b"=HYPERLINK(1)", b"../../x", b"/etc/passwd",
    b"javascript:1", b"<script>", b"\xe2\x80\xae", b"e", b"^", b"@", b"%", b"&", b"*", b"_", b"!", b"~", b"-", b"\n\n", b"[[figure]]\n",
)  # fmt: skip
LEDGER: Final = b'label,expression,count,date,note\ncounts,"laplace(0.1)",10,2024-01-01,a\nmean,gaussian(5),2,,\n'
LEDGER_JSON: Final = (
    b'{"format": "dpcore ledger", "relation": "", "rows": [{"label": "a", "expression": "dp(1)", "count": 2}]}'
)
SCORES: Final = b"score,label\n0.1,0\n0.9,1\n0.4,0\n0.7,1\n"
COUNTS: Final = b"tp,fp,tn,fn\n10,1,9,2\n"
TABLE: Final = b"age,answer\n31,yes\n44,no\n27,yes\n,no\n"
PLAN: Final = (
    b'epsilon = 1\ndelta = 1e-6\nrecords = 2\nperson_column = "id"\nsplit = "equal error"\nrows = 100\n\n'
    b'[[columns]]\nname = "age"\nlower = 0\nupper = 100\n\n[[columns]]\nname = "answer"\ncategories = ["no", "yes"]\n\n'
    b'[[answers]]\nkind = "mean"\ncolumn = "age"\nwhere = "answer = yes and age >= 18"\nweight = 2\n\n'
    b'[[answers]]\nkind = "count"\nwhere = \'answer in ["no", yes] and age != 30\'\nlabel = "some"\n\n'
    b'[[answers]]\nkind = "quantile"\ncolumn = "age"\nlevel = 0.25\n\n[[answers]]\nkind = "contingency"\ncolumn = "age"\nby = "answer"\nbins = 5\n'
)
TEXT: Final = (
    b"# Title\n\nA lead with $x^2$ and [a link](one.md).\n\n## Head (one)\n\n| a | b |\n|---|--:|\n| 1 | `c` |\n\n"
    b"- item\n  - deeper **bold**\n\n```python\nprint(1)\n```\n\n$$\\frac{1}{2}$$\n\n> quoted\n\n1. one\n"
)


def _sheet(data: bytes) -> None:
    """Read a table as numbers and as answers, column by column."""
    sheet = open_csv(data)
    for column in sheet.columns[:3]:
        for reader in (lambda c: read_numbers(sheet, c, 0.0, 100.0), lambda c: read_labels(sheet, c)):
            try:
                reader(column)
            except DomainError:
                continue


def _plan(data: bytes) -> None:
    """Read a plan, and what is written of it again; find its parallel answers."""
    plan = read_plan(data.decode("utf-8", "replace"))
    charges(plan)
    if not plan == read_plan(plan_to_toml(plan)) == read_plan(plan_to_json(plan)):
        msg = "The plan does not come back."
        raise AssertionError(msg)


def _release(data: bytes) -> None:
    """Read a table by a plan; check and generalise it."""
    with contextlib.suppress(DomainError):
        read_table(data, read_plan(PLAN.decode().replace('"id"', '"age"')))
    table = read_microdata(open_csv(data))
    names = [column.name for column in table.columns][:2]
    check(table, protection(table, names[:1], generalise=f"{names[0]}:10"), names[1:])


def _ledger(data: bytes) -> None:
    """Read a ledger, and what is written of it again."""
    reading = read_ledger(data)
    again = read_ledger(to_csv(reading))
    if to_csv(again) != to_csv(reading):
        msg = "The ledger does not come back."
        raise AssertionError(msg)
    read_ledger(to_json(reading))


def _text(data: bytes) -> None:
    """Read and write a Markdown text."""
    found = read(data.decode("utf-8", "replace"), file="x.md", folder=DATA)
    writer = Writer("x.md", figures={spec.name: "" for spec in found.figures})
    page = writer.text(found)
    if "<script" in page or 'href="javascript' in page.lower():
        msg = "A script got into the page."
        raise AssertionError(msg)


def _spec(data: bytes) -> None:
    """Check the figures of a TOML text, and write their code; nothing is drawn."""
    for row in load(data.decode("utf-8", "replace"), "x.toml").get("figure", []):
        if isinstance(row, dict):
            ask_figure(row)


def _json(data: bytes) -> None:
    """Read JSON as a manifest is read; what is no JSON is a `ValueError`, which says why."""
    try:
        json_of(data.decode("utf-8", "replace"))
    except ValueError as error:
        raise DomainError(str(error)) from None


def _frame(data: bytes) -> None:
    """Read a table of our own after somebody changed it."""
    read_frame(data.decode("utf-8", "replace"))


@lru_cache(maxsize=1)
def _plans() -> tuple[bytes, ...]:
    """Return a plan as both kinds of files."""
    return PLAN, plan_to_json(read_plan(PLAN.decode())).encode()


@lru_cache(maxsize=1)
def _gallery() -> tuple[bytes, ...]:
    """Return the figures of the galleries, a file each."""
    files = sorted((DATA / "gallery").glob("*.toml"))
    specs = [spec for file in files for spec in read_specs(file)]
    return tuple(spec.text.encode() for spec in specs)


def mutated(data: bytes, turn: random.Random) -> bytes:
    """Return an input with a few places changed: hostile pieces put in, pieces taken out, doubled or exchanged."""
    found = bytearray(data)
    for _ in range(turn.randint(1, 4)):
        at = turn.randrange(len(found) + 1)
        end = min(len(found), at + turn.randint(0, 12))
        way = turn.randrange(4)
        piece = bytes(found[at:end])
        found[at:end] = (
            turn.choice(HOSTILE), b"", piece * turn.choice((2, 3, 300)), turn.choice(HOSTILE) * turn.choice((1, 2, 50)) + piece,
        )[way]  # fmt: skip
    return bytes(found)


def _drawer(name: str, starts: Callable[[], tuple[bytes, ...]]) -> Callable[[int, int], bytes]:
    """Return how files of a kind are drawn: good ones, changed."""

    def draw(seed: int, index: int) -> bytes:
        turn = random.Random(f"{name} {seed} {index}")
        return mutated(turn.choice(starts()), turn)

    return draw


SPEC_VALUES: Final[tuple[Any, ...]] = (
    0, -1, 1e308, -1e-320, float("inf"), float("nan"), 10**299, True, "", " ", "x", "dp(1)", "dp(1)^1000000", "?", "0:3:0.1",
    "1e-9..1e-2/8", "../x", [], [1], [[1]], ["dp(1)"], {}, {"a": 1}, {"page": "x"}, [{}], "a" * 3000, "(" * 3000, None,
)  # fmt: skip


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, Any], ...]:
    return tuple(dict(row) for text in _gallery() for row in load(text.decode(), "x").get("figure", []))


def draw_figure(seed: int, index: int) -> dict[str, Any]:
    """Return a figure of the galleries with keys left out, exchanged, and set to values that no one expects."""
    turn = random.Random(f"figure {seed} {index}")
    row = dict(turn.choice(_rows()))
    keys = sorted({key for row in _rows() for key in row})
    for _ in range(turn.randint(1, 3)):
        row[turn.choice([*row, turn.choice(keys)])] = turn.choice(SPEC_VALUES)
    if turn.random() < 0.3:
        row.pop(turn.choice(list(row)))
    return row


def ask_figure(row: dict[str, Any]) -> None:
    """Check a figure's row, and write its code; nothing is drawn."""
    spec = Spec(row, "x.toml", 1, "", DATA)
    drawer_of(spec)
    code(spec)


def _reader(
    name: str, about: str, ask: Callable[[bytes], object], starts: Callable[[], tuple[bytes, ...]], count: int
) -> Kind:
    return Kind(name, about, _drawer(name, starts), _Silent(ask), count, 2.0)


@dataclass(frozen=True)
class _Silent:
    """A reader whose result is no answer in numbers."""

    ask: Callable[[bytes], object]

    def __call__(self, data: bytes) -> None:
        self.ask(data)


_READERS: Final = (
    _reader("ledger", "ledgers, CSV and JSON", _ledger, lambda: (LEDGER, LEDGER_JSON), 20_000),
    _reader("audit", "guesses and counts of an attack, CSV", read_audit, lambda: (SCORES, COUNTS), 20_000),
    _reader("table", "somebody's own data, CSV", _sheet, lambda: (TABLE,), 15_000),
    _reader("plan", "plans of a release, TOML and JSON", _plan, _plans, 10_000),
    _reader("release", "somebody's own data, by a plan and a disclosure check", _release, lambda: (TABLE,), 10_000),
    _reader("frame", "our own tables, changed", _frame, lambda: (TABLE, SCORES), 15_000),
    _reader("json", "manifests, JSON", _json, lambda: (LEDGER_JSON,), 10_000),
    _reader("text", "reports, Markdown", _text, lambda: (TEXT,), 5_000),
    _reader("spec", "figures of a report, TOML", _spec, _gallery, 5_000),
    Kind("figure", "figures of a report, values exchanged", draw_figure, ask_figure, 8_500, 2.0),
)
KINDS: Final = {kind.name: kind for kind in _READERS}
