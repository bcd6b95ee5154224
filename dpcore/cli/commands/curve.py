"""``dpcore curve``: the trade-off curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.cli.several import answers

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser
    from dpcore.cli.several import Answers

HELP = "smallest false-negative rate beta at each false-positive rate alpha"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_list("--alpha", "0:1:0.05", "where to evaluate")


def run(arguments: argparse.Namespace) -> Answers:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return answers(arguments.expressions, lambda region: frames.curve(region, arguments.alpha))
