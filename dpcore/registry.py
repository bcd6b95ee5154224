"""One description for every guarantee, mechanism and operation, next to its code.

Forms, language, documentation, tables and tests are generated from these entries: adding a mechanism is adding a file.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dpcore.errors import DomainError

if TYPE_CHECKING:
    from dpcore.tradeoff import TradeOff

REQUIRED: Final = object()
RESERVED: Final = ("log", "sqrt", "inf", "union")
RELATIONS: Final = ("any", "substitution", "add/remove")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: what it is called, what it may be, and what it means.

    `kind` is one of number, integer, numbers, points, region, regions (any number of them) and text. `least` is the
    smallest size a number other than 0 may have: below it products and squares leave the range of doubles.
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
    unit: str = ""
    label: str = ""
    meaning: str = ""
    example: Any = None

    def check(self, value: Any) -> Any:
        """Return the value in its own type, or raise a sentence that names it and its domain."""
        if type(value) is float and self.low < value < self.high and abs(value) >= self.least and self.kind == "number":
            return value
        return _CHECKS[self.kind](self, value)

    @property
    def domain(self) -> str:
        """The allowed values in words."""
        right = ")" if self.high_open or self.high == math.inf else "]"
        what = "an integer" if self.kind == "integer" else "a number"
        also = " or inf" if self.infinite else ""
        if self.least > max(self.low, 0.0):
            before = "" if self.low_open else "0 or "
            size = " of size" if self.low < 0.0 else ""
            return f"{before}{what}{size} in [{_plain(self.least)}, {_plain(self.high)}{right}{also}"
        left = "(" if self.low_open or self.low == -math.inf else "["
        return f"{what} in {left}{_plain(self.low)}, {_plain(self.high)}{right}{also}"

    @property
    def domain_words(self) -> str:
        """The domain, or what kind of thing is wanted."""
        words = {
            "region": "a region",
            "regions": "regions",
            "text": "a text",
            "numbers": "a list of numbers",
            "points": "a list of [alpha, beta] pairs",
        }
        return words.get(self.kind, self.domain)

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED

    def but(self, **changes: Any) -> Parameter:
        """Return this parameter with some of its facts changed."""
        return dataclasses.replace(self, **changes)

    def field(self, default: Any = REQUIRED, **changes: Any) -> Any:
        """Return a dataclass field that carries this parameter."""
        changed = self.but(default=default, **changes)
        if default is REQUIRED:
            return field(metadata={"parameter": changed})
        return field(default=default, metadata={"parameter": changed})


@dataclass(frozen=True, slots=True)
class Choice(Parameter):
    """A parameter with a few named values: a text of kind ``text`` that must be one of `choices`."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return the text, or say which ones are allowed."""
        if value not in self.choices:
            near = difflib.get_close_matches(str(value), self.choices, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            msg = f"{self.name} must be one of {', '.join(self.choices)}, got {shown(value)}.{hint}"
            raise DomainError(msg)
        return value

    @property
    def domain_words(self) -> str:
        """The values allowed."""
        return "one of " + ", ".join(self.choices)


def _plain(value: float) -> str:
    if math.isfinite(value) and value == int(value) and abs(value) < 1e16:
        return str(int(value))
    return repr(float(value))


def shown(value: Any) -> str:
    """Return a short text of any value for an error message."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a number of too many digits"
    return text if len(text) <= 60 else text[:57] + "..."


def unknown(what: str, name: Any, known: Iterable[str], owner: str = "") -> str:
    """Return the sentence that answers a wrong name with the nearest one, or with all there are."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, 1, cutoff=0.5)
    whose = f"{owner} has no" if owner else "There is no"
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}."
    return f"{whose} {what} {shown(name)}; {hint}"


def check_names(parameters: Iterable[Parameter], values: Iterable[str], owner: str) -> None:
    """Refuse a name that is no parameter of `owner`."""
    names = [parameter.name for parameter in parameters]
    for name in values:
        if name not in names:
            raise DomainError(unknown("parameter", name, names, owner))


def _refuse(parameter: Parameter, value: Any) -> DomainError:
    return DomainError(f"{parameter.name} must be {parameter.domain}, got {shown(value)}.")


def _check_number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (Real, Fraction)):
        raise _refuse(parameter, value)
    try:
        number = float(value)
    except OverflowError:
        raise _refuse(parameter, value) from None
    if math.isnan(number) or (math.isinf(number) and not (parameter.infinite and number > 0)):
        raise _refuse(parameter, value)
    below = number < parameter.low or (parameter.low_open and number == parameter.low)
    below |= 0.0 < abs(number) < parameter.least
    above = number > parameter.high or (parameter.high_open and number == parameter.high)
    if below or (above and math.isfinite(number)):
        raise _refuse(parameter, value)
    return number + 0.0


