"""``dpcore site``: the static site, or a report of your own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser

HELP = "build the static site, or with --spec a report of your own: a page that needs no network, or a PDF"
TABLE = False
PROCESSES = 2


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--spec",
        metavar="FILE",
        help="a report (.md, or .toml with figures) or the spec of a site (.toml with sections; default: dpcore's own)",
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", required=True, help="folder of the site; folder, .html or .pdf of a report"
    )
    processes = COUNT.but(name="processes")
    parser.add_value(
        "--processes", processes, "number of processes that draw (default: 2)", default=PROCESSES, metavar="N"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(arguments: argparse.Namespace) -> None:
    """Build, and say what was written."""
    from dpcore.cli.describe import commands  # noqa: PLC0415  # with the imports below
    from dpcore.site import build_report, build_site, default_file, is_report  # noqa: PLC0415  # extras, slow to import
    from dpcore.site.progress import Progress  # noqa: PLC0415  # as above

    progress = Progress(quiet=arguments.quiet)
    spec = default_file() if arguments.spec is None else Path(arguments.spec)
    if is_report(spec):
        report = build_report(spec, arguments.output, progress=progress)
        sys.stdout.write(f"wrote {report}\n")
    else:
        built = build_site(
            spec, arguments.output, processes=arguments.processes, progress=progress, commands=commands()
        )
        sys.stdout.write(built.words + "\n")
