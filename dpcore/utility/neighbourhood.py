"""Regions of mechanisms that choose: the data at hand against every neighbour they have.

The union over many neighbours has the largest of their profiles. A profile is the largest of the lines
power - e^eps alpha over the tests of a pair, so the union needs no profiles at all: it is the concave hull of the points
(alpha, power) of all likelihood-ratio tests of all pairs, in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.curves.bound import Outer
from dpcore.curves.polygon import Polygon
from dpcore.regions.custom import CustomRegion
from dpcore.regions.guarantees import three_point
from dpcore.regions.tradeoff import TradeOff

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray

_SAME = 1e-13  # points this close to each other are one point, seen through rounding
_TINY = 1e-290  # rates below it count as 0, so that slopes stay below the largest double
_ROUNDS = 40  # passes that drop points below their chords; the exact chain afterwards takes what is left


@dataclass(frozen=True, eq=False, repr=False)
class DataRegion(CustomRegion):
    """A region computed from data at hand; `reason` says over which pairs of datasets."""

    reason: str = ""

    @property
    def theorem(self) -> str:
        """Over which pairs it holds."""
        return self.reason


@dataclass(frozen=True, eq=False, repr=False)
class RegionBound(TradeOff):
    """A guarantee that contains the mechanism's region; `inside` are regions known to be reached.

    Its expression is that of the guarantee, so it can be linked and composed; its numbers are of kind ``upper``.
    """

    in_language: ClassVar[bool] = False  # the text is that of a larger region

    guarantee: TradeOff
    reason: str
    stated: str = "substitution"
    inside: tuple[Curve, ...] = ()

    @property
    def text(self) -> str:
        """The guarantee's expression."""
        return self.guarantee.text

    @property
    def neighbours(self) -> str:
        """The relation stated."""
        return self.stated

    @property
    def theorem(self) -> str:
        """Why the guarantee holds."""
        return self.reason

    def _pair(self) -> Curve:
        return Outer(self.guarantee.curve, self.inside, self.reason)


