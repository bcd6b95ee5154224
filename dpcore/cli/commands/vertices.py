"""``dpcore vertices``: the corners of a polygon in the plane of error rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "exact corners (alpha, beta) of a polygon"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions(many=False)


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return frames.vertices(parse(arguments.expressions[0]))
