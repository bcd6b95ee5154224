"""Regions made in Python from a curve, without an expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.regions.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpcore.curves.base import Curve


@dataclass(frozen=True, eq=False, repr=False)
class CustomRegion(TradeOff):
    """A region made in Python from a curve; it has no expression and cannot be linked."""

    in_language: ClassVar[bool] = False

    source: Curve
    label: str
    relation: str = "any"

    @property
    def text(self) -> str:
        """Return <label>."""
        return f"<{self.label}>"

    @property
    def neighbours(self) -> str:
        """The relation stated."""
        return self.relation

    @property
    def theorem(self) -> str:
        """The region was made in Python."""
        return "region made in Python; it cannot be linked"

    @property
    def identity(self) -> Hashable:
        """The object itself: two regions made in Python may share a label."""
        return id(self)

    def _pair(self) -> Curve:
        return self.source

    def __hash__(self) -> int:
        """Hash by identity."""
        return id(self)

    def __eq__(self, other: object) -> bool:
        """Compare by identity."""
        return self is other