def region_of_pairs(p: FloatArray, q: FloatArray, method: str = "union over neighbours") -> Polygon:
    """Return the exact union of the regions of K pairs of finite distributions, both directions of each.

    Parameters
    ----------
    p, q : ndarray of float
        Arrays of shape (K, c); row k holds the masses of the k-th pair on c outcomes (or classes of outcomes with
        the same likelihood ratio), in any order.
    """
    p, q = np.atleast_2d(p), np.atleast_2d(q)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(q > 0, q / p, 0.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    p, q = np.take_along_axis(p, order, 1), np.take_along_axis(q, order, 1)
    high, low = (np.cumsum(x, axis=1).ravel() for x in (p, q)), (np.cumsum(x[:, ::-1], axis=1).ravel() for x in (q, p))
    (a, b), (c, d) = high, low
    return hull(np.concatenate((a, c)), np.concatenate((b, d)), method)


def hull(alpha: FloatArray, power: FloatArray, method: str = "union over neighbours") -> Polygon:
    """Return the symmetric region of tests with these false-positive and true-positive rates.

    Only the steep half (slope at least 1, small alpha) is built from the points; the other half is its mirror image,
    so the points must come from both directions of every pair.
    """
    x, y = _steep_half(np.asarray(alpha, dtype=np.float64).ravel(), np.asarray(power, dtype=np.float64).ravel())
    if x.size == 0:
        return three_point(0.0, 0.0, 1.0)
    certain = float(y[0]) if x[0] == 0 else 0.0
    if x[0] > 0:
        x, y = np.concatenate(([0.0], x)), np.concatenate(([0.0], y))
    p, q = np.diff(x), np.diff(y)
    up = np.log(q / p)
    middle = max(0.0, 1.0 - float(x[-1]) - float(y[-1]))
    centre = ([0.0], [middle]) if middle > 0 else ([], [])
    return Polygon(
        np.concatenate((-up, centre[0], up[::-1])),
        np.concatenate((q, centre[1], p[::-1])),
        np.concatenate((p, centre[1], q[::-1])),
        certain,
        certain,
        symmetric=True,
        method=method,
    )


def _steep_half(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the concave hull of the points and (0, 0) up to where its slope falls to 1."""
    x = np.where(x < _TINY, 0.0, x)  # slopes beyond the largest double are called certain, the safe side
    here = x + y <= 1.0 + 1e-15  # the others are mirror images; by rounding one of them may seem to gain more
    x, y = x[here], y[here]
    gain = y - x
    best = gain.max(initial=0.0)
    if best <= 0:
        return np.zeros(0), np.zeros(0)
    use = (gain > 0) & (x <= x[gain >= best * (1 - 1e-15)].min())
    x, y = x[use], y[use]
    order = np.lexsort((-y, x))
    x, y = x[order], y[order]
    x, y = _joined(x, y)
    rising = y > np.concatenate(([0.0], np.maximum.accumulate(y)[:-1])) * (1 + _SAME)
    x, y = x[rising], y[rising]
    for _ in range(_ROUNDS):  # drop, all at once, what lies below the chord of its two neighbours
        keep = _above_chords(x, y)
        if keep.all():
            break
        x, y = x[keep], y[keep]
    return _chain(x, y)


def _joined(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return one point for each run of equal alphas (up to rounding): the smallest alpha with the largest power."""
    first = np.flatnonzero(np.concatenate(([True], np.diff(x) > _SAME * x[1:])))
    return x[first], np.maximum.reduceat(y, first)


def _above_chords(x: FloatArray, y: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if x.size < 2:
        return np.ones(x.size, dtype=np.bool_)
    at_zero = x[0] == 0
    full_x = x if at_zero else np.concatenate(([0.0], x))
    full_y = y if at_zero else np.concatenate(([0.0], y))
    slope = np.diff(full_y) / np.diff(full_x)
    keep = np.concatenate(([True], slope[:-1] > slope[1:] * (1 + _SAME), [True]))
    return np.asarray(keep if at_zero else keep[1:], dtype=np.bool_)


def _chain(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the concave chain from (0, 0), or from a point at alpha = 0, with slopes above 1."""
    corners = [(0.0, 0.0)] if x[0] > 0 else []
    for point in zip(x.tolist(), y.tolist(), strict=True):
        # every point is removed once at most
        while len(corners) >= 2 and _slope(corners[-2], corners[-1]) <= _slope(corners[-1], point) * (1 + _SAME):
            corners.pop()
        corners.append(point)
    corner = np.array(corners[1:] if corners[0] == (0.0, 0.0) else corners)
    return corner[:, 0], corner[:, 1]


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


@dataclass(frozen=True, slots=True)
class Moves:
    """How the scores on a line of candidates change when one record moves up, from a to b > a.

    Parameters
    ----------
    left, inside, right : ndarray of float
        Change of the score at c = a, at a < c < b and at c = b, one number per candidate.
    """

    left: FloatArray
    inside: FloatArray
    right: FloatArray


def moved_records(
    log_p: FloatArray, rate: float, occupied: np.ndarray[tuple[int], np.dtype[np.bool_]], up: Moves, down: Moves
) -> Polygon:
    """Return the exact region of choices on a line, the data against all data with one record moved.

    A neighbour is fixed by where the record was and where it goes; the likelihood ratio takes one value per change of
    the score, so each of the at most m (m - 1) pairs is known from a handful of masses. They are sums of positive
    terms, formed in logarithms: nothing cancels or underflows.

    Parameters
    ----------
    log_p : ndarray of float
        Logarithms of the probabilities of the m candidates.
    rate : float
        Probabilities are proportional to exp(rate score).
    occupied : ndarray
        Candidates that hold a record, which may leave.
    up, down : Moves
        Changes of the score; `down` is given for the reversed line.
    """
    parts = [_moved_up(log_p, rate, occupied, up), _moved_up(log_p[::-1], rate, occupied[::-1], down)]
    points = [point for part in parts for point in part]
    return hull(np.concatenate([a for a, _ in points]), np.concatenate([b for _, b in points]))


def _moved_up(
    log_p: FloatArray, rate: float, occupied: np.ndarray[tuple[int], np.dtype[np.bool_]], moves: Moves
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the points (alpha, power) of all tests of all pairs a < b, in both directions."""
    m = log_p.size
    start, end = np.triu_indices(m, 1)
    start, end = start[occupied[start]], end[occupied[start]]
    before = np.concatenate(([-np.inf], np.logaddexp.accumulate(log_p)))[start]
    after = np.concatenate((np.logaddexp.accumulate(log_p[::-1])[::-1], [-np.inf]))[end + 1]
    changes = np.unique(np.concatenate((moves.left, moves.inside, moves.right, [0.0])))[::-1]
    log_mass = []
    for change in changes:
        within = np.where(np.triu(np.ones((m, m), dtype=np.bool_), 1) & (moves.inside == change), log_p, -np.inf)
        total = np.logaddexp.accumulate(within, axis=1)[start, end - 1]
        for place, own in ((start, moves.left), (end, moves.right)):
            total = np.logaddexp(total, np.where(own == change, log_p, -np.inf)[place])
        if change == 0:
            total = np.logaddexp(total, np.logaddexp(before, after))
        log_mass.append(total)
    log_first = np.array(log_mass)
    log_second = log_first + rate * changes[:, None]
    log_second = log_second - np.logaddexp.reduce(log_second, axis=0)
    first, second = np.exp(log_first), np.exp(log_second)  # rows from the largest ratio to the smallest
    forward = (np.cumsum(first, axis=0).ravel(), np.cumsum(second, axis=0).ravel())
    backward = (np.cumsum(second[::-1], axis=0).ravel(), np.cumsum(first[::-1], axis=0).ravel())
    return [forward, backward]
