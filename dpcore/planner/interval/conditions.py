"""A condition on one column of a file, as ones and zeros for a proportion."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import REAL
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import value_text
from dpcore.utility.dataset import Dataset
from dpcore.utility.reading import ColumnReading, read_labels, read_numbers

if TYPE_CHECKING:
    from dpcore.files.sheet import Sheet

_FAR = 1e300  # a condition needs no bounds


def read_indicator(
    sheet: Sheet, column: str = "", *, equals: str | None = None, at_least: float | None = None
) -> ColumnReading:
    """Return for every row of a column whether it meets a condition, as 1 or 0.

    Parameters
    ----------
    sheet : Sheet
        What `dpcore.files.sheet.open_csv` returned.
    column : str, default ""
        Its name; the first column by default.
    equals : str, optional
        The answer to look for; the condition is public, so the other answers need not be declared.
    at_least : float, optional
        The least number that meets the condition.

    Returns
    -------
    ColumnReading
        Ones and zeros between the bounds 0 and 1, and what became of every row.
    """
    if (equals is None) == (at_least is None):
        msg = "A proportion needs one condition: equals an answer, or at_least a number."
        raise DomainError(msg)
    name = column or sheet.columns[0]
    if equals is not None:
        reading = read_labels(sheet, name, [equals])
        meets = reading.dataset.column == 0
        words = f"{name} equal to {value_text(equals)}"
    else:
        least = float(REAL.but(name="at_least").check(at_least))
        reading = read_numbers(sheet, name, -_FAR, _FAR)
        meets = reading.dataset.column >= least
        words = f"{name} at least {nearest(least)}"
    data = Dataset(meets.astype(np.float64), np.array(0.0), np.array(1.0), words)
    return replace(
        reading,
        dataset=data,
        notes=reading.notes[:1] + tuple(n for n in reading.notes[1:] if "dropped" in n or "decimal sign" in n),
    )
