"""``dpcore convert``: a region as a statement of another notion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT, SHARE
from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "a region as a dp, tv, leakage, gdp, zcdp, rdp or group statement, with the formula"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_regions(many=False)
    parser.add_argument("--to", metavar="NOTION", required=True, help="dp, tv, leakage, gdp, zcdp, rdp or group")
    parser.add_list("--delta", "1e-5", "for dp and group: the epsilon at these deltas")
    parser.add_list("--epsilon", "none", "for dp and group: the delta at these epsilons")
    parser.add_list("--order", "2", "for rdp: the orders, from 1 to inf")
    words = "for gdp: the smallest false-positive rate considered (default: 1e-12)"
    parser.add_value("--alpha", SHARE.but(name="alpha", high=0.5), words, default=1e-12)
    parser.add_value("--k", COUNT, "for group: the number of people (default: 2)", default=2)


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.theorems.conversion import convert  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return convert(
        parse(arguments.expressions[0]),
        arguments.to,
        delta=arguments.delta,
        epsilon=arguments.epsilon,
        order=arguments.order,
        k=arguments.k,
        alpha=arguments.alpha,
    )
