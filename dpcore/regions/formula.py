"""Formulas of one variable: a small grammar that is read and evaluated here, never as code.

::

    sum      := product (('+' | '-') product)*
    product  := factor (('*' | '/') factor)*
    factor   := '-' factor | power
    power    := atom ('^' factor)?
    atom     := NUMBER | 'a' | '(' sum ')' | FUNCTION '(' sum (',' sum)* ')'
    FUNCTION := max | min (two or more arguments), exp | log | sqrt (one)

A formula is evaluated at many points at once, either as numbers or as intervals: then the result contains the value at
every point of the interval, up to rounding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.errors import ParseError
from dpcore.core.parameter import value_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from dpcore.curves.base import FloatArray

LONGEST: Final = 500  # characters; a formula of a paper has fewer than a hundred
DEEPEST: Final = 50  # brackets
VARIABLE: Final = "a"
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z]+)|(?P<sign>[-+*/^(),]))"
)
_ONE: Final = ("exp", "log", "sqrt")
_MANY: Final = ("max", "min")
Interval = tuple["FloatArray", "FloatArray"]


@dataclass(frozen=True)
class FormulaNode:
    """A node of a formula: a sign or function with its arguments, the variable, or a number."""

    sign: str
    parts: tuple[FormulaNode, ...] = ()
    number: float = 0.0

    def at(self, a: FloatArray) -> FloatArray:
        """Return the value at each point; NaN or infinite where there is none."""
        if not self.parts:
            return a if self.sign == VARIABLE else np.full_like(a, self.number)
        with np.errstate(all="ignore"):
            return np.asarray(_VALUES[self.sign](*(part.at(a) for part in self.parts)), dtype=np.float64)

    def within(self, low: FloatArray, high: FloatArray) -> Interval:
        """Return bounds of the value on each interval."""
        if not self.parts:
            same = np.full_like(low, self.number)
            return (low, high) if self.sign == VARIABLE else (same, same)
        with np.errstate(all="ignore"):
            return _INTERVALS[self.sign](*(part.within(low, high) for part in self.parts))

    @property
    def size(self) -> int:
        """The number of operations."""
        return 1 + sum(part.size for part in self.parts)


def _power_interval(base: Interval, exponent: Interval) -> Interval:
    """Return bounds of a power with a constant exponent and a base that is not negative."""
    ends = base[0] ** exponent[0], base[1] ** exponent[0]
    return np.fmin(*ends), np.fmax(*ends)


def _product_interval(x: Interval, y: Interval) -> Interval:
    ends = np.stack([x[i] * y[j] for i in (0, 1) for j in (0, 1)])
    return ends.min(axis=0), ends.max(axis=0)


def _quotient_interval(x: Interval, y: Interval) -> Interval:
    crosses = (y[0] <= 0) & (y[1] >= 0)
    low, high = _product_interval(x, (1 / y[1], 1 / y[0]))
    return np.where(crosses, -np.inf, low), np.where(crosses, np.inf, high)


_VALUES: Final[dict[str, Callable[..., Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "negative": np.negative,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "max": lambda *parts: np.maximum.reduce(parts),
    "min": lambda *parts: np.minimum.reduce(parts),
}
_INTERVALS: Final[dict[str, Callable[..., Interval]]] = {
    "+": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "-": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "*": _product_interval,
    "/": _quotient_interval,
    "^": _power_interval,
    "negative": lambda x: (-x[1], -x[0]),
    "exp": lambda x: (np.exp(x[0]), np.exp(x[1])),
    "log": lambda x: (np.log(x[0]), np.log(x[1])),
    "sqrt": lambda x: (np.sqrt(x[0]), np.sqrt(x[1])),
    "max": lambda *parts: tuple(np.maximum.reduce([part[side] for part in parts]) for side in (0, 1)),
    "min": lambda *parts: tuple(np.minimum.reduce([part[side] for part in parts]) for side in (0, 1)),
}


def read_formula(text: str) -> FormulaNode:
    """Read a formula of the variable a.

    Parameters
    ----------
    text : str
        The formula.

    Returns
    -------
    FormulaNode
        Its tree.

    Raises
    ------
    ParseError
        If it is not a formula; names the place and what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> read_formula("max(1 - 2*a - 0.1, 0)").at(np.array([0.0, 0.2, 0.6])).tolist()
    [0.9, 0.5, 0.0]
    """
    return _FormulaParser(text).whole()


class _FormulaParser:
    """A cursor over the tokens of a formula; each method reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text, self.depth, self.at = text, 0, 0
        if len(text) > LONGEST:
            msg = f"The formula has {len(text)} characters: at most {LONGEST} are allowed."
            raise ParseError(msg)
        self.tokens = self._tokens()

    def _tokens(self) -> list[tuple[str, str, int]]:
        tokens, start, end = [], 0, len(self.text.rstrip())
        while start < end:  # takes one token per pass
            match = _TOKEN.match(self.text, start)
            if match is None:
                place = start + len(self.text[start:]) - len(self.text[start:].lstrip())
                self._fail(place, f"unexpected {value_text(self.text[place])}")
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind], match.start(kind)))
            start = match.end()
        return [*tokens, ("end", "", end)]

    def _fail(self, place: int, reason: str) -> NoReturn:
        words = f"a formula has numbers, {VARIABLE}, + - * / ^, brackets and {', '.join((*_MANY, *_ONE))}"
        msg = f"The formula {value_text(self.text)}: {reason} at character {place + 1}; {words}."
        raise ParseError(msg)

    @property
    def token(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, sign: str) -> None:
        if self.token[1] != sign:
            token = value_text(self.token[1]) if self.token[0] != "end" else "the end"
            self._fail(self.token[2], f"expected {value_text(sign)}, found {token}")
        self.take()

    def whole(self) -> FormulaNode:
        node = self.sum()
        if self.token[0] != "end":
            self._fail(self.token[2], f"unexpected {value_text(self.token[1])}")
        return node

    def sum(self) -> FormulaNode:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(self.token[2], f"brackets more than {DEEPEST} deep")
        node = self.product()
        while self.token[1] in ("+", "-"):  # takes one token per pass
            node = FormulaNode(self.take(), (node, self.product()))
        self.depth -= 1
        return node

    def product(self) -> FormulaNode:
        node = self.factor()
        while self.token[1] in ("*", "/"):  # takes one token per pass
            node = FormulaNode(self.take(), (node, self.factor()))
        return node

    def factor(self) -> FormulaNode:
        signs = 0
        while self.token[1] == "-":  # takes one token per pass
            self.take()
            signs += 1
        node = self.atom()
        if self.token[1] == "^":
            place = self.token[2]
            self.take()
            exponent = self.atom()
            if exponent.sign != "number":
                self._fail(place, "an exponent must be a number, as in (1 - a)^2")
            node = FormulaNode("^", (node, exponent))
        return FormulaNode("negative", (node,)) if signs % 2 else node

    def atom(self) -> FormulaNode:
        kind, text, place = self.token
        if kind == "number":
            self.take()
            return FormulaNode("number", number=float(text))
        if text == "(":
            self.take()
            node = self.sum()
            self.expect(")")
            return node
        if kind == "name" and text == VARIABLE:
            self.take()
            return FormulaNode(VARIABLE)
        if kind == "name" and text in (*_ONE, *_MANY):
            return self.function(text)
        token = value_text(text) if kind != "end" else "the end"
        return self._fail(place, f"expected a number, {VARIABLE}, a function or a bracket, found {token}")

    def function(self, name: str) -> FormulaNode:
        place = self.token[2]
        self.take()
        self.expect("(")
        parts = [self.sum()]
        while self.token[1] == ",":  # takes one token per pass
            self.take()
            parts.append(self.sum())
        self.expect(")")
        if (name in _ONE) != (len(parts) == 1):
            self._fail(
                place, f"{name} takes {'one argument' if name in _ONE else 'two arguments or more'}, got {len(parts)}"
            )
        return FormulaNode(name, tuple(parts))
