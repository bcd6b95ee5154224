r"""Is a region the composition of single (epsilon, delta) constraints? Peeling decides, smallest epsilon first.

Let N(u) count the sign patterns of the unknown :math:`\varepsilon_1, \dots, \varepsilon_m` whose minus signs add up to u, and
:math:`N_F(u)` those of the ones found so far. Below the smallest one still missing, N and :math:`N_F` agree; there, N is
larger by the number of its copies. So the first level whose weight is not explained is the next epsilon, and its
excess, an integer, counts the copies. A weight that is not an integer, a missing level, or epsilons that add up to more
than the largest loss prove that the region is not such a product. Of the deltas, only the product of all 1 - delta is
determined: it is f(0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.constraints.levels import SAME, Sums, levels_of, product_polygon
from dpcore.constraints.pair import polygon_of
from dpcore.constraints.peeling import Peeled, peel
from dpcore.core.domains import PROBABILITY
from dpcore.core.kinds import FACTS, labelled
from dpcore.core.numerals import nearest
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions.algebra import Loose, SelfComposing
from dpcore.regions.algebra import factors as parts_of
from dpcore.regions.guarantees import DP, TV
from dpcore.regions.tradeoff import Atom, shorten
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

    Factors = tuple[tuple[float, int], ...]

STEP_COLUMNS = (
    "step", "loss", "drop", "weight", "explained", "excess", "factor_epsilon", "copies", "left_over", "outcome", *FACTS,
)  # fmt: skip
SPLIT_COLUMNS = (
    "region",
    "is_product",
    "factor_epsilon",
    "copies",
    "total_delta",
    "reason",
    *FACTS,
)
_ROUNDING = 4e-15  # relative error of a delta that was typed or computed
_EQUAL = 1e-10  # relative difference below which deltas count as equal
_SHIFT = 2e-12  # relative: losses that differ by less may be the same
_SMALLEST = 1e-303  # smaller masses have lost digits to underflow
_LARGE_LOSS = 600.0  # from here on a mass may underflow to 0


@dataclass(frozen=True)
class Split:
    """Whether a region is a product of single constraints, and which ones.

    Attributes
    ----------
    region : TradeOff
        The region that was split.
    is_product : bool or None
        True, False, or None if rounding hides the answer.
    factors : Factors
        (epsilon, copies), ascending, unique; empty if the region is (0, total_delta)-DP or not a product.
    total_delta : float
        1 - prod (1 - delta_i), that is 1 - f(0).
    reason : str
        The product, or the proof that there is none, in words.
    steps : DataFrame
        One row per step of the peeling (`STEP_COLUMNS`).
    """

    region: TradeOff
    is_product: bool | None
    factors: Factors
    total_delta: float
    reason: str
    steps: pd.DataFrame = field(repr=False)

    @property
    def product(self) -> TradeOff | None:
        """The product as a region of its own, with the whole delta in one factor; None if there is none."""
        return product_of(self.factors, self.total_delta) if self.is_product else None

    @property
    def frame(self) -> pd.DataFrame:
        """The answer as a table: a row per factor, or one row with the reason.

        `region, is_product, factor_epsilon, copies, total_delta, reason, kind, theorem, neighbours`; `kind` is ``exact``
        for the factors of a product, ``upper`` if the region is a bound, ``none`` if there are no numbers.
        """
        factors: list[tuple[float | None, int | None]] = [*self.factors]
        if not factors:
            factors = [(0.0, 1)] if self.is_product else [(None, None)]
        total = self.total_delta if self.is_product else None
        facts = (self.region.kind if self.is_product else "none", self.region.theorem, self.region.neighbours)
        rows = [
            (str(self.region), self.is_product, epsilon, copies, total, self.reason, *facts)
            for epsilon, copies in factors
        ]
        return pd.DataFrame(rows, columns=list(SPLIT_COLUMNS), dtype=object)


def split(region: TradeOff, tolerance: float = _ROUNDING) -> Split:
    """Split a region into single constraints, or explain why that is impossible.

    Parameters
    ----------
    region : TradeOff
        Any region; its symmetric closure is split.
    tolerance : float, default _ROUNDING
        Relative error of its deltas, in [0, 0.01]; larger than the default for deltas copied from a paper.

    Returns
    -------
    Split
        The factors are unique up to order. `is_product` is None if errors as large as `tolerance` could make either
        answer right.
    """
    PROBABILITY.but(name="tolerance", high=0.01).check(tolerance)
    if not isinstance(published(region.curve), Polygon):
        return _no_polygon(region, tolerance)
    polygon = polygon_of(region)
    total = max(0.0, float(polygon.q_inf))
    if total >= 1.0 or not polygon.loss.size or polygon.max_loss <= 0.0:
        reason = f"It is the single constraint (0, {outward(total, 6)})-DP."
        return Split(region, True, (), total, reason, _frame(region, []))
    if polygon.loss[-1] < polygon.max_loss * (1.0 - SAME) or _faint(polygon):
        reason = "Some losses are rarer than the smallest double; they cannot be weighed."
        return Split(region, None, (), total, reason, _frame(region, []))
    return _decide(region, polygon, tolerance)


def product_of(factors: Sequence[tuple[float, int]], total_delta: float) -> TradeOff:
    """Return the product of copies of dp(epsilon), with one factor tv(total_delta) if that is not 0."""
    parts: list[TradeOff] = [DP(epsilon) if copies == 1 else DP(epsilon) ** copies for epsilon, copies in factors]
    if total_delta > 0 or not parts:
        parts.append(TV(total_delta))
    return reduce(mul, parts)


def _faint(polygon: Polygon) -> bool:
    """Whether a mass is, or may have been, too small for a double; lattices list nonexistent levels with mass 0."""
    q = polygon.q[polygon.loss >= 0]
    return bool(np.any((q > 0) & (q < _SMALLEST)) or (polygon.max_loss > _LARGE_LOSS and np.any(q == 0)))


def level_table(region: TradeOff, factors: Sequence[tuple[float, int]] = ()) -> pd.DataFrame:
    """Return the levels of a polygon with their weights, and how much of each the given factors explain.

    Parameters
    ----------
    region : TradeOff
        A polygon.
    factors : sequence of tuple of (float, int), default ()
        (epsilon, copies) of each factor.

    Returns
    -------
    DataFrame
        `loss, drop, weight, explained, kind, theorem, neighbours`: losses descending from the largest, E; `drop` is
        (E - loss) / 2, `weight` is q e^drop over the mass of E, `explained` the number of sign patterns of the factors
        that reach the level. Empty if the region has no loss above 0. Numbers are those of the polygon, right up to
        rounding; `kind` is ``upper`` if that polygon is a bound.
    """
    shape = polygon_of(region)
    empty = pd.DataFrame({name: np.zeros(0) for name in ("loss", "drop", "weight", "explained")})
    if not shape.loss.size or shape.max_loss <= 0.0 or not np.any(shape.q > 0):
        return labelled(empty, region, kind=region.kind)
    levels = levels_of(shape, 0.0)
    sums = Sums.empty()
    for epsilon, copies in factors:
        sums = sums.with_copies(epsilon, copies, levels.same)
    explained, _ = sums.at(levels.drop, levels.same)
    loss = levels.top - 2.0 * levels.drop
    columns = {"loss": loss, "drop": levels.drop, "weight": levels.weight, "explained": explained}
    return labelled(pd.DataFrame(columns), region, kind=region.kind)


# ---- regions that are no polygon -----------------------------------------------------------------------------


def _no_polygon(region: TradeOff, tolerance: float) -> Split:
    """Split a region that is not a polygon: a curve is never a product; a product with too many corners splits by parts."""
    parts = parts_of(region)
    curved = [node for node, _ in parts if _is_curved(node)]
    plain = len(parts) == 1 or not any(isinstance(node, (Loose, SelfComposing)) for node, _ in parts)
    if curved and plain and (parts[0][1] == 1 or not isinstance(parts[0][0], (Loose, SelfComposing))):
        reason = f"The losses of {shorten(str(curved[0]))} fill an interval; a product of single constraints has finitely many."
        return Split(region, False, (), _lost(region), reason, _frame(region, []))
    if curved or (len(parts) == 1 and parts[0][1] == 1):
        return Split(
            region, None, (), _lost(region), "The region is not known as a list of corners.", _frame(region, [])
        )
    splits = [(split(node, tolerance), count) for node, count in parts]
    if not all(one.is_product for one, _ in splits):
        reason = "The region has too many corners to list, and not all of its parts split."
        return Split(region, None, (), _lost(region), reason, _frame(region, []))
    counts: dict[float, int] = {}
    for one, count in splits:
        for epsilon, copies in one.factors:
            counts[epsilon] = counts.get(epsilon, 0) + count * copies
    total = -math.expm1(math.fsum(count * math.log1p(-one.total_delta) for one, count in splits)) + 0.0
    reason = "It has too many corners to list, but each of its parts is a product of single constraints."
    return Split(region, True, tuple(sorted(counts.items())), total, reason, _frame(region, []))


def _is_curved(node: TradeOff) -> bool:
    """Whether a region is not a polygon by definition: a named guarantee or mechanism with another curve."""
    return isinstance(node, Atom) and node.entry.group != "operation" and not isinstance(node.curve, Polygon)


def _lost(region: TradeOff) -> float:
    return max(0.0, float(region.curve.q_inf))


# ---- polygons ------------------------------------------------------------------------------------------------


def _decide(region: TradeOff, polygon: Polygon, tolerance: float) -> Split:
    """Peel with masses right up to rounding, then with the errors that the deltas allow; compare the product's deltas."""
    total = max(0.0, float(polygon.q_inf))
    slack = max(_EQUAL, 1e3 * tolerance)
    outcome = Peeled((), [], "", sure=False)
    for error in (0.0, tolerance):
        outcome = peel(levels_of(polygon, error))
        if not outcome.factors:
            continue
        difference = first_difference(polygon, product_polygon(outcome.factors, total), slack)
        if difference is None:
            name = shorten(str(product_of(outcome.factors, total)), 200)
            reason = f"It is {name}: all deltas agree."
            return Split(region, True, outcome.factors, total, reason, _frame(region, outcome.steps))
        if not outcome.against:
            at, own, other = difference
            words = f"At ε = {nearest(at)} the region has δ = {nearest(own, 10)}, the product of the factors found {nearest(other, 10)}."
            outcome = outcome._replace(against=words)
    reason = outcome.against if outcome.sure else f"Rounding hides the answer. {outcome.against}"
    return Split(region, False if outcome.sure else None, (), total, reason, _frame(region, outcome.steps))


def first_difference(a: Polygon, b: Polygon, slack: float) -> tuple[float, float, float] | None:
    """Return (epsilon, delta_a, delta_b) where two profiles certainly differ most, or None if they agree."""
    at = np.unique(np.concatenate((a.loss[a.loss >= 0], b.loss[b.loss >= 0], [0.0])))
    shift = _SHIFT * (1.0 + float(at[-1]))
    upper_a, upper_b = (curve.delta_bounds(np.maximum(at - shift, 0.0))[1] for curve in (a, b))
    lower_a, lower_b = (curve.delta_bounds(at + shift)[0] for curve in (a, b))
    excess = np.maximum(lower_a - upper_b * (1.0 + slack), lower_b - upper_a * (1.0 + slack))
    worst = int(np.argmax(excess))
    if excess[worst] <= 0:
        return None
    where = np.array([at[worst]])
    return float(at[worst]), float(a.delta_bounds(where)[1][0]), float(b.delta_bounds(where)[1][0])


def _frame(region: TradeOff, steps: list[tuple[object, ...]]) -> pd.DataFrame:
    return labelled(pd.DataFrame(steps, columns=list(STEP_COLUMNS[:-3])), region, kind=region.kind)
