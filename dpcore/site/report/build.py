"""Builds a report: reads it, draws what changed, and writes the format that its target asks for."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.core.lazy import Lazy
from dpcore.files.documents import json_of, text_of
from dpcore.files.fingerprint import BuildRecord, digest, fingerprint
from dpcore.site.figures import RenderedFigure, render
from dpcore.site.pages import Job
from dpcore.site.progress import Progress
from dpcore.site.report.citations import Citations, citations_of
from dpcore.site.report.document import MARKDOWN, Document, load_document
from dpcore.specs import SpecError, load
from dpcore.specs.reading import source_text

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTPUTS: Final = (".html", ".pdf", ".docx", ".tex", ".md", ".ipynb")
MOST_CACHE: Final = 50_000_000  # bytes of one kept figure
MOST_KEPT: Final = 300  # figures of one folder of reports
_SUFFIXES: Final = (".csv", ".json", ".svg", ".js")


@dataclass(frozen=True)
class BuiltReport:
    """The result of a build.

    Attributes
    ----------
    target : Path
        The file of the report.
    drawn : tuple of str
        The figures that were drawn; the others had not changed.
    """

    target: Path
    drawn: tuple[str, ...]


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


def build_report(
    spec: str | Path,
    output: str | Path,
    *,
    progress: Progress | None = None,
    settings: Mapping[str, str] | None = None,
    cache: Path | None = None,
) -> Path:
    """Write the report that a file describes.

    Parameters
    ----------
    spec : str or Path
        Markdown with figure blocks, or TOML with title, text and tables ``[[figure]]``.
    output : str or Path
        A file that ends in .html, .pdf, .docx, .tex, .md or .ipynb, or a folder, where the page gets the name of the spec.
    progress : Progress, optional
        Shows each figure; none by default.
    settings : mapping of str to str, optional
        Values for the parameters of the report.
    cache : Path, optional
        A folder that keeps figures between builds; without it everything is drawn.

    Returns
    -------
    Path
        The file of the report. Other formats than HTML need the extra ``documents``.
    """
    return build(spec, output, progress=progress, settings=settings, cache=cache).target


def build(
    spec: str | Path,
    output: str | Path,
    *,
    progress: Progress | None = None,
    settings: Mapping[str, str] | None = None,
    cache: Path | None = None,
) -> BuiltReport:
    """Write a report as `build_report` does, and say which figures were drawn."""
    return ReportBuilder(Path(spec), settings or {}, progress or Progress(quiet=True)).write(Path(output), cache)


@dataclass
class ReportBuilder:
    """Writes a report in one format or several; it is read and its values are computed once.

    Attributes
    ----------
    source : Path
        The report.
    settings : mapping of str to str
        Values for its parameters.
    progress : Progress
        Shows each figure.
    """

    source: Path
    settings: Mapping[str, str]
    progress: Progress
    _figures: dict[str, RenderedFigure] = field(default_factory=dict)

    @Lazy
    def document(self) -> Document:
        """The report, read and checked."""
        return load_document(self.source, self.settings)

    @Lazy
    def citations(self) -> Citations:
        """Its citations, written."""
        return citations_of(self.document)

    def write(self, target: Path, cache: Path | None) -> BuiltReport:
        """Write one file, or a page of the spec's name into a folder."""
        if target.suffix.lower() not in OUTPUTS:
            if target.suffix or target.is_file():
                msg = f"A report is written to a folder or to a file that ends in {', '.join(OUTPUTS)}, got {str(target)[-80:]!r}."
                raise DpcoreError(msg)
            target = target / f"{self.source.stem}.html"
        if target.resolve() == self.source.resolve():
            msg = f"{str(target)[-80:]!r} is the report itself; name another file."
            raise DpcoreError(msg)
        drawn: tuple[str, ...] = ()
        if not self._figures:
            self._figures, drawn = drawn_figures(self.document, cache, self.progress)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix.lower() == ".html":
            target.write_text(_html(self.document, self._figures, self.citations), encoding="utf-8")
        else:
            from dpcore.site.report.export import write_document  # noqa: PLC0415  # needs optional wheels

            write_document(self.document, self._figures, self.citations, target)
        if cache is not None:
            BuildRecord(cache, self.source, target, dict(self.settings)).write(self.document.digests)
        return BuiltReport(target, drawn)


def _html(document: Document, figures: Mapping[str, RenderedFigure], citations: Citations) -> str:
    from dpcore.site.report.page import report_page  # noqa: PLC0415  # loads the templates

    return report_page(document, figures, citations)


def drawn_figures(
    document: Document, cache: Path | None, progress: Progress
) -> tuple[dict[str, RenderedFigure], tuple[str, ...]]:
    """Return all figures of a report, and the names of those that had to be drawn."""
    figures: dict[str, RenderedFigure] = {}
    drawn = []
    progress.start(len(document.text.figures))
    for spec in document.text.figures:
        key = digest(fingerprint(drawing=True), spec.name, Job("figure", spec.name, spec).source)
        figure = None if cache is None else _load(cache / "figures" / key)
        if figure is None:
            figure = render(spec, spec.name)
            drawn.append(spec.name)
            if cache is not None:
                _keep(cache / "figures" / key, figure)
        figures[spec.name] = figure
        progress.step(spec.name)
    progress.end()
    return figures, tuple(drawn)


def _load(folder: Path) -> RenderedFigure | None:
    """Return a kept figure; None if there is none, or if its files are not as they were written."""
    try:
        facts = json_of(text_of(folder / "digest.json"))
        texts = {suffix: text_of(folder / f"figure{suffix}", MOST_CACHE) for suffix in _SUFFIXES}
        if any(hashlib.sha256(text.encode()).hexdigest() != facts[suffix] for suffix, text in texts.items()):
            return None
        return RenderedFigure.read(lambda suffix: texts[suffix])
    except (DpcoreError, OSError, ValueError, KeyError, TypeError):
        return None


def _keep(folder: Path, figure: RenderedFigure) -> None:
    """Keep a figure, and let go of the oldest if there are too many; without a place for a cache it is drawn again."""
    digests: dict[str, Any] = {}
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, data in figure.files.items():
            (folder / f"figure{suffix}").write_bytes(data)
            digests[suffix] = hashlib.sha256(data).hexdigest()
        (folder / "digest.json").write_text(json.dumps(digests), encoding="utf-8")
        for old in sorted(folder.parent.iterdir(), key=lambda kept: kept.stat().st_mtime)[:-MOST_KEPT]:
            shutil.rmtree(old)
