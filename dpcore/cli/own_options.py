"""Options from the parameters of a pair or a lab: one for each parameter."""

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
    """Read the options for the parameters of `owner`: name -> values."""
    by_name = {p.name: p for p in parameters}
    settings: dict[str, list[Any]] = {}
    queue = list(words)
    while queue:  # one word fewer per round
        word = queue.pop(0)
        option, equals, value = word.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or name not in by_name:
            names = [option_of(n) for n in by_name]
            hint = nearest(option, names) or f"it takes {', '.join(names)}."
            msg = f"{owner} has no option {quoted(word)}: {hint}"
            raise ParseError(msg)
        if not equals:
            if not queue:
                msg = f"{option} needs a value: {by_name[name].domain_words}."
                raise ParseError(msg)
            value = queue.pop(0)
        if name in settings:
            msg = f"{option} was given twice."
            raise ParseError(msg)
        settings[name] = _values(by_name[name], value)
    return settings


def option_of(name: str) -> str:
    """Return the option for a parameter."""
    return "--" + name.replace("_", "-")


def _values(parameter: Parameter, text: str) -> list[Any]:
    """Read the values of one option by the kind of its parameter."""
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
