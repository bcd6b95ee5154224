"""The table of deltas: every theorem as (epsilon, delta) statements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import kinds
from dpcore.curves.polygon import Polygon
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.composition.theorem_regions import TheoremRegion

LONGEST = 3000  # rows of a table that a browser still scrolls smoothly
COLUMNS = ("theorem", "title", "epsilon", "delta", "kind", "note", "neighbours")
_SMALLEST = 1e-12  # the delta at which the grid of a smooth curve ends
_TINIEST = 1e-300  # a smaller delta has lost digits to underflow
_POINTS = 21  # of a smooth curve


def statements(regions: Iterable[TheoremRegion], longest: int = LONGEST, *, silent: bool = True) -> pd.DataFrame:
    """Tabulate the (epsilon, delta) statements of every theorem.

    Parameters
    ----------
    regions : iterable of TheoremRegion
        What `theorem_regions` returns.
    longest : int, default LONGEST
        A polygon with more corners is thinned evenly to about this many rows; each kept row stays what it is.
    silent : bool, default True
        Whether to list the theorems that do not apply.

    Returns
    -------
    DataFrame
        `theorem, title, epsilon, delta, kind, note, neighbours`: the corners of polygons, the one statement of closed forms,
        21 points of smooth curves. A theorem that does not apply has one row, (inf, 1), which promises nothing; its
        kind is ``none`` and its note says why.
    """
    parts = [_rows(theorem, longest) for theorem in regions]
    parts = [part for part in parts if silent or "none" not in part.kind]
    sizes = [part.epsilon.size for part in parts]
    texts = (("theorem", "title", "note", "neighbours"), zip(*(part.texts for part in parts), strict=True))
    columns = {name: np.repeat(np.array(values, dtype=object), sizes) for name, values in zip(*texts, strict=True)}
    columns["kind"] = np.concatenate([np.asarray(part.kind, dtype=object) for part in parts])
    columns["epsilon"] = np.concatenate([part.epsilon for part in parts])
    columns["delta"] = np.concatenate([part.delta for part in parts])
    return pd.DataFrame(columns, columns=list(COLUMNS))


class _TheoremRows(NamedTuple):
    """The rows of one theorem: name, title, note and neighbours are the same in all of them."""

    texts: tuple[str, str, str, str]
    epsilon: FloatArray
    delta: FloatArray
    kind: NDArray[np.str_]


def _rows(theorem: TheoremRegion, longest: int) -> _TheoremRows:
    if theorem.region is None:
        return _silent(theorem, theorem.note)
    try:
        return _statement_rows(theorem, theorem.region, longest)
    except BudgetError as error:
        return _silent(theorem, str(error))


def _silent(theorem: TheoremRegion, why: str) -> _TheoremRows:
    neighbours = "" if theorem.region is None else theorem.region.neighbours
    return _TheoremRows(
        (theorem.name, theorem.title, why, neighbours), np.array([math.inf]), np.ones(1), np.array(["none"])
    )


def _statement_rows(theorem: TheoremRegion, region: TradeOff, longest: int) -> _TheoremRows:
    curve, note = region.curve, theorem.note
    if theorem.single:
        epsilon = np.array([max(0.0, curve.max_loss)])
    elif isinstance(curve, Polygon):
        epsilon = _corners(curve)
        if epsilon.size > longest:
            places = np.unique(np.linspace(0, epsilon.size - 1, longest).round().astype(np.int64))
            note = f"{note}; {grouped(places.size)} of {grouped(epsilon.size)} corners".removeprefix("; ")
            epsilon = epsilon[places]
    else:
        epsilon = _grid(region)
    sides = region.delta_bounds(epsilon)
    kind = kinds(sides, "upper") if theorem.kind == "exact" else np.full(epsilon.size, theorem.kind)
    return _TheoremRows((theorem.name, theorem.title, note, region.neighbours), epsilon, sides[1], kind)


def _corners(curve: Polygon) -> FloatArray:
    """Return the losses from 0 up to the largest, without those whose delta underflows."""
    if not curve.loss.size:
        return np.zeros(1)
    top = max(curve.max_loss, 0.0)
    epsilon = np.unique(np.append(np.maximum(curve.loss[curve.loss >= -1e-12], 0.0), top))
    visible = (curve.delta_bounds(epsilon)[1] >= _TINIEST) | (epsilon == top)
    return np.asarray(epsilon[visible], dtype=np.float64)


def _grid(region: TradeOff) -> FloatArray:
    """Return round numbers from 0 to where delta has fallen to 1e-12, or no longer falls."""
    curve = region.curve
    if curve.gaussian_mu is not None:  # many times faster than the general search
        top = float(epsilons_of(np.array([curve.gaussian_mu]), np.zeros(1), _SMALLEST, certified=False)[0])
    else:
        goal = max(_SMALLEST, curve.q_inf * (1 + 1e-6))
        top = _epsilon_at(curve, goal) if curve.exact else float(region.epsilon(goal))
    if not 0 < top < math.inf:
        top = 1.0
    step = top / (_POINTS - 1)
    size = 10.0 ** math.floor(math.log10(step))
    step = size * min(nice for nice in (1, 2, 5, 10) if nice * size >= step * (1 - 1e-12))
    points = np.array([float(f"{i * step:.12g}") for i in range(_POINTS)])
    return points[points <= top + step]


def _epsilon_at(curve: Curve, goal: float) -> float:
    """Return, to four digits, the epsilon where delta falls to the goal: many values at once cost hardly more than one."""
    points = np.append(0.0, np.minimum(np.geomspace(1e-4, 1e6, 41), curve.max_loss))
    for _ in range(4):
        below = np.flatnonzero(curve.delta_bounds(points)[1] <= goal)
        if not below.size or below[0] == 0:
            return 0.0
        points = np.linspace(points[below[0] - 1], points[below[0]], 21)
    return float(points[0])
