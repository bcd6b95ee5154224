"""Exact algebra of polygons: both hold, either holds, mixtures, groups.

In the coordinates y = e^epsilon the profile delta is convex and piecewise linear with its corners at the losses.
"Either may be the truth" is the maximum of profiles, "both hold" the convex envelope of their minimum. Masses
follow from three neighbouring corners i < j < k:

    q_j = (delta_i - delta_j) / (1 - e^(L_i - L_j)) - (delta_j - delta_k) / (e^(L_k - L_j) - 1),

where L_i = -inf stands for y = 0 (delta = 1) and L_k = +inf for the limit delta = q_inf. No e^L is ever formed, so
losses of any size are safe. Corners at negative losses are handled through the inverse for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.curves.base import FloatArray, largest_loss
from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Corners = Callable[[Polygon, Polygon], tuple[FloatArray, FloatArray, float]]

_ROUNDING = 2.0**-53
_SAME_LOSS = 1e-14
"""Losses that differ by this share of themselves are one loss: a few roundings. A loss of 0 equals no other."""
_SAME_DELTA = 1e-15
"""Relative difference of two deltas at 0 that counts as rounding."""
_SMALL_LOSS = 1e-2
"""Below this loss a mass from differences of deltas has lost more digits than one from the sum of all masses."""
_MISSING_MASS = 1e-12
"""Total mass that rounding may add or remove; a larger gap is assigned to the loss 0."""
_CHECKPOINTS = 4096  # corners between two checkpoints
_TWICE_PRECISE = 2.0**-100
"""Remainder, per term, of a sum of doubles that is 0, added in twice the precision."""
_LOST_MASS = 1e-9  # of a group: more missing mass than this is not rounding
_MOST_GROUPED = 705  # logarithm of the largest ratio of two normal doubles near 1


def union(parts: Sequence[Polygon]) -> Polygon:
    """Return the union, any part of which may be the truth: the maximum of the profiles."""
    return reduce(lambda a, b: _combine(a, b, _union_corners), parts)


def intersection(parts: Sequence[Polygon]) -> Polygon:
    """Return the region where all parts hold: the convex envelope of the minimum of the profiles."""
    return reduce(lambda a, b: _combine(a, b, _hull_corners), parts)


def closure(polygon: Polygon) -> Polygon:
    """Return the symmetric closure: the union of a polygon with its inverse."""
    if polygon.symmetric:
        return polygon
    corners = partial(_union_corners, meet=True)
    loss, q, q_inf = _upper_half(polygon, polygon.flipped(), corners)
    return mirrored(*_balanced(loss, q, q_inf), q_inf, method=polygon.method)


def mirrored(loss: FloatArray, q: FloatArray, q_inf: float, method: str, top: float | None = None) -> Polygon:
    """Return the symmetric polygon of losses >= 0 and masses; `top` is its largest loss if that has no mass here."""
    if q_inf >= 1.0:  # all other mass is below rounding: no privacy is promised
        return Polygon([], [], [], 1.0, 1.0, symmetric=True, method="no privacy")
    up = loss > 0
    p = q * np.exp(-loss)
    return Polygon(
        np.concatenate((-loss[up][::-1], loss)),
        np.concatenate((q[up][::-1], p)),
        np.concatenate((p[up][::-1], q)),
        q_inf,
        q_inf,
        symmetric=True,
        method=method,
        ends=None if top is None else (-top, top),
    )


def from_half(loss: FloatArray, q: FloatArray, q_inf: float, method: str) -> Polygon:
    """Return the symmetric polygon with these losses >= 0, after correcting the masses of small losses for rounding."""
    return mirrored(*_balanced(loss, _completed(loss, q, q_inf), q_inf), q_inf, method)


def _combine(a: Polygon, b: Polygon, corners: Corners) -> Polygon:
    """Return the polygon of two: losses >= 0 from the profiles, the other half from the inverse profiles."""
    loss, q, q_inf = _upper_half(a, b, corners)
    if a.symmetric and b.symmetric:
        return from_half(loss, q, q_inf, "exact polygon")
    other_loss, other_p, p_inf = _upper_half(a.flipped(), b.flipped(), corners)
    down = other_loss > 0
    other_loss = other_loss[down]
    other_p = _joined((loss, q), (other_loss, other_p[down]), p_inf)
    full_loss = np.concatenate((-other_loss[::-1], loss))
    full_q = np.concatenate(((other_p * np.exp(-other_loss))[::-1], q))
    full_p = np.concatenate((other_p[::-1], q * np.exp(-loss)))
    return Polygon(full_loss, full_p, full_q, p_inf, q_inf)


def _balanced(loss: FloatArray, q: FloatArray, q_inf: float) -> tuple[FloatArray, FloatArray]:
    """Return losses >= 0 and their masses, the one at 0 as the rest of 1 after the others and their mirror images.

    Deltas at two tiny losses differ by less than their rounding: mass that is lost there goes to the loss 0, which is the same
    up to rounding. Where deltas of large losses round to 1 masses can add up to more than 1: the largest losses keep theirs.
    """
    up = loss > 0
    both = 1.0 + np.exp(-loss[up])
    rest = 1.0 - q_inf - float(np.sum(q[up] * both))
    if abs(rest - float(np.sum(q[~up]))) <= _MISSING_MASS:
        return loss, q
    mass = q[up]
    if rest < -_MISSING_MASS:
        above = np.concatenate((np.cumsum((mass * both)[::-1])[::-1][1:], [0.0]))
        mass = np.clip(mass, 0.0, np.maximum(1.0 - q_inf - above, 0.0) / both)
        rest = 0.0
    return np.concatenate(([0.0], loss[up])), np.concatenate(([max(rest, 0.0)], mass))


def _upper_half(a: Polygon, b: Polygon, corners: Corners) -> tuple[FloatArray, FloatArray, float]:
    """Return losses >= 0, their P1 masses and the mass at infinity of the combined profile."""
    loss, q, q_inf = corners(a, b)
    keep = (loss >= 0) & (q > 0) & np.isfinite(loss)
    return loss[keep], q[keep], q_inf


def _completed(loss: FloatArray, q: FloatArray, q_inf: float) -> FloatArray:
    """Return the masses of the half with losses >= 0 of a symmetric polygon, the first one completing them to 1.

    A mass is a difference of deltas over a difference of losses: near a small loss that is mostly rounding, while the rest
    to 1 is not. No delta beyond that loss depends on it.
    """
    if loss.size == 0 or loss[0] >= _SMALL_LOSS:
        return q
    both = np.where(loss > 0, 1 + np.exp(-loss), 1.0)
    first = (1 - q_inf - float(np.sum(q[1:] * both[1:]))) / both[0]
    return np.concatenate(([first], q[1:])) if first > 0 else q


def _joined(up: tuple[FloatArray, FloatArray], down: tuple[FloatArray, FloatArray], p_inf: float) -> FloatArray:
    """Return the P0 masses of the losses below 0 that match the P1 masses of those above.

    Both halves contain the edge between them, each with its own rounding: if it is short, the mass below it is the rest to 1.
    """
    (loss, q), (other, p) = up, down
    if not (loss.size and other.size and loss[0] + other[0] < _SMALL_LOSS):
        return p
    first = 1.0 - p_inf - float(np.sum(q * np.exp(-loss))) - float(np.sum(p[1:]))
    return np.concatenate(([first], p[1:])) if first > 0 else p


def _edge_tails(loss: FloatArray, delta: FloatArray, parents: Sequence[Polygon]) -> tuple[FloatArray, FloatArray]:
    """Return the tail mass above every edge in units of its upper and of its lower end.

    An edge of a parent has the tail of the parent, a sum; only one that bridges two parents has a difference of deltas over
    one of losses, which is mostly rounding if the latter is small.
    """
    gap, drop = np.diff(loss), -np.diff(delta)
    with np.errstate(over="ignore"):
        upper, lower = drop / -np.expm1(-gap), drop / np.expm1(gap)
    half = np.minimum(0.5 * gap, 1.0)
    for parent in parents:
        own = _on(loss, delta, parent)
        edge = own[:-1] & own[1:]
        # evaluated inside the edge: a loss of the parent may be a rounding away from its corner
        for tail, end, way in ((upper, loss[1:], half), (lower, loss[:-1], -half)):
            at = edge & np.isfinite(end)
            tail[at] = parent.tail_above(end[at] - way[at]) * np.exp(way[at])
    return upper, lower


def _on(loss: FloatArray, delta: FloatArray, parent: Polygon) -> NDArray[np.bool_]:
    """Return which corners lie on the profile of a parent; below all losses every profile is 1."""
    own = np.ones(loss.size, dtype=np.bool_)
    own[1:-1] = delta[1:-1] == parent.delta_bounds(loss[1:-1])[0]
    own[-1] = delta[-1] == parent.q_inf
    return own


def masses(loss: FloatArray, delta: FloatArray, parents: Sequence[Polygon] = ()) -> FloatArray:
    """Return q of every corner; the list starts at -inf (delta = 1) and ends at +inf (delta = q_inf).

    Each edge has one tail, which both its corners use: the error of a bridge moves mass between two neighbouring losses, and
    none is lost. A corner between two edges of one parent has that parent's own mass.
    """
    upper, lower = _edge_tails(loss, delta, parents)
    left, right = upper[:-1], lower[1:]
    # below the rounding of the deltas a mass is an artefact, not a corner
    q = np.zeros(loss.size)
    q[1:-1] = np.where(left - right > 8e-16 * np.maximum(left, right), left - right, 0.0)
    for parent in parents:
        place = np.clip(np.searchsorted(parent.loss, loss), 0, max(parent.loss.size - 1, 0))
        own = _on(loss, delta, parent)
        inner = 1 + np.flatnonzero(own[:-2] & own[1:-1] & own[2:])
        inner = inner[parent.loss[place[inner]] == loss[inner]] if parent.loss.size else inner[:0]
        q[inner] = parent.q[place[inner]]
    return q


def _merged(a: Polygon, b: Polygon) -> FloatArray:
    """Return the losses of both, ascending, near-equal ones once."""
    loss = np.unique(np.concatenate((a.loss, b.loss)))
    if loss.size == 0:
        return np.zeros(1)
    return np.asarray(loss[_new(loss)], dtype=np.float64)


def _new(loss: FloatArray) -> NDArray[np.bool_]:
    """Return where an ascending loss differs from the one before it by more than rounding."""
    size = np.maximum(np.abs(loss[1:]), np.abs(loss[:-1]))
    return np.concatenate(([True], np.diff(loss) > _SAME_LOSS * size))


def _union_corners(a: Polygon, b: Polygon, *, meet: bool = False) -> tuple[FloatArray, FloatArray, float]:
    """Return losses, masses and mass at infinity of max(delta_a, delta_b): kinks of the larger one, and crossings.

    `meet` states that the profiles are equal at 0, like those of a polygon and its inverse; rounding would put their
    crossing next to it, and the mirrored half would contain it twice.

    The slope of a profile in e^epsilon is minus a tail mass, so the mass of a corner is the difference of the tail
    masses of the parts that are larger on its left and on its right: no differences of deltas are divided.
    """
    # no two losses are merged here: a mass an ulp away from the corner of the other part must not be lost
    loss = np.unique(np.concatenate((a.loss, b.loss, [0.0])))
    delta_a, delta_b = a.delta_bounds(loss)[0], b.delta_bounds(loss)[0]
    gap = delta_a - delta_b
    gap[(loss == 0.0) & (meet | (np.abs(gap) <= _SAME_DELTA * delta_a))] = 0.0
    cross = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[cross] / (gap[cross] - gap[cross + 1])
    way = np.expm1(loss[cross + 1] - loss[cross])
    crossing = loss[cross] + np.log1p(way * share)
    # a crossing at a loss comes out a rounding away from it; it is one corner, and 0 belongs to both halves
    crossing = np.where(
        share <= _SAME_LOSS, loss[cross], np.where(1.0 - share <= _SAME_LOSS, loss[cross + 1], crossing)
    )
    checkpoint()  # a million losses are sorted in a tenth of a second
    corner = np.unique(np.concatenate((loss, crossing)))
    checkpoint()
    middle = np.concatenate(([corner[0] - 1.0], 0.5 * (corner[1:] + corner[:-1]), [corner[-1] + 1.0]))
    first = a.delta_bounds(middle)[0] >= b.delta_bounds(middle)[0]
    left = np.where(first[:-1], a.tail_from(corner), b.tail_from(corner))
    right = np.where(first[1:], a.tail_above(corner), b.tail_above(corner))
    q = np.maximum(left - right, 0.0)
    # below rounding a mass is an artefact, not a corner
    q = np.where(q <= 8e-16 * np.maximum(left, right), 0.0, q)
    corner, q, _ = merge_equal(corner, q, q)
    return corner, q, max(a.q_inf, b.q_inf)


def _hull_corners(a: Polygon, b: Polygon) -> tuple[FloatArray, FloatArray, float]:
    """Return losses, masses and mass at infinity of the convex envelope of min(delta_a, delta_b) in e^epsilon."""
    loss = _merged(a, b)
    delta = np.full(loss.size, np.inf)
    for part in (a, b):
        checkpoint()  # a tenth of a second each for a million losses
        delta = np.minimum(delta, part.delta_bounds(loss)[0])
    checkpoint()
    floor = min(a.q_inf, b.q_inf)
    points = [(-np.inf, 1.0), *zip(loss.tolist(), delta.tolist(), strict=True), (np.inf, floor)]
    hull: list[tuple[float, float]] = []
    for place, point in enumerate(points):
        if place % _CHECKPOINTS == 0:
            checkpoint()
        while len(hull) >= 2 and not_below(hull[-2], hull[-1], point):  # every point is removed once at most
            hull.pop()
        hull.append(point)
    corner = np.array(hull)
    at, height = corner[:, 0], corner[:, 1]
    return at, masses(at, height, (a, b)), float(height[-1])


def not_below(i: tuple[float, float], j: tuple[float, float], k: tuple[float, float]) -> bool:
    """Return whether corner j does not lie strictly below the chord from i to k (slopes compared times e^L_j)."""
    with np.errstate(over="ignore"):
        left = (i[1] - j[1]) / -np.expm1(i[0] - j[0])
        right = (j[1] - k[1]) / np.expm1(k[0] - j[0])
    return bool(left <= right * (1 + 4e-16))


def erase(polygon: Polygon, share: float) -> Polygon:
    """Return the region of an output that is replaced by a mark with probability `share`."""
    keep = 1.0 - share
    loss, p, q = polygon.loss, polygon.p * keep, polygon.q * keep
    if share > 0:
        at = int(np.searchsorted(loss, 0.0))
        if at < loss.size and loss[at] == 0.0:
            p[at] += share
            q[at] += share
        else:
            loss, p, q = np.insert(loss, at, 0.0), np.insert(p, at, share), np.insert(q, at, share)
    return Polygon(
        loss,
        p,
        q,
        polygon.p_inf * keep,
        polygon.q_inf * keep,
        symmetric=polygon.symmetric,
        method="erasure",
    )


def mixed_in(polygon: Polygon, share: float) -> Polygon:
    """Return the pair (P0, share P1 + (1 - share) P0): the record is used with probability `share`."""
    keep = 1.0 - share
    if keep == 0.0:
        return polygon
    p, q = polygon.p, keep * polygon.p + share * polygon.q
    with np.errstate(over="ignore"):
        move = share * np.expm1(polygon.loss)
    # log(1 + move) where that keeps its digits; elsewhere neither e^loss nor 1 - share may be lost
    far = np.logaddexp(np.log(keep), np.log(share) + polygon.loss)
    loss = np.where(np.abs(move) < 0.5, np.log1p(np.maximum(move, -0.5)), far)
    if polygon.p_inf > 0:
        loss = np.concatenate(([np.log(keep)], loss))
        p = np.concatenate(([polygon.p_inf], p))
        q = np.concatenate(([polygon.p_inf * keep], q))
        p_inf = 0.0
    else:
        p_inf = polygon.p_inf
    loss, p, q = merge_equal(loss, p, q)
    return Polygon(loss, p, q, p_inf, share * polygon.q_inf, method="subsampling")


def merge_equal(loss: FloatArray, p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add up the masses of equal neighbouring losses."""
    if not loss.size:
        return loss, p, q
    index = np.flatnonzero(_new(loss))
    return loss[index], np.add.reduceat(p, index), np.add.reduceat(q, index)


