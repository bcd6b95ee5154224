"""``dpcore compare``: which of two regions lies inside the other, or where they cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "which of two regions is inside the other, or where they cross"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("a", metavar="A", help="a region, e.g. 'dp(1)'")
    parser.add_argument("b", metavar="B", help="another region, e.g. 'gdp(1)'")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return frames.compare(parse(arguments.a), parse(arguments.b))
