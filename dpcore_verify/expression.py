"""The checker's own reader of expressions: a text becomes a tree, and every number in it is exact.

A decimal means the rational number that it spells, 1/3 the fraction, log(3) the real number. Nothing is evaluated as code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

LONGEST, DEEPEST = 64 * 1024, 100
_TOKEN = re.compile(
    r'\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)|(?P<name>[A-Za-z_]\w*)|(?P<text>"[^"\n]*")|(?P<sign>[()\[\],=&*^/]))',
    re.ASCII,
)


REASON = 500
"""Most characters of a reason."""


class Unproved(Exception):
    """What is claimed was not proved; the message says why, in one sentence, and quotes no more than a line of the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason if len(reason) <= REASON else f"{reason[: REASON - 4]} ...")


class Refuted(Unproved):
    """What is claimed is false: an enclosure of the checker lies outside it."""


@dataclass(frozen=True)
class Number:
    """A real number: an exact fraction, or a function of one."""

    exact: Fraction | None
    function: str = ""
    inside: Number | None = None

    def ball(self) -> arb:
        """Return it as a ball, at the precision in force."""
        if self.exact is not None:
            return ball(self.exact)
        if self.inside is None:
            msg = "This checker takes finite numbers only."
            raise Unproved(msg)
        inner = self.inside.ball()
        return inner.log() if self.function == "log" else inner.sqrt()

    @property
    def infinite(self) -> bool:
        """Whether it is infinite."""
        return self.exact is None and self.inside is None


@dataclass(frozen=True)
class Call:
    """A name with its arguments."""

    name: str
    arguments: tuple[Node, ...]
    named: tuple[tuple[str, Node], ...] = ()

    def given(self, names: str, *defaults: Node) -> list[Node]:
        """Return the arguments in the order of `names`; the last ones may be left out if they have defaults."""
        order = names.split()
        values: dict[str, Node] = dict(zip(order[len(order) - len(defaults) :], defaults, strict=True))
        values.update(zip(order, self.arguments, strict=False))
        values.update(self.named)
        twice = set(order[: len(self.arguments)]) & set(dict(self.named))
        if len(self.arguments) > len(order) or set(values) != set(order) or twice:
            msg = f"{self.name} takes {', '.join(order)}."
            raise Unproved(msg)
        return [values[name] for name in order]

    def region(self) -> Node:
        """Return the argument that is a region: the first one, or the one of that name."""
        named = dict(self.named)
        if not self.arguments and "region" not in named:
            msg = f"{self.name} takes a region."
            raise Unproved(msg)
        return self.arguments[0] if self.arguments else named["region"]


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Text:
    """A quoted text."""

    text: str


@dataclass(frozen=True)
class Power:
    """k copies."""

    base: Node
    k: int


@dataclass(frozen=True)
class Product:
    """A composition."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Both:
    """An intersection: every part holds."""

    parts: tuple[Node, ...]


Node = Number | Call | Sequence | Text | Power | Product | Both


def ball(value: Fraction | int) -> arb:
    """Return a rational number as a ball."""
    from flint import arb, fmpq  # noqa: PLC0415  what is known can be asked without it (see `dpcore_verify.scope`)

    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def decimal(text: object) -> Fraction:
    """Return the rational number that a decimal spells; a sign is allowed."""
    if not isinstance(text, str) or not re.fullmatch(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", text):
        msg = f"A number must be written as a decimal in quotation marks, got {text!r}."
        raise Unproved(msg)
    return Fraction(text)


def read(text: object) -> Node:
    """Return the tree of an expression; raise `Unproved` if it is not one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        msg = f"The expression must be a text of at most {LONGEST} characters."
        raise Unproved(msg)
    reader = _Reader(_tokens(text))
    tree = reader.expression(0)
    if reader.at < len(reader.tokens):
        msg = f"The expression goes on after its end, at {reader.tokens[reader.at][1]!r}."
        raise Unproved(msg)
    return tree


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            msg = f"The expression has an unexpected {text[at]!r}."
            raise Unproved(msg)
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return tokens


