"""The table a plan is about: the columns it uses, row by row, with every loss counted and reported.

The counts and sentences depend on the data: they are for the table's owner and must not be published.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import value_text
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import Sheet, open_csv
from dpcore.planner.release.table_columns import EMPTY, bounded, number_cells, text_cells, undeclared
from dpcore.utility.dataset import OTHER
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from numpy.typing import NDArray

    from dpcore.planner.release.conditions import Condition
    from dpcore.planner.release.plan import PublicColumn, ReleasePlan
    from dpcore.planner.release.table_columns import Places

    FloatArray = NDArray[np.float64]
    Flags = NDArray[np.bool_]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PlanTable:
    """The columns of a table that a plan uses.

    Attributes
    ----------
    rows : int
        Records that count: those in the file except the ones beyond a person's limit.
    numbers : dict of str to ndarray
        Columns of numbers; cells without a number are nan.
    texts : dict of str to (ndarray, tuple of str)
        Columns of text: the index of each cell among the names; -1 for an empty cell.
    notes : tuple of str
        What was read, and what was left out.
    layout : tuple of (str, str, tuple of str)
        Delimiter and encoding of the file, and the names of its columns if its first row does not hold them.
    """

    rows: int
    numbers: dict[str, FloatArray] = field(repr=False)
    texts: dict[str, tuple[Places, tuple[str, ...]]] = field(repr=False)
    notes: tuple[str, ...] = ()
    layout: tuple[str, str, tuple[str, ...]] = (",", "utf-8", ())

    @Lazy
    def _results(self) -> dict[Hashable, Any]:
        return {}

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a stored result, such as the cells of an answer, which a change of the budget needs again."""
        if key not in self._results:
            self._results[key] = make()
        return cast("T", self._results[key])

    def satisfying(self, condition: Condition) -> Flags:
        """Return which records satisfy a condition."""
        flags = np.ones(self.rows, dtype=np.bool_)
        for one in condition.comparisons:
            flags &= self._compared(one.column, one.operator, one.values)
        return flags

    def _compared(self, column: str, operator: str, values: tuple[str | float, ...]) -> Flags:
        if isinstance(values[0], str):
            codes, names = self.texts[column]
            chosen = [place for place, name in enumerate(names) if name in values]
            inside = np.isin(codes, chosen)
            return np.asarray(inside if operator in ("=", "in") else ~inside & (codes != EMPTY), dtype=np.bool_)
        cells, bound = self.numbers[column], float(values[0])
        if operator in ("=", "in"):
            return np.asarray(np.isin(cells, values), dtype=np.bool_)
        if operator == "!=":
            return np.asarray((cells != bound) & ~np.isnan(cells), dtype=np.bool_)
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        return np.asarray(compare[operator](cells, bound), dtype=np.bool_)

    def values(self, column: str, condition: Condition, bounds: tuple[float, float] | None = None) -> FloatArray:
        """Return a column's numbers for records that satisfy a condition, moved into the bounds if there are any."""
        cells = self.numbers[column]
        chosen = cells[self.satisfying(condition) & ~np.isnan(cells)]
        return chosen if bounds is None else np.clip(chosen, *bounds)

    def bins(self, column: PublicColumn, bins: int, *, clip: bool = True) -> NDArray[np.int64]:
        """Return the category of each record, or its bin between the bounds; -1 where there is none.

        Parameters
        ----------
        column : PublicColumn
            Which column; answers outside its categories are ``other``.
        bins : int
            How many equal bins numbers fall into.
        clip : bool, default True
            Whether numbers outside the bounds go into the nearest bin, or into none.
        """
        if not column.categories:
            cells, (low, high) = self.numbers[column.name], column.bounds
            inside = ~np.isnan(cells) & (clip | ((cells >= low) & (cells <= high)))
            places = np.floor((np.clip(np.where(inside, cells, low), low, high) - low) / (high - low) * bins)
            return np.where(inside, np.minimum(places, bins - 1), EMPTY).astype(np.int64)
        codes, own = self.texts[column.name]
        names = column.names
        other = names.index(OTHER)
        places = np.array([names.index(name) if name in names else other for name in own] or [other], dtype=np.int64)
        return np.where(codes == EMPTY, EMPTY, places[codes])


def read_table(source: Sheet | Path | bytes, plan: ReleasePlan) -> PlanTable:
    """Read the columns that a plan uses.

    Parameters
    ----------
    source : Sheet or Path or bytes
        A CSV file.
    plan : ReleasePlan
        Which columns, and whether they are numbers or text.

    Returns
    -------
    PlanTable
        The columns, and sentences about what was left out.

    Raises
    ------
    DomainError
        If the file cannot be read or lacks a column, or a column of numbers has none.
    """
    sheet = source if isinstance(source, Sheet) else open_csv(source)
    numbers, texts = used_columns(plan)
    person = [plan.person_column] if plan.person_column else []
    data = read_microdata(sheet, list(dict.fromkeys([*numbers, *texts, *person])) or sheet.columns[:1])
    notes = [f"{grouped(data.rows)} rows read.", *(note for note in data.notes if note not in sheet.notes)]
    keep = np.ones(data.rows, dtype=np.bool_)
    if person:
        keep, words = bounded(data, data.column(person[0]), plan.records)
        notes += words
    own: dict[str, FloatArray] = {}
    for name in numbers:
        cells, words = number_cells(data, data.column(name))
        own[name] = cells[keep]
        notes += words
    coded: dict[str, tuple[Places, tuple[str, ...]]] = {}
    for name in texts:
        places, names, words = text_cells(data, data.column(name))
        coded[name] = (places[keep], names)
        notes += words
    for column in plan.columns:
        if column.categories and column.name in texts:
            notes += undeclared(data, data.column(column.name), column.names)
    layout = (sheet.delimiter, sheet.encoding, () if sheet.header else sheet.columns)
    return PlanTable(int(keep.sum()), own, coded, tuple(notes), layout)


def used_columns(plan: ReleasePlan) -> tuple[list[str], list[str]]:
    """Return the columns of numbers and of text that a plan uses, each once."""
    numbers: dict[str, None] = {}
    texts: dict[str, None] = {}
    for answer in plan.answers:
        for name in filter(None, (answer.column, answer.by)):
            (texts if plan.column(name).categories else numbers)[name] = None
        for one in (*answer.condition.comparisons, *answer.base.comparisons):
            (texts if one.is_text else numbers)[one.column] = None
    both = next((name for name in numbers if name in texts), None)
    if both is not None:
        msg = f"Column {value_text(both)} is used as numbers and as text."
        raise DomainError(msg)
    return list(numbers), list(texts)
