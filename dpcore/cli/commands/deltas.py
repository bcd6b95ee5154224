"""``dpcore deltas``: the smallest delta for each epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "delta at each epsilon, with its bracket, kind and theorem"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_list("--epsilon", "the corners of a polygon, else 0:5:0.5", "where to evaluate")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return frames.deltas([parse(text) for text in arguments.expressions], arguments.epsilon)
