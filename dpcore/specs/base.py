"""Figure specs: small tables that become figures, and the registry of what can be drawn."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, TypeVar

from dpcore.charts.theme import PLAIN
from dpcore.core.domains import COUNT, TOLERANCE
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError, InternalError
from dpcore.core.registry import value_text
from dpcore.language.numbers import read_value
from dpcore.language.problems import nearest, quoted
from dpcore.specs import recipes
from dpcore.specs.fields import ValueProblem, required
from dpcore.specs.presets import several

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.charts.figure import Figure
    from dpcore.charts.theme import Look
    from dpcore.core.parameter import Parameter

TEXTS: Final = ("name", "draw", "title", "caption", "text", "source", "place", "differs", "preset")
LOOKS: Final = (
    "axes", "corners", "fill", "labels", "legend", "lines", "log", "log_x", "log_y", "own", "places", "points", "rows",
    "selected", "x", "y",
)  # fmt: skip
COMMON: Final = (*TEXTS, "link", "height", "tolerance")
_LONGEST: Final = 80  # of a name in a message
_HEIGHT: Final = COUNT.but(name="height", low=100, high=2000)
_TOLERANCE: Final = TOLERANCE.but(high=0.1, high_open=False)
NAME: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")


class SpecError(DpcoreError):
    """A mistake in a spec; the message names file, line, figure and expression."""


@dataclass(frozen=True)
class Spec(Mapping[str, Any]):
    """One figure spec, and where it was read.

    Attributes
    ----------
    table : mapping of str to object
        Its keys and values.
    file, line : str or int
        Where it starts, for messages; empty if it was built in Python.
    text : str, default ""
        Its source, to find the line of a key.
    folder : Path, optional
        The folder that its file names are relative to.
    files : mapping of str to bytes, optional
        Files that are held in memory, by name; they come before those of the folder.
    """

    table: Mapping[str, Any]
    file: str = ""
    line: int = 0
    text: str = ""
    folder: Path = field(default_factory=Path)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key."""
        return self.table[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self.table)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.table)

    @property
    def name(self) -> str:
        """The name, for messages."""
        return str(self.table.get("name", ""))

    def line_of(self, key: str, item: str = "") -> int:
        """Return the line of a key, or of a text in its value; the first line of the spec by default."""
        lines = self.text.splitlines()
        start = next((i for i, line in enumerate(lines) if re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line)), None)
        if start is None:
            return self.line
        matches = (i for i, line in enumerate(lines[start:], start) if item and item in line)
        return self.line + next(matches, start)

    def problem(self, message: str, key: str = "", item: str = "") -> SpecError:
        """Return an error with the place of the mistake."""
        place = f"{self.file}, line {self.line_of(key, item)}" if self.file else ""
        figure = f"figure {self.name[:_LONGEST]}" if self.name else "a figure"
        head = ", ".join(filter(None, (place, figure, key[:_LONGEST])))
        return SpecError(f"{head}: {message}")

    def fail(self, message: str, key: str = "", item: str = "") -> NoReturn:
        """Raise an error with the place of the mistake."""
        raise self.problem(message, key, item)


