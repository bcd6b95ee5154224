"""Values as a document shows them: rounded outward, with their kind, or in another requested format."""

from __future__ import annotations

from typing import Final

from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, WORDS
from dpcore.core.numerals import nearest, numeral
from dpcore.language.problems import nearest as nearest_name
from dpcore.language.problems import quoted
from dpcore.values.quantity import APPROXIMATE, BRACKET, GIVEN, NumberValue, RecordValue, RegionValue, TextValue, Value
from dpcore.words import of_100, outward

DIGITS: Final = 4
MOST_DIGITS: Final = 17
FORMATS: Final = {
    "plain": "the number without its kind, which the list of numbers at the end has",
    "percent": "a share in per cent",
    "people": "a rate as people: 12 of 100",
    "digits": "a number from 1 to 17 instead of the word: so many significant digits",
    "both": "both sides of the number",
    "full": "all digits of the published side",
}
"""Ways to write a value, each with its meaning."""


def shown_value(one: Value, *formats: str) -> str:
    """Return a value as text.

    Parameters
    ----------
    one : Value
        The value.
    formats : str
        Names of `FORMATS`, or a number of digits.

    Returns
    -------
    str
        A bound is rounded to its safe side, an exact number up; a given number is shown as is, or rounded to nearest if
        a number of digits is requested.

    Examples
    --------
    >>> (
    ...     shown_value(NumberValue(0.12340, 0.12341, "upper")),
    ...     shown_value(NumberValue(0.12340, 0.12341, "upper"), "2", "plain"),
    ... )
    ('0.1235 (upper bound)', '0.13')
    """
    asked: int | None = None
    words = set[str]()
    for text in formats:
        if text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_DIGITS:
            asked = int(text)
        elif text in FORMATS and text != "digits":
            words.add(text)
        else:
            names = [name for name in FORMATS if name != "digits"]
            hint = (
                nearest_name(text, names)
                or f"there are {', '.join(names)} and a number of digits from 1 to {MOST_DIGITS}."
            )
            msg = f"There is no format {quoted(text)}; {hint}"
            raise DomainError(msg)
    if not isinstance(one, NumberValue):
        if formats:
            msg = f"The format {quoted(formats[0])} is for numbers."
            raise DomainError(msg)
        return (
            one.text if isinstance(one, TextValue) else one.words if isinstance(one, RecordValue) else str(one.region)
        )
    return _number(one, asked, words)


def _number(one: NumberValue, asked: int | None, words: set[str]) -> str:
    digits = DIGITS if asked is None else asked
    kind = "" if one.kind == GIVEN or "plain" in words else f" ({_kind_words(one)})"
    if "full" in words:
        return numeral(one.value) + kind
    if "people" in words:
        return of_100(one.value, up=one.kind != "lower") + kind
    scale, unit = (100.0, " %") if "percent" in words else (1.0, "")
    if "both" in words or one.kind == BRACKET:
        sides = (outward(scale * one.low, digits, up=False), outward(scale * one.high, digits))
        return f"between {sides[0]}{unit} and {sides[1]}{unit}" if sides[0] != sides[1] else f"{sides[0]}{unit}{kind}"
    if one.kind == GIVEN and asked is None:
        return (nearest(scale * one.high, 15) if scale != 1 else numeral(one.high)) + unit
    if one.kind in (GIVEN, APPROXIMATE):
        return nearest(scale * one.value, digits) + unit + kind
    return outward(scale * one.value, digits, up=one.kind != "lower") + unit + kind


def _kind_words(one: NumberValue) -> str:
    return "between two bounds" if one.kind == BRACKET else WORDS.get(one.kind, EXACT)


def exact_text(one: Value) -> str:
    """Return a value as another expression reads it: a number with all digits, a region as its expression."""
    if isinstance(one, NumberValue):
        return numeral(one.value)
    if isinstance(one, RegionValue):
        if not one.region.in_language:
            msg = (
                f"No expression says what {one.region.text} promises, because of its groups or its length; name the file "
                'instead, as in file = "releases.csv" (figures of kind ledger and risk).'
            )
            raise DomainError(msg)
        return str(one.region)
    return one.text if isinstance(one, TextValue) else one.words
