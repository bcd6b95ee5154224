"""Where it is decided, for the whole package, whether a number is called certified.

A number is certified if the checker `dpcore_verify` has a method for its region: then `dpcore certify` writes its proof, or says what
the checker could not prove. Everything else that lies between two sides is a bracket. The decision reads the expression and
computes nothing.
"""

from __future__ import annotations

from typing import Final

from dpcore.core.kinds import EXACT
from dpcore_verify import objection

CERTIFIED: Final = "certified"
BRACKET: Final = "bracket"


def is_certified(region: object) -> bool:
    """Return whether numbers of a region may be called certified.

    Parameters
    ----------
    region : object
        A region, or its expression.

    Returns
    -------
    bool
        Whether the checker has a method for it.

    Examples
    --------
    >>> is_certified("laplace(0.1)^1000"), is_certified("bounded_laplace(1, 0, 1, 1)^2")
    (True, False)
    """
    return not objection(region)


def certainty(kind: str, region: object) -> str:
    """Return what a number that lies between two sides is, in one word: exact, certified or bracket.

    Parameters
    ----------
    kind : str
        The kind of the number.
    region : object
        Its region, or the expression.

    Returns
    -------
    str
        One word.
    """
    if kind == EXACT:
        return EXACT
    return CERTIFIED if is_certified(region) else BRACKET
