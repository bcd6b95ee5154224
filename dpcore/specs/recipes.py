"""Recipes: calls of the library that can be run, and written down as the Python lines that do the same.

A drawer describes its figure once, as nested calls; the figure and the code under it come from that one description,
so they cannot differ.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError
from dpcore.files.paths import inside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dpcore.charts.theme import Look

WIDTH = 100


@dataclass(frozen=True)
class Call:
    """A call ``module:name(*args, **options)``; `look` says that it also takes the look of a chart when it is run."""

    path: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    look: bool = False


@dataclass(frozen=True)
class Method:
    """A method of what another node makes, called; without `args` being a tuple it is an attribute."""

    target: Any
    name: str
    args: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Variable:
    """A value that the written code gives a name of its own."""

    name: str
    value: Any


@dataclass(frozen=True)
class File:
    """A file named in a spec: found in the folder of the spec, written as it was given."""

    given: str
    folder: Path

    @property
    def path(self) -> Path:
        """The file, or an error that names it."""
        found = inside(self.folder, self.given)
        if not found.is_file():
            msg = f"There is no file {self.given!r} in the folder of the spec."
            raise DomainError(msg)
        return found


def call(path: str, *args: Any, **options: Any) -> Call:
    """Return a call; options that are None are left to the function."""
    return Call(path, args, {name: value for name, value in options.items() if value is not None})


def draws(path: str, *args: Any, **options: Any) -> Call:
    """Return a call that makes a figure, hence takes a look, too."""
    return replace(call(path, *args, **options), look=True)


# ---- running -------------------------------------------------------------------------------------------------


def run(node: Any, look: Look) -> Any:
    """Return what a recipe makes."""
    return _Runner(look).value(node)


class _Runner:
    """Runs each variable once."""

    def __init__(self, look: Look) -> None:
        self.look, self.known = look, dict[str, Any]()

    def value(self, node: Any) -> Any:  # noqa: PLR0911  # one for each kind of node
        if isinstance(node, Variable):
            if node.name not in self.known:
                self.known[node.name] = self.value(node.value)
            return self.known[node.name]
        if isinstance(node, Call):
            options = {name: self.value(value) for name, value in node.options.items()}
            given = {"look": self.look} if node.look else {}
            return found(node.path)(*(self.value(arg) for arg in node.args), **options, **given)
        if isinstance(node, Method):
            target = getattr(self.value(node.target), node.name)
            return target if node.args is None else target(*(self.value(arg) for arg in node.args))
        if isinstance(node, File):
            return node.path
        if isinstance(node, dict):
            return {name: self.value(value) for name, value in node.items()}
        if isinstance(node, (list, tuple)):
            return type(node)(self.value(item) for item in node)
        return node


def found(path: str) -> Any:
    """Return the function or class that a path such as ``dpcore.charts:region_figure`` names."""
    module, _, name = path.partition(":")
    thing: Any = importlib.import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


# ---- writing -------------------------------------------------------------------------------------------------


def written(node: Any, tolerance: float | None = None) -> str:
    """Return the Python lines of a recipe; the last one sets ``figure``."""
    writer = _Writer()
    last = writer.text(node, len("figure = "))
    lines = [*writer.lines, f"figure = {last}"]
    if tolerance is not None:
        opened = f"with {writer.need('dpcore.core.effort:effort')}(tolerance={tolerance!r}):"
        lines = [opened, *(f"    {line}" for text in lines for line in text.split("\n"))]
    ours = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(writer.imports.items())]
    first = [line for line in ours if not line.startswith("from dpcore")]
    own = [line for line in ours if line.startswith("from dpcore")]
    return "\n".join([*first, *([""] if first else []), *own, "", *lines]) + "\n"


class _Writer:
    """Collects the imports and the variables that the last line needs."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []
        self.known: set[str] = set()

    def need(self, path: str) -> str:
        """Return the name of a function in the code, and note its import."""
        module, _, name = path.partition(":")
        if module != "builtins":
            self.imports.setdefault(module, set()).add(name.split(".")[0])
        return name

    def text(self, node: Any, used: int = 0, depth: int = 0) -> str:  # noqa: PLR0911  # as above
        """Return a node as code: on one line if it fits, otherwise an item per line."""
        if isinstance(node, Variable):
            if node.name not in self.known:
                self.known.add(node.name)
                self.lines.append(f"{node.name} = {self.text(node.value, len(node.name) + 3)}")
            return node.name
        if isinstance(node, Method):
            target = self.text(node.target, used, depth)
            return f"{target}.{node.name}" + (
                "" if node.args is None else self._items("(", node.args, ")", used, depth)
            )
        if isinstance(node, File):
            return f"{self.need('pathlib:Path')}({_literal(node.given)})"
        if isinstance(node, Call):
            return self.need(node.path) + self._items("(", node.args, ")", used, depth, node.options, "=")
        if isinstance(node, dict):
            return self._items("{", (), "}", used, depth, {_literal(k): v for k, v in node.items()}, ": ")
        if isinstance(node, list):
            return self._items("[", tuple(node), "]", used, depth)
        if isinstance(node, tuple):
            return self._items("(", node, ",)" if len(node) == 1 else ")", used, depth)
        return _literal(node)

    def _items(
        self,
        start: str,
        items: tuple[Any, ...],
        end: str,
        used: int,
        depth: int,
        named: Mapping[str, Any] | None = None,
        between: str = "",
    ) -> str:
        pairs = [("", item) for item in items] + [(f"{key}{between}", value) for key, value in (named or {}).items()]
        flat = [key + self.text(value, 0, depth + 1) for key, value in pairs]
        line = start + ", ".join(flat) + end
        if used + 4 * depth + len(line) <= WIDTH and "\n" not in line:
            return line
        inner = "    " * (depth + 1)
        rows = "".join(f"{inner}{key}{self.text(value, len(key), depth + 1)},\n" for key, value in pairs)
        return f"{start}\n{rows}{'    ' * depth}{end.lstrip(',')}"


def _literal(value: Any) -> str:
    """Return a plain value as Python writes it, texts in double quotes."""
    if isinstance(value, str):
        quoted = repr(value)
        return quoted if '"' in value else '"' + quoted[1:-1].replace("\\'", "'") + '"'
    return repr(value)
