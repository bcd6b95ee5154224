"""``dpcore plot``: a picture of regions or profiles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser

HELP = "draw regions, or with --profile their deltas, to a .svg, .png, .pdf, .html or .json file"
TABLE = False


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="file; its suffix sets the format")
    parser.add_argument(
        "--axes",
        choices=("thesis", "fdp"),
        default="fdp",
        help="horizontal axis: false negatives (thesis) or false positives (fdp, the default)",
    )
    parser.add_argument("--log", action="store_true", help="both axes logarithmic, down to 1e-12")
    parser.add_argument("--profile", action="store_true", help="draw delta against epsilon instead of the region")
    parser.add_argument("--dark", action="store_true", help="light lines on a dark background")
    parser.add_argument("--title", default="", help="title above the chart")


def run(arguments: argparse.Namespace) -> None:
    """Draw, write the file and say what it shows."""
    from dpcore import charts  # noqa: PLC0415  # altair is an extra and slow to import

    charts.check_suffix(arguments.output)
    regions = [parse(text) for text in arguments.expressions]
    look = charts.Look(dark=arguments.dark, title=arguments.title)
    if arguments.profile:
        figure = charts.profile_figure(regions, look=look)
    else:
        figure = charts.region_figure(regions, axes=arguments.axes, log=arguments.log, look=look)
    target = charts.save(figure, arguments.output)
    sys.stdout.write("\n".join([f"wrote {target}", figure.takeaway, *figure.notes]) + "\n")
