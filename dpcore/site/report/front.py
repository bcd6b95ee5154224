"""The top of a report: title, authors, date, parameters, named values and conditions, as TOML between two lines ``+++``."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.registry import value_text
from dpcore.language.numbers import number
from dpcore.language.problems import nearest, quoted
from dpcore.site.config import APP, LANGUAGE, app_address
from dpcore.specs import SpecError
from dpcore.specs.reading import load, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FENCE: Final = "+++"
TEXTS: Final = ("title", "summary", "date", "language", "logo", "bibliography", "app")
FLAGS: Final = ("live", "contents", "numbers", "compact")
KEYS: Final = (*TEXTS, *FLAGS, "authors", "set", "values", "require")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
TODAY, NEWEST = "today", "newest"


@dataclass(frozen=True)
class Author:
    """An author of the report."""

    name: str
    affiliation: str = ""
    email: str = ""


@dataclass(frozen=True)
class Front:
    """What the top of a report says.

    Attributes
    ----------
    title, summary, date, language, logo, bibliography, app : str
        As written; the date may also be ``today`` or ``newest``.
    live, contents, numbers, compact : bool
        Whether charts move, whether a list of contents is wanted, whether the list of numbers is shown, and whether a PDF is
        set in small type to fit on a page.
    authors : tuple of Author
        The authors.
    parameters : mapping of str to float or str
        The values of ``[set]``, after those of the command line.
    values : mapping of str to (str, int)
        Expressions of ``[values]`` by name, with their lines.
    require : tuple of (str, int)
        Conditions, with their lines.
    above : int
        Lines of the file before its text.
    lines : mapping of str to int
        The lines of its keys, for messages.
    """

    title: str = ""
    summary: str = ""
    date: str = ""
    language: str = "en"
    logo: str = ""
    bibliography: str = ""
    app: str = APP
    live: bool = False
    contents: bool = True
    numbers: bool = True
    compact: bool = False
    authors: tuple[Author, ...] = ()
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    require: tuple[tuple[str, int], ...] = ()
    above: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)


def split(text: str, file: str) -> tuple[str, str, int]:
    """Return the TOML at the top of a text, the text after it, and the number of lines before that."""
    lines = text.split("\n")
    if not lines or lines[0].strip() != FENCE:
        return "", text, 0
    for place, line in enumerate(lines[1:], 1):
        if line.strip() == FENCE:
            return "\n".join(lines[1:place]), "\n".join(lines[place + 1 :]), place + 1
    msg = f"{file}, line 1: the top of a report ends with a second line {FENCE}."
    raise SpecError(msg)


def read_front(toml: str, file: str, settings: Mapping[str, str], *, above: int = 0, first: int = 1) -> Front:
    """Read the top of a report.

    Parameters
    ----------
    toml : str
        The text between the two lines.
    file : str
        For messages.
    settings : mapping of str to str
        Parameters of the command line.
    above : int, default 0
        Lines of the file before its text.
    first : int, default 1
        Lines of the file before `toml`.

    Returns
    -------
    Front
        Checked; a mistake names file, line and what is allowed.
    """
    padded = "\n" * first + toml
    return front_of(load(padded, file) if toml.strip() else {}, padded, file, settings, above=above)


def front_of(
    table: Mapping[str, Any],
    source: str,
    file: str,
    settings: Mapping[str, str],
    *,
    above: int = 0,
    more: tuple[str, ...] = (),
) -> Front:
    """Return the top of a report from its table; `more` are keys that others read."""

    def fail(key: str, message: str) -> None:
        msg = f"{place_of(source, file, key)}: {message}"
        raise SpecError(msg)

    for key in table:
        if key not in KEYS and key not in more:
            every = (*KEYS, *more)
            fail(
                key,
                f"{quoted(key)} is not a key of a report; {nearest(key, every) or 'it takes ' + ', '.join(every) + '.'}",
            )
    facts: dict[str, Any] = {}
    for key in TEXTS:
        value = table.get(key)
        if key == "date" and isinstance(value, (dt.date, dt.datetime)):
            value = value.isoformat()
        if value is not None and (not isinstance(value, str) or not value.strip()):
            fail(key, f"{key} must be a text, got {value_text(value)}.")
        if value is not None:
            facts[key] = value.strip()
    facts |= {key: table[key] for key in FLAGS if key in table}
    for key in FLAGS:
        if not isinstance(facts.get(key, False), bool):
            fail(key, f"{key} must be true or false, got {value_text(table[key])}.")
    if "app" in facts:
        facts["app"] = app_address(facts["app"], place_of(source, file, "app"))
    if "language" in facts and not LANGUAGE.fullmatch(facts["language"]):
        fail(
            "language", f"language must be a language tag such as en, de or pt-BR, got {value_text(facts['language'])}."
        )
    date = facts.get("date", TODAY)
    if date not in (TODAY, NEWEST) and not any(sign.isdigit() for sign in date):
        fail("date", f"date is a day, {TODAY!r} or {NEWEST!r}, got {value_text(facts['date'])}.")
    facts["authors"] = _authors(table.get("authors", ()), place_of(source, file, "authors"))
    facts["parameters"] = _parameters(table.get("set", {}), settings, source, file)
    facts["values"] = _expressions(table.get("values", {}), source, file)
    require = table.get("require", [])
    require = [require] if isinstance(require, str) else require
    if not isinstance(require, list) or not all(isinstance(one, str) and one.strip() for one in require):
        fail("require", f"require must be a condition or a list of conditions, got {value_text(require)}.")
    facts["require"] = tuple((one, _line_of(source, one)) for one in require)
    lines = {key: _line_in(place_of(source, file, key), file) for key in table}
    return Front(**facts, above=above, lines=lines)


def _line_in(place: str, file: str) -> int:
    return int(place.rpartition(" ")[2]) if place != file else 1


def _line_of(source: str, text: str) -> int:
    place = source.find(text)
    return source.count("\n", 0, place) + 1 if place >= 0 else 1


def _authors(rows: Any, place: str) -> tuple[Author, ...]:
    rows = [rows] if isinstance(rows, (str, dict)) else rows
    authors = []
    for row in rows:
        facts = {"name": row} if isinstance(row, str) else row
        known = isinstance(facts, dict) and set(facts) <= {"name", "affiliation", "email"}
        if (
            not known
            or not all(isinstance(value, str) for value in facts.values())
            or not facts.get("name", "").strip()
        ):
            msg = f'{place}: authors are names, or tables such as {{ name = "A. Author", affiliation = "Office" }}, got {value_text(row)}.'
            raise SpecError(msg)
        authors.append(Author(**facts))
    return tuple(authors)


def _parameters(table: Any, settings: Mapping[str, str], source: str, file: str) -> dict[str, float | str]:
    place = place_of(source, file, "set")
    if not isinstance(table, dict):
        msg = f"{place}: set is a table [set] of numbers and texts, got {value_text(table)}."
        raise SpecError(msg)
    values: dict[str, float | str] = {}
    for name, value in table.items():
        own = place_of(source, file, name)
        if not _NAME.fullmatch(name) or isinstance(value, bool) or not isinstance(value, (int, float, str)):
            msg = f"{own}: a parameter has a name of letters, digits and _, and a number or a text, got {name} = {value_text(value)}."
            raise SpecError(msg)
        values[name] = value
    for name, text in settings.items():
        if name not in values:
            hint = nearest(name, values) or (f"it has {', '.join(values)}." if values else "it has no [set].")
            msg = f"{file}: the report has no parameter {quoted(name)}; {hint}"
            raise SpecError(msg)
        if isinstance(values[name], str):
            values[name] = text
            continue
        typed = number(text)
        if typed is None:
            msg = f"{file}: the parameter {name} is a number, got {value_text(text)}."
            raise SpecError(msg)
        values[name] = typed
    return values


def _expressions(table: Any, source: str, file: str) -> dict[str, tuple[str, int]]:
    if not isinstance(table, dict):
        msg = f"{place_of(source, file, 'values')}: values is a table [values] of expressions, got {value_text(table)}."
        raise SpecError(msg)
    values = {}
    for name, text in table.items():
        place = place_of(source, file, name)
        if not _NAME.fullmatch(name) or not isinstance(text, str) or not text.strip():
            msg = f"{place}: a value is a name and an expression in quotes, got {name} = {value_text(text)}."
            raise SpecError(msg)
        values[name] = (text, _line_in(place, file))
    return values
