"""Figure specs: small tables that become figures, and the registry of what can be drawn."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, TypeVar

from dpcore.charts.theme import PLAIN
from dpcore.core.domains import COUNT, TOLERANCE
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError, InternalError
from dpcore.core.registry import shown
from dpcore.language.numbers import read_value
from dpcore.language.problems import nearest, quoted
from dpcore.specs import recipes
from dpcore.specs.fields import ValueProblem, required
from dpcore.specs.presets import several

if TYPE_CHECKING:
    from dpcore.charts.figure import Figure
    from dpcore.charts.theme import Look
    from dpcore.core.parameter import Parameter

TEXTS: Final = ("name", "draw", "title", "caption", "text", "source", "place", "differs", "preset")
LOOKS: Final = (
    "axes", "corners", "fill", "labels", "legend", "lines", "log", "log_x", "log_y", "own", "points", "selected", "x", "y",
)  # fmt: skip
COMMON: Final = (*TEXTS, "link", "height", "tolerance")
_LONGEST: Final = 80  # of a name in a message
_HEIGHT: Final = COUNT.but(name="height", low=100, high=2000)
_TOLERANCE: Final = TOLERANCE.but(high=0.1, high_open=False)
NAME: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")


class SpecError(DpcoreError):
    """A spec is wrong; the text names file, line, figure and expression."""


@dataclass(frozen=True)
class Spec(Mapping[str, Any]):
    """One figure spec with the place it was read from.

    Attributes
    ----------
    table : its keys and values.
    file, line : where it starts, for messages; empty if it was made in Python.
    text : its own lines, to find the line of a key.
    folder : what file names in it are relative to.
    """

    table: Mapping[str, Any]
    file: str = ""
    line: int = 0
    text: str = ""
    folder: Path = field(default_factory=Path)

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key."""
        return self.table[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys."""
        return iter(self.table)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.table)

    @property
    def name(self) -> str:
        """The name, for messages."""
        return str(self.table.get("name", ""))

    def line_of(self, key: str, item: str = "") -> int:
        """Return the line of a key, or of a text in its value; the first line of the spec if it is not found."""
        lines = self.text.splitlines()
        start = next((i for i, line in enumerate(lines) if re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line)), None)
        if start is None:
            return self.line
        held = (i for i, line in enumerate(lines[start:], start) if item and item in line)
        return self.line + next(held, start)

    def problem(self, message: str, key: str = "", item: str = "") -> SpecError:
        """Return an error that says where it is."""
        place = f"{self.file}, line {self.line_of(key, item)}" if self.file else ""
        figure = f"figure {self.name[:_LONGEST]}" if self.name else "a figure"
        head = ", ".join(filter(None, (place, figure, key[:_LONGEST])))
        return SpecError(f"{head}: {message}")

    def fail(self, message: str, key: str = "", item: str = "") -> NoReturn:
        """Raise an error that says where it is."""
        raise self.problem(message, key, item)


class Drawer(ABC):
    """One way to draw: a frozen dataclass whose fields are the keys of the spec."""

    kind: ClassVar[str]
    meaning: ClassVar[str]

    @abstractmethod
    def recipe(self) -> Any:
        """Return the calls that make the figure."""

    def options(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Return fields as options of a call, those at their default left out; ``filled="fill"`` gives another name."""
        fields = {one.name: one for one in _fields(type(self))}
        wanted = dict(zip(names, names, strict=True)) | renamed
        held = {option: (getattr(self, name), fields[name].default) for option, name in wanted.items()}
        return {option: value for option, (value, default) in held.items() if value != default}

    def about(self) -> dict[str, Any]:
        """Return what the figure is about by name, defaults included; keys that change its look only are left out."""
        names = [one.name for one in _fields(type(self)) if "check" in one.metadata and one.name not in LOOKS]
        held = {name: getattr(self, name) for name in names}
        return {name: value for name, value in held.items() if value not in (None, (), "", {})}


DRAWERS: Final[dict[str, type[Drawer]]] = {}
_D = TypeVar("_D", bound=type[Drawer])


def enter(cls: _D) -> _D:
    """Make a drawer known under its `kind`."""
    DRAWERS[cls.kind] = cls
    return cls


@cache
def drawers() -> Mapping[str, type[Drawer]]:
    """Return every drawer by name; they are imported at the first call, for they need most of the package."""
    package = importlib.import_module("dpcore.specs.kinds")
    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(DRAWERS.items()))


def draw(spec: Mapping[str, Any], look: Look = PLAIN) -> Figure:
    """Return the figure that a spec describes.

    Parameters
    ----------
    spec : keys and values as in a TOML table; ``draw`` names the drawer, the other keys are its own.
    look : dark or light, and the size. The title of the spec becomes that of the figure, not a line in the picture.

    Raises
    ------
    SpecError
        If a key or a value is wrong: names file, line, figure, key and expression.
    """
    given = as_spec(spec)
    drawer = drawer_of(given)
    if "height" in given:
        look = replace(look, height=_height(given))
    try:
        with effort(tolerance=_tolerance(given)):
            made: Figure = recipes.run(drawer.recipe(), look)
    except (SpecError, InternalError):  # an error of ours is not one of the spec
        raise
    except DpcoreError as error:
        raise given.problem(str(error), *guilty(given, str(error))) from error
    return replace(made, title=str(given.get("title") or made.title))


