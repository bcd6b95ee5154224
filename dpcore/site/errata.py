"""The errata as pages: a table of all rows to filter, and a page for each source with the evidence, computed when the site is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DpcoreError
from dpcore.labs import errata
from dpcore.site.pages import EVIDENCE, Job, Page
from dpcore.site.places import SitePlace
from dpcore.site.tables import plain_rows, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from dpcore.site.compose import Composer
    from dpcore.site.config import Section


def errata_pages(section: Section) -> list[Page]:
    """Return the table of all rows, and a page for each source that has some."""
    rows, sources = errata.rows(), errata.sources()
    first = Page(
        f"{section.name}.html",
        section.name,
        section.title,
        section.summary,
        repr((sources, rows)),
        (),
        lambda composer: _table(composer, rows, sources),
        places=tuple(
            SitePlace("source", one.name, source_path(section.name, one.name), "", one.title) for one in sources
        ),
    )
    by_source = {one: [row for row in rows if row.source == one.name] for one in sources}
    return [first, *(_page(section.name, source, own) for source, own in by_source.items() if own)]


def source_path(section: str, source: str) -> str:
    """Return the path of the page about a source."""
    return f"{section}/{source}.html"


def _page(section: str, source: errata.Source, rows: Sequence[errata.Row]) -> Page:
    path = source_path(section, source.name)
    count = len(rows)
    return Page(
        path,
        section,
        source.title,
        f"{count} row{'s' if count > 1 else ''} about: {source.reference}.",
        repr((source, rows)),
        tuple(Job(EVIDENCE, job_name(row), row=row.name, content=repr(row)) for row in rows),
        lambda composer: "".join(_row(composer, row) for row in rows),
        "By source",
        tuple(SitePlace("erratum", row.name, path, row.name, f"errata: {row.place}") for row in rows),
    )


def job_name(row: Any) -> str:
    """Return the name of the file with the evidence of a row."""
    return f"errata-{row.name}"


def evidence(job: Job) -> dict[str, Any]:
    """Compute the evidence of one row: a sentence and its numbers."""
    (row,) = (row for row in errata.rows() if row.name == job.row)
    try:
        text, frame = row.evidence()
    except DpcoreError as error:
        msg = f"errata.toml, row {row.name}: {error}"
        raise DpcoreError(msg) from error
    columns = [] if frame is None else [str(name) for name in frame.columns]
    return {"name": job.name, "text": text, "columns": columns, "rows": [] if frame is None else plain_rows(frame)}


def _table(composer: Composer, rows: Sequence[errata.Row], sources: Sequence[errata.Source]) -> str:
    """Compose the table: the meanings of the kinds, the filters, and a line for each row."""
    counts = {kind: sum(row.kind == kind for row in rows) for kind in errata.KINDS}
    head = composer.html("errata_head.html", kinds=errata.KINDS, counts=counts)
    titles = {source.name: source.title for source in sources}
    links = {row.name: composer.to(f"{source_path(composer.page.section, row.source)}#{row.name}") for row in rows}
    return head + composer.html("errata_table.html", rows=rows, titles=titles, kinds=errata.KINDS, links=links)


def _row(composer: Composer, row: Any) -> Markup:
    evidence = composer.site.evidence[job_name(row)]
    table = table_of(evidence["columns"], evidence["rows"]) if evidence["rows"] else None
    related = composer.related(f"erratum:{row.name}")
    return composer.html("errata_row.html", row=row, evidence=evidence, table=table, related=related)
