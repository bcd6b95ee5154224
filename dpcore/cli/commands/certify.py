"""``dpcore certify``: a number with the proof of its bracket, in a file that ``dpcore-verify`` checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import ALPHA, ANY_LOSS, DELTA
from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "a certificate of one number: its bracket with a proof that dpcore-verify checks"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    text = "a region, e.g. 'laplace(0.1)^1000'; with ?, the value that meets delta(E) <= D is calibrated and certified"
    parser.add_argument("expression", metavar="EXPR", help=text)
    parser.add_value("--epsilon", ANY_LOSS, "certify delta at this epsilon", metavar="E")
    parser.add_value("--delta", DELTA, "certify epsilon at this delta", metavar="D")
    parser.add_value(
        "--alpha", ALPHA, "certify the smallest false-negative rate at this false-positive rate", metavar="A"
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write the certificate (JSON)")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Write the certificate and return its claim."""
    from pathlib import Path  # noqa: PLC0415  # as below

    import pandas as pd  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    from dpcore.certificates import certify, certify_calibration  # noqa: PLC0415  # needs python-flint

    if "?" in arguments.expression:
        if arguments.epsilon is None or arguments.delta is None or arguments.alpha is not None:
            msg = "An expression with ? needs --epsilon and --delta, the target."
            raise DomainError(msg)
        certificate = certify_calibration(arguments.expression, epsilon=arguments.epsilon, delta=arguments.delta)
    else:
        certificate = certify(
            arguments.expression, epsilon=arguments.epsilon, delta=arguments.delta, alpha=arguments.alpha
        )
    text = certificate.text()
    try:
        Path(arguments.output).write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"Cannot write {arguments.output}: {error.strerror}."
        raise DomainError(msg) from error
    row = {"file": arguments.output, "claim": certificate.claim, "bytes": len(text), "digest": certificate.digest}
    return pd.DataFrame([row])
