"""Inputs of the theorems: shorthands of `Parameter` for numbers, and lists of (epsilon, delta) statements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from dpcore.errors import DomainError
from dpcore.parameter import Parameter

LARGEST_CLOSED_K = 10**300
LARGEST_LATTICE_K = 10**9

Statement = tuple[float, float, int]
"""An (epsilon, delta) statement and how many mechanisms satisfy it."""


def number(value: object, name: str, low: float = 0.0, high: float = math.inf, *, low_open: bool = False) -> float:
    """Return `value` as a finite float of the stated interval."""
    return float(Parameter(name, low=low, high=high, low_open=low_open).check(value))


def integer(value: object, name: str, low: int = 1, high: int = LARGEST_CLOSED_K) -> int:
    """Return `value` as an int of [low, high]."""
    return int(Parameter(name, "integer", low=low, high=high).check(value))


def probability(value: object, name: str) -> float:
    """Return `value` as a float of [0, 1]."""
    return number(value, name, 0.0, 1.0)


def positive_probability(value: object, name: str) -> float:
    """Return `value` as a float of (0, 1]."""
    return number(value, name, 0.0, 1.0, low_open=True)


def numbers(
    value: object, name: str, low: float = 0.0, high: float = math.inf, *, low_open: bool = False
) -> tuple[float, ...]:
    """Return one number, or every number of a list, each a finite float of the stated interval."""
    return tuple(
        Parameter(name, low=low, high=high, low_open=low_open)
        .array(_items(value) if isinstance(value, Iterator) else value)
        .tolist()
    )


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
