"""What a number of a region is: one place decides it, and every table, sentence, chart and tooltip asks here.

A number comes with two sides between which the truth lies. It is ``exact`` where both are the same number; otherwise
it is named by the side that is published, which is the safe one: ``upper`` for what an attacker gains (delta, epsilon,
power, advantage), ``lower`` for the errors that remain to him (beta, the area under the curve).

The sides of an exact curve differ by the rounding of its formula only. Up to `ROUNDING`, relative, they are published as
one number; a formula that lost more digits than that is published as the bound it has become.

Every table that holds a number of a region ends with the columns of `FACTS`, put there by `labelled`: what the number is,
by which argument it holds, and for which neighbouring datasets.
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
"""The same columns where a table is read by people."""
ROUNDING = 1e-10  # the largest relative error of a number that is called exact


def settled(bounds: Bounds, safe: Side, *, exact: bool, scale: ArrayLike | None = None) -> Bounds:
    """Return the two sides of some numbers, made one where an exact curve's differ by rounding alone.

    Parameters
    ----------
    bounds : lower and upper sides.
    safe : the side that is published.
    exact : whether the curve itself is exact.
    scale : what the rounding is relative to; the upper side by default.
    """
    lower, upper = bounds
    if not exact:
        return np.minimum(lower, upper), upper
    size = upper if scale is None else np.asarray(scale, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # infinity on both sides
        one = (lower == upper) | (upper - lower <= ROUNDING * np.abs(size))
    return (np.where(one, upper, lower), upper) if safe == "upper" else (lower, np.where(one, lower, upper))


def kinds(bounds: tuple[ArrayLike, ArrayLike], safe: Side) -> NDArray[np.str_]:
    """Return the kind of each number from its two sides."""
    lower, upper = bounds
    return np.where(np.equal(lower, upper), EXACT, safe)


def kind(lower: float, upper: float, safe: Side) -> str:
    """Return the kind of one number from its two sides."""
    return EXACT if lower == upper else safe


class Stated(Protocol):
    """What says by which argument, and for which neighbours, its numbers hold: any region."""

    @property
    def theorem(self) -> str:
        """The argument."""

    @property
    def neighbours(self) -> str:
        """The neighbouring datasets."""


def facts(region: Stated) -> dict[str, str]:
    """Return the columns that say, after `kind`, by which argument and for which neighbours a number holds."""
    return {"theorem": region.theorem, "neighbours": region.neighbours}


def labelled(frame: pd.DataFrame, region: Stated | None = None, **columns: Any) -> pd.DataFrame:
    """Return a table that ends with `kind, theorem, neighbours`.

    Parameters
    ----------
    frame : the numbers; columns of these names that it has are moved to the end.
    region : whose numbers they are; None where the columns say it row by row.
    columns : any of the three, for all rows or row by row; they go before what the region says.
    """
    whole = frame.assign(**{**(facts(region) if region is not None else {}), **columns})
    return whole[[*(name for name in whole.columns if name not in FACTS), *FACTS]]


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the last columns of a table in the words of people: how they are headed, and what each kind is."""
    words = frame["kind"].map(lambda name: WORDS.get(name, name))
    return frame.assign(kind=words).rename(columns=HEADINGS)
