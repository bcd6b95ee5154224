"""``dpcore training``: the certified epsilon of a training run, what libraries print, and the numbers for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT, LOSS, POSITIVE, SHARE

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "private training (DP-SGD): certified epsilon, mu, attacks, what Opacus and others print, and a statement"
EPILOG = (
    "Numbers may be written as 256/60000 or 60*60000/256. With --target-epsilon leave out the number sought: --sigma, --batch, "
    "--examples, or both --epochs and --steps."
)


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    words = (
        "how a step chooses its records: poisson (each independently with probability q) or full (all); never guessed"
    )
    parser.add_argument("--sampler", metavar="NAME", help=words)
    words = "noise multiplier: standard deviation of the noise over the clipping norm"
    parser.add_value("--sigma", POSITIVE.but(name="sigma"), words, metavar="S")
    parser.add_value("--examples", COUNT.but(name="examples"), "number of records in the training data", metavar="N")
    parser.add_value(
        "--batch", POSITIVE.but(name="batch"), "records that a step uses, on average", exact=True, metavar="B"
    )
    parser.add_value(
        "--epochs", POSITIVE.but(name="epochs"), "how often a record is used, on average", exact=True, metavar="E"
    )
    words = "probability that a step uses a record, in place of --examples and --batch"
    parser.add_value("--rate", SHARE.but(name="rate"), words, metavar="Q")
    words = "number of steps, in place of --epochs; a part of a step counts as a step"
    parser.add_value("--steps", COUNT.but(name="steps"), words, exact=True, metavar="T")
    parser.add_value(
        "--delta", SHARE.but(name="delta"), "where epsilon is asked (default: 1e-5)", default=1e-5, metavar="D"
    )
    parser.add_value("--claimed", LOSS.but(name="claimed"), "an epsilon that somebody claims: is it so?", metavar="E")
    words = "solve for the number that is left out"
    parser.add_value("--target-epsilon", LOSS.but(name="target-epsilon"), words, metavar="E")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    import pandas as pd  # noqa: PLC0415  # slow to import and not needed for --help

    from dpcore.core.errors import DomainError  # noqa: PLC0415  # with the imports below
    from dpcore.training import solve_training, training_run, training_summary  # noqa: PLC0415  # as above

    numbers = {name: getattr(arguments, name) for name in ("sigma", "examples", "batch", "epochs", "rate")}
    numbers["steps"] = None if arguments.steps is None else int(arguments.steps)
    if arguments.target_epsilon is None:
        if arguments.sigma is None:
            msg = "The noise is missing: give --sigma, or --target-epsilon to solve for it."
            raise DomainError(msg)
        return training_summary(training_run(arguments.sampler, **numbers), arguments.delta).table(arguments.claimed)
    target = solve_training(arguments.sampler, epsilon=arguments.target_epsilon, delta=arguments.delta, **numbers)
    table = training_summary(target.run, arguments.delta).table(arguments.claimed)
    bound = "upper" if target.unknown in {"sigma", "examples"} else "lower"
    facts = (bound, "dpcore, calibration", target.run.region.neighbours)
    first = (target.unknown, arguments.target_epsilon, target.value, target.value, target.words, *facts)
    return pd.concat([pd.DataFrame([first], columns=list(table)), table], ignore_index=True)
