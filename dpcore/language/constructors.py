"""The names of the language as Python functions, each with the signature and the documentation of its entry.

``dpcore.laplace`` is made here on first use, from its entry in the registry, so a new mechanism is a function like the
others. Type checkers and editors, which do not run the package, read the same signatures and texts in
``dpcore/__init__.pyi``, which ``make stub`` writes.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable  # noqa: F401  the annotations of the functions are resolved here
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final, Literal  # noqa: F401  as above

from dpcore.core.numerals import numeral
from dpcore.core.registry import Choice, Entry, Oracle, Parameter, lookup
from dpcore.regions.tradeoff import Real, TradeOff, Whole  # noqa: F401  as above

Constructor = Callable[..., TradeOff]
ANNOTATIONS: Final = {
    "number": "Real",
    "integer": "Whole",
    "numbers": "Iterable[Real]",
    "points": "Iterable[Iterable[Real]]",
    "region": "TradeOff",
    "regions": "TradeOff",
    "text": "str",
}
_WIDTH: Final = 100
_constructors: dict[str, tuple[Entry, Constructor]] = {}


class _LeftOut:
    """The default of an argument that another one may replace; shown as three dots."""

    def __repr__(self) -> str:
        return "..."


LEFT_OUT: Final = _LeftOut()


def constructor(name: str) -> Constructor:
    """Return the function that makes the regions of a name, the same one each time.

    Parameters
    ----------
    name : str
        A name of the language; an unknown one raises `DomainError` with the nearest name.

    Returns
    -------
    callable
        With the signature and the documentation of the entry.
    """
    entry = lookup(name)
    before = _constructors.get(name)
    if before is None or before[0] is not entry:
        before = _constructors[name] = entry, _function(entry)
    return before[1]


def _function(entry: Entry) -> Constructor:
    # As many frames as `Entry.build`, so that a notice of the factory points at the line that made the region.
    def make(*args: Any, **kwargs: Any) -> TradeOff:
        args, kwargs = entry.bind(args, kwargs)
        return entry.factory(*args, **kwargs)

    own = signature(entry)
    make.__name__ = make.__qualname__ = entry.name
    make.__module__ = "dpcore"
    make.__doc__ = documentation(entry)
    make.__signature__ = own  # type: ignore[attr-defined]  # where `inspect` and `help` look first
    make.__annotations__ = {a.name: a.annotation for a in own.parameters.values()} | {"return": own.return_annotation}
    return make


def signature(entry: Entry) -> Signature:
    """Return the arguments of an entry with types and defaults; those of its other form follow, by name only."""
    arguments = [_argument(p, entry) for p in entry.parameters]
    arguments += [_argument(p, entry, by_name=True) for p in entry.also_accepts]
    return Signature(arguments, return_annotation="TradeOff")


def signatures(entry: Entry) -> list[Signature]:
    """Return the complete signatures of an entry: one, or two if other parameters are accepted as well."""
    own = [_argument(p, entry, whole=True) for p in entry.parameters]
    other = [_argument(p, entry, whole=True, by_name=True) for p in entry.also_accepts]
    return [Signature(form, return_annotation="TradeOff") for form in (own, other) if form]


def _argument(parameter: Parameter, entry: Entry, *, whole: bool = False, by_name: bool = False) -> Argument:
    """Return an argument as Python describes it.

    Parameters
    ----------
    parameter : Parameter
        One of those the entry takes.
    entry : Entry
        The entry.
    whole : bool
        Whether the other form of the entry is described separately, so that a required argument has no default.
    by_name : bool
        Whether it is given by name only.

    Returns
    -------
    inspect.Parameter
        With its type and default.
    """
    kind = Argument.KEYWORD_ONLY if by_name else Argument.POSITIONAL_OR_KEYWORD
    missing = LEFT_OUT if entry.also_accepts and not whole else Argument.empty
    default = missing if parameter.required else parameter.default
    if parameter.kind == "regions":
        return Argument(parameter.name, Argument.VAR_POSITIONAL, annotation=annotation(parameter))
    return Argument(parameter.name, kind, default=default, annotation=annotation(parameter))


def annotation(parameter: Parameter) -> str:
    """Return the type of a parameter as written in a signature."""
    if isinstance(parameter, Choice):
        return f"Literal[{', '.join(json.dumps(choice) for choice in parameter.choices)}]"
    return ANNOTATIONS[parameter.kind]


def documentation(entry: Entry) -> str:
    """Return the documentation of an entry: what it is, parameters with domains, formula, reference and example."""
    parameters = [_described(p) for p in entry.parameters]
    for index, parameter in enumerate(entry.also_accepts):
        place = "beside" if index else "in the place of"
        other = entry.also_accepts[0] if index else entry.parameters[0]
        parameters.append(_described(parameter, f"by name, {place} {other.name}"))
    sections = [
        f"{entry.title[0].upper()}{entry.title[1:]}.",
        _wrapped(entry.meaning),
        _section("Parameters", "\n".join(parameters)),
        _section("Returns", f"TradeOff\n{_wrapped(_result(entry), 4)}"),
        _section("Notes", f".. math:: {entry.formula}\n\n{_wrapped(f'Assumptions: {_sentence(entry.assumptions)}')}"),
        _section("References", _wrapped(f"{entry.reference}.")),
        _section("Examples", example(entry)),
    ]
    return "\n\n".join(sections) + "\n"


def _result(entry: Entry) -> str:
    """Say what the region is and for which neighbours; an operation takes both from its parts unless it says more."""
    operation = entry.group == "operation"
    exact = "exact where its parts are" if operation else "exact"
    kind = exact if entry.kind == "exact" else "an upper bound that contains the true one"
    relation = "" if operation and entry.neighbours == "any" else f", for {entry.neighbours} neighbours"
    return f"The region, {kind}{relation}."


def _described(parameter: Parameter, remark: str = "") -> str:
    default = "" if parameter.required else f", default {_code(parameter.default)}"
    stars = "*" if parameter.kind == "regions" else ""
    label = ", ".join(part for part in (parameter.label, parameter.unit) if part and part != parameter.name)
    notes = "; ".join(part for part in (label, remark) if part)
    meaning = parameter.meaning[0].upper() + parameter.meaning[1:]
    text = f"{meaning} ({notes})." if notes else f"{meaning}."
    return f"{stars}{parameter.name} : {parameter.domain_words}{default}\n{_wrapped(text, 4)}"


def _section(title: str, text: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{text}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


def _wrapped(text: str, indent: int = 0) -> str:
    space = " " * indent
    return textwrap.fill(text, _WIDTH, initial_indent=space, subsequent_indent=space, break_long_words=False)


def example(entry: Entry) -> str:
    """Return an interactive session that shows the first oracle of the entry."""
    oracle = entry.oracles[0]
    call = f"{entry.name}({', '.join(_code(value) for value in oracle.arguments)})"
    names = sorted(set(re.findall(r"[a-z_]+(?=\()", call)))
    question = f"region.{oracle.measure}({numeral(oracle.at)})"
    shape = f".{_digits(oracle)}g"
    lines = [f"from dpcore import {', '.join(names)}", f"region = {call}", f'print(f"{{{question}:{shape}}}")']
    return "".join(f">>> {line}\n" for line in lines) + format(oracle.value, shape)


def _digits(oracle: Oracle) -> int:
    """Return how many digits of an oracle's value are certain, at most six."""
    certain = math.log10(abs(oracle.value) / oracle.tolerance) if oracle.value and oracle.tolerance else math.inf
    return max(1, int(min(6.0, certain - 1.0)))


def _code(value: Any) -> str:
    """Return an argument of an oracle as Python code: a text is an expression of the language, or a text in quotes."""
    if isinstance(value, str):
        return value if value.startswith('"') else re.sub(r"\s*\^\s*", " ** ", value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_code(item) for item in value)}]"
    return numeral(value) if isinstance(value, float) else repr(value)
