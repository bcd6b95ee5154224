"""Values of expressions: names in the document, functions of the package, arithmetic and conditions."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from dpcore.core.errors import DomainError, ParseError
from dpcore.core.kinds import EXACT
from dpcore.core.numerals import nearest
from dpcore.files.documents import bytes_of
from dpcore.files.paths import existing
from dpcore.language import parse
from dpcore.language.grammar import parse_number
from dpcore.language.problems import nearest as nearest_name
from dpcore.language.problems import quoted
from dpcore.regions.tradeoff import TradeOff
from dpcore.values.grammar import Node, ValueComparison, ValueLiteral, ValueOperation, parse_condition, parse_value
from dpcore.values.quantity import (
    APPROXIMATE,
    GIVEN,
    NumberValue,
    RecordValue,
    RegionValue,
    TextValue,
    Value,
    combined,
    given,
    negative,
)

_SLACK: Final = 1e-12  # relative; exact numbers that agree this closely are equal


@dataclass
class Scope:
    """Where an expression is evaluated.

    Attributes
    ----------
    values : dict of str to Value
        Named values of the document.
    folder : Path
        The folder of the document: functions read only files in it.
    read : set of str
        The names of all files read so far, relative to the folder.
    """

    values: dict[str, Value] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)
    read: set[str] = field(default_factory=set)
    _cache: dict[Any, Value] = field(default_factory=dict, repr=False)

    def content(self, name: str) -> bytes:
        """Return the content of a file in the document's folder."""
        path = existing(self.folder, name)
        self.read.add(name)
        return bytes_of(path)

    def call(self, name: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Value:
        """Return the value of a function; the same call is made only once."""
        known = text_functions()
        if name not in known:
            msg = f"There is no function {quoted(name)}; {nearest_name(name, known) or 'there are ' + ', '.join(known) + '.'}"
            raise DomainError(msg)
        key = (name, repr(arguments), repr(sorted(options.items())))
        if key not in self._cache:
            function = known[name]
            _check_arguments(name, function, arguments, options)
            try:
                self._cache[key] = function(self, *arguments, **options)
            except (DomainError, ParseError) as error:
                file = _file_of(function, arguments, options)
                if not file or file in str(error):
                    raise
                msg = f"{file}: {error}"
                raise DomainError(msg) from error
        return self._cache[key]


Function = Callable[..., Value]


@cache
def text_functions() -> Mapping[str, Function]:
    """Return the functions by name: everything public in the files of `dpcore.values.functions`.

    Returns
    -------
    mapping of str to callable
        Each takes a `Scope` and its arguments.
    """
    package = importlib.import_module("dpcore.values.functions")
    known: dict[str, Function] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        names = importlib.import_module(f"{package.__name__}.{module}")
        known |= {name: getattr(names, name) for name in names.FUNCTIONS}
    return dict(sorted(known.items()))


def _file_of(function: Function, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    """Return the name of the file that a call reads; empty if it reads none."""
    return str(inspect.signature(function).bind(None, *arguments, **options).arguments.get("file", ""))


def _check_arguments(name: str, function: Function, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Reject a call whose arguments do not fit, and name those that do."""
    signature = inspect.signature(function)
    takes = list(signature.parameters)[1:]
    for option in options:
        if option not in takes:
            hint = nearest_name(option, takes) or f"it takes {', '.join(takes)}."
            msg = f"{name} has no argument {quoted(option)}; {hint}"
            raise DomainError(msg)
    try:
        bound = signature.bind(None, *arguments, **options)
    except TypeError as error:
        msg = f"{name} takes {', '.join(takes)}: {error}."
        raise DomainError(msg) from None
    for argument in takes:
        kinds = str(signature.parameters[argument].annotation)
        given_one = bound.arguments.get(argument)
        what = "a number" if kinds.startswith(("float", "int")) else "a text" if kinds == "str" else ""
        if argument in bound.arguments and what and isinstance(given_one, str) != (what == "a text"):
            msg = f"{argument} of {name} must be {what}, got {quoted(str(given_one))}."
            raise DomainError(msg)


def value(text: str, scope: Scope) -> Value:
    """Return the value of an expression.

    Parameters
    ----------
    text : str
        The expression.
    scope : Scope
        Its names and its folder.

    Returns
    -------
    Value
        A number, a text, a region or a record.

    Examples
    --------
    >>> one = value('deltas("dp(1)", epsilon=0) * 2', Scope())
    >>> f"{one.low:.4f}", one.kind
    ('0.9242', 'exact')
    """
    return evaluate(parse_value(text), scope)


def evaluate(node: Node, scope: Scope) -> Value:
    """Return the value of a tree."""
    if isinstance(node, ValueLiteral):
        return TextValue(node.text) if node.is_text else given(parse_number(node.text))
    if isinstance(node, ValueOperation):
        right = _number(evaluate(node.right, scope), node.sign)
        if node.left is None:
            return negative(right)
        return combined(node.sign, _number(evaluate(node.left, scope), node.sign), right)
    if node.arguments is None:
        one = _named(node.name, scope)
    else:
        plain = [(key, _plain(evaluate(inner, scope))) for key, inner in node.arguments]
        positional = tuple(item for key, item in plain if not key)
        options = {key: item for key, item in plain if key}
        if len(options) != sum(bool(key) for key, _ in plain):
            msg = f"{node.name} got an argument twice."
            raise DomainError(msg)
        one = scope.call(node.name, positional, options)
    for part in node.parts:
        one = _part(one, part, node.name)
    return one


def _named(name: str, scope: Scope) -> Value:
    if name in scope.values:
        return scope.values[name]
    if name == "inf":
        return given(math.inf)
    if name in text_functions():
        msg = f"{name} is a function: write its arguments in brackets."
        raise DomainError(msg)
    names = [*scope.values]
    hint = nearest_name(name, names) or (
        "the names are " + ", ".join(names) + "." if names else "no value has a name yet."
    )
    msg = f"There is no value {quoted(name)}; {hint}"
    raise DomainError(msg)


def _part(one: Value, part: str, name: str) -> Value:
    if not isinstance(one, RecordValue):
        msg = f"{name} has no parts, so there is no {quoted(part)} of it."
        raise DomainError(msg)
    if part not in one.parts:
        hint = nearest_name(part, one.parts) or f"it has {', '.join(one.parts)}."
        msg = f"{name} has no part {quoted(part)}; {hint}"
        raise DomainError(msg)
    return one.part(part)


def _number(one: Value, sign: str) -> NumberValue:
    if not isinstance(one, NumberValue):
        what = (
            "a text"
            if isinstance(one, TextValue)
            else "a region"
            if isinstance(one, RegionValue)
            else "a record: name a part of it"
        )
        msg = f"{quoted(sign)} takes numbers, got {what}."
        raise DomainError(msg)
    return one


def _plain(one: Value) -> Any:
    """Return a value as the argument of a function: a given number, a text, or a region."""
    if isinstance(one, NumberValue):
        if one.kind not in (GIVEN, EXACT):
            msg = f"A function takes numbers that are given or exact, got {_words(one)}."
            raise DomainError(msg)
        whole = float(one.high).is_integer() and abs(one.high) < 2**53
        return int(one.high) if whole else one.high
    if isinstance(one, TextValue):
        return one.text
    if isinstance(one, RegionValue):
        return one.region
    msg = "A function takes numbers, texts and regions, got a record: name a part of it."
    raise DomainError(msg)


def region_of(one: Any) -> TradeOff:
    """Return the region that an argument names."""
    if isinstance(one, TradeOff):
        return one
    if not isinstance(one, str):
        msg = f'A region is an expression in quotes such as "laplace(0.1)^10", got {one!r}.'
        raise DomainError(msg)
    return parse(one)


# ---- conditions ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConditionVerdict:
    """Whether a condition holds, and why.

    Attributes
    ----------
    holds : bool
        True only if it certainly holds.
    words : str
        One sentence with the numbers that decide it.
    """

    holds: bool
    words: str


def condition(text: str, scope: Scope) -> ConditionVerdict:
    """Decide a condition by both sides of its numbers; an undecidable one does not hold.

    Parameters
    ----------
    text : str
        Comparisons, joined by ``and``.
    scope : Scope
        Names and folder.

    Returns
    -------
    ConditionVerdict
        Whether it certainly holds, and why.

    Examples
    --------
    >>> condition('epsilons("laplace(0.1)^100", delta=1e-6) <= 4.7', Scope()).holds
    True
    """
    verdicts = [_decided(one, scope) for one in parse_condition(text)]
    bad = [one for one in verdicts if not one.holds]
    return bad[0] if bad else ConditionVerdict(holds=True, words=" ".join(one.words for one in verdicts))


def _decided(one: ValueComparison, scope: Scope) -> ConditionVerdict:
    left, right = evaluate(one.left, scope), evaluate(one.right, scope)
    if isinstance(left, TextValue) and isinstance(right, TextValue) and one.sign in ("==", "!="):
        holds = (left.text == right.text) == (one.sign == "==")
        return ConditionVerdict(
            holds, f"{one.text}: {'holds' if holds else 'fails'}, {left.text!r} and {right.text!r}."
        )
    a, b = _number(left, one.sign), _number(right, one.sign)
    numbers = f"{_words(a)} {one.sign} {_words(b)}"
    if APPROXIMATE in (a.kind, b.kind):
        return ConditionVerdict(
            holds=False, words=f"{one.text} is not decided: an approximation proves nothing ({numbers})."
        )
    known = _holds(one.sign, a, b)
    if known is None:
        return ConditionVerdict(holds=False, words=f"{one.text} is not decided: {numbers}; the brackets overlap.")
    return ConditionVerdict(known, f"{one.text}: {'holds' if known else 'fails'}, {numbers}.")


def _holds(sign: str, a: NumberValue, b: NumberValue) -> bool | None:
    """Return True if the comparison certainly holds, False if it certainly fails, None otherwise."""
    if sign in (">", ">="):
        return _holds({">": "<", ">=": "<="}[sign], b, a)
    if sign == "<=":
        return True if a.high <= b.low else False if a.low > b.high else None
    if sign == "<":
        return True if a.high < b.low else False if a.low >= b.high else None
    equal: bool | None = None
    if all(one.kind in (GIVEN, EXACT) for one in (a, b)):
        equal = a.high == b.high or abs(a.high - b.high) <= _SLACK * max(abs(a.high), abs(b.high))
    elif a.high < b.low or b.high < a.low:
        equal = False
    return equal if sign == "==" or equal is None else not equal


def _words(one: NumberValue) -> str:
    """Return a number for a message, with both sides if they differ."""
    if nearest(one.low, 8) == nearest(one.high, 8):
        return nearest(one.value, 8)
    return f"[{nearest(one.low, 8)}, {nearest(one.high, 8)}]"
