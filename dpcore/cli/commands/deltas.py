"""``dpcore deltas``: the smallest delta for each epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.cli.several import answers

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser
    from dpcore.cli.several import Answers

HELP = "delta at each epsilon, with its bracket, kind and theorem"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_list("--epsilon", "the corners of a polygon, else 0:5:0.5", "where to evaluate")


def run(arguments: argparse.Namespace) -> Answers:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return answers(arguments.expressions, lambda region: frames.deltas(region, arguments.epsilon))
