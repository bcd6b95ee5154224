"""The spec of a site: its title, the address of the app, and its sections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.registry import value_text
from dpcore.files.data import default_site
from dpcore.files.paths import inside, link
from dpcore.language.problems import nearest, quoted
from dpcore.site.images import image_of
from dpcore.specs import SpecError, load
from dpcore.specs.base import NAME
from dpcore.specs.reading import lines_above, place_of, source_text

if TYPE_CHECKING:
    from pathlib import Path

APP: Final = "http://localhost:8501"
KINDS: Final = ("texts", "gallery", "errata", "sources", "reference", "changes")
WEB: Final = ("http", "https")
LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
"""A language tag such as en, de or pt-BR."""

_KEYS: Final = (
    "title", "brand", "logo", "language", "footer", "lead", "app", "address", "code", "text", "question", "section",
)  # fmt: skip
_SECTION: Final = ("name", "title", "summary", "kind", "folder", "pages")


@dataclass(frozen=True)
class Section:
    """A section of the site: texts, galleries or sources of a folder, errata, the generated reference, or what changed."""

    name: str
    title: str
    summary: str
    kind: str
    folder: Path
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class HomeQuestion:
    """A question on the home page, and the page that answers it."""

    text: str
    page: str


@dataclass(frozen=True)
class Config:
    """The contents of a site.

    Attributes
    ----------
    file : Path
        The file of the spec.
    title, lead : str
        Heading of the home page, and its first sentence in Markdown.
    app : str
        Address of the running app, without a trailing slash.
    text : str
        Markdown of the home page, with figures.
    above : int
        The number of lines of the file before `text`.
    brand : str
        The name in the corner of every page.
    address, code : str
        The public address of the site, and the address that a file of the package has in a public repository, both without
        a trailing slash; empty if there is none.
    questions : tuple of HomeQuestion
        Questions of the home page.
    sections : tuple of Section
        Its sections, in order.
    logo : str, default ""
        An image file beside the spec, shown before the brand.
    language : str, default "en"
        The language of the pages, as a tag.
    footer : str, default ""
        One line of Markdown at the end of every page.
    """

    file: Path
    title: str
    lead: str
    app: str
    text: str
    above: int
    questions: tuple[HomeQuestion, ...]
    sections: tuple[Section, ...]
    brand: str = "dpcore"
    address: str = ""
    code: str = ""
    logo: str = ""
    language: str = "en"
    footer: str = ""

    @property
    def logo_file(self) -> str:
        """The path of the logo in the site."""
        return f"assets/logo.{self.logo.rpartition('.')[2].lower()}"


def default_file() -> Path:
    """Return the spec of the site of dpcore itself.

    Returns
    -------
    Path
        The TOML file.
    """
    return default_site()


def read_config(path: Path) -> Config:
    """Read the spec of a site; folders are relative to it."""
    text = source_text(path)
    table = load(text, path.name)
    _check_keys(table, _KEYS, path.name)
    return Config(
        path,
        _text(table, "title", path.name),
        _text(table, "lead", path.name, ""),
        app_address(_text(table, "app", path.name, APP), place_of(text, path.name, "app")),
        _text(table, "text", path.name, ""),
        lines_above(text, "text"),
        tuple(_question(row, path.name) for row in _rows(table, "question", path.name)),
        tuple(_section(row, path) for row in _rows(table, "section", path.name)),
        _text(table, "brand", path.name, "dpcore"),
        address=_public(table, "address", text, path),
        code=_public(table, "code", text, path),
        logo=_logo(_text(table, "logo", path.name, ""), path, text),
        language=_language(_text(table, "language", path.name, "en"), place_of(text, path.name, "language")),
        footer=_text(table, "footer", path.name, ""),
    )


def _public(table: Any, key: str, text: str, path: Path) -> str:
    """Return a public address; empty if there is none."""
    address = _text(table, key, path.name, "")
    return app_address(address, place_of(text, path.name, key)) if address else ""


def _logo(name: str, path: Path, text: str) -> str:
    """Return the name of the logo, if it is an image of the site's folder."""
    if name:
        try:
            image_of(path.parent, name)
        except DpcoreError as error:
            msg = f"{place_of(text, path.name, 'logo')}: {error}"
            raise SpecError(msg) from None
    return name


def _language(tag: str, place: str) -> str:
    if not LANGUAGE.fullmatch(tag):
        msg = f"{place}: language must be a language tag such as en, de or pt-BR, got {value_text(tag)}."
        raise SpecError(msg)
    return tag


def app_address(address: str, place: str) -> str:
    """Return the address of the app without a trailing slash; it must start with http or https."""
    try:
        return link(address, WEB, relative=False).rstrip("/")
    except DpcoreError as error:
        msg = f"{place}: {error}"
        raise SpecError(msg) from None


def _rows(table: Any, key: str, file: str) -> list[Any]:
    rows = table.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        msg = f"{file}: {key} is written as tables [[{key}]], got {value_text(rows)}."
        raise SpecError(msg)
    return rows


def _question(row: Any, file: str) -> HomeQuestion:
    _check_keys(row, ("text", "page"), f"{file}, [[question]]")
    page = _text(row, "page", file)
    try:
        return HomeQuestion(_text(row, "text", file), link(page))
    except DpcoreError as error:
        msg = f"{file}, [[question]], page: {error}"
        raise SpecError(msg) from None


def _section(row: Any, path: Path) -> Section:
    place = f"{path.name}, [[section]]"
    _check_keys(row, _SECTION, place)
    kind = _text(row, "kind", place)
    if kind not in KINDS:
        msg = f"{place}: kind is one of {', '.join(KINDS)}, got {value_text(kind)}."
        raise SpecError(msg)
    try:
        folder = inside(path.parent, _text(row, "folder", place, "."))
    except DomainError as error:
        msg = f"{place}, folder: {error}"
        raise SpecError(msg) from None
    if kind in ("texts", "gallery") and not folder.is_dir():
        msg = f"{place}, folder: there is no folder {_text(row, 'folder', place, '.')!r} beside {path.name}."
        raise SpecError(msg)
    pages = row.get("pages", [])
    if not isinstance(pages, list) or not all(isinstance(name, str) for name in pages):
        msg = f"{place}: pages is a list of names, got {value_text(pages)}."
        raise SpecError(msg)
    name, title = _text(row, "name", place), _text(row, "title", place)
    if not NAME.fullmatch(name):
        msg = f"{place}: name begins the addresses of its pages: use lower-case letters, digits, - and _, got {value_text(name)}."
        raise SpecError(msg)
    return Section(name, title, _text(row, "summary", place, ""), kind, folder, tuple(pages))


def _check_keys(table: Any, keys: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in keys:
            msg = f"{place}: {quoted(key)} is not a key; {nearest(key, keys) or 'it takes ' + ', '.join(keys) + '.'}"
            raise SpecError(msg)


def _text(table: Any, key: str, place: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        msg = (
            f"{place}: {key} must be a text, got {value_text(value)}."
            if key in table
            else f"{place}: {key} is missing."
        )
        raise SpecError(msg)
    return value
