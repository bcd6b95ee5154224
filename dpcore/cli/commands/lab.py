"""``dpcore lab``: what a thesis printed beside what is true, or the numbers in one of a lab's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.cli.own_options import option_of, own_options
from dpcore.core.domains import SEED
from dpcore.core.errors import ParseError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "the statistics labs: what was printed beside what is true"
PASSES_ON = True


def configure(parser: Parser) -> None:
    """Add the arguments; those of the lab itself are read from the rest."""
    from dpcore.labs import LABS  # noqa: PLC0415  # pandas is slow to import and not needed for dpcore --help

    parser.epilog = (
        f"NAME is one of {', '.join(LABS)}; dpcore lab --list describes them. "
        "Every parameter of a lab is an option, such as --epsilon 0.5."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the lab, e.g. mixed_noise")
    parser.add_argument("--list", action="store_true", help="list the labs with their parameters and pictures")
    parser.add_argument("--view", metavar="V", help="print the numbers of this picture instead of the printed claims")
    parser.add_value("--seed", SEED, "seed of the simulation (default: 0)", default=0, metavar="S")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.frames import curve  # noqa: PLC0415  # as above
    from dpcore.labs import Plot, lab  # noqa: PLC0415  # pandas is slow to import

    if arguments.list:
        return _catalogue()
    if arguments.name is None:
        msg = "Name a lab, such as mixed_noise; dpcore lab --list names them all."
        raise ParseError(msg)
    plain = lab(arguments.name)
    study = plain.but(**_settings(plain.name, plain.parameters(), arguments.rest))
    if arguments.view is None:
        return study.table(arguments.seed)
    picture = study.view(arguments.view, arguments.seed)
    return picture.frame if isinstance(picture, Plot) else curve(list(picture.regions.values()))


def _settings(name: str, parameters: Any, words: list[str]) -> dict[str, Any]:
    """Return the lab's options, each with one value."""
    settings = own_options(name, parameters, words)
    for key, values in settings.items():
        if len(values) != 1:
            msg = f"{option_of(key)} takes one value, got {len(values)}."
            raise ParseError(msg)
    return {key: values[0] for key, values in settings.items()}


def _catalogue() -> pd.DataFrame:
    """Return all labs with their parameters and pictures."""
    import pandas as pd  # noqa: PLC0415  # slow to import

    from dpcore.labs import LABS  # noqa: PLC0415  # pandas is slow to import

    rows = []
    for name, cls in sorted(LABS.items()):
        defaults = ", ".join(f"{p.name}={p.default}" for p in cls.parameters())
        rows.append((name, cls.title, cls.place, defaults, ", ".join(cls.views)))
    return pd.DataFrame(rows, columns=["name", "title", "place", "parameters", "views"])
