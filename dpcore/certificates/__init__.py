"""Certificates: a number with the proof of its bracket, in a small file that `dpcore-verify` checks without dpcore.

The numbers are those of the tables; the plan of the proof is found by trial, and a certificate is returned only if the
checker accepts it. Needs python-flint (the extra ``verify``).
"""

from dpcore.core.errors import DomainError

try:
    import flint  # noqa: F401
except ModuleNotFoundError:
    _msg = 'Certificates need python-flint; install it with: pip install "dpcore[verify]".'
    raise DomainError(_msg) from None

from dpcore.certificates.record import Certificate, certify, certify_calibration

__all__ = ["Certificate", "certify", "certify_calibration"]
