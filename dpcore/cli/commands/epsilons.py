"""``dpcore epsilons``: the smallest epsilon for each delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.cli.several import answers

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser
    from dpcore.cli.several import Answers

HELP = "epsilon at each delta, with its bracket, kind and theorem"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_list("--delta", "1e-9..1e-2/8", "where to evaluate")


def run(arguments: argparse.Namespace) -> Answers:
    """Compute the table."""
    from dpcore import frames  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return answers(arguments.expressions, lambda region: frames.epsilons(region, arguments.delta))
