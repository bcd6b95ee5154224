"""Mistakes in a text that would otherwise be printed as they are: each is an error with its line and its remedy."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

BLOCKS: Final = ("figure", "claim", "certificate")
"""Fenced blocks that a text computes."""

TAGS: Final = (
    "a", "abbr", "article", "b", "blockquote", "br", "center", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "embed", "figure", "font", "form", "h1", "h2", "h3", "h4", "hr", "i", "iframe", "img", "input", "ins", "kbd", "li",
    "link", "mark", "meta", "object", "ol", "p", "pre", "s", "script", "section", "small", "span", "strong", "style",
    "sub", "summary", "sup", "svg", "table", "tbody", "td", "th", "thead", "tr", "u", "ul", "video",
)  # fmt: skip
_CODE: Final = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)", re.DOTALL)
_HTML: Final = re.compile(rf"</?(?:{'|'.join(TAGS)})(?:\s[^<>\n]{{0,400}})?/?>|<!--", re.IGNORECASE)
_REMEDIES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\\\("), r"'\(' starts no formula here; write it between dollar signs, $x$."),
    (
        re.compile(r"\\\[[^\]]*[\\^_=][^\]]*\\\]"),
        r"'\[' starts no formula here; write it between double dollar signs, $$x$$.",
    ),
    (re.compile(r"^!{3}[ \t]+\w"), "'!!!' starts no note here; write a quotation that begins with > **Note.**"),
    (re.compile(r"^:{3,}"), "':::' starts no block here; write a quotation with > or a heading."),
)
_LEFT: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(r"\$"),
        r"a $ starts or ends no formula: a formula has no space inside its dollar signs; write \$ for the sign itself.",
    ),
    (re.compile(r"\{\{|\}\}"), "a computed value stands between {{ and }} on one line, as in {{ budget.epsilon }}."),
    (
        re.compile(r"\[\^[^\]]{1,80}\]"),
        "there is no footnote of this name; write a line that begins with it and a colon, as in [^1]: The note.",
    ),
    (
        re.compile(r"\{[#.][A-Za-z][^{}]{0,80}\}"),
        "a name in braces belongs to a heading {#sec:name}, a formula {#eq:name}, an image {#fig:name} or a caption {#tbl:name}.",
    ),
    (
        re.compile(r"\]\("),
        "The link is not allowed; a link starts with http:, https:, mailto: or names a file, without spaces.",
    ),
    (
        re.compile(r"\[@[A-Za-z0-9_]"),
        "a citation is written [@key] or [@key, p. 3; @other].",
    ),
    (
        re.compile(r"(?<![\w.])@(?:fig|tbl|eq|sec|figure|table|equation|section)\b"),
        "a reference is written @fig:name, @tbl:name, @eq:name or @sec:name.",
    ),
    (re.compile(r"\]\[[^\]]{0,80}\]"), "there is no link of this name; write [words](address)."),
)
_TASK: Final = re.compile(r"^\[[ xX]\][ \t]")


def mistakes(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Yield the line (from 1, in the text) and the words of each mistake.

    Parameters
    ----------
    tokens : sequence of Token
        A parsed text.

    Yields
    ------
    tuple of (int, str)
        In their order.
    """
    for place, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 1
        if token.type == "fence":
            words = fence_mistake(token.info)
            if words:
                yield line, words
        elif token.type == "inline":
            in_item = place >= 2 and tokens[place - 2].type == "list_item_open"
            yield from _inline(token, line, in_item=in_item)
        elif token.type == "hr" and place == 0 and line == 1:
            yield 1, "a text starts with TOML between two lines +++, not with YAML between lines ---."


def fence_mistake(info: str) -> str:
    """Return what is wrong with the first line of a fenced block that was probably meant to be computed."""
    words = info.strip()
    if words in BLOCKS or not words:
        return ""
    plain = re.sub(r"[{}.,:=#]", " ", words).split()
    first = plain[0].lower() if plain else ""
    match = get_close_matches(first, BLOCKS, n=1, cutoff=0.75)
    if match:
        return f"the block {words[:60]!r} is not computed; did you mean {match[0]}? Its first line is exactly ```{match[0]}."
    if words.startswith("{"):
        return f"the block {words[:60]!r} is not known; code is written ```python, a figure ```figure."
    return ""


def _inline(token: Token, line: int, *, in_item: bool) -> Iterator[tuple[int, str]]:
    raw = _CODE.sub(lambda match: " " * len(match[0]), token.content)
    if in_item and _TASK.match(raw):
        yield line, "a list of tasks is not shown; write words, or ☐ and ☑."
    for pattern, words in _REMEDIES:
        match = pattern.search(raw)
        if match:
            yield line + raw.count("\n", 0, match.start()), words
    at = line
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            at += 1
        elif child.type == "text":
            match = _HTML.search(child.content)
            if match:
                yield at, f"{match[0][:60]!r} is HTML, which a text does not hold; use Markdown."
            for pattern, words in _LEFT:
                match = pattern.search(child.content)
                if match:
                    yield at, f"{child.content[max(0, match.start() - 12) : match.end() + 12].strip()!r}: {words}"