def group(polygon: Polygon, size: int) -> Polygon:
    """Return 1 - (1 - f)^(o size) for a symmetric f: the region for groups of `size` records.

    With h = 1 - f, losses add along the orbit alpha, h(alpha), h(h(alpha)), ...; the half with loss >= 0 is built
    and mirrored. An orbit goes up and down the same losses, so many sums are 0 or equal by construction: the losses are
    first mirrored exactly and then added in twice the precision, where the differences of such sums are negligible.
    """
    slope = 0.5 * (polygon.loss[::-1] - polygon.loss)
    drop = 0.5 * (polygon.q[::-1] + polygon.p)
    corner = np.concatenate(([0.0], np.cumsum(0.5 * (polygon.p[::-1] + polygon.q))))
    height = polygon.q_inf + np.concatenate(([0.0], np.cumsum(drop)))
    alpha, value, loss, rest = corner, height, slope, np.zeros(slope.size)
    for number in range(size - 1):
        checkpoint(number / size)
        inner = corner[(corner > value[0]) & (corner < value[-1])]
        cut = _distinct(np.concatenate((alpha, np.interp(inner, value, alpha))))
        middle = 0.5 * (cut[1:] + cut[:-1])
        part = np.clip(np.searchsorted(alpha, middle) - 1, 0, loss.size - 1)
        image = np.interp(middle, alpha, value)
        step = np.clip(np.searchsorted(corner, image) - 1, 0, slope.size - 1)
        beyond = image >= corner[-1]
        value = np.interp(np.interp(cut, alpha, value), corner, height)
        total, rest = _twice_precise_sum(loss[part], rest[part], slope[step])
        loss = np.where(beyond, -np.inf, total)
        alpha = cut
    loss = np.where(np.abs(loss) <= _TWICE_PRECISE * size * np.abs(slope).max(initial=0.0), 0.0, loss)
    q = _steps(alpha, value, loss)
    keep = (loss >= 0) & (q > 0)
    order = np.argsort(loss[keep], kind="stable")
    top = largest_loss([(polygon.max_loss, size)])
    if not keep.any() and value[0] >= 1.0 - _LOST_MASS:
        return Polygon([], [], [], 1.0, 1.0, symmetric=True, method="no privacy")
    up, _, up_q = merge_equal(loss[keep][order], q[keep][order], q[keep][order])
    if up.size and math.isfinite(top) and abs(up[-1] - top) <= _SAME_LOSS * top:
        up[-1] = top
    whole = float(value[0] + up_q.sum() + (up_q * np.exp(-up))[up > 0].sum())
    # missing mass belongs to rates below the smallest double; if their segment is met at another slope, mass is added
    if whole < 1.0 - _LOST_MASS or (whole > 1.0 + _LOST_MASS and top > _MOST_GROUPED):
        msg = (
            f"A group of {size} records with a largest loss of {nearest(polygon.max_loss)} each has error rates below the smallest "
            f"double, e^-{_MOST_GROUPED}; size times the largest loss must be at most about {_MOST_GROUPED}, got {nearest(top)}."
        )
        raise DomainError(msg)
    # near alpha = 0 an orbit without a jump takes the steepest segment at every step; its masses may be below the smallest double
    steepest = top if up.size and (value[0] == 0.0 or not math.isfinite(top)) else None
    return mirrored(up, up_q, float(value[0]), "group privacy", steepest)


