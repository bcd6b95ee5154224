"""Options that a command takes from what it was asked about: one for every parameter of a pair or a lab."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import ParseError
from dpcore.language.lists import parse_list
from dpcore.language.problems import nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.core.registry import Parameter


def own_options(owner: str, parameters: Iterable[Parameter], words: list[str]) -> dict[str, list[Any]]:
    """Read the options that are the parameters of `owner`: name -> values."""
    known = {p.name: p for p in parameters}
    settings: dict[str, list[Any]] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        option, given, value = word.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or name not in known:
            names = [option_of(n) for n in known]
            hint = nearest(option, names) or f"it takes {', '.join(names)}."
            msg = f"{owner} has no option {quoted(word)}: {hint}"
            raise ParseError(msg)
        if not given:
            if not left:
                msg = f"{option} needs a value: {known[name].domain_words}."
                raise ParseError(msg)
            value = left.pop(0)
        if name in settings:
            msg = f"{option} was given twice."
            raise ParseError(msg)
        settings[name] = _values(known[name], value)
    return settings


def option_of(name: str) -> str:
    """Return a parameter's name as it is typed."""
    return "--" + name.replace("_", "-")


def _values(parameter: Parameter, text: str) -> list[Any]:
    """Read the values of one option as the parameter's kind asks."""
    if parameter.kind in ("number", "integer"):
        numbers = parse_list(text).tolist()
        whole = parameter.kind == "integer"
        return [int(v) if whole and v == v // 1 else v for v in numbers]
    if parameter.kind == "numbers":
        return [parse_list(text.strip().removeprefix("[").removesuffix("]")).tolist()]
    if parameter.kind == "points":
        try:
            return [json.loads(text)]
        except ValueError:
            msg = f"{option_of(parameter.name)} must be {parameter.domain_words}, got {quoted(text)}."
            raise ParseError(msg) from None
    return [text]
