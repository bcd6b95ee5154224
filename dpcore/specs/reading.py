"""Specs from files: TOML tables ``[[figure]]``, and blocks of TOML inside Markdown."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.core.registry import shown
from dpcore.files.documents import DocumentError, text_of, toml_of
from dpcore.specs.base import Spec, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

FENCE: Final = "figure"
NEEDED: Final = ("name", "draw", "title", "caption")
_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*figure\s*\]\]", re.MULTILINE)
_BLOCK: Final = re.compile(r"^```[ \t]*figure[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_WHERE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read(path: str | Path, *, strict: bool = True) -> tuple[Spec, ...]:
    """Return the figures of a TOML file, each a table ``[[figure]]``; its other tables are left alone.

    With `strict` every figure must have name, title and caption, and no two the same name.
    """
    file = Path(path)
    text = source_text(file)
    found = load(text, file.name)
    rows = found.get("figure", [])
    if not isinstance(rows, list):
        msg = f"{file.name}: figures are tables [[figure]], got {shown(rows)}."
        raise SpecError(msg)
    starts = [match.start() for match in _HEADER.finditer(text)]
    if len(starts) != len(rows):
        msg = f"{file.name}: every figure starts with a line [[figure]] of its own; {len(starts)} such lines for {len(rows)}."
        raise SpecError(msg)
    ends = [*starts[1:], len(text)][: len(starts)]
    specs = tuple(
        Spec(row, file.name, line, text[start:end], file.parent)
        for row, start, end, line in zip(rows, starts, ends, _lines(text, starts), strict=True)
    )
    return unique(tuple(complete(spec) for spec in specs)) if strict else specs


def block(text: str, *, file: str, line: int, folder: Path, name: str = "") -> Spec:
    """Return the spec of one Markdown block; `line` is that of its first own line, `name` its name if it has none."""
    table = load(text, file, line)
    return Spec({"name": name, **table} if name else table, file, line, text, folder)


def figures_in(markdown: str, *, file: str = "", folder: Path | None = None) -> tuple[Spec, ...]:
    """Return the figures of a Markdown text: its blocks fenced as ``figure``."""
    place = Path() if folder is None else folder
    blocks = list(_BLOCK.finditer(markdown))
    lines = _lines(markdown, [found.start(1) for found in blocks])
    return unique(
        tuple(
            block(found[1], file=file, line=line, folder=place, name=f"figure-{index}")
            for index, (found, line) in enumerate(zip(blocks, lines, strict=True), 1)
        )
    )


def _lines(text: str, places: Sequence[int]) -> list[int]:
    """Return the line of each place, in one go through the text; the places ascend."""
    lines, line, at = [], 1, 0
    for place in places:
        line += text.count("\n", at, place)
        lines.append(line)
        at = place
    return lines


def load(text: str, file: str, line: int = 1) -> dict[str, Any]:
    """Return a TOML text as a table; a mistake, or what is too long or too deep, is named with its line in the file."""
    try:
        return toml_of(text)
    except DocumentError as error:
        msg = f"{file}, line {line + error.line - 1}: {error}"
        raise SpecError(msg) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        where = _WHERE.search(message)
        inside = int(where[1]) if where and where[1] else text.count("\n") + 1
        reason = _WHERE.sub("", message)
        msg = f"{file}, line {line + inside - 1}: not TOML: {reason[:1].lower()}{reason[1:]}."
        raise SpecError(msg) from error


def place_of(source: str, file: str, key: str) -> str:
    """Return the file and the line of a key of the top level of a TOML text, for messages."""
    found = re.search(rf"^[ \t]*\"?{re.escape(key)}\"?[ \t]*=", source, re.MULTILINE)
    return f"{file}, line {source.count(chr(10), 0, found.start()) + 1}" if found else file


def lines_above(source: str, key: str) -> int:
    """Return how many lines of a TOML file come before the text that a key of its top level holds."""
    found = re.search(rf"^{re.escape(key)}[ \t]*=[ \t]*(\"\"\"|\'\'\')?(\r?\n)?", source, re.MULTILINE)
    return source.count("\n", 0, found.end()) if found else 0


def complete(spec: Spec) -> Spec:
    """Return a spec that has all a figure in a gallery needs."""
    for key in NEEDED:
        if key not in spec:
            spec.fail(f"{key} is missing; every figure has {', '.join(NEEDED)}.")
    return spec


def unique(specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
    """Return the specs if no name occurs twice."""
    seen: set[str] = set()
    for spec in specs:
        if spec.name in seen:
            spec.fail(f"the name {spec.name} is taken by an earlier figure.", "name")
        seen.add(spec.name)
    return specs


def source_text(file: Path) -> str:
    """Return the text of a spec, a report or a page; what cannot be read is named."""
    try:
        return text_of(file)
    except DpcoreError as error:
        raise SpecError(str(error)) from None
