"""The errata as a page: what was printed, what is right, and evidence computed when the site is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DpcoreError
from dpcore.labs import errata
from dpcore.site.pages import EVIDENCE, Job, Page
from dpcore.site.tables import plain_rows, table_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from dpcore.site.compose import Composer
    from dpcore.site.config import Section


def errata_pages(section: Section) -> list[Page]:
    """Return the page of the errata."""
    rows = errata.rows()
    return [
        Page(
            f"{section.name}.html",
            section.name,
            section.title,
            section.summary,
            repr((errata.sources(), rows)),
            tuple(Job(EVIDENCE, job_name(row), row=row.name, content=repr(row)) for row in rows),
            compose,
        )
    ]


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


def compose(composer: Composer) -> str:
    """Compose the page: the meanings of the kinds, then the rows of each source."""
    parts = [composer.html("errata_head.html", kinds=errata.KINDS, counts=_counts())]
    for source in errata.sources():
        rows = errata.rows(source=source.name)
        if rows:
            parts.append(composer.heading(source.title))
            parts.append(composer.md(source.reference))
            parts += [_row(composer, row) for row in rows]
    return "".join(parts)


def _counts() -> dict[str, int]:
    return {kind: len(errata.rows(kind=kind)) for kind in errata.KINDS}


def _row(composer: Composer, row: Any) -> Markup:
    evidence = composer.site.evidence[job_name(row)]
    table = table_of(evidence["columns"], evidence["rows"]) if evidence["rows"] else None
    return composer.html("errata_row.html", row=row, evidence=evidence, table=table)
