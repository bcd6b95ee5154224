"""``dpcore ledger``: all releases of a file together, each alone, and the cost of each."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT, DELTA, LOSS, OPEN_ORDER
from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.ledger import Ledger

HELP = "all releases of a CSV or JSON file together, each alone, and the cost of each"
DEFAULT_DELTA = "1e-6"
MOST_NAMED = 5
EPILOG = (
    "All numbers hold for a list of strengths fixed beforehand: which query uses which entry of the list, in which order, and "
    "whether to stop early may depend on earlier answers; strengths and their number may not. If they do, keep the budget "
    "with one of the filters of --filter, chosen before the first release."
)


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    columns = "CSV with label,expression,count[,date,note,group,group_limit], or JSON; - reads standard input"
    parser.add_argument("file", metavar="FILE", nargs="?", help=columns)
    words = "instead of FILE: a JSON file of another library, an Opacus history or state, a dp-accounting event, or an OpenDP measurement"
    parser.add_argument("--from", dest="source", metavar="JSON", help=words)
    words = "for an OpenDP measurement: how far apart neighbours are in its metric, 1 or 2 (default: 1)"
    parser.add_value("--distance", COUNT.but(name="distance", high=2), words, metavar="D")
    parser.add_list("--delta", DEFAULT_DELTA, "values of delta for the whole ledger")
    parser.add_argument(
        "--relation", choices=("substitution", "add/remove"), help="the neighbouring relation under which all rows hold"
    )
    words = "the smallest mu of Gaussian privacy for everything together, for false-positive rates from 1e-12 to 1/2, and its regret"
    parser.add_argument("--mu", action="store_true", help=words)
    parser.add_argument("--skip", action="store_true", help="leave out rows that cannot be read, with a warning")
    parser.add_argument(
        "--more", metavar="ROW", help="how many more releases like this row (number or label) fit into the budget"
    )
    parser.add_argument(
        "--filter",
        action="store_true",
        help="run privacy filters over the rows in order: what may follow if strengths and their number are chosen as you go",
    )
    parser.add_value("--epsilon", LOSS, "epsilon of the budget, for --more and --filter", metavar="E")
    words = "order of the Rényi filter, above 1 (default: best for Gaussian noise)"
    parser.add_value("--order", OPEN_ORDER, words, metavar="A")
    words = "delta that the basic filter allows each release of unbounded loss (default: delta / 1000)"
    parser.add_value("--each", DELTA.but(name="each"), words, metavar="D")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.ledger import answers  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    ledger = _ledger(arguments)
    if not ledger.rows:
        msg = "The ledger has no row: there is nothing to add up."
        raise DomainError(msg)
    if arguments.mu:
        from dpcore.theorems.conversion.gaussian import fit_table  # noqa: PLC0415  # as above

        return fit_table(ledger.region).assign(neighbours=ledger.neighbours)
    deltas = [1e-6] if arguments.delta is None else arguments.delta.tolist()
    if arguments.filter:
        return _filter(ledger, arguments, deltas)
    _only_for_filters(arguments)
    if arguments.more is None:
        return answers(ledger, deltas)
    return _more(ledger, arguments, deltas)


def _ledger(arguments: argparse.Namespace) -> Ledger:
    """Read the ledger, or the accounts of another library."""
    from dataclasses import replace  # noqa: PLC0415  # as above

    from dpcore.ledger import read_ledger  # noqa: PLC0415  # as above

    if (arguments.file is None) == (arguments.source is None):
        msg = "Give one file: a ledger, or the account of another library with --from."
        raise DomainError(msg)
    data = _bytes(arguments.file or arguments.source)
    if arguments.source is not None:
        from dpcore.training.interop import read_accounts  # noqa: PLC0415  # slow: as long as a small ledger

        ledger = read_accounts(data.decode("utf-8-sig", errors="replace"), distance=arguments.distance)
        return replace(ledger, relation=arguments.relation or ledger.relation)
    if arguments.distance is not None:
        msg = "--distance belongs to --from with a measurement of OpenDP."
        raise DomainError(msg)
    reading = read_ledger(data)
    for words in reading.messages:
        warnings.warn(words, UserWarning, stacklevel=2)
    _problems(reading.problems, skip=arguments.skip)
    return replace(reading.ledger, relation=arguments.relation or reading.relation)


def _bytes(name: str) -> bytes:
    """Read a file or standard input, within bounds."""
    from dpcore.files.documents import MOST_DATA  # noqa: PLC0415  # as above
    from dpcore.words import grouped  # noqa: PLC0415  # as above

    if name == "-":
        return sys.stdin.buffer.read(MOST_DATA + 1)
    path = Path(name)
    if path.stat().st_size > MOST_DATA:
        msg = f"The file has {grouped(path.stat().st_size)} bytes; at most {grouped(MOST_DATA)} are read."
        raise DomainError(msg)
    return path.read_bytes()


def _problems(problems: tuple[str, ...], *, skip: bool) -> None:
    """Reject a file with wrong rows, or warn: a row left out makes every number too small."""
    for words in problems if skip else ():
        warnings.warn(words, UserWarning, stacklevel=2)
    if problems and not skip:
        rest = len(problems) - MOST_NAMED
        more = f" (and {rest} more rows)" if rest > 0 else ""
        msg = f"{' '.join(problems[:MOST_NAMED])}{more} Correct these rows, or leave them out with --skip."
        raise DomainError(msg)


def _more(ledger: Ledger, arguments: argparse.Namespace, deltas: list[float]) -> pd.DataFrame:
    """Return the table of `--more`: one row per delta."""
    import pandas as pd  # noqa: PLC0415  # as above

    from dpcore.core.kinds import labelled  # noqa: PLC0415  # as above
    from dpcore.ledger import ASSUMPTION, Budget, check_row, more  # noqa: PLC0415  # as above

    if arguments.epsilon is None:
        msg = "--more asks how many fit into a budget; give its epsilon with --epsilon."
        raise DomainError(msg)
    row = check_row(ledger, arguments.more)
    rows = []
    for delta in deltas:
        room = more(ledger, row, Budget(arguments.epsilon, delta))
        release = ledger.rows[row]
        rows.append(
            (
                release.label,
                release.expression,
                room.count,
                arguments.epsilon,
                delta,
                room.over,
                ASSUMPTION,
                room.kind,
            )
        )
    frame = pd.DataFrame(rows, columns=["label", "expression", "more", "epsilon", "delta", "over", "note", "kind"])
    return labelled(frame, theorem="composition of the regions", neighbours=ledger.neighbours)


def _only_for_filters(arguments: argparse.Namespace) -> None:
    """Reject options that would silently do nothing."""
    for name in ("order", "each"):
        if getattr(arguments, name) is not None:
            msg = f"--{name} belongs to --filter."
            raise DomainError(msg)


def _filter(ledger: Ledger, arguments: argparse.Namespace, deltas: list[float]) -> pd.DataFrame:
    """Return the table of `--filter`: the rows in order under each filter."""
    from dpcore.ledger import Budget, filter_table  # noqa: PLC0415  # as above

    if arguments.epsilon is None:
        msg = "--filter keeps a budget; give its epsilon with --epsilon."
        raise DomainError(msg)
    if arguments.more is not None:
        msg = "--more counts for strengths fixed beforehand, --filter for strengths chosen as you go; use one of them."
        raise DomainError(msg)
    if len(deltas) != 1:
        msg = f"A filter keeps one budget; give one delta, got {len(deltas)}."
        raise DomainError(msg)
    return filter_table(ledger, Budget(arguments.epsilon, deltas[0]), order=arguments.order, each=arguments.each)
