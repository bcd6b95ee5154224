"""Mistakes in a text that would otherwise be printed as they are: each is an error with its line and its remedy."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from dpcore.language.problems import quoted

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
_CODE: Final = re.compile(
    r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL
)  # whole runs: a text of backticks takes linear time
_HTML: Final = re.compile(rf"</?(?:{'|'.join(TAGS)})(?:\s[^<>\n]{{0,400}})?/?>|<!--", re.IGNORECASE)
_OTHER: Final = "\ufffc"  # stands for what is not plain text: formulas, code, links, escaped signs
_NAMED: Final = "a name in braces belongs to a heading {#sec:name}, a formula {#eq:name}, an image {#fig:name} or a caption {#tbl:name}."
_VALUE: Final = "write a computed value between {{ and }} on one line, as in {{ budget.epsilon }}."
_SCRIPT: Final = "a sub- or superscript is a formula, as in $x_2$ or $x^2$."
_REMEDIES: Final = tuple(
    (re.compile(pattern, re.MULTILINE), words)
    for pattern, words in (
        (r"\\\(", r"'\(' does not start a formula here; write it between dollar signs, $x$."),
        (
            r"\\\[[^\]\\^_=]*+[\\^_=](?!\])[^\]]*+(?<=\\)\]",
            r"'\[' does not start a formula here; write it between double dollar signs, $$x$$.",
        ),
        (r"\A!{3}[ \t]+\w", "'!!!' does not start a note here; write a quotation that begins with > **Note.**"),
        (r"\A\[!\w+\]", "'[!' does not start a note here; write a quotation that begins with > **Note.**"),
        (r"^:{3,}", "':::' does not start a block here; write a quotation with > or a heading."),
        (
            r"\A(?:\[TOC\]|\[\[_TOC_\]\])\s*\Z",
            "the table of contents is made automatically; contents = false at the top leaves it out.",
        ),
    )
)
_LEFT: Final = tuple(
    (re.compile(pattern, re.MULTILINE), words)
    for pattern, words in (
        (
            r"\$\$",
            "this $$ has no partner: a formula on lines of its own begins and ends with $$.",
        ),
        (
            r"\$",
            r"this $ does not start or end a formula: a formula has no space inside its dollar signs; write \$ for the sign itself.",
        ),
        (r"\{\{|\}\}", _VALUE),
        (r"(?<![\w{\\])\{[ \t]*[A-Za-z_]\w*\.[A-Za-z_]\w*[ \t]*\}(?!\})", _VALUE),
        (r"\{%", "a text has no statements; write a computed value between {{ and }}."),
        (
            r"\[\^[^\]]{1,80}\]",
            "there is no footnote with this name; write a line that begins with it and a colon, as in [^1]: The note.",
        ),
        (r"\{[#.][A-Za-z][^{}]{0,80}\}", _NAMED),
        (
            r"\{(?:width|height)[ \t]*=[^{}]{0,80}\}",
            "an image keeps the size of its file; only a name {#fig:name} may follow it.",
        ),
        (
            r"\]\(",
            "The link is not allowed; a link starts with http:, https:, mailto: or names a file, without spaces.",
        ),
        (
            r"\[[^\[\]\n]{1,80}\][ \t]+\((?:https?:|mailto:|#)",
            "a link has no space between its words and its address, [words](address).",
        ),
        (r"\([^()\n]{1,80}\)\[(?:https?:|mailto:|#)", "a link has its words first, [words](address)."),
        (r"\[@[A-Za-z0-9_]", "a citation is written [@key] or [@key, p. 3; @other]."),
        (
            r"(?<![\w.])@(?:fig|tbl|eq|sec|figure|table|equation|section)\b",
            "a reference is written @fig:name, @tbl:name, @eq:name or @sec:name.",
        ),
        (r"\]\[[^\]]{0,80}\]", "there is no link with this name; write [words](address)."),
        (
            r"\*\*(?=[^\s*])|(?<=[^\s*])\*\*",
            "this ** does not start or end bold text: its partner is missing in this paragraph.",
        ),
        (r"(?<![=\w])==(?=[^\s=])[^=\n]{1,80}==", "write **bold** or *italic* text."),
        (r"(?<=[\w)])~\w{1,8}~", _SCRIPT),
        (r"(?<=[\w)])\^\w{1,8}\^(?!\w)", _SCRIPT),
        (r"(?:\A|\n):[ \t]+\S", "definition lists are not supported; write a table, or the term in **bold**."),
        (r"\A\*\[[^\]\n]{1,80}\]:", "abbreviation lists are not supported; write the words out."),
        (r"(?<!\S):[a-z][a-z_]{1,30}:(?!\S)", "write an emoji as the character itself."),
        (r"\A#{1,6}[A-Za-z]", r"a heading needs a space after its #; write \# for the sign itself."),
        (r"\A\|[^\n]*\|[ \t]*(?:\n|\Z)", "a table needs a line such as |---|---| below its head."),
        (r"&[A-Za-z][A-Za-z0-9]{1,30};", "there is no character with this name; write the character itself."),
    )
)
_TASK: Final = re.compile(r"^\[[ xX]\][ \t]")
_RUN: Final = re.compile(r"(?:\{(?:r|python|julia)\}|r)[ \t]+\S")
_CLOSED: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_AFTER: Final = re.compile(r"\{#eq:[\w.-]{1,80}\}")
_COMMAND: Final = re.compile(r"[A-Za-z]*")


def mistakes(tokens: Sequence[Token], source: str = "") -> Iterator[tuple[int, str]]:
    """Yield the line (from 1, in the text) and the words of each mistake.

    Parameters
    ----------
    tokens : sequence of Token
        A parsed text.
    source : str, default ""
        The text itself, for what the tokens no longer show.

    Yields
    ------
    tuple of (int, str)
        Of each mistake.
    """
    lines = source.split("\n")
    if "\ufffd" in source:
        at = source.count("\n", 0, source.index("\ufffd")) + 1
        yield at, "the line has a character that is not text (U+FFFD or zero); save the file in UTF-8."
    level = 0
    for place, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 1
        if token.type == "fence":
            words = fence_mistake(token.info) or _open_fence(token, lines)
            if words:
                yield line, words
        elif token.type == "inline":
            in_item = place >= 2 and tokens[place - 2].type == "list_item_open"
            yield from _inline(token, line, in_item=in_item)
        elif token.type.startswith("math_block") and _AFTER.search(token.content):
            yield line, "the formula that begins here has no end before its name; close it, $$ {#eq:name}."
        elif token.type == "figure_image_open":  # its caption; the paragraph around it is taken apart already
            yield from _inline(token.meta["image"], line, in_item=False)
        elif token.type == "table_open" and token.map:
            yield from _rows(lines, *token.map)
        elif token.type == "heading_open" and (place or token.tag != "h1"):
            now = int(token.tag[1])
            if level and now > level + 1:
                yield line, f"the heading is {now - level} levels below the one before it; write {'#' * (level + 1)}."
            level = now
        elif token.type == "hr" and place == 0 and line == 1:
            yield 1, "a text starts with TOML between two lines +++, not with YAML between lines ---."


def without_code(text: str) -> str:
    """Return a text with spaces in place of its code; every line keeps its place."""
    return _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


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


def _open_fence(token: Token, lines: Sequence[str]) -> str:
    """Return what is wrong with a block whose last line is missing."""
    if not token.map or token.map[1] > len(lines):
        return ""
    end = _CLOSED.fullmatch(lines[token.map[1] - 1]) if token.map[1] - token.map[0] > 1 else None
    closed = end is not None and end[1].startswith(token.markup)
    return "" if closed else f"the block has no end; close it with a line {token.markup}."


def _rows(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the rows of a table that have more cells than its head, which would be left out, or fewer."""
    counts = [len(_BAR.findall(row.strip().removeprefix("|").removesuffix("|"))) + 1 for row in lines[first:end]]
    for place, count in enumerate(counts):
        if counts and count > counts[0] and lines[first + place].strip():
            words = f"a row of the table has {count} cells, its head {counts[0]}; a bar inside a cell is \\| or, in a formula, \\vert."
            yield first + place + 1, words
        elif counts and count < counts[0] and lines[first + place].strip():
            words = f"a row of the table has {count} cells, its head {counts[0]}; an empty cell is a space between two bars, | |."
            yield first + place + 1, words


