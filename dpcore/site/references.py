"""References in Markdown: a rule of the parser for ``[[name]]`` and ``[[kind:name|words]]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.specs.references import PATTERN

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline


def reference_plugin(parser: MarkdownIt) -> None:
    """Read references as tokens of their own; code and formulas come first, as everywhere in Markdown."""
    parser.inline.ruler.before("link", "reference", _rule)


def _rule(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("[[", state.pos):
        return False
    match = PATTERN.match(state.src, state.pos)
    if match is None or match.end() > state.posMax:
        return False
    if not silent:
        token = state.push("reference", "", 0)
        token.content = match[0]
        token.meta = {"target": match[1], "words": match[2] or ""}
    state.pos = match.end()
    return True
