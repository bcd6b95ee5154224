"""Small functions that recipes call; the code under a figure calls them too."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.files.data import data_folder
from dpcore.files.documents import bytes_of
from dpcore.files.sheet import decoded, filled, number_in, open_csv, rows_of
from dpcore.language.problems import nearest
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.deployments import Deployment
    from dpcore.theorems.composition import TheoremRegion


MOST_ROWS = 1000  # of a table that people read


def only(ways: Sequence[TheoremRegion], names: Sequence[str]) -> tuple[TheoremRegion, ...]:
    """Return the theorems of these names, in this order."""
    by_name = {way.name: way for way in ways}
    for name in names:
        if name not in by_name:
            msg = f"There is no theorem {name!r}; {nearest(name, by_name) or 'the theorems are ' + ', '.join(by_name) + '.'}"
            raise DomainError(msg)
    return tuple(by_name[name] for name in names)


def only_rows(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a ladder of the theorems of these names, and of the composition itself."""
    return frame[frame["theorem"].isin([*names, "exact", "kov_optimal"])]


def plain_table(source: Path | bytes | str) -> pd.DataFrame:
    """Return the rows of a CSV file or text; a column of numbers holds numbers, every other one texts."""
    data = source.encode() if isinstance(source, str) else bytes_of(source) if isinstance(source, Path) else source
    sheet = open_csv(data)
    text, _ = decoded(data)
    rows = [row for row in rows_of(csv.reader(io.StringIO(text), delimiter=sheet.delimiter)) if filled(row)]
    body = [[*row, *[""] * len(sheet.columns)][: len(sheet.columns)] for row in (rows[1:] if sheet.header else rows)]
    if len(body) > MOST_ROWS:
        msg = f"A table of a report has at most {MOST_ROWS} rows, got {grouped(len(body))}."
        raise DomainError(msg)
    columns: dict[str, list[object]] = {}
    for place, name in enumerate(sheet.columns):
        cells = [row[place].strip() for row in body]
        numbers = [number_in(cell) for cell in cells]
        columns[name] = list(numbers) if cells and all(one is not None for one in numbers) else list(cells)
    return pd.DataFrame(columns)


def table_words(frame: pd.DataFrame) -> str:
    """Say how large a table is."""
    return "One row." if len(frame) == 1 else f"{len(frame)} rows."


def deployments(source: Path | bytes | None = None) -> tuple[Deployment, ...]:
    """Return the records of a YAML file; those that come with dpcore by default."""
    from dpcore.deployments import read_deployments  # noqa: PLC0415  # only this kind of figure needs it

    if source is None:
        source = data_folder() / "deployments" / "published.yaml"
    data = bytes_of(source) if isinstance(source, Path) else source
    return read_deployments(data.decode("utf-8", "replace"))
