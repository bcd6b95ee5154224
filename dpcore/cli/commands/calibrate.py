"""``dpcore calibrate``: the parameter that was left out, rounded to the safe side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.cli.options import number

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "the value of ? that meets a target, rounded to the safe side"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    text = "a region with one ?, e.g. 'gaussian(?)^10' or 'laplace(0.1)^?'; without ?, the rest of the target is found"
    parser.add_argument("expression", metavar="EXPR", help=text)
    parser.add_argument("--epsilon", type=number, metavar="E", help="target delta(E) <= D: its epsilon")
    parser.add_argument("--delta", type=number, metavar="D", help="target delta(E) <= D: its delta")
    parser.add_argument("--advantage", type=number, metavar="A", help="target: an attacker's advantage of at most A")
    parser.add_argument("--tpr", type=number, metavar="X", help="target: a true-positive rate of at most X ...")
    parser.add_argument("--fpr", type=number, metavar="Y", help="... at the false-positive rate Y")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.calibration import calibrate  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    return calibrate(
        arguments.expression,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        advantage=arguments.advantage,
        tpr=arguments.tpr,
        fpr=arguments.fpr,
    )
