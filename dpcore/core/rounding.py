"""Rounding to the safe side: a published upper bound is never below the number its formula denotes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNIT = 2.0**-53  # the unit roundoff of doubles
_SMALLEST = math.ulp(0.0)
_SCALE = 1074  # every finite float is an integer multiple of 2^-1074


def up(value: float, error: float = 0.0) -> float:
    """Return a float at least `value` (1 + 16 u) + `error`, u the unit roundoff.

    Sixteen units cover a formula of a few library calls on positive terms; `error` covers cancellation.
    """
    return math.nextafter(value + (16 * UNIT * abs(value) + error), math.inf) if value != 0 or error != 0 else 0.0


def sum_up(terms: Iterable[tuple[float, int]]) -> float:
    r"""Return the smallest float at least \sum x n over the pairs (x, n), computed in exact integers."""
    total = 0
    for value, copies in terms:
        if math.isinf(value):
            return math.inf
        numerator, denominator = value.as_integer_ratio()
        total += copies * (numerator << (_SCALE - denominator.bit_length() + 1))
    try:
        nearest = total / (1 << _SCALE)
    except OverflowError:
        return math.inf
    numerator, denominator = nearest.as_integer_ratio()
    below = (numerator << (_SCALE - denominator.bit_length() + 1)) < total
    return math.nextafter(nearest, math.inf) if below else nearest


def log_keep(deltas: Iterable[tuple[float, int]]) -> float:
    r"""Return \sum n log(1 - delta) over the pairs (delta, n): the log probability that no mechanism fails."""
    return math.fsum(-math.inf if delta >= 1 else copies * math.log1p(-delta) for delta, copies in deltas)


def failure(deltas: Iterable[tuple[float, int]]) -> float:
    r"""Return 1 - \prod (1 - delta)^n with full relative precision, the mass at infinite loss."""
    return -math.expm1(log_keep(deltas)) + 0.0


def exp_up(exponent: float, size: float) -> float:
    """Return min(1, e^exponent) rounded up, where `size` bounds the terms the exponent was summed from."""
    if exponent >= 0 or not math.isfinite(exponent):
        return 1.0
    return min(1.0, max(_SMALLEST, up(math.exp(exponent + 8 * UNIT * size))))