def code(spec: Mapping[str, Any]) -> str:
    """Return the Python lines that make the same figure."""
    given = as_spec(spec)
    try:
        return recipes.written(drawer_of(given).recipe(), _tolerance(given))
    except (SpecError, InternalError):  # an error of ours is not one of the spec
        raise
    except DpcoreError as error:
        raise given.problem(str(error), *guilty(given, str(error))) from error


def parameters(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a figure by name, as JSON can hold them."""
    found = drawer_of(as_spec(spec)).about()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def as_spec(spec: Mapping[str, Any]) -> Spec:
    """Return a mapping as a spec."""
    return spec if isinstance(spec, Spec) else Spec(spec)


def drawer_of(spec: Spec) -> Drawer:
    """Return the drawer of a spec with its values checked; what is unknown, missing or wrong is named."""
    known = drawers()
    kind = spec.get("draw")
    if not isinstance(kind, str) or kind not in known:
        hint = nearest(str(kind), known) or f"it is one of {', '.join(known)}."
        spec.fail(f"draw says what is drawn, got {shown(kind)}; {hint}" if kind else f"draw is missing; {hint}", "draw")
    check_common(spec)
    cls = known[kind]
    fields = {one.name: one for one in _fields(cls) if "check" in one.metadata}
    for key in spec:
        if key not in fields and key not in COMMON:
            allowed = [*fields, *COMMON]
            spec.fail(f"{quoted(key)} is no key of {kind}; {nearest(key, allowed) or _list(allowed)}", key)
    values = {name: _value(spec, name, one) for name, one in fields.items() if name in spec or required(one)}
    try:
        return cls(**values, **({"folder": spec.folder} if hasattr(cls, "uses_files") else {}))
    except DpcoreError as error:
        raise spec.problem(str(error), *guilty(spec, str(error))) from error


def guilty(spec: Spec, message: str) -> tuple[str, str]:
    """Return the key, and the text in it, that a message of the library is about: it quotes the text, or says what it got."""
    own = [key for key in spec if key not in COMMON]
    for key in own:
        for leaf in _leaves(spec[key]):
            if repr(leaf) in message if isinstance(leaf, str) else message.endswith(f"got {shown(leaf)}."):
                return key, leaf if isinstance(leaf, str) else ""
    for key in own:
        if re.match(rf"{re.escape(key)}\b", message):
            return key, ""
    return ("file", "") if "file" in own else ("", "")


def _leaves(value: Any) -> Iterator[Any]:
    """Go through the texts and numbers of a value, and the names in its tables."""
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for item in value:
        yield from _leaves(item)


def check_common(spec: Spec) -> None:
    """Check the keys that every figure has."""
    for key in TEXTS:
        if key in spec and (not isinstance(spec[key], str) or not spec[key].strip()):
            spec.fail(f"a text is wanted, got {shown(spec[key])}.", key)
    if "name" in spec and not NAME.fullmatch(spec["name"]):
        spec.fail(f"a name has lower-case letters, digits, - and _, got {shown(spec['name'])}.", "name")
    link = spec.get("link", {"page": "Home"})
    if not isinstance(link, Mapping) or not isinstance(link.get("page"), str) or set(link) - {"page", "state"}:
        spec.fail(f'a table such as {{ page = "Privacy_regions", state = {{}} }} is wanted, got {shown(link)}.', "link")
    state = link.get("state", {})
    for value in [*state.values()] if isinstance(state, Mapping) else [state]:
        if not all(isinstance(one, (str, int)) or (isinstance(one, float) and isfinite(one)) for one in several(value)):
            spec.fail(f"state is a table of texts, numbers, true or false, got {shown(value)}.", "link")
    if "link" in spec and "preset" in spec:
        spec.fail("link and preset are two ways to say the same; give one.", "link")
    _height(spec)
    _tolerance(spec)


def _height(spec: Spec) -> int:
    height = spec.get("height", 0)
    return 0 if type(height) is int and height == 0 else int(_checked(spec, _HEIGHT, height))


def _tolerance(spec: Spec) -> float | None:
    value = spec.get("tolerance")
    return None if value is None else float(_checked(spec, _TOLERANCE, value))


def _checked(spec: Spec, parameter: Parameter, value: Any) -> Any:
    try:
        return read_value(parameter, value)
    except DpcoreError as error:
        raise spec.problem(str(error), parameter.name) from error


def _value(spec: Spec, name: str, one: Any) -> Any:
    if name not in spec:
        spec.fail(f"{name} is missing: {one.metadata['words']}.")
    try:
        return one.metadata["check"](spec[name])
    except ValueProblem as error:
        raise spec.problem(str(error), name, error.item) from error
    except DpcoreError as error:
        raise spec.problem(str(error), name) from error


def _fields(cls: type[Drawer]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls)  # type: ignore[arg-type]  # every drawer is a dataclass


def _list(names: list[str]) -> str:
    return f"it takes {', '.join(names)}."