def _distinct(alpha: FloatArray) -> FloatArray:
    """Return ascending rates, those that agree to rounding only once: the slope of a sliver between two means nothing."""
    alpha = np.unique(alpha)
    return alpha[np.concatenate(([True], np.diff(alpha) > 4 * _ROUNDING * alpha[1:]))]


def _twice_precise_sum(high: FloatArray, low: FloatArray, more: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return high + low + more as a double and its remainder (Knuth's two-sum)."""
    total = high + more
    with np.errstate(invalid="ignore"):  # beyond the last corner the loss is -inf, and stays so
        back = total - high
        low = low + ((high - (total - back)) + (more - back))
        out = total + low
        rest = low - (out - total)
    return out, np.where(np.isfinite(out), rest, 0.0)


def _steps(alpha: FloatArray, value: FloatArray, loss: FloatArray) -> FloatArray:
    """Return the P1 mass of each segment, from its width or its height, whichever difference loses fewer digits."""
    q, p = np.diff(value), np.diff(alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        by_rate = p * np.exp(loss)
        flat = q * alpha[1:] < p * value[1:]
    return np.asarray(np.where(flat & np.isfinite(by_rate), by_rate, q), dtype=np.float64)


def from_points(alpha: FloatArray, beta: FloatArray) -> Polygon:
    """Return the convex lower envelope of points and the two blind guesses (0, 1), (1, 0)."""
    points = sorted({(0.0, 1.0), (1.0, 0.0), *zip(alpha.tolist(), beta.tolist(), strict=True)})
    hull: list[tuple[float, float]] = []
    for x, y in points:
        if hull and hull[-1][0] == x:
            continue
        while len(hull) >= 2 and _above_chord(hull[-2], hull[-1], (x, y)):  # every point is removed once at most
            hull.pop()
        hull.append((x, y))
    corner = np.array(hull)
    falling = np.concatenate(([True], np.diff(np.minimum.accumulate(corner[:, 1])) < 0))
    corner = corner[falling]
    p, q = np.diff(corner[:, 0]), -np.diff(corner[:, 1])
    loss = np.log(q) - np.log(p)
    return Polygon(
        loss[::-1],
        p[::-1],
        q[::-1],
        1.0 - float(corner[-1, 0]),
        1.0 - float(corner[0, 1]),
        method="given points",
    )


def _above_chord(i: tuple[float, float], j: tuple[float, float], k: tuple[float, float]) -> bool:
    """Return whether point j lies on or above the chord from i to k."""
    return (j[1] - i[1]) * (k[0] - i[0]) >= (k[1] - i[1]) * (j[0] - i[0])
