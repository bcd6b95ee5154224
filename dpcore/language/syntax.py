"""The small syntax tree of an expression; every node knows where in the text it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class NumberNode:
    """A number; `value` is an `int` if it was typed as plain digits."""

    value: float
    start: int = 0


@dataclass(frozen=True, slots=True)
class TextNode:
    """A text in double quotes."""

    value: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """The mark `?`: a value to solve for."""

    start: int = 0


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list in square brackets."""

    items: tuple[Value, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, by place (`name` is None) or by name."""

    name: str | None
    value: Value
    start: int = 0


@dataclass(frozen=True, slots=True)
class CallNode:
    """A named region with its arguments; `end` is the index of the closing bracket."""

    name: str
    arguments: tuple[Argument, ...]
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class PowerNode:
    """`base ^ exponent`: the k-fold composition."""

    base: Region
    exponent: int | UnknownNode
    start: int = 0


@dataclass(frozen=True, slots=True)
class ProductNode:
    """`a * b * ...`: composition."""

    factors: tuple[Region, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class IntersectionNode:
    """`a & b & ...`: intersection."""

    parts: tuple[Region, ...]
    start: int = 0


Region: TypeAlias = CallNode | PowerNode | ProductNode | IntersectionNode
Value: TypeAlias = NumberNode | TextNode | UnknownNode | ListNode | Region


def unknowns(tree: Value) -> tuple[UnknownNode, ...]:
    """List every `?` of a tree in reading order."""
    match tree:
        case UnknownNode():
            return (tree,)
        case PowerNode(base, exponent):
            return unknowns(base) + (unknowns(exponent) if isinstance(exponent, UnknownNode) else ())
        case CallNode():
            return tuple(mark for argument in tree.arguments for mark in unknowns(argument.value))
        case ListNode(parts) | ProductNode(parts) | IntersectionNode(parts):
            return tuple(mark for part in parts for mark in unknowns(part))
        case _:
            return ()


def _fill_value(tree: Value, value: float) -> Value:
    match tree:
        case UnknownNode(start):
            return NumberNode(value, start)
        case ListNode(items):
            return replace(tree, items=tuple(_fill_value(item, value) for item in items))
        case NumberNode() | TextNode():
            return tree
        case _:
            return fill(tree, value)


def fill(tree: Region, value: float) -> Region:
    """Replace every `?` by `value`; for an exponent it must be an integer."""
    match tree:
        case CallNode(_, arguments):
            filled = tuple(replace(a, value=_fill_value(a.value, value)) for a in arguments)
            return replace(tree, arguments=filled)
        case PowerNode(base, exponent):
            power = int(value) if isinstance(exponent, UnknownNode) else exponent
            return replace(tree, base=fill(base, value), exponent=power)
        case ProductNode(factors):
            return replace(tree, factors=tuple(fill(factor, value) for factor in factors))
        case IntersectionNode(parts):
            return replace(tree, parts=tuple(fill(part, value) for part in parts))
