"""Conditions on the records an answer is about, in a small language, and which of them exclude each other.

A condition is a list of comparisons joined by ``and``: ``department = "IT" and salary >= 50000``,
``grade in ["A", "B"]``, ``age < 18``. Nothing is evaluated as Python. Text is compared character by character,
numbers as numbers; a record with an empty cell in a column of the condition does not satisfy it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Value = str | float
OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "in")
MOST_TERMS: Final = 20
MOST_VALUES: Final = 100
LONGEST: Final = 2000
EXAMPLE: Final = 'department = "IT" and salary >= 50000'
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<quoted>"[^"]*"|'[^']*')|(?P<column>`[^`]*`)|(?P<sign><=|>=|!=|==|=|<|>|\[|\]|,)"""
    r"""|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![^\W_]))|(?P<word>[^\s"'`<>=!,\[\]]+))"""
)


@dataclass(frozen=True, slots=True)
class ColumnComparison:
    """One comparison of a column with a value, or with a list of values for ``in``.

    Parameters
    ----------
    column : str
        Name of the column.
    operator : str
        One of ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` and ``in``.
    values : tuple of (str or float)
        One value; for ``in`` one or more. Only numbers are ordered.
    """

    column: str
    operator: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Check the operator and the values."""
        one_of("operator", OPERATORS).check(self.operator)
        if not self.column.strip() or "`" in self.column or not self.column.isprintable():
            msg = f"A comparison needs the name of a column on one line, without a backtick; got {value_text(self.column)}."
            raise DomainError(msg)
        if not 1 <= len(self.values) <= (MOST_VALUES if self.operator == "in" else 1):
            msg = f"{self.column} {self.operator} takes one value, in a list of up to {MOST_VALUES}; got {len(self.values)}."
            raise DomainError(msg)
        texts = [isinstance(value, str) for value in self.values]
        if any(texts) and not all(texts):
            msg = f"The values of {self.column} {self.operator} mix text and numbers: {value_text(self.values)}."
            raise DomainError(msg)
        if not any(texts) and not all(math.isfinite(float(value)) for value in self.values):
            msg = f"The values of {self.column} {self.operator} must be finite, got {value_text(self.values)}."
            raise DomainError(msg)
        if self.operator in ("<", "<=", ">", ">=") and any(texts):
            msg = f"{self.column} {self.operator} compares numbers, got the text {value_text(self.values[0])}."
            raise DomainError(msg)
        if any('"' in value or not value.isprintable() for value in self.values if isinstance(value, str)):
            msg = f"A text in a condition must be on one line, without a quotation mark; got {value_text(self.values)}."
            raise DomainError(msg)

    @property
    def is_text(self) -> bool:
        """Whether the column is compared with text."""
        return isinstance(self.values[0], str)

    @property
    def text(self) -> str:
        """The comparison as text."""
        written = [f'"{value}"' if isinstance(value, str) else numeral(value) for value in self.values]
        name = self.column if re.fullmatch(r"[^\W\d]\w*", self.column) and self.column not in ("and", "in") else None
        right = f"[{', '.join(written)}]" if self.operator == "in" else written[0]
        return f"{name or f'`{self.column}`'} {self.operator} {right}"


@dataclass(frozen=True, slots=True)
class Condition:
    """Comparisons that must all hold; without any, every record satisfies it."""

    comparisons: tuple[ColumnComparison, ...] = ()

    def __post_init__(self) -> None:
        """Reject a condition that is too long, or a column compared with both text and numbers."""
        if len(self.comparisons) > MOST_TERMS:
            msg = f"A condition has at most {MOST_TERMS} comparisons, got {len(self.comparisons)}."
            raise DomainError(msg)
        types: dict[str, bool] = {}
        for one in self.comparisons:
            if types.setdefault(one.column, one.is_text) != one.is_text:
                msg = f"Column {value_text(one.column)} is compared with text and with a number in one condition."
                raise DomainError(msg)

    def __bool__(self) -> bool:
        """Return whether there is a comparison at all."""
        return bool(self.comparisons)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it refers to, each once."""
        return tuple(dict.fromkeys(one.column for one in self.comparisons))

    @property
    def text(self) -> str:
        """The condition as text; empty if there is none."""
        return " and ".join(one.text for one in self.comparisons)

    def of(self, column: str) -> tuple[ColumnComparison, ...]:
        """Return the comparisons about one column."""
        return tuple(one for one in self.comparisons if one.column == column)


