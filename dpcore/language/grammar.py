"""From text to syntax tree, by recursive descent with a bound on the depth; nothing is ever evaluated as code.

::

    expression := product ('&' product)*
    product    := power ('*' power)*
    power      := atom ('^' INTEGER)?
    atom       := NAME '(' [argument (',' argument)*] ')'  |  '(' expression ')'
    argument   := [NAME '='] value
    value      := NUMBER | TEXT | '[' [value (',' value)*] ']' | expression
    NUMBER     := DECIMAL | DECIMAL '/' DECIMAL | 'log' '(' NUMBER ')' | 'sqrt' '(' NUMBER ')' | 'inf'
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.language.problems import PlacedError, quoted
from dpcore.language.syntax import (
    Argument,
    CallNode,
    IntersectionNode,
    ListNode,
    NumberNode,
    PowerNode,
    ProductNode,
    TextNode,
    UnknownNode,
)
from dpcore.language.tokens import checked, tokenise

if TYPE_CHECKING:
    from typing import NoReturn

    from dpcore.language.syntax import Region, Value
    from dpcore.language.tokens import Token

DEEPEST = 100  # brackets; part of the contract of the language, and far from Python's limit on recursion
MOST_DIGITS = 30  # of an exponent or an integer
FUNCTIONS = ("log", "sqrt")
_AFTER_REGION = "'&', '*', '^'"


def parse_syntax(text: str, *, allow_unknown: bool = False) -> Region:
    """Read a text as a syntax tree.

    Parameters
    ----------
    text : str
        The expression.
    allow_unknown : bool, default False
        Accept `?` in the place of an argument or an exponent.

    Returns
    -------
    Region
        The root of the tree.

    Raises
    ------
    ParseError
        If the text is not an expression; names the reason, the place and what was expected.
    """
    return _Parser(text, allow_unknown=allow_unknown).whole()


def parse_number(text: str) -> float:
    """Read a whole text as a NUMBER of the grammar; an `int` if it was typed as plain digits.

    Raises
    ------
    ParseError
        If the text is not a number; names the reason, the place and what was expected.
    """
    parser = _Parser(text, allow_unknown=False)
    number = parser.number()
    if parser.token.kind != "end":
        parser.unexpected("the end of the number")
    return number.value


class _Parser:
    """A cursor over the tokens; each method reads one rule of the grammar."""

    def __init__(self, text: str, *, allow_unknown: bool) -> None:
        self.text = checked(text)
        self.allow_unknown = allow_unknown
        self.tokens = tokenise(self.text)
        self.position = 0
        self.token = self.tokens[0]
        self.depth = 0

    @property
    def following(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.token
        self.position = min(self.position + 1, len(self.tokens) - 1)
        self.token = self.tokens[self.position]
        return token

    def accept(self, kind: str) -> bool:
        if self.token.kind != kind:
            return False
        self.take()
        return True

    def fail(self, start: int, reason: str, hint: str = "") -> NoReturn:
        raise PlacedError(self.text, start, reason, hint)

    def unexpected(self, expected: str) -> NoReturn:
        token = self.token
        reason = "The expression ends" if token.kind == "end" else f"Unexpected {quoted(token.text)}"
        self.fail(token.start, reason, f"expected {expected}")

    def opening(self) -> Token:
        """Take an opening bracket, one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(self.token.start, f"Brackets more than {DEEPEST} deep")
        return self.take()

    def closing(self, kind: str, expected: str) -> Token:
        """Take a closing bracket, one level up again."""
        if self.token.kind != kind:
            self.unexpected(expected)
        self.depth -= 1
        return self.take()

    def whole(self) -> Region:
        if self.token.kind == "end":
            self.fail(0, "The expression is empty", "expected a region such as dp(1)")
        tree = self.expression()
        if self.token.kind != "end":
            self.unexpected(f"{_AFTER_REGION} or the end")
        return tree

    def expression(self) -> Region:
        """Read the rules expression, product and power in one frame, so that deep texts need less stack."""
        start = self.token.start
        parts: list[Region] = []
        while True:  # takes one token per pass
            product_start = self.token.start
            factors = [self.power(self.atom())]
            while self.accept("*"):  # takes one token per pass
                if self.token.kind == "*":
                    self.fail(self.token.start, "Unexpected '*'", "a power is written with '^' here, as in dp(1)^5")
                factors.append(self.power(self.atom()))
            parts.append(factors[0] if len(factors) == 1 else ProductNode(tuple(factors), product_start))
            if not self.accept("&"):
                return parts[0] if len(parts) == 1 else IntersectionNode(tuple(parts), start)

    def power(self, base: Region) -> Region:
        if not self.accept("^"):
            return base
        token = self.token
        if token.kind == "?":
            node = PowerNode(base, self.unknown(), base.start)
        elif token.kind != "number" or not token.text.isdecimal():
            self.unexpected("an integer from 1 in plain digits after '^'")
        elif len(token.text) > MOST_DIGITS:
            self.fail(token.start, f"An exponent of {len(token.text)} digits", f"at most {MOST_DIGITS} are allowed")
        elif int(token.text) < 1:
            self.fail(token.start, f"Unexpected exponent {token.text}", "expected an integer from 1")
        else:
            node = PowerNode(base, int(self.take().text), base.start)
        if self.token.kind == "^":
            self.fail(self.token.start, "Unexpected '^'", "write the inner power in brackets, as in (dp(1)^2)^3")
        return node

    def atom(self) -> Region:
        token = self.token
        if token.kind == "(":
            self.opening()
            inner = self.expression()
            self.closing(")", f"{_AFTER_REGION} or ')'")
            return inner
        if token.kind != "name":
            self.unexpected("a region such as dp(1), or '('")
        if token.text in FUNCTIONS or token.text == "inf":
            self.fail(token.start, f"Unexpected number {quoted(token.text)}", "expected a region such as dp(1)")
        self.take()
        if self.token.kind != "(":
            hint = "expected a region with brackets, as in dp(1), or a number such as 0.5, 1e-6, inf"
            self.fail(token.start, f"The name {quoted(token.text)} stands alone", hint)
        self.opening()
        arguments: list[Argument] = []
        while self.token.kind != ")" or arguments:  # takes one token per pass
            arguments.append(self.argument())
            if not self.accept(","):
                break
        end = self.closing(")", "',' or ')'").start
        return CallNode(token.text, tuple(arguments), token.start, end)

    def argument(self) -> Argument:
        start = self.token.start
        name = None
        if self.token.kind == "name" and self.following.kind == "=":
            name = self.take().text
            self.take()
        return Argument(name, self.value(), start)

    def value(self) -> Value:
        token = self.token
        if token.kind == "number" or token.text in {*FUNCTIONS, "inf"}:
            return self.number()
        if token.kind == "text":
            return TextNode(self.take().text[1:-1], token.start)
        if token.kind == "?":
            return self.unknown()
        if token.kind == "[":
            return self.items()
        if token.kind not in {"name", "("}:
            self.unexpected("a number, a list, a text in double quotes or a region")
        return self.expression()

    def items(self) -> ListNode:
        start = self.opening().start
        items: list[Value] = []
        while self.token.kind != "]" or items:  # takes one token per pass
            items.append(self.value())
            if not self.accept(","):
                break
        self.closing("]", "',' or ']'")
        return ListNode(tuple(items), start)

    def unknown(self) -> UnknownNode:
        token = self.take()
        if not self.allow_unknown:
            self.fail(token.start, "Unexpected '?'", "an unknown can only be calibrated")
        return UnknownNode(token.start)

    def number(self) -> NumberNode:
        token = self.token
        if token.kind == "name" and token.text == "inf":
            self.take()
            result = NumberNode(math.inf, token.start)
        elif token.kind == "name" and token.text in FUNCTIONS:
            result = self.function()
        elif token.kind == "number":
            result = self.fraction()
        else:
            self.unexpected("a number without sign")
        if self.token.kind in {"/", "*", "^"}:
            hint = "the only arithmetic is 1/3, log(3), sqrt(2)"
            self.fail(self.token.start, f"Unexpected {quoted(self.token.text)}", hint)
        return result

    def function(self) -> NumberNode:
        """Read log(x) or sqrt(x); neither may give a negative number, since numbers have no sign."""
        name = self.take()
        if self.token.kind != "(":
            self.unexpected(f"'(' after {quoted(name.text)}")
        self.opening()
        inner = self.number()
        self.closing(")", "')'")
        if math.isinf(inner.value):
            self.fail(inner.start, f"Unexpected inf inside {name.text}", "expected a finite number")
        if name.text == "sqrt":
            return NumberNode(math.sqrt(inner.value), name.start)
        if inner.value < 1:
            self.fail(inner.start, f"The logarithm of {inner.value!r} is negative", "expected a number from 1")
        return NumberNode(math.log(inner.value), name.start)

    def fraction(self) -> NumberNode:
        """Read a decimal or a quotient of two decimals."""
        top = self.decimal()
        if not self.accept("/"):
            return top
        if self.token.kind != "number":
            self.unexpected("a decimal number after '/'")
        bottom = self.decimal()
        if bottom.value == 0:
            self.fail(bottom.start, "Division by zero")
        try:
            quotient = top.value / bottom.value
        except OverflowError:
            quotient = math.inf
        if math.isinf(quotient) or (quotient == 0 and top.value > 0):
            self.fail(top.start, "A quotient outside the range of double precision")
        return NumberNode(quotient, top.start)

    def decimal(self) -> NumberNode:
        token = self.take()
        value = float(token.text)
        if math.isinf(value):
            self.fail(token.start, f"The number {quoted(token.text)} is too large", "at most 1.7976931348623157e308")
        if value == 0 and any(digit in "123456789" for digit in token.text.lower().partition("e")[0]):
            self.fail(token.start, f"The number {quoted(token.text)} is too small", "at least 5e-324, or 0")
        plain = token.text.isdecimal() and len(token.text) <= MOST_DIGITS
        return NumberNode(int(token.text) if plain else value, token.start)
