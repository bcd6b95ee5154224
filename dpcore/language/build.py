"""From syntax tree to region: names are looked up in the registry, and nothing else can be called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.core import registry
from dpcore.core.errors import DpcoreError, ParseError
from dpcore.language.problems import PlacedError, caret, nearest, quoted
from dpcore.language.syntax import (
    CallNode,
    IntersectionNode,
    ListNode,
    NumberNode,
    PowerNode,
    ProductNode,
    TextNode,
    UnknownNode,
)
from dpcore.regions import algebra

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.core.registry import Entry
    from dpcore.language.syntax import Region, Value
    from dpcore.regions.tradeoff import TradeOff


def build(tree: Region, text: str = "") -> TradeOff:
    """Return the region that a tree describes.

    Parameters
    ----------
    tree : Region
        What `parse_syntax` returns, with every unknown filled in.
    text : str, default ""
        The text it was read from, shown in errors.

    Returns
    -------
    TradeOff
        The region.

    Raises
    ------
    ParseError
        If a name or an argument is unknown, given twice or one too many; proposes the nearest name.
    DomainError
        If a value is outside its domain; the message is that of the registry, the place is added as a note.
    """
    match tree:
        case CallNode():
            return _call(tree, text)
        case PowerNode(base, exponent):
            if isinstance(exponent, UnknownNode):
                raise _unknown(exponent, text)
            built_base = build(base, text)
            return _placed(lambda: algebra.Power(built_base, exponent), text, tree.start)
        case ProductNode(factors):
            built = [build(factor, text) for factor in factors]
            return _placed(lambda: algebra.Product.of(*built), text, tree.start)
        case IntersectionNode(parts):
            built = [build(part, text) for part in parts]
            return _placed(lambda: algebra.Intersection.of(*built), text, tree.start)


def _call(call: CallNode, text: str) -> TradeOff:
    """Build a named region from its arguments."""
    if not registry.knows(call.name):
        known_names = [entry.name for entry in registry.entries()]
        hint = nearest(call.name, known_names) or f"known names are {', '.join(sorted(known_names))}"
        raise PlacedError(text, call.start, f"Unknown name {quoted(call.name)}", hint)
    entry = registry.lookup(call.name)
    if len(call.arguments) > len(entry.parameters) or any(argument.name is not None for argument in call.arguments):
        _check_names(call, entry, text)
    places = [_value(argument.value, text) for argument in call.arguments if argument.name is None]
    names = {argument.name: _value(argument.value, text) for argument in call.arguments if argument.name is not None}
    return _placed(lambda: entry.build(*places, **names), text, call.start, lambda: _where(call, entry))


def _check_names(call: CallNode, entry: Entry, text: str) -> None:
    """Refuse arguments that are unknown, given twice, out of order or one too many."""
    names = [parameter.name for parameter in entry.parameters]
    endless = any(parameter.kind == "regions" for parameter in entry.parameters)
    used: set[str] = set()
    named = False
    for index, argument in enumerate(call.arguments):
        named = named or argument.name is not None
        if argument.name is None:
            if named:
                raise PlacedError(text, argument.start, "An argument without name after one with name")
            if index >= len(names) and not endless:
                hint = f"expected at most {len(names)}: {', '.join(names)}"
                raise PlacedError(text, argument.start, f"Too many arguments for {entry.name}", hint)
            name = names[min(index, len(names) - 1)] if not endless else ""
        else:
            name = argument.name
            if name not in entry.accepted:
                hint = nearest(name, entry.accepted) or f"expected one of {', '.join(entry.accepted)}"
                raise PlacedError(text, argument.start, f"{entry.name} has no argument {quoted(name)}", hint)
        if name and name in used:
            raise PlacedError(text, argument.start, f"{entry.name} is given {name} twice")
        used.add(name)


def _where(call: CallNode, entry: Entry) -> dict[str, int]:
    """Return the position of each argument's value, by the name that an error of the registry starts with."""
    names = [parameter.name for parameter in entry.parameters]
    starts = dict(zip(names, (argument.value.start for argument in call.arguments), strict=False))
    starts.update((argument.name, argument.value.start) for argument in call.arguments if argument.name is not None)
    return {**starts, entry.name: call.end} if len(starts) < len(names) else starts


def _placed(
    make: Callable[[], TradeOff], text: str, start: int, where: Callable[[], dict[str, int]] | None = None
) -> TradeOff:
    """Run `make`; an error without a place gets a note that shows where it came from."""
    try:
        return make()
    except DpcoreError as error:
        if text and not isinstance(error, PlacedError) and not getattr(error, "__notes__", ()):
            first_word = str(error).partition(" ")[0]
            error.add_note(caret(text, (where() if where is not None else {}).get(first_word, start)))
        raise


def _unknown(mark: UnknownNode, text: str) -> ParseError:
    return PlacedError(text, mark.start, "Unexpected '?'", "an unknown can only be calibrated")


def _value(value: Value, text: str) -> Any:
    """Return the Python value of an argument."""
    if type(value) is NumberNode:
        return value.value
    match value:
        case NumberNode(number):
            return number
        case TextNode(content):
            return content
        case ListNode(items):
            return [_value(item, text) for item in items]
        case UnknownNode():
            raise _unknown(value, text)
        case _:
            return build(value, text)
