"""Numbers as texts: exact, or to a few digits; bounds and crowds of people are in `dpcore.words`."""

from __future__ import annotations

from typing import Final

_SCIENTIFIC: Final = 6  # from 10^6 upwards a power of ten reads better than its zeros


def numeral(value: float) -> str:
    """Return a number as the library writes it wherever no digit may be lost: ``1``, ``0.1``, ``1e-5``, ``inf``.

    The digits are those of `repr`, the fewest that give the same double; a trailing ``.0`` and the redundant sign and
    zeros of an exponent are left out. Sentences have fewer digits: see `nearest`, and `dpcore.words.outward` for
    bounds.

    Parameters
    ----------
    value : float
        Any number; integers keep all their digits.

    Returns
    -------
    str
        The text; ``float(numeral(x)) == x`` for every double, down to its sign.

    Examples
    --------
    >>> numeral(1.0), numeral(1e-5), numeral(1e22), numeral(0.1 + 0.2)
    ('1', '1e-5', '1e22', '0.30000000000000004')
    """
    if isinstance(value, int):
        return str(value)
    text = repr(float(value))
    if text.endswith(".0"):
        return text[:-2]
    digits, mark, exponent = text.partition("e")
    return f"{digits}e{int(exponent)}" if mark else text


def nearest(value: float, digits: int = 6) -> str:
    """Return a number for a sentence, a table or a label, rounded to the nearest: not for a bound.

    Parameters
    ----------
    value : float
        Any number.
    digits : int, default 6
        How many significant digits.

    Returns
    -------
    str
        The number without trailing zeros, in the form of `numeral`: plain from 1e-4 to 1e6, scientific outside.

    Examples
    --------
    >>> nearest(2.0), nearest(0.1 + 0.2), nearest(1e-5), nearest(12345.0, 2)
    ('2', '0.3', '1e-5', '12000')
    """
    text = f"{value + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    power = int(exponent)
    return f"{float(text):.0f}" if 0 < power < _SCIENTIFIC else f"{mantissa}e{power}"
