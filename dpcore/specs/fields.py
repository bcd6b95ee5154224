"""The values that a key of a figure spec may hold: each kind of field checks its value and says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field
from typing import Any, Final

from dpcore.core.domains import REAL
from dpcore.core.errors import DomainError, DpcoreError, ParseError
from dpcore.core.registry import Parameter, value_text
from dpcore.language import parse
from dpcore.language.grammar import parse_syntax
from dpcore.language.lists import parse_list
from dpcore.language.numbers import read_value
from dpcore.language.problems import nearest, quoted
from dpcore.language.syntax import unknowns

REQUIRED: Final = object()
SHORT: Final = 8  # up to this many numbers are written out in code
Check = Callable[[Any], Any]


class ValueProblem(DpcoreError):
    """A mistake in a value; `item` is the text to look for in the file."""

    def __init__(self, item: str, message: str) -> None:
        super().__init__(message)
        self.item = item


def make(check: Check, default: Any, words: str, *, is_expression: bool = False) -> Any:
    """Return a dataclass field whose values `check` reads; `words` describe them."""
    metadata = {"check": check, "words": words, "is_expression": is_expression}
    if default is REQUIRED:
        return field(metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def expression(default: Any = REQUIRED, words: str = "a region") -> Any:
    """Hold one expression."""
    return make(_expression, default, words, is_expression=True)


def expressions(default: Any = REQUIRED, words: str = "regions") -> Any:
    """Hold one expression or a list of them."""
    return make(lambda value: tuple(_expression(item) for item in _some(value)), default, words, is_expression=True)


def pattern() -> Any:
    """Hold expressions with one unknown ``?``."""
    return make(lambda value: tuple(_pattern(item) for item in _some(value)), REQUIRED, "regions with one unknown ?")


def text(default: Any = REQUIRED, words: str = "a text") -> Any:
    """Hold a text."""
    return make(_text, default, words)


def read_by(reader: Callable[[str], object], words: str) -> Any:
    """Hold a text that a function of the library reads; its error is the message."""

    def check(value: Any) -> str:
        text = _text(value)
        try:
            reader(text)
        except DpcoreError as error:
            raise ValueProblem(text, f"{quoted(text, 60)}: {error}") from error
        return text

    return make(check, REQUIRED, words)


def texts(default: Any = (), words: str = "a list of texts") -> Any:
    """Hold a list of texts."""
    return make(lambda value: tuple(_text(item) for item in _some(value)), default, words)


def choice(*values: str, default: Any = None) -> Any:
    """Hold one of a few words, the first by default."""
    return make(
        lambda value: one_of(value, values), values[0] if default is None else default, "one of " + ", ".join(values)
    )


def choices(names: Callable[[], tuple[str, ...]], default: Any = ()) -> Any:
    """Hold a list of words from `names`, which is called when the list is read."""
    return make(lambda value: tuple(one_of(item, names()) for item in _some(value)), default, "a list of names")


def flag(default: bool = False) -> Any:
    """Hold true or false."""
    return make(_flag, default, "true or false")


def number(default: Any = REQUIRED, **domain: Any) -> Any:
    """Hold a number, or a text that the language reads as one, such as ``log(3)``."""
    parameter = Parameter("value", **domain)
    return make(lambda value: read_value(parameter, value), default, parameter.domain)


def rate(default: Any = None) -> Any:
    """Hold a probability."""
    return number(default, low=0.0, high=1.0)


def above_zero(default: Any = None) -> Any:
    """Hold a number above 0."""
    return number(default, low=0.0, low_open=True)


def axes() -> Any:
    """Hold the error on the horizontal axis: false positives (``fdp``) or false negatives (``thesis``)."""
    return choice("fdp", "thesis")


def integer(default: Any = REQUIRED, low: float = 0, high: float = 10**9) -> Any:
    """Hold an integer."""
    parameter = Parameter("value", "integer", low=low, high=high)
    return make(lambda value: read_value(parameter, value), default, parameter.domain)


def integers(default: Any = REQUIRED, words: str = "a list of integers", **domain: Any) -> Any:
    """Hold a list of integers."""
    parameter = Parameter("value", "integer", **domain)
    return make(lambda value: tuple(read_value(parameter, item) for item in _some(value)), default, words)


def numbers(default: Any = REQUIRED) -> Any:
    """Hold a list of numbers, or a text such as ``0:3:0.1``."""
    return make(_numbers, default, "numbers, or a list such as 0:3:0.1 or 1e-9..1e-2/8")


def mapping(words: str = "parameters by name") -> Any:
    """Hold a table of values."""
    return make(_mapping, {}, words)


def rows(default: Any = (), words: str = "a list of tables") -> Any:
    """Hold a list of tables."""
    return make(lambda value: tuple(_mapping(item) for item in _some(value)), default, words)


def required(one: Any) -> bool:
    """Whether a dataclass field has no default."""
    return one.default is MISSING and one.default_factory is MISSING


def one_of(value: Any, names: tuple[str, ...]) -> str:
    """Return the word if it is allowed."""
    if value not in names:
        hint = nearest(str(value), names) or f"it must be one of {', '.join(names)}."
        msg = f"unknown value {value_text(value)}; {hint}"
        raise DomainError(msg)
    return str(value)


def _some(value: Any) -> list[Any]:
    if isinstance(value, (str, dict)):
        return [value]
    if not isinstance(value, (list, tuple)) or not value:
        msg = f"expected a list with at least one item, got {value_text(value)}."
        raise DomainError(msg)
    return list(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        msg = f"expected a text, got {value_text(value)}."
        raise DomainError(msg)
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        msg = f"expected true or false, got {value_text(value)}."
        raise DomainError(msg)
    return value


def _expression(value: Any) -> str:
    text = _text(value)
    try:
        parse(text)
    except DpcoreError as error:
        raise ValueProblem(text, f"{quoted(text, 60)}: {error}") from error
    return text


def _pattern(value: Any) -> str:
    text = _text(value)
    try:
        count = len(unknowns(parse_syntax(text, allow_unknown=True)))
        if count != 1:
            msg = f"expected exactly one ?, got {count}."
            raise ParseError(msg)
    except DpcoreError as error:
        raise ValueProblem(text, f"{quoted(text, 60)}: {error}") from error
    return text


class NumberList(tuple[float, ...]):
    """Numbers typed as a list such as ``0:3:0.1``, which `text` holds."""

    text: str = ""


def _numbers(value: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        numbers = NumberList(float(item) for item in parse_list(value))
        numbers.text = value
        return numbers
    items = value if isinstance(value, (list, tuple)) else [value]
    if not items:
        msg = "expected at least one number, got an empty list."
        raise DomainError(msg)
    return tuple(read_value(REAL, item) for item in items)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        msg = f"expected a table such as {{ epsilon = 1 }}, got {value_text(value)}."
        raise DomainError(msg)
    return dict(value)
