"""``dpcore plot``: a picture of regions or profiles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dpcore.cli.options import number_list
from dpcore.core.domains import HEIGHT_MM, LETTER_SIZE, WIDTH_MM
from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    from dpcore.charts.paper import Paper
    from dpcore.cli.options import Parser

HELP = "draw regions, or with --profile their deltas, to a .svg, .png, .pdf, .html or .json file"
TABLE = False
TOLERANCE = 1e-3  # as in the app: a picture shows no more digits than that


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
    for axis, words in (("x", "horizontal"), ("y", "vertical")):
        parser.add_argument(
            f"--{axis}-range", metavar="LOW,HIGH", type=number_list, help=f"ends of the {words} axis, such as 0,0.2"
        )
    parser.add_value("--width-mm", WIDTH_MM, "for a paper: width of the whole figure (default: 85)", metavar="MM")
    parser.add_value("--height-mm", HEIGHT_MM, "for a paper: its height (default: 60)", metavar="MM")
    parser.add_value("--font-size", LETTER_SIZE, "for a paper: font size in points (default: 8)", metavar="PT")
    parser.add_argument("--font", help="for a paper: sans-serif (default), serif, monospace or an installed family")
    parser.add_argument("--grey", action="store_true", help="for a paper: greys and dashes instead of colours")


def run(arguments: argparse.Namespace) -> None:
    """Draw the picture, write the file and say what it shows."""
    from dpcore import charts  # noqa: PLC0415  # altair is an extra and slow to import

    charts.check_suffix(arguments.output)
    paper = _paper(arguments)
    regions = [parse(text) for text in arguments.expressions]
    look = charts.Look(dark=arguments.dark, title=arguments.title)
    if arguments.profile:
        figure = charts.profile_figure(regions, look=look)
    else:
        figure = charts.region_figure(regions, axes=arguments.axes, log=arguments.log, look=look)
    target = charts.save(figure, arguments.output, paper=paper, x_range=arguments.x_range, y_range=arguments.y_range)
    sys.stdout.write("\n".join([f"wrote {target}", figure.takeaway, *figure.notes]) + "\n")


def _paper(arguments: argparse.Namespace) -> Paper | None:
    """Return the format for a paper, or None if no option asks for one."""
    from dpcore.charts import Paper  # noqa: PLC0415  # as above

    names = {"width_mm": "width_mm", "height_mm": "height_mm", "font": "font", "size": "font_size"}
    options = {name: value for name, option in names.items() if (value := getattr(arguments, option)) is not None}
    return Paper(**options, grey=arguments.grey) if options or arguments.grey else None
