"""``dpcore site``: the static site, or a report of your own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT
from dpcore.files.data import default_site

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
    """Build the site, and say what was written."""
    from dpcore.files.manifest import nothing_changed, unchanged_pages  # noqa: PLC0415  # with the imports below

    spec = default_site() if arguments.spec is None else Path(arguments.spec)
    if pages := unchanged_pages(spec, Path(arguments.output)):
        sys.stdout.write(nothing_changed(Path(arguments.output), pages) + "\n")
        return
    from dpcore.cli.describe import commands  # noqa: PLC0415  # slow to import and not needed above
    from dpcore.site import build_report, build_site, is_report  # noqa: PLC0415  # as above, and extras
    from dpcore.site.progress import Progress  # noqa: PLC0415  # as above

    progress = Progress(quiet=arguments.quiet)
    if is_report(spec):
        report = build_report(spec, arguments.output, progress=progress)
        sys.stdout.write(f"wrote {report}\n")
    else:
        built = build_site(
            spec, arguments.output, processes=arguments.processes, progress=progress, commands=commands()
        )
        sys.stdout.write(built.words + "\n")
