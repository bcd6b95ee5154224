"""``dpcore audit``: what measured attack results prove, and whether they contradict a claim."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import CONFIDENCE, COUNT
from dpcore.core.errors import DomainError, DomainWarning
from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.audit import OneRunAudit
    from dpcore.audit.measurements import Measurement
    from dpcore.cli.options import Parser

HELP = "what measured attack results prove about ε, μ and the advantage, and whether they contradict a claim"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="a CSV file: score,label or tp,fp,tn,fn or fpr,fnr,n0,n1, one trial or test per row",
    )
    parser.add_argument(
        "--claim", metavar="EXPR", action="append", default=[], help="a claimed region; may be repeated"
    )
    parser.add_value("--confidence", CONFIDENCE, "confidence (default: 0.95)", default=0.95, metavar="C")
    parser.add_list("--delta", "0,1e-5,1e-3", "where epsilon is bounded")
    parser.add_argument("--score", metavar="COLUMN", help="column of the scores; by default recognized by its name")
    parser.add_argument(
        "--label", metavar="COLUMN", help="column of the labels, 1 for a member; by default recognized by its name"
    )
    parser.add_argument("--reverse", action="store_true", help="a low score means a member")
    words = "all rows are canaries of one training run, each put into the data or left out by its own fair coin"
    parser.add_argument("--one-run", action="store_true", help=words)
    words = "for one run: how many coins are guessed, fixed beforehand (default: all)"
    parser.add_value("--guesses", COUNT.but(name="guesses"), words, metavar="R")
    words = "for one run without a file: how many canaries there were, with --guesses and --correct"
    parser.add_value("--canaries", COUNT.but(name="canaries"), words, metavar="M")
    parser.add_value("--correct", COUNT.but(name="correct", low=0), "how many of the guesses were right", metavar="W")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.audit import audit, one_run_report, report  # noqa: PLC0415  # pandas is slow to import
    from dpcore.audit.statements import DELTAS  # noqa: PLC0415  # as above

    claims = [parse(text) for text in arguments.claim]
    deltas = DELTAS if arguments.delta is None else tuple(arguments.delta.tolist())
    if arguments.one_run or arguments.canaries is not None:
        return one_run_report(_one_run(arguments), claims, deltas)
    for name in ("guesses", "correct"):
        if getattr(arguments, name) is not None:
            msg = f"--{name} belongs to --one-run."
            raise DomainError(msg)
    return report(audit(_measurement(arguments), arguments.confidence), claims, deltas)


def _one_run(arguments: argparse.Namespace) -> OneRunAudit:
    """Return the audit of one run, from a file of canaries or from the number of correct guesses."""
    from dpcore.audit import OneRun, OneRunAudit, Scores  # noqa: PLC0415  # as above

    if arguments.canaries is None:
        measurement = _measurement(arguments)
        if not isinstance(measurement, Scores):
            msg = "One run needs a score and a label of every canary; the file has outcomes of tests."
            raise DomainError(msg)
        if arguments.correct is not None:
            msg = "--correct counts the right guesses of a run without a file; the file already has them."
            raise DomainError(msg)
        return OneRunAudit(OneRun.of_scores(measurement, arguments.guesses), arguments.confidence)
    if arguments.file is not None:
        msg = "Give a file of canaries, or --canaries, --guesses and --correct."
        raise DomainError(msg)
    if arguments.correct is None:
        msg = "The number of right guesses is missing: give --correct."
        raise DomainError(msg)
    guesses = arguments.canaries if arguments.guesses is None else arguments.guesses
    return OneRunAudit(OneRun(arguments.canaries, guesses, arguments.correct), arguments.confidence)


def _measurement(arguments: argparse.Namespace) -> Measurement:
    """Read the file."""
    from dpcore.audit import read_audit  # noqa: PLC0415  # as above

    if arguments.file is None:
        msg = "Give a file of attack results, or --canaries, --guesses and --correct of one run."
        raise DomainError(msg)
    reading = read_audit(
        Path(arguments.file).read_bytes(), score=arguments.score, label=arguments.label, reverse=arguments.reverse
    )
    if reading.problems:
        warnings.warn(" ".join(reading.messages), DomainWarning, stacklevel=2)
    return reading.measurement
