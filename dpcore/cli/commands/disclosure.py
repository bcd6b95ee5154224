"""``dpcore disclosure``: who is unique in a table, what gives them away, and a protected copy of it."""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT, POSITIVE, PROBABILITY, SEED
from dpcore.core.errors import DomainWarning, ParseError

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.files.matrices import NamedMatrix
    from dpcore.files.microdata import Microdata
    from dpcore.planner.disclosure import Protection

HELP = "check a table of people: k-anonymity, l-diversity, generalisation, PRAM and noise; write a protected copy"
VIEWS = ("summary", "classes", "pram", "covariance", "noise", "regions")


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "RULES are column:how, separated by commas: age:10 (intervals of 10), age:10@5 (one begins at 5), age:18|30|65 (these ends),\n"
        "zip:2* (first two characters), name:* (hidden), 'job:medical=nurse|doctor;office=clerk' (groups; the rest becomes other).\n"
        "k-anonymity and l-diversity have no privacy region; --view regions shows what has one."
    )
    parser.add_argument("file", metavar="FILE", help="a CSV file, one row per person")
    parser.add_argument("--quasi", metavar="NAMES", help="columns an attacker may know: age,zip")
    parser.add_argument("--sensitive", metavar="NAMES", help="columns an attacker wants to learn: diagnosis")
    parser.add_argument(
        "--generalise", metavar="RULES", action="append", help="make columns coarser, e.g. age:10,zip:2*"
    )
    parser.add_value(
        "--suppress", COUNT.but(name="suppress"), "leave out classes with fewer rows than this", default=1, metavar="K"
    )
    parser.add_value("--small", COUNT.but(name="small"), "size below which a class is small (default: 5)", default=5)
    parser.add_argument("--pram", metavar="COLUMN", help="change the answers of a column at random ...")
    parser.add_argument(
        "--matrix", metavar="FILE", help="... by this matrix (CSV; rows: true answer, columns: released)"
    )
    parser.add_value(
        "--keep", PROBABILITY.but(name="keep"), "... or keep each answer with this probability", metavar="P"
    )
    parser.add_argument("--categories", metavar="NAMES", help="the declared answers of that column")
    for method in ("noise", "pram"):
        words = "noise uniform in [-A, A] on" if method == "noise" else "new values within bins of width A of"
        parser.add_argument(f"--k-{method}", metavar="COLUMN:A", action="append", help=f"{words} a column of numbers")
    parser.add_value(
        "--shift",
        POSITIVE.but(name="shift"),
        "the regions tell apart two values at this distance (default: 1)",
        default=1.0,
    )
    parser.add_argument("--view", choices=VIEWS, default=VIEWS[0], help="which table to print (default: summary)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the protected table to this CSV file")
    parser.add_value("--seed", SEED, "repeat the same protected table, for tests only", metavar="S")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table, and write the protected one."""
    from dpcore.files.microdata import read_microdata  # noqa: PLC0415  # pandas is slow to import
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # as above

    data = read_microdata(open_csv(Path(arguments.file)))
    quasi = _names(arguments.quasi)
    sensitive = _names(arguments.sensitive)
    if not quasi and (arguments.view in VIEWS[:2] or arguments.suppress > 1):
        msg = f"--quasi names the columns an attacker may know; this file has {', '.join(data.names)[:200]}."
        raise ParseError(msg)
    plan = _plan(arguments, data, quasi)
    _remarks(plan, data, (*quasi, *sensitive))
    table = _view(arguments, plan, data, sensitive)
    if arguments.output:
        _write(arguments, plan, data)
    return table


def _names(text: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list; a name with a comma is in quotation marks."""
    if not text:
        return ()
    return tuple(name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip())


def _plan(arguments: argparse.Namespace, data: Microdata, quasi: tuple[str, ...]) -> Protection:
    """Return what the options do to the table."""
    from dpcore.files.matrices import read_matrix  # noqa: PLC0415  # as above
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # as above
    from dpcore.planner.disclosure import protection  # noqa: PLC0415  # as above

    if arguments.matrix is not None and arguments.keep is not None:
        msg = "--matrix and --keep say the same in two ways; give one of them."
        raise ParseError(msg)
    matrix: float | NamedMatrix | None = arguments.keep
    if arguments.matrix is not None:
        matrix = read_matrix(open_csv(Path(arguments.matrix)))
        for text in matrix.notes:
            warnings.warn(text, DomainWarning, stacklevel=2)
    return protection(
        data,
        quasi,
        generalise=",".join(arguments.generalise or ()),
        suppress=arguments.suppress,
        pram=arguments.pram or "",
        matrix=matrix,
        categories=arguments.categories or (),
        noise=[f"k-noise {text}" for text in arguments.k_noise or ()]
        + [f"k-PRAM {text}" for text in arguments.k_pram or ()],
    )


def _remarks(plan: Protection, data: Microdata, columns: tuple[str, ...]) -> None:
    """Warn about anything unusual in the file and about what the rules did."""
    from dpcore.planner.disclosure import generalisation  # noqa: PLC0415  # as above
    from dpcore.planner.disclosure.plan import missing_notes  # noqa: PLC0415  # as above

    sentences = [
        *data.notes,
        *missing_notes(data, columns),
        *generalisation.notes(data, plan.rules),
        *data.comma_words(plan.numeric),
    ]
    if plan.rules:
        sentences.append(f"Generalised: {generalisation.words_of(plan.rules)}.")
    for text in sentences:
        if text != _HEADER:
            warnings.warn(text, DomainWarning, stacklevel=2)


_HEADER = "The first row gives the names of the columns."


def _view(arguments: argparse.Namespace, plan: Protection, data: Microdata, sensitive: tuple[str, ...]) -> pd.DataFrame:
    """Return the table that --view names."""
    from dpcore.planner.disclosure import NO_REGION, check, noise_frame  # noqa: PLC0415  # as above
    from dpcore.planner.disclosure.plan import both_classes  # noqa: PLC0415  # as above

    if arguments.view == "summary":
        warnings.warn(NO_REGION, DomainWarning, stacklevel=2)
        return check(data, plan, sensitive, arguments.small)
    if arguments.view == "classes":
        return both_classes(data, plan, sensitive)[1].frame
    if arguments.view == "noise":
        if not plan.noises:
            msg = "--view noise needs --k-noise or --k-pram."
            raise ParseError(msg)
        return noise_frame(plan.coarse(data), plan.noises)
    if arguments.view == "regions":
        return plan.statements(arguments.shift)
    if plan.pram is None:
        msg = f"--view {arguments.view} needs --pram."
        raise ParseError(msg)
    one = plan.randomised(data)
    return one.frame() if arguments.view == "pram" else one.covariance_frame()


def _write(arguments: argparse.Namespace, plan: Protection, data: Microdata) -> None:
    """Write the protected table."""
    import numpy as np  # noqa: PLC0415  # as above

    from dpcore.files.csv_writer import write_frame  # noqa: PLC0415  # as above
    from dpcore.planner.disclosure.chance import SEEDED  # noqa: PLC0415  # as above

    rng: Any = None
    if arguments.seed is not None:
        warnings.warn(SEEDED, DomainWarning, stacklevel=2)
        rng = np.random.default_rng(arguments.seed)
    frame = plan.release(data, rng)
    with Path(arguments.output).open("w", encoding="utf-8", newline="") as stream:
        write_frame(frame, stream)
