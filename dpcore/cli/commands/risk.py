"""``dpcore risk``: what an attacker can do, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.cli.several import answers

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser
    from dpcore.cli.several import Answers

HELP = "what the best attacker can do: advantage, true positives, posterior, odds, in numbers and words"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions()
    parser.add_list("--fpr", "1e-6,1e-4,1e-3,0.01,0.05,0.1", "false-positive rates")
    parser.add_list("--prior", "0.01,0.1,0.5", "probabilities, before any answer, that a person is in the data")


def run(arguments: argparse.Namespace) -> Answers:
    """Compute the table."""
    from dpcore.risk import risk  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return answers(arguments.expressions, lambda region: risk(region, arguments.fpr, arguments.prior))
