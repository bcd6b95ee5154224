"""Where a thing is defined: file and line, with a link if the site knows a public address of the code."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from dpcore.site.compose import Composer

PACKAGE: Final = Path(__file__).resolve().parents[3]


def place_of(thing: Any) -> tuple[str, int]:
    """Return the file of a function or class, relative to the folder of the package, and its first line."""
    thing = inspect.unwrap(thing) if inspect.isroutine(thing) else thing
    thing = thing.__func__ if inspect.ismethod(thing) else thing
    file = Path(inspect.getsourcefile(thing) or "").resolve()
    return file.relative_to(PACKAGE).as_posix(), inspect.getsourcelines(thing)[1]


def words(composer: Composer, file: str, line: int) -> Markup:
    """Return a place as HTML, with a link if the spec of the site names the address of the code."""
    text = Markup("<code>{}</code>, line {}").format(file, line)
    code = composer.site.config.code
    return Markup('<a href="{}">{}</a>').format(f"{code}/{escape(file)}#L{line}", text) if code else text


def source_words(composer: Composer, thing: Any) -> Markup:
    """Return where a thing is defined, as HTML."""
    return words(composer, *place_of(thing))


def source_of_module(composer: Composer, name: str) -> Markup:
    """Return where a module is, as HTML."""
    file = Path(importlib.import_module(name).__file__ or "").resolve()
    return words(composer, file.relative_to(PACKAGE).as_posix(), 1)
