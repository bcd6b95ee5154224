"""``dpcore sweep``: one measure over a grid of parameters, on one core, on all cores, or on a cluster."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser

HELP = "one measure of an expression over a grid of its parameters; all cores, a Dask cluster, resumable"
EPILOG = (
    'GRID.toml holds expression = "poisson_gaussian({sigma}, {q})^{steps}", measure = "epsilon", delta = 1e-6 and a table [grid] with '
    'sigma = "0.5:2:0.5", q = [0.01, 0.02], steps = "100..1e4/3". Measures: epsilon, delta, beta, advantage, mu, calibrate, utility. '
    "An interrupted sweep continues when it is started again."
)
SUFFIXES = (".csv", ".parquet")


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument(
        "grid", metavar="GRID.toml", help="expression with {holes}, measure, and the values of every hole"
    )
    words = "where the table goes: .csv or .parquet (default: standard output; then nothing can be resumed)"
    parser.add_argument("-o", "--output", metavar="FILE", help=words)
    words = "processes on this machine (default: one, and all cores when the work left is worth it)"
    parser.add_value("--cores", COUNT.but(name="cores"), words, metavar="N")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a running Dask scheduler: tcp://127.0.0.1:8786")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(arguments: argparse.Namespace) -> pd.DataFrame | None:
    """Compute the table, and write it to the file if one is named."""
    from dpcore.sweeps import read_grid, run_sweep  # noqa: PLC0415  # pandas is slow to import and not needed for --help

    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and output.suffix not in SUFFIXES:
        msg = f"The file of a sweep ends in {' or '.join(SUFFIXES)}, got {output.name!r}."
        raise DomainError(msg)
    grid = read_grid(arguments.grid)
    folder = None if output is None else output.with_name(output.name + ".parts")
    progress = None if arguments.quiet or not sys.stderr.isatty() else _bar
    options = {"cores": arguments.cores, "scheduler": arguments.scheduler}
    table = run_sweep(grid, **options, folder=folder, progress=progress)
    if output is None or folder is None:
        return table
    _write(table, output)
    shutil.rmtree(folder)
    return None


def _write(table: pd.DataFrame, output: Path) -> None:
    """Write the table to a file, completely or not at all."""
    draft = output.with_name(output.name + ".draft")
    if output.suffix == ".csv":
        from dpcore.files.csv_writer import write_frame  # noqa: PLC0415  # pandas is slow to import

        with draft.open("w", encoding="utf-8", newline="") as stream:
            write_frame(table, stream)
    else:
        try:
            table.to_parquet(draft, index=False)
        except ImportError:
            msg = 'A .parquet file needs pyarrow: pip install "dpcore[sweep]", or write .csv.'
            raise DomainError(msg) from None
    draft.replace(output)


def _bar(done: int, whole: int, seconds: float) -> None:
    """Show the progress on one line of standard error."""
    filled = 30 * done // whole
    left = f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"
    line = f"\r[{'#' * filled}{'.' * (30 - filled)}] {done} of {whole} parts, {left}   "
    sys.stderr.write(line + ("\n" if done == whole else ""))
    sys.stderr.flush()
