"""The table a plan is about: the columns it uses, row by row, with every loss counted and reported.

The counts and sentences depend on the data: they are for the owner of the table and must not be published.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.registry import shown
from dpcore.files.documents import bytes_of
from dpcore.files.sheet import Sheet, filled, open_csv, rows_of
from dpcore.planner.release.table_columns import EMPTY, NumberColumn, TextColumn, bounded
from dpcore.utility.dataset import OTHER
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from dpcore.planner.release.conditions import Condition
    from dpcore.planner.release.plan import PublicColumn, ReleasePlan

    FloatArray = NDArray[np.float64]
    Flags = NDArray[np.bool_]

T = TypeVar("T")
MOST_ROWS: Final = 5_000_000
MOST_BYTES: Final = 500_000_000  # of a file read by the library or the command; uploads have their own limit
_CHUNK: Final = 20_000


@dataclass(frozen=True, eq=False)
class PlanTable:
    """The columns of a table that a plan uses.

    Attributes
    ----------
    rows : int
        Records that count: those of the file, without the ones beyond the limit of a person.
    numbers : dict of str to ndarray
        Columns of numbers; cells without a number are nan.
    texts : dict of str to (ndarray, tuple of str)
        Columns of text: the place of each cell among the names; -1 for an empty cell.
    notes : tuple of str
        What was read, and what was left out.
    layout : tuple of (str, str, tuple of str)
        Delimiter and encoding of the file, and the names of its columns if its first row does not hold them.
    """

    rows: int
    numbers: dict[str, FloatArray] = field(repr=False)
    texts: dict[str, tuple[NDArray[np.int64], tuple[str, ...]]] = field(repr=False)
    notes: tuple[str, ...] = ()
    layout: tuple[str, str, tuple[str, ...]] = (",", "utf-8", ())

    @cached_property
    def _results(self) -> dict[Hashable, Any]:
        return {}

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made before under this key, such as the cells of an answer: a change of the budget needs them again."""
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
        """Return the numbers of a column of the records that satisfy a condition, moved into the bounds if any."""
        cells = self.numbers[column]
        chosen = cells[self.satisfying(condition) & ~np.isnan(cells)]
        return chosen if bounds is None else np.clip(chosen, *bounds)

    def bins(self, column: PublicColumn, bins: int, *, clip: bool = True) -> NDArray[np.int64]:
        """Return the category of each record, or its bin between the bounds; -1 where there is none.

        Parameters
        ----------
        column : PublicColumn
            Which column; other answers than its categories are ``other``.
        bins : int
            How many equal bins numbers fall into.
        clip : bool, default True
            Whether numbers outside the bounds are in the bin beside them, or in none.
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
        If the file cannot be read, lacks a column, or a column of numbers holds none.
    """
    if isinstance(source, Path):
        source = bytes_of(source, MOST_BYTES)
    sheet = source if isinstance(source, Sheet) else open_csv(source, most_bytes=MOST_BYTES)
    numbers, texts = used_columns(plan)
    names = [*numbers, *texts]
    person = [plan.person_column] if plan.person_column else []
    readers: list[NumberColumn | TextColumn] = [NumberColumn(name, comma=sheet.delimiter != ",") for name in numbers]
    readers += [TextColumn(name) for name in [*texts, *person]]
    rows = 0
    declared = {column.name: column for column in plan.columns if column.categories}
    places = [sheet.place(name) for name in [*names, *person]]
    for cells, count in column_chunks(sheet, places):
        for reader, column in zip(readers, cells, strict=True):
            reader.extend(column, rows)
        rows += count
    if not rows:
        msg = "The file has 0 rows of data under its first line: there is nothing to release."
        raise DomainError(msg)
    notes = [f"{grouped(rows)} rows read."]
    keep = None
    if person:
        keep, words = bounded(readers.pop(), plan.records)
        notes += words
    for reader in readers:
        notes += reader.words(rows)
    for reader in readers:
        if isinstance(reader, TextColumn) and reader.name in declared:
            notes += reader.undeclared(declared[reader.name].names)
    kept = rows if keep is None else int(keep.sum())
    own = {reader.name: reader.column(keep) for reader in readers if isinstance(reader, NumberColumn)}
    coded = {reader.name: reader.column(keep) for reader in readers if isinstance(reader, TextColumn)}
    layout = (sheet.delimiter, sheet.encoding, () if sheet.header else sheet.columns)
    return PlanTable(kept, own, coded, tuple(notes), layout)


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
        msg = f"Column {shown(both)} is used as numbers and as text."
        raise DomainError(msg)
    return list(numbers), list(texts)


def column_chunks(sheet: Sheet, places: Sequence[int]) -> Iterator[tuple[list[tuple[str, ...]], int]]:
    """Yield the cells of some columns, some thousand rows at a time; a short row gives empty cells."""
    source = io.BytesIO(sheet.data)
    reader = csv.reader(io.TextIOWrapper(source, encoding=sheet.encoding, newline=""), delimiter=sheet.delimiter)
    width, begun, total = max(places, default=0) + 1, False, 0
    rows: list[list[str]] = []

    def columns() -> list[tuple[str, ...]]:
        whole = list(zip(*rows, strict=True)) if rows else [()] * width
        return [whole[place] for place in places]

    for row in rows_of(reader):
        if not begun:  # empty lines above the table, then the names
            begun = filled(row)
            if sheet.header or not begun:
                continue
        if not row:
            continue
        rows.append((row + [""] * width)[:width] if len(row) != width else row)
        if len(rows) == _CHUNK:
            yield columns(), len(rows)
            total += len(rows)
            rows = []
            checkpoint(source.tell() / max(1, len(sheet.data)))
            if total >= MOST_ROWS:
                msg = f"The file has {grouped(MOST_ROWS)} rows or more; files with fewer are read."
                raise DomainError(msg)
    yield columns(), len(rows)
