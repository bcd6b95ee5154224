"""The value of an expression: a number with both its sides, a sentence, a region, or a record of these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT
from dpcore.core.numerals import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpcore.regions.tradeoff import TradeOff

GIVEN: Final = "given"
"""The kind of a number that somebody typed or a file states: it is taken as given."""

APPROXIMATE: Final = "approximate"
BRACKET: Final = "bracket"
"""The kind of a number that is known between two sides, neither of which is the safe one."""

KINDS: Final = (GIVEN, EXACT, "upper", "lower", BRACKET, APPROXIMATE)
_UP, _DOWN = math.inf, -math.inf
_FLIP: Final = {"upper": "lower", "lower": "upper"}


@dataclass(frozen=True)
class NumberValue:
    """A number between two sides.

    Attributes
    ----------
    low, high : float
        The truth lies between them; equal for a number that is given, and for an exact one up to rounding.
    kind : str
        One of `KINDS`.
    theorem, neighbours : str, default ""
        The argument by which the number holds, and the neighbouring datasets for which it does.
    """

    low: float
    high: float
    kind: str = GIVEN
    theorem: str = ""
    neighbours: str = ""

    def __post_init__(self) -> None:
        """Reject anything that is not a number."""
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            msg = f"The number [{nearest(self.low)}, {nearest(self.high)}] is not a number."
            raise DomainError(msg)

    @property
    def value(self) -> float:
        """The published side: the lower one of a lower bound, otherwise the upper one."""
        return self.low if self.kind == "lower" else self.high


@dataclass(frozen=True)
class TextValue:
    """A sentence or a name."""

    text: str


@dataclass(frozen=True)
class RegionValue:
    """A region, to be passed to a function; it prints as its expression."""

    region: TradeOff


@dataclass(frozen=True)
class RecordValue:
    """Several values by name.

    Attributes
    ----------
    words : str
        What the record prints if no part is named.
    parts : mapping of str to Value or callable
        The values; a callable is called when its part is needed.
    """

    words: str
    parts: Mapping[str, Value | Callable[[], Value]] = field(default_factory=dict)

    def part(self, name: str) -> Value:
        """Return one of the values."""
        one = self.parts[name]
        return one() if callable(one) else one


Value: TypeAlias = NumberValue | TextValue | RegionValue | RecordValue
"""What an expression in a text may stand for."""


def given(number: float) -> NumberValue:
    """Return a number that was typed."""
    return NumberValue(float(number), float(number), GIVEN)


def combined(sign: str, left: NumberValue, right: NumberValue) -> NumberValue:
    """Return a sum, difference, product or quotient, rounded outward unless both numbers are given and it is exact.

    Raises
    ------
    DomainError
        If the divisor may be 0, or the result is not a finite number.
    """
    if sign == "-":
        return combined("+", left, negative(right))
    if sign == "/":
        if right.low <= 0 <= right.high:
            msg = f"A number is divided by {nearest(right.value)}, which may be 0."
            raise DomainError(msg)
        ends = [one / other for one in (left.low, left.high) for other in (right.low, right.high)]
        kind = _joined(left, right, flip=True)
    elif sign == "*":
        ends = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
        kind = _joined(left, right, flip=False)
    else:
        ends = [left.low + right.low, left.high + right.high]
        kind = _joined(left, right, flip=None)
    if any(map(math.isnan, ends)) or (any(map(math.isinf, ends)) and not _has_inf(left, right)):
        msg = f"{nearest(left.value)} {sign} {nearest(right.value)} is not a finite number."
        raise DomainError(msg)
    low, high = min(ends), max(ends)
    if kind != GIVEN:  # one more rounding on each side; given numbers keep the double that a reader computes
        low, high = math.nextafter(low, _DOWN), math.nextafter(high, _UP)
    theorem = left.theorem if left.theorem == right.theorem or not right.theorem else right.theorem
    if left.theorem and right.theorem and left.theorem != right.theorem:
        theorem = f"{left.theorem}; {right.theorem}"
    return NumberValue(low, high, kind, theorem, left.neighbours or right.neighbours)


def negative(one: NumberValue) -> NumberValue:
    """Return the number with the opposite sign."""
    return NumberValue(-one.high, -one.low, _FLIP.get(one.kind, one.kind), one.theorem, one.neighbours)


def _has_inf(*numbers: NumberValue) -> bool:
    return any(math.isinf(side) for one in numbers for side in (one.low, one.high))


def _joined(left: NumberValue, right: NumberValue, *, flip: bool | None) -> str:
    """Return the kind of a result; `flip` is None for a sum, otherwise whether the right side divides."""
    kinds = [left.kind, right.kind]
    if flip is not None:  # a negative factor flips the other's side; a divisor flips its own
        if right.high < 0:
            kinds[0] = _FLIP.get(kinds[0], kinds[0])
        elif right.low < 0 and kinds[0] in _FLIP:
            kinds[0] = BRACKET
        turned = (left.high < 0) != flip
        kinds[1] = _FLIP.get(kinds[1], kinds[1]) if turned else kinds[1]
        if left.low < 0 < left.high and kinds[1] in _FLIP:
            kinds[1] = BRACKET
    known = {kind for kind in kinds if kind not in (GIVEN, EXACT)}
    if APPROXIMATE in known:
        return APPROXIMATE
    if len(known) == 1:
        return known.pop()
    if known:
        return BRACKET
    return GIVEN if kinds == [GIVEN, GIVEN] else EXACT
