"""The one exact text of a number: the shortest that reads back to the same double, as people type it."""

from __future__ import annotations


def numeral(value: float) -> str:
    """Return a number as the library writes it wherever no digit may be lost: ``1``, ``0.1``, ``1e-5``, ``inf``.

    The digits are those of `repr`, the fewest that give the same double; a trailing ``.0`` and the sign and zeros of an
    exponent that say nothing are left out. Rounded numbers for sentences are in `dpcore.words`.

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
