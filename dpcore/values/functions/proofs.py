"""The proof of a number, for a text that cites or embeds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpcore.values.evaluation import region_of
from dpcore.values.quantity import RecordValue, TextValue, given

if TYPE_CHECKING:
    from dpcore.values.evaluation import Scope

FUNCTIONS: Final = ("certificate",)


def certificate(
    _: Scope, region: Any, delta: float | None = None, epsilon: float | None = None, alpha: float | None = None
) -> RecordValue:
    """Return the certificate of one number: its claim, its SHA-256 and the file, which `dpcore-verify` checks."""
    from dpcore.certificates import certify  # noqa: PLC0415  python-flint is an extra

    proof = certify(region_of(region), delta=delta, epsilon=epsilon, alpha=alpha)
    text = proof.text()
    return RecordValue(
        proof.claim,
        {
            "claim": TextValue(proof.claim),
            "digest": TextValue(proof.digest),
            "bytes": given(len(text.encode())),
            "file": TextValue(text),
            "words": TextValue(proof.claim),
        },
    )
