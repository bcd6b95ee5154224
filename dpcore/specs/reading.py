"""Specs from files: TOML tables ``[[figure]]``, and blocks of TOML inside Markdown."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.core.registry import value_text
from dpcore.files.documents import DocumentError, text_of, toml_of
from dpcore.specs.base import Spec, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

FENCE: Final = "figure"
REQUIRED: Final = ("name", "draw", "title", "caption")
_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*figure\s*\]\]", re.MULTILINE)
_BLOCK: Final = re.compile(r"^```[ \t]*figure[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_WHERE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read(path: str | Path, *, strict: bool = True) -> tuple[Spec, ...]:
    """Return the figures of a TOML file, each a table ``[[figure]]``; other tables are ignored.

    Parameters
    ----------
    path : str or Path
        The file.
    strict : bool, default True
        Require a name, a title and a caption of each figure, and different names.

    Returns
    -------
    tuple of Spec
        The specs, in the order of the file.

    Raises
    ------
    SpecError
        If the file cannot be read, or a figure is not complete.
    """
    file = Path(path)
    text = source_text(file)
    rows = load(text, file.name).get("figure", [])
    if not isinstance(rows, list):
        msg = f"{file.name}: figures are tables [[figure]], got {value_text(rows)}."
        raise SpecError(msg)
    starts = [match.start() for match in _HEADER.finditer(text)]
    if len(starts) != len(rows):
        msg = f"{file.name}: every figure starts with a line [[figure]] of its own; there are {len(starts)} such lines for {len(rows)} figures."
        raise SpecError(msg)
    ends = [*starts[1:], len(text)][: len(starts)]
    specs = tuple(
        Spec(row, file.name, line, text[start:end], file.parent)
        for row, start, end, line in zip(rows, starts, ends, _lines(text, starts), strict=True)
    )
    return unique(tuple(complete(spec) for spec in specs)) if strict else specs


def block(text: str, *, file: str, line: int, folder: Path, name: str = "") -> Spec:
    """Return the spec of one block of a Markdown text.

    Parameters
    ----------
    text : str
        The TOML inside the block.
    file, line : str or int
        Name of the file, and number of the first line inside the block, for messages.
    folder : Path
        The folder that file names in the block are relative to.
    name : str, default ""
        The name of the figure if the block gives none.

    Returns
    -------
    Spec
        The spec.
    """
    table = load(text, file, line)
    return Spec({"name": name, **table} if name else table, file, line, text, folder)


def figures_in(markdown: str, *, file: str = "", folder: Path | None = None) -> tuple[Spec, ...]:
    """Return the figures of a Markdown text: its blocks fenced as ``figure``.

    Parameters
    ----------
    markdown : str
        The text.
    file : str, default ""
        Name of the file, for messages.
    folder : Path, optional
        The folder that file names are relative to; the working directory by default.

    Returns
    -------
    tuple of Spec
        The specs, in the order of the text.
    """
    place = Path() if folder is None else folder
    blocks = list(_BLOCK.finditer(markdown))
    lines = _lines(markdown, [match.start(1) for match in blocks])
    return unique(
        tuple(
            block(match[1], file=file, line=line, folder=place, name=f"figure-{index}")
            for index, (match, line) in enumerate(zip(blocks, lines, strict=True), 1)
        )
    )


def _lines(text: str, places: Sequence[int]) -> list[int]:
    """Return the line of each position in one pass through the text; positions ascend."""
    lines, line, at = [], 1, 0
    for place in places:
        line += text.count("\n", at, place)
        lines.append(line)
        at = place
    return lines


def load(text: str, file: str, line: int = 1) -> dict[str, Any]:
    """Return a TOML text as a table.

    Parameters
    ----------
    text : str
        The text.
    file : str
        Name of the file, for messages.
    line : int, default 1
        The line of the file where the text starts.

    Returns
    -------
    dict of str to object
        The table.

    Raises
    ------
    SpecError
        If the text is not TOML, too long or too deep; it names the line.
    """
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
    """Return the file and the line of a key or a table of a TOML text, for messages."""
    name = re.escape(key)
    match = re.search(rf"^[ \t]*(?:\"?{name}\"?[ \t]*=|\[{{1,2}}[ \t]*\"?{name}\"?[ \t]*[\].])", source, re.MULTILINE)
    return f"{file}, line {source.count(chr(10), 0, match.start()) + 1}" if match else file


def lines_above(source: str, key: str) -> int:
    """Return the number of lines of a TOML file before the text of a top-level key."""
    match = re.search(rf"^{re.escape(key)}[ \t]*=[ \t]*(\"\"\"|\'\'\')?(\r?\n)?", source, re.MULTILINE)
    return source.count("\n", 0, match.end()) if match else 0


def complete(spec: Spec) -> Spec:
    """Return the spec if it has all keys that a figure of a gallery needs."""
    for key in REQUIRED:
        if key not in spec:
            spec.fail(f"{key} is missing; every figure has {', '.join(REQUIRED)}.")
    return spec


def unique(specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
    """Return the specs if their names differ."""
    names: set[str] = set()
    for spec in specs:
        if spec.name in names:
            spec.fail(f"the name {spec.name} is taken by an earlier figure.", "name")
        names.add(spec.name)
    return specs


def source_text(file: Path) -> str:
    """Return the text of a spec, a report or a page."""
    try:
        return text_of(file)
    except DpcoreError as error:
        raise SpecError(str(error)) from None
