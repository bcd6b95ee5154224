"""Input checks of the theorems: a number outside its domain is named together with the range allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from dpcore.errors import DomainError

LARGEST_CLOSED_K = 10**300
LARGEST_LATTICE_K = 10**9

Statement = tuple[float, float, int]
"""An (epsilon, delta) statement and how many mechanisms satisfy it."""


def number(value: object, name: str, low: float = 0.0, high: float = math.inf, *, low_open: bool = False) -> float:
    """Return `value` as a finite float of the stated interval.

    Parameters
    ----------
    value : any object; truth values, texts, complex numbers and arrays are refused.
    name : what the value is called in the message.
    low, high : ends of the interval.
    low_open : whether the low end itself is excluded.
    """
    interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high == math.inf else ']'}"
    msg = f"{name} must be a finite number in {interval}, got {value!r}."
    if isinstance(value, bool) or not isinstance(value, Real):
        raise DomainError(msg)
    try:
        result = float(value)
    except OverflowError:
        raise DomainError(msg) from None
    if not (math.isfinite(result) and low <= result <= high) or (low_open and result == low):
        raise DomainError(msg)
    return result + 0.0  # turns -0.0 into 0.0


def integer(value: object, name: str, low: int = 1, high: int = LARGEST_CLOSED_K) -> int:
    """Return `value` as an int of [low, high]."""
    allowed = f"from {low} to 10^{len(str(high)) - 1}" if high >= 10**6 else f"from {low} to {high}"
    msg = f"{name} must be an integer {allowed}, got {value!r}."
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DomainError(msg)
    result = int(value)
    if not low <= result <= high:
        raise DomainError(msg)
    return result


def probability(value: object, name: str) -> float:
    """Return `value` as a float of [0, 1]."""
    return number(value, name, 0.0, 1.0)


def positive_probability(value: object, name: str) -> float:
    """Return `value` as a float of (0, 1]."""
    return number(value, name, 0.0, 1.0, low_open=True)


def numbers(value: object, name: str, **interval: float | bool) -> tuple[float, ...]:
    """Return one number, or every number of a list, each checked by `number` with `interval`."""
    low, high = float(interval.get("low", 0.0)), float(interval.get("high", math.inf))
    low_open = bool(interval.get("low_open", False))
    items = _items(value) if not isinstance(value, str) else None
    if items is None:
        return (number(value, name, low, high, low_open=low_open),)
    if not items:
        msg = f"{name} must be a number or a list of at least one number, got {value!r}."
        raise DomainError(msg)
    return tuple(number(item, name, low, high, low_open=low_open) for item in items)


def statements(value: object) -> tuple[Statement, ...]:
    """Return a list of (epsilon, delta) or (epsilon, delta, copies) as checked triples."""
    items = None if isinstance(value, str) else _items(value)
    if not items:
        msg = f"statements must be a list of at least one pair (epsilon, delta), got {value!r}."
        raise DomainError(msg)
    return tuple(_statement(item) for item in items)


def _statement(item: object) -> Statement:
    parts = None if isinstance(item, str) else _items(item)
    if parts is None or len(parts) not in (2, 3):
        msg = f"A statement must be a pair (epsilon, delta) or a triple (epsilon, delta, copies), got {item!r}."
        raise DomainError(msg)
    copies = integer(parts[2], "copies") if len(parts) == 3 else 1
    return number(parts[0], "epsilon"), probability(parts[1], "delta"), copies


def _items(value: object) -> list[object] | None:
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, dict)):
        return None
    try:
        return list(value)
    except TypeError:  # an array without dimensions
        return None
