"""``dpcore deployment``: what follows from a public record of differential privacy in use, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "records of differential privacy in use (YAML): check says what follows from a record, list puts all on one axis"
ACTIONS = ("check", "list")
MEASURES = ("mu", "advantage", "true_positive_rate")


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = (
        "Without FILE, the published deployments that come with dpcore. The guide's text “Deployments” has the fields."
    )
    parser.add_argument("action", choices=ACTIONS, help="check or list")
    parser.add_argument("file", metavar="FILE", nargs="?", help="a YAML file with one record or a list of them")
    parser.add_argument("--measure", choices=MEASURES, default="mu", help="for list: what is compared (default: mu)")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    import pandas as pd  # noqa: PLC0415  # slow to import and not needed for --help

    from dpcore.deployments import check, comparison, read_deployments  # noqa: PLC0415  # as above
    from dpcore.files.data import data_folder  # noqa: PLC0415  # as above
    from dpcore.files.documents import text_of  # noqa: PLC0415  # as above

    path = data_folder() / "deployments" / "published.yaml" if arguments.file is None else Path(arguments.file)
    records = read_deployments(text_of(path), path.name)
    if arguments.action == "list":
        return comparison(records, arguments.measure)
    return pd.concat([check(one) for one in records], ignore_index=True)
