"""dpcore: any differential-privacy statement as its exact region, its table of deltas and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore import algebra, composition_bounds, guarantees, mechanisms, registry
from dpcore.errors import BudgetError, DomainError, DomainWarning, DpcoreError, InternalError, ParseError, RelationError
from dpcore.language import parse
from dpcore.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Callable

__version__ = "0.2.0"

_ = (algebra, guarantees, composition_bounds, mechanisms)  # importing them fills the registry


def __getattr__(name: str) -> Callable[..., TradeOff]:
    """Return the constructor of any name of the language: ``dpcore.dp(0.6, 0.05)``."""
    for entry in registry.entries():
        if entry.name == name:
            return entry.build
    msg = f"module 'dpcore' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """List the names of the language beside the module's own."""
    return sorted([*globals(), *(entry.name for entry in registry.entries())])


__all__ = [
    "BudgetError",
    "DomainError",
    "DomainWarning",
    "DpcoreError",
    "InternalError",
    "ParseError",
    "RelationError",
    "TradeOff",
    "parse",
]