class Drawer(ABC):
    """A kind of figure: a frozen dataclass whose fields are the keys of the spec."""

    kind: ClassVar[str]
    meaning: ClassVar[str]

    @abstractmethod
    def recipe(self) -> Any:
        """Return the calls that produce the figure."""

    def table(self) -> Any:
        """Return the calls that produce the table to take away; None if it is the figure's own."""
        return None

    def grid(self) -> Any:
        """Return the calls that produce a table of all curves at the same places; None if there is nothing to align."""
        return None

    def target(self) -> tuple[str, float] | None:
        """Return the name and value of the delta or epsilon at which the figure reads its numbers; None if there is none."""
        return None

    def options(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Return fields as options of a call, without those at their default; ``filled="fill"`` renames one."""
        fields = {one.name: one for one in _fields(type(self))}
        sources = dict(zip(names, names, strict=True)) | renamed
        values = {option: (getattr(self, name), fields[name].default) for option, name in sources.items()}
        return {option: value for option, (value, default) in values.items() if value != default}

    def about(self) -> dict[str, Any]:
        """Return the parameters of the figure by name, with defaults, without the keys that only change its look."""
        names = [one.name for one in _fields(type(self)) if "check" in one.metadata and one.name not in LOOKS]
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value not in (None, (), "", {})}


DRAWERS: Final[dict[str, type[Drawer]]] = {}
"""The classes of all kinds of figures, by name; `drawers` fills it."""
_D = TypeVar("_D", bound=type[Drawer])


def enter(cls: _D) -> _D:
    """Register a drawer under its `kind`."""
    DRAWERS[cls.kind] = cls
    return cls


@cache
def drawers() -> Mapping[str, type[Drawer]]:
    """Return all drawers by name; they are imported at the first call, because they need most of the package.

    Returns
    -------
    mapping of str to type of Drawer
        The drawers, sorted by name.
    """
    package = importlib.import_module("dpcore.specs.kinds")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(DRAWERS.items()))


def draw(spec: Mapping[str, Any], look: Look = PLAIN) -> Figure:
    """Return the figure that a spec describes.

    Parameters
    ----------
    spec : mapping of str to object
        Keys and values as in a TOML table; ``draw`` names the drawer, the other keys are its own.
    look : Look, default PLAIN
        Dark or light, and the size. The title of the spec becomes the title of the figure, not a line in the picture.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    SpecError
        If a key or a value is wrong; it names file, line, figure, key and expression.

    Examples
    --------
    >>> draw({"draw": "losses", "region": "dp(1)"}).takeaway
    'DP, ε = 1: the loss is never infinite; it is at most 1 (exact).'
    """
    source = as_spec(spec)
    drawer = drawer_of(source)
    if "height" in source:
        look = replace(look, height=_height(source))
    with effort(tolerance=tolerance_of(source)), mistakes(source):
        figure: Figure = recipes.run(drawer.recipe(), look, source.files)
    return replace(figure, title=str(source.get("title") or figure.title))


def table(spec: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return the table to take away with a figure; None if it is ``draw(spec).table``.

    Parameters
    ----------
    spec : mapping of str to object
        As in `draw`.

    Returns
    -------
    DataFrame or None
        The rows, in full.
    """
    source = as_spec(spec)
    drawer = drawer_of(source)
    recipe = drawer.table()
    if recipe is None:
        return None
    with effort(tolerance=tolerance_of(source)), mistakes(source):
        rows: pd.DataFrame = recipes.run(recipe, PLAIN, source.files)
    return rows


def intermediate(spec: Mapping[str, Any], name: str) -> Any:
    """Return a value on the way to a figure, made by the same calls.

    Parameters
    ----------
    spec : mapping of str to object
        As in `draw`.
    name : str
        A recipe of its drawer, such as ``audit``.

    Returns
    -------
    object
        The value.
    """
    source = as_spec(spec)
    recipe = getattr(drawer_of(source), name)
    with effort(tolerance=tolerance_of(source)):
        return recipes.run(recipe, PLAIN, source.files)


def expressions(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the expressions of a spec, as they are written; the work of a figure is estimated from them."""
    drawer = drawer_of(as_spec(spec))
    values = [getattr(drawer, one.name) for one in _fields(type(drawer)) if one.metadata.get("is_expression")]
    return tuple(text for value in values for text in ((value,) if isinstance(value, str) else value or ()))


@contextmanager
def mistakes(source: Spec) -> Iterator[None]:
    """Name file, line and key in the errors of the block, unless they are no mistakes in the spec."""
    try:
        yield
    except (SpecError, InternalError):
        raise
    except DpcoreError as error:
        raise source.problem(str(error), *guilty(source, str(error))) from error


def code(spec: Mapping[str, Any], *, file: str = "", **style: Any) -> str:
    """Return the Python lines that produce the same figure.

    Parameters
    ----------
    spec : mapping of str to object
        As in `draw`.
    file : str, default ""
        Name of a file for a last line that saves the figure, such as ``region.svg``.
    style : object
        Options of `dpcore.charts.save` in that line: ``paper``, ``x_range``, ``y_range``.

    Returns
    -------
    str
        Lines that set ``figure``, and ``table`` where that is not the figure's own.

    Raises
    ------
    SpecError
        As in `draw`.

    Examples
    --------
    >>> print(code({"draw": "losses", "region": "dp(1)"}), end="")
    from dpcore.charts import loss_figure
    from dpcore.language import parse
    <BLANKLINE>
    figure = loss_figure(parse("dp(1)"))
    """
    source = as_spec(spec)
    with mistakes(source):
        drawer = drawer_of(source)
        return recipes.source(drawer.recipe(), tolerance_of(source), table=drawer.table(), file=file, style=style)


def parameters(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a figure by name, as values of JSON."""
    values = drawer_of(as_spec(spec)).about()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def as_spec(spec: Mapping[str, Any]) -> Spec:
    """Return a mapping as a spec."""
    return spec if isinstance(spec, Spec) else Spec(spec)


def drawer_of(spec: Spec) -> Drawer:
    """Return the drawer of a spec with checked values; the error names what is unknown, missing or wrong."""
    kinds = drawers()
    kind = spec.get("draw")
    if not isinstance(kind, str) or kind not in kinds:
        hint = nearest(str(kind), kinds) or f"it is one of {', '.join(kinds)}."
        spec.fail(
            f"draw must name a kind of figure, got {value_text(kind)}; {hint}" if kind else f"draw is missing; {hint}",
            "draw",
        )
    check_common(spec)
    cls = kinds[kind]
    fields = {one.name: one for one in _fields(cls) if "check" in one.metadata}
    for key in spec:
        if key not in fields and key not in COMMON:
            allowed = [*fields, *COMMON]
            spec.fail(f"{quoted(key)} is not a key of {kind}; {nearest(key, allowed) or _list(allowed)}", key)
    values = {name: _value(spec, name, one) for name, one in fields.items() if name in spec or required(one)}
    try:
        return cls(**values, **({"folder": spec.folder} if hasattr(cls, "uses_files") else {}))
    except DpcoreError as error:
        raise spec.problem(str(error), *guilty(spec, str(error))) from error


def guilty(spec: Spec, message: str) -> tuple[str, str]:
    """Return the key, and the text in it, that an error of the library is about, judged by the value that it quotes."""
    own = [key for key in spec if key not in COMMON]
    for key in own:
        for leaf in _leaves(spec[key]):
            if repr(leaf) in message if isinstance(leaf, str) else message.endswith(f"got {value_text(leaf)}."):
                return key, leaf if isinstance(leaf, str) else ""
    for key in own:
        if re.match(rf"{re.escape(key)}\b", message):
            return key, ""
    return ("file", "") if "file" in own else ("", "")


def _leaves(value: Any) -> Iterator[Any]:
    """Iterate over the texts and numbers of a value, and the names in its tables."""
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
            spec.fail(f"expected a text, got {value_text(spec[key])}.", key)
    if "name" in spec and not NAME.fullmatch(spec["name"]):
        spec.fail(f"a name has lower-case letters, digits, - and _, got {value_text(spec['name'])}.", "name")
    link = spec.get("link", {"page": "Home"})
    if not isinstance(link, Mapping) or not isinstance(link.get("page"), str) or set(link) - {"page", "state"}:
        spec.fail(
            f'expected a table such as {{ page = "Privacy_regions", state = {{}} }}, got {value_text(link)}.', "link"
        )
    state = link.get("state", {})
    for value in [*state.values()] if isinstance(state, Mapping) else [state]:
        if not all(isinstance(one, (str, int)) or (isinstance(one, float) and isfinite(one)) for one in several(value)):
            spec.fail(f"state is a table of texts, numbers, true or false, got {value_text(value)}.", "link")
    if "link" in spec and "preset" in spec:
        spec.fail("link and preset say the same in two ways; give one of them.", "link")
    _height(spec)
    tolerance_of(spec)


def _height(spec: Spec) -> int:
    height = spec.get("height", 0)
    return 0 if type(height) is int and height == 0 else int(_checked(spec, _HEIGHT, height))


def tolerance_of(spec: Spec) -> float | None:
    """Return the tolerance of a spec; None if it has none."""
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
