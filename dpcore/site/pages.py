"""The pages of a site, planned before anything is drawn."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.documents import bytes_of
from dpcore.files.paths import inside
from dpcore.site import markdown
from dpcore.site.examples import check as check_examples
from dpcore.site.examples import is_own, numbers
from dpcore.site.places import SitePlace
from dpcore.specs import Spec, SpecError, load, read
from dpcore.specs.base import check_common
from dpcore.specs.presets import several
from dpcore.specs.reading import source_text
from dpcore.specs.sections import TEXT, missing, with_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from dpcore.site.compose import Composer
    from dpcore.site.config import Config, Section

FIGURE, EVIDENCE, EXAMPLES, EXAMPLE = "figure", "evidence", "examples", "example"
FILE_KEYS: Final = ("file",)
NAMED: Final = re.compile(r"`([a-z][a-z0-9_]*)`")
ORDER: Final = "order.toml"
MOST_FOLDERS: Final = 10  # folders inside each other; addresses of pages stay short


@dataclass(frozen=True)
class Job:
    """Work whose result is stored in files: a figure, the evidence of a row of the errata, or examples.

    `row` is the name of the row; `content` is the source if there is no spec.
    """

    kind: str
    name: str
    spec: Spec | None = None
    row: str = ""
    content: str = ""

    @property
    def source(self) -> str:
        """Everything that the result depends on besides the code: the spec and its files, or the row or text."""
        if self.spec is None:
            return self.content
        files = [str(self.spec[key]) for key in FILE_KEYS if key in self.spec]
        data = [_digest(self.spec, name) for name in files]
        return json.dumps([dict(self.spec.table), data], sort_keys=True, default=str)


@dataclass(frozen=True)
class Page:
    """One page of the site.

    Attributes
    ----------
    path : str
        The path of its file in the site.
    section : str
        Name of its section; empty for the home page.
    title : str
        Plain text; `summary` is one line of Markdown.
    source : str
        Everything that its text depends on besides the code and the results of its jobs.
    jobs : tuple of Job
        Work to be done before it can be composed.
    make : callable
        Returns its body.
    chapter : str, default ""
        Title of a group of pages within the section.
    places : tuple of SitePlace, default ()
        What texts can refer to on it.
    lead : bool, default True
        Whether the summary is shown above the text; not if it is the text's own first sentence.
    items : tuple of SourceItem, default ()
        What a page about a source lists.
    text : Text, optional
        The Markdown that it shows, if it shows one.
    file : Path, optional
        The file it is read from, if it is read from one.
    """

    path: str
    section: str
    title: str
    summary: str
    source: str
    jobs: tuple[Job, ...]
    make: Callable[[Composer], str]
    chapter: str = ""
    places: tuple[SitePlace, ...] = ()
    lead: bool = True
    items: tuple[Any, ...] = ()
    text: markdown.Text | None = None
    file: Path | None = None

    def origin(self, link: str) -> str:
        """Return the file and the line that a link of this page comes from, as far as they are known; else its path."""
        if self.text is not None and (line := self.text.line_of(link)):
            return f"{self.text.file}, line {line}"
        written = tuple(link.replace(".html", end) for end in (".html", ".md", ".toml"))
        for spec in (job.spec for job in self.jobs if job.spec is not None):
            key = next((key for key, value in spec.table.items() if any(one in str(value) for one in written)), "")
            if key:
                return f"{spec.file}, line {spec.line_of(key)}"
        lines = source_text(self.file).splitlines() if self.file is not None and self.file.is_file() else []
        line = next((at for at, text in enumerate(lines, start=1) if any(one in text for one in written)), 0)
        return f"{self.file.name}, line {line}" if self.file is not None and line else self.path


def figure_job(spec: Spec) -> Job:
    """Return the job that draws a spec."""
    return Job(FIGURE, spec.name, spec)


def _digest(spec: Spec, name: str) -> str:
    """Return the digest of a file that a spec names."""
    try:
        return _file_digest(spec.folder, name)
    except DomainError as error:
        raise spec.problem(str(error), "file") from None


def _file_digest(folder: Path, name: str) -> str:
    """Return the digest of a file; a missing one is reported when the figure is drawn or the page is written."""
    path = inside(folder, name)
    return hashlib.sha256(bytes_of(path)).hexdigest() if path.is_file() else "missing"


def _images(text: markdown.Text) -> str:
    """Return digests of the images of a text; one that is no file of its folder is reported when the page is written."""
    digests = []
    for name in text.images:
        with suppress(DomainError):
            digests.append(_file_digest(text.folder, name))
    return json.dumps(digests) if digests else ""


# ---- texts and galleries -------------------------------------------------------------------------------------


def text_pages(section: Section) -> list[Page]:
    """Return a page for each Markdown file in the folder of a section.

    A file ``order.toml`` beside them has chapters ``[[chapter]]`` (title, texts) and tables ``[title]`` and ``[summary]``
    by name; unlisted files follow by name, and a listed file that is missing is an error.
    """
    order = _own(section, section.folder / ORDER)
    chapters, titles, summaries, constants = _order(order)
    files = {file.stem: file for file in section_files(section, ".md", ORDER, chapters)}
    pages = [
        text_page(file, section.name, titles.get(n, ""), chapters.get(n, ""), summaries.get(n, ""))
        for n, file in files.items()
    ]
    if not is_own(section.folder):
        return [*pages, *_deeper_pages(section)]
    jobs = [examples_job(page, file, constants) for page, file in zip(pages, files.values(), strict=True)]
    return [replace(page, jobs=(*page.jobs, job)) for page, job in zip(pages, jobs, strict=True)]


def _deeper_pages(section: Section) -> list[Page]:
    """Return the pages of the folders inside a section, in any depth; each folder is a chapter."""
    pages = []
    files = (file for file in section.folder.rglob("*.md") if file.parent != section.folder)
    for file in sorted(files, key=lambda file: (file.parent.as_posix(), file.name)):
        place = file.relative_to(section.folder)
        if any(part.startswith(".") for part in place.parts):
            continue
        if len(place.parts) > MOST_FOLDERS:
            msg = f"The section {section.name}: folders are more than {MOST_FOLDERS} deep at {str(place)[-80:]!r}."
            raise SpecError(msg)
        _own(section, file, str(place))
        chapter = ", ".join(part.replace("_", " ").replace("-", " ").capitalize() for part in place.parts[:-1])
        pages.append(text_page(file, section.name, chapter=chapter, stem=place.with_suffix("").as_posix()))
    return pages


def examples_job(page: Page, file: Path, constants: Mapping[str, list[str]]) -> Job:
    """Return the job that runs the examples of one of our own texts; `constants` are numbers that need no computation."""
    own = numbers(missing(source_text(file))) if file.stem == TEXT else []  # these are in the files of the mechanisms
    allowed = sorted({*constants.get("any", []), *constants.get(file.stem, []), *(number for number, _ in own)})
    name = f"examples-{page.section}-{markdown.slug(file.stem.replace('_', ' '))}"
    return Job(EXAMPLES, name, content=json.dumps([file.name, page.source, allowed]))


def run_examples(job: Job) -> dict[str, Any]:
    """Run the examples of a text and return their outputs."""
    file, text, allowed = json.loads(job.content)
    return {"name": job.name, "file": file, "printed": check_examples(text, file, allowed)}


def _order(file: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str], dict[str, list[str]]]:
    """Return the chapter of each listed text in order, the titles of texts, their summaries and their constants."""
    facts = load(source_text(file), file.name) if file.is_file() else {}
    chapters: dict[str, str] = {}
    for one in several(facts.get("chapter", [])):
        title, texts = (one.get("title"), one.get("texts")) if isinstance(one, dict) else (None, None)
        if not isinstance(title, str) or not isinstance(texts, list) or not all(isinstance(n, str) for n in texts):
            msg = f"{file.name}: a [[chapter]] has a title and texts, a list of names, got {value_text(one)}."
            raise SpecError(msg)
        for name in texts:
            if chapters.setdefault(name, title) != title or texts.count(name) > 1:
                msg = f"{file.name}: the text {name!r} is listed twice."
                raise SpecError(msg)
    titles, summaries = (_texts(facts, key, file.name) for key in ("title", "summary"))
    constants = facts.get("constants", {})
    if not isinstance(constants, dict) or not all(isinstance(some, list) for some in constants.values()):
        msg = f"{file.name}: constants is a table of lists, got {value_text(constants)}."
        raise SpecError(msg)
    return chapters, titles, summaries, constants


def _texts(facts: Mapping[str, Any], key: str, file: str) -> dict[str, str]:
    table = facts.get(key, {})
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        msg = f"{file}: {key} is a table of texts, got {value_text(table)}."
        raise SpecError(msg)
    return table


def text_page(
    file: Path, section: str, title: str = "", chapter: str = "", summary: str = "", *, stem: str = ""
) -> Page:
    """Return the page of one Markdown file; our own text about mechanisms gets the sections that it lacks."""
    source = with_sections(file, source_text(file)) if is_own(file) else source_text(file)
    place = stem or file.stem
    prefix = f"{section}-{markdown.slug(place.replace('_', ' '))}-"
    text = markdown.read(source, file=file.name, folder=file.parent, prefix=prefix, lead=not summary)
    path, name = f"{section}/{place}.html", text.title or title or _named(file)
    return Page(
        path,
        section,
        name,
        summary or text.summary or markdown.first_sentence(text),
        source + _images(text),
        tuple(figure_job(spec) for spec in text.figures),
        lambda composer: composer.text(text),
        chapter,
        (SitePlace("text", place, path, "", name), *section_places(text, path), *figure_places(text.figures, path)),
        bool(summary or text.summary),
        text=text,
        file=file,
    )


def section_places(text: markdown.Text, path: str) -> list[SitePlace]:
    """Return the parts of a text whose headings name something, as in "### Uniform noise: `uniform`"."""
    writer = markdown.Writer(text.file)
    places = []
    for token, inner in zip(text.tokens, text.tokens[1:], strict=False):
        if token.type == "heading_open":
            anchor = writer.identifier(markdown.plain_heading(inner.content))
            places += [SitePlace("section", name, path, anchor, inner.content) for name in NAMED.findall(inner.content)]
    return places


def figure_places(specs: Iterable[Spec], path: str) -> list[SitePlace]:
    """Return the places of figures."""
    return [SitePlace("figure", spec.name, path, spec.name, str(spec.get("title", spec.name))) for spec in specs]


def _named(file: Path) -> str:
    return file.stem.replace("_", " ").capitalize()


def gallery_pages(section: Section) -> list[Page]:
    """Return a page for each TOML file of figures."""
    return [gallery_page(file, section.name) for file in section_files(section, ".toml")]


def gallery_page(file: Path, section: str) -> Page:
    """Return the page of one file of figures; its own keys are title, summary and text."""
    source = source_text(file)
    facts = load(source, file.name)
    texts = {key: facts.get(key, "") for key in ("title", "summary", "text")}
    for key, value in texts.items():
        if not isinstance(value, str):
            msg = f"{file.name}: {key} must be a text, got {value_text(value)}."
            raise SpecError(msg)
    specs = read(file)
    path = f"{section}/{file.stem}.html"
    return Page(
        path,
        section,
        texts["title"] or _named(file),
        texts["summary"] or ("1 figure." if len(specs) == 1 else f"{len(specs)} figures."),
        source,
        tuple(figure_job(spec) for spec in specs),
        lambda composer: composer.gallery(texts["text"], specs),
        places=tuple(figure_places(specs, path)),
        file=file,
    )


def home_page(config: Config) -> Page:
    """Return the first page: lead, questions, text and the list of all pages."""
    place: dict[str, Any] = {"file": config.file.name, "folder": config.file.parent, "above": config.above}
    text = markdown.read(config.text, prefix="home-", lead=False, **place)
    return Page(
        "index.html",
        "",
        config.title,
        config.lead,
        config.text + repr(config.questions) + _images(text),
        tuple(figure_job(spec) for spec in text.figures),
        lambda composer: composer.home(text, config.questions),
        places=tuple(figure_places(text.figures, "index.html")),
        text=text,
        file=config.file,
    )


def section_files(section: Section, suffix: str, list_name: str = "", order: Iterable[str] = ()) -> list[Path]:
    """Return the files of a section: first those that the section lists, then those in `order`, then the others by name.

    A listed file that is missing is an error that names the list.
    """
    files = {file.stem: _own(section, file) for file in sorted(section.folder.glob(f"*{suffix}"))}
    names = dict.fromkeys(order, list_name) | dict.fromkeys(section.pages, f"The section {section.name}")
    for name, where in names.items():
        if name not in files:
            msg = f"{where} lists {name!r}, but there is no {name}{suffix} in its folder."
            raise SpecError(msg)
    return [files[name] for name in dict.fromkeys([*section.pages, *order, *files])]


def _own(section: Section, file: Path, name: str = "") -> Path:
    """Return a file of a section; a symbolic link that leads out of its folder is an error."""
    try:
        inside(section.folder, name or file.name)
    except DomainError as error:
        msg = f"The section {section.name}: {error}"
        raise SpecError(msg) from None
    return file


def check(pages: list[Page]) -> Mapping[str, Job]:
    """Return all jobs by name; two figures of one name, or a wrong common key, are an error."""
    jobs: dict[str, Job] = {}
    for page in pages:
        for job in page.jobs:
            if job.spec is not None:
                check_common(job.spec)
            if job.name in jobs and jobs[job.name] != job:
                where = job.spec.problem("another figure of the site has this name.", "name") if job.spec else ""
                raise SpecError(str(where) or f"{job.name} is computed twice.")
            jobs[job.name] = job
    return jobs
