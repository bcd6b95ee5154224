"""Numbers that a person types in a field, an option, a file or an expression; they are read only here."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.language.grammar import parse_number

if TYPE_CHECKING:
    from dpcore.core.parameter import Parameter

_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")


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
    """Return the integer that a text stands for, to the last digit: 1000, 1 000, 1_000, 1000.0 or 1e3.

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
    digits = "".join(text.split()).replace("_", "")
    value = number(digits)
    if value is None or not math.isfinite(value) or _THOUSANDS.fullmatch(digits):
        return None
    exact = Decimal(digits) if _DECIMAL.fullmatch(digits) else Decimal(value)
    return int(exact) if exact == exact.to_integral_value() else None


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


def meant(parameter: Parameter, text: Any) -> Any:
    """Return the number that a text stands for; anything else is returned unchanged, for `check` to judge."""
    if not isinstance(text, str):
        return text
    value = integer(text) if parameter.kind == "integer" else number(text)
    return text if value is None else value


def _mantissa(text: str) -> str:
    return text.lower().partition("e")[0]
