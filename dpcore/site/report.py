"""Reports: a Markdown or TOML file becomes one self-contained page, or a PDF."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from dpcore.core.errors import DpcoreError
from dpcore.core.registry import shown
from dpcore.site import markdown, shared
from dpcore.site.compose import Composer, Site
from dpcore.site.config import APP, Config, app_address
from dpcore.site.figures import RenderedFigure, render
from dpcore.site.pages import Page
from dpcore.site.pdf import print_pdf
from dpcore.site.progress import Progress
from dpcore.specs import Spec, SpecError, load
from dpcore.specs.reading import lines_above, place_of, read, source_text, unique

if TYPE_CHECKING:
    from collections.abc import Callable

MARKDOWN: Final = (".md", ".markdown")
OUTPUTS: Final = (".html", ".pdf")
LEAST_CONTENTS: Final = 3  # headings; a report of two parts needs no table of contents
KEYS: Final = ("title", "summary", "text", "app", "figure")


def is_report(path: Path) -> bool:
    """Return whether a file is a report: Markdown, or TOML without the sections of a site.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
        False for the spec of a site.

    Raises
    ------
    SpecError
        If the file is neither Markdown nor TOML.
    """
    if path.suffix.lower() in MARKDOWN:
        return True
    if path.suffix.lower() != ".toml":
        msg = f"A spec is a file that ends in .md or .toml, got {path.name[:80]!r}."
        raise SpecError(msg)
    return "section" not in load(source_text(path), path.name)


def build_report(spec: str | Path, output: str | Path, *, progress: Progress | None = None) -> Path:
    """Write the report that a file describes.

    Parameters
    ----------
    spec : str or Path
        Markdown with figure blocks, or TOML with title, text and tables ``[[figure]]``.
    output : str or Path
        A file that ends in .html or .pdf, or a folder, where the page gets the name of the spec.
    progress : Progress, optional
        Shows each figure; none by default.

    Returns
    -------
    Path
        The file of the report. A PDF needs Chromium.
    """
    source, target = Path(spec), Path(output)
    if target.suffix.lower() not in OUTPUTS:
        if target.suffix or target.is_file():
            msg = f"A report is written to a folder or to a file that ends in .html or .pdf, got {str(target)[-80:]!r}."
            raise DpcoreError(msg)
        target = target / f"{source.stem}.html"
    text = report_html(source, progress or Progress(quiet=True))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() == ".html":
        target.write_text(text, encoding="utf-8")
        return target
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(text, encoding="utf-8")
        print_pdf(page, target)
    return target


def report_html(source: Path, progress: Progress) -> str:
    """Return the page of a report."""
    page, specs, app = _plan(source)
    progress.start(len(specs))
    figures: dict[str, RenderedFigure] = {}
    for spec in specs:
        figures[spec.name] = render(spec, spec.name)
        progress.step(spec.name)
    progress.end()
    config = Config(source, page.title, page.summary, app, "", 0, (), ())
    composer = Composer(Site(config, [page], figures, {}), page, lambda name: _inline_files(figures[name]))
    body = page.make(composer)
    script = shared.vega() + shared.boot()
    style = _style(math="<math" in body or "<math" in str(composer.inline(page.summary)))
    return str(
        composer.html(
            "report.html",
            page=page,
            body=_safe(body),
            summary=composer.inline(page.summary),
            contents=composer.contents(LEAST_CONTENTS),
            style=_safe(style),
            script=_safe(_inside(script)),
            policy=_policy(_inside(script), style),
            live=bool(specs),
            app=app if any("link" in spec or "preset" in spec for spec in specs) else "",
        )
    )


def _plan(source: Path) -> tuple[Page, tuple[Spec, ...], str]:
    """Return the page, its figures and the address of the app."""
    if source.suffix.lower() in MARKDOWN:
        text = markdown.read(source_text(source), file=source.name, folder=source.parent)
        if not text.title:
            msg = f"{source.name}, line 1: a report starts with its title, a line such as # Our release of March."
            raise SpecError(msg)
        return _page(text.title, text.summary, lambda c: c.text(text)), text.figures, APP
    toml = source_text(source)
    facts = load(toml, source.name)
    _check(facts, toml, source.name)
    figures = unique(tuple(_named(spec, index) for index, spec in enumerate(read(source, strict=False), 1)))
    own: dict[str, Any] = {"file": source.name, "folder": source.parent, "above": lines_above(toml, "text")}
    text = markdown.read(facts.get("text", ""), prefix="text-", lead=False, **own)
    make = _toml_body(text, figures)
    app = facts.get("app", APP).rstrip("/")
    return _page(facts["title"], facts.get("summary", ""), make), (*text.figures, *figures), app


def _toml_body(text: markdown.Text, figures: tuple[Spec, ...]) -> Callable[[Composer], str]:
    def make(composer: Composer) -> str:
        parts = [composer.text(text)]
        for spec in figures:
            if "title" in spec:
                parts.append(composer.heading(str(spec["title"])))
            if "text" in spec:
                parts.append(composer.md(str(spec["text"])))
            parts.append(composer.figure(spec, titled=False))
        return "".join(parts)

    return make


def _check(facts: dict[str, Any], text: str, file: str) -> None:
    for key, value in facts.items():
        if key not in KEYS:
            msg = f"{place_of(text, file, key)}: {key!r} is not a key of a report; it takes {', '.join(KEYS)}."
            raise SpecError(msg)
        if key != "figure" and not isinstance(value, str):
            msg = f"{place_of(text, file, key)}: {key} must be a text, got {shown(value)}."
            raise SpecError(msg)
    if "app" in facts:
        app_address(facts["app"], place_of(text, file, "app"))
    if "title" not in facts:
        msg = f"{file}: title is missing: a text."
        raise SpecError(msg)


def _named(spec: Spec, index: int) -> Spec:
    return (
        spec if spec.name else Spec({**spec, "name": f"figure-{index}"}, spec.file, spec.line, spec.text, spec.folder)
    )


def _page(title: str, summary: str, make: Callable[[Composer], str]) -> Page:
    return Page("report.html", "", title, summary, "", (), make)


# ---- everything inside one file ------------------------------------------------------------------------------


def _inline_files(figure: RenderedFigure) -> dict[str, str]:
    """Return the numbers as a data link."""
    return {".csv": "data:text/csv;base64," + base64.b64encode(figure.files[".csv"]).decode()}


def _style(*, math: bool) -> str:
    """Return the style sheet with its font embedded, or without the font if there is no formula."""
    sheet = shared.style(pictures=True)
    link = f'url("{shared.FONT}")'
    if math:
        font = "data:font/woff2;base64," + base64.b64encode(shared.asset(shared.FONT)).decode()
        return sheet.replace(link, f'url("{font}")')
    start = sheet.index("@font-face")
    return sheet[:start] + sheet[sheet.index("}", start) + 2 :]


def _inside(script: str) -> str:
    """Return a script that can be embedded in a page."""
    return script.replace("</script", "<\\/script")


def _policy(script: str, style: str) -> str:
    """Return a policy that allows only this script and this style sheet, and nothing from outside."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; img-src data:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def _safe(text: str) -> Markup:
    return Markup(text)
