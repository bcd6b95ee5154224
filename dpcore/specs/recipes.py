"""Recipes: calls of the library that can be run, or written as the Python lines that do the same.

A drawer describes its figure once, as nested calls. The figure and the code under it both come from that description,
so they cannot differ.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from dpcore.core.numerals import numeral
from dpcore.core.results import result
from dpcore.files.paths import existing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dpcore.charts.theme import Look

WIDTH = 100  # of the lines of code


@dataclass(frozen=True)
class Call:
    """A call ``module:name(*args, **options)``; with `look` it also gets the look of the chart when it is run."""

    path: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    look: bool = False


@dataclass(frozen=True)
class Method:
    """A method call on the value of another node; an attribute if `args` is None."""

    target: Any
    name: str
    args: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Variable:
    """A value with a name of its own in the code."""

    name: str
    value: Any


@dataclass(frozen=True)
class File:
    """A file named in a spec, written in the code as it was typed: its bytes if it is in memory, its path otherwise."""

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        """The path of the file, which must exist."""
        return existing(self.folder, self.name)


def call(path: str, *args: Any, **options: Any) -> Call:
    """Return a call; options that are None are left out."""
    return Call(path, args, {name: value for name, value in options.items() if value is not None})


def draws(path: str, *args: Any, **options: Any) -> Call:
    """Return a call that produces a figure and therefore takes a look."""
    return replace(call(path, *args, **options), look=True)


# ---- running -------------------------------------------------------------------------------------------------


def run(node: Any, look: Look, files: Mapping[str, bytes] | None = None) -> Any:
    """Return the value of a recipe; `files` are those held in memory, by name."""
    return _Runner(look, files or {}).value(node)


class _Runner:
    """Evaluates nodes; each variable once."""

    def __init__(self, look: Look, files: Mapping[str, bytes]) -> None:
        self.look, self.files, self.variables = look, files, dict[str, Any]()

    def value(self, node: Any) -> Any:  # noqa: PLR0911  # one for each kind of node
        if isinstance(node, Variable):
            if node.name not in self.variables:
                self.variables[node.name] = self.value(node.value)
            return self.variables[node.name]
        if isinstance(node, Call):
            function, args = resolve(node.path), [self.value(arg) for arg in node.args]
            options = {name: self.value(value) for name, value in node.options.items()}
            if node.look:
                return function(*args, **options, look=self.look)
            return result(function, *args, **options)
        if isinstance(node, Method):
            target = getattr(self.value(node.target), node.name)
            return target if node.args is None else target(*(self.value(arg) for arg in node.args))
        if isinstance(node, File):
            content = self.files.get(node.name)
            return node.path if content is None else content
        if isinstance(node, dict):
            return {name: self.value(value) for name, value in node.items()}
        if isinstance(node, (list, tuple)):
            return type(node)(self.value(item) for item in node)
        return node


def resolve(path: str) -> Any:
    """Return the function or class of a path such as ``dpcore.charts:region_figure``."""
    module, _, name = path.partition(":")
    thing: Any = importlib.import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


# ---- writing -------------------------------------------------------------------------------------------------


def source(
    node: Any,
    tolerance: float | None = None,
    *,
    table: Any = None,
    file: str = "",
    name: str = "figure",
    style: Mapping[str, Any] | None = None,
) -> str:
    """Return the Python lines of a recipe: they set `name`, ``table`` if there is a recipe for it, and save a file."""
    writer = _Writer()
    last = writer.text(node, len(f"{name} = "))
    lines = [*writer.lines, f"{name} = {last}"]
    if table is not None:
        done = len(writer.lines)
        rows = writer.text(table, len("table = "))
        lines += [*writer.lines[done:], f"table = {rows}"]
    if file:
        writer.variables.add(name)
        options = {option: _as_node(value) for option, value in (style or {}).items()}
        lines.append(writer.text(call("dpcore.charts:save", Variable(name, None), file, **options)))
    if tolerance is not None:
        header = f"with {writer.need('dpcore.core.effort:effort')}(tolerance={_literal(tolerance)}):"
        lines = [header, *(f"    {line}" for text in lines for line in text.split("\n"))]
    imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(writer.imports.items())]
    standard = [line for line in imports if not line.startswith("from dpcore")]
    own = [line for line in imports if line.startswith("from dpcore")]
    return "\n".join([*standard, *([""] if standard else []), *own, "", *lines]) + "\n"


def _as_node(value: Any) -> Any:
    """Return a value for code: a dataclass as the call that makes it, and 85.0 as 85."""
    if is_dataclass(value) and not isinstance(value, type):
        options = {one.name: _as_node(getattr(value, one.name)) for one in fields(value)}
        return call(f"dpcore.charts:{type(value).__name__}", **options)
    if isinstance(value, tuple):
        return tuple(map(_as_node, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Writer:
    """Collects the imports and variables that the last line needs."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []
        self.variables: set[str] = set()

    def need(self, path: str) -> str:
        """Return the name of a function in the code, and record its import."""
        module, _, name = path.partition(":")
        if module != "builtins":
            self.imports.setdefault(module, set()).add(name.split(".")[0])
        return name

    def text(self, node: Any, column: int = 0, depth: int = 0) -> str:  # noqa: PLR0911  # as above
        """Return a node as code: on one line if it fits after `column` characters, otherwise one item per line."""
        if isinstance(node, Variable):
            if node.name not in self.variables:
                self.variables.add(node.name)
                self.lines.append(f"{node.name} = {self.text(node.value, len(node.name) + 3)}")
            return node.name
        if isinstance(node, Method):
            target = self.text(node.target, column, depth)
            return f"{target}.{node.name}" + (
                "" if node.args is None else self._items("(", node.args, ")", column, depth)
            )
        if isinstance(node, File):
            return f"{self.need('pathlib:Path')}({_literal(node.name)})"
        if isinstance(node, Call):
            return self.need(node.path) + self._items("(", node.args, ")", column, depth, node.options, "=")
        if isinstance(node, dict):
            return self._items("{", (), "}", column, depth, {_literal(k): v for k, v in node.items()}, ": ")
        if isinstance(node, list):
            return self._items("[", tuple(node), "]", column, depth)
        if isinstance(node, tuple):
            return self._items("(", node, ",)" if len(node) == 1 else ")", column, depth)
        if isinstance(node, str) and depth and node.count("\n") > 1:  # inside brackets its lines may follow each other
            return f"\n{'    ' * depth}".join(map(_literal, node.splitlines(keepends=True)))
        return _literal(node)

    def _items(
        self,
        start: str,
        items: tuple[Any, ...],
        end: str,
        column: int,
        depth: int,
        named: Mapping[str, Any] | None = None,
        between: str = "",
    ) -> str:
        pairs = [("", item) for item in items] + [(f"{key}{between}", value) for key, value in (named or {}).items()]
        flat = [key + self.text(value, 0, depth + 1) for key, value in pairs]
        line = start + ", ".join(flat) + end
        if column + 4 * depth + len(line) <= WIDTH and "\n" not in line:
            return line
        inner = "    " * (depth + 1)
        rows = "".join(f"{inner}{key}{self.text(value, len(key), depth + 1)},\n" for key, value in pairs)
        return f"{start}\n{rows}{'    ' * depth}{end.lstrip(',')}"


def _literal(value: Any) -> str:
    """Return a plain value as Python reads it: texts in double quotes, a whole float as 2.0, otherwise the short form."""
    if isinstance(value, str):
        quoted = repr(value)
        return quoted if '"' in value else '"' + quoted[1:-1].replace("\\'", "'") + '"'
    return numeral(value) if isinstance(value, float) and not value.is_integer() else repr(value)
