"""Tidy tables of regions: one row per number, and every number says what it is.

Columns are lower-case ASCII; `region` is the canonical form. The last three columns describe the number: `kind` (see
`dpcore.core.kinds`), `theorem` (why it holds) and `neighbours` (for which neighbouring datasets). Infinity stays a float.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from dpcore.core.domains import ALPHA, ANY_LOSS, DELTA
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import EXACT, kinds
from dpcore.core.lazy import LateModule
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.language.lists import parse_list
from dpcore.regions import gate
from dpcore.regions.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from dpcore.core.kinds import Side

    Regions = TradeOff | Iterable[TradeOff]

    import pandas as pd
else:
    pd = LateModule("pandas")

DEFAULT_EPSILON = "0:5:0.5"
DEFAULT_DELTA = "1e-9..1e-2/8"
DEFAULT_ALPHA = "0:1:0.05"
MOST_CORNERS_SHOWN = 1000


def deltas(regions: Regions, epsilon: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the smallest delta for each epsilon.

    Parameters
    ----------
    regions : Regions
        One region or several.
    epsilon : ArrayLike, optional
        Real values; by default the corners of a polygon, otherwise 0, 0.5, ..., 5.

    Returns
    -------
    DataFrame
        `region, epsilon, delta, delta_lower, kind, theorem, neighbours`. The truth lies between `delta_lower` and `delta`;
        0 means that no failure is possible, 1 that nothing is promised.
    """
    values = None if epsilon is None else ANY_LOSS.array(epsilon)
    parts = []
    for region in several(regions):
        at = _default_epsilons(region) if values is None else values
        lower, upper = region.delta_bounds(at)
        what = kinds((lower, upper), "upper").tolist()
        parts.append(_part(region, what, epsilon=at, delta=upper, delta_lower=lower))
    return _joined(parts)


