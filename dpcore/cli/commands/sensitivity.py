"""``dpcore sensitivity``: local, smooth and global sensitivity of a column, and the errors of noise based on them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.cli.own_data import configure_column
from dpcore.core.domains import COUNT, DELTA, EPSILON, PROBABILITY, SEED
from dpcore.core.errors import DomainWarning, ParseError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = (
    "local, smooth and global sensitivities of a column; with --statistic, the errors of all mechanisms that answer it"
)


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = "Local and smooth sensitivities depend on the data: they are for their owner, not to be published."
    configure_column(parser)
    parser.add_value("--epsilon", EPSILON, "epsilon that every mechanism keeps (default: 1)", default=1.0, metavar="E")
    parser.add_value(
        "--delta", DELTA, "its delta (default: 1e-6); 0 leaves out what needs one", default=1e-6, metavar="D"
    )
    parser.add_argument(
        "--statistic",
        choices=("mean", "quantile", "variance", "trimmed-mean"),
        help="list the mechanisms that answer this (default: list the sensitivities of all)",
    )
    parser.add_value("--probability", PROBABILITY, "which quantile (default: 0.5, the median)", default=0.5)
    parser.add_value(
        "--trim",
        PROBABILITY.but(name="trim"),
        "share that a trimmed mean drops at each end (default: 0.1)",
        default=0.1,
    )
    parser.add_value(
        "--blocks", COUNT.but(name="blocks"), "blocks of blocking II (default: the square root of n)", metavar="M"
    )
    parser.add_value("--seed", SEED, "seed of its deals (default: 0)", default=0, metavar="S")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # pandas is slow to import
    from dpcore.planner.sensitivity import mechanism_table, sensitive_query, sensitivity_table  # noqa: PLC0415  # as above
    from dpcore.utility.reading import read_column  # noqa: PLC0415  # as above

    if arguments.lower is None or arguments.upper is None:
        msg = "Give --lower and --upper, the public bounds of the column, chosen without looking at the data."
        raise ParseError(msg)
    reading = read_column(
        open_csv(Path(arguments.file)), arguments.column, lower=arguments.lower, upper=arguments.upper
    )
    if reading.unusual:
        warnings.warn(" ".join(reading.notes), DomainWarning, stacklevel=2)
    which = {"probability": arguments.probability, "trim": arguments.trim}
    budget = {"epsilon": arguments.epsilon, "delta": arguments.delta}
    if arguments.statistic is None:
        return sensitivity_table(reading.dataset, **budget, **which)
    query = sensitive_query(arguments.statistic.replace("-", " "), **which)
    return mechanism_table(reading.dataset, query, **budget, blocks=arguments.blocks, seed=arguments.seed)
