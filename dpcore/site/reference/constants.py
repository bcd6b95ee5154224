"""Public constants of the library: name, type, value and meaning, read from the line that assigns them."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.site.reference.origin import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 400  # characters of a value that is shown


@dataclass(frozen=True)
class Constant:
    """A public name of a room that is neither a function nor a class.

    Attributes
    ----------
    name, room : str
        Its name, and the module that it is public in.
    typed : str
        Its type.
    value : str
        Its value as Python writes it, or the names in it; empty if there is nothing short to show.
    literal : bool
        Whether `value` is Python, not a list of names.
    meanings : tuple of (str, str)
        The keys of a mapping from names to words, with these words.
    doc : str
        What the string below its assignment says.
    file, line : str and int
        Where it is assigned.
    """

    name: str
    room: str
    typed: str
    value: str
    literal: bool
    meanings: tuple[tuple[str, str], ...]
    doc: str
    file: str
    line: int


def constants_of(module: Any) -> Iterator[Constant]:
    """Iterate over the constants and type aliases in the ``__all__`` of a module."""
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
            continue
        file, line, written, doc = assigned(module.__name__, name)
        meanings = _meanings(value)
        alias = type(value).__module__ in ("types", "typing") or "Alias" in type(value).__name__
        yield Constant(
            name,
            module.__name__,
            "type" if alias else written or type(value).__name__,
            "" if meanings else str(value).replace("dpcore.labs.base.", "") if alias else _shown(value),
            alias or _literal(value),
            meanings,
            doc,
            file,
            line,
        )


def assigned(module: str, name: str) -> tuple[str, int, str, str]:
    """Return file, line, written type and docstring of a constant; an import is followed to where it comes from."""
    file = Path(importlib.import_module(module).__file__ or "").resolve()
    for node, after in _statements(file):
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            own = next(one.name for one in node.names if (one.asname or one.name) == name)
            return assigned(node.module or module, own)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name in _targets(node):
            written = _written(node.annotation) if isinstance(node, ast.AnnAssign) else ""
            text = after.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
            doc = inspect.cleandoc(text.value) if text is not None and isinstance(text.value, str) else ""
            return file.relative_to(PACKAGE).as_posix(), node.lineno, written, doc
    msg = f"{module}: {name} is assigned nowhere."
    raise LookupError(msg)


@cache
def _statements(file: Path) -> list[tuple[ast.stmt, ast.stmt | None]]:
    """Return the statements at the top of a file, each with the one after it; those under a condition too."""
    body: list[ast.stmt] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        body += node.body if isinstance(node, ast.If) else [node]
    return list(zip(body, [*body[1:], None], strict=True))


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _written(annotation: ast.expr) -> str:
    """Return a type as written, without the frame ``Final``; a bare one says nothing."""
    text = ast.unparse(annotation)
    return (
        ""
        if text in ("Final", "TypeAlias")
        else text.removeprefix("Final[").removesuffix("]" * text.startswith("Final["))
    )


def _meanings(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not all(isinstance(words, str) for words in value.values()):
        return ()
    return tuple((str(key), words) for key, words in value.items())


def _literal(value: Any) -> bool:
    plain = (str, int, float)
    return isinstance(value, plain) or (isinstance(value, tuple) and all(isinstance(one, plain) for one in value))


def _shown(value: Any) -> str:
    if _literal(value):
        return repr(value) if len(repr(value)) <= LONGEST else ""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value)) if value and len(value) <= LONGEST else ""
    if isinstance(value, Iterable):
        names = [one if isinstance(one, str) else getattr(one, "name", None) for one in value]
        text = "" if None in names else ", ".join(map(str, names))
        return text if len(text) <= LONGEST else ""
    return ""