def epsilons(regions: Regions, delta: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the smallest epsilon for each delta.

    Parameters
    ----------
    regions : Regions
        One region or several.
    delta : ArrayLike, optional
        Values in [0, 1]; by default the powers of ten from 1e-9 to 1e-2.

    Returns
    -------
    DataFrame
        `region, delta, epsilon, epsilon_lower, kind, theorem, neighbours`; `inf` if no epsilon reaches that delta.
        The largest loss, at delta 0, is exact even for a certified product.
    """
    at = DELTA.array(parse_list(DEFAULT_DELTA) if delta is None else delta)
    parts = []
    for region in several(regions):
        lower, upper = region.epsilon_bounds(at)
        what = kinds((lower, upper), "upper").tolist()
        parts.append(_part(region, what, delta=at, epsilon=upper, epsilon_lower=lower))
    return _joined(parts)


def curve(regions: Regions, alpha: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the trade-off curve: the smallest false-negative rate beta at each false-positive rate alpha.

    Parameters
    ----------
    regions : Regions
        One region or several.
    alpha : ArrayLike, optional
        Values in [0, 1]; by default 0, 0.05, ..., 1.

    Returns
    -------
    DataFrame
        `region, alpha, beta, beta_upper, kind, theorem, neighbours`; `beta` is the safe side, and `kind` is ``lower``
        if it is a bound.
    """
    at = ALPHA.array(parse_list(DEFAULT_ALPHA) if alpha is None else alpha)
    parts = []
    for region in several(regions):
        lower, upper = region.beta_bounds(at)
        what = kinds((lower, upper), "lower").tolist()
        parts.append(_part(region, what, alpha=at, beta=lower, beta_upper=upper))
    return _joined(parts)


def vertices(region: TradeOff) -> pd.DataFrame:
    """Tabulate the corners of a polygon, alpha ascending; for a bound, those of the published region.

    Parameters
    ----------
    region : TradeOff
        A polygon.

    Returns
    -------
    DataFrame
        `region, alpha, beta, kind, theorem, neighbours`; `beta` is ``lower`` if the polygon is a bound.
    """
    alpha, beta = region.vertices()
    return _part(region, _corner_kinds(region, alpha, "lower"), alpha=alpha, beta=beta)


def constraints(region: TradeOff) -> pd.DataFrame:
    """Tabulate the corners of a polygon as (epsilon, delta) statements.

    In words: the region is what all these statements allow together.

    Parameters
    ----------
    region : TradeOff
        A polygon.

    Returns
    -------
    DataFrame
        `region, epsilon, delta, kind, theorem, neighbours`, epsilon ascending; `delta` is ``upper`` if the polygon is a
        bound.
    """
    epsilon, delta = region.corners()
    order = np.argsort(epsilon)
    epsilon = epsilon[order]
    return _part(region, _corner_kinds(region, epsilon, "upper"), epsilon=epsilon, delta=delta[order])


def _corner_kinds(region: TradeOff, at: NDArray[np.float64], safe: Side) -> list[str]:
    """Return the kinds of the corners of a polygon: exact if it is; a bound, or computed losses, need the other side."""
    curve = region.curve
    if curve.exact and not (safe == "upper" and isinstance(curve, Polygon) and curve.loss_error):
        return [EXACT] * at.size
    bounds = region.beta_bounds(at) if safe == "lower" else region.delta_bounds(at)
    return [str(name) for name in kinds(bounds, safe)]


def compare(a: TradeOff, b: TradeOff) -> pd.DataFrame:
    """Tabulate which of two regions lies inside the other, or where their borders cross.

    Parameters
    ----------
    a, b : TradeOff
        The regions.

    Returns
    -------
    DataFrame
        `a, b, relation, crossing_alpha, crossing_beta, area_a, area_b, kind, theorem, neighbours`: one row for each
        crossing, or one row with empty crossing cells (None). `relation` is ``equal``, ``a inside b``,
        ``b inside a`` or ``crossing``; the inner region promises more. The areas are those under the two trade-off
        curves, never above the truth: 1/2 is perfect privacy, 0 none; `kind` is ``exact`` if both are, otherwise
        ``lower``. If `theorem` or `neighbours` differ, both are named.
    """
    from dpcore.regions.comparison import compare_curves  # noqa: PLC0415  # only this table needs it

    with gate.naming(a, b):
        outcome = compare_curves(a.curve, b.curve)
    points: list[tuple[float | None, float | None]] = [*outcome.crossings] or [(None, None)]
    frame = pd.DataFrame({"a": str(a), "b": str(b), "relation": outcome.relation}, index=range(len(points)))
    frame["crossing_alpha"] = np.array([alpha for alpha, _ in points], dtype=object)
    frame["crossing_beta"] = np.array([beta for _, beta in points], dtype=object)
    areas = [region.area_bounds for region in (a, b)]
    frame["area_a"], frame["area_b"] = (lower for lower, _ in areas)
    frame["kind"] = EXACT if all(lower == upper for lower, upper in areas) else "lower"
    frame["theorem"] = _of_both(a.theorem, b.theorem)
    frame["neighbours"] = _of_both(a.neighbours, b.neighbours)
    return frame


def _of_both(a: str, b: str) -> str:
    return a if a == b else f"a: {a}; b: {b}"


def several(regions: Regions) -> list[TradeOff]:
    """Return one or several regions as a list; raise if there are none, or if one is something else."""
    items: list[object] = [regions] if isinstance(regions, TradeOff) else list(regions)
    if not items:
        msg = "A table needs one or more regions such as dp(1), got none."
        raise DomainError(msg)
    wrong = [type(item).__name__ for item in items if not isinstance(item, TradeOff)]
    if wrong:
        msg = f"A table is made of regions such as dp(1), got a value of type {wrong[0]}."
        raise DomainError(msg)
    return cast("list[TradeOff]", items)


def _default_epsilons(region: TradeOff) -> NDArray[np.float64]:
    """Return the corners of a polygon if they fit on a page, otherwise an even grid."""
    polygon = published(region.curve)
    if not isinstance(polygon, Polygon):
        return parse_list(DEFAULT_EPSILON)
    if polygon.corner_count > MOST_CORNERS_SHOWN:
        msg = (
            f"{region} has {polygon.corner_count} corners, more than {MOST_CORNERS_SHOWN}: "
            f"state the values of epsilon, for example --epsilon {DEFAULT_EPSILON}."
        )
        raise BudgetError(msg)
    return np.asarray(np.sort(region.corners()[0]), dtype=np.float64)


def _part(region: TradeOff, what: list[str], **columns: NDArray[np.float64]) -> pd.DataFrame:
    """Return the rows of one region and what each is; adding 0.0 turns a negative zero into zero."""
    tidy = {name: np.asarray(values + 0.0, dtype=np.float64) for name, values in columns.items()}
    facts = {"kind": what, "theorem": region.theorem, "neighbours": region.neighbours}
    return pd.DataFrame({"region": str(region), **tidy, **facts})


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
