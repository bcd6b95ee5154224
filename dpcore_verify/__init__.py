"""Check a certificate of dpcore: prove its claim again in ball arithmetic, or say why not.

The checker has its own reader of expressions and its own formulas, and imports nothing of dpcore. It stands on python-flint (Arb),
whose balls enclose every rounding error. The guide text "How to check a certificate" proves each inequality that is used.
"""

from dpcore_verify.claims import verify
from dpcore_verify.expression import Unproved

__all__ = ["Unproved", "verify"]
