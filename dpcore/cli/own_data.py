"""The data of a command: an example, or a column of a CSV file, with its size, bounds and categories."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.cli.options import number_list
from dpcore.core.domains import COUNT, REAL
from dpcore.core.errors import DomainWarning, ParseError

if TYPE_CHECKING:
    import argparse

    import pandas as pd
    from numpy.random import Generator

    from dpcore.cli.options import Parser
    from dpcore.utility.base import UtilityPair
    from dpcore.utility.dataset import Dataset
    from dpcore.utility.reading import ColumnReading

MOVABLE = ("n", "lower", "upper")
MOST_EXAMPLE = 10**6  # records
_RECORDS = COUNT.but(name="n")


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("--data", metavar="FILE", help="a CSV file; example data by default")
    parser.add_argument("--column", metavar="C", help="its column; the first by default")
    parser.add_argument(
        "--n",
        type=number_list,
        metavar="LIST",
        help="number of records: of the example (default: 1000), or the first of the file",
    )
    parser.add_argument(
        "--lower", type=number_list, metavar="LIST", help="public lower bound of a column of numbers ..."
    )
    parser.add_argument(
        "--upper", type=number_list, metavar="LIST", help="... and upper bound; several show a trade-off"
    )
    parser.add_argument("--categories", metavar="NAMES", help='the declared answers of a column of text: "A,B,C"')
    parser.add_argument(
        "--others",
        choices=("count", "drop"),
        default="count",
        help="undeclared answers: counted in a bin called other, or their rows dropped (default: count)",
    )


def configure_column(parser: Parser) -> None:
    """Add a CSV file as an argument, and the options of its column of numbers with public bounds."""
    parser.add_argument("file", metavar="FILE", help="a CSV file")
    parser.add_argument("--column", metavar="C", default="", help="its column (default: the first)")
    parser.add_value("--lower", REAL.but(name="lower"), "public lower bound of the values ...", metavar="A")
    parser.add_value(
        "--upper", REAL.but(name="upper"), "... and upper bound; values outside are moved to it", metavar="B"
    )


def several(arguments: argparse.Namespace) -> dict[str, list[Any]]:
    """Return the data options that have several values: name -> values."""
    options = {name: getattr(arguments, name) for name in MOVABLE}
    lists = {name: values.tolist() for name, values in options.items() if values is not None and len(values) > 1}
    return {name: [_RECORDS.check(v) for v in values] if name == "n" else values for name, values in lists.items()}


def dataset(pair: UtilityPair, arguments: argparse.Namespace) -> Dataset:
    """Return the file's column, or example data, with the size and bounds from the options, or the first of several."""
    options = [f"--{name}" for name in ("data", *MOVABLE) if getattr(arguments, name) is not None]
    if options and not pair.uses_data:
        msg = f"{pair.name} follows from its parameters alone and takes no {options[0]}."
        raise ParseError(msg)
    if arguments.data is not None:
        data = _read(pair, arguments)
        return data if arguments.n is None else _first(data, _RECORDS.check(float(arguments.n[0])))
    if arguments.column is not None or arguments.categories is not None:
        msg = "--column and --categories describe a file; name the file with --data."
        raise ParseError(msg)
    from dpcore.utility.samples import part  # noqa: PLC0415  # pandas is slow to import

    example = pair.example() if arguments.n is None else _example(pair, _RECORDS.check(float(arguments.n[0])))
    low, high = (None if x is None else float(x[0]) for x in (arguments.lower, arguments.upper))
    return part(example, low=low, high=high)


def moved_table(
    pair: UtilityPair, data: Dataset, name: str, values: list[Any], rng: Generator, arguments: argparse.Namespace
) -> pd.DataFrame:
    """Tabulate the results as the number of records or a bound changes."""
    from dpcore.utility.bounds import LEAK, bound_cases  # noqa: PLC0415  # pandas is slow to import
    from dpcore.utility.simulate import cases_table  # noqa: PLC0415  # pandas is slow to import

    if name == "n":
        whole = data if arguments.data is None else _read(pair, arguments, silent=True)
        cut = [_example(pair, n) if arguments.data is None else _first(whole, n) for n in values]
        bounds = [one if one.categories or one.d > 1 else one.within(data.lower, data.upper) for one in cut]
        cases = [(n, pair, one) for n, one in zip(values, bounds, strict=True)]
        return cases_table("n", cases, rng, arguments.releases)
    if arguments.data is not None:
        warnings.warn(LEAK, DomainWarning, stacklevel=2)
    return bound_cases(pair, data, name, values, rng, arguments.releases)


def _example(pair: UtilityPair, n: int) -> Dataset:
    return pair.example(_RECORDS.but(high=MOST_EXAMPLE).check(n))


def _first(data: Dataset, n: int) -> Dataset:
    from dpcore.utility.samples import part  # noqa: PLC0415  # pandas is slow to import

    return part(data, n=n)


def _read(pair: UtilityPair, arguments: argparse.Namespace, *, silent: bool = False) -> Dataset:
    """Return the column of the file, and warn about lost records."""
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # needed with --data only

    if (arguments.lower is None) != (arguments.upper is None):
        msg = "--lower and --upper, the public bounds of the column, belong together: give both."
        raise ParseError(msg)
    if arguments.lower is not None and arguments.categories is not None:
        msg = "--lower and --upper are for numbers, --categories for answers; give one of them."
        raise ParseError(msg)
    sheet = open_csv(Path(arguments.data).read_bytes())
    reading = _reading(pair, sheet, sheet.columns[0] if arguments.column is None else arguments.column, arguments)
    if not silent and (reading.unusual or reading.dataset.categories):
        warnings.warn(" ".join(reading.notes), DomainWarning, stacklevel=2)
    return reading.dataset


def _reading(pair: UtilityPair, sheet: Any, column: str, arguments: argparse.Namespace) -> ColumnReading:
    """Read the column as numbers, or as answers that are declared or named by the query."""
    from dpcore.utility.reading import UNDECLARED, read_labels, read_numbers  # noqa: PLC0415  # needed with --data only

    if arguments.lower is not None:
        return read_numbers(sheet, column, float(arguments.lower[0]), float(arguments.upper[0]))
    categories = arguments.categories if arguments.categories is not None else pair.named()
    if categories:
        return read_labels(sheet, column, categories, arguments.others)
    text = " or --equals ANSWER for one of them" if "equals" in {p.name for p in pair.parameters()} else ""
    msg = f'Say how the column is read: --lower and --upper for numbers, --categories "A,B,C" for answers{text}. {UNDECLARED}'
    raise ParseError(msg)
