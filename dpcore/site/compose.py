"""Composes pages: Markdown, figures and generated parts, placed into the templates."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpcore.site.docstrings import as_markdown
from dpcore.site.examples import is_own
from dpcore.site.figures import RenderedFigure, compact
from dpcore.site.markdown import Heading, Text, Writer
from dpcore.specs.presets import app_link

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.site.config import Config, HomeQuestion
    from dpcore.site.pages import Page
    from dpcore.site.tables import Table
    from dpcore.specs import Spec

FIGURES: Final = "figures"
LEAST_CONTENTS: Final = 2  # headings; fewer need no table of contents
MOST_CONTENTS: Final = 32  # headings of two levels; more are listed by their first level only
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
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


class Composer:
    """Composes one page."""

    def __init__(self, site: Site, page: Page, files: Callable[[str], dict[str, str]] | None = None) -> None:
        self.site, self.page = site, page
        self.writer = Writer(page.path, self.link)
        self._files = files

    # ---- links ----

    def to(self, path: str) -> str:
        """Return a relative link to a file of the site."""
        return posixpath.relpath(path, posixpath.dirname(self.page.path) or ".")

    def link(self, target: str) -> str:
        """Return a link of a Markdown text: .md and .toml files are pages here, other links stay as they are."""
        name, mark, anchor = target.partition("#")
        if name.endswith((".md", ".toml")):
            name = name.rsplit(".", 1)[0] + ".html"
        return f"{name}{mark}{anchor}"

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

    def figure(self, spec: Spec, *, titled: bool = True) -> Markup:
        """Return a figure with its caption, downloads, numbers and code."""
        rendered = self.site.figures[spec.name]
        inside = app_link(spec)
        return self.html(
            "figure.html",
            spec=spec,
            figure=rendered,
            titled=titled and "title" in spec,
            inside=self._files is not None,
            svg=Markup(rendered.svg),
            chart=Markup(compact(rendered.chart).replace("<", "\\u003c")),
            files=self.files(rendered.name),
            script=self.to(f"{FIGURES}/{rendered.name}.js"),
            app=f"{self.site.config.app}/{inside}" if inside else "",
        )

    def files(self, name: str) -> dict[str, str]:
        """Return the links to the files of a figure by suffix; a self-contained page has its own."""
        if self._files is not None:
            return self._files(name)
        return {suffix: self.to(f"{FIGURES}/{name}{suffix}") for suffix in (".csv", ".json", ".svg")}

    # ---- bodies ----

    def text(self, text: Text) -> str:
        """Return the body of a Markdown page."""
        self.writer.file = text.file
        self.writer.figures = {spec.name: str(self.figure(spec)) for spec in text.figures}
        return self.writer.text(text)

    def gallery(self, text: str, specs: Sequence[Spec]) -> str:
        """Return the body of a page of figures."""
        parts = [self.md(text)] if text else []
        for spec in specs:
            parts += [self.heading(str(spec["title"])), self.figure(spec, titled=False)]
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
        body = Markup(self.page.make(self))
        pages = list(self.site.pages)
        at = pages.index(self.page)
        own = [page for page in pages if page.section == self.page.section and self.page.section]
        return str(
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
                before=pages[at - 1] if at else None,
                after=pages[at + 1] if at + 1 < len(pages) else None,
                summary=self.inline(self.page.summary),
            )
        )

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
