"""An example of every named region: that of its first oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.language import parse

if TYPE_CHECKING:
    from dpcore.core.registry import Entry
    from dpcore.regions.tradeoff import TradeOff


def example(entry: Entry) -> TradeOff:
    """Return the region of the first oracle of an entry."""
    region: TradeOff = entry.build(*(_argument(value) for value in entry.oracles[0].arguments))
    return region


def _argument(value: Any) -> Any:
    """Return an argument of an oracle: a text is an expression of the language, or a text in quotes."""
    if isinstance(value, str):
        return value.strip('"') if value.startswith('"') else parse(value)
    return value
