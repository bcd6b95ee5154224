"""``dpcore utility``: the error of private answers, in closed form beside a seeded simulation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dpcore.cli import own_data
from dpcore.cli.own_options import option_of, own_options
from dpcore.core.domains import COUNT, SEED
from dpcore.core.errors import DomainError, ParseError
from dpcore.language.lists import parse_list

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.utility.base import UtilityPair

HELP = "the error of private answers as a parameter changes: closed forms beside a simulation"
PASSES_ON = True
POINTS = 6  # values of the main parameter by default
MOST_CELLS = 2000  # values of one option


def configure(parser: Parser) -> None:
    """Add the arguments; those of the pair itself are read from the rest."""
    from dpcore.utility import PAIRS  # noqa: PLC0415  # pandas is slow to import and not needed for dpcore --help

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    width = max(map(len, PAIRS))
    names = "\n".join(f"  {name:<{width}}  {cls.title}" for name, cls in sorted(PAIRS.items()))
    parser.epilog = (
        f"NAME is one of\n{names}\n\nEvery parameter of a pair is an option: --epsilon 0.1,1 or --bins 20. The one with "
        "several values is varied;\nby default the main one of the pair. --n, --lower and --upper can be varied too: --upper 10,20,50 "
        "shows how bias falls and noise\ngrows with the bound. dpcore utility --list names all pairs."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="query and mechanism, e.g. histogram_laplace")
    parser.add_argument("--list", action="store_true", help="list the names with their parameters and measures")
    own_data.configure(parser)
    releases = COUNT.but(name="releases")
    parser.add_value("--releases", releases, "simulated releases (default: 2000)", default=2000, metavar="N")
    parser.add_value("--seed", SEED, "seed of the simulation (default: 0)", default=0, metavar="S")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    import numpy as np  # noqa: PLC0415  # needed here only

    from dpcore.utility import pair, table  # noqa: PLC0415  # pandas is slow to import

    if arguments.list:
        return _catalogue()
    if arguments.name is None:
        msg = "Name a query and mechanism, such as histogram_laplace; dpcore utility --list names them all."
        raise ParseError(msg)
    plain = pair(arguments.name)
    settings = own_options(plain.name, plain.parameters(), arguments.rest)
    of_data = own_data.several(arguments)
    moved, values = _moved(plain, {**settings, **of_data})
    fixed = {name: items[0] for name, items in settings.items() if name != moved}
    query = pair(arguments.name, **fixed, **({moved: values[0]} if moved in settings else {}))
    data, rng = own_data.dataset(query, arguments), np.random.default_rng(arguments.seed)
    if moved in of_data:
        return own_data.moved_table(query, data, moved, values, rng, arguments)
    return table(query, moved, values, data, rng, arguments.releases)


def _catalogue() -> pd.DataFrame:
    """Return all pairs with their parameters and measures."""
    import pandas as pd  # noqa: PLC0415  # slow to import

    from dpcore.utility import PAIRS, pair  # noqa: PLC0415  # pandas is slow to import

    rows = []
    for name, cls in sorted(PAIRS.items()):
        defaults = ", ".join(f"{p.name}={p.default}" for p in cls.parameters())
        rows.append((name, cls.title, cls.main, defaults, ", ".join(m.name for m in pair(name).measures)))
    return pd.DataFrame(rows, columns=["name", "title", "main", "parameters", "measures"])


def _moved(pair: UtilityPair, settings: dict[str, list[Any]]) -> tuple[str, list[Any]]:
    """Return the parameter to vary and its values."""
    several = [name for name, values in settings.items() if len(values) > 1]
    if len(several) > 1:
        msg = f"Only one parameter can have several values; got {' and '.join(map(option_of, several))}."
        raise ParseError(msg)
    name = several[0] if several else pair.main
    values = settings.get(name)
    if values is None:
        first, last = pair.span
        kinds = {p.name: p.kind for p in pair.parameters()}
        grid = parse_list(f"{first!r}..{last!r}/{POINTS}").tolist()
        values = sorted({round(v) for v in grid}) if kinds.get(name) == "integer" else [float(f"{v:.4g}") for v in grid]
    if len(values) > MOST_CELLS:
        msg = f"{option_of(name)} must have at most {MOST_CELLS} values, got {len(values)}."
        raise DomainError(msg)
    return name, values
