"""Numbers that a person types, in a field, an option, a file or an expression: read here and nowhere else."""

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

    Written as the language does (0.6, 1e-6, log(3), sqrt(2), 1/3, inf) or as Python does (-1, 1_000). What doubles
    would turn into infinity or 0 is no number: nobody typed that.

    Examples
    --------
    >>> number("1/4"), number("-2"), number("1e400")
    (0.25, -2.0, None)
    """
    typed = text.strip()
    try:
        return parse_number(typed)
    except DpcoreError:
        pass
    try:
        value = float(typed)
    except ValueError:
        return None
    meant = (
        "n" in typed.lower() if not math.isfinite(value) else value != 0.0 or not re.search("[1-9]", _mantissa(typed))
    )
    return value if meant else None


def integer(text: str) -> int | None:
    """Return the integer that a text stands for, to the last digit: 1000, 1 000, 1_000, 1000.0 or 1e3; None if none.

    1.000 is refused: in half of the world it is one thousand.

    Examples
    --------
    >>> integer("1 000 000"), integer("1e23") == 10**23, integer("1.000")
    (1000000, True, None)
    """
    typed = "".join(text.split()).replace("_", "")
    value = number(typed)
    if value is None or not math.isfinite(value) or _THOUSANDS.fullmatch(typed):
        return None
    exact = Decimal(typed) if _DECIMAL.fullmatch(typed) else Decimal(value)
    return int(exact) if exact == exact.to_integral_value() else None


def read_value(parameter: Parameter, text: Any, name: str = "") -> Any:
    """Return the number of a parameter that a text stands for; otherwise the sentence shows what was typed.

    Parameters
    ----------
    parameter : Parameter
        A number or an integer.
    text : Any
        As it was typed; what is no text, such as a number of a file, is checked as it is.
    name : str, optional
        What the sentence calls the parameter, such as the label of its field.
    """
    try:
        return parameter.check(meant(parameter, text))
    except DomainError:
        raise (parameter.but(name=name) if name else parameter).refusal(text) from None


def meant(parameter: Parameter, text: Any) -> Any:
    """Return the number that a text stands for; what stands for none is returned itself, for `check` to judge."""
    if not isinstance(text, str):
        return text
    value = integer(text) if parameter.kind == "integer" else number(text)
    return text if value is None else value


def _mantissa(text: str) -> str:
    return text.lower().partition("e")[0]
