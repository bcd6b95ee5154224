"""Lists of numbers as typed on the command line or in a field.

==================  ===========================================================
``0,0.5,1``         the values themselves
``0:3:0.1``         from 0 to 3 inclusive in steps of 0.1
``1e-9..1e-2/8``    8 values from 1e-9 to 1e-2, evenly spaced on a log scale
==================  ===========================================================

Pieces may be joined by commas. Negative numbers and ``inf`` are allowed, except inside a range.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError, ParseError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 10**6  # values of one list
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LOGARITHMIC = re.compile(r"(?P<first>.+?)\.\.(?P<last>[^/]+)/\s*(?P<count>[0-9]{1,30})")
_LONGEST_NUMBER = 60  # characters
_DIGITS = 40  # of the ratio: 10^6 multiplications then still round to the right double


def parse_list(text: str) -> NDArray[np.float64]:
    """Return the numbers that a text such as ``0:3:0.1`` stands for.

    Parameters
    ----------
    text : str
        See the forms above.

    Returns
    -------
    ndarray of float
        In the order of the text.

    Raises
    ------
    ParseError
        If the text is not a list; names the piece and the three forms.
    """
    values: list[float] = []
    for piece in _checked(text).split(","):
        values.extend(_piece(piece.strip()))
        if len(values) > MOST:
            raise ParseError(_too_many(text))
    return np.asarray(values, dtype=np.float64)


def _checked(text: object) -> str:
    """Return the text; raise if it is not one."""
    if not isinstance(text, str):
        msg = f"A list must be a text such as 0,0.5,1, got a value of type {type(text).__name__}."
        raise DomainError(msg)
    return text


def _piece(piece: str) -> list[float]:
    """Read one piece between commas."""
    if piece in {"inf", "+inf", "-inf"}:
        return [float(piece)]
    if ".." in piece:
        return _logarithmic(piece)
    if ":" in piece:
        return _range(piece)
    return [float(_number(piece, piece))]


def _number(token: str, piece: str) -> Decimal:
    """Read one finite number, exactly as typed."""
    token = token.strip()
    if len(token) > _LONGEST_NUMBER or not _NUMBER.fullmatch(token):
        msg = f"{_short(piece)} is not a list of numbers: write 0,0.5,1 or 0:3:0.1 or 1e-9..1e-2/8."
        raise ParseError(msg)
    value = float(token)
    exact = Decimal(token) if math.isfinite(value) else Decimal(0)
    if math.isinf(value) or (value == 0 and exact != 0):
        msg = f"{_short(token)} lies outside the range of double precision."
        raise ParseError(msg)
    return exact


def _range(piece: str) -> list[float]:
    """Compute a + i s exactly in decimals, so that each value is the double nearest to what one would type."""
    parts = piece.split(":")
    if len(parts) != 3:
        msg = f"The range {_short(piece)} must have the form start:stop:step, as in 0:3:0.1."
        raise ParseError(msg)
    start, stop, step = (_number(part, piece) for part in parts)
    if step == 0 or (stop - start) * step < 0:
        msg = f"The range {_short(piece)} never arrives: its step must lead from {parts[0]} to {parts[1]}."
        raise ParseError(msg)
    places = max(0, *(-int(value.as_tuple().exponent) for value in (start, stop, step)))
    first, last, stride = (_scaled(value, places) for value in (start, stop, step))
    count = (last - first) // stride + 1
    if count > MOST:
        raise ParseError(_too_many(piece))
    unit = 10**places
    return [(first + i * stride) / unit for i in range(count)]


def _scaled(value: Decimal, places: int) -> int:
    """Return value times 10^places as an integer."""
    sign, digits, exponent = value.as_tuple()
    mantissa = int("".join(map(str, digits))) * int(10 ** (places + int(exponent)))
    return -mantissa if sign else mantissa


def _logarithmic(piece: str) -> list[float]:
    """Multiply by a constant ratio in 40 digits: the error is far below rounding after 10^6 steps, so decades stay exact."""
    form = _LOGARITHMIC.fullmatch(piece)
    if form is None:
        msg = f"The list {_short(piece)} must have the form first..last/count, as in 1e-9..1e-2/8."
        raise ParseError(msg)
    count = int(form["count"])
    if count > MOST:
        raise ParseError(_too_many(piece))
    first, last = _number(form["first"], piece), _number(form["last"], piece)
    if first <= 0 or last <= 0 or count < 2:
        msg = f"The list {_short(piece)} is spaced on a log scale: both ends must be above 0 and the count at least 2."
        raise ParseError(msg)
    values = [float(first)]
    with localcontext() as context:
        context.prec = _DIGITS
        ratio = (last / first) ** (Decimal(1) / (count - 1))
        value = first
        for _ in range(count - 2):
            value *= ratio
            values.append(float(value))
    return [*values, float(last)]


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_NUMBER else text[:_LONGEST_NUMBER] + "...")


def _too_many(piece: str) -> str:
    return f"The list {_short(piece)} has more than {MOST} values, the largest number allowed."
