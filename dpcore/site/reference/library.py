"""The pages of the library, one per room: signatures and descriptions read by griffe from the source, examples that run."""

from __future__ import annotations

import importlib
import inspect
import json
import logging
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.site.docstrings import as_markdown, first_line, signature
from dpcore.site.pages import EXAMPLE, Job, Page
from dpcore.site.places import SitePlace
from dpcore.site.reference.constants import Constant, constants_of
from dpcore.site.reference.examples import read_examples
from dpcore.site.reference.origin import PACKAGE, words
from dpcore.site.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpcore.site.compose import Composer

ROOMS: Final = (
    "dpcore",
    "dpcore.frames",
    "dpcore.risk",
    "dpcore.words",
    "dpcore.theorems.composition",
    "dpcore.theorems",
    "dpcore.calibration",
    "dpcore.theorems.conversion",
    "dpcore.constraints",
    "dpcore.training",
    "dpcore.utility",
    "dpcore.local",
    "dpcore.ledger",
    "dpcore.planner",
    "dpcore.planner.disclosure",
    "dpcore.planner.interval",
    "dpcore.planner.label",
    "dpcore.planner.sensitivity",
    "dpcore.planner.series",
    "dpcore.sweeps",
    "dpcore.deployments",
    "dpcore.audit",
    "dpcore.theorems.conversion.claims",
    "dpcore.labs",
    "dpcore.labs.errata",
    "dpcore.audit.threshold",
    "dpcore.core.effort",
    "dpcore.language",
    "dpcore.language.lists",
    "dpcore.central_limit",
    "dpcore.mechanisms.exact_sampling",
    "dpcore.certificates",
    "dpcore.charts",
    "dpcore.specs",
    "dpcore.values",
    "dpcore.site",
)
NEEDS: Final = {"dpcore.certificates": "flint"}  # rooms that need a third-party library to be read
WIDEST: Final = 100  # characters of a signature on one line


@dataclass(frozen=True)
class Thing:
    """A function or class of a room.

    Attributes
    ----------
    name, room : str
        Its name, and the module that it is public in.
    doc : str
        Its docstring.
    error : bool
        Whether it is an exception.
    """

    name: str
    room: str
    doc: str
    error: bool


def library_pages(section: str) -> list[Page]:
    """Return a page for each room; one that needs a library is left out where that is not installed."""
    return [_page(section, room) for room in rooms()]


def rooms() -> list[str]:
    """Return the rooms that can be read here."""
    return [room for room in ROOMS if room not in NEEDS or find_spec(NEEDS[room]) is not None]


def _page(section: str, room: str) -> Page:
    module = importlib.import_module(room)
    things = sorted(things_of(module), key=lambda thing: thing.error)  # errors last
    constants = list(constants_of(module))
    path = f"{section}/{room.replace('.', '_')}.html"
    codes = read_examples(room)

    def make(composer: Composer) -> str:
        rest = as_markdown(module.__doc__ or "").split("\n\n", 1)[1:]
        parts: list[str] = [composer.md("\n\n".join(rest))] if rest else []
        for thing in things:
            parts.append(composer.heading(f"`{thing.name}`", name=thing.name))
            parts.append(_thing(composer, thing, module))
        for constant in constants:
            parts.append(composer.heading(f"`{constant.name}`", name=constant.name))
            parts.append(_constant(composer, constant))
        return "".join(parts)

    ids = Writer(room)  # a class and a function may have the same id apart from a number
    names = [*(thing.name for thing in things), *(constant.name for constant in constants)]
    anchors = [(name, ids.identifier(name)) for name in names]
    places = [SitePlace("function", f"{room}.{name}", path, anchor, f"`{room}.{name}`") for name, anchor in anchors]
    return Page(
        path,
        section,
        room,
        first_line(module.__doc__),
        repr((things, constants, codes)),
        (Job(EXAMPLE, job_name(room), row=room, content=json.dumps(codes)),) if codes else (),
        make,
        "The library",
        (SitePlace("function", room, path, "", f"`{room}`"), *places),
    )


def job_name(room: str) -> str:
    """Return the name of the file with the outputs of a room's examples."""
    return f"examples-{room.replace('.', '-')}"


