"""The dialect of all texts: CommonMark with tables, formulas, footnotes, values, references, citations and captions.

What a text may hold besides CommonMark:

=======================================  =====================================================
``$x$``, ``$$x$$``, ``$$x$$ {#eq:name}``  formulas; a named one is numbered
``{{ budget.epsilon | plain }}``          a computed value, in sentences, captions and formulas
``@fig:name @tbl:name @eq:name @sec:name``  a reference to something that is named
``[@key, p. 3; @other]``, ``@key``        citations of the bibliography
``[^note]``                               a footnote
``![caption](file.png){#fig:name}``       an image that stands alone is a numbered figure
``Table: caption {#tbl:name}``            below a table, its caption
``## Heading {#sec:name}``                a heading with a name
=======================================  =====================================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from dpcore.files.documents import MOST_INLINE, DocumentError
from dpcore.site.mistakes import mistakes
from dpcore.site.references import reference_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

NAMES: Final = ("fig", "tbl", "eq", "sec")
MEANT: Final = (*NAMES, "figure", "table", "equation", "section", "tab", "eqn")  # references that are nearly right
_NAME: Final = r"(?:fig|tbl|eq|sec):[A-Za-z0-9][A-Za-z0-9_-]*"
_VALUE: Final = re.compile(r"\{\{([^{}\n]{1,2000})\}\}")
_REFERENCE: Final = re.compile(rf"@({_NAME})")
_BRACKETS: Final = re.compile(r"\[([^\[\]]{2,1000})\](?![(\[])")
_KEY: Final = re.compile(r"(?:^|[\s;,(-])@[A-Za-z0-9_]")
_TEXTUAL: Final = re.compile(r"@([A-Za-z][A-Za-z0-9_]*(?:[:.-][A-Za-z0-9_]+)*)")
_LABEL: Final = re.compile(rf"[ \t]*\{{#({_NAME})\}}[ \t]*$")
_EQUATION: Final = re.compile(r"^(?P<start>.*\$\$)[ \t]*\{#(eq:[A-Za-z0-9][A-Za-z0-9_-]*)\}[ \t]*$", re.MULTILINE)
_MISNAMED: Final = re.compile(r"\$\$[ \t]*(\{#(?!eq:[A-Za-z0-9])[^{}\n]{0,200}\})[ \t]*$")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_CAPTION: Final = re.compile(r"(?:Table)?:[ \t]+(.*)", re.DOTALL)
_IMAGE: Final = re.compile(r"^\{#(fig:[A-Za-z0-9][A-Za-z0-9_-]*)\}$")


def reader() -> MarkdownIt:
    """Return a parser of the dialect, without raw HTML."""
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])
    parser.core.ruler.before("block", "equations", _equations)
    parser.core.ruler.before("block", "cells", _cells)
    parser.core.ruler.before("inline", "bounded", _bounded)
    parser.core.ruler.before("inline", "labels", _labels)
    parser.core.ruler.before("inline", "footnotes", _footnotes)
    parser.core.ruler.after("inline", "images", _images)
    parser.core.ruler.after("images", "mistakes", _mistakes)  # before escaped signs are joined to the text around them
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True, allow_labels=True)
    _mend_first_formula(parser)
    parser.use(footnote_plugin)
    parser.inline.ruler.before("emphasis", "value", _value)
    parser.inline.ruler.before("emphasis", "crossref", _reference)
    parser.inline.ruler.before("link", "citation", _citation)
    parser.use(reference_plugin)
    return parser


def _mend_first_formula(parser: MarkdownIt) -> None:
    """Let a text start with a formula and end with a digit: the plugin takes the last character for the one before the first."""
    rules = {rule.name: rule.fn for rule in parser.inline.ruler.__rules__}
    inner = rules["math_inline"]

    def first(state: Any, silent: bool) -> bool:
        if state.pos:
            return bool(inner(state, silent))
        source, state.src = state.src, f"{state.src} "
        try:
            return bool(inner(state, silent))
        finally:
            state.src = source

    parser.inline.ruler.at("math_inline", first)


def values_in(text: str) -> list[re.Match[str]]:
    """Return the values of a formula or of a text in a spec."""
    return list(_VALUE.finditer(text))


# ---- rules of the parser: core -------------------------------------------------------------------------------


def _equations(state: StateCore) -> None:
    """Write the name of an equation as the parser of formulas takes it; lines stay where they are."""
    if "$$" in state.src:
        for place, line in _outside_code(state.src):
            if (match := _MISNAMED.search(line)) is not None:
                msg = f"{match[1][:60]!r} is no name of a formula; write $$ {{#eq:name}}."
                raise DocumentError(msg, place + 1)
    if "{#eq:" in state.src:
        state.src = _EQUATION.sub(r"\g<start> (\2)", state.src)


def _cells(state: StateCore) -> None:
    """Keep the bars of computed values in the rows of tables, where a bar ends a cell; code stays as it is."""
    if "{{" not in state.src:
        return
    lines = state.src.split("\n")
    for place, line in _outside_code(state.src):
        if line.lstrip().startswith("|"):
            lines[place] = _VALUE.sub(lambda match: re.sub(r"(?<!\\)\|", r"\\|", match[0]), line)
    state.src = "\n".join(lines)


def _outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of fenced blocks, with their places."""
    fence = ""
    for place, line in enumerate(text.split("\n")):
        start = _FENCE.match(line)
        if start and (not fence or start[1].startswith(fence)):
            fence = "" if fence else start[1]
        elif not fence:
            yield place, line


