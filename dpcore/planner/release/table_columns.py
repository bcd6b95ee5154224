"""Columns of a table while they are read: every cell that gives no value is counted, and the first one is named."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import shown
from dpcore.files.sheet import MISSING, number_in
from dpcore.utility.dataset import OTHER
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Flags = NDArray[np.bool_]

EMPTY: Final = -1  # the code of a cell without text


class NumberColumn:
    """A column of numbers while it is read."""

    def __init__(self, name: str, *, comma: bool) -> None:
        self.name, self.comma = name, comma
        self.cells = array("d")
        self.wrong: dict[str, tuple[int, int, str]] = {}

    def extend(self, cells: Sequence[str], before: int) -> None:
        """Add some cells; the rows before them are counted."""
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            values = []
        if len(values) == len(cells) and np.isfinite(values).all() and not any("_" in cell for cell in cells):
            self.cells.extend(values)
        else:
            self.cells.extend(self._number(cell, row) for row, cell in enumerate(cells, start=before + 1))

    def _number(self, cell: str, row: int) -> float:
        value = number_in(cell, comma=self.comma)
        if value is not None:
            return value
        why = "empty" if cell.strip().lower() in MISSING else "not a number"
        count, first, example = self.wrong.get(why, (0, row, cell))
        self.wrong[why] = (count + 1, first, example)
        return np.nan

    def words(self, rows: int) -> list[str]:
        """Say which cells hold no number; a column without any is refused."""
        parts = [
            f"{grouped(count)} {why} (the first in row {row}{f': {shown(cell)}' if cell.strip() else ''})"
            for why, (count, row, cell) in self.wrong.items()
        ]
        if sum(count for count, _, _ in self.wrong.values()) == rows:
            msg = f"Column {shown(self.name)} gives no number: of its {grouped(rows)} rows, {', '.join(parts)}."
            raise DomainError(msg)
        return (
            [f"Cells of column {shown(self.name)} without a number: {', '.join(parts)}; they are left out."]
            if parts
            else []
        )

    def column(self, keep: Flags | None) -> FloatArray:
        """Return the numbers."""
        values = np.array(self.cells, dtype=np.float64)
        return values if keep is None else values[keep]


class TextColumn:
    """A column of text while it is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places = array("q")
        self.code: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.empty = 0

    def extend(self, cells: Sequence[str], before: int) -> None:  # noqa: ARG002  as for numbers
        """Add some cells."""
        for cell in set(cells) - self.code.keys():
            text = " ".join(cell.split())
            missing = text.lower() in MISSING and text not in self.names
            self.code[cell] = EMPTY if missing else self.names.setdefault(text, len(self.names))
        self.places.extend([self.code[cell] for cell in cells])

    def words(self, rows: int) -> list[str]:
        """Say how many cells are empty; a column without any text is refused."""
        empty = int((np.array(self.places) == EMPTY).sum())
        if empty == rows:
            msg = f"Column {shown(self.name)} has no text: all its {grouped(rows)} rows are empty."
            raise DomainError(msg)
        return (
            [f"{grouped(empty)} empty cells in column {shown(self.name)}: they satisfy no condition."] if empty else []
        )

    def undeclared(self, names: tuple[str, ...]) -> list[str]:
        """Say how many cells hold an answer that was not declared."""
        codes = np.array(self.places, dtype=np.int64)
        others = np.flatnonzero(np.isin(codes, [code for name, code in self.names.items() if name not in names]))
        if not others.size:
            return []
        cell = list(self.names)[codes[others[0]]]
        first = f"(the first in row {others[0] + 1}: {shown(cell)})"
        words = f"{grouped(others.size)} cells of column {shown(self.name)} hold answers that were not declared {first}"
        return [f"{words}: they count as {OTHER!r}."]

    def column(self, keep: Flags | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the codes and the names."""
        codes = np.array(self.places, dtype=np.int64)
        return (codes if keep is None else codes[keep]), tuple(self.names)


def bounded(persons: NumberColumn | TextColumn, limit: int) -> tuple[Flags, list[str]]:
    """Return which rows are among the first `limit` of their person, and sentences about the others."""
    if not isinstance(persons, TextColumn):
        raise TypeError(persons.name)
    codes, names = persons.column(None)
    known = codes != EMPTY
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.searchsorted(ordered, ordered, side="left")
    rank = np.empty(codes.size, dtype=np.int64)
    rank[order] = np.arange(codes.size) - first
    keep = known & (rank < limit)
    beyond, counts = int((known & (rank >= limit)).sum()), np.bincount(codes[known], minlength=1)
    over = int((counts > limit).sum())
    words = [
        f"{grouped(len(names))} persons in column {shown(persons.name)}, at most {grouped(int(counts.max()))} records each."
    ]
    if beyond:
        row = int(np.flatnonzero(known & (rank >= limit))[0]) + 1
        words.append(
            f"{grouped(over)} persons have more than {limit} records: {grouped(beyond)} records beyond are left out "
            f"(the first in row {row})."
        )
    if not known.all():
        row = int(np.flatnonzero(~known)[0]) + 1
        words.append(f"{grouped(int((~known).sum()))} records without a person are left out (the first in row {row}).")
    if not keep.any():
        msg = f"No record has a person in column {shown(persons.name)}: there is nothing to release."
        raise DomainError(msg)
    return keep, words
