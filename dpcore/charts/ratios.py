"""Ratios and differences of near-equal curves: a number of each region divided by that of one of them.

A number of a region lies between two sides. The ratio of two such numbers lies between the lower side of the first over
the upper side of the second and the upper side of the first over the lower side of the second; what is published is the
larger of these, an upper bound, unless both numbers are exact. The same holds for differences, which are always bounds:
where two numbers agree to ten digits, rounding can swallow the whole difference. Nothing is divided by 0: such places
are left out, with a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.grids import RATES, SMALL_RATES, even_grid
from dpcore.charts.profiles import profile_top
from dpcore.charts.sampling import Regions, named
from dpcore.core.domains import ALPHA, ANY_LOSS, DELTA
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, ROUNDING, facts, kinds
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.language.lists import parse_list
from dpcore.theorems.composition.theorem_regions import TITLES as THEOREMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

    Sides = tuple[FloatArray, FloatArray]

WAYS: Final = ("ratio", "difference")
DELTAS: Final = "1e-12..1e-1/45"
_ROOM: Final = 2.01 * ROUNDING  # by which two exact numbers, each rounded, may be off together


@dataclass(frozen=True)
class Quantity:
    """A number of regions that can be compared: its sign, the axis below it, its domain there and its two sides."""

    sign: str
    across: str
    title: str
    log: bool
    check: Callable[[ArrayLike], FloatArray]
    bounds: Callable[[TradeOff, FloatArray], Bounds]


QUANTITIES: Final[dict[str, Quantity]] = {
    "delta": Quantity(
        "δ", "epsilon", theme.EPSILON_TITLE, False, ANY_LOSS.array, lambda region, at: region.delta_bounds(at)
    ),
    "epsilon": Quantity(
        "ε", "delta", theme.DELTA_TITLE, True, DELTA.array, lambda region, at: region.epsilon_bounds(at)
    ),
    "beta": Quantity("β", "alpha", "False positives α", False, ALPHA.array, lambda region, at: region.beta_bounds(at)),
}
"""What can be compared: delta at each epsilon, epsilon at each delta, and false negatives at each false-positive rate."""


def ratio_table(
    regions: Regions, *, of: str = "delta", over: str | None = None, by: str = "ratio", at: ArrayLike | None = None
) -> pd.DataFrame:
    """Tabulate how much larger a number of each region is than that of one of them.

    Parameters
    ----------
    regions : Regions
        At least two, in a list or a mapping from names to regions.
    of : str, default "delta"
        ``delta``, ``epsilon`` or ``beta``.
    over : str, optional
        Label of the region that the others are compared with; the first one by default.
    by : str, default "ratio"
        ``ratio`` or ``difference``.
    at : ArrayLike, optional
        Places on the axis, the same for all; by default an even grid where the curves fall.

    Returns
    -------
    DataFrame
        `label, region, over,` `epsilon`, `delta` or `alpha`, `ratio, ratio_lower` (or `difference, difference_lower`),
        `kind, theorem, neighbours`. The truth lies between the two numbers; `kind` is ``exact`` where they are equal,
        otherwise ``upper``. Places without an answer are left out; ``attrs["notes"]`` names them.
    """
    items = named(regions)
    one_of("of", QUANTITIES).check(of)
    one_of("by", WAYS).check(by)
    if len(items) < 2:
        msg = "A ratio or difference needs at least two regions, got one."
        raise DomainError(msg)
    base = next(iter(items)) if over is None else one_of("over", items).check(over)
    what = QUANTITIES[of]
    places = what.check(_places(items[base], of) if at is None else at)
    below = _sides(what.bounds(items[base], places))
    parts, notes = [], []
    for label, region in items.items():
        if label == base:
            continue
        above = _sides(what.bounds(region, places))
        lower, upper, reasons = (_quotient if by == "ratio" else _difference)(above, below)
        answered = reasons == ""
        notes += _left_out(label, base, what, places, reasons)
        rows = {
            "label": label,
            "region": str(region),
            "over": base,
            what.across: places,
            by: upper + 0.0,
            f"{by}_lower": lower + 0.0,
            "kind": kinds((lower, upper), "upper"),
            **facts(region),
        }
        parts.append(pd.DataFrame(rows)[answered])
    table: pd.DataFrame = pd.concat(parts, ignore_index=True)
    table.attrs = {"notes": notes}
    return table


def ladder_ratio_table(frame: pd.DataFrame, *, over: str | None = None, by: str = "ratio") -> pd.DataFrame:
    """Tabulate how much larger the epsilon of each theorem is than the best one known, as k grows.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.theorems.composition.ladder` returns.
    over : str, optional
        Name of the theorem to compare with; by default the composition itself or, for a statement, `kov_optimal`.
    by : str, default "ratio"
        ``ratio`` or ``difference``.

    Returns
    -------
    DataFrame
        `title, over, k, epsilon,` `ratio` or `difference`, `note, kind, theorem, neighbours`. `kind` is ``exact`` if the
        epsilon compared with is (``upper`` for a difference); ``lower`` if that one is itself a bound, since the truth may
        be further below; ``approximate`` if one of the two is no promise.
    """
    one_of("by", WAYS).check(by)
    finite = frame[np.isfinite(frame["epsilon"]) & (frame["kind"] != "none")].drop_duplicates(["theorem", "k"])
    names = [name for name in THEOREMS if name in set(finite["theorem"])]
    if len(names) < 2:
        msg = "A ratio needs two theorems that reach this δ; there are fewer."
        raise DomainError(msg)
    best = next(name for name in ("exact", "kov_optimal", *names) if name in names)
    base = best if over is None else one_of("over", names).check(over)
    below = finite[finite["theorem"] == base].set_index("k")
    title = str(below["title"].iloc[0])
    rows = finite[(finite["theorem"] != base) & finite["k"].isin(below.index)]
    zero = (below["epsilon"].loc[rows["k"]] == 0.0).to_numpy() if by == "ratio" else np.zeros(len(rows), dtype=bool)
    missing = sorted(set(rows["k"][zero]))
    rows = rows[~zero].reset_index(drop=True)
    other = below.loc[rows["k"]]
    own, divisor = rows["epsilon"].to_numpy(), other["epsilon"].to_numpy()
    what = [_ladder_kind(*pair, by) for pair in zip(rows["kind"], other["kind"], strict=True)]
    room = _ROOM * (own + divisor) * np.array([{"upper": 1.0, "lower": -1.0}.get(kind, 0.0) for kind in what])
    value = own / divisor if by == "ratio" else own - divisor + room
    columns = ["title", "over", "k", "epsilon", by, "note", "kind", "theorem", "neighbours"]
    table: pd.DataFrame = rows.assign(**{"over": title, by: value, "kind": what})[columns]
    places = ", ".join(map(str, missing))
    table.attrs = {"notes": [f"Left out: k = {places}, where ε by {title} is 0."] if missing else []}
    return table


def _ladder_kind(own: str, other: str, by: str) -> str:
    """Return the kind of a comparison of two epsilons: the first as it is stated, the second as far as it is known."""
    if "approximate" in (own, other):
        return "approximate"
    return "lower" if other != EXACT else EXACT if by == "ratio" else "upper"


# ---- sides ---------------------------------------------------------------------------------------------------------


def _places(base: TradeOff, of: str) -> FloatArray:
    """Return where to compare: as far as the picture of the region that the others are compared with goes."""
    if of == "delta":
        return even_grid(profile_top({"": base}))
    return parse_list(DELTAS) if of == "epsilon" else np.unique(parse_list(f"{SMALL_RATES},{RATES}"))


def _sides(bounds: Bounds) -> Sides:
    lower, upper = bounds
    return np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)


def _quotient(above: Sides, below: Sides) -> tuple[FloatArray, FloatArray, NDArray[np.object_]]:
    """Return both sides of a quotient, rounded outward, and why it has none; an empty text where it has one.

    The quotient of two exact numbers is exact: it is off by twice their rounding.
    """
    exact = (above[0] == above[1]) & (below[0] == below[1])
    room = np.where(exact, 0.0, _ROOM)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lower, upper = above[0] / below[1] * (1 - room), above[1] / below[0] * (1 + room)
    reasons = np.where(below[1] == 0.0, "{base} is 0", "").astype(object)
    reasons[(below[1] == 0.0) & (above[1] == 0.0)] = "both are 0"
    reasons[(reasons == "") & (below[0] == 0.0)] = "{base} is known to be small but not to be above 0"
    reasons[np.isinf(above[1]) | np.isinf(below[1])] = "one of the two is infinite"
    return lower, upper, reasons


def _difference(above: Sides, below: Sides) -> tuple[FloatArray, FloatArray, NDArray[np.object_]]:
    """Return both sides of a difference, rounded outward, and why it has none.

    The difference of two exact numbers is a bound: what their rounding leaves may be larger than the difference itself.
    """
    alone = ((above[1] == 0.0) & (below[0] == below[1])) | ((below[1] == 0.0) & (above[0] == above[1]))
    with np.errstate(invalid="ignore"):
        room = np.where(alone, 0.0, _ROOM * (np.abs(above[1]) + np.abs(below[1])))
        lower, upper = above[0] - below[1] - room, above[1] - below[0] + room
    reasons = np.where(np.isinf(above[1]) | np.isinf(below[1]), "one of the two is infinite", "").astype(object)
    return lower, upper, reasons


def _left_out(label: str, base: str, what: Quantity, places: FloatArray, reasons: NDArray[np.object_]) -> list[str]:
    """Say where there is no answer, each reason once."""
    sign = {"epsilon": "ε", "delta": "δ", "alpha": "α"}[what.across]
    notes = []
    for reason in dict.fromkeys(text for text in reasons.tolist() if text):
        gone = places[reasons == reason]
        where = (
            f"{sign} = {nearest(gone[0])}"
            if gone.size == 1
            else f"{gone.size} places from {sign} = {nearest(gone.min())} to {nearest(gone.max())}"
        )
        notes.append(
            f"{theme.short(label)}: {where} left out, because there {reason.format(base=f'{what.sign} of {theme.short(base)}')}."
        )
    return notes