def _bounded(state: StateCore) -> None:
    """Refuse a paragraph, heading or formula that is too long, before it is parsed."""
    for token in state.tokens:
        if token.type in ("inline", "math_block", "math_block_label") and len(token.content) > MOST_INLINE:
            line = token.map[0] + 1 if token.map else 1
            kind = "formula" if token.type.startswith("math") else "paragraph, heading or cell"
            msg = f"a {kind} has {len(token.content)} characters; at most {MOST_INLINE} are read."
            raise DocumentError(msg, line)


def _labels(state: StateCore) -> None:
    """Take the names of headings, and the captions of tables, out of their texts."""
    tokens: list[Token] = []
    table, at = None, 0
    place = 0
    while place < len(state.tokens):  # takes one token per pass
        token = state.tokens[place]
        if token.type == "heading_open":
            inner = state.tokens[place + 1]
            match = _LABEL.search(inner.content)
            if match:
                token.meta = {**token.meta, "label": match[1]}
                inner.content = inner.content[: match.start()]
        elif token.type == "table_open":
            table, at = token, len(tokens) + 1
        elif token.type == "paragraph_open" and tokens and tokens[-1].type == "table_close" and table is not None:
            inner = state.tokens[place + 1]
            caption = _CAPTION.fullmatch(inner.content)
            if caption and table.meta.get("captioned"):
                msg = "the table above has a caption already; a table has one, directly below it."
                raise DocumentError(msg, inner.map[0] + 1 if inner.map else 1)
            if caption:
                place += 3
                text = caption[1]
                match = _LABEL.search(text)
                inner.content = text[: match.start()] if match else text
                table.meta = {**table.meta, "captioned": True, "label": match[1] if match else ""}
                opening = Token("table_caption_open", "caption", 1, map=inner.map, block=True)
                tokens[at:at] = [opening, inner, Token("table_caption_close", "caption", -1, block=True)]
                continue
        tokens.append(token)
        place += 1
    state.tokens = tokens


def _footnotes(state: StateCore) -> None:
    """Refuse two footnotes of one name, of which only the last would be shown."""
    lines: dict[str, int] = {}
    for token, inner in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "footnote_reference_open":
            name, line = str(token.meta["label"]), inner.map[0] + 1 if inner.map else 1
            if name in lines:
                msg = f"there are two footnotes [^{name[:60]}]; give one of them another name."
                raise DocumentError(msg, line)
            lines[name] = line
    state.env["noted"] = lines


def _images(state: StateCore) -> None:
    """Make a figure of an image that is a paragraph of its own."""
    for opening, inner, closing in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if opening.type != "paragraph_open" or inner.type != "inline" or opening.level != 0:
            continue
        children = [child for child in inner.children or [] if child.type != "text" or child.content.strip()]
        label = _IMAGE.match(children[1].content.strip()) if len(children) == 2 and children[1].type == "text" else None
        if children and children[0].type == "image" and (len(children) == 1 or label):
            opening.type, closing.type = "figure_image_open", "figure_image_close"
            opening.meta = {**opening.meta, "label": label[1] if label else "", "image": children[0]}
            inner.children = []
            inner.content = ""


def _mistakes(state: StateCore) -> None:
    """Refuse what would be printed verbatim although more was meant."""
    for line, words in mistakes(state.tokens, state.src):
        raise DocumentError(words, line)
    for name, place in state.env.get("footnotes", {}).get("refs", {}).items():
        if place < 0:
            msg = f"nothing refers to the footnote [^{name[1:61]}]; write [^{name[1:61]}] where it belongs, or leave it out."
            raise DocumentError(msg, state.env["noted"].get(name[1:], 1))


# ---- rules of the parser: inline -----------------------------------------------------------------------------


def _value(state: StateInline, silent: bool) -> bool:
    match = _VALUE.match(state.src, state.pos) if state.src.startswith("{{", state.pos) else None
    if match is None:
        return False
    if not silent:
        token = state.push("value", "", 0)
        token.content = match[1].strip()
    state.pos = match.end()
    return True


def _reference(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "@" or (
        state.pos and (state.src[state.pos - 1].isalnum() or state.src[state.pos - 1] in "_.")
    ):
        return False
    match = _REFERENCE.match(state.src, state.pos)
    if match is None:
        return _textual(state, silent)
    if not silent:
        token = state.push("crossref", "", 0)
        token.content = match[1]
    state.pos = match.end()
    return True


def _textual(state: StateInline, silent: bool) -> bool:
    """Read a citation whose authors are words of the sentence; its content has no @, that of one in brackets has."""
    match = _TEXTUAL.match(state.src, state.pos)
    if match is None or match[1].split(":")[0].lower() in MEANT:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = match[1]
    state.pos = match.end()
    return True


def _citation(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "[":
        return False
    match = _BRACKETS.match(state.src, state.pos)
    if match is None or not _KEY.search(match[1]) or _REFERENCE.search(match[1]):
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = match[1].strip()
    state.pos = match.end()
    return True
