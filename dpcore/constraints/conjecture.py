r"""The thesis's conjecture about k mechanisms with several statements each, and how far it is from the truth.

The guess is the intersection of compositions of single statements, over all choices of one statement for each of the k
mechanisms. It contains the exact region :math:`f^{\otimes k}`, because :math:`f = \max_i f_i \ge f_i`, and is larger in
general. Order does not matter, so a choice is a list of counts :math:`(k_1, \dots, k_m)` with sum k, and its profile is

.. math:: \delta(\varepsilon) = 1 - \prod_i (1-\delta_i)^{k_i} \, (1 - E[(1-e^{\varepsilon-L})^+]),

L a sum of independent :math:`\pm\varepsilon_i`. The intersection is the lower convex hull, in :math:`y = e^{\varepsilon}`, of
the corners of all these profiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.constraints.hull import chord, mirror, polygon, symmetric_hull
from dpcore.core.effort import checkpoint
from dpcore.core.registry import COUNT
from dpcore.curves.polygon import Polygon
from dpcore.curves.possible import ROUNDING
from dpcore.engine import enumeration, profile
from dpcore.engine.binomial import binomial_masses
from dpcore.regions import gate
from dpcore.regions.custom import CustomRegion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.constraints.statements import Constraint, Constraints
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

    Part = tuple[FloatArray, FloatArray, FloatArray]
    Counts = tuple[int, ...]
    Laws = dict[tuple[float, int], Part]

# Limits of work: a larger one would only intersect more products and make the guess smaller.
MOST_K = 10_000
MOST_LOSSES = 1_500_000  # losses of all products together
MOST_PRODUCTS = 20_000  # products up to which all choices are listed
MOST_SPREAD = 2_000  # number of evenly spread choices otherwise
_LARGEST_PRODUCT = 300_000  # losses of one product
_MOST_ALPHAS = 200_000  # corners up to which two borders are compared exactly
_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class Conjecture:
    """The guessed region.

    Attributes
    ----------
    region : TradeOff
        The intersection of the products that were used.
    used, total : int
        How many products were intersected, and how many there are. With fewer than all, the region contains the
        guessed one and `kind` is ``upper``; with all of them it is ``exact``.
    """

    region: TradeOff
    used: int
    total: int

    @property
    def kind(self) -> str:
        """``exact``, or ``upper`` if not all products were used."""
        return "exact" if self.used == self.total else "upper"


@dataclass(frozen=True, slots=True)
class Gap:
    """The distance between the guessed region and the exact one.

    Attributes
    ----------
    largest : float
        The largest vertical distance of the two borders; 0 if the guess is right.
    alpha, beta_exact, beta_guess : float
        Where that distance occurs.
    area : float
        The area between the borders, at most 1/2.
    kind : str
        ``exact``; ``upper`` if the guess uses only some products; ``approximate`` if the exact region is known only as
        a bracket.
    """

    largest: float
    alpha: float
    beta_exact: float
    beta_guess: float
    area: float
    kind: str


def conjectured(constraints: Constraints, k: int) -> Conjecture:
    """Return the intersection of all compositions of k single statements of a list, repetition allowed.

    Statements that another single one implies add nothing and are left out; those that only two together imply stay.
    Products whose mass at infinity is above another's total variation are left out as well. If too many remain (1.5
    million losses in all), evenly spread ones are used.

    Parameters
    ----------
    constraints : Constraints
        The statements of each mechanism.
    k : int
        How many mechanisms, from 1 to 10^4.

    Returns
    -------
    Conjecture
        The guessed region, and how many products it uses.
    """
    k = COUNT.but(high=MOST_K).check(k)
    items = _undominated(constraints.items)
    total = math.comb(k + len(items) - 1, len(items) - 1)
    laws: Laws = {}
    choices, used = _choices(items, k, total, laws)
    losses, deltas, floor = [], [], 1.0
    for place, counts in enumerate(choices):
        checkpoint(place / len(choices))
        loss, delta = _profile(items, counts, laws)
        losses.append(loss)
        deltas.append(delta)
        floor = min(floor, float(delta[-1]))
    corners = symmetric_hull(np.concatenate(losses), np.concatenate(deltas), floor)
    shape = polygon(corners, floor, "intersection of compositions of single statements")
    label = f"compositions of {k} single statements of {constraints.text}, intersected"
    return Conjecture(CustomRegion(shape, label), used, total)


def gap(exact: TradeOff, guess: Conjecture) -> Gap:
    """Return the largest vertical distance and the area between the borders of the exact and the guessed region.

    Parameters
    ----------
    exact : TradeOff
        The composition of the constraints' region.
    guess : Conjecture
        What `conjectured` returns.

    Returns
    -------
    Gap
        The distance, where it occurs, and the area.
    """
    curves = (exact.curve, guess.region.curve)
    vertices = [curve.vertices[0] for curve in curves if isinstance(curve, Polygon)]
    sharp = len(vertices) == 2 and sum(alpha.size for alpha in vertices) <= _MOST_ALPHAS
    if not sharp:
        vertices = [_GRID, *(alpha[:: -(-alpha.size // 100)] for alpha in vertices)]
    alpha = np.unique(np.concatenate(vertices))
    truth, guessed = (gate.beta_safe(region, alpha, ROUNDING) for region in (exact, guess.region))
    distance = np.maximum(truth - guessed, 0.0)
    at = int(np.argmax(distance))
    area = exact.area - guess.region.area if sharp else float(np.trapezoid(distance, alpha))
    kind = guess.kind if sharp else "approximate"
    return Gap(float(distance[at]), float(alpha[at]), float(truth[at]), float(guessed[at]), max(0.0, area), kind)


def _undominated(items: Sequence[Constraint]) -> list[Constraint]:
    """Return the statements that no other single one implies, each once."""
    strongest: list[Constraint] = []
    for item in dict.fromkeys(items):
        rivals = [other for other in dict.fromkeys(items) if other != item]
        if not any(_implies(other, item) for other in rivals):
            strongest.append(item)
    return strongest


def _implies(strong: Constraint, weak: Constraint) -> bool:
    """Whether the region of one statement lies strictly inside that of another."""
    return float(strong.region.delta(weak.epsilon)) <= weak.delta


def _choices(items: Sequence[Constraint], k: int, total: int, laws: Laws) -> tuple[list[Counts], int]:
    """Return the counts of the products that matter, and how many products these stand for.

    A product whose mass at infinity is at least the total variation of another has no corner below it.
    """
    pure = list(_counts(len(items), k, 1))
    ceiling = min(_total_variation(*_profile(items, counts, laws)) for counts in pure)

    def useful(choices: list[Counts]) -> list[Counts]:
        return [counts for counts in choices if counts in pure or _lost(items, counts) < ceiling]

    if total <= MOST_PRODUCTS:
        every = useful(list(_counts(len(items), k, k)))
        if sum(_size(items, counts) for counts in every) <= MOST_LOSSES:
            return every, total
    best = pure
    for parts in range(2, k + 1):
        if math.comb(parts + len(items) - 1, len(items) - 1) > MOST_SPREAD:
            break
        spread = [c for c in dict.fromkeys(_counts(len(items), k, parts)) if _size(items, c) <= _LARGEST_PRODUCT]
        choices = useful(spread)
        if sum(_size(items, counts) for counts in choices) > MOST_LOSSES:
            break
        best = choices
    return best, len(best)


def _counts(kinds: int, k: int, parts: int) -> Iterator[Counts]:
    """Yield the counts with sum k on a grid of k / parts: all of them if parts is k."""
    for bars in combinations_with_replacement(range(parts + 1), kinds - 1):
        cuts = [0, *(bar * k // parts for bar in bars), k]
        yield tuple(right - left for left, right in pairwise(cuts))


def _size(items: Sequence[Constraint], counts: Counts) -> int:
    """Return how many losses a product has, equal ones counted separately."""
    return math.prod(count + 1 for item, count in zip(items, counts, strict=True) if item.epsilon > 0)


def _lost(items: Sequence[Constraint], counts: Counts) -> float:
    """Return the mass at infinity of a product: 1 - prod (1 - delta_i)^k_i."""
    deltas = [(item.delta, count) for item, count in zip(items, counts, strict=True) if count > 0]
    if any(delta >= 1.0 for delta, _ in deltas):
        return 1.0
    return -math.expm1(math.fsum(count * math.log1p(-delta) for delta, count in deltas))


def _total_variation(loss: FloatArray, delta: FloatArray) -> float:
    """Return delta at 0 from the corners at losses >= 0, on the chord to the mirror image of the first one."""
    first = (float(loss[0]), float(delta[0]))
    return first[1] if first[0] == 0 else chord(mirror(first), first, 0.0)


def _profile(items: Sequence[Constraint], counts: Counts, laws: Laws) -> tuple[FloatArray, FloatArray]:
    """Return the losses >= 0 of a product of single statements and its deltas there."""
    lost = _lost(items, counts)
    if lost >= 1.0:
        return np.zeros(1), np.ones(1)
    parts = []
    for item, count in zip(items, counts, strict=True):
        if count > 0 and item.epsilon > 0:
            key = (item.epsilon, count)
            laws[key] = laws.get(key) or _law(*key)
            parts.append(laws[key])
    loss, _, q = enumeration.product(parts)
    delta = profile.tables(loss, q).delta[:-1]
    loss = np.where(np.abs(loss) <= 1e-14 * (1.0 + loss[-1]), 0.0, loss)
    upper = loss >= 0
    return loss[upper], lost + (1.0 - lost) * delta[upper]


def _law(epsilon: float, count: int) -> Part:
    """Return losses and masses of `count` copies of (epsilon, 0)-DP."""
    index, p, q = binomial_masses(epsilon, count)
    return np.asarray((count - 2.0 * index) * epsilon, dtype=np.float64), p, q
