"""The table of deltas: every theorem as (epsilon, delta) statements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.composition.gaussians import epsilons_of
from dpcore.curves.gaussian import Gaussian
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.composition.ways import Way
    from dpcore.curves.base import FloatArray

LONGEST = 3000
COLUMNS = ("theorem", "title", "epsilon", "delta", "kind", "note")
_STATEMENTS = {"basic", "kov_simplified", "advanced_drv", "advanced_course"}
_SMALLEST = 1e-12
_TINIEST = 1e-300  # below it a delta has lost its digits
_POINTS = 21


def statements(found: Iterable[Way], longest: int = LONGEST) -> pd.DataFrame:
    """Tabulate the (epsilon, delta) statements of every way.

    Parameters
    ----------
    found : what `ways` returns.
    longest : a polygon with more corners is thinned evenly to about this many rows; each kept row stays what it is.

    Returns
    -------
    DataFrame
        `theorem, title, epsilon, delta, kind, note`: the corners of polygons, the one statement of closed forms,
        21 points of smooth curves. A way that does not apply has the one row (inf, 1), which promises nothing, of
        kind ``none`` and says why.
    """
    return pd.concat([_rows(way, longest) for way in found], ignore_index=True)


def _rows(way: Way, longest: int) -> pd.DataFrame:
    if way.region is None:
        return _part(way, [math.inf], [1.0], "none", way.note)
    try:
        return _statement_rows(way, longest)
    except BudgetError as error:
        return _part(way, [math.inf], [1.0], "none", str(error))


def _statement_rows(way: Way, longest: int) -> pd.DataFrame:
    region = way.region
    if region is None:  # pragma: no cover  the caller has looked
        return _part(way, [math.inf], [1.0], "none", way.note)
    curve, note = region.curve, way.note
    if way.name in _STATEMENTS:
        epsilon = np.array([max(0.0, curve.max_loss)])
    elif isinstance(curve, Polygon):
        epsilon = _corners(curve)
        if epsilon.size > longest:
            picked = np.unique(np.linspace(0, epsilon.size - 1, longest).round().astype(np.int64))
            note = f"{note}; {grouped(picked.size)} of {grouped(epsilon.size)} corners".removeprefix("; ")
            epsilon = epsilon[picked]
    else:
        epsilon = _grid(way)
    delta = region.delta_bounds(epsilon)[1]
    kind = region.kind if way.kind == "exact" else way.kind
    return _part(way, epsilon, delta, kind, note)


def _corners(curve: Polygon) -> FloatArray:
    """Return the losses from 0 up to the largest, without those whose delta is too small for a number."""
    if not curve.loss.size:
        return np.zeros(1)
    top = max(curve.max_loss, 0.0)
    epsilon = np.unique(np.append(np.maximum(curve.loss[curve.loss >= -1e-12], 0.0), top))
    seen = (curve.delta_bounds(epsilon)[1] >= _TINIEST) | (epsilon == top)
    return np.asarray(epsilon[seen], dtype=np.float64)


def _grid(way: Way) -> FloatArray:
    """Return round numbers from 0 to where delta has fallen to 1e-12 or stays what it is."""
    region = way.region
    curve = region.curve if region is not None else None
    if isinstance(curve, Gaussian):  # many times faster than the general search
        top = float(epsilons_of(np.array([curve.mu]), np.zeros(1), _SMALLEST, certified=False)[0])
    else:
        top = float(region.epsilon(max(_SMALLEST, region.curve.q_inf * (1 + 1e-6)))) if region is not None else 0.0
    if not 0 < top < math.inf:
        top = 1.0
    step = top / (_POINTS - 1)
    size = 10.0 ** math.floor(math.log10(step))
    step = size * min(nice for nice in (1, 2, 5, 10) if nice * size >= step * (1 - 1e-12))
    points = np.array([float(f"{i * step:.12g}") for i in range(_POINTS)])
    return points[points <= top + step]


def _part(way: Way, epsilon: object, delta: object, kind: str, note: str) -> pd.DataFrame:
    columns = {"theorem": way.name, "title": way.title, "epsilon": epsilon, "delta": delta, "kind": kind, "note": note}
    return pd.DataFrame(columns, columns=list(COLUMNS))
