"""From characters to tokens: numbers, names, quoted texts and the signs of the language."""

from __future__ import annotations

import re
from typing import NamedTuple

from dpcore.core.errors import DomainError, ParseError
from dpcore.language.problems import PlacedError, quoted

LONGEST = 64 * 1024  # characters; part of the contract of the language
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<text>"[^"\r\n]*")
      | (?P<sign>[()\[\],=&*^/?])""",
    re.VERBOSE,
)
_HINTS = {
    "-": "numbers are written without a sign",
    "+": "numbers are written without a sign",
    '"': "this quotation has no end",
    "'": 'texts stand in double quotes, as in "substitution"',
    ";": "one expression names one region",
    "|": "write union(a, b) for the envelope of two regions",
}


class Token(NamedTuple):
    """A piece of text: its kind (`number`, `name`, `text`, the sign itself, or `end`), and its place."""

    kind: str
    text: str
    start: int


def checked(text: object) -> str:
    """Return the text; raise if it is not a text, or too long."""
    if not isinstance(text, str):
        msg = f"An expression must be a text, got a value of type {type(text).__name__}."
        raise DomainError(msg)
    if len(text) > LONGEST:
        msg = f"The expression has {len(text)} characters: at most {LONGEST} are allowed."
        raise ParseError(msg)
    return text


def tokenise(text: str) -> list[Token]:
    """Split a text into tokens; the last one has the kind `end`."""
    tokens = []
    start = 0
    while start < len(text):  # takes one token per pass
        match = _TOKEN.match(text, start)
        if match is None:
            character = text[start]
            hint = _HINTS.get(
                character, "expected names of letters and digits, numbers, and the signs ( ) [ ] , = & * ^ /"
            )
            raise PlacedError(text, start, f"Unexpected {quoted(character)}", hint)
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(Token(match.group() if kind == "sign" else kind, match.group(), start))
        start = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens
