"""The cells of a grid, computed part by part: a part is a stretch of cells in work order."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.effort import checkpoint, effort
from dpcore.core.errors import DpcoreError
from dpcore.core.notices import collected
from dpcore.sweeps.grid import HOLE, Grid, filled
from dpcore.sweeps.measures import MEASURES, Answer, family_answers, region_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.sweeps.grid import AxisValue

COLUMNS: Final = ("value", "lower", "upper", "error", "kind", "theorem", "neighbours")
"""Columns of a sweep's table after those of the holes."""

CELLS: Final = 256
"""Cells in one part, or a few more: they take up to a few seconds, so progress and resuming are fine-grained."""

MOST: Final = 4096
"""Maximum number of cells in one part; longer stretches that share a region are cut."""

WORK: Final = 1e8
"""Operations that one cell may take, about ten seconds: a count, so that every machine refuses the same cells."""


MOST_COPIES: Final = 10**9
"""Copies that are composed numerically; above, only closed forms apply."""


@dataclass
class Part:
    """The answers of a stretch of cells: rows of the table and one list per column."""

    rows: list[int] = field(default_factory=list)
    cells: list[Answer | str] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return the part as lists and texts that JSON can hold."""
        return {"rows": self.rows, "cells": [cell if isinstance(cell, str) else list(cell) for cell in self.cells]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Part:
        """Return the part that `plain` wrote."""
        cells = [cell if isinstance(cell, str) else Answer(*cell) for cell in plain["cells"]]
        return cls(list(plain["rows"]), cells)


def part_of(grid: Grid, number: int, plain: Any) -> Part | None:
    """Return the part of a grid that is in a file; None if it is another part or incomplete."""
    if not isinstance(plain, dict) or not isinstance(plain.get("cells"), list):
        return None
    rows = [grid.number(place) for place in part_places(grid, number)]
    if plain.get("rows") != rows or len(plain["cells"]) != len(rows) or not all(map(_is_cell, plain["cells"])):
        return None
    return Part.of(plain)


def _is_cell(cell: object) -> bool:
    """Whether a value read from a file is a cell: an error text, or three ordered numbers and three texts."""
    if isinstance(cell, str):
        return True
    if not isinstance(cell, list) or len(cell) != len(Answer._fields):
        return False
    numbers, texts = cell[:3], cell[3:]
    if not all(isinstance(one, str) for one in texts):
        return False
    doubles = all(type(one) is float or (type(one) is int and abs(one) < 2**1023) for one in numbers)
    return doubles and numbers[1] <= numbers[2]


def part_size(grid: Grid) -> int:
    """Return the number of cells in one part: whole stretches that share a region, if they are not too long."""
    if grid.shared > MOST:
        return CELLS
    return grid.shared * -(-CELLS // grid.shared)


def part_count(grid: Grid) -> int:
    """Return the number of parts of a grid."""
    return -(-grid.size // part_size(grid))


def part_places(grid: Grid, number: int) -> list[tuple[int, ...]]:
    """Return the cells of a part, each by its index on every axis, in work order."""
    first = number * part_size(grid)
    return [grid.places(place) for place in range(first, min(first + part_size(grid), grid.size))]


def compute_part(grid: Grid, number: int, tolerance: float) -> Part:
    """Compute one part; a cell without an answer holds the text of its error.

    Parameters
    ----------
    grid : Grid
        The questions.
    number : int
        Which part, from 0.
    tolerance : float
        Largest relative width of a bracket.

    Returns
    -------
    Part
        Its rows and cells.
    """
    places = part_places(grid, number)
    cells = [grid.values(place) for place in places]
    questions = [_arguments(grid, cell) for cell in cells]
    with effort(tolerance=tolerance):
        answers = _powers(grid, cells, questions)
        left = [place for place, answer in enumerate(answers) if answer is None]
        texts = {place: filled(grid.expression, cells[place]) for place in left}
        shared = _family(grid, [texts[i] for i in left], [questions[i] for i in left])
        for place, known in zip(left, shared, strict=True):
            answers[place] = known
        left = [place for place in left if answers[place] is None]
        for text, group in groupby(left, key=texts.__getitem__):
            some = list(group)
            checkpoint(some[0] / len(cells))
            for place, answer in zip(some, _answers(grid.measure, text, [questions[i] for i in some]), strict=True):
                answers[place] = answer
    return Part([grid.number(place) for place in places], [answer for answer in answers if answer is not None])


def _powers(
    grid: Grid, cells: list[dict[str, AxisValue]], asked: list[dict[str, AxisValue]]
) -> list[Answer | str | None]:
    """Return the answers that powers of one region share; None for the others."""
    answers: list[Answer | str | None] = [None] * len(cells)
    powers = MEASURES[grid.measure].powers
    if grid.power is None or powers is None:
        return answers
    bases = [filled(grid.base, cell) for cell in cells]
    exponents = [cell[grid.power] for cell in cells]
    whole = [i for i, k in enumerate(exponents) if not isinstance(k, str) and k.is_integer() and 2 <= k <= MOST_COPIES]
    for base, group in groupby(whole, key=bases.__getitem__):
        some = list(group)
        checkpoint(some[0] / len(cells))
        try:
            with effort(work=WORK * len(some)), collected():
                shared = powers(base, [int(float(exponents[i])) for i in some], [asked[i] for i in some])
        except DpcoreError:
            continue  # each cell reports its own error
        for place, answer in zip(some, shared, strict=True):
            answers[place] = answer
    return answers


def _family(grid: Grid, texts: list[str], asked: list[dict[str, AxisValue]]) -> list[Answer | None]:
    """Return the answers of regions with a closed form; None for the others and where something is wrong.

    A single region is computed in the same way as many, so that no answer depends on the other cells.
    """
    measure = MEASURES[grid.measure]
    if measure.family is None:
        return [None] * len(texts)
    regions: dict[str, TradeOff | None] = {}
    for text in dict.fromkeys(texts):
        with effort(work=WORK), collected():
            try:
                regions[text] = region_of(text)
            except DpcoreError:
                regions[text] = None
    return family_answers(measure, [regions[text] for text in texts], asked)


def _arguments(grid: Grid, cell: Mapping[str, AxisValue]) -> dict[str, AxisValue]:
    """Return the arguments of the measure in one cell."""
    values = {}
    for name, value in grid.arguments:
        hole = HOLE.fullmatch(value) if isinstance(value, str) else None
        values[name] = value if hole is None else cell[hole.group(1)]
    return values


def _answers(measure: str, text: str, asked: list[dict[str, AxisValue]]) -> Iterator[Answer | str]:
    """Return the answers of one expression, one by one if they cannot be computed together."""
    try:
        with effort(work=WORK * len(asked)), collected():
            return iter(MEASURES[measure].many(text, asked))
    except DpcoreError as error:
        if len(asked) == 1:
            return iter([" ".join(str(error).split())])
    return (answer for one in asked for answer in _answers(measure, text, [one]))
