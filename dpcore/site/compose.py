"""Composes pages: Markdown, figures and generated parts, placed into the templates."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpcore.site.citation import citation, version
from dpcore.site.docstrings import as_markdown
from dpcore.site.examples import is_own
from dpcore.site.figures import RenderedFigure, compact
from dpcore.site.labels import TABLES
from dpcore.site.markdown import Heading, Text, Writer, page_link, plain_heading
from dpcore.site.parts import in_parts
from dpcore.site.places import Directory
from dpcore.site.search import plain
from dpcore.specs.presets import app_link
from dpcore.specs.references import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.site.config import Config, HomeQuestion
    from dpcore.site.pages import Page
    from dpcore.site.places import SitePlace
    from dpcore.site.tables import Table
    from dpcore.specs import Spec

FIGURES: Final = "figures"
_ANCHOR: Final = re.compile(r"</?a\b[^>]*>")
_NUMBERED: Final = ("Figure", "Table")  # how a source counts what it shows
_SPACES: Final = re.compile(r"[ \t]+\n")
LEAST_CONTENTS: Final = 2  # headings; fewer need no table of contents
MOST_CONTENTS: Final = 32  # headings of two levels; more are listed by their first level only
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)


@cache
def environment() -> Environment:
    """Return the templates; everything is escaped, and an unknown name is an error."""
    return Environment(
        loader=PackageLoader("dpcore.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@dataclass(frozen=True)
class Site:
    """The whole site, as each page needs it."""

    config: Config
    pages: Sequence[Page]
    figures: Mapping[str, RenderedFigure]
    evidence: Mapping[str, Any]
    directory: Directory | None = None
    related: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Composer:
    """Composes one page."""

    def __init__(self, site: Site, page: Page, files: Callable[[str], dict[str, str]] | None = None) -> None:
        self.site, self.page = site, page
        self.writer = Writer(page.path, page_link)
        self._files = files
        self.live = True
        self._linked: set[str] = set()
        self._pictured = False
        if site.directory is not None:
            self.writer.named, self.writer.coded = self.named, self.coded

    # ---- links ----

    def to(self, path: str) -> str:
        """Return a relative link to a file of the site."""
        return posixpath.relpath(path, posixpath.dirname(self.page.path) or ".")

    def named(self, target: str, words: str = "") -> tuple[str, str]:
        """Return the address and the words of a link to something by its name; raise if there is no such thing."""
        directory = self.site.directory or Directory(())
        place = directory.find(reference(target, words))
        return self.address(place), str(self.quiet_inline(words or place.words or f"`{place.name}`"))

    def address(self, place: SitePlace) -> str:
        """Return a relative link to a place; one in the app is a link of its own."""
        if "://" in place.path:
            return place.path
        own = place.path == self.page.path
        return f"#{place.anchor}" if own and place.anchor else self.to(place.path) + f"#{place.anchor}".rstrip("#")

    def related(self, target: str) -> list[tuple[str, Markup]]:
        """Return links to what the index of the sources lists beside a thing."""
        return [(href, Markup(words)) for href, words in map(self.named, self.site.related.get(target, ()))]

    def place(self, kind: str, name: str) -> tuple[str, Markup] | None:
        """Return the address and the words of something by its kind and name; None if the site does not have it."""
        place = self.site.directory.get(kind, name) if self.site.directory is not None else None
        return None if place is None else (self.address(place), self.quiet_inline(place.words or name))

    def quiet_inline(self, text: str) -> Markup:
        """Return one line of Markdown without links in it, for a link of its own."""
        quiet, self.writer.quiet = self.writer.quiet, True
        markup = self.inline(text)
        self.writer.quiet = quiet
        return markup

    def coded(self, text: str) -> str:
        """Return the address of what a piece of code names, the first time in a part of a page; otherwise empty."""
        place = self.site.directory.of_code(text) if self.site.directory is not None else None
        part = f"{len(self.writer.headings)} {text}"
        if place is None or place.path == self.page.path or part in self._linked:
            return ""
        self._linked.add(part)
        return self.address(place)

    # ---- parts ----

    def html(self, template: str, **values: Any) -> Markup:
        """Return a filled-in template."""
        return Markup(environment().get_template(template).render(c=self, **values))

    def md(self, text: str) -> Markup:
        """Return Markdown as HTML."""
        return Markup(self.writer.markdown(text))

    def inline(self, text: str) -> Markup:
        """Return one line of Markdown as HTML."""
        return Markup(self.writer.inline(text))

    def card(self, text: str) -> Markup:
        """Return the summary of a page for the list of another one: without its links, which are relative to its own place."""
        return Markup(_ANCHOR.sub("", self.writer.inline(text)))

    def words(self, spec: Spec, key: str) -> Markup:
        """Return a text of a spec as HTML; errors name the place in the spec."""
        outside = self.writer.file, self.writer.line
        self.writer.file, self.writer.line = spec.file, spec.line_of(key)
        markup = self.inline(str(spec[key]))
        self.writer.file, self.writer.line = outside
        return markup

    def doc(self, text: str) -> Markup:
        """Return a docstring as HTML."""
        return self.md(as_markdown(text))

    def formula(self, latex: str) -> Markup:
        """Return a displayed formula."""
        return Markup(self.writer.math(latex, display=True))

    def heading(self, text: str, level: int = 2, name: str = "") -> Markup:
        """Return a heading for the table of contents; `name` sets its id if others link to it."""
        return Markup(self.writer.heading(text, level, name))

    def table(self, table: Table, label: str) -> Markup:
        """Return a table."""
        return self.html("table.html", table=table, label=label)

    def figure(self, spec: Spec, *, titled: bool = True, number: str = "") -> Markup:
        """Return a figure with its caption, downloads, numbers and code; `number` is such as ``Figure 3``."""
        rendered = self.site.figures[spec.name]
        inside = app_link(spec)
        first, self._pictured = not self._pictured, True
        return self.html(
            "figure.html",
            spec=spec,
            figure=rendered,
            titled=titled and "title" in spec,
            number=number,
            first=first,
            live=self.live,
            tabular=spec.get("draw") in TABLES,
            inside=self._files is not None,
            svg=Markup(rendered.svg),
            chart=Markup(compact(rendered.chart).replace("<", "\\u003c")),
            files=self.files(rendered.name),
            script=self.to(f"{FIGURES}/{rendered.name}.js"),
            app=f"{self.site.config.app}/{inside}" if inside else "",
            citation="" if self._files is not None else citation(self.site.config, self.page, rendered),
            related=self.related(f"figure:{spec.name}"),
        )

    def files(self, name: str) -> dict[str, str]:
        """Return the links to the files of a figure by suffix; a self-contained page has its own."""
        if self._files is not None:
            return self._files(name)
        return {suffix: self.to(f"{FIGURES}/{name}{suffix}") for suffix in (".csv", ".json", ".svg")}

    # ---- bodies ----

    def text(self, text: Text) -> str:
        """Return the body of a Markdown page."""
        self.writer.file, self.writer.labels, self.writer.folder = text.file, text.labels, text.folder
        names = {label.id: label.words() for label in text.labels.values()} if self.writer.numbered else {}
        figures = {spec.name: str(self.figure(spec, number=names.get(spec.name, ""))) for spec in text.figures}
        self.writer.figures = figures
        return self.writer.text(text)

    def gallery(self, text: str, specs: Sequence[Spec]) -> str:
        """Return the body of a page of figures."""
        parts = [self.md(text)] if text else []
        for spec in specs:
            place, title = str(spec.get("place", "")), str(spec["title"])
            words = f"{place}: {title}" if place.startswith(_NUMBERED) else title
            parts += [self.heading(words, name=plain_heading(title)), self.figure(spec, titled=False)]
        return "".join(parts)

    def home(self, text: Text, questions: Sequence[HomeQuestion]) -> str:
        """Return the body of the home page."""
        return str(self.html("home.html", text=Markup(self.text(text)), questions=questions))

    # ---- the whole ----

    def contents(self, least: int = LEAST_CONTENTS) -> list[Heading]:
        """Return the table of contents: two levels, or one if that is too long; none if there are few headings."""
        two = [heading for heading in self.writer.headings if heading.level <= 3]
        one = [heading for heading in two if heading.level <= 2]
        headings = two if len(two) <= MOST_CONTENTS or len(one) < 2 else one
        return headings if len(headings) >= least else []

    def page_html(self) -> str:
        """Return the HTML of the page."""
        body = Markup(in_parts(self.page.make(self)))
        pages = [page for page in self.site.pages if page.section or page.path == "index.html"]
        at = pages.index(self.page) if self.page in pages else -1
        own = [page for page in pages if page.section == self.page.section and self.page.section]
        page = str(
            self.html(
                "page.html",
                page=self.page,
                body=body,
                config=self.site.config,
                own=is_own(self.site.config.file),
                policy=POLICY,
                contents=self.contents(),
                section={one.name: one.title for one in self.site.config.sections}.get(self.page.section, ""),
                listed=len(own) > 1,
                siblings=by_chapter(own),
                before=pages[at - 1] if at > 0 else None,
                after=pages[at + 1] if 0 <= at < len(pages) - 1 else None,
                summary=self.inline(self.page.summary),
                description=plain(str(self.inline(self.page.summary))) or self.page.title,
                live="data-figure=" in body,
                root=self.to("index.html").removesuffix("index.html"),
                version=version(),
            )
        )
        return _SPACES.sub("\n", page)  # tables printed in examples end in spaces

    @property
    def groups(self) -> list[tuple[Any, list[tuple[str, list[Page]]]]]:
        """The sections with their chapters and pages."""
        return [
            (section, by_chapter([page for page in self.site.pages if page.section == section.name]))
            for section in self.site.config.sections
        ]


def by_chapter(pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    """Return pages by the titles of their chapters, in order."""
    chapters: dict[str, list[Page]] = {}
    for page in pages:
        chapters.setdefault(page.chapter, []).append(page)
    return list(chapters.items())
