"""Settings of every mechanism of the registry: those of its oracles and of its parameters' examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore import parse
from dpcore.core import registry
from dpcore.core.errors import DomainError
from dpcore.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from dpcore.core.registry import Entry


def settings(entry: Entry) -> tuple[str, ...]:
    """Return the expressions of one mechanism."""
    examples = [parameter.example if parameter.required else parameter.default for parameter in entry.parameters]
    lists = (*(oracle.arguments for oracle in entry.oracles), examples)
    made = (entry.build(*(parse(one) if isinstance(one, str) else one for one in values)) for values in lists)
    return tuple(dict.fromkeys(str(region) for region in made))


def mechanism(text: str) -> Mechanism:
    """Return a mechanism by its expression."""
    region = parse(text)
    assert isinstance(region, Mechanism)
    return region


def has_law(text: str) -> bool:
    """Whether a mechanism adds noise with a law to a number."""
    try:
        _ = mechanism(text).law
    except DomainError:
        return False
    return True


def is_drawn(text: str) -> bool:
    """Whether a mechanism has two answers that an attacker tells apart."""
    try:
        mechanism(text).answers()
    except DomainError:
        return False
    return True


ENTRIES = registry.entries("mechanism")
ALL = tuple(text for entry in ENTRIES for text in settings(entry))
ONE = tuple(settings(entry)[-1] for entry in ENTRIES)
"""One setting of each mechanism, that of the examples."""
LAWS = tuple(text for text in ALL if has_law(text))
DRAWN = tuple(text for text in ALL if is_drawn(text))
