r"""How far a composition is from its Gaussian limit, with the direction certified.

The largest vertical distance of two trade-off curves is the largest difference of their profiles: f >= G - c
everywhere says the same as delta_f <= delta_G + c everywhere, because each curve is the upper envelope of its lines
1 - delta(t) - e^t alpha. Hence

.. math:: \sup_\alpha\,(G-f)(\alpha) = \sup_{t\ge0}\,(\delta_f-\delta_G)(t),\qquad
    \sup_\alpha\,(f-G)(\alpha) = \sup_{t\ge0}\,(\delta_G-\delta_f)(t);

for symmetric curves t < 0 adds nothing, because its difference is e^t times that at -t. The first supremum is by how much
the limit understates delta: if it is positive, the limit is not a bound.

Both profiles are convex in y = e^t. For a polygon, delta_f is linear in y between losses, so the extremes are at losses
or where the slopes agree, which is exact. Any other curve is bounded by chords from above and by prolonged chords from
below; cells that may contain the extreme are split until the bracket is narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, ndtr, ndtri_exp

from dpcore.central_limit.gaussians import joined
from dpcore.central_limit.moments import Bracket
from dpcore.core.domains import POSITIVE, PROBABILITY
from dpcore.core.effort import checkpoint
from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff

_FIRST = 65  # places of the first grid
_ROUNDS = 6  # each splits cells into four; more rounds only narrow the bracket
_MOST = 700  # places in all: bounds the certified evaluations of one distance
_NARROW = 1e-3  # relative width of the bracket at which splitting ends
_FADED = 1e-13  # profiles this close to their floor cannot change a distance that is reported
_WIDEST = 600.0  # e^600 is still a double
_ROUNDING = 4e-15  # a few units in the last place of a difference of two profiles of at most 1


@dataclass(frozen=True, slots=True)
class Distance:
    """The two one-sided distances between a curve f and its limit G.

    Attributes
    ----------
    optimistic : Bracket
        sup(G - f), by how much the limit promises too much; if it is above 0, the limit is not a bound.
    cautious : Bracket
        sup(f - G), by how much it promises too little.
    worst : float
        The epsilon at which the limit understates delta most.
    kind : str
        ``exact``, or ``bracket``.
    """

    optimistic: Bracket
    cautious: Bracket
    worst: float
    kind: str

    @property
    def largest(self) -> Bracket:
        """Sup |f - G|."""
        return Bracket(max(self.optimistic.lower, self.cautious.lower), max(self.optimistic.upper, self.cautious.upper))


@dataclass(frozen=True, slots=True)
class Goal:
    """The limit: Gaussian privacy mu whose loss is infinite with probability `lost`."""

    mu: float
    lost: float = 0.0

    def __post_init__(self) -> None:
        """Check both numbers."""
        POSITIVE.but(name="mu").check(self.mu)
        PROBABILITY.but(name="lost").check(self.lost)

    @property
    def region(self) -> TradeOff:
        """The limit as a region."""
        return joined(self.mu, self.lost)

    def delta(self, t: FloatArray) -> FloatArray:
        """Return its profile at t >= 0, with an absolute error of at most `rounding`."""
        place = np.asarray(t, dtype=np.float64)
        ahead, back = self.mu / 2 - place / self.mu, -self.mu / 2 - place / self.mu
        # e^t Phi(back) is phi(ahead) times the Mills ratio of -back
        value = np.maximum(ndtr(ahead) - 0.5 * np.exp(-ahead * ahead / 2) * erfcx(-back / math.sqrt(2.0)), 0.0)
        return np.asarray(self.lost + (1.0 - self.lost) * value, dtype=np.float64)

    @property
    def rounding(self) -> float:
        """Absolute error of a difference of two profiles: that of mu/2 - t/mu, plus a few units in the last place."""
        return _ROUNDING * (1.0 + self.mu / 10)

    def where(self, log_fall: FloatArray) -> FloatArray:
        """Return the t at which its profile has the slope -e^log_fall in e^t, that is, P0(L > t) = e^log_fall."""
        share = np.minimum(log_fall - math.log1p(-self.lost), -1e-300)
        with np.errstate(invalid="ignore", divide="ignore"):
            t = -self.mu * (ndtri_exp(share) + self.mu / 2)
        return np.asarray(t, dtype=np.float64)

    def end(self) -> float:
        """Return where its profile is within 1e-13 of its floor."""
        z = float(-ndtri_exp(np.array(math.log(_FADED))))
        return self.mu * (self.mu / 2 + z)


def distance(region: TradeOff, goal: Goal) -> Distance:
    """Return how far a region is from Gaussian privacy, in each direction.

    Parameters
    ----------
    region : TradeOff
        A symmetric region.
    goal : Goal
        The limit.

    Returns
    -------
    Distance
        Both one-sided distances, exact for polygons.

    Examples
    --------
    >>> from dpcore import dp
    >>> round(distance(dp(0.1) ** 100, Goal(1.0)).largest.upper, 5)
    0.00125
    """
    curve = region.curve
    if goal.lost == 1.0:  # the limit promises nothing, so it is never too optimistic
        return Distance(Bracket.of(0.0), Bracket.of(1.0 - curve.q_inf), 0.0, "exact")
    return _exact(curve, goal) if isinstance(curve, Polygon) and curve.symmetric else _bracketed(curve, goal)


def _exact(curve: Polygon, goal: Goal) -> Distance:
    """Return both distances of a polygon, exact up to rounding.

    Far losses, where both profiles are close to their floors, are included only if they could matter.
    """
    places = np.concatenate(([0.0], curve.loss[curve.loss > 0]))
    near = places[: int(np.searchsorted(places, goal.end())) + 1]
    result = _at_losses(curve, goal, near)
    beyond = float(max(curve.delta_bounds(near[-1:])[1][0] - curve.q_inf, goal.delta(near[-1:])[0] - goal.lost))
    if near.size < places.size and beyond > min(result.optimistic.upper, result.cautious.upper):
        result = _at_losses(curve, goal, places)
    return result


def _at_losses(curve: Polygon, goal: Goal, places: FloatArray) -> Distance:
    """Return the distances over the given losses, and at infinity."""
    with np.errstate(divide="ignore"):
        log_fall = np.log(curve.tail_above(places)) - places
    # between two losses the difference is concave in e^t: its top is where both fall alike
    inside = goal.where(log_fall[:-1])
    inside = np.clip(np.where(np.isnan(inside), places[:-1], inside), places[:-1], places[1:])
    t = np.concatenate((places, inside))
    gap = curve.delta_bounds(t)[1] - goal.delta(t)
    at_infinity = curve.q_inf - goal.lost
    best = int(np.argmax(gap))
    optimistic, cautious = max(float(gap[best]), at_infinity), max(float(-gap.min()), -at_infinity)
    return Distance(Bracket.of(_sure(optimistic, goal)), Bracket.of(_sure(cautious, goal)), float(t[best]), "exact")


def _sure(gap: float, goal: Goal) -> float:
    """Return a difference of profiles, or 0 if it is no larger than rounding."""
    return gap if gap > goal.rounding else 0.0


# ---- brackets ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """Bounds of the profile of f at places from 0 upwards, and the profile of the limit there."""

    t: FloatArray
    lower: FloatArray
    upper: FloatArray
    goal: FloatArray

    def with_more(self, curve: Curve, goal: Goal, more: FloatArray) -> _Grid:
        low, high = curve.delta_bounds(more)
        order = np.argsort(np.concatenate((self.t, more)), kind="stable")
        pairs = ((self.t, more), (self.lower, low), (self.upper, high), (self.goal, goal.delta(more)))
        return _Grid(*(np.concatenate(pair)[order] for pair in pairs))

    def optimistic(self, goal: Goal) -> FloatArray:
        """Return, for every cell, an upper bound of delta_f - delta_G: under the chord the difference is concave."""
        t, high = self.t, self.upper
        width = np.minimum(np.diff(t), _WIDEST)
        drop = np.maximum(high[:-1] - high[1:], 1e-320)
        top = goal.where(np.log(drop) - t[:-1] - np.log(np.expm1(width)))
        top = np.clip(np.where(np.isnan(top), t[:-1], top), t[:-1], t[1:])
        chord = high[:-1] + np.diff(high) * (np.expm1(np.minimum(top - t[:-1], width)) / np.expm1(width))
        return self._where_narrow(chord - goal.delta(top))

    def cautious(self, goal: Goal) -> FloatArray:
        """Return, for every cell, an upper bound of delta_G - delta_f: over a straight line the difference is convex.

        Two lines lie under delta_f, the chords of both neighbours prolonged; the extreme is at an end or where they
        meet.
        """
        t, low, high = self.t, self.lower, self.upper
        width = np.minimum(np.diff(t), _WIDEST)
        # before the first place comes the mirror image of the second: delta(-t) = 1 - e^-t + e^-t delta(t)
        before = -np.expm1(-t[1]) + math.exp(-t[1]) * high[1]
        left = np.concatenate(([before], high[:-2]))
        steep = np.concatenate(([-np.expm1(-t[1])], -np.expm1(-width[:-1])))
        a = (low[:-1] - left) / steep * np.expm1(width)
        b = np.append(np.maximum(low[1:-1] - high[2:], 0.0) / np.expm1(width[1:]), 0.0) * -np.expm1(-width)
        # along the cell, z from 0 to 1 in e^t: low_i + a z and low_(i+1) + b (1 - z)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.clip(np.nan_to_num((low[1:] + b - low[:-1]) / (a + b), nan=1.0), 0.0, 1.0)
        under = np.maximum(np.maximum(low[:-1] + a * z, low[1:] + b * (1 - z)), low[1:])
        meeting = goal.delta(t[:-1] + np.log1p(z * np.expm1(width))) - under
        ends = self.goal - low
        return self._where_narrow(np.maximum(meeting, np.maximum(ends[:-1], ends[1:])))

    def _where_narrow(self, bound: FloatArray) -> FloatArray:
        """Return the bound, 1 in cells so wide that e^t overflows."""
        return np.asarray(np.where(np.diff(self.t) < _WIDEST, bound, 1.0), dtype=np.float64)


def _bracketed(curve: Curve, goal: Goal) -> Distance:
    """Return both distances of any symmetric curve as brackets."""
    end = _end(curve, goal)
    empty = np.empty(0)
    grid = _Grid(empty, empty, empty, empty).with_more(curve, goal, end * np.linspace(0.0, 1.0, _FIRST) ** 2)
    for step in range(_ROUNDS + 1):
        checkpoint(step / (_ROUNDS + 1))
        over, under = grid.optimistic(goal), grid.cautious(goal)
        sure = max(0.0, float((grid.lower - grid.goal).max())), max(0.0, float((grid.goal - grid.upper).max()))
        tolerance = _NARROW * max(*sure, _FADED)
        wide = (over > sure[0] + tolerance) | (under > sure[1] + tolerance)
        if step == _ROUNDS or not wide.any() or grid.t.size + 3 * int(wide.sum()) > _MOST:
            break
        left, right = grid.t[:-1][wide], grid.t[1:][wide]
        grid = grid.with_more(
            curve, goal, np.concatenate([left + share * (right - left) for share in (0.25, 0.5, 0.75)])
        )
    beyond_high = max(float(grid.upper[-1]) - goal.lost, 0.0)
    beyond_low = max(float(grid.goal[-1]) - curve.q_inf, 0.0)
    best = int(np.argmax(grid.lower - grid.goal))
    return Distance(
        Bracket(max(0.0, sure[0] - goal.rounding), max(float(over.max()), beyond_high) + goal.rounding),
        Bracket(max(0.0, sure[1] - goal.rounding), max(float(under.max()), beyond_low) + goal.rounding),
        float(grid.t[best]),
        "bracket",
    )


def _end(curve: Curve, goal: Goal) -> float:
    """Return a place beyond which both profiles are within about 1e-13 of their floors."""
    end = goal.end()
    for _ in range(60):
        if end >= curve.max_loss or float(curve.delta_bounds(np.array([end]))[1][0]) <= curve.q_inf + 10 * _FADED:
            break
        end *= 1.3
    return end
