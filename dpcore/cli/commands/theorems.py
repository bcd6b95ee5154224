"""``dpcore theorems``: all theorems about a product, beside its certified composition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "the composition itself and each composition theorem, with its (epsilon, delta) or why it does not apply"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions(many=False)
    parser.add_list("--delta", "none: each theorem lists its own statements", "epsilon at these total deltas")
    words = "the smallest mu of Gaussian privacy for everything together, for false-positive rates from 1e-12 to 1/2, and its regret"
    parser.add_argument("--mu", action="store_true", help=words)
    parser.add_list("--slack", "with --delta all that delta leaves, else 1e-9,1e-6,1e-3", "extra delta")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.theorems.composition.products import theorems  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    if arguments.mu:
        from dpcore.theorems.conversion.gaussian import fit_table  # noqa: PLC0415  # as above

        return fit_table(parse(arguments.expressions[0]))
    return theorems(parse(arguments.expressions[0]), arguments.delta, arguments.slack)
