"""Composition of curves: which exact method applies, and the certified engine where none does.

Order of preference, all exact: Gaussians add their mu^2; polygons on a common lattice convolve; small polygons are
enumerated; up to about forty two-point pairs meet in the middle; a polygon with one other profile is a finite sum; equal
Laplace steps are splines. Everything else is a contour integral with a certified bracket.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import BudgetError
from dpcore.core.registry import value_text
from dpcore.core.rounding import failure
from dpcore.curves.base import Curve, FloatArray, largest_loss
from dpcore.curves.composed import Certified, Directed, Sum
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.integer_gaussian import NARROW, IntegerGaussian, IntegerGaussians
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.laplace_fold import LaplaceFold
from dpcore.curves.polygon import Polygon
from dpcore.curves.two_halves import TwoHalves
from dpcore.engine import binomial, enumeration, lattice, lattice_rounding
from dpcore.engine.halves import Halves
from dpcore.engine.lattice_parts import Irregular

if TYPE_CHECKING:
    from collections.abc import Sequence

Parts = list[tuple[Curve, int]]
Polygons = list[tuple[Polygon, int]]

LARGEST_K = 10**9  # copies on a lattice or contour: k times the unit roundoff is then 1e-7, below the default tolerance
LARGEST_CLOSED_K = 10**15  # copies in closed form: k is still an exact double
# The next ones choose between exact methods by their time and memory; none changes a number beyond rounding.
_ENUMERATED = 300_000  # combinations that are listed one by one, 7 MB
_FEW = 5_000  # combinations up to which a list is used even on a lattice
_SUMMED = 100_000  # losses of a polygon that are summed if the other curve has a closed form,
_SUMMED_PROFILES = 2_000  # if it has another exact profile,
_SUMMED_BRACKETS = 64  # and if it is a certified bracket on a lattice
_SMALL_SQUARE = 1e-290  # below, squares lose digits: the smallest doubles with all of them are near 1e-308
_HALF_SIZE = 2**20  # losses of each half when a product meets in the middle, 24 MB
_MOST_COPIES = 40  # copies of two losses that make two halves of that size
_WIDE = 10_000  # integers of a discrete Gaussian whose powers take longer on a lattice than by the contour
_SEVERAL = 2  # discrete Gaussians that are joined into one factor
_MOST_ROUNDING = 8e5  # units of 2^-53, 9e-11: a number called exact may be off by 1e-10
_INEXACT = "The roundings of so many copies add up to more than an exact number allows."
_SAME = 1e-13  # relative difference of losses that rounding explains; a larger one would join different losses
_SMALLEST = 2.0**-1022
"""Smallest mass that is no subnormal double. Smaller ones are less exact, and a million of them are below 1e-300."""


def directed(parts: Sequence[tuple[Curve, int]]) -> Curve:
    """Return the product with each direction composed separately; a polygon holds both."""
    if all(curve.symmetric for curve, _ in parts):
        return compose(parts)
    forward = compose(parts)
    if isinstance(forward, Polygon):
        return forward
    if isinstance(forward, Certified):
        return Directed(forward, forward.inverse())
    return Directed(forward, compose([(curve.inverse(), k) for curve, k in parts]))


def compose(parts: Sequence[tuple[Curve, int]]) -> Curve:
    """Return the product of (curve, k) pairs in their own direction."""
    if any(curve.q_inf >= 1.0 for curve, _ in parts):
        return Polygon([], [], [], 1.0, 1.0, symmetric=True, method="no privacy")
    _check_count(parts, LARGEST_CLOSED_K)
    gaussian, polygons, others = _sorted(parts)
    if gaussian is not None and not polygons and not others:
        return gaussian
    _check_count(parts, LARGEST_K)
    exact = _polygons(polygons)
    if gaussian is None and not others:
        return exact if exact is not None else Certified(_joined(polygons))
    smooth = _smooth(gaussian, others)
    if not polygons:
        return smooth
    if isinstance(exact, Polygon) and exact.size <= _most_summed(smooth):
        return Sum(exact, smooth)
    rest: Parts = [(exact, 1)] if isinstance(exact, Polygon) and exact.size <= _SUMMED else list(polygons)
    if gaussian is not None:
        rest.append((gaussian, 1))
    return Certified([*_joined(rest), *others])


def _joined(parts: Sequence[tuple[Curve, int]]) -> Parts:
    """Join the discrete Gaussians into one factor, whose transform costs no more than that of one of them."""
    wide = [(*curve.integer_gaussian, k) for curve, k in parts if curve.integer_gaussian is not None]
    wide = [part for part in wide if part[0] >= NARROW]
    if sum(k for _, _, k in wide) < _SEVERAL:
        return list(parts)
    rest = [(c, k) for c, k in parts if c.integer_gaussian is None or c.integer_gaussian[0] < NARROW]
    return [*rest, (IntegerGaussians(wide), 1)]


def _sorted(parts: Sequence[tuple[Curve, int]]) -> tuple[GaussianCurve | None, Polygons, Parts]:
    """Split into one Gaussian, the polygons without perfect ones, and the rest with equal Laplace steps joined."""
    means: list[tuple[float, int]] = []
    polygons: Polygons = []
    others: Parts = []
    laplace: dict[float, int] = {}
    curves: dict[tuple[float, int], IntegerGaussian] = {}
    equal: dict[tuple[float, int], int] = {}
    for curve, k in parts:
        if isinstance(curve, IntegerGaussian):
            name = curve.sigma, curve.move
            curves[name] = curve
            equal[name] = equal.get(name, 0) + k
        elif isinstance(curve, Polygon):
            polygons.append((_repeated(curve, k), 1) if k > 1 and curve.size == 1 else (curve, k))
        elif curve.gaussian_mu is not None:
            means.append((curve.gaussian_mu, k))
        elif curve.laplace_epsilon is not None:
            laplace[curve.laplace_epsilon] = laplace.get(curve.laplace_epsilon, 0) + k
        else:
            others.append((curve, k))
    polygons += [(curves[name], k) for name, k in equal.items()]
    others += [(LaplaceCurve(epsilon), k) for epsilon, k in laplace.items()]
    mu = _root_of_squares(means)
    gaussian = GaussianCurve(mu, "Gaussian composition") if mu > 0 else None
    informative = [(p, k) for p, k in polygons if not _perfect(p)]
    if not informative and polygons and gaussian is None and not others:
        informative = [(polygons[0][0], 1)]
    return gaussian, informative, others


def _root_of_squares(means: Sequence[tuple[float, int]]) -> float:
    """Return the root of the sum of k mu^2, also where the squares are too small for doubles."""
    square = 0.0
    for mu, k in means:
        square += k * mu**2
    if square > _SMALL_SQUARE or not means:
        return math.sqrt(square)
    unit = max(mu for mu, _ in means)
    return unit * math.sqrt(sum(k * (mu / unit) ** 2 for mu, k in means)) if unit > 0 else 0.0


def _repeated(polygon: Polygon, k: int) -> Polygon:
    """Return k copies of a pair with one finite loss: its mass to the k, the rest at infinity."""
    p, q = np.exp(k * np.log1p(-polygon.p_inf)), np.exp(k * np.log1p(-polygon.q_inf))
    rest = [failure([(mass, k)]) for mass in (polygon.p_inf, polygon.q_inf)]
    return Polygon(k * polygon.loss, [p], [q], *rest, symmetric=polygon.symmetric, method="exact composition")


def _perfect(polygon: Polygon) -> bool:
    return polygon.q_inf == 0 and polygon.p_inf == 0 and polygon.size == 1


def _check_count(parts: Sequence[tuple[Curve, int]], allowed: int) -> None:
    most = max(k for _, k in parts)
    if most > allowed:
        how = "numerically" if allowed == LARGEST_K else "in closed form"
        msg = f"k = {value_text(most)} is above {allowed}, the largest number of copies that is composed {how}."
        raise BudgetError(msg)


def _most_summed(smooth: Curve) -> int:
    """Return how many losses of a polygon may be summed over: many if a delta of the other curve is cheap."""
    if smooth.gaussian_mu or smooth.laplace_epsilon or (smooth.is_product and smooth.exact):
        return _SUMMED
    if smooth.is_product or smooth.certified:
        # the contour takes polygons directly, a lattice does not
        return 0 if smooth.has_mgf else _SUMMED_BRACKETS
    return _SUMMED_PROFILES


def _smooth(gaussian: GaussianCurve | None, others: Parts) -> Curve:
    if gaussian is not None and not others:
        return gaussian
    if gaussian is None and len(others) == 1:
        curve, k = others[0]
        if k == 1:
            return curve
        if curve.laplace_epsilon is not None:
            return LaplaceFold(curve, curve.laplace_epsilon, k)
    rest: Parts = [(gaussian, 1)] if gaussian is not None else []
    return Certified([*rest, *others])


# ---- polygons ------------------------------------------------------------------------------------------------


def _polygons(parts: Polygons) -> Curve | None:
    """Return the exact product of polygons, or None if no exact method is feasible."""
    if not parts or any(_too_wide(polygon, k) for polygon, k in parts):
        return None
    parts = [_as_one(polygon, k) for polygon, k in parts]
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    plus, minus = [(p.q_inf, k) for p, k in parts], [(p.p_inf, k) for p, k in parts]
    at_plus = failure(plus)
    at_minus = at_plus if minus == plus else failure(minus)
    symmetric = all(p.symmetric for p, _ in parts)
    tops = sorted(top for top in (_typical(p) for p, _ in parts) if 0 < top < math.inf)
    # most products without a lattice are recognised by their largest losses
    possible = not tops or _divisor(tops, sum(p.size for p, _ in parts)) is not None
    step = lattice_step([p.loss for p, _ in parts]) if possible else None
    if step is not None and (_binary(parts, step) or _count(parts) > _FEW):
        try:
            return _on_lattice(parts, step, at_minus, at_plus, symmetric)
        except Irregular:
            # windows of the lattice disagree: a law too irregular for transforms goes to the certified engine
            return None
    if _count(parts) <= _ENUMERATED:
        lists = [(p.loss, p.p, p.q) if k == 1 else _power(p, k) for p, k in parts]
        loss, p, q = enumeration.product(lists)
        method = "exact composition by enumeration"
        rounding = sum(
            1 + (p.rounding if k == 1 else enumeration.power_rounding(p.rounding, k, p.size)) for p, k in parts
        )
        ends = _ends(parts)
        loss = _ended(loss, ends)
        return Polygon(loss, p, q, at_minus, at_plus, symmetric=symmetric, method=method, ends=ends, rounding=rounding)
    return _halves(parts, at_minus, at_plus, symmetric)


def _as_one(polygon: Polygon, k: int) -> tuple[Polygon, int]:
    """Return k discrete Gaussians as one, where they are one to rounding."""
    one = polygon.repeated(k) if k > 1 and isinstance(polygon, IntegerGaussian) else None
    return (polygon, k) if one is None else (one, 1)


def _too_wide(polygon: Polygon, k: int) -> bool:
    """Whether k discrete Gaussians are not one and take longer on a lattice than by the contour."""
    return polygon.integer_gaussian is not None and polygon.size > _WIDE and _as_one(polygon, k)[1] > 1


def _typical(polygon: Polygon) -> float:
    """Return a loss that is a multiple of the polygon's step, if its losses have one."""
    if polygon.integer_gaussian is None:
        return polygon.max_loss
    sigma, move = polygon.integer_gaussian
    return 0.5 * move / sigma**2


