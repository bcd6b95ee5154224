"""The worst mechanism that a polygon allows, and the corners of its compositions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import labelled
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.composition.delta_table import statements
from dpcore.theorems.composition.theorem_regions import TheoremRegion

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

MOST_LEVELS = 100_000
MOST_ROWS = 1000


def polygon_of(region: TradeOff) -> Polygon:
    """Return the polygon of a region (for a bound, the published one); raise if it has none or too many corners."""
    curve = published(region.curve)
    if not isinstance(curve, Polygon):
        msg = f"{shorten(str(region))} is not a polygon: it has no finite list of losses."
        raise DomainError(msg)
    if curve.corner_count > MOST_LEVELS:
        msg = f"{shorten(str(region))} has {curve.corner_count} losses; at most {MOST_LEVELS} are listed."
        raise BudgetError(msg)
    region.dual  # noqa: B018  its masses are checked once
    return curve


def dominating_pair(region: TradeOff) -> pd.DataFrame:
    r"""Return the pair of distributions whose trade-off is the polygon: its segments, read as probabilities.

    A segment of slope :math:`-e^L` is an answer with loss L; its width is the probability under P0 (the record is not
    in the data) and its drop the probability under P1. In words: no mechanism that the region allows reveals more, and
    the mechanism that releases a draw of this pair reveals as much.

    Parameters
    ----------
    region : TradeOff
        A polygon.

    Returns
    -------
    DataFrame
        `loss, p, q, kind, theorem, neighbours`: losses ascending from -inf (an answer that only P0 gives) to inf (only
        P1); both columns add up to 1.
    """
    curve = polygon_of(region)
    inner = (curve.p > 0) | (curve.q > 0)
    loss = np.concatenate(([-np.inf], curve.loss[inner], [np.inf]))
    p = np.concatenate(([curve.p_inf], curve.p[inner], [0.0]))
    q = np.concatenate(([0.0], curve.q[inner], [curve.q_inf]))
    keep = (p > 0) | (q > 0)
    frame = pd.DataFrame({"loss": loss[keep] + 0.0, "p": p[keep], "q": q[keep]})
    return labelled(frame, region, kind=region.kind)


def corners(region: TradeOff, longest: int = MOST_ROWS) -> pd.DataFrame:
    """Return a region as (epsilon, delta) statements: the corners of a polygon, or points of a curve.

    Parameters
    ----------
    region : TradeOff
        Any region.
    longest : int, default MOST_ROWS
        Maximum number of rows.

    Returns
    -------
    DataFrame
        `epsilon, delta, note, kind, theorem, neighbours`, epsilon ascending from 0; polygons with more corners than
        `longest` are thinned evenly (`note` says so), and every row stays true.
    """
    item = TheoremRegion("exact", "exact", region, "exact", "")
    return labelled(statements([item], longest)[["epsilon", "delta", "kind", "note"]], region)
