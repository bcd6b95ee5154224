"""Lists of (epsilon, delta) statements, as the theorems take them."""

from __future__ import annotations

from collections.abc import Iterable

from dpcore.core.domains import COPIES, COUNT, DELTA, LOSS
from dpcore.core.errors import DomainError

LATTICE_COPIES = COUNT.but(high=10**9)
"""How many copies a list of all corners takes."""

Statement = tuple[float, float, int]
"""An (epsilon, delta) statement and how many mechanisms satisfy it."""


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
    copies = COPIES.but(name="copies").check(parts[2]) if len(parts) == 3 else 1
    return LOSS.check(parts[0]), DELTA.check(parts[1]), copies


def _items(value: object) -> list[object] | None:
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, dict)):
        return None
    try:
        return list(value)
    except TypeError:  # an array without dimensions
        return None
