"""``dpcore audit``: what measured attack results prove, and whether they contradict a claim."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import CONFIDENCE
from dpcore.core.errors import DomainWarning
from dpcore.language import parse

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "what measured attack results prove about ε, μ and the advantage, and whether they contradict a claim"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "file",
        metavar="FILE",
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


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.audit import audit, read_audit, report  # noqa: PLC0415  # pandas is slow to import
    from dpcore.audit.statements import DELTAS  # noqa: PLC0415  # as above

    claims = [parse(text) for text in arguments.claim]
    reading = read_audit(
        Path(arguments.file).read_bytes(), score=arguments.score, label=arguments.label, reverse=arguments.reverse
    )
    if reading.problems:
        warnings.warn(" ".join(reading.messages), DomainWarning, stacklevel=2)
    deltas = DELTAS if arguments.delta is None else tuple(arguments.delta.tolist())
    return report(audit(reading.measurement, arguments.confidence), claims, deltas)
