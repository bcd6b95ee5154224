"""Check a certificate of dpcore: prove its claim again in ball arithmetic, or say why not.

The checker has its own reader of expressions and its own formulas, and imports nothing of dpcore. It stands on python-flint (Arb),
whose balls enclose every rounding error. The guide text "How to check a certificate" proves each inequality that is used.
"""

from typing import Any

from dpcore_verify.expression import Unproved
from dpcore_verify.scope import objection

__all__ = ["Unproved", "objection", "verify"]


def verify(certificate: Any) -> str:
    """Return the claim in words if the certificate proves it; see `dpcore_verify.claims.verify`.

    Parameters
    ----------
    certificate : Any
        As read from its JSON file.

    Returns
    -------
    str
        One sentence.

    Raises
    ------
    Unproved
        With the reason in one sentence.
    """
    from dpcore_verify import claims  # noqa: PLC0415  it needs python-flint; what is known can be asked without it

    return claims.verify(certificate)
