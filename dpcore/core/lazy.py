"""Attributes that are made when first asked for, without the lock of the standard library's."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

Made = TypeVar("Made")


class Lazy(cached_property[Made]):
    """Decorator of a method: its value is computed once and kept in the object.

    Until Python 3.12 `cached_property` takes one lock for all objects of a class. It costs more than a small region
    does, and one long computation holds up every other thread. Here two threads may make the same value twice.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Made: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Make the value and leave it in the object, where Python finds it before it comes here again."""
        name = self.attrname
        if instance is None or name is None:
            return self
        made = instance.__dict__[name] = self.func(instance)
        return made
