"""``dpcore split``: a region as a product of single constraints, or why it is not one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "a region as a product of single (epsilon, delta) constraints, or why it is not one"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions(many=False)


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.constraints import split  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return split(parse(arguments.expressions[0])).frame
