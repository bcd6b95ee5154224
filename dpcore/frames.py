"""Tidy tables of regions: one row per number, and every number says what it is.

Columns are lower-case ASCII; `region` is the canonical form. `kind` is ``exact`` where both bounds are the same
number, otherwise it names the side on which the main column is certified. Infinity is kept as a float.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from dpcore.curves.gaussian import Gaussian
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError, DomainError
from dpcore.lists import parse_list
from dpcore.tradeoff import TradeOff, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    Regions = TradeOff | Iterable[TradeOff]

DEFAULT_EPSILON = "0:5:0.5"
DEFAULT_DELTA = "1e-9..1e-2/8"
DEFAULT_ALPHA = "0:1:0.05"
MOST_CORNERS_SHOWN = 1000


def deltas(regions: Regions, epsilon: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the smallest delta for each epsilon.

    Parameters
    ----------
    regions : one region or several.
    epsilon : real values; by default the corners of a polygon, otherwise 0, 0.5, ..., 5.

    Returns
    -------
    DataFrame
        `region, epsilon, delta, delta_lower, kind, theorem`. The truth lies between `delta_lower` and `delta`;
        0 means that no failure is possible, 1 that nothing is promised.
    """
    parts = []
    for region in _several(regions):
        at = _default_epsilons(region) if epsilon is None else _values("epsilon", epsilon)
        lower, upper = region.delta_bounds(at)
        parts.append(
            _part(region, epsilon=at, delta=upper, delta_lower=lower, kind=region.kind, theorem=region.theorem)
        )
    return _joined(parts)


