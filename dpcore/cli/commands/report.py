"""``dpcore report``: a report from a template, its files in every format, and a live preview."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT
from dpcore.core.errors import ParseError

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser

HELP = "a report with computed numbers: new writes a template, build makes html, pdf, docx, tex, md or ipynb, serve shows it live"
TABLE = False
ACTIONS = ("new", "build", "serve")


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = (
        "dpcore report new office -o privacy.md; dpcore report build privacy.md -o privacy.html -o privacy.pdf --set limit=5; "
        "dpcore report serve privacy.md. Every format but html needs dpcore[documents]."
    )
    parser.add_argument("action", choices=ACTIONS, help="new, build or serve")
    parser.add_argument(
        "name", metavar="NAME", help="a template (office, lecture, appendix, modelcard, label) or a file"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", action="append", default=[], help="file to write; may be repeated"
    )
    words = "a parameter of the report; may be repeated"
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], dest="settings", help=words)
    port = COUNT.but(name="port", low=1024, high=65535)
    parser.add_value("--port", port, "port of the preview (default: 8600)", default=8600, metavar="P")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(arguments: argparse.Namespace) -> int:
    """Write, build or serve a report."""
    if arguments.action == "new":
        if len(arguments.output) != 1:
            msg = "dpcore report new takes one -o FILE, the report to write."
            raise ParseError(msg)
        from dpcore.site.report.templates import new_report  # noqa: PLC0415  # slow to import

        for path in new_report(arguments.name, Path(arguments.output[0])):
            sys.stdout.write(f"wrote {path}\n")
        return 0
    return _serve(arguments) if arguments.action == "serve" else _build(arguments)


def _settings(arguments: argparse.Namespace) -> dict[str, str]:
    pairs = [word.partition("=") for word in arguments.settings]
    wrong = [
        word for word, (name, sign, _) in zip(arguments.settings, pairs, strict=True) if not sign or not name.strip()
    ]
    if wrong:
        msg = f"A parameter is set as NAME=VALUE, got {wrong[0][:60]!r}."
        raise ParseError(msg)
    return {name.strip(): text.strip() for name, _, text in pairs}


def _build(arguments: argparse.Namespace) -> int:
    from dpcore.files.fingerprint import BuildRecord, cache_folder  # noqa: PLC0415  # with the imports below

    source = Path(arguments.name)
    settings = _settings(arguments)
    builder = None
    for output in arguments.output or [str(source.with_suffix(".html"))]:
        target = Path(output)
        cache = cache_folder(target)
        if BuildRecord(cache, source, target, settings).is_current():
            sys.stdout.write(f"{target}: nothing changed\n")
            continue
        from dpcore.site.progress import Progress  # noqa: PLC0415  # extras, slow to import and not needed above
        from dpcore.site.report.build import ReportBuilder  # noqa: PLC0415  # as above
        from dpcore.site.report.typed import typed_statements  # noqa: PLC0415  # as above

        first = builder is None
        builder = builder or ReportBuilder(source, settings, Progress(quiet=arguments.quiet))
        built = builder.write(target, cache)
        figures = f"; drew {len(built.drawn)} figures" if built.drawn else ""
        sys.stdout.write(f"wrote {built.target}{figures}\n")
        for note in typed_statements(builder.document) if first else ():
            sys.stderr.write(f"note: {note}\n")
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    from dpcore.site.report.preview import serve  # noqa: PLC0415  # slow to import

    return serve(Path(arguments.name), arguments.port, _settings(arguments))
