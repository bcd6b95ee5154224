"""How much a check may compute: a certificate that asks for more is refused, so that every check ends."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flint import ctx

from dpcore_verify.expression import Unproved

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 1e9
"""Operations on balls of some hundred bits in one check: a minute or two."""
_left = [math.inf]
"""What is left of them; infinite outside a check."""
_asks = ["The certificate asks"]
"""Who computes: the beginning of a refusal."""


@contextmanager
def limited(asks: str = "The certificate asks") -> Iterator[None]:
    """Allow `MOST` operations inside; `asks` begins the sentence of a refusal."""
    before, _left[0], _asks[0] = (_left[0], _asks[0]), MOST, asks
    try:
        yield
    finally:
        _left[0], _asks[0] = before


def spend(operations: float) -> None:
    """Count operations before they are done, at the precision in force; raise `Unproved` if there are too many."""
    _left[0] -= operations * (1 + ctx.prec / 512) ** 1.5
    if _left[0] < 0:
        msg = f"{_asks[0]} for more than {MOST:g} operations on balls, a minute or two of computing."
        raise Unproved(msg)
