r"""Is a region the composition of single (epsilon, delta) constraints? Peeling decides, smallest epsilon first.

Let N(u) count the sign patterns of the unknown :math:`\varepsilon_1, \dots, \varepsilon_m` whose minus signs add up to u, and
:math:`N_F(u)` those of the ones found so far. Below the smallest one still missing, N and :math:`N_F` agree; there, N is
larger by the number of its copies. So the first level whose weight is not explained is the next epsilon, and its
excess, a whole number, counts the copies. A weight that is no whole number, a level that should be there and is not, or
epsilons that add up to more than the largest loss prove that the region is no such product. Of the deltas only the
product of all 1 - delta is determined: it is f(0).
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
_EQUAL = 1e-10  # relative difference of deltas that counts as none
_SHIFT = 2e-12
_SMALLEST = 1e-303
_LARGE_LOSS = 600.0


@dataclass(frozen=True)
class Split:
    """The answer.

    Attributes
    ----------
    region : what was asked about.
    is_product : True, False, or None where rounding hides the answer.
    factors : (epsilon, copies), ascending, unique; empty if the region is (0, total_delta)-DP or no product.
    total_delta : 1 - prod (1 - delta_i), that is 1 - f(0).
    reason : the product, or the certificate why there is none, in words.
    steps : one row a step of the peeling (`STEP_COLUMNS`).
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
        """The table of the answer: a row per factor, else one with the reason.

        `region, is_product, factor_epsilon, copies, total_delta, reason, kind, theorem, neighbours`; `kind` is ``exact``
        for the factors of a product, ``upper`` where the region split is a bound, ``none`` where there are no numbers.
        """
        found: list[tuple[float | None, int | None]] = [*self.factors]
        if not found:
            found = [(0.0, 1)] if self.is_product else [(None, None)]
        total = self.total_delta if self.is_product else None
        facts = (self.region.kind if self.is_product else "none", self.region.theorem, self.region.neighbours)
        rows = [
            (str(self.region), self.is_product, epsilon, copies, total, self.reason, *facts)
            for epsilon, copies in found
        ]
        return pd.DataFrame(rows, columns=list(SPLIT_COLUMNS), dtype=object)


def split(region: TradeOff, tolerance: float = _ROUNDING) -> Split:
    """Split a region into single constraints, or say why that is impossible.

    Parameters
    ----------
    region : any region; its symmetric closure is split.
    tolerance : relative error of its deltas, in [0, 0.01]; larger than the default for deltas copied from a paper.

    Returns
    -------
    Split
        The factors are unique up to order. `is_product` is None where errors as large as `tolerance` could make
        either answer right.
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
    """Whether a mass is too small for a double, or may have been; lattices list levels of mass 0 that are none."""
    q = polygon.q[polygon.loss >= 0]
    return bool(np.any((q > 0) & (q < _SMALLEST)) or (polygon.max_loss > _LARGE_LOSS and np.any(q == 0)))


def level_table(region: TradeOff, factors: Sequence[tuple[float, int]] = ()) -> pd.DataFrame:
    """Return the levels of a polygon with their weights, and what some factors explain of them.

    Returns
    -------
    DataFrame
        `loss, drop, weight, explained, kind, theorem, neighbours`: losses descending from the largest, E; `drop` is (E - loss) / 2, `weight`
        q e^drop over the mass of E, `explained` the number of sign patterns of the factors that reach the level.
        Without rows where the region has no loss above 0. Numbers are those of the polygon, right to rounding; `kind` is
        ``upper`` where that polygon is a bound.
    """
    shape = polygon_of(region)
    empty = pd.DataFrame({name: np.zeros(0) for name in ("loss", "drop", "weight", "explained")})
    if not shape.loss.size or shape.max_loss <= 0.0 or not np.any(shape.q > 0):
        return labelled(empty, region, kind=region.kind)
    levels = levels_of(shape, 0.0)
    sums = Sums.empty()
    for epsilon, copies in factors:
        sums = sums.with_copies(epsilon, copies, levels.same)
    known, _ = sums.at(levels.drop, levels.same)
    loss = levels.top - 2.0 * levels.drop
    columns = {"loss": loss, "drop": levels.drop, "weight": levels.weight, "explained": known}
    return labelled(pd.DataFrame(columns), region, kind=region.kind)


# ---- regions that are no polygon -----------------------------------------------------------------------------


def _no_polygon(region: TradeOff, tolerance: float) -> Split:
    """Answer for a curve: none of its own is a product; a product of too many corners splits if its parts do."""
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
    found = [(split(node, tolerance), count) for node, count in parts]
    if not all(one.is_product for one, _ in found):
        reason = "The region has too many corners to list, and not all of its parts split."
        return Split(region, None, (), _lost(region), reason, _frame(region, []))
    counted: dict[float, int] = {}
    for one, count in found:
        for epsilon, copies in one.factors:
            counted[epsilon] = counted.get(epsilon, 0) + count * copies
    total = -math.expm1(math.fsum(count * math.log1p(-one.total_delta) for one, count in found)) + 0.0
    reason = "It has too many corners to list, but each of its parts is a product of single constraints."
    return Split(region, True, tuple(sorted(counted.items())), total, reason, _frame(region, []))


def _is_curved(node: TradeOff) -> bool:
    """Whether a region is by definition no polygon: a named guarantee or mechanism whose curve is none."""
    return isinstance(node, Atom) and node.entry.group != "operation" and not isinstance(node.curve, Polygon)


def _lost(region: TradeOff) -> float:
    return max(0.0, float(region.curve.q_inf))


# ---- polygons ------------------------------------------------------------------------------------------------


def _decide(region: TradeOff, polygon: Polygon, tolerance: float) -> Split:
    """Peel with the masses taken as right to rounding, then with the errors that the deltas allow; compare forward."""
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
            words = f"At ε = {at:.6g} the region has δ = {own:.10g}, the product of the factors found {other:.10g}."
            outcome = outcome._replace(against=words)
    reason = outcome.against if outcome.sure else f"Rounding hides the answer. {outcome.against}"
    return Split(region, False if outcome.sure else None, (), total, reason, _frame(region, outcome.steps))


def first_difference(a: Polygon, b: Polygon, slack: float) -> tuple[float, float, float] | None:
    """Return (epsilon, delta_a, delta_b) where two profiles differ most for certain, or None if they agree."""
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
