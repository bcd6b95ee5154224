"""dpcore: any differential-privacy statement as its exact region, its table of deltas and its picture."""

from __future__ import annotations

import sys
from typing import Any

from dpcore import mechanisms
from dpcore.core import registry
from dpcore.core.errors import (
    BudgetError,
    DomainError,
    DomainWarning,
    DpcoreError,
    InternalError,
    ParseError,
    RelationError,
)
from dpcore.language import parse
from dpcore.language.constructors import constructor
from dpcore.regions import algebra, formula_region, guarantees, maximal_leakage, sampling, selection, shuffling
from dpcore.regions.tradeoff import TradeOff
from dpcore.theorems import bound_regions

__version__ = "0.2.0"
"""The version of dpcore."""

_ = (
    algebra,
    sampling,
    selection,
    shuffling,
    guarantees,
    formula_region,
    maximal_leakage,
    bound_regions,
    mechanisms,
)  # importing them fills the registry

__all__ = [
    "BudgetError",
    "DomainError",
    "DomainWarning",
    "DpcoreError",
    "InternalError",
    "ParseError",
    "RelationError",
    "TradeOff",
    "__version__",
    "parse",
    "sweep",
]
__all__ += [entry.name for entry in registry.entries()]  # type checkers read them in __init__.pyi


def __getattr__(name: str) -> Any:
    """Return the function of any name of the language: ``dpcore.dp(0.6, 0.05)``; sweeps are loaded when they are asked for."""
    if registry.knows(name):
        return constructor(name)
    if name == "sweep":
        from dpcore.sweeps import sweep  # noqa: PLC0415  # few need it

        return sweep
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*__all__, *(entry.name for entry in registry.entries())})
