"""The one checker of values: what a number, a list, a text or a region may be, and one sentence if it is not."""

from __future__ import annotations

import dataclasses
import difflib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]

REQUIRED: Final = object()
_PLAIN_TYPES: Final = {float, int, np.float64, np.int64}  # lists of these become arrays without a look at each item
_Number = TypeVar("_Number", float, "FloatArray")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name, its domain and its meaning.

    Parameters
    ----------
    name : str
        Its name in messages.
    kind : str, default "number"
        One of number, integer, numbers, points, region, regions (any number of them) and text.
    default : object, default REQUIRED
        The value of an omitted argument; `REQUIRED` if it may not be omitted.
    low, high : float
        Ends of the interval.
    low_open, high_open : bool, default False
        Whether an end itself is excluded; integers include both.
    infinite : bool, default False
        Whether infinity is allowed, even beyond a finite `high`; minus infinity is allowed if `low` is.
    least : float, default 0
        The smallest size of a number other than 0: below it products and squares leave the range of doubles.
    fewest, most : int or float
        How many items a list may have; by default at least 1, without an upper limit.
    unit, label, meaning, example : str or object
        Texts for forms and documentation.
    falling : bool, optional
        Whether a larger value shrinks the region; by default its name decides, or calibration tries it.
    """

    name: str
    kind: str = "number"
    default: Any = REQUIRED
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    infinite: bool = False
    least: float = 0.0
    fewest: int = 1
    most: float = math.inf
    unit: str = ""
    label: str = ""
    meaning: str = ""
    example: Any = None
    falling: bool | None = None

    def check(self, value: Any) -> Any:
        """Return the value in its own type, or raise a sentence that names it and its domain."""
        if (
            type(value) is float
            and self.low < value < self.high
            and self.least <= abs(value) > 0.0
            and self.kind == "number"
        ):
            return value  # the common case
        return _CHECKS[self.kind](self, value)

    def array(self, values: Any) -> FloatArray:
        """Return one number or a flat list of numbers as a flat array, or name the first bad one and its place.

        Examples
        --------
        >>> Parameter("alpha", low=0.0, high=1.0).array([0, 0.5]).tolist()
        [0.0, 0.5]
        """
        items = _as_items(values)
        if not len(items):
            raise self.refusal(values)
        if not self.fewest <= len(items) <= self.most:
            raise self.but(kind="numbers").refusal(len(items))
        if isinstance(items, np.ndarray):
            numbers = np.asarray(items, dtype=np.float64) + 0.0  # turns -0.0 into 0.0
            wrong = np.flatnonzero(~_inside(self, numbers)).tolist()
        else:
            checked = [_number(self, item) for item in items]
            numbers = np.array(checked, dtype=np.float64)
            wrong = [place for place, number in enumerate(checked) if number is None]
        if wrong:
            raise self.refusal(items[wrong[0]], "" if len(items) == 1 else f" (number {wrong[0] + 1} of {len(items)})")
        return np.asarray(numbers, dtype=np.float64)

    def refusal(self, value: Any, place: str = "") -> DomainError:
        """Return the error about a bad value: the parameter, its domain, the value and, in a list, its place."""
        scalar, words = _scalar(value), self.domain_words
        if self.kind == "number" and self.high == math.inf and _too_large(scalar):
            words += " within the range of doubles"
        return DomainError(f"{self.name} must be {words}, got {value_text(scalar)}{place}.")

    @property
    def domain(self) -> str:
        """The allowed numbers in words."""
        closed = self.infinite and self.high == math.inf
        right = ")" if self.high_open or (self.high == math.inf and not closed) else "]"
        what = "an integer" if self.kind == "integer" else "a number"
        also = " or inf" if self.infinite and not closed else ""
        if self.least > max(self.low, 0.0):
            before = "" if self.low_open else "0 or "
            size = " of size" if self.low < 0.0 else ""
            return f"{before}{what}{size} in [{numeral(self.least)}, {numeral(self.high)}{right}{also}"
        left = "(" if self.low_open or (self.low == -math.inf and not self.infinite) else "["
        return f"{what} in {left}{numeral(self.low)}, {numeral(self.high)}{right}{also}"

    @property
    def domain_words(self) -> str:
        """The domain, or the kind of value."""
        words = {
            "region": "a region",
            "regions": "regions",
            "text": "a text",
            "numbers": f"a list of {self._size}numbers",
            "points": f"a list of {self._size}[alpha, beta] pairs",
        }
        return words.get(self.kind, self.domain)

    @property
    def _size(self) -> str:
        if self.most < math.inf:
            return f"{self.fewest} to {self.most} "
        return f"at least {self.fewest} " if self.fewest > 1 else ""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED

    def but(self, **changes: Any) -> Parameter:
        """Return this parameter with some of its attributes changed."""
        return dataclasses.replace(self, **changes)

    def field(self, default: Any = REQUIRED, **changes: Any) -> Any:
        """Return a dataclass field that carries this parameter."""
        changed = self.but(default=default, **changes)
        if default is REQUIRED:
            return field(metadata={"parameter": changed})
        return field(default=default, metadata={"parameter": changed})


@dataclass(frozen=True, slots=True)
class Choice(Parameter):
    """A parameter with a few named values: kind ``text``, one of `choices`."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return the text, or say which ones are allowed."""
        if not isinstance(value, str) or value not in self.choices:
            near = difflib.get_close_matches(str(value), self.choices, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            msg = f"{self.name} must be one of {', '.join(self.choices)}, got {value_text(value)}.{hint}"
            raise DomainError(msg)
        return value

    @property
    def domain_words(self) -> str:
        """The allowed values."""
        return "one of " + ", ".join(self.choices)


def one_of(name: str, choices: Iterable[str]) -> Choice:
    """Return the parameter that may be any of these texts."""
    return Choice(name, "text", choices=tuple(choices))


def value_text(value: Any) -> str:
    """Return any value as a short text on one line, for an error message.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str
        A number as `numeral` writes it, otherwise its `repr`, cut to 60 characters.
    """
    if type(value) is float:
        return numeral(value)
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a number of too many digits"
    return text if len(text) <= 60 else text[:57] + "..."


def _inside(parameter: Parameter, x: _Number) -> Any:
    """Whether a number, or each number of an array, belongs to the domain; nan belongs to none."""
    inside = (x > parameter.low) if parameter.low_open else (x >= parameter.low)
    inside &= (x < parameter.high) if parameter.high_open else (x <= parameter.high)
    inside = (inside | (x == math.inf)) if parameter.infinite else (inside & (abs(x) < math.inf))
    return inside & ((abs(x) >= parameter.least) | (x == 0.0))


def _scalar(value: Any) -> Any:
    """Return numpy scalars and arrays without dimensions as Python numbers."""
    if type(value) is float:
        return value
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _number(parameter: Parameter, value: Any) -> float | None:
    """Return a value as a number of the domain, or None if it is not one; booleans and texts are not numbers."""
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if _inside(parameter, number) else None  # + 0.0 turns -0.0 into 0.0


def _too_large(value: Any) -> bool:
    """Whether an integer or a fraction has no double near it."""
    return isinstance(value, (int, Fraction)) and not -sys.float_info.max <= value <= sys.float_info.max


def _check_number(parameter: Parameter, value: Any) -> float:
    number = _number(parameter, value)
    if number is None:
        raise parameter.refusal(value)
    return number


def _check_integer(parameter: Parameter, value: Any) -> int:
    scalar = _scalar(value)
    whole = isinstance(scalar, Integral) or (isinstance(scalar, float) and scalar.is_integer())
    if isinstance(scalar, bool) or not whole or not parameter.low <= int(scalar) <= parameter.high:
        raise parameter.refusal(value)
    return int(scalar)


def _as_items(values: Any) -> FloatArray | list[Any]:
    """Return one value or several as an array of numbers, or as a list where each item must be checked."""
    raw = values
    if isinstance(values, (list, tuple)):
        if not set(map(type, values)) <= _PLAIN_TYPES:
            return list(values)
        raw = np.array(values)
    elif hasattr(values, "__array__"):
        raw = np.asarray(values)
    elif isinstance(values, (Sequence, Iterator)) and not isinstance(values, (str, bytes)):
        return _as_items(list(values))
    else:
        return [values]
    if raw.ndim <= 1 and raw.dtype.kind in "iuf":
        return np.atleast_1d(raw)
    return [raw[()]] if raw.ndim == 0 else list(raw)


def _items(parameter: Parameter, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        msg = f"{parameter.name} must be a list, got {value_text(value)}."
        raise DomainError(msg)
    return list(value)


def _sized(parameter: Parameter, value: Any) -> list[Any]:
    """Return the items of a list, if the parameter takes that many."""
    items = _items(parameter, value)
    if not items:
        msg = f"{parameter.name} must have at least one item, got an empty list."
        raise DomainError(msg)
    if not parameter.fewest <= len(items) <= parameter.most:
        raise parameter.refusal(len(items))
    return items


def _check_numbers(parameter: Parameter, value: Any) -> tuple[float, ...]:
    return tuple(parameter.but(kind="number").array(_sized(parameter, value)).tolist())


def _check_points(parameter: Parameter, value: Any) -> tuple[tuple[float, float], ...]:
    rate = parameter.but(kind="number")
    points = []
    for item in _sized(parameter, value):
        pair = _items(parameter, item)
        if len(pair) != 2:
            msg = f"{parameter.name} must be pairs [alpha, beta], got {value_text(item)}."
            raise DomainError(msg)
        points.append((rate.check(pair[0]), rate.check(pair[1])))
    return tuple(points)


def _check_region(parameter: Parameter, value: Any) -> Any:
    if not getattr(value, "is_region", False):
        msg = f"{parameter.name} must be a region such as dp(1), got {value_text(value)}."
        raise DomainError(msg)
    return value


def _check_regions(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    return tuple(_check_region(parameter, item) for item in _sized(parameter, value))


def _check_text(parameter: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{parameter.name} must be a text in double quotes, got {value_text(value)}."
        raise DomainError(msg)
    return value


_CHECKS: Final[dict[str, Callable[[Parameter, Any], Any]]] = {
    "number": _check_number,
    "integer": _check_integer,
    "numbers": _check_numbers,
    "points": _check_points,
    "region": _check_region,
    "regions": _check_regions,
    "text": _check_text,
}