def epsilons(regions: Regions, delta: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the smallest epsilon for each delta.

    Parameters
    ----------
    regions : one region or several.
    delta : values in [0, 1]; by default the powers of ten from 1e-9 to 1e-2.

    Returns
    -------
    DataFrame
        `region, delta, epsilon, epsilon_lower, kind, theorem`; `inf` where no epsilon reaches that delta. The largest
        loss, at delta 0, is exact for a certified product as well.
    """
    at = _values("delta", parse_list(DEFAULT_DELTA) if delta is None else delta)
    parts = []
    for region in _several(regions):
        lower, upper = region.epsilon_bounds(at)
        known = (lower == upper) & region.curve.certified
        kind = np.where(known, "exact", region.kind).tolist()
        parts.append(_part(region, delta=at, epsilon=upper, epsilon_lower=lower, kind=kind, theorem=region.theorem))
    return _joined(parts)


def curve(regions: Regions, alpha: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the trade-off curve: the smallest false-negative rate beta at each false-positive rate alpha.

    Parameters
    ----------
    regions : one region or several.
    alpha : values in [0, 1]; by default 0, 0.05, ..., 1.

    Returns
    -------
    DataFrame
        `region, alpha, beta, beta_upper, kind`; `beta` is the safe side, and `kind` is ``lower`` where it is a bound.
    """
    at = _values("alpha", parse_list(DEFAULT_ALPHA) if alpha is None else alpha)
    parts = []
    for region in _several(regions):
        lower, upper = region.beta_bounds(at)
        kind = "exact" if np.array_equal(lower, upper) else "lower"
        parts.append(_part(region, alpha=at, beta=lower, beta_upper=upper, kind=kind))
    return _joined(parts)


def vertices(region: TradeOff) -> pd.DataFrame:
    """Tabulate the exact corners of a polygon: `region, alpha, beta`, alpha ascending."""
    alpha, beta = region.vertices()
    return _part(region, alpha=alpha, beta=beta)


def constraints(region: TradeOff) -> pd.DataFrame:
    """Tabulate the corners of a polygon as (epsilon, delta) statements: `region, epsilon, delta`.

    In words: the region is what remains when all these statements hold together.
    """
    epsilon, delta = region.corners()
    order = np.argsort(epsilon)
    return _part(region, epsilon=epsilon[order], delta=delta[order])


def compare(a: TradeOff, b: TradeOff) -> pd.DataFrame:
    """Tell which of two regions lies inside the other, or where their borders cross.

    Returns
    -------
    DataFrame
        `a, b, relation, crossing_alpha, crossing_beta, area_a, area_b`: one row for each crossing, or one row with
        empty crossing cells (None). `relation` is ``equal``, ``a inside b``, ``b inside a`` or ``crossing``; the
        region inside promises more. The areas are those under the two trade-off curves: 1/2 is perfect privacy,
        0 none.
    """
    from dpcore.comparison import compare_curves  # noqa: PLC0415  # only this table needs it

    outcome = compare_curves(a.curve, b.curve)
    points: list[tuple[float | None, float | None]] = [*outcome.crossings] or [(None, None)]
    frame = pd.DataFrame({"a": str(a), "b": str(b), "relation": outcome.relation}, index=range(len(points)))
    frame["crossing_alpha"] = np.array([alpha for alpha, _ in points], dtype=object)
    frame["crossing_beta"] = np.array([beta for _, beta in points], dtype=object)
    frame["area_a"] = float(a.area)
    frame["area_b"] = float(b.area)
    return frame


def theorems(region: TradeOff) -> pd.DataFrame:
    """Tabulate what every composition theorem that applies says about a product.

    A part that is not itself a statement, such as a mechanism, enters by the strongest dp or dptv statement it
    satisfies; its rows are then upper bounds and say so.

    Returns
    -------
    DataFrame
        `region, theorem, epsilon, delta, kind, note`; without rows if no theorem covers the mixture of statements.
    """
    from dpcore.algebra import factors  # noqa: PLC0415  # only this table needs it
    from dpcore.theorems import applicable  # noqa: PLC0415  # as above

    statements = [(*_statement(part), count) for part, count in factors(region)]
    frame = applicable([(name, values, count) for name, values, _, count in statements])
    for left_out in frame.attrs.pop("left_out", ()):
        warnings.warn(left_out, UserWarning, stacklevel=2)
    taken = "".join(dict.fromkeys(f"; {note}" for _, _, note, _ in statements if note))
    if taken:
        frame["kind"] = "upper"
        frame["note"] = (frame["note"] + taken).str.removeprefix("; ")
    frame.insert(0, "region", str(region))
    return frame


def _statement(part: TradeOff) -> tuple[str, tuple[float, ...], str]:
    """Return the name and values of the strongest statement the theorems know, and a note if it loses something."""
    found = part.curve
    if isinstance(found, Gaussian):
        return "gdp", (found.mu,), ""
    if found.max_loss == np.inf:
        msg = f"The theorems are about statements of bounded loss and gdp; {shorten(str(part))} has unbounded loss."
        raise DomainError(msg)
    epsilon, delta = max(0.0, found.max_loss), found.q_inf
    corners = found.loss[found.loss >= 0] if isinstance(found, Polygon) else None
    if corners is not None and corners.size <= 1:
        return "dp", (epsilon, delta), ""
    eta = part.total_variation
    exact = corners is not None and corners.size == 2 and corners[0] == 0
    note = "" if exact else f"{shorten(str(part))} taken as dptv({epsilon!r}, {delta!r}, {eta!r})"
    return "dptv", (epsilon, delta, eta), note


def _several(regions: Regions) -> list[TradeOff]:
    """Return a list of regions, whether one or several were given."""
    found: list[object] = [regions] if isinstance(regions, TradeOff) else list(regions)
    if not found:
        msg = "A table needs at least one region, got none."
        raise DomainError(msg)
    wrong = [type(item).__name__ for item in found if not isinstance(item, TradeOff)]
    if wrong:
        msg = f"A table is made of regions such as dp(1), got a value of type {wrong[0]}."
        raise DomainError(msg)
    return cast("list[TradeOff]", found)


def _values(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return the values asked as a flat array; what a region cannot answer it says itself."""
    try:
        found = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        msg = f"{name} must be numbers, got a value of type {type(values).__name__}."
        raise DomainError(msg) from None
    if np.isnan(found).any():
        msg = f"{name} must be numbers, got nan."
        raise DomainError(msg)
    return found


def _default_epsilons(region: TradeOff) -> NDArray[np.float64]:
    """Return the corners of a polygon if they fit on a page, otherwise an even grid."""
    polygon = region.curve
    if not isinstance(polygon, Polygon):
        return parse_list(DEFAULT_EPSILON)
    if polygon.corner_count > MOST_CORNERS_SHOWN:
        msg = (
            f"{region} has {polygon.corner_count} corners, more than {MOST_CORNERS_SHOWN}: "
            f"state the values of epsilon, for example --epsilon {DEFAULT_EPSILON}."
        )
        raise BudgetError(msg)
    return np.asarray(np.sort(region.corners()[0]), dtype=np.float64)


def _part(region: TradeOff, **columns: object) -> pd.DataFrame:
    """Return the rows of one region; adding 0.0 turns a negative zero into zero."""
    tidy = {
        name: np.asarray(values + 0.0, dtype=np.float64) if isinstance(values, np.ndarray) else values
        for name, values in columns.items()
    }
    return pd.DataFrame({"region": str(region), **tidy})


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
