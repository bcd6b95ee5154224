"""The small syntax tree of an expression; every node knows where in the text it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Number:
    """A number; `value` is an `int` if it was typed as plain digits."""

    value: float
    start: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A text in double quotes."""

    value: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """The mark `?`: a value still to be found."""

    start: int = 0


@dataclass(frozen=True, slots=True)
class Items:
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
class Call:
    """A named region with its arguments; `end` is the index of the closing bracket."""

    name: str
    arguments: tuple[Argument, ...]
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`: the k-fold composition."""

    base: Region
    exponent: int | Unknown
    start: int = 0


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b * ...`: composition."""

    factors: tuple[Region, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Both:
    """`a & b & ...`: intersection."""

    parts: tuple[Region, ...]
    start: int = 0


Region: TypeAlias = Call | Power | Product | Both
Value: TypeAlias = Number | Text | Unknown | Items | Region


def unknowns(tree: Value) -> tuple[Unknown, ...]:
    """List every `?` of a tree in reading order."""
    match tree:
        case Unknown():
            return (tree,)
        case Power(base, exponent):
            return unknowns(base) + (unknowns(exponent) if isinstance(exponent, Unknown) else ())
        case Call():
            return tuple(mark for argument in tree.arguments for mark in unknowns(argument.value))
        case Items(parts) | Product(parts) | Both(parts):
            return tuple(mark for part in parts for mark in unknowns(part))
        case _:
            return ()


def _fill_value(tree: Value, value: float) -> Value:
    match tree:
        case Unknown(start):
            return Number(value, start)
        case Items(items):
            return replace(tree, items=tuple(_fill_value(item, value) for item in items))
        case Number() | Text():
            return tree
        case _:
            return fill(tree, value)


def fill(tree: Region, value: float) -> Region:
    """Write `value` in the place of every `?`; for an exponent it must be an integer."""
    match tree:
        case Call(_, arguments):
            filled = tuple(replace(a, value=_fill_value(a.value, value)) for a in arguments)
            return replace(tree, arguments=filled)
        case Power(base, exponent):
            chosen = int(value) if isinstance(exponent, Unknown) else exponent
            return replace(tree, base=fill(base, value), exponent=chosen)
        case Product(factors):
            return replace(tree, factors=tuple(fill(factor, value) for factor in factors))
        case Both(parts):
            return replace(tree, parts=tuple(fill(part, value) for part in parts))
