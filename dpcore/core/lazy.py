"""Lazy values: attributes computed on first access, without the lock of `cached_property`, and lazy modules."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class Lazy(cached_property[Value]):
    """Decorator of a method: its value is computed once and stored in the object.

    Until Python 3.12 `cached_property` takes one lock for all objects of a class. The lock costs more than a small
    region, and one long computation blocks every other thread. Here two threads may compute the same value twice.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Compute the value and store it in the object, where Python looks first from then on."""
        name = self.attrname
        if instance is None or name is None:
            return self
        value = instance.__dict__[name] = self.func(instance)
        return value


class LateModule:
    """A module that is imported when it is first used; pandas alone is a third of the time of ``import dpcore``.

    Parameters
    ----------
    name : str
        The module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Return an attribute of the module."""
        return getattr(import_module(self._name), attribute)
