"""A report as one page that holds everything itself."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from dpcore.core.errors import DomainError
from dpcore.files.paths import inside
from dpcore.language.problems import nearest, quoted
from dpcore.site import shared
from dpcore.site.compose import Composer, Site
from dpcore.site.config import Config
from dpcore.site.pages import Page
from dpcore.site.report.numbers import COLUMNS
from dpcore.site.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.site.figures import RenderedFigure
    from dpcore.site.report.citations import Citations
    from dpcore.site.report.document import Document

LEAST_CONTENTS: Final = 3  # headings; a report of two parts needs no table of contents


def report_page(
    document: Document, figures: Mapping[str, RenderedFigure], citations: Citations, *, reload: str = ""
) -> str:
    """Return the page of a report.

    Parameters
    ----------
    document : Document
        The report.
    figures : mapping of str to RenderedFigure
        Its figures, drawn.
    citations : Citations
        Its citations, written.
    reload : str, default ""
        A script that loads the page again when it changes, for those who write it.

    Returns
    -------
    str
        HTML without any other file; scripts only if charts move.
    """
    text, front = document.text, document.front
    page = Page("report.html", "", document.title, document.summary, "", (), lambda c: c.text(text))
    config = Config(document.source, page.title, page.summary, front.app, "", 0, (), (), language=front.language)
    composer = Composer(Site(config, [page], figures, {}), page, lambda name: _inline_files(figures[name]))
    composer.live = document.live
    writer = composer.writer
    writer.values, writer.folder, writer.labels = document.values, document.folder, text.labels
    writer.ids |= {label.id for label in text.labels.values()}  # no other heading may take one of them
    writer.file, writer.line, writer.numbered, writer.citations = text.file, text.line, True, citations.html
    writer.link = lambda target: _existing(document, target)
    summary = composer.inline(page.summary)
    body = page.make(composer) + citations.bibliography_html
    _check_anchors(composer, body)
    rows = document.values.rows()
    script = (shared.vega() + shared.boot() if document.live and figures else "") + reload
    style = _style(math="<math" in body or "<math" in str(summary))
    return str(
        composer.html(
            "report.html",
            page=page,
            body=Markup(body),
            summary=summary,
            contents=composer.contents(LEAST_CONTENTS) if front.contents else [],
            style=Markup(style),
            script=Markup(_inside(script)),
            policy=_policy(_inside(script), style),
            front=front,
            stamp=document.stamp,
            logo=document.logo,
            table=Table(COLUMNS, (True, *[False] * 7), tuple(rows), len(rows)) if rows and front.numbers else None,
            app=front.app if any("link" in spec or "preset" in spec for spec in text.figures) else "",
        )
    )


def _existing(document: Document, target: str) -> str:
    """Return a relative link if its file exists beside the report."""
    name = target.partition("#")[0].partition("?")[0]
    try:
        path = inside(document.folder, name)
    except DomainError as error:
        raise error from None
    if name and not path.exists():
        others = sorted(one.name for one in document.folder.iterdir())[:200]
        msg = f"The link {quoted(target, 60)} leads nowhere: there is no such file beside the report. {nearest(name, others)}".strip()
        raise DomainError(msg)
    return target


def _check_anchors(composer: Composer, body: str) -> None:
    """Refuse a link to a place that the page does not have."""
    ids = {
        *composer.writer.ids,
        *composer.site.figures,
        *(label.id for label in composer.writer.labels.values()),
        "main",
    }
    for name, line in composer.writer.anchors:
        if name and name not in ids and f'id="{name}"' not in body:
            composer.writer.line = line
            composer.writer.fail(
                f"The link '#{name[:60]}' leads nowhere; {nearest(name, ids) or 'no heading or figure has this name.'}"
            )


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
    allowed = f"script-src 'sha256-{digests[0]}'; " if script else ""
    connect = "connect-src 'self'; " if "EventSource" in script else ""
    return (
        f"default-src 'none'; {allowed}{connect}style-src 'sha256-{digests[1]}'; img-src data:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )
