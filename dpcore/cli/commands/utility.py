"""``dpcore utility``: how far private answers are off, in closed form beside a seeded simulation."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.cli.options import number
from dpcore.cli.own_options import option_of, own_options
from dpcore.errors import DomainError, DomainWarning, ParseError
from dpcore.lists import parse_list

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.utility.base import Pair
    from dpcore.utility.dataset import Dataset

HELP = "how far private answers are off as a parameter moves: closed forms beside a simulation"
PASSES_ON = True
POINTS = 6
MOST_CELLS = 2000


def configure(parser: Parser) -> None:
    """Add the arguments; those of the pair itself are read from the rest."""
    from dpcore.utility import PAIRS  # noqa: PLC0415  # pandas is slow to import and not needed for dpcore --help

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    width = max(map(len, PAIRS))
    listed = "\n".join(f"  {name:<{width}}  {cls.title}" for name, cls in sorted(PAIRS.items()))
    parser.epilog = (
        f"NAME is one of\n{listed}\n\nEvery parameter of a pair is an option: --epsilon 0.1,1 or --bins 20. The one with "
        "several values is moved;\nby default the pair's main one. dpcore utility --list names them all."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="query and mechanism, e.g. histogram_laplace")
    parser.add_argument("--list", action="store_true", help="list the names with their parameters and measures")
    parser.add_argument("--data", metavar="FILE", help="a CSV file; made-up ages by default")
    parser.add_argument("--column", metavar="C", help="its column; the first by default")
    parser.add_argument("--lower", type=number, metavar="A", help="public lower bound of the column ...")
    parser.add_argument("--upper", type=number, metavar="B", help="... and upper bound; without them it holds answers")
    parser.add_argument("--releases", type=int, default=2000, metavar="N", help="simulated releases (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the simulation (default: 0)")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    import numpy as np  # noqa: PLC0415  # needed here only

    from dpcore.utility import pair, table  # noqa: PLC0415  # pandas is slow to import

    if arguments.list:
        return _catalogue()
    if arguments.name is None:
        msg = "Name a query and mechanism, such as histogram_laplace; dpcore utility --list names them all."
        raise ParseError(msg)
    if arguments.seed < 0:
        msg = f"seed must be an integer from 0, got {arguments.seed}."
        raise DomainError(msg)
    plain = pair(arguments.name)
    settings = own_options(plain.name, plain.parameters(), arguments.rest)
    moved, values = _moved(plain, settings)
    fixed = {name: items[0] for name, items in settings.items() if name != moved}
    chosen = pair(arguments.name, **fixed, **({moved: values[0]} if moved in settings else {}))
    return table(
        chosen, moved, values, _data(chosen, arguments), np.random.default_rng(arguments.seed), arguments.releases
    )


def _catalogue() -> pd.DataFrame:
    """Return every pair with its parameters and measures."""
    import pandas as pd  # noqa: PLC0415  # slow to import

    from dpcore.utility import PAIRS, pair  # noqa: PLC0415  # pandas is slow to import

    rows = []
    for name, cls in sorted(PAIRS.items()):
        told = ", ".join(f"{p.name}={p.default}" for p in cls.parameters())
        rows.append((name, cls.title, cls.main, told, ", ".join(m.name for m in pair(name).measures)))
    return pd.DataFrame(rows, columns=["name", "title", "main", "parameters", "measures"])


def _moved(pair: Pair, settings: dict[str, list[Any]]) -> tuple[str, list[Any]]:
    """Return which parameter moves, and through which values."""
    several = [name for name, values in settings.items() if len(values) > 1]
    if len(several) > 1:
        msg = f"Only one parameter can have several values; got {' and '.join(map(option_of, several))}."
        raise ParseError(msg)
    name = several[0] if several else pair.main
    values = settings.get(name)
    if values is None:
        first, last = pair.span
        kinds = {p.name: p.kind for p in pair.parameters()}
        drawn = parse_list(f"{first!r}..{last!r}/{POINTS}").tolist()
        values = (
            sorted({round(v) for v in drawn}) if kinds.get(name) == "integer" else [float(f"{v:.4g}") for v in drawn]
        )
    if len(values) > MOST_CELLS:
        msg = f"{option_of(name)} must have at most {MOST_CELLS} values, got {len(values)}."
        raise DomainError(msg)
    return name, values


def _data(pair: Pair, arguments: argparse.Namespace) -> Dataset:
    """Return the column of the file, or made-up data."""
    from dpcore.utility.reading import read_labels, read_numbers  # noqa: PLC0415  # needed with --data only
    from dpcore.utility.sheet import open_csv  # noqa: PLC0415  # needed with --data only

    bounds = (arguments.lower, arguments.upper)
    if arguments.data is None:
        if arguments.column is not None or bounds != (None, None):
            msg = "--column, --lower and --upper speak of a file; name it with --data."
            raise ParseError(msg)
        return pair.example()
    if not pair.uses_data:
        msg = f"{pair.name} follows from its parameters alone and takes no --data."
        raise ParseError(msg)
    if (arguments.lower is None) != (arguments.upper is None):
        msg = "--lower and --upper belong together: the public bounds of the column."
        raise ParseError(msg)
    sheet = open_csv(Path(arguments.data).read_bytes())
    column = sheet.columns[0] if arguments.column is None else arguments.column
    if arguments.lower is None:
        reading = read_labels(sheet, column)
    else:
        reading = read_numbers(sheet, column, arguments.lower, arguments.upper)
    if reading.dropped or any(reading.clipped):
        warnings.warn(" ".join(reading.told), DomainWarning, stacklevel=2)
    return reading.dataset
