"""A grid: an expression with named holes, a measure with its arguments, and the values of every hole."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError, ParseError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
from dpcore.language.lists import parse_list
from dpcore.language.problems import nearest, quoted
from dpcore.sweeps.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    AxisValue = float | str

HOLE: Final = re.compile(r"\{([^{}]*)\}")
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")
RESERVED: Final = ("value", "lower", "upper", "error", "kind", "theorem", "neighbours")
MOST_CELLS: Final = 10**8
"""Maximum number of cells in a grid: its table still fits in a large machine's memory (about 100 bytes a cell)."""


@dataclass(frozen=True)
class Grid:
    """All questions of a sweep.

    Parameters
    ----------
    expression : str
        An expression of the language in which ``{name}`` stands for a value of the grid:
        ``poisson_gaussian({sigma}, {q})^{steps}``.
    measure : str
        One of `MEASURES`: ``epsilon``, ``delta``, ``beta``, ``advantage``, ``mu``, ``calibrate``, ``utility``.
    axes : tuple of tuple of (str, tuple)
        Every hole with its values: numbers, or texts (regions), which are put in brackets.
    arguments : tuple of tuple of (str, float or str)
        The arguments of the measure, such as ``("delta", 1e-6)``; ``"{name}"`` takes the value of a hole.
    """

    expression: str
    measure: str
    axes: tuple[tuple[str, tuple[AxisValue, ...]], ...]
    arguments: tuple[tuple[str, AxisValue], ...] = ()

    @classmethod
    def of(cls, expression: str, measure: str, grid: Mapping[str, Any], **arguments: Any) -> Grid:
        """Return a grid from lists, texts such as ``0.5:2:0.5`` or ``1e-3..1/7``, and single values."""
        axes = tuple((str(name), _axis(str(name), values)) for name, values in grid.items())
        pairs = tuple((name, _argument(name, value)) for name, value in arguments.items() if value is not None)
        return cls(expression, measure, axes, pairs)

    def __post_init__(self) -> None:
        """Check the holes, the axes and the arguments; the cells are checked one by one when they are computed."""
        measure = MEASURES[one_of("measure", tuple(MEASURES)).check(self.measure)]
        names = self.names
        for name in names:
            if not NAME.fullmatch(name) or name in RESERVED:
                msg = (
                    f"The name of a hole has at most 30 letters, digits and underscores and is none of "
                    f"{', '.join(RESERVED)}; got {quoted(name)}."
                )
                raise DomainError(msg)
        holes = {*holes_in(self.expression), *(hole for _, value in self.arguments for hole in holes_in(value))}
        for hole in sorted(holes - set(names)):
            msg = f"The grid has no values for {quoted(f'{{{hole}}}')}. {nearest(hole, names)}".strip()
            raise DomainError(msg)
        for name in names:
            if name not in holes:
                msg = f"{{{name}}} has values but stands neither in the expression {value_text(self.expression)} nor in an argument."
                raise DomainError(msg)
        for name, value in self.arguments:
            if name not in measure.arguments:
                known = ", ".join(measure.arguments) or "none"
                msg = f"The measure {self.measure} has no argument {quoted(name)}; it takes {known}."
                raise DomainError(msg)
            if isinstance(value, str) and name not in measure.texts and not HOLE.fullmatch(value):
                msg = f"{name} takes a number or a hole such as {{{name}}}, got {quoted(value)}."
                raise DomainError(msg)
        measure.check(dict(self.arguments))
        COUNT.but(name="cells", high=MOST_CELLS).check(self.size)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the holes, in grid order."""
        return tuple(name for name, _ in self.axes)

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(len(values) for _, values in self.axes)

    @Lazy
    def power(self) -> str | None:
        """The hole that is the power of the whole expression and occurs nowhere else, if there is one."""
        last = re.search(r"\^\s*\{([^{}]*)\}\s*$", self.expression)
        alone = last is not None and self.expression.count(f"{{{last.group(1)}}}") == 1
        return last.group(1) if last is not None and alone else None

    @property
    def base(self) -> str:
        """The expression without that power."""
        return self.expression[: self.expression.rindex("^")]

    @Lazy
    def order(self) -> tuple[int, ...]:
        """Order of the axes for the work: those that change only the power or an argument come last.

        Neighbouring cells then share their region, or its transform, and are computed together.
        """
        return tuple(sorted(range(len(self.axes)), key=lambda place: (self._rank(self.names[place]), place)))

    def _rank(self, name: str) -> int:
        return 2 if name not in holes_in(self.expression) else 1 if name == self.power else 0

    @Lazy
    def shared(self) -> int:
        """Number of consecutive cells, in work order, that differ only in the power or in arguments."""
        return math.prod(len(values) for name, values in self.axes if self._rank(name))

    def places(self, place: int) -> tuple[int, ...]:
        """Return the index on every axis of one cell, given its position in work order."""
        result = [0] * len(self.axes)
        for axis in reversed(self.order):
            place, result[axis] = divmod(place, len(self.axes[axis][1]))
        return tuple(result)

    def number(self, places: Sequence[int]) -> int:
        """Return the row of a cell in the table, where the last axis of the grid moves fastest."""
        row = 0
        for place, (_, values) in zip(places, self.axes, strict=True):
            row = row * len(values) + place
        return row

    def values(self, places: Sequence[int]) -> dict[str, AxisValue]:
        """Return the values of the holes of a cell."""
        return {name: values[place] for place, (name, values) in zip(places, self.axes, strict=True)}

    def digest(self, tolerance: float) -> str:
        """Return what distinguishes this sweep from all others, for finished parts that are kept."""
        facts = [self.expression, self.measure, self.axes, self.arguments, tolerance]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def holes_in(text: AxisValue) -> tuple[str, ...]:
    """Return the names of the holes of a text in reading order."""
    return tuple(HOLE.findall(text)) if isinstance(text, str) else ()


def filled(text: str, cell: Mapping[str, AxisValue]) -> str:
    """Return a text with the values of a cell in its holes; a region is put in brackets."""
    return HOLE.sub(lambda match: _written(cell[match.group(1)]), text)


def _written(value: AxisValue) -> str:
    return f"({value})" if isinstance(value, str) else numeral(value)


def _axis(name: str, values: Any) -> tuple[AxisValue, ...]:
    """Return the values of one hole."""
    if isinstance(values, str):
        return tuple(float(value) for value in parse_list(values))
    many: Iterable[Any] = values if hasattr(values, "__iter__") else (values,)
    result = tuple(_value(name, value) for value in many)
    if not result:
        msg = f"{{{name}}} has no values."
        raise DomainError(msg)
    return result


def _value(name: str, value: Any) -> AxisValue:
    if isinstance(value, str):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number):
        msg = f"A value of {{{name}}} is a number or a text, got {quoted(repr(value))}."
        raise ParseError(msg)
    return number


def _argument(name: str, value: Any) -> AxisValue:
    return value if isinstance(value, str) else _value(name, value)
