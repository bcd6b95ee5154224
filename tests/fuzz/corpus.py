"""Inputs that were found once: ``tests/fuzz/corpus/KIND.txt``, one Python literal a line; ``+`` and ``*`` make long ones.

A line that starts with # says what the lines below it did.
"""

from __future__ import annotations

import ast
import operator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).with_name("corpus")
_SIGNS: Final[dict[type[ast.operator], Any]] = {ast.Add: operator.add, ast.Mult: operator.mul}


def corpus(name: str) -> list[Any]:
    """Return the inputs of a kind's file; none if it has no file."""
    file = FOLDER / f"{name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [value_of(line) for line in lines if line and not line.startswith("#")]


def value_of(line: str) -> Any:
    """Return the input that a line stands for: a literal, or literals joined by + and repeated by *."""
    return _value(ast.parse(line, mode="eval").body)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.BinOp(left, sign, right) if type(sign) in _SIGNS:
            value = _SIGNS[type(sign)](_value(left), _value(right))
        case ast.UnaryOp(ast.USub(), operand):
            value = -_value(operand)
        case ast.Name("inf" | "nan" as name):
            value = float(name)
        case ast.Tuple(parts):
            value = tuple(map(_value, parts))
        case ast.List(parts):
            value = list(map(_value, parts))
        case ast.Dict(keys, parts):
            value = {_value(key): _value(part) for key, part in zip(keys, parts, strict=True) if key is not None}
        case _:
            value = ast.literal_eval(node)
    return value
