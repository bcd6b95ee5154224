"""``dpcore training``: the certified epsilon of a training run, what libraries print, and settings for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT, LOSS, POSITIVE, SHARE

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "private training (DP-SGD): epsilon, mu, attacks, what Opacus and others print, and a statement"
EPILOG = (
    "Numbers may be written as 256/60000 or 60*60000/256. With --target-epsilon leave out the number to solve for: --sigma, --batch, "
    "--examples, or both --epochs and --steps."
)


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    words = (
        "how a step chooses its records, never guessed: poisson (each independently with probability q), truncated (the same with a largest "
        "batch), fixed (a fresh batch of fixed size), allocation (each record in one random batch of every epoch), full (all), or shuffle (batches cut from a shuffled list: a lower and an upper bound)"
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
    words = "number of steps, in place of --epochs; a fraction is rounded up to a whole step"
    parser.add_value("--steps", COUNT.but(name="steps"), words, exact=True, metavar="T")
    words = "for truncated samples: the most records in a batch"
    parser.add_value("--largest-batch", COUNT.but(name="largest-batch"), words, metavar="C")
    words = "the most records of one person, all protected together (default: 1)"
    parser.add_value("--unit-records", COUNT.but(name="unit-records"), words, default=1, metavar="M")
    words = "cost of tuning: how many such runs are made, or how many on average, to choose the best one"
    parser.add_value("--runs", POSITIVE.but(name="runs", low=1.0, low_open=False), words, metavar="R")
    parser.add_value(
        "--delta",
        SHARE.but(name="delta"),
        "delta at which epsilon is stated (default: 1e-5)",
        default=1e-5,
        metavar="D",
    )
    parser.add_value("--claimed", LOSS.but(name="claimed"), "an epsilon that somebody claims: is it true?", metavar="E")
    words = "solve for the number that is left out"
    parser.add_value("--target-epsilon", LOSS.but(name="target-epsilon"), words, metavar="E")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    import pandas as pd  # noqa: PLC0415  # slow to import and not needed for --help

    from dpcore.core.errors import DomainError  # noqa: PLC0415  # with the imports below
    from dpcore.training import solve_training, training_run, training_summary  # noqa: PLC0415  # as above

    names = ("sigma", "examples", "batch", "epochs", "rate", "largest_batch", "unit_records")
    numbers = {name: getattr(arguments, name) for name in names}
    numbers["steps"] = None if arguments.steps is None else int(arguments.steps)
    if arguments.sampler == "shuffle":
        return _shuffled(arguments, numbers)
    if arguments.target_epsilon is None:
        if arguments.sigma is None:
            msg = "The noise is missing: give --sigma, or --target-epsilon to solve for it."
            raise DomainError(msg)
        summary = training_summary(training_run(arguments.sampler, **numbers), arguments.delta)
        return summary.table(arguments.claimed, arguments.runs)
    target = solve_training(arguments.sampler, epsilon=arguments.target_epsilon, delta=arguments.delta, **numbers)
    table = training_summary(target.run, arguments.delta).table(arguments.claimed, arguments.runs)
    bound = "upper" if target.unknown in {"sigma", "examples"} else "lower"
    facts = (bound, "dpcore, calibration", target.run.region.neighbours)
    first = (target.unknown, arguments.target_epsilon, target.value, target.value, target.words, *facts)
    return pd.concat([pd.DataFrame([first], columns=list(table)), table], ignore_index=True)


def _shuffled(arguments: argparse.Namespace, numbers: dict[str, Any]) -> pd.DataFrame:
    """Return what is proved about shuffled batches."""
    from dpcore.core.errors import DomainError  # noqa: PLC0415  # as above
    from dpcore.training import shuffled_run  # noqa: PLC0415  # as above

    options = {
        "--target-epsilon": arguments.target_epsilon,
        "--runs": arguments.runs,
        "--largest-batch": arguments.largest_batch,
    }
    wrong = [name for name, value in options.items() if value is not None]
    if wrong or arguments.unit_records != 1:
        msg = f"{(wrong or ['--unit-records'])[0]} needs a known ε, and shuffled batches have only bounds."
        raise DomainError(msg)
    if arguments.sigma is None:
        msg = "The noise is missing: give --sigma."
        raise DomainError(msg)
    known = {name: value for name, value in numbers.items() if name not in {"largest_batch", "unit_records"}}
    return shuffled_run(delta=arguments.delta, **known).table(arguments.claimed)
