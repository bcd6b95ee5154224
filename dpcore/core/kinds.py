"""The kind of a number, decided in this one place for every table, sentence, chart and tooltip.

The truth lies between the two sides of a number. The number is ``exact`` where both are equal; otherwise it is named
after the side that is published, the safe one: ``upper`` for what an attacker gains (delta, epsilon, power, advantage),
``lower`` for the errors an attacker still makes (beta, the area under the curve).

The sides of an exact curve differ only by the rounding of its formula. Up to `ROUNDING`, relative, they are published as
one number; a formula that loses more digits is published as a bound.

Every table of numbers of a region ends with the columns of `FACTS`, added by `labelled`: what the number is, by which
argument it holds, and for which neighbouring datasets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from dpcore.curves.base import Bounds

Side = Literal["upper", "lower"]
EXACT = "exact"
WORDS = {
    EXACT: "exact",
    "upper": "upper bound",
    "lower": "lower bound",
    "approximate": "approximation",
    "none": "does not apply",
}
FACTS = ("kind", "theorem", "neighbours")
HEADINGS = {"kind": "What it is", "theorem": "Theorem", "neighbours": "Neighbours"}
"""Headings of these columns in tables for people."""
ROUNDING = 1e-10  # the largest relative error of a number that is called exact


def settled(bounds: Bounds, safe: Side, *, exact: bool, scale: ArrayLike | None = None) -> Bounds:
    """Return the two sides of some numbers, made equal where those of an exact curve differ by rounding alone.

    Parameters
    ----------
    bounds : Bounds
        Lower and upper sides.
    safe : Side
        The side that is published.
    exact : bool
        Whether the curve itself is exact.
    scale : ArrayLike, optional
        What the rounding is relative to; the upper side by default.

    Returns
    -------
    Bounds
        Lower and upper sides.
    """
    lower, upper = bounds
    if not exact:
        return np.minimum(lower, upper), upper
    size = upper if scale is None else np.asarray(scale, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # infinity on both sides
        equal = (lower == upper) | (upper - lower <= ROUNDING * np.abs(size))
    return (np.where(equal, upper, lower), upper) if safe == "upper" else (lower, np.where(equal, lower, upper))


def kinds(bounds: tuple[ArrayLike, ArrayLike], safe: Side) -> NDArray[np.str_]:
    """Return the kind of each number from its two sides."""
    lower, upper = bounds
    return np.where(np.equal(lower, upper), EXACT, safe)


def kind(lower: float, upper: float, safe: Side) -> str:
    """Return the kind of one number from its two sides."""
    return EXACT if lower == upper else safe


class FactSource(Protocol):
    """Anything that knows by which argument and for which neighbours its numbers hold, such as a region."""

    @property
    def theorem(self) -> str:
        """The argument."""

    @property
    def neighbours(self) -> str:
        """The neighbouring datasets."""


def facts(region: FactSource) -> dict[str, str]:
    """Return the columns `theorem` and `neighbours` of a region's numbers."""
    return {"theorem": region.theorem, "neighbours": region.neighbours}


def labelled(frame: pd.DataFrame, region: FactSource | None = None, **columns: Any) -> pd.DataFrame:
    """Return a table that ends with `kind, theorem, neighbours`.

    Parameters
    ----------
    frame : DataFrame
        The numbers; columns with these names are moved to the end.
    region : FactSource, optional
        The region the numbers belong to; None where the columns name it row by row.
    columns : object
        Any of the three, for all rows or row by row; they take precedence over the region.

    Returns
    -------
    DataFrame
        The table with the three columns at its end.
    """
    whole = frame.assign(**{**(facts(region) if region is not None else {}), **columns})
    return whole[[*(name for name in whole.columns if name not in FACTS), *FACTS]]


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose last columns have headings and kinds in plain words."""
    words = frame["kind"].map(lambda name: WORDS.get(name, name))
    return frame.assign(kind=words).rename(columns=HEADINGS)
