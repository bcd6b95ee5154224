"""Tables of several curves on one grid, so that their numbers can be compared row by row, divided or subtracted.

A drawn curve has its points where it bends; these tables have the same epsilons (or false-positive rates) for all.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pandas as pd

from dpcore import frames
from dpcore.charts.compositions import profile_end
from dpcore.charts.profiles import profile_top
from dpcore.charts.sampling import Regions, named
from dpcore.core.domains import ALPHA, ANY_LOSS, POSITIVE
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import EXACT, labelled
from dpcore.core.numerals import nearest
from dpcore.language.lists import parse_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.composition.theorem_regions import TheoremRegion

ROWS: Final = 100
"""The most steps of a default grid; it has at least half as many."""
RATES: Final = "0:1:0.01"
SMALL_RATES: Final = "1e-12..1/49"
"""False-positive rates of a linear and of a logarithmic picture."""


def even_grid(top: float) -> FloatArray:
    """Return 0, s, 2 s, ... up to at least `top`, s one of 1, 2 and 5 times a power of ten.

    Examples
    --------
    >>> even_grid(3.0)[[0, 1, -1]].tolist()
    [0.0, 0.05, 3.0]
    """
    end = POSITIVE.but(name="epsilon_max").check(top)
    decade = 10.0 ** math.floor(math.log10(end / ROWS))
    step = next(part * decade for part in (1, 2, 5, 10) if part * decade * ROWS >= end * (1 - 1e-9))
    count = math.ceil(end / step - 1e-9)
    return parse_list(f"0:{nearest(count * step, 12)}:{nearest(step, 12)}")


def delta_grid(regions: Regions, *, epsilon: ArrayLike | None = None, epsilon_max: float | None = None) -> pd.DataFrame:
    """Tabulate delta(epsilon) of several regions at the same epsilons.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    epsilon : ArrayLike, optional
        The epsilons; by default even steps from 0 to `epsilon_max`.
    epsilon_max : float, optional
        Where they end; by default where every delta is below 1e-12 or no longer falls.

    Returns
    -------
    DataFrame
        `label, region, epsilon, delta, delta_lower, kind, theorem, neighbours`.
    """
    items = named(regions)
    top = profile_top(items) if epsilon is None and epsilon_max is None else epsilon_max
    at = even_grid(top or 1.0) if epsilon is None else ANY_LOSS.array(epsilon)
    return _labelled({label: frames.deltas(region, at) for label, region in items.items()})


def beta_grid(regions: Regions, *, log: bool = False) -> pd.DataFrame:
    """Tabulate beta(alpha) of several regions at the same false-positive rates.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.
    log : bool, default False
        Four rates in each decade from 1e-12 on, instead of every hundredth.

    Returns
    -------
    DataFrame
        `label, region, alpha, beta, beta_upper, kind, theorem, neighbours`.
    """
    at = ALPHA.array(parse_list(SMALL_RATES if log else RATES))
    return _labelled({label: frames.curve(region, at) for label, region in named(regions).items()})


def theorem_deltas(ways: Sequence[TheoremRegion], *, epsilon_max: float | None = None) -> pd.DataFrame:
    """Tabulate the delta(epsilon) that each composition theorem promises, at the same epsilons.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    epsilon_max : float, optional
        Where the epsilons end; by default where the sharper theorems have left the picture.

    Returns
    -------
    DataFrame
        `label, region, epsilon, delta, delta_lower, note, kind, theorem, neighbours`; `theorem` is the name of the theorem.
    """
    drawn = [way for way in ways if way.region is not None]
    at = even_grid(profile_end(drawn) if epsilon_max is None else epsilon_max)

    def bound(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
        return rows.assign(kind=kind, delta_lower=0.0)

    return _by_theorem(drawn, lambda region: frames.deltas(region, at), bound)


def theorem_betas(ways: Sequence[TheoremRegion], *, log: bool = False) -> pd.DataFrame:
    """Tabulate the beta(alpha) that each composition theorem promises, at the same false-positive rates.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    log : bool, default False
        Four rates in each decade from 1e-12 on, instead of every hundredth.

    Returns
    -------
    DataFrame
        `label, region, alpha, beta, beta_upper, note, kind, theorem, neighbours`; `theorem` is the name of the theorem.
    """
    at = ALPHA.array(parse_list(SMALL_RATES if log else RATES))

    def bound(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
        # a region that is too large has too few false negatives
        return rows.assign(kind="lower" if kind == "upper" else kind, beta_upper=1.0 - rows["alpha"])

    return _by_theorem(ways, lambda region: frames.curve(region, at), bound)


def _by_theorem(
    ways: Sequence[TheoremRegion],
    numbers: Callable[[TradeOff], pd.DataFrame],
    bound: Callable[[pd.DataFrame, str], pd.DataFrame],
) -> pd.DataFrame:
    """Tabulate every theorem that applies and does not take too long.

    What a theorem promises is a bound, however exactly the promise is known: `bound` marks it, without its other side.
    """
    parts = {}
    for way in ways:
        with suppress(BudgetError):  # the note of the figure says so
            if way.region is not None:
                rows = numbers(way.region)
                rows = rows if way.kind == EXACT else bound(rows, way.kind)
                parts[way.title] = rows.assign(note=way.note, theorem=way.name)
    return _labelled(parts)


def _labelled(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the rows of each curve, its name first and what its numbers are last."""
    whole = pd.concat([rows.assign(label=label) for label, rows in parts.items()], ignore_index=True)
    return labelled(whole[["label", *(name for name in whole.columns if name != "label")]])