@dataclass
class _Reader:
    tokens: list[tuple[str, str]]
    at: int = field(default=0)

    def next(self) -> tuple[str, str]:
        """Take one token."""
        if self.at >= len(self.tokens):
            msg = "The expression ends too early."
            raise Unproved(msg)
        self.at += 1
        return self.tokens[self.at - 1]

    def sign(self, *signs: str) -> str:
        """Take one of these signs if it comes next; empty otherwise."""
        if self.at < len(self.tokens) and self.tokens[self.at] in {("sign", sign) for sign in signs}:
            return self.next()[1]
        return ""

    def expect(self, sign: str) -> None:
        """Take a sign that must come."""
        if not self.sign(sign):
            msg = f"The expression lacks {sign!r}."
            raise Unproved(msg)

    def expression(self, depth: int) -> Node:
        """Read products joined by &."""
        parts = [self.product(depth)]
        while self.sign("&"):
            parts.append(self.product(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def product(self, depth: int) -> Node:
        """Read powers joined by *."""
        parts = [self.power(depth)]
        while self.sign("*"):
            parts.append(self.power(depth))
        return parts[0] if len(parts) == 1 else Product(tuple(parts))

    def power(self, depth: int) -> Node:
        """Read an atom with its exponent."""
        base = self.atom(depth)
        if not self.sign("^"):
            return base
        kind, text = self.next()
        if kind != "number" or not text.isdigit() or int(text) < 1:
            msg = f"An exponent must be an integer from 1, got {text!r}."
            raise Unproved(msg)
        return Power(base, int(text))

    def atom(self, depth: int) -> Node:
        """Read a call, a number, a list, a text, or an expression in brackets."""
        if depth > DEEPEST:
            msg = f"The expression has more than {DEEPEST} brackets inside each other."
            raise Unproved(msg)
        kind, text = self.next()
        if kind == "number":
            return self.fraction(Fraction(text))
        if kind == "text":
            return Text(text[1:-1])
        if kind == "name":
            return self.call(text, depth)
        if text == "(":
            inner = self.expression(depth + 1)
            self.expect(")")
            return inner
        if text == "[":
            return Sequence(tuple(self.items("]", depth)))
        msg = f"The expression has {text!r} in the wrong place."
        raise Unproved(msg)

    def items(self, end: str, depth: int) -> list[Node]:
        """Read values until a bracket closes."""
        items: list[Node] = []
        while not self.sign(end):
            if items:
                self.expect(",")
            items.append(self.expression(depth + 1))
        return items

    def fraction(self, value: Fraction) -> Number:
        """Read what may follow a decimal: a slash and another decimal."""
        if not self.sign("/"):
            return Number(value)
        kind, text = self.next()
        if kind != "number" or not Fraction(text):
            msg = f"A fraction needs a number other than 0 below, got {text!r}."
            raise Unproved(msg)
        return Number(value / Fraction(text))

    def call(self, name: str, depth: int) -> Node:
        """Read inf, log(...), sqrt(...), or a name with arguments."""
        if name == "inf":
            return Number(None)
        self.expect("(")
        if name in {"log", "sqrt"}:
            inner = self.atom(depth + 1)
            self.expect(")")
            if not isinstance(inner, Number):
                msg = f"{name} takes a number."
                raise Unproved(msg)
            return Number(None, name, inner)
        arguments: list[Node] = []
        named: list[tuple[str, Node]] = []
        while not self.sign(")"):
            if arguments or named:
                self.expect(",")
            if self.tokens[self.at : self.at + 1] and self.tokens[self.at + 1 : self.at + 2] == [("sign", "=")]:
                key = self.next()[1]
                if key in dict(named):
                    msg = f"{name} is given {key} twice."
                    raise Unproved(msg)
                self.expect("=")
                named.append((key, self.expression(depth + 1)))
            else:
                arguments.append(self.expression(depth + 1))
        return Call(name, tuple(arguments), tuple(named))
