"""Files that help to find pages: the index of the search, the page for wrong addresses, the list for search engines.

Every link inside the site is checked when it is built: one that leads nowhere is an error.
"""

from __future__ import annotations

import html
import posixpath
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from dpcore.files.data import data_folder
from dpcore.site.pages import Page
from dpcore.site.places import Directory, SitePlace
from dpcore.site.search import index_of
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from dpcore.site.compose import Composer
    from dpcore.site.config import Config

MISSING: Final = "404.html"
INDEX: Final = "assets/search.js"
_LINK: Final = re.compile(r'<(?:a|img|script|link)\b[^>]*?\s(?:href|src)="([^"]*)"')
_ID: Final = re.compile(r'\sid="([^"]+)"')
MOST_BROKEN: Final = 5  # links named in a message


def app_pages(config: Config) -> list[SitePlace]:
    """Return the pages of the app, by the names in their addresses."""
    files = sorted((data_folder().parent / "pages").glob("[0-9]*_*.py"))
    names = [file.stem.split("_", 1)[1] for file in files]
    return [
        SitePlace("page", name, f"{config.app}/{name}", "", f"{name.replace('_', ' ')} in the app") for name in names
    ]


def directory_of(config: Config, pages: Sequence[Page]) -> Directory:
    """Return all places of a site by name; parts of texts serve where nothing else has the name."""
    own = [place for page in pages for place in page.places]
    return Directory([*own, *app_pages(config)])


def related_places(pages: Iterable[Page]) -> dict[str, list[str]]:
    """Return for each figure and erratum what the index of the sources lists beside it."""
    related: dict[str, list[str]] = {}
    for page in pages:
        for item in page.items:
            for target in item.see:
                if target.startswith(("figure:", "erratum:")):
                    others = related.setdefault(target, [])
                    others += [one for one in item.see if one != target and one not in others]
    return related


def missing_page(config: Config, pages: Sequence[Page]) -> Page:
    """Return the page that a server shows for a wrong address.

    It can be shown for an address in any folder, so it links by full addresses if the site has one.
    """
    doors = [
        (one.title, next((page.path for page in pages if page.section == one.name), "")) for one in config.sections
    ]

    def make(composer: Composer) -> str:
        root = f"{config.address}/" if config.address else ""
        links = [(title, f"{root}{path}") for title, path in doors if path]
        return str(composer.html("missing.html", home=f"{root}index.html", links=links))

    return Page(MISSING, "", "Page not found", "The address is wrong, or the page has moved.", repr(doors), (), make)


def found_files(config: Config, pages: Mapping[str, str]) -> dict[str, bytes]:
    """Return the search index, robots.txt and, if the site has an address, the list of its pages for search engines."""
    shown = {path: text for path, text in pages.items() if path != MISSING}
    files = {INDEX: index_of(shown).encode(), "robots.txt": b"User-agent: *\nAllow: /\n"}
    if config.address:
        places = [f"{config.address}/{path if path != 'index.html' else ''}" for path in shown]
        urls = "".join(f"<url><loc>{html.escape(place)}</loc></url>\n" for place in places)
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        files["sitemap.xml"] = f"{head}{urls}</urlset>\n".encode()
        files["robots.txt"] += f"Sitemap: {config.address}/sitemap.xml\n".encode()
    return files


def check_links(
    pages: Mapping[str, str], files: Collection[str], origins: Mapping[str, Callable[[str], str]] | None = None
) -> None:
    """Raise if a link of a page leads to no file of the site, or to no id on its page.

    Parameters
    ----------
    pages : mapping of str to str
        The HTML of each page by its path.
    files : collection of str
        The paths of all files.
    origins : mapping of str to callable, optional
        For each page, by its path, what returns the place of a link in its source.
    """
    ids = {path: set(_ID.findall(text)) for path, text in pages.items()}
    broken = []
    for path, text in pages.items():
        for link in sorted(set(_LINK.findall(text))):
            target, _, anchor = html.unescape(link).partition("#")
            if ":" in target.partition("/")[0]:
                continue
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) if target else path
            if place not in files or (anchor and place in ids and unquote(anchor) not in ids[place]):
                broken.append((path, html.unescape(link), place))
    if broken:
        more = f" and {len(broken) - MOST_BROKEN} more" if len(broken) > MOST_BROKEN else ""
        sources = origins or {}
        named = (
            f"{sources[path](link) if path in sources else path} links to {link}{_hint(path, place, files)}"
            for path, link, place in broken[:MOST_BROKEN]
        )
        msg = f"Links that lead nowhere: {'; '.join(named)}{more}."
        raise SpecError(msg)


def _hint(path: str, place: str, files: Collection[str]) -> str:
    """Return the file that a link of a page may mean; there is none if the page lacks the id that is named."""
    match = get_close_matches(place, files, n=1) if place not in files else []
    return f" (did you mean {posixpath.relpath(match[0], posixpath.dirname(path) or '.')}?)" if match else ""
