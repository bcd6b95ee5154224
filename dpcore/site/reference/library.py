"""The pages of the library, one per room, from its docstrings."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dpcore.site.docstrings import as_markdown, first_line, signature
from dpcore.site.pages import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpcore.site.compose import Composer

ROOMS: Final = (
    "dpcore",
    "dpcore.frames",
    "dpcore.risk",
    "dpcore.words",
    "dpcore.theorems.composition",
    "dpcore.theorems",
    "dpcore.calibration",
    "dpcore.theorems.conversion",
    "dpcore.constraints",
    "dpcore.training",
    "dpcore.utility",
    "dpcore.local",
    "dpcore.ledger",
    "dpcore.audit",
    "dpcore.theorems.conversion.claims",
    "dpcore.labs",
    "dpcore.labs.errata",
    "dpcore.audit.threshold",
    "dpcore.core.effort",
    "dpcore.language.lists",
    "dpcore.charts",
    "dpcore.specs",
    "dpcore.site",
)


@dataclass(frozen=True)
class Thing:
    """A function or class of a room."""

    name: str
    signature: str
    doc: str
    members: tuple[tuple[str, str], ...]


def library_pages(section: str) -> list[Page]:
    """Return a page for each room."""
    return [_page(section, room) for room in ROOMS]


def _page(section: str, room: str) -> Page:
    module = importlib.import_module(room)
    things = sorted(things_of(module), key=lambda thing: thing.signature == thing.name)  # errors last

    def make(composer: Composer) -> str:
        rest = as_markdown(module.__doc__ or "").split("\n\n", 1)[1:]
        parts = [composer.md("\n\n".join(rest))] if rest else []
        for thing in things:
            parts.append(composer.heading(f"`{thing.name}`"))
            parts.append(composer.html("thing.html", thing=thing))
        return "".join(parts)

    return Page(
        f"{section}/{room.replace('.', '_')}.html",
        section,
        room,
        first_line(module.__doc__),
        repr(things),
        (),
        make,
        "The library",
    )


def things_of(module: Any) -> Iterator[Thing]:
    """Iterate over the public functions and classes of a module: those in ``__all__``, or those it defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        own = [(n, v) for n, v in vars(module).items() if not n.startswith("_")]
        names = [n for n, v in own if getattr(v, "__module__", "") == module.__name__ and callable(v)]
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield Thing(name, _signature(name, value), inspect.getdoc(value) or "", tuple(_members(value)))


def _signature(name: str, value: Any) -> str:
    return name if inspect.isclass(value) and issubclass(value, BaseException) else signature(name, value)


def _members(value: Any) -> Iterator[tuple[str, str]]:
    """Iterate over the public methods and properties of a class with their first sentence."""
    if not inspect.isclass(value) or issubclass(value, BaseException):
        return
    for name, member in vars(value).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if name.startswith("_") or not (inspect.isroutine(function) or hasattr(function, "__doc__")):
            continue
        if inspect.isroutine(function):
            yield signature(name, function), first_line(function.__doc__)
        elif isinstance(function, (property, cached_property)):
            yield name, first_line(function.__doc__)