def things_of(module: Any) -> Iterator[Thing]:
    """Iterate over the public functions and classes of a module: those in ``__all__``, or those it defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        own = [(n, v) for n, v in vars(module).items() if not n.startswith("_")]
        names = [n for n, v in own if getattr(v, "__module__", "") == module.__name__ and callable(v)]
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            error = inspect.isclass(value) and issubclass(value, BaseException)
            yield Thing(name, module.__name__, inspect.getdoc(value) or "", error)


def _thing(composer: Composer, thing: Thing, module: Any) -> str:
    value = getattr(module, thing.name)
    source = described(value)
    outputs = composer.site.evidence.get(job_name(thing.room), {"results": {}})["results"]
    code = read_examples(thing.room).get(thing.name, "")
    return str(
        composer.html(
            "thing.html",
            thing=thing,
            kind="Error" if thing.error else "Class" if inspect.isclass(value) else "Function",
            signature="" if thing.error else _signature(thing.name, value, source),
            members=[] if thing.error else _members(value, source),
            example={"code": code, "output": outputs.get(thing.name, "")} if code else None,
            guide=composer.place("section", thing.name) or composer.place("name", thing.name),
            source=words(composer, *_line(value, source)) if source is not None else "",
        )
    )


def _constant(composer: Composer, constant: Constant) -> str:
    source = words(composer, constant.file, constant.line)
    return str(composer.html("constant.html", constant=constant, source=source))


# ---- what griffe reads -----------------------------------------------------------------------------------------


@cache
def _module(file: str) -> Any:
    """Return a file of the package as griffe reads it: nothing is run."""
    try:
        import griffe  # noqa: PLC0415  # an extra, needed for the reference only
    except ImportError as error:
        msg = 'The reference of a site needs griffe; install it with: pip install "dpcore[docs]".'
        raise DpcoreError(msg) from error
    logging.getLogger("griffe").setLevel(logging.CRITICAL)
    path = Path(file)
    name = path.resolve().relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    return griffe.visit(name, filepath=path, code=path.read_text(encoding="utf-8"))


def described(value: Any) -> Any:
    """Return a function or class as it is written in its source; None if it was made while the package was loaded."""
    plain = inspect.unwrap(value) if inspect.isroutine(value) else value
    try:
        file = inspect.getsourcefile(plain)
    except TypeError:
        return None
    if not file or not Path(file).resolve().is_relative_to(PACKAGE / "dpcore"):  # an environment may lie beside it
        return None
    return _module(file).members.get(getattr(plain, "__name__", ""))


def _line(value: Any, source: Any) -> tuple[str, int]:
    file = Path(inspect.getsourcefile(inspect.unwrap(value) if inspect.isroutine(value) else value) or "").resolve()
    return file.relative_to(PACKAGE).as_posix(), source.lineno or 1


def _signature(name: str, value: Any, source: Any) -> str:
    """Return a signature with its types as written in the source, on one line if it is short."""
    if source is None or not source.is_function:
        return signature(name, value)
    parameters = [one for one in source.parameters if one.name not in ("self", "cls")]
    parts: list[str] = []
    keyword = False
    for one in parameters:
        kind = one.kind.name if one.kind is not None else ""
        if kind == "keyword_only" and not keyword:
            parts.append("*")
        keyword = keyword or kind in ("keyword_only", "var_positional")
        star = "*" if kind == "var_positional" else "**" if kind == "var_keyword" else ""
        typed = f": {one.annotation}" if one.annotation is not None else ""
        default = f" = {one.default}" if one.default is not None and not star else ""
        parts.append(f"{star}{one.name}{typed}{default}")
    back = f" -> {source.returns}" if source.returns is not None else ""
    line = f"{name}({', '.join(parts)}){back}"
    return line if len(line) <= WIDEST else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){back}"


def _members(value: Any, source: Any) -> list[tuple[str, str]]:
    """Return the public methods and properties of a class with their signatures and first sentences."""
    if source is None or not source.is_class:
        return []
    rows = []
    for name, member in source.members.items():
        if name.startswith("_") or not hasattr(value, name):
            continue
        doc = first_line(member.docstring.value if member.docstring else "")
        if member.is_function:
            rows.append((_signature(name, getattr(value, name), member), doc))
        elif doc and "property" in member.labels:
            rows.append((name, doc))
    return rows
