"""The sample datasets that come with the package: invented people, described in ``data/datasets/datasets.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.data import data_folder
from dpcore.files.sheet import open_csv
from dpcore.utility.dataset import Dataset
from dpcore.utility.reading import read_labels, read_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from dpcore.files.sheet import Sheet


@dataclass(frozen=True)
class Sample:
    """One column of a sample dataset.

    Attributes
    ----------
    name : str
        ``dataset.column``, such as ``ages.age``.
    title : str
        What it is, for a menu.
    kind : str
        ``numbers`` or ``labels``.
    low, high : float
        Public bounds of numbers.
    categories : tuple of str
        The declared answers of labels.
    provenance : str
        Where the rows are from.
    """

    name: str
    title: str
    kind: str
    file: Path
    column: str
    low: float
    high: float
    categories: tuple[str, ...]
    provenance: str


@lru_cache(maxsize=1)
def _described() -> dict[str, Any]:
    """Return what is written about the sample datasets."""
    return tomllib.loads((data_folder() / "datasets" / "datasets.toml").read_text(encoding="utf-8"))


def sample_tables() -> dict[str, str]:
    """Return name -> title of the sample datasets."""
    return {name: str(facts["title"]) for name, facts in _described().items()}


def sample_sheet(name: str) -> Sheet:
    """Return the cells of a sample dataset, by a name such as ``ages`` or ``survey``.

    Parameters
    ----------
    name : str
        The dataset.

    Examples
    --------
    >>> from dpcore.utility.samples import sample_sheet
    >>> sample_sheet("ages").columns
    ('age', 'household')
    """
    known = _described()
    if name not in known:
        msg = f"There is no sample dataset {value_text(name)}; choose one of {', '.join(known)}."
        raise DomainError(msg)
    return open_csv((data_folder() / "datasets" / known[name]["file"]).read_bytes())


def sample_rows(name: str) -> int:
    """Return the number of records of a sample dataset, which is public."""
    return int(_described()[name]["rows"])


@lru_cache(maxsize=1)
def samples() -> dict[str, Sample]:
    """Return name -> sample, for every column of every sample dataset."""
    columns = {}
    for dataset, facts in _described().items():
        for column, about in facts["columns"].items():
            name = f"{dataset}.{column}"
            columns[name] = Sample(
                name,
                f"{facts['title']}: {about['title']}",
                about["kind"],
                data_folder() / "datasets" / facts["file"],
                column,
                float(about.get("low", 0.0)),
                float(about.get("high", 0.0)),
                tuple(about.get("categories", ())),
                facts["provenance"],
            )
    return columns


@lru_cache(maxsize=16)
def _whole(name: str) -> Dataset:
    """Return all rows of a sample column."""
    columns = samples()
    if name not in columns:
        msg = f"There is no sample dataset {value_text(name)}; choose one of {', '.join(columns)}."
        raise DomainError(msg)
    about = columns[name]
    sheet = open_csv(about.file.read_bytes())
    if about.kind == "labels":
        return read_labels(sheet, about.column, about.categories, "drop").dataset
    return read_numbers(sheet, about.column, about.low, about.high).dataset


def sample(name: str, *, n: int | None = None, low: float | None = None, high: float | None = None) -> Dataset:
    """Return a sample column as data, by a name such as ``ages.age`` or ``survey.cheated``.

    Parameters
    ----------
    name : str
        Dataset and column.
    n, low, high : int or float
        As in `part`.

    Examples
    --------
    >>> from dpcore.utility.samples import sample
    >>> sample("ages.age").n
    2000
    """
    whole = _whole(name)
    # a copy for every caller: what a dataset remembers of itself goes with the caller, and cannot pile up here
    own = Dataset(whole.values, whole.lower, whole.upper, whole.name, whole.categories, whole.original)
    return part(own, n=n, low=low, high=high)


def part(data: Dataset, *, n: int | None = None, low: float | None = None, high: float | None = None) -> Dataset:
    """Return the first n records, clipped to other public bounds; what is not given stays.

    Parameters
    ----------
    n : int, optional
        From 1 to as many as there are.
    low, high : float, optional
        Bounds of a column of numbers; answers from a list have none.
    """
    cut = data if n is None else data.first(COUNT.but(name="n", high=data.n).check(n))
    if low is None and high is None:
        return cut
    return cut.within(data.lower if low is None else low, data.upper if high is None else high)
