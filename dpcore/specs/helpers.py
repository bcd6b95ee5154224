"""Small functions that recipes call; the code under a figure calls them too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.files.documents import bytes_of
from dpcore.files.sheet import open_csv
from dpcore.language.problems import nearest
from dpcore.utility.reading import UNDECLARED, read_labels, read_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.theorems.composition import TheoremRegion
    from dpcore.utility import Dataset


def only(ways: Sequence[TheoremRegion], names: Sequence[str]) -> tuple[TheoremRegion, ...]:
    """Return the theorems of these names, in this order."""
    by_name = {way.name: way for way in ways}
    for name in names:
        if name not in by_name:
            msg = f"There is no theorem {name!r}; {nearest(name, by_name) or 'the theorems are ' + ', '.join(by_name) + '.'}"
            raise DomainError(msg)
    return tuple(by_name[name] for name in names)


def dataset_of(
    path: str | Path,
    column: str = "",
    lower: float | None = None,
    upper: float | None = None,
    categories: str | Sequence[str] = (),
) -> Dataset:
    """Return one column of a CSV file: numbers between public bounds, or answers from a declared list."""
    sheet = open_csv(bytes_of(Path(path)))
    name = column or sheet.columns[0]
    if (lower is None) != (upper is None):
        msg = "lower and upper, the public bounds of the column, belong together: give both."
        raise DomainError(msg)
    if lower is None or upper is None:
        if not categories:
            msg = f"Give lower and upper for numbers, or categories for answers. {UNDECLARED}"
            raise DomainError(msg)
        return read_labels(sheet, name, categories).dataset
    return read_numbers(sheet, name, lower, upper).dataset
