"""Where the `?` of an expression is, which values it may take, and which direction is more private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.core import registry
from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter
from dpcore.language.build import build
from dpcore.language.syntax import (
    CallNode,
    IntersectionNode,
    ListNode,
    PowerNode,
    ProductNode,
    UnknownNode,
    fill,
    unknowns,
)

if TYPE_CHECKING:
    from dpcore.language.syntax import Argument, Region, Value

LARGEST_COPIES: Final = 10**15
COPIES = Parameter("k", "integer", low=1, high=LARGEST_COPIES, label="k", meaning="how many copies", example=1)
_NOISE: Final = frozenset({"sigma", "scale", "halfwidth", "order"})
_RISING: Final = frozenset({"epsilon", "delta", "eta", "mu", "rho", "xi", "sensitivity", "k", "p", "q", "shifts"})
_FALLING: Final = frozenset({("erase", "p"), ("rr", "size"), ("points", "points"), ("geometric", "sensitivity")})
_FARTHEST: Final = 92.0  # |log| of the smallest and largest values tried: 1e-40 and 1e40


@dataclass(frozen=True)
class Place:
    """The unknown: its parameter, the name it is an argument of ('' for an exponent), how many copies it is in."""

    parameter: Parameter
    owner: str
    copies: int

    @property
    def exponent(self) -> bool:
        """Whether it is the k of a power."""
        return not self.owner

    @property
    def integer(self) -> bool:
        """Whether only integers are tried."""
        return self.parameter.kind == "integer"

    @property
    def falling(self) -> bool | None:
        """Whether a larger value is expected to shrink the region; None if nothing is known."""
        name = self.parameter.name
        if self.parameter.falling is not None:
            return self.parameter.falling
        if name in _NOISE or (self.owner, name) in _FALLING:
            return True
        return False if name in _RISING else None

    @property
    def domain(self) -> str:
        """Its range in words."""
        return self.parameter.but(kind="integer" if self.integer else "number").domain

    # ---- the scale on which it is searched ---------------------------------------------------------------

    @property
    def origin(self) -> float:
        """The end that logarithms are measured from: the lower one, or 0 for integers."""
        low = self.parameter.low
        return 0.0 if self.integer or not math.isfinite(low) else low

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest logarithm tried."""
        parameter = self.parameter
        low = math.log(max(1.0, parameter.low)) if self.integer else -_FARTHEST
        high = math.log(parameter.high - self.origin) if math.isfinite(parameter.high) else _FARTHEST
        return low, min(high, math.log(LARGEST_COPIES)) if self.integer else high

    @property
    def start(self) -> float:
        """The logarithm to begin with."""
        example = self.parameter.example
        number = float(example) if isinstance(example, (int, float)) and example > self.origin else self.origin + 1.0
        low, high = self.range
        return min(max(math.log(number - self.origin), low), high)

    def value(self, u: float) -> float:
        """Return the value at a logarithm; an integer as `int`."""
        parameter = self.parameter
        if self.integer:
            return int(min(max(round(math.exp(u)), parameter.low), parameter.high, LARGEST_COPIES))
        x = self.origin + math.exp(u)
        if parameter.high_open and x >= parameter.high:
            x = math.nextafter(parameter.high, -math.inf)
        return min(x, parameter.high)

    def log(self, value: float) -> float:
        """Return the logarithm of a value."""
        return math.log(value - self.origin)


def locate(tree: Region, text: str) -> Place:
    """Return the place of the one unknown of a tree.

    Raises
    ------
    DomainError
        If there are several unknowns, or the parameter is a region or a text.
    """
    marks = unknowns(tree)
    if len(marks) > 1:
        msg = f"Exactly one ? can be calibrated, got {len(marks)} in {registry.value_text(text)}."
        raise DomainError(msg)
    return _find(tree, tree, text, 1)


def _find(tree: Value, whole: Region, text: str, copies: int) -> Place:
    match tree:
        case PowerNode(base, exponent):
            if isinstance(exponent, UnknownNode):
                return Place(COPIES, "", copies)
            return _find(base, whole, text, copies * exponent)
        case ProductNode(parts) | IntersectionNode(parts):
            return _find(next(part for part in parts if unknowns(part)), whole, text, copies)
        case CallNode(name, arguments):
            index, argument = next((i, a) for i, a in enumerate(arguments) if unknowns(a.value))
            if not isinstance(argument.value, (UnknownNode, ListNode)):
                return _find(argument.value, whole, text, copies)
            return Place(_parameter(tree, index, argument, whole, text), name, copies)
        case _:
            msg = f"There is no ? to calibrate in {registry.value_text(text)}."
            raise DomainError(msg)


def _parameter(call: CallNode, index: int, argument: Argument, whole: Region, text: str) -> Parameter:
    """Return the parameter that an argument is, refusing regions and texts."""
    entries = {entry.name: entry for entry in registry.entries()}
    entry = entries.get(call.name)
    parameter: Parameter | None = None
    if entry is not None and argument.name is None:
        parameter = entry.parameters[index] if index < len(entry.parameters) else None
    elif entry is not None:
        parameter = {p.name: p for p in (*entry.parameters, *entry.also_accepts)}.get(argument.name or "")
    if parameter is None:
        build(fill(whole, 1.0), text)  # the language names what is wrong, and where
        msg = f"The ? of {call.name} is not one of its parameters."
        raise DomainError(msg)
    if parameter.kind in {"region", "regions", "text"}:
        msg = f"Only numbers are calibrated: {parameter.name} of {call.name} must be {parameter.domain_words}, got ?."
        raise DomainError(msg)
    return parameter
