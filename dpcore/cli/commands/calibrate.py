"""``dpcore calibrate``: the missing parameter, rounded to the safe side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import ADVANTAGE, DELTA, FPR, LOSS, TPR

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "the value of ? that meets a target, rounded to the safe side"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    text = "a region with one ?, e.g. 'gaussian(?)^10' or 'laplace(0.1)^?'; without ?, the missing half of the target"
    parser.add_argument("expression", metavar="EXPR", help=text)
    parser.add_value("--epsilon", LOSS, "target delta(E) <= D: its epsilon", metavar="E")
    parser.add_value("--delta", DELTA, "target delta(E) <= D: its delta", metavar="D")
    parser.add_value("--advantage", ADVANTAGE, "target: an attacker's advantage of at most A", metavar="A")
    parser.add_value("--tpr", TPR, "target: a true-positive rate of at most X ...", metavar="X")
    parser.add_value("--fpr", FPR, "... at the false-positive rate Y", metavar="Y")


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
