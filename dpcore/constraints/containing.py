r"""A small product of a few single constraints that contains a region, found by a search.

For given :math:`e_1, \dots, e_m`, the smallest mass at infinity with which the product contains the region f is

.. math:: 1 - D = \min_{\varepsilon \ge 0} \frac{1-\delta_f(\varepsilon)}{1-\delta_e(\varepsilon)} ,

with :math:`\delta_e` the profile of the product of the (e_i, 0). Numerator and denominator are piecewise linear in
:math:`e^\varepsilon`, so the minimum lies at a corner of one of them or at an end. The area under the product's curve is
:math:`(1-D)^2` times that without D, and the search maximises it. For one factor no search is needed: the best
:math:`\varepsilon` is 0 or a corner of f (the guide has the proof).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.constraints.hull import polygon, symmetric_hull
from dpcore.constraints.levels import product_polygon
from dpcore.constraints.pair import corners
from dpcore.constraints.splitting import product_of, split
from dpcore.core.effort import checkpoint
from dpcore.core.kinds import FACTS, labelled
from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT
from dpcore.curves.polygon import Polygon
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

MOST_FACTORS = 6
RANDOM_STARTS = 6
START_COLUMNS = ("start", "first_epsilons", "factor_epsilons", "total_delta", "area_between", *FACTS)
_KINKS = 200  # corners that the search considers; the final delta uses all of them
_TRIES = 160  # evaluations of the area per factor and start
_OUTWARD = 2e-15  # the mass at infinity is rounded up by this much
_SMALL = 1e-7  # relative to the largest: a smaller epsilon is taken as 0
_COST = 1e-7  # area that rounding of the epsilons may cost


@dataclass(frozen=True)
class ContainingProduct:
    """The smallest containing product of a search.

    Attributes
    ----------
    region : TradeOff
        The product; it contains the given region.
    factors, total_delta : tuple of float or float
        Its epsilons (ascending) and its mass at infinity.
    area_between : float
        Area between the two borders; 0 if they are the same. The area of a curved region is approximate.
    proved : bool
        Whether no product with as many factors is smaller; otherwise it is the result of a search.
    starts : DataFrame
        One row per starting point of the search (`START_COLUMNS`), best first.
    outer : bool, default False
        Whether a curved region was first replaced by a polygon around it.
    """

    region: TradeOff
    factors: tuple[float, ...]
    total_delta: float
    area_between: float
    proved: bool
    starts: pd.DataFrame
    outer: bool = False


def containing(region: TradeOff, m: int, *, rng: np.random.Generator | None = None) -> ContainingProduct:
    """Search for a product of at most m single constraints that contains a region and is as small as possible.

    Parameters
    ----------
    region : TradeOff
        What must be contained.
    m : int
        Number of factors, from 1 to 6.
    rng : numpy.random.Generator, optional
        Source of the random starting points; by default seeded with 0, so that the answer is reproducible.

    Returns
    -------
    ContainingProduct
        Always safe: the product's delta is never below the region's. It is the smallest product for m = 1, and if the
        region is itself such a product (`proved`); otherwise only the smallest that the search found.
    """
    m = COUNT.but(name="m", high=MOST_FACTORS).check(m)
    shape, outer = _shape(region)
    target = _Target(shape, region.area)
    answer = split(region)
    if answer.is_product and sum(copies for _, copies in answer.factors) <= m:
        epsilons = [epsilon for epsilon, copies in answer.factors for _ in range(copies)]
        return _answer(
            region,
            target,
            np.array(epsilons),
            [("the region itself", np.array(epsilons), np.array(epsilons))],
            True,
            outer,
        )
    best = target.best_single()
    runs = [("best single constraint (exact)", best, best)]
    generator = np.random.default_rng(0) if rng is None else rng
    for factors in range(2, m + 1):
        starts = _starts(target, factors, best, generator if factors == m else None)
        runs = []
        for place, (name, start) in enumerate(starts):
            checkpoint((factors - 2 + place / len(starts)) / (m - 1))
            runs.append((name, start, _descend(target, start)))
        best = max((end for _, _, end in runs), key=target.area)
    if m > 1:
        again = _descend(target, _descend(target, best))
        runs.append(("best of these, searched again", best, again))
        best = max(again, best, key=target.area)
    return _answer(region, target, best, runs, m == 1 and not outer, outer)


class _Target:
    """A region to be contained: the heights 1 - delta of its profile at its corners."""

    def __init__(self, shape: Polygon, own_area: float) -> None:
        self.shape = shape
        self.own_area = own_area
        self.kinks = np.unique(np.append(shape.loss[shape.loss >= 0], 0.0))
        self.top = float(self.kinks[-1])
        few = self.kinks[np.unique(np.linspace(0, self.kinks.size - 1, _KINKS).round().astype(np.int64))]
        self.few = few if self.kinks.size > _KINKS else self.kinks
        self.heights = 1.0 - shape.delta_bounds(self.few)[1]
        self.floor = 1.0 - shape.q_inf

    def area(self, epsilons: FloatArray) -> float:
        """Return the area under the curve of the smallest containing product with these epsilons; more is better."""
        loss, q = _patterns(np.abs(epsilons))
        at = np.concatenate((self.few, loss[loss > 0]))
        mine = np.concatenate((self.heights, 1.0 - self.shape.delta_bounds(loss[loss > 0])[1]))
        other = 1.0 - np.maximum(-np.expm1(np.minimum(at[:, None] - loss, 0.0)), 0.0) @ q
        scale = min(self.floor, float(np.min(mine / np.maximum(other, 1e-300))))
        return scale * scale * _area(q)

    def total_delta(self, epsilons: FloatArray) -> float:
        """Return the smallest mass at infinity of a containing product, at all corners, rounded outward."""
        positive = epsilons[epsilons > 0]
        if positive.size <= 1:
            return float(self.shape.delta_bounds(positive if positive.size else np.zeros(1))[1][0])
        product = product_polygon([(float(e), 1) for e in positive], 0.0)
        at = np.unique(np.concatenate((self.kinks, product.loss[product.loss > 0])))
        ratio = (1.0 - self.shape.delta_bounds(at)[1]) / np.maximum(1.0 - product.delta_bounds(at)[1], 1e-300)
        scale = min(self.floor, float(np.min(ratio)))
        if scale >= self.floor * (1.0 - _OUTWARD):
            return self.shape.q_inf
        return min(1.0, 1.0 - scale * (1.0 - _OUTWARD))

    def best_single(self) -> FloatArray:
        """Return the epsilon of the smallest single constraint: of all corners, the best (1 - delta)^2 / (1 + e^epsilon)."""
        heights = 1.0 - self.shape.delta_bounds(self.kinks)[1]
        with np.errstate(divide="ignore"):
            score = 2.0 * np.log(heights) - np.logaddexp(0.0, self.kinks)
        return self.kinks[[int(np.argmax(score))]]


def _shape(region: TradeOff) -> tuple[Polygon, bool]:
    """Return the region's polygon, or one around a curved region: the hull of statements that hold for it."""
    if isinstance(region.curve, Polygon):
        return region.curve, False
    table = corners(region)
    epsilon, delta = table["epsilon"].to_numpy(dtype=np.float64), table["delta"].to_numpy(dtype=np.float64)
    floor = float(delta.min())
    return polygon(symmetric_hull(epsilon, delta, floor), floor, "polygon around a curve"), True


