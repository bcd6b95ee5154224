"""One description for every guarantee, mechanism and operation, next to its code.

Forms, language, documentation, tables and tests are generated from these entries: adding a mechanism is adding a file.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dpcore.core.domains import COUNT, DELTA, EPSILON, ETA, MU, PROBABILITY, REGION, SCALE, SENSITIVITY, SIGMA
from dpcore.core.errors import DomainError
from dpcore.core.parameter import REQUIRED, Choice, Parameter, value_text

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
    "unknown",
    "value_text",
]

RESERVED: Final = ("log", "sqrt", "inf")  # words of numbers: no entry can have such a name
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
RELATIONS: Final = ("any", "substitution", "add/remove")


def unknown(what: str, name: Any, choices: Iterable[str], owner: str = "") -> str:
    """Return the sentence that answers a wrong name with the nearest one, or with all of them.

    Parameters
    ----------
    what : str
        The kind of thing: "parameter", "column".
    name : object
        The wrong name.
    choices : iterable of str
        The right names.
    owner : str, optional
        The owner of the names.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> unknown("parameter", "epsilo", ["epsilon", "delta"], "dp")
    "dp has no parameter 'epsilo'; did you mean epsilon?"
    """
    names = list(choices)
    near = difflib.get_close_matches(str(name), names, 1, cutoff=0.5)
    whose = f"{owner} has no" if owner else "There is no"
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}."
    return f"{whose} {what} {value_text(name)}; {hint}"


def check_names(parameters: Iterable[Parameter], values: Iterable[str], owner: str) -> None:
    """Refuse a name that is not a parameter of `owner`.

    Parameters
    ----------
    parameters : iterable of Parameter
        The parameters.
    values : iterable of str
        The names to check.
    owner : str
        The owner of the parameters.
    """
    names = [parameter.name for parameter in parameters]
    for name in values:
        if name not in names:
            raise DomainError(unknown("parameter", name, names, owner))


@dataclass(frozen=True, slots=True)
class Oracle:
    """A reference value: `measure` at `at`, of the entry with `arguments`, is `value` up to `tolerance`, by `source`.

    Parameters
    ----------
    arguments : tuple
        Arguments of the entry.
    measure : str
        A question to the region, such as delta or beta.
    at, value, tolerance : float
        The argument of the question, the answer and its allowed error.
    source : str
        Where the value comes from.
    """

    arguments: tuple[Any, ...]
    measure: str
    at: float
    value: float
    tolerance: float
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The description of one name of the language.

    Parameters
    ----------
    name, title, group, symbol : str
        The name in the language, its title, one of guarantee, mechanism and operation, and its symbol in LaTeX.
    parameters : tuple of Parameter
        Its parameters, in order.
    formula, meaning, assumptions, neighbours, reference, kind : str
        Facts for forms, tables and documentation.
    oracles : tuple of Oracle
        Reference values, each of which is a test.
    factory : callable
        Makes the region.
    also_accepts : tuple of Parameter
        Parameters by name only, in place of `parameters`.
    """

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
    also_accepts: tuple[Parameter, ...] = ()

    def build(self, *args: Any, **kwargs: Any) -> TradeOff:
        """Return the region with these arguments; an error names a missing, unknown or repeated one."""
        args, kwargs = self.bind(args, kwargs)
        return self.factory(*args, **kwargs)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as the factory takes them; an error names a missing, unknown or repeated one."""
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
                msg = f"{self.name} has no argument {value_text(name)}; it takes {', '.join(self.accepted)}.{hint}"
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

    def _value(self, parameter: Parameter, kwargs: dict[str, Any]) -> Any:
        if parameter.name in kwargs:
            return kwargs[parameter.name]
        if parameter.required:
            msg = f"{self.name} needs {parameter.name}: {parameter.domain_words}."
            raise DomainError(msg)
        return parameter.default

    @property
    def short_title(self) -> str:
        """The title as a legend begins with it: ``Laplace``, ``Gaussian DP``."""
        short = self.title.replace(" mechanism", "").replace("differential privacy", "DP").replace("(ε, δ)-DP", "DP")
        return short[0].upper() + short[1:]

    @property
    def variadic(self) -> bool:
        """Whether it takes any number of regions, one after the other."""
        return bool(self.parameters) and self.parameters[-1].kind == "regions"

    @property
    def accepted(self) -> tuple[str, ...]:
        """Names of its keyword arguments."""
        return tuple(p.name for p in (*self.parameters, *self.also_accepts))


_entries: dict[str, Entry] = {}
_T = TypeVar("_T")


def _check_free(entry: Entry) -> None:
    """Refuse a name that the language cannot read, or that another class has; a reloaded module keeps its names."""
    if not _NAME.fullmatch(entry.name) or entry.name in RESERVED:
        msg = (
            "The name of an entry must be lower-case letters, digits and underscores, start with a letter, and not be "
            f"{' or '.join(RESERVED)}; got {value_text(entry.name)}."
        )
        raise DomainError(msg)
    other = _entries.get(entry.name)
    if other is not None and other.factory.__module__ != entry.factory.__module__:
        msg = f"The name {value_text(entry.name)} is taken by {other.factory.__module__}; {entry.factory.__module__} needs another."
        raise DomainError(msg)


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
    """Register a dataclass under its name in the language, with the facts of its `Entry`.

    Parameters
    ----------
    name, title, group, symbol, formula, meaning, reference, assumptions, neighbours, kind : str
        Facts of the entry.
    oracles : tuple of Oracle
        Reference values.

    Returns
    -------
    callable
        The decorator of the class.

    Raises
    ------
    DomainError
        If the language could not tell the name from a number or from another entry.
    """

    def add(cls: type[_T]) -> type[_T]:
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
        _check_free(entry)
        _entries[name] = entry
        cls.entry = entry  # type: ignore[attr-defined]  # nodes carry their own description
        return cls

    return add


def knows(name: str) -> bool:
    """Return whether a name is registered.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    bool
        True if it is.
    """
    return name in _entries


def entries(group: str | None = None) -> tuple[Entry, ...]:
    """Return all entries, or those of one group, in the order of their registration.

    Parameters
    ----------
    group : str, optional
        One of guarantee, mechanism and operation.

    Returns
    -------
    tuple of Entry
        The entries.
    """
    return tuple(e for e in _entries.values() if group is None or e.group == group)


def lookup(name: str) -> Entry:
    """Return the entry of a name; the error for an unknown name suggests the nearest one.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    Entry
        Its entry.
    """
    if name in _entries:
        return _entries[name]
    near = difflib.get_close_matches(name, _entries, 1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known names: {', '.join(sorted(_entries))}."
    msg = f"Unknown name {value_text(name)}{hint}"
    raise DomainError(msg)
