"""The grammar of values and conditions, read by recursive descent with bounds on length and depth.

::

    condition  := comparison ('and' comparison)*
    comparison := sum ('<=' | '<' | '>=' | '>' | '==' | '!=') sum
    sum        := term (('+' | '-') term)*
    term       := factor (('*' | '/') factor)*
    factor     := '-' factor | NUMBER | TEXT | path | '(' sum ')'
    path       := NAME ['(' [argument (',' argument)*] ')'] ('.' NAME)*
    argument   := [NAME '='] sum
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from dpcore.core.errors import ParseError
from dpcore.language.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST: Final = 2_000  # characters of one expression; a line of a report has about a hundred
DEEPEST: Final = 40  # nested brackets and signs, far below Python's recursion limit
COMPARISONS: Final = ("<=", "<", ">=", ">", "==", "!=")
_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<text>"[^"\r\n]*"|'[^'\r\n]*')
      | (?P<sign><=|>=|==|!=|[<>()+\-*/,=.])""",
    re.VERBOSE,
)
_SIGNS: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "·": "*"}


class ValueParseError(ParseError):
    """A text that is neither a value nor a condition."""


@dataclass(frozen=True)
class ValueLiteral:
    """A number or a text as typed."""

    text: str
    is_text: bool


@dataclass(frozen=True)
class ValuePath:
    """A name or a function call, and the names of the parts after it."""

    name: str
    arguments: tuple[tuple[str, Node], ...] | None
    parts: tuple[str, ...]


@dataclass(frozen=True)
class ValueOperation:
    """Two values and the operator between them; a unary minus has nothing on its left."""

    sign: str
    left: Node | None
    right: Node


@dataclass(frozen=True)
class ValueComparison:
    """Two values that are compared, and the text of the comparison."""

    sign: str
    left: Node
    right: Node
    text: str


Node: TypeAlias = ValueLiteral | ValuePath | ValueOperation


def parse_value(text: str) -> Node:
    """Return the tree of a value.

    Raises
    ------
    ValueParseError
        If the text is not a value; the message names the place.
    """
    parser = _ValueParser(text)
    node = parser.sum()
    parser.end("an operator, '|' or the end")
    return node


def parse_condition(text: str) -> tuple[ValueComparison, ...]:
    """Return the comparisons of a condition, all of which must hold.

    Raises
    ------
    ValueParseError
        If the text is not a condition; the message names the place.
    """
    parser = _ValueParser(text)
    parts = [parser.comparison()]
    while parser.token[:2] == ("name", "and"):  # one comparison of the text per round
        parser.take()
        parts.append(parser.comparison())
    parser.end("'and' or the end")
    return tuple(parts)


class _ValueParser:
    """A cursor over the tokens; each method reads one rule."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            msg = f"An expression has {len(text)} characters; at most {LONGEST} are read."
            raise ValueParseError(msg)
        self.text = "".join(_SIGNS.get(character, character) for character in text)
        self.tokens = self._tokens()
        self.at = self.depth = 0

    def _tokens(self) -> list[tuple[str, str, int]]:
        tokens, start = [], 0
        while start < len(self.text):  # a token each round
            match = _TOKEN.match(self.text, start)
            if match is None:
                hint = "; a share is written as a number, 5 % as 0.05" if self.text[start] == "%" else ""
                self._fail(start, f"unexpected {quoted(self.text[start])}{hint}")
            if match.lastgroup != "space":
                tokens.append((str(match.lastgroup), match[0], start))
            start = match.end()
        return [*tokens, ("end", "", len(self.text))]

    def _fail(self, place: int, reason: str) -> NoReturn:
        msg = f"{quoted(self.text, 80)}, at character {place + 1}: {reason}."
        raise ValueParseError(msg)

    @property
    def token(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def take(self) -> tuple[str, str, int]:
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def accept(self, *signs: str) -> str:
        kind, text, _ = self.token
        if kind != "sign" or text not in signs:
            return ""
        self.take()
        return text

    def unexpected(self, expected: str) -> NoReturn:
        kind, text, place = self.token
        hint = "; a number has a decimal point, 4.5" if text == "," and re.search(r"[0-9],[0-9]", self.text) else ""
        what = "the text ends" if kind == "end" else f"unexpected {quoted(text)}"
        self._fail(place, f"{what}, expected {expected}{hint}")

    def end(self, expected: str) -> None:
        if self.token[0] != "end":
            self.unexpected(expected)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(self.token[2], f"brackets more than {DEEPEST} deep")

    def comparison(self) -> ValueComparison:
        start = self.token[2]
        left = self.sum()
        sign = self.accept(*COMPARISONS)
        if not sign:
            hint = "; one sign compares: ==" if self.token[1] == "=" else ""
            self.unexpected(f"one of {', '.join(COMPARISONS)}{hint}")
        right = self.sum()
        return ValueComparison(sign, left, right, self.text[start : self.token[2]].strip())

    def sum(self) -> Node:
        return self._chain(("+", "-"), self.term)

    def term(self) -> Node:
        return self._chain(("*", "/"), self.factor)

    def _chain(self, signs: tuple[str, ...], rule: Callable[[], Node]) -> Node:
        node = rule()
        while sign := self.accept(*signs):  # a token each round
            node = ValueOperation(sign, node, rule())
        return node

    def factor(self) -> Node:
        kind, text, _ = self.token
        if self.accept("-"):
            self.deeper()
            node: Node = ValueOperation("-", None, self.factor())
            self.depth -= 1
            return node
        if self.accept("("):
            self.deeper()
            node = self.sum()
            if not self.accept(")"):
                self.unexpected("')'")
            self.depth -= 1
            return node
        if kind in ("number", "text"):
            self.take()
            return ValueLiteral(text[1:-1] if kind == "text" else text, kind == "text")
        if kind != "name":
            self.unexpected("a number, a name, a function or a text in quotes")
        return self.path()

    def path(self) -> ValuePath:
        name = self.take()[1]
        arguments = None
        if self.accept("("):
            self.deeper()
            arguments = self._arguments()
            self.depth -= 1
        parts = []
        while self.accept("."):  # a token each round
            if self.token[0] != "name":
                self.unexpected("a name after '.'")
            parts.append(self.take()[1])
        return ValuePath(name, arguments, tuple(parts))

    def _arguments(self) -> tuple[tuple[str, Node], ...]:
        found: list[tuple[str, Node]] = []
        while not self.accept(")"):  # a token each round
            name = ""
            if self.token[0] == "name" and self.tokens[self.at + 1][1] == "=":
                name = self.take()[1]
                self.take()
            elif any(key for key, _ in found):
                self.unexpected("an argument with its name, as in epsilon=1")
            found.append((name, self.sum()))
            if not self.accept(","):
                if not self.accept(")"):
                    self.unexpected("',' or ')'")
                break
        return tuple(found)
