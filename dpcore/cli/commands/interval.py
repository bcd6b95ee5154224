"""``dpcore interval``: a private confidence interval for one column of a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.cli.own_data import configure_column
from dpcore.core.domains import COUNT, DELTA, EPSILON, POSITIVE, PROBABILITY, REAL, SEED
from dpcore.core.errors import DomainWarning, ParseError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.utility.reading import ColumnReading

HELP = "a private confidence interval for a column: mean, proportion, quantile or variance, with its simulated coverage"
_LEVEL = PROBABILITY.but(name="level")


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = (
        "Several values of --epsilon or --n give the half-width at each of them. The interval covers values moved into "
        "the bounds. Intervals are simulated: use them to plan, not to publish."
    )
    configure_column(parser)
    parser.add_list("--epsilon", "1", "budget of all that is released")
    parser.add_value("--delta", DELTA, "delta of the budget (default: 1e-6; Laplace noise uses none)", metavar="D")
    parser.add_value("--level", _LEVEL, "share of intervals that contain the truth (default: 0.95)", default=0.95)
    parser.add_argument(
        "--statistic",
        choices=("mean", "proportion", "quantile", "variance"),
        default="mean",
        help="what the interval is about (default: mean)",
    )
    parser.add_value("--probability", PROBABILITY, "which quantile (default: 0.5, the median)", default=0.5)
    parser.add_argument("--equals", metavar="ANSWER", help="the answer whose proportion is estimated ...")
    parser.add_value("--at-least", REAL.but(name="at_least"), "... or the least number that counts", metavar="X")
    parser.add_argument("--noise", choices=("gaussian", "laplace"), default="gaussian", help="default: gaussian")
    parser.add_value("--spread", POSITIVE.but(name="spread"), "public guess of the standard deviation, for the split")
    parser.add_list("--n", "that of the file", "half-width for other numbers of records")
    parser.add_value("--releases", COUNT.but(name="releases"), "simulated intervals (default: 2000)", default=2000)
    parser.add_value("--seed", SEED, "seed of the simulation (default: 0)", default=0, metavar="S")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.planner.interval import interval_plan, interval_table, width_table  # noqa: PLC0415  # pandas is slow to import

    reading = _read(arguments)
    if reading.unusual:
        warnings.warn(" ".join(reading.notes), DomainWarning, stacklevel=2)
    epsilons = [1.0] if arguments.epsilon is None else arguments.epsilon.tolist()
    default = 1e-6 if arguments.noise == "gaussian" else 0.0
    options: dict[str, Any] = {
        "delta": default if arguments.delta is None else arguments.delta,
        "level": arguments.level,
        "noise": arguments.noise,
        "probability": arguments.probability,
        "spread": arguments.spread,
    }
    data = reading.dataset
    plan = interval_plan(arguments.statistic, data, epsilon=EPSILON.check(epsilons[0]), **options)
    if arguments.n is not None and len(epsilons) > 1:
        msg = "Only one of --epsilon and --n can have several values."
        raise ParseError(msg)
    if arguments.n is not None:
        return width_table(plan, data, against="n", values=arguments.n.tolist())
    if len(epsilons) > 1:
        return width_table(plan, data, against="epsilon", values=epsilons)
    return interval_table(plan, data, releases=arguments.releases, seed=arguments.seed)


def _read(arguments: argparse.Namespace) -> ColumnReading:
    """Read the column: a condition for a proportion, otherwise numbers between bounds."""
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # pandas is slow to import
    from dpcore.planner.interval import read_indicator  # noqa: PLC0415  # as above
    from dpcore.utility.reading import read_column  # noqa: PLC0415  # as above

    sheet = open_csv(Path(arguments.file))
    if arguments.statistic == "proportion":
        if arguments.lower is not None or arguments.upper is not None:
            msg = "A proportion takes no --lower and --upper, but --equals ANSWER or --at-least NUMBER."
            raise ParseError(msg)
        return read_indicator(sheet, arguments.column, equals=arguments.equals, at_least=arguments.at_least)
    if arguments.equals is not None or arguments.at_least is not None:
        msg = f"--equals and --at-least are for a proportion, not for a {arguments.statistic}."
        raise ParseError(msg)
    if arguments.lower is None or arguments.upper is None:
        msg = "Give --lower and --upper, the public bounds of the column, chosen without looking at the data."
        raise ParseError(msg)
    return read_column(sheet, arguments.column, lower=arguments.lower, upper=arguments.upper)
