"""``dpcore constraints``: the corners of a polygon as privacy statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "corners of a polygon as (epsilon, delta) statements"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions(many=False)


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return frames.constraints(parse(arguments.expressions[0]))
