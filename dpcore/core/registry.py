"""One description for every guarantee, mechanism and operation, next to its code.

Forms, language, documentation, tables and tests are generated from these entries: adding a mechanism is adding a file.
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dpcore.core.domains import COUNT, DELTA, EPSILON, ETA, MU, PROBABILITY, REGION, SCALE, SENSITIVITY, SIGMA
from dpcore.core.errors import DomainError
from dpcore.core.parameter import REQUIRED, Choice, Parameter, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dpcore.regions.tradeoff import TradeOff

__all__ = [
    "COUNT",
    "DELTA",
    "EPSILON",
    "ETA",
    "MU",
    "PROBABILITY",
    "REGION",
    "RELATIONS",
    "REQUIRED",
    "RESERVED",
    "SCALE",
    "SENSITIVITY",
    "SIGMA",
    "Choice",
    "Entry",
    "Oracle",
    "Parameter",
    "check_names",
    "entries",
    "knows",
    "lookup",
    "register",
    "shown",
    "unknown",
]

RESERVED: Final = ("log", "sqrt", "inf", "union")
RELATIONS: Final = ("any", "substitution", "add/remove")


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
