"""Blocks and inlines of a document of Pandoc, as its JSON format has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_LETTERS: Final = 66  # letters on a line of a page; a table of fewer is narrower than the page
CELL_LETTERS: Final = 28  # longer cells are wrapped
CELL_MARGIN: Final = 3  # letters that fit between two columns
Node = dict[str, Any]


def words(text: str) -> list[Node]:
    """Return a plain text as inlines."""
    inlines: list[Node] = []
    for place, word in enumerate(text.replace("\n", " ").split(" ")):
        if place:
            inlines.append({"t": "Space"})
        if word:
            inlines.append({"t": "Str", "c": word})
    return inlines


def attr(name: str = "", *classes: str, **keys: str) -> list[Any]:
    """Return an identifier with classes and keys."""
    return [name, list(classes), [[key.replace("_", "-"), value] for key, value in keys.items()]]


def para(inlines: list[Node], kind: str = "Para") -> Node:
    """Return a paragraph."""
    return {"t": kind, "c": inlines}


def header(level: int, text: list[Node], name: str = "") -> Node:
    """Return a heading."""
    return {"t": "Header", "c": [level, attr(name), text]}


def anchor(name: str) -> Node:
    """Return a place that a link leads to, for Markdown, where tables and formulas have no names."""
    return para([{"t": "Span", "c": [attr(name), []]}])


def strong(text: str) -> Node:
    """Return a text in bold."""
    return {"t": "Strong", "c": words(text)}


def table_node(
    columns: Sequence[list[Node]],
    rows: Sequence[Sequence[list[Node]]],
    sides: Sequence[str],
    caption: list[Node],
    name: str = "",
    *,
    sized: bool = False,
) -> Node:
    """Return a table from its cells; `sized` for programs that otherwise make all columns equally wide."""

    def cells(row: Sequence[list[Node]]) -> Node | list[Any]:
        return [attr(), [[attr(), {"t": "AlignDefault"}, 1, 1, [para(cell, "Plain")]] for cell in row]]

    widths: list[Node] = [{"t": "ColWidthDefault"} for _ in sides]
    if sized:
        widths = [{"t": "ColWidth", "c": share} for share in column_shares([columns, *rows])]
    specs = [[{"t": f"Align{side}"}, width] for side, width in zip(sides, widths, strict=True)]
    short: list[Any] = [None, [para(caption, "Plain")] if caption else []]
    body = [attr(), 0, [], [cells(row) for row in rows]]
    return {"t": "Table", "c": [attr(name), short, specs, [attr(), [cells(columns)]], [body], [attr(), []]]}


def column_shares(rows: Sequence[Sequence[list[Node]]]) -> list[float]:
    """Return for each column its share of the width of a line: at first its longest word, then room for its longest cell."""
    least, best = [], []
    for column in zip(*rows, strict=True):
        texts = [plain_text(cell) for cell in column]
        least.append(CELL_MARGIN + max((len(word) for text in texts for word in text.split()), default=1))
        best.append(max(least[-1], CELL_MARGIN + min(CELL_LETTERS, max(map(len, texts)))))
    room, wanted = LINE_LETTERS - sum(least), sum(best) - sum(least)
    part = min(1.0, max(0.0, room / wanted)) if wanted else 0.0
    widths = [low + part * (high - low) for low, high in zip(least, best, strict=True)]
    return [round(width / max(sum(widths), LINE_LETTERS), 4) for width in widths]


def plain_text(nodes: Any) -> str:
    """Return the words of inlines, and the source of formulas."""
    if isinstance(nodes, list):
        return "".join(map(plain_text, nodes))
    if not isinstance(nodes, dict):
        return ""
    if nodes["t"] in ("Space", "SoftBreak", "LineBreak"):
        return " "
    content = nodes.get("c", "")
    if nodes["t"] in ("Code", "Math"):
        return str(content[1])
    return content if isinstance(content, str) else plain_text(content)