def _ends(parts: Polygons) -> tuple[float, float]:
    """Return the smallest and the largest loss of a product."""
    return -largest_loss((-p.min_loss, k) for p, k in parts), largest_loss((p.max_loss, k) for p, k in parts)


def _ended(loss: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """Return ascending losses, the first and last replaced by the ends if they differ from them by rounding alone."""
    out = loss.copy()
    if not out.size:  # every output belongs to one dataset alone
        return out
    for place, end in zip((0, -1), ends, strict=True):
        if abs(out[place] - end) <= _SAME * abs(end) < math.inf:
            out[place] = end
    return out


def _power(polygon: Polygon, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    return enumeration.power(polygon.loss, polygon.p, polygon.q, k, (polygon.p_inf, polygon.q_inf))


def _binary(parts: Polygons, step: float) -> bool:
    """Whether every part is the same symmetric two-point pair up to its mass at infinity."""
    return all(p.size == 2 and p.symmetric and abs(p.max_loss - step) <= _SAME * step for p, _ in parts)


def _count(parts: Polygons) -> float:
    return float(min(enumeration.count([(p.size, k) for p, k in parts]), 1e300))


def lattice_step(losses: list[FloatArray]) -> float | None:
    """Return the step of which all losses are integer multiples (to rounding), or None; 0 if all losses are 0."""
    values = np.sort(np.abs(np.concatenate(losses)))
    values = values[values > 0]
    if not values.size:
        return 0.0
    step = _divisor(values.tolist(), 2 * values.size)
    if step is None:
        return None
    values = np.unique(values)
    multiple = np.rint(values / step)
    if np.any(np.abs(values - multiple * step) > _SAME * values):
        return None
    # the best step over all values, so that multiples of it are right to rounding
    return float(np.sum(values * multiple) / np.sum(multiple * multiple))


def _divisor(values: list[float], count: int) -> float | None:
    """Return the greatest common divisor of positive ascending numbers, or None where it is far too small.

    Any numbers are nearly multiples of a tiny one: it must be at least 1e-4 of the last, or half the step of `count` even losses.
    """
    step, least = values[0], min(1e-4, 0.5 / count) * values[-1]
    for value in values[1:]:
        step = _common(step, value)
        if step <= least:
            return None
    return step


def _common(a: float, b: float) -> float:
    """Return the greatest common divisor of two positive numbers; remainders below 1e-9 of the larger count as 0."""
    top = max(a, b)
    while b > 1e-9 * top:  # Euclid: two rounds halve b, so about sixty
        a, b = b, math.fmod(a, b)
        if a - b <= 1e-9 * top:
            b = 0.0
    return a


def _on_lattice(parts: Polygons, step: float, p_inf: float, q_inf: float, symmetric: bool) -> Polygon:
    measures = []
    for polygon, k in parts:
        index = np.rint(polygon.loss / step).astype(np.int64) if step else np.zeros(polygon.size, dtype=np.int64)
        measures.append((index, polygon, k))
    total = sum(k for _, _, k in measures)
    if _binary(parts, step):
        at, p, q = binomial.binomial_masses(step, total)
        log_share = math.fsum(k * math.log1p(-polygon.q_inf) for _, polygon, k in measures)
        share = math.exp(log_share)
        least = np.array([max(float(q[q > 0.0].min(initial=1.0)), _SMALLEST)])
        # a logarithm, a product and a sum for each part, and the exponential
        rounding = float(binomial.mass_rounding(least)[0]) + 8.0 * (1.0 + abs(log_share))
        ends = _ends(parts)
        return Polygon(
            _ended(np.asarray((total - 2 * at) * step, dtype=np.float64), ends),
            p * share,
            q * share,
            p_inf,
            q_inf,
            symmetric=True,
            method="optimal composition, binomial lattice",
            corners=total + 1,
            ends=ends,
            rounding=rounding,
        )
    laws = [
        (lattice.LatticeMeasure(index, part.p, part.q, step, part.p_inf, part.q_inf), k) for index, part, k in measures
    ]
    index, p, q, rounding = lattice.lattice_product(laws)
    # the masses of the parts are off themselves, and each of their copies once
    rounding += sum(lattice_rounding.copied(part.rounding, k) for _, part, k in measures)
    if rounding > _MOST_ROUNDING:
        raise Irregular(_INEXACT)
    span = sum(k * int(i[-1] - i[0]) for i, _, k in measures) + 1
    ends = _ends(parts)
    return Polygon(
        _ended(np.asarray(index * step, dtype=np.float64), ends),
        p,
        q,
        p_inf,
        q_inf,
        symmetric=symmetric,
        method="exact composition on a lattice",
        corners=span,
        ends=ends,
        rounding=rounding,
    )


def _halves(parts: Polygons, p_inf: float, q_inf: float, symmetric: bool) -> Curve | None:
    """Split the product into two halves of at most 2^20 losses each, if that is possible."""
    if any(k > _MOST_COPIES for _, k in parts):
        return None
    single = [polygon for polygon, k in parts for _ in range(k)]
    if Halves.count([p.size for p in single]) > _HALF_SIZE:
        return None
    return TwoHalves(single, p_inf, q_inf, symmetric=symmetric)
