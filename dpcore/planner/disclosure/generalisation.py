"""Generalisation: numbers become intervals, texts lose their last characters, answers join declared groups.

A rule is written as in ``age:10, zip:2*, job:medical=nurse|doctor;office=clerk``; `rules_of` reads them.
"""

from __future__ import annotations

import csv
import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.domains import COUNT, POSITIVE, REAL
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.registry import unknown, value_text
from dpcore.files.sheet import number_in, rows_of
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.files.columns import CodedColumn
    from dpcore.files.microdata import Microdata

OTHER: Final = "other"
HIDDEN: Final = "*"
MOST_RULES: Final = 50
_WIDTH = POSITIVE.but(name="The width of intervals", low=1e-9, high=1e12, low_open=False)
_EDGE = REAL.but(name="An end of an interval", low=-1e12, high=1e12)
_KEEP = COUNT.but(name="The number of characters to keep", low=0, high=60)
_CLOSE = 1e-6  # of a width: this close to the end of an interval, exact arithmetic decides


class Rule(ABC):
    """How one column becomes coarser."""

    column: str

    @abstractmethod
    def texts(self, data: Microdata, column: CodedColumn) -> list[str]:
        """Return the coarser text of each distinct text."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the rule does."""


@dataclass(frozen=True)
class IntervalRule(Rule):
    """Numbers become half-open intervals [low, low + width) of equal width; a missing value stays missing.

    Attributes
    ----------
    column : str
        The column.
    width : float
        Of the intervals.
    start : float, default 0
        Where one of them begins.
    """

    column: str
    width: float
    start: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        _WIDTH.check(self.width)
        _EDGE.check(self.start)

    def texts(self, data: Microdata, column: CodedColumn) -> list[str]:
        """Return the interval of each distinct text."""
        numbers = data.parsed(column, "a number, because it becomes intervals", missing=True)
        places = _steps(numbers, self.width, self.start)
        width, start = Fraction(str(self.width)), Fraction(str(self.start))
        return [
            text if math.isnan(place) else _interval(start + int(place) * width, start + (int(place) + 1) * width)
            for text, place in zip(column.texts, places, strict=True)
        ]

    @property
    def words(self) -> str:
        """What the rule does."""
        return f"{self.column} in intervals of {numeral(self.width)}" + (
            f" from {numeral(self.start)}" if self.start else ""
        )


def _steps(numbers: FloatArray, width: float, start: float) -> FloatArray:
    """Return the interval each number lies in; numbers near an end are placed by exact decimal arithmetic."""
    exact = (numbers - start) / width
    steps = np.floor(exact)
    for place in np.flatnonzero(np.abs(exact - np.round(exact)) < _CLOSE).tolist():
        value = Fraction(repr(float(numbers[place])))
        steps[place] = (value - Fraction(str(start))) // Fraction(str(width))
    return steps


def _interval(low: Fraction, high: Fraction) -> str:
    return f"[{numeral(float(low))}, {numeral(float(high))})"


@dataclass(frozen=True)
class Cuts(Rule):
    """Numbers become the intervals between declared ends: below the first, [first, second), ..., the last and above."""

    column: str
    ends: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check that the ends rise."""
        _EDGE.array(self.ends)
        if any(a >= b for a, b in zip(self.ends, self.ends[1:], strict=False)):
            msg = f"The ends of the intervals of {self.column!r} must rise, got {value_text(list(self.ends))}."
            raise DomainError(msg)

    def texts(self, data: Microdata, column: CodedColumn) -> list[str]:
        """Return the interval of each distinct text."""
        numbers = data.parsed(column, "a number, because it becomes intervals", missing=True)
        ends = [numeral(end) for end in self.ends]
        names = [f"<{ends[0]}", *(f"[{a}, {b})" for a, b in itertools.pairwise(ends)), f">={ends[-1]}"]
        places = np.searchsorted(np.array(self.ends), numbers, side="right").tolist()
        missing = np.isnan(numbers).tolist()
        return [text if gap else names[place] for text, gap, place in zip(column.texts, missing, places, strict=True)]

    @property
    def words(self) -> str:
        """What the rule does."""
        return f"{self.column} cut at {', '.join(map(numeral, self.ends))}"


@dataclass(frozen=True)
class FirstCharacters(Rule):
    """Texts keep their first characters; the others become stars. With 0 the whole text becomes one star."""

    column: str
    keep: int

    def __post_init__(self) -> None:
        """Check the number."""
        _KEEP.check(self.keep)

    def texts(self, data: Microdata, column: CodedColumn) -> list[str]:
        """Return the start of each distinct text."""
        _ = data
        if self.keep == 0:
            return [HIDDEN] * len(column.texts)
        return [text[: self.keep] + HIDDEN * (len(text) - self.keep) for text in column.texts]

    @property
    def words(self) -> str:
        """What the rule does."""
        return f"the first {self.keep} characters of {self.column}" if self.keep else f"{self.column} hidden"


@dataclass(frozen=True)
class Groups(Rule):
    """Answers join declared groups; an answer in no group becomes ``other``.

    Attributes
    ----------
    column : str
        The column.
    groups : tuple of (str, tuple of str)
        Name of each group and its answers.
    """

    column: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        """Check that each answer is in one group."""
        answers = [answer for _, members in self.groups for answer in members]
        twice = next((answer for answer in answers if answers.count(answer) > 1), None)
        if twice is not None:
            msg = f"Each answer of {self.column!r} belongs to one group, got {value_text(twice)} in two."
            raise DomainError(msg)

    def texts(self, data: Microdata, column: CodedColumn) -> list[str]:
        """Return the group of each distinct text."""
        _ = data
        group = {answer: name for name, members in self.groups for answer in members}
        return [
            text if missing else group.get(text, OTHER)
            for text, missing in zip(column.texts, column.missing.tolist(), strict=True)
        ]

    @property
    def words(self) -> str:
        """What the rule does."""
        return f"{self.column} in the groups {', '.join(name for name, _ in self.groups)} and {OTHER}"


def generalised(data: Microdata, rules: Sequence[Rule]) -> Microdata:
    """Return a table with coarser columns.

    Parameters
    ----------
    data : Microdata
        The table.
    rules : sequence of Rule
        At most one for each column.
    """
    columns = data.some((rule.column for rule in rules), "The rules of generalisation")
    return data.with_columns(
        column.replaced(rule.texts(data, column)) for rule, column in zip(rules, columns, strict=True)
    )


def notes(data: Microdata, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return what a data owner should know about the rules on this table, in sentences."""
    sentences = []
    for rule in rules:
        if isinstance(rule, Groups):
            column = data.column(rule.column)
            undeclared = [text == OTHER for text in rule.texts(data, column)]
            count = int(column.counts[undeclared].sum())
            if count:
                named = column.texts[undeclared.index(True)]
                sentences.append(
                    f"{grouped(count)} answers of {rule.column!r} in no group became {OTHER!r} (the first: {value_text(named)})."
                )
    return tuple(sentences)


