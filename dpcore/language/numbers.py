"""Numbers that a person types in a field, an option, a file or an expression; they are read only here."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.language.grammar import parse_number

if TYPE_CHECKING:
    from dpcore.core.parameter import Parameter

_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")
_MOST_PARTS = 19  # ten factors and the signs between them


def number(text: str) -> float | None:
    """Return the number that a text stands for, None if it stands for none.

    It may be written as in the language (0.6, 1e-6, log(3), sqrt(2), 1/3, inf) or as in Python (-1, 1_000). A number that
    would overflow to infinity or underflow to 0 is refused.

    Parameters
    ----------
    text : str
        As typed.

    Returns
    -------
    float or None
        None if the text is not a number.

    Examples
    --------
    >>> number("1/4"), number("-2"), number("1e400")
    (0.25, -2.0, None)
    """
    stripped = text.strip()
    try:
        return parse_number(stripped)
    except DpcoreError:
        pass
    try:
        value = float(stripped)
    except ValueError:
        return None
    meant = (
        "n" in stripped.lower()
        if not math.isfinite(value)
        else value != 0.0 or not re.search("[1-9]", _mantissa(stripped))
    )
    return value if meant else None


def integer(text: str) -> int | None:
    """Return the integer that a text stands for, to the last digit: 1000, 1 000, 1_000, 1000.0, 1e3 or 60*60000/240.

    1.000 is refused, because in half of the world it is one thousand.

    Parameters
    ----------
    text : str
        As typed.

    Returns
    -------
    int or None
        None if the text is not an integer.

    Examples
    --------
    >>> integer("1 000 000"), integer("1e23") == 10**23, integer("1.000")
    (1000000, True, None)
    """
    exact = quotient(text)
    if exact is None:
        value = None if _THOUSANDS.fullmatch(text.strip()) else number(text)
        exact = Fraction(value) if value is not None and math.isfinite(value) else None
    return int(exact) if exact is not None and exact.denominator == 1 else None


def quotient(text: str) -> Fraction | None:
    """Return products and quotients of decimals exactly, such as the 14062.5 steps of 60*60000/256.

    Parameters
    ----------
    text : str
        As typed; spaces and underscores between digits are ignored, and 1.000 is refused as by `integer`.

    Returns
    -------
    Fraction or None
        None if the text is anything else.

    Examples
    --------
    >>> float(quotient("60*60000/256")), quotient("60/0"), quotient("log(3)")
    (14062.5, None, None)
    """
    parts = re.split(r"([*/])", "".join(text.split()).replace("_", ""))
    if len(parts) > _MOST_PARTS or not all(map(_is_decimal, parts[::2])):
        return None
    value, *factors = (Fraction(Decimal(part)) for part in parts[::2])
    for sign, factor in zip(parts[1::2], factors, strict=True):
        if sign == "/" and not factor:
            return None
        value = value * factor if sign == "*" else value / factor
    return value


def _is_decimal(digits: str) -> bool:
    """Whether digits are one decimal number in the range of doubles."""
    return bool(_DECIMAL.fullmatch(digits)) and not _THOUSANDS.fullmatch(digits) and number(digits) is not None


def read_value(parameter: Parameter, text: Any, name: str = "") -> Any:
    """Return the value of a parameter from what a person typed; the message of a refusal shows the text as typed.

    Parameters
    ----------
    parameter : Parameter
        A number or an integer.
    text : object
        As typed; anything but a text, such as a number of a file, is checked as it is.
    name : str, default ""
        What the message calls the parameter, such as the label of its field.

    Returns
    -------
    object
        The checked value; raises `DomainError` otherwise.
    """
    try:
        return parameter.check(meant(parameter, text))
    except DomainError:
        raise (parameter.but(name=name) if name else parameter).refusal(text) from None


def read_fraction(parameter: Parameter, text: Any, name: str = "") -> Fraction:
    """Return the value of a parameter exactly, as products and quotients of decimals were typed.

    Parameters
    ----------
    parameter : Parameter
        A number or an integer.
    text : object
        As typed, such as 60*60000/256; for an integer, a part of one counts as a whole one.
    name : str, default ""
        What the message calls the parameter.

    Returns
    -------
    Fraction
        The checked value; raises `DomainError` otherwise.

    Examples
    --------
    >>> from dpcore.core.domains import COUNT, POSITIVE
    >>> read_fraction(POSITIVE, "100/3"), read_fraction(COUNT, "60*60000/256")
    (Fraction(100, 3), Fraction(14063, 1))
    """
    typed = quotient(text) if isinstance(text, str) else None
    if typed is None or not typed > 0:
        return Fraction(repr(float(read_value(parameter, text, name))))
    if parameter.kind == "integer":
        return Fraction(read_value(parameter, str(math.ceil(typed)), name))
    try:
        parameter.check(float(typed))
    except (DomainError, OverflowError):
        raise (parameter.but(name=name) if name else parameter).refusal(text) from None
    return typed


def meant(parameter: Parameter, text: Any) -> Any:
    """Return the number that a text stands for; anything else is returned unchanged, for `check` to judge."""
    if not isinstance(text, str):
        return text
    value = integer(text) if parameter.kind == "integer" else number(text)
    return text if value is None else value


def _mantissa(text: str) -> str:
    return text.lower().partition("e")[0]