def _patterns(epsilons: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return losses and P1-masses of all sign patterns, losses ascending; P0 has the same masses in reverse."""
    loss, q = np.zeros(1), np.ones(1)
    for epsilon in epsilons.tolist():
        low = np.exp(-epsilon)
        loss = np.concatenate((loss - epsilon, loss + epsilon))
        q = np.concatenate((q * low, q)) / (1.0 + low)
    order = np.argsort(loss)
    return loss[order], q[order]


def _area(q: FloatArray) -> float:
    """Return the area under the trade-off curve of symmetric atoms: the sum of p times the mean of beta's ends."""
    return float(np.sum(q[::-1] * (np.cumsum(q) - 0.5 * q)))


def _starts(target: _Target, m: int, best: FloatArray, rng: np.random.Generator | None) -> list[tuple[str, FloatArray]]:
    """Return named starting points of the search with m factors."""
    top = target.top or 1.0
    halves = top * 0.5 ** np.arange(1, m + 1)
    starts = [
        ("best with one factor less", np.append(best, np.zeros(m - best.size))),
        ("equal parts of the largest loss", np.full(m, top / m)),
        ("equal parts of half the largest loss", np.full(m, 0.5 * top / m)),
        ("halves of the largest loss", halves),
        ("equal parts with the same total variation", np.full(m, _same_tv(target, m))),
    ]
    for number in range(RANDOM_STARTS if rng is not None else 0):
        parts = rng.exponential(size=m) if rng is not None else halves
        size = rng.uniform(0.2, 1.1) if rng is not None else 1.0
        starts.append((f"random {number + 1}", np.sort(top * size * parts / parts.sum())))
    return starts


def _same_tv(target: _Target, m: int) -> float:
    """Return the epsilon of m equal factors whose product has the region's total variation, by bisection."""
    target_tv = float(target.shape.delta_bounds(np.zeros(1))[1][0])
    low, high = 0.0, max(target.top, 1.0)
    for _ in range(40):
        middle = 0.5 * (low + high)
        loss, q = _patterns(np.full(m, middle))
        tv = float(np.sum(q * -np.expm1(-np.maximum(loss, 0.0))))
        low, high = (middle, high) if tv < target_tv else (low, middle)
    return high


def _descend(target: _Target, start: FloatArray) -> FloatArray:
    """Run Nelder-Mead from one starting point; signs do not matter, so it may pass through 0."""
    from scipy.optimize import minimize  # noqa: PLC0415  slow to import and only needed here

    size = max(float(np.max(start)), 0.1 * target.top, _SMALL)
    simplex = np.vstack([start, start + np.diag(np.where(start > 0.1 * size, 0.25 * start, 0.2 * size))])
    options: Any = {"maxfev": _TRIES * start.size, "xatol": 1e-10 * size, "fatol": 1e-13, "initial_simplex": simplex}

    def loss(epsilons: FloatArray, *_: Any, **__: Any) -> float:
        return -target.area(epsilons)

    result = minimize(loss, start.tolist(), method="Nelder-Mead", options=options)
    end = np.sort(np.abs(np.asarray(result.x, dtype=np.float64)))
    end = np.where(end < _SMALL * size, 0.0, end)
    return end if target.area(end) >= target.area(start) else np.sort(start)


def _answer(
    target_region: TradeOff,
    target: _Target,
    best: FloatArray,
    runs: Sequence[tuple[str, FloatArray, FloatArray]],
    proved: bool,
    outer: bool,
) -> ContainingProduct:
    """Return the answer with the table of starts, best first."""
    kind = "approximate" if outer else "exact"
    rows = []
    for name, start, end in runs:
        lost = target.total_delta(end)
        rows.append((name, _text(start), _text(end), lost, _between(target, end, lost), kind))
    starts = pd.DataFrame(rows, columns=list(START_COLUMNS[:-2])).sort_values("area_between", kind="stable")
    best = best if proved else _tidy(target, best)
    factors = tuple(float(e) for e in np.sort(best) if e > 0)
    lost = target.total_delta(best)
    region = _joined(factors, lost)
    between = _between(target, best, lost)
    return ContainingProduct(
        region, factors, lost, between, proved, labelled(starts.reset_index(drop=True), target_region), outer
    )


def _joined(factors: tuple[float, ...], lost: float) -> TradeOff:
    """Return the product with the mass at infinity in its largest factor, so that it has no extra factor."""
    if not factors or lost == 0.0:
        return product_of(list(Counter(factors).items()), lost)
    last = DP(factors[-1], lost)
    return product_of(list(Counter(factors[:-1]).items()), 0.0) * last if factors[1:] else last


def _tidy(target: _Target, epsilons: FloatArray) -> FloatArray:
    """Round the epsilons up to eight digits, so that equal ones look equal, if that costs next to nothing."""
    short = np.array([float(outward(float(e), 8)) for e in epsilons])
    return short if target.area(short) >= target.area(epsilons) - _COST else epsilons


def _between(target: _Target, epsilons: FloatArray, lost: float) -> float:
    _, q = _patterns(epsilons)
    return max(0.0, target.own_area - (1.0 - lost) ** 2 * _area(q))


def _text(epsilons: FloatArray) -> str:
    return ", ".join(nearest(e) for e in epsilons if e > 0) or "0"