def _inline(token: Token, line: int, *, in_item: bool) -> Iterator[tuple[int, str]]:
    raw = without_code(token.content)
    if in_item and _TASK.match(raw):
        yield line, "task lists are not supported; write words, or ☐ and ☑."
    for pattern, words in _REMEDIES:
        match = pattern.search(raw)
        if match:
            yield line + raw.count("\n", 0, match.start()), words
    children = token.children or []
    plain = "".join(_plain(child) for child in children)
    match = _HTML.search(plain)
    if match:
        yield (
            line + plain.count("\n", 0, match.start()),
            f"{match[0][:60]!r} is HTML, which is not allowed here; use Markdown.",
        )
    for pattern, words in _LEFT:
        match = pattern.search(plain)
        if match:
            near = plain[max(0, match.start() - 12) : match.end() + 12].replace(_OTHER, " ").strip()
            yield line + plain.count("\n", 0, match.start()), f"{quoted(near, 80)}: {words}"
    at = line
    for place, child in enumerate(children):
        if child.type in ("softbreak", "hardbreak"):
            at += 1
        elif child.type == "link_open" and not child.attrGet("href"):
            yield at, "a link has no address; write [words](address)."
        elif child.type == "code_inline" and _RUN.match(child.content):
            yield at, f"{child.content[:60]!r} is not run; write a computed value between {{{{ and }}}}."
        elif _command(child):
            rest = _COMMAND.match("".join(_plain(following) for following in children[place + 1 : place + 2]))
            command = child.content + (rest[0] if rest else "")
            yield (
                at,
                f"'{command[:60]}' is TeX outside of a formula; write Markdown, a formula $x$, a reference @eq:name or [@key].",
            )


def _plain(child: Token) -> str:
    if child.type in ("softbreak", "hardbreak"):
        return "\n"
    if child.type == "text" or _command(child):
        return child.content
    return _OTHER


def _command(child: Token) -> bool:
    r"""Return whether this is the start of a TeX command, which markdown-it keeps apart: `\b` of `\begin`."""
    return child.type == "text_special" and child.content[:1] == "\\" and child.content[1:].isalpha()
