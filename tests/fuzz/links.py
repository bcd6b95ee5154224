"""A fuzzer of links: every page, opened with parameters that nobody would choose."""

from __future__ import annotations

import random
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from dpcore.app import work
from dpcore.app.page import presets
from dpcore.specs.presets import parameters
from tests.app.visits import KINDS as WORDS
from tests.app.visits import ROOT, said
from tests.fuzz.kinds import Kind
from tests.fuzz.language import NUMBERS, draw_text

if TYPE_CHECKING:
    from collections.abc import Callable

Link: TypeAlias = "tuple[str, dict[str, list[str]]]"
"""A page's file and the parameters of a link to it."""

PATIENCE: Final = 5.0
"""Seconds that the work of a page may take here, instead of `work.DEADLINE`: the bound is the same, the wait is shorter."""

DRAWING: Final = 3.0
"""Seconds beside that work: fields, tables and charts of a page on a busy machine."""

STOP: Final = 60.0  # seconds after which Streamlit's own test runner gives up
GARBAGE: Final = (
    "", " ", "\0", "x", "true", "false", "None", "[]", "{}", "[[1, 2], [3]]", '{"a": {"b": [1]}}', "../../etc/passwd", "javascript:alert(1)",
    "<script>alert(1)</script>", "$x^2$", "# head", "![](x)", "`", "|a|b|", "\u202e", "ε = 1", "٣", "😀" * 50, "a" * 7000, "(" * 3000,
    "1;" * 2000, "dp(1); " * 500, "1, " * 2000, "label,expression,count\n" + "a,dp(1),1\n" * 300, "'\"\\", "=1+1", "%s %d {0}", "\r\n",
    "link_length", "a b=1 c=2", "noise_zoo x=1", "0, 0", "0.5, 0.5", "1, 0; 0, 1", "1e-9..1e-2/8", "0:3:0.1", "dp(1)^1000000000000",
    "rdp(2, 1)^100000", "poisson_gaussian(1, 0.01)^1000000", "histogram(1)^100 * laplace(2)^100 * geometric(3)^99",
)  # fmt: skip


def pages() -> list[str]:
    """Return the files of the pages in their order, with the first page of the app."""
    files = sorted((ROOT / "pages").glob("*.py"), key=lambda file: int(file.name.partition("_")[0]))
    return [f"pages/{file.name}" for file in files]


@lru_cache(maxsize=1)
def _prepare() -> None:
    """Do once what Streamlit's test runner would do for every page anew: compile scripts, look for components.

    A page shows its tracebacks here, which it hides from visitors.
    """
    config.set_option("client.showErrorDetails", "full")
    shared, found = ScriptCache(), manifest_scanner.scan_component_manifests()
    local_script_runner.ScriptCache = lambda: shared  # type: ignore[misc,assignment]  # for this process
    manifest_scanner.scan_component_manifests = lambda: found


@cache
def _states(file: str) -> tuple[dict[str, list[str]], ...]:
    """Return what links to a page may say: its defaults, as the page itself declares them, and its presets."""
    app = visit((file, {}))
    (defaults,) = app.session_state["_linked"].values() if "_linked" in app.session_state else ({},)
    name = re.sub(r"pages/\d+_|\.py", "", file)
    rows: list[dict[str, Any]] = [defaults, *({**defaults, **p.state} for p in presets() if p.page == name)]
    return tuple({key: parameters(value) for key, value in row.items()} for row in rows)


def visit(link: Link) -> AppTest:
    """Open a page with a link."""
    _prepare()
    file, query = link
    app = AppTest.from_file(str(ROOT / file), default_timeout=STOP)
    for key, values in query.items():
        app.query_params[key] = values if len(values) != 1 else values[0]
    app.run()
    return app


def _value(old: str, seed: int, index: int, turn: random.Random) -> str:
    """Return something else for a value of a link."""
    ways: tuple[Callable[[], str], ...] = (
        lambda: turn.choice(GARBAGE),
        lambda: turn.choice(NUMBERS),
        lambda: turn.choice(NUMBERS),
        lambda: draw_text(seed, index),
        lambda: draw_text(seed, index) + turn.choice((";", ",", " ")) + old,
        lambda: re.sub(r"[0-9.]+(e-?[0-9]+)?", lambda _: turn.choice(NUMBERS), old, count=turn.randint(1, 3)),
        lambda: old[: turn.randrange(len(old) + 1)] + turn.choice(GARBAGE)[:200] + old[turn.randrange(len(old) + 1) :],
    )
    text = turn.choice(ways)()
    return text.encode("utf-8", "replace").decode()[:7500]  # what a browser can send, and the server takes


def draw_link(seed: int, index: int) -> Link:
    """Return a page and a link to it: a good one with up to four values changed, doubled or left out."""
    turn = random.Random(f"links {seed} {index}")
    files = pages()
    file = files[index % len(files)]
    query = {key: list(values) for key, values in turn.choice(_states(file)).items()}
    for _ in range(turn.choice((1, 1, 2, 3, 4))):
        key = turn.choice([*query, "link_length", turn.choice(GARBAGE)[:50] or "x"]) if turn.random() < 0.1 else ""
        key = key or turn.choice([*query, "x"])
        old = query.get(key, [""])
        changed = _value(turn.choice(old or [""]), seed, index, turn)
        way = turn.random()
        if way < 0.85:
            query[key] = [changed]
        elif way < 0.95:
            query[key] = [*old, changed, *old]
        else:
            query.pop(key, None)
    return file, query


def ask_link(link: Link) -> None:
    """Open a page with a link: nothing but the page, with its title, no traceback and no NaN."""
    work.DEADLINE = PATIENCE
    app = visit(link)
    problems = [f"{found.message}\n{found.stack_trace}" for found in app.exception]
    if problems:
        raise PageError("\n".join(problems))
    assert len(app.title) == 1, "the page has no title"
    if "nan" not in str(link).lower():
        assert not re.search(r"\bnan\b", said(app, *WORDS, "error"), re.IGNORECASE), "the page says nan"


class PageError(RuntimeError):
    """A page showed a traceback."""


LINKS: Final = Kind("links", "every page, opened with a strange link", draw_link, ask_link, 500, PATIENCE, DRAWING)
KINDS: Final = {LINKS.name: LINKS}