def parse_condition(text: str) -> Condition:
    """Return the condition of a text.

    Parameters
    ----------
    text : str
        Comparisons joined by ``and``; empty for every record. A column name that is not a single word goes between
        backticks.

    Returns
    -------
    Condition
        The comparisons, checked.

    Examples
    --------
    >>> parse_condition("department = IT and salary>=5e4").text
    'department = "IT" and salary >= 50000'
    """
    if len(str(text)) > LONGEST:
        msg = f"A condition has at most {LONGEST} characters, got {value_text(text)}."
        raise DomainError(msg)
    tokens = list(_tokens(str(text)))
    if not tokens:
        return Condition()
    comparisons, at = [], 0
    while True:  # one comparison of the text per round
        comparison, at = _comparison(tokens, at, text)
        comparisons.append(comparison)
        if at == len(tokens):
            return Condition(tuple(comparisons))
        if tokens[at] != ("word", "and"):
            raise _problem(text, f"and, got {tokens[at][1]}")
        at += 1


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():  # one token of the text per round
        match = _TOKEN.match(text, at)
        if match is None:
            raise _problem(text, f"a name, a sign or a value at {value_text(text[at : at + 20].strip())}")
        kind = str(match.lastgroup)
        word = match[kind]
        if kind in ("quoted", "column"):
            word = word[1:-1]
        elif kind == "word" and word.lower() in ("and", "in"):
            word = word.lower()
        yield kind, "=" if word == "==" and kind == "sign" else word
        at = match.end()


def _problem(text: str, expected: str) -> DomainError:
    return DomainError(
        f"The condition {value_text(text)} cannot be read: expected {expected}. Write it like {EXAMPLE}."
    )


def _comparison(tokens: Sequence[tuple[str, str]], at: int, text: str) -> tuple[ColumnComparison, int]:
    if at >= len(tokens) or tokens[at][0] not in ("word", "column", "quoted"):
        raise _problem(text, "the name of a column")
    column = tokens[at][1]
    sign = tokens[at + 1] if at + 1 < len(tokens) else ("", "nothing")
    if sign[0] not in ("sign", "word") or sign[1] not in OPERATORS:
        raise _problem(text, f"one of {' '.join(OPERATORS)} after {column}, got {sign[1]}")
    if sign[1] != "in":
        value = _value(tokens, at + 2, text)
        return ColumnComparison(column, sign[1], (value,)), at + 3
    if at + 2 >= len(tokens) or tokens[at + 2] != ("sign", "["):
        raise _problem(text, f"a list such as [1, 2] after {column} in")
    values, place = [], at + 3
    while True:  # one value of the list per round
        values.append(_value(tokens, place, text))
        end = tokens[place + 1] if place + 1 < len(tokens) else ("", "nothing")
        if end == ("sign", "]"):
            return ColumnComparison(column, "in", tuple(values)), place + 2
        if end != ("sign", ","):
            raise _problem(text, f"a comma or ] in the list of {column}, got {end[1]}")
        place += 2


def _value(tokens: Sequence[tuple[str, str]], at: int, text: str) -> Value:
    if at >= len(tokens) or tokens[at][0] not in ("quoted", "number", "word") or tokens[at] == ("word", "and"):
        raise _problem(text, f"a number or a text, got {tokens[at][1] if at < len(tokens) else 'nothing'}")
    kind, word = tokens[at]
    return float(word) if kind == "number" else word


# ---- which conditions exclude each other ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Allowed:
    """The values of one column that satisfy some comparisons: a list, or an interval, without some values."""

    only: frozenset[Value] | None
    without: frozenset[Value]
    low: float
    high: float
    low_open: bool
    high_open: bool

    @classmethod
    def of(cls, comparisons: Sequence[ColumnComparison]) -> _Allowed:
        only: frozenset[Value] | None = None
        without: frozenset[Value] = frozenset()
        low, high, low_open, high_open = -math.inf, math.inf, False, False
        for one in comparisons:
            values = frozenset(one.values)
            if one.operator in ("=", "in"):
                only = values if only is None else only & values
            elif one.operator == "!=":
                without |= values
            else:
                bound = float(one.values[0])
                strict = one.operator in ("<", ">")
                if one.operator in ("<", "<=") and (bound, not strict) < (high, not high_open):
                    high, high_open = bound, strict
                if one.operator in (">", ">=") and (-bound, not strict) < (-low, not low_open):
                    low, low_open = bound, strict
        return cls(only, without, low, high, low_open, high_open)

    def holds(self, value: Value) -> bool:
        """Return whether one value is allowed."""
        if (self.only is not None and value not in self.only) or value in self.without:
            return False
        if isinstance(value, str):
            return True
        above = value > self.low or (value == self.low and not self.low_open)
        return above and (value < self.high or (value == self.high and not self.high_open))

    def excludes(self, other: _Allowed) -> bool:
        """Return whether no value is allowed by both."""
        if self.only is not None:
            return not any(self.holds(value) and other.holds(value) for value in self.only)
        if other.only is not None:
            return other.excludes(self)
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        if low != high:
            return low > high
        one_point = not low_open and closed
        return not one_point or low in self.without or low in other.without


def excluding_column(one: Condition, other: Condition) -> str:
    """Return the column on which no record can satisfy both conditions; empty if there is none.

    Parameters
    ----------
    one, other : Condition
        Two conditions.

    Returns
    -------
    str
        The first such column: different categories, or disjoint ranges.

    Examples
    --------
    >>> excluding_column(parse_condition("age < 18"), parse_condition("age >= 18 and sex = F"))
    'age'
    """
    for column in one.columns:
        mine, theirs = one.of(column), other.of(column)
        if theirs and mine[0].is_text == theirs[0].is_text and _Allowed.of(mine).excludes(_Allowed.of(theirs)):
            return column
    return ""