def _check_integer(parameter: Parameter, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, Integral)):
        raise _refuse(parameter, value)
    if isinstance(value, float) and not value.is_integer():
        raise _refuse(parameter, value)
    whole = int(value)
    if whole < parameter.low or whole > parameter.high:
        raise _refuse(parameter, value)
    return whole


def _items(parameter: Parameter, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        msg = f"{parameter.name} must be a list, got {shown(value)}."
        raise DomainError(msg)
    items = list(value)
    if not items:
        msg = f"{parameter.name} must have at least one item, got an empty list."
        raise DomainError(msg)
    return items


def _check_numbers(parameter: Parameter, value: Any) -> tuple[float, ...]:
    one = parameter.but(kind="number")
    return tuple(one.check(item) for item in _items(parameter, value))


def _check_points(parameter: Parameter, value: Any) -> tuple[tuple[float, float], ...]:
    one = parameter.but(kind="number")
    out = []
    for item in _items(parameter, value):
        pair = _items(parameter, item)
        if len(pair) != 2:
            msg = f"{parameter.name} must be pairs [alpha, beta], got {shown(item)}."
            raise DomainError(msg)
        out.append((one.check(pair[0]), one.check(pair[1])))
    return tuple(out)


def _scalar(value: Any) -> Any:
    if type(value) is float:
        return value
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _check_region(parameter: Parameter, value: Any) -> Any:
    if not getattr(value, "is_region", False):
        msg = f"{parameter.name} must be a region such as dp(1), got {shown(value)}."
        raise DomainError(msg)
    return value


def _check_regions(parameter: Parameter, value: Any) -> tuple[Any, ...]:
    return tuple(_check_region(parameter, item) for item in _items(parameter, value))


def _check_text(parameter: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{parameter.name} must be a text in double quotes, got {shown(value)}."
        raise DomainError(msg)
    return value


_CHECKS: Final[dict[str, Callable[[Parameter, Any], Any]]] = {
    "number": lambda parameter, value: _check_number(parameter, _scalar(value)),
    "integer": lambda parameter, value: _check_integer(parameter, _scalar(value)),
    "numbers": _check_numbers,
    "points": _check_points,
    "region": _check_region,
    "regions": _check_regions,
    "text": _check_text,
}


@dataclass(frozen=True, slots=True)
class Oracle:
    """A number known from elsewhere: `measure` of the entry at `arguments` is `value`, as `source` says."""

    arguments: tuple[Any, ...]
    measure: str
    at: float
    value: float
    tolerance: float
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Everything the rest of the house needs to know of one name of the language."""

    name: str
    title: str
    group: str
    symbol: str
    parameters: tuple[Parameter, ...]
    formula: str
    meaning: str
    assumptions: str
    neighbours: str
    reference: str
    kind: str
    oracles: tuple[Oracle, ...]
    factory: Callable[..., TradeOff]
    also_accepts: tuple[Parameter, ...] = ()  # by name only, in the place of `parameters`

    def build(self, *args: Any, **kwargs: Any) -> TradeOff:
        """Return the region with these arguments; what is missing, unknown or given twice is named."""
        args, kwargs = self.bind(args, kwargs)
        return self.factory(*args, **kwargs)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as the factory takes them; what is missing, unknown or given twice is named."""
        if len(args) == len(self.parameters) and not kwargs and not self.also_accepts:
            return args, kwargs
        names = [p.name for p in self.parameters]
        if len(args) > len(names) and not self.variadic:
            msg = f"{self.name} takes at most {len(names)} arguments ({', '.join(names)}), got {len(args)}."
            raise DomainError(msg)
        for name in kwargs:
            if name not in self.accepted:
                near = difflib.get_close_matches(name, self.accepted, 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                msg = f"{self.name} has no argument {shown(name)}; it takes {', '.join(self.accepted)}.{hint}"
                raise DomainError(msg)
            if self.variadic:
                msg = f"{self.name} takes its {name} one after the other and not by name: {self.name}(dp(1), tv(0.5))."
                raise DomainError(msg)
            if name in names[: len(args)]:
                msg = f"{self.name} got {name} twice."
                raise DomainError(msg)
        if self.also_accepts or self.variadic:
            return args, kwargs
        return (*args, *(self._value(p, kwargs) for p in self.parameters[len(args) :])), {}

    def _value(self, parameter: Parameter, given: dict[str, Any]) -> Any:
        if parameter.name in given:
            return given[parameter.name]
        if parameter.required:
            msg = f"{self.name} needs {parameter.name}: {parameter.domain_words}."
            raise DomainError(msg)
        return parameter.default

    @property
    def variadic(self) -> bool:
        """Whether it takes any number of regions, one after the other."""
        return bool(self.parameters) and self.parameters[-1].kind == "regions"

    @property
    def accepted(self) -> tuple[str, ...]:
        """Names that may be given as keyword."""
        return tuple(p.name for p in (*self.parameters, *self.also_accepts))


_entries: dict[str, Entry] = {}
_T = TypeVar("_T")


def register(  # noqa: PLR0913  one argument per fact of an entry
    name: str,
    *,
    title: str,
    group: str,
    symbol: str,
    formula: str,
    meaning: str,
    reference: str,
    assumptions: str = "none beyond the definition",
    neighbours: str = "any",
    kind: str = "exact",
    oracles: tuple[Oracle, ...] = (),
) -> Callable[[type[_T]], type[_T]]:
    """Describe a dataclass of the language and make it known under `name`."""

    def keep(cls: type[_T]) -> type[_T]:
        parameters = tuple(
            f.metadata["parameter"]
            for f in dataclasses.fields(cls)  # type: ignore[arg-type]  # register is only used on dataclasses
            if "parameter" in f.metadata
        )
        factory: Callable[..., Any] = getattr(cls, "make", cls)
        entry = Entry(
            name,
            title,
            group,
            symbol,
            parameters,
            formula,
            meaning,
            assumptions,
            neighbours,
            reference,
            kind,
            oracles,
            factory,
            getattr(cls, "also_accepts", ()),
        )
        _entries[name] = entry
        cls.entry = entry  # type: ignore[attr-defined]  # nodes carry their own description
        return cls

    return keep


def knows(name: str) -> bool:
    """Whether a name is described."""
    return name in _entries


def entries(group: str | None = None) -> tuple[Entry, ...]:
    """Return all entries, or those of one group, in the order they were described."""
    return tuple(e for e in _entries.values() if group is None or e.group == group)


def lookup(name: str) -> Entry:
    """Return the entry of a name; an unknown name is answered with the nearest known one."""
    if name in _entries:
        return _entries[name]
    near = difflib.get_close_matches(name, _entries, 1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known names: {', '.join(sorted(_entries))}."
    msg = f"Unknown name {shown(name)}{hint}"
    raise DomainError(msg)


# Where doubles end. The exact numbers are promised to 1e-10, and a loss of 1e6 has a last place of 1e-10; a mu is squared;
# scales are divided by each other and squared; what multiplies a probability must not vanish.
_LARGEST_LOSS = 1e6
_SMALLEST = 1e-300
_SMALLEST_ROOT = 1e-100
_SIZES = 1e-50, 1e50

EPSILON = Parameter(
    "epsilon",
    low=0.0,
    high=_LARGEST_LOSS,
    infinite=True,
    least=_SMALLEST,
    label="ε",
    unit="nats",
    meaning="bound on the privacy loss; 0 is perfect privacy",
    example=1.0,
)
DELTA = Parameter(
    "delta",
    low=0.0,
    high=1.0,
    label="δ",
    meaning="by how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise",
    example=0.01,
)
ETA = Parameter(
    "eta", low=0.0, high=1.0, label="η", meaning="attacker's best advantage; 0 is blind, 1 certain", example=0.2
)
MU = Parameter(
    "mu",
    low=0.0,
    high=_LARGEST_LOSS,
    infinite=True,
    least=_SMALLEST_ROOT,
    label="μ",
    meaning="shift of a unit Gaussian; 0 is perfect",
    example=1.0,
)
SIGMA = Parameter(
    "sigma",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    infinite=True,
    least=_SIZES[0],
    label="σ",
    meaning="standard deviation of the noise",
    example=1.0,
)
SCALE = Parameter(
    "scale",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    infinite=True,
    least=_SIZES[0],
    label="b",
    meaning="scale of the noise",
    example=1.0,
)
SENSITIVITY = Parameter(
    "sensitivity",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    least=_SIZES[0],
    label="Δ",
    meaning="how far the answer moves between neighbours",
    example=1.0,
)
PROBABILITY = Parameter("p", low=0.0, high=1.0, label="p", meaning="a probability", example=0.1)
COUNT = Parameter("k", "integer", low=1, label="k", meaning="how many", example=2)
REGION = Parameter("region", "region", label="region", meaning="any region of the language", example="dp(1)")