def rules_of(text: str, data: Microdata) -> tuple[Rule, ...]:
    """Read rules such as ``age:10, zip:2*``.

    Parameters
    ----------
    text : str
        Rules with commas between them, each ``column:how``. How is ``10`` or ``10@5`` (intervals of width 10, one of
        which begins at 5), ``18|30|65`` (intervals between these ends), ``2*`` (the first two characters), ``*``
        (everything hidden), or ``medical=nurse|doctor;office=clerk`` (groups). A plain number means characters in a
        column of texts, and in one with leading zeros, such as 01067.
    data : Microdata
        The table, whose columns the rules name.

    Returns
    -------
    tuple of Rule
        The rules in their order.
    """
    pieces = [piece.strip() for row in rows_of(csv.reader([text], skipinitialspace=True)) for piece in row]
    if len(pieces) > MOST_RULES:
        msg = f"A generalisation has at most {MOST_RULES} rules, got {len(pieces)}."
        raise DomainError(msg)
    return tuple(_rule(piece, data) for piece in pieces if piece)


def _rule(piece: str, data: Microdata) -> Rule:
    owners = [name for name in data.names if piece.startswith(f"{name}:")]
    if not owners:
        name, colon, _ = piece.partition(":")
        if not colon:
            msg = f"A rule of generalisation is column:how, such as age:10 or zip:2*, got {value_text(piece)}."
            raise DomainError(msg)
        raise DomainError(unknown("column", name.strip(), data.names))
    column = max(owners, key=len)
    how = piece[len(column) + 1 :].strip()
    if how.endswith(HIDDEN):
        number = how.removesuffix(HIDDEN).strip()
        return FirstCharacters(column, _KEEP.check(_number(number, piece)) if number else 0)
    if "=" in how:
        return Groups(column, tuple(_group(part, piece) for part in how.split(";") if part.strip()))
    if "|" in how:
        return Cuts(column, tuple(_number(part, piece) for part in how.split("|")))
    width, at, start = how.partition("@")
    if not at and _is_text(data.column(column)):
        return FirstCharacters(column, _KEEP.check(_number(width, piece)))
    return IntervalRule(column, _number(width, piece), _number(start, piece) if at else 0.0)


def _is_text(column: CodedColumn) -> bool:
    """Whether a column holds texts, or codes with leading zeros, which are not quantities."""
    texts = [text for text, gap in zip(column.texts, column.missing.tolist(), strict=True) if not gap]
    zeros = any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in texts)
    return zeros or not any(number_in(text.replace(",", ".")) is not None for text in texts)


def _group(part: str, piece: str) -> tuple[str, tuple[str, ...]]:
    name, _, members = part.partition("=")
    answers = tuple(" ".join(member.split()) for member in members.split("|"))
    if not name.strip() or "" in answers:
        msg = f"A group is name=answer|answer, got {value_text(part)} in {value_text(piece)}."
        raise DomainError(msg)
    return " ".join(name.split()), answers


def _number(text: str, piece: str) -> float:
    value = number_in(text)
    if value is None:
        msg = (
            f"The rule {value_text(piece)} cannot be read: write column:10 for intervals, column:2* for first characters, "
            "column:18|65 for ends, or column:name=a|b for groups."
        )
        raise DomainError(msg)
    return value


def words_of(rules: Iterable[Rule]) -> str:
    """Return what some rules do, as the middle of a sentence."""
    return ", ".join(rule.words for rule in rules)
