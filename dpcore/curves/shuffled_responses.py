r"""The curve of shuffled randomized response with two answers: the largest delta over all truths of the others.

Of N = n - 1 others, m have the truth "heads". With t and l = 1 - t the chances to tell the truth and to lie, they say heads X times,
and G(s) = (l + ts)^m (t + ls)^(N-m) generates X; you add one head with chance l or t. With E = e^eps, A = t - El and B = Et - l, a
count j accuses if A P(X = j-1) > B P(X = j), and since X is log-concave that is so from some h on:

    delta = max over m and h of D(m, h),    D(m, h) = A P(X = h-1) - (E-1) P(X >= h).

Tilted by rho = B/A, that is with masses proportional to rho^j P(X = j), h - 1 is the mode, so it is less than 1 away from the tilted
mean mu(m) (Darroch 1964). On the circle s = rho e^{iu}, with h - 1 = mu(m) + y, the trapezoidal rule in J points gives

    D(m, h) = A e^{L(m, y)}/J  sum over u of  Re (e^{iu}-1)/(e^{iu}-1/rho) e^{N b(u) + m d(u) - iyu}  + (E-1)/(rho^J - 1)

up to aliases, which are tails of X beyond J/2. The sum is an entire function of real m and y. Its second derivatives are at most
its absolute sums with the weights |lambda + d|^2 and |log rho + iu|^2, where lambda is the slope of L in m, so on a rectangle it
exceeds its largest corner by at most (width^2 max|D_mm| + height^2 max|D_yy|)/8. The rectangle 0 <= m <= N, |y| <= 1 is searched by
halving: a part is dropped once it cannot exceed the largest D(m, h) of whole numbers by more than a share of the tolerance, and
one with few values of m is replaced by its whole numbers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint, current
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, FloatArray, mirrored_delta
from dpcore.curves.shuffled import ShuffledCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import ComplexArray

_UNIT = 2.0**-53
_SHARE, _FINEST = (
    0.02,
    1e-11,
)  # width of the bracket as a share of the tolerance, and the smallest: some digits above rounding
_FADED = 60.0  # terms below e^-60 of the largest are left out; the sum is at least e^-35 of it, at n = 10^8 too
_LEFT_OUT = 8.0 * math.exp(-_FADED)  # two tails of aliases, each of two probabilities, and the terms left out
_SPREAD, _MARGIN = (
    32.0,
    128.0,
)  # points of the circle: aliases are 16 standard deviations and 64 heads away, below e^-60
_FAR = 2.0 * _FADED  # log of rho^J from which the aliases below h vanish
_FEW, _LISTED = (
    64,
    100_000,
)  # whole numbers in a rectangle that are tried, and values of m among which they are looked for
_SEEDS, _NEAR = (
    256,
    10_000,
)  # whole numbers tried first: those next to the best corner, and the best placed in a wider strip
_ROUNDS, _MOST_BOXES, _MOST_LISTED = 64, 1000, 2_000_000
"""Halvings, rectangles and values of m after which the search ends with a wider bracket: half a second."""
_BLOCK = 2_000_000  # terms in memory at once
_TINY = 5e-324
_STEP, _STEPS = 0.04, 160  # losses where the search for a beta starts, in standard deviations of the loss
_MEETINGS = 12  # rounds of that search
_CLOSE = 0.2  # width of a beta as a share of the tolerance


class ShuffledResponses(ShuffledCurve):
    """Randomized response of n people with two answers, any truths of the others: a bracket.

    Parameters
    ----------
    local : float
        Loss of one answer before the shuffle, in [1e-6, 8].
    people : int
        Number of people, at least 2.
    """

    certified = True
    method = "shuffled answers, largest over all truths of the others"
    work = 3000.0

    def _brackets(self, epsilon: FloatArray) -> Bounds:
        sides = [_HeadCounts(self.local, self.people - 1, float(one)).largest() for one in epsilon]
        return np.array([low for low, _ in sides]), np.array([high for _, high in sides])

    @Lazy
    def _nodes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return losses of either sign with their deltas, where the search for a beta starts."""
        small = math.exp(-self.local)
        scale = (1.0 - small) / math.sqrt(self.people * small)  # about the standard deviation of the loss
        near = np.arange(0.0, min(_STEPS * scale * _STEP, self.local), scale * _STEP)
        far = np.geomspace(max(near[-1], 1e-3 * self.local), self.local, 16)
        up = np.unique(np.concatenate((near, far, self.local + np.arange(4.0))))
        sides = self.delta_bounds(up)
        down = [mirrored_delta(-up[:0:-1], side[:0:-1]) for side in sides]
        low, high = (np.concatenate(pair) for pair in zip(down, sides, strict=True))
        return np.concatenate((-up[:0:-1], up)), low, high

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the bracket of beta at each alpha: the largest 1 - delta - e^epsilon alpha, which is concave in e^epsilon."""
        sides = np.array([self._beta(float(one)) for one in np.ravel(alpha)]).reshape(-1, 2).T
        return sides[0], sides[1]

    def _beta(self, alpha: float) -> tuple[float, float]:
        """Return one beta: each round tries where the lines through known points on either side of the optimum meet."""
        loss, low, high = self._nodes
        best, least = 0.0, 1.0 - alpha
        for _ in range(_MEETINGS):
            checkpoint()
            below, above = (1.0 - side - np.exp(loss) * alpha for side in (high, low))
            at = min(max(int(np.argmax(below)), 2), loss.size - 3)
            best = max(best, float(below[at]))
            around = slice(at - 2, at + 3)
            top, meetings = _highest(np.exp(loss[around]), below[around], above[around])
            least = min(least, top)
            new = np.setdiff1d(np.log(meetings), loss)
            if least - best <= _CLOSE * current().tolerance * min(best, 1.0 - best) or not new.size:
                break
            sides = self.delta_bounds(new)
            order = np.argsort(np.concatenate((loss, new)))
            loss, low, high = (np.concatenate(pair)[order] for pair in ((loss, new), (low, sides[0]), (high, sides[1])))
        rounding = 4.0 * _UNIT
        return max(best - rounding, 0.0), min(max(least, best) + rounding, 1.0 - alpha)


def _highest(at: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, FloatArray]:
    """Return an upper bound of a concave function from bounds at five places, and where it may be attained.

    Between two places it is below the line through the two on their left and below the line through the two on their right. The
    bound is inf unless the function is highest inside.
    """
    top, meetings = high[2], []
    for j in (1, 2):  # from place j to j + 1
        left = (high[j] - low[j - 1]) / (at[j] - at[j - 1])
        right = (low[j + 2] - high[j + 1]) / (at[j + 2] - at[j + 1])
        gap = at[j + 1] - at[j]
        share = (high[j + 1] - high[j] - right * gap) / (left - right) if left > right else 0.5 * gap
        share = min(max(float(share), 0.02 * gap), 0.98 * gap)
        top = max(top, high[j] + max(left, 0.0) * share, high[j + 1] - min(right, 0.0) * (gap - share))
        meetings.append(at[j] + share)
    if low[2] < max(high[1], high[3]):  # rounding hides which side is lower: the outer two cells count too
        first, last = (low[2] - high[1]) / (at[2] - at[1]), (high[3] - low[2]) / (at[3] - at[2])
        top = max(top, high[1] - min(first, 0.0) * (at[1] - at[0]), high[3] + max(last, 0.0) * (at[4] - at[3]))
        if low[1] < high[0] or low[3] < high[4]:
            top = math.inf
    return float(top), np.array(meetings)


@dataclass(frozen=True)
class _Circle:
    """The sum for numbers m of heads among the others from `low` on; columns have one value per point of the circle."""

    turn: FloatArray  # u
    base: ComplexArray  # N b(u)
    drift: ComplexArray  # d(u)
    weight: ComplexArray  # the fraction, times 2/J for a point and its mirror image
    constant: float  # what the aliases below h add, in units of the sum
    miss: float  # the error of the constant
    rounding: FloatArray  # relative, of each term


class _HeadCounts:
    """The search at one epsilon; D is in units of A e^L(N, 0)."""

    def __init__(self, local: float, others: int, epsilon: float) -> None:
        small = math.exp(-local)
        self.others = others
        truth, lie = 1.0 / (1.0 + small), small / (1.0 + small)
        self.gain = -math.expm1(epsilon - local) / (1.0 + small)  # A
        self.excess = math.expm1(epsilon)  # E - 1
        self.rise = math.log1p(self.excess / self.gain)  # log rho = log(1 + (E-1)/A)
        more = math.expm1(self.rise)
        back = math.exp(-self.rise)
        self.heads, self.tails = truth / (truth + lie * back), lie / (lie + truth * back)  # tilted chances of one head
        steep, flat = math.log1p(truth * more), math.log1p(lie * more)
        self.slope = steep - flat - (self.heads - self.tails) * self.rise  # lambda
        self.scale = others * (steep - self.heads * self.rise)  # L(N, 0)
        self.scale_error = _UNIT * (16.0 + 8.0 * others * (steep + flat + self.rise))
        self.lags = (
            others * (self.heads - truth),
            others * (self.tails - lie),
        )  # tilted means minus means, at m = N and 0
        self.variance = others * truth * lie

    def spread(self, heads: float) -> float:
        """Return the variance of the tilted count if that many of the others have the truth "heads"."""
        each = self.heads * (1.0 - self.heads), self.tails * (1.0 - self.tails)
        return heads * each[0] + (self.others - heads) * each[1]

    def circle(self, low: float) -> _Circle:
        """Return the sum for low <= m <= N; the variance falls as m grows, and with it the terms far out."""
        points = 2 * math.ceil(0.5 * (_SPREAD * math.sqrt(self.spread(low)) + _MARGIN))
        narrow = self.spread(self.others)
        share = math.sqrt(_FADED / (2.0 * narrow)) if narrow > 0.0 else math.inf
        last = math.ceil(points * math.asin(share) / math.pi) if share < 1.0 else points // 2
        turn = np.asarray(2.0 * math.pi / points * np.arange(min(last, points // 2) + 1), dtype=np.float64)
        sine = np.sin(0.5 * turn)

        def one(chance: float) -> ComplexArray:
            """Return log(1 + p (e^{iu} - 1)) - ipu."""
            real = 0.5 * np.log1p(-np.minimum(4.0 * chance * (1.0 - chance) * sine**2, 1.0 - 1e-16))
            angle = np.arctan2(chance * np.sin(turn), 1.0 - 2.0 * chance * sine**2) - chance * turn
            return np.asarray(real + 1j * angle, dtype=np.complex128)

        base, drift = one(self.tails), one(self.heads) - one(self.tails)
        whole = np.cos(turn) + 1j * np.sin(turn)
        back = math.exp(-self.rise)
        weight = (-2.0 * sine**2 + 1j * np.sin(turn)) / np.where(turn == 0.0, 1.0, whole - back)
        weight *= np.where((turn == 0.0) | (np.arange(turn.size) == points // 2), 1.0, 2.0) / points
        constant, miss = 0.0, 0.0
        if points * self.rise < _FAR:
            unit = self.gain * math.exp(self.scale)
            step = self.excess / math.expm1(points * self.rise) if self.rise > 0.0 else self.gain / points
            constant = step / unit
            gap = points - 3.0 - max(self.lags)
            miss = constant * math.exp(-(gap**2) / (2.0 * (self.variance + gap / 3.0))) if gap > 0.0 else math.inf
        rounding = np.asarray(_UNIT * (64.0 + 16.0 * self.others * (turn + self.rise)), dtype=np.float64)
        return _Circle(turn, self.others * base, drift, weight, constant, miss, rounding)

    def values(self, circle: _Circle, heads: FloatArray, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return D at (m, y), with its error."""
        out, error = np.empty(heads.size), np.empty(heads.size)
        rows = max(1, _BLOCK // circle.turn.size)
        for start in range(0, heads.size, rows):
            m, y = heads[start : start + rows, None], place[start : start + rows, None]
            term = circle.weight * np.exp(circle.base + m * circle.drift - 1j * y * circle.turn)
            grow = np.exp(self.slope * (m[:, 0] - self.others) - y[:, 0] * self.rise)
            out[start : start + rows] = grow * term.real.sum(axis=1) + circle.constant
            error[start : start + rows] = grow * (np.abs(term) @ circle.rounding + _LEFT_OUT)
        return out, error + circle.miss + 8.0 * _UNIT * circle.constant

    def excesses(self, circle: _Circle, box: FloatArray) -> FloatArray:
        """Return by how much D on each rectangle (m0, m1, y0, y1) can exceed its corners, in direction of m and of y."""
        size = np.abs(circle.weight) * np.exp(circle.base.real + box[:, 1:2] * circle.drift.real)
        bends = np.stack((np.abs(self.slope + circle.drift) ** 2, self.rise**2 + circle.turn**2), axis=1)
        grow = np.exp(self.slope * (box[:, 1] - self.others) - box[:, 2] * self.rise)
        sides = np.stack((box[:, 1] - box[:, 0], box[:, 3] - box[:, 2]), axis=1)
        return np.asarray(0.125 * sides**2 * grow[:, None] * (size @ bends), dtype=np.float64)

    def whole(self, low: float, high: float) -> tuple[FloatArray, FloatArray]:
        """Return all (m, y) of whole numbers, low <= m <= high: two counts for each m."""
        m = np.repeat(np.arange(math.ceil(low), math.floor(high) + 1.0), 2)
        mean = m * self.heads + (self.others - m) * self.tails
        place = np.floor(mean) - mean
        place[1::2] += 1.0
        return m, place

    def seeds(self, low: float, m: float, y: float) -> tuple[FloatArray, FloatArray]:
        """Return whole numbers near (m, y) that may have the largest D."""
        heads, place = self.whole(max(low, m - _NEAR), min(self.others, m + _NEAR))
        few = min(2 * _SEEDS, heads.size) - 1
        keep = (np.abs(heads - m) <= 0.5 * _SEEDS) | (np.abs(place - y) <= np.partition(np.abs(place - y), few)[few])
        return heads[keep], place[keep]

    def inside(self, box: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the whole numbers in a rectangle, and some next to it."""
        heads, place = self.whole(box[0], box[1])
        keep = (place >= box[2] - 1e-6) & (place <= box[3] + 1e-6)  # a mean of 10^8 is known to 1e-8
        return heads[keep], place[keep]

    def attained(self, circle: _Circle, heads: FloatArray, place: FloatArray) -> tuple[float, float]:
        """Return the largest D of whole numbers, both sides."""
        value, error = self.values(circle, heads, place)
        return float(np.max(value - error, initial=0.0)), float(np.max(value + error, initial=0.0))

    def largest(self) -> tuple[float, float]:
        """Return the bracket of delta."""
        low, high = self._search()
        with np.errstate(under="ignore"):
            unit = self.gain * math.exp(self.scale)
        error = self.scale_error + 8.0 * _UNIT
        return max(low, 0.0) * unit * (1.0 - error), max(high * unit * (1.0 + error), _TINY)

    def _search(self) -> tuple[float, float]:
        slack = max(_FINEST, _SHARE * current().tolerance)
        circle = self.circle(float(self.others))
        best, high = self.attained(circle, *self.whole(self.others, self.others))
        # D <= A P(X = h-1) <= A e^L(m, y): fewer heads than this cannot be better
        cut = 0.0
        if best > 0.0 and self.slope > 0.0:
            cut = max(0.0, math.floor(self.others - (self.rise - math.log(best)) / self.slope))
        circle = self.circle(cut)
        m = np.linspace(cut, self.others, 9 if self.others - cut > 8 else 2)
        y = np.linspace(-1.0, 1.0, 5)
        box = np.array([[a, b, c, d] for a, b in itertools.pairwise(m) for c, d in itertools.pairwise(y)])
        listed, bound = 0.0, np.full(1, math.inf)
        for _ in range(_ROUNDS):
            checkpoint()
            corner = np.stack((box[:, [0, 0, 1, 1]], box[:, [2, 3, 2, 3]])).reshape(2, -1)
            value, error = self.values(circle, *corner)
            tried = self.attained(circle, *self.seeds(cut, *corner[:, np.argmax(value)]))
            best, high = max(best, tried[0]), max(high, tried[1])
            excess = self.excesses(circle, box)
            bound = (value + error).reshape(-1, 4).max(axis=1) + excess.sum(axis=1)
            open_ = bound > best * (1.0 + slack)
            high = max(high, float(bound[~open_].max(initial=0.0)))
            box, excess, bound = box[open_], excess[open_], bound[open_]
            wide, tall = box[:, 1] - box[:, 0], box[:, 3] - box[:, 2]
            few = (wide * tall <= _FEW) & (wide <= _LISTED)
            listed += float(wide[few].sum())
            if listed > _MOST_LISTED or box.shape[0] > _MOST_BOXES:
                break
            for one in box[few]:
                tried = self.attained(circle, *self.inside(one))
                best, high = max(best, tried[0]), max(high, tried[1])
            box, excess = box[~few], excess[~few]
            if not box.size:
                return best, high
            box = np.concatenate(_halves(box, excess[:, 0] >= excess[:, 1]))
        return best, max(high, float(bound.max()))


def _halves(box: FloatArray, wide: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return the two halves of each rectangle, cut across m where `wide`, else across y."""
    first, second = box.copy(), box.copy()
    middle = 0.5 * np.where(wide, box[:, 0] + box[:, 1], box[:, 2] + box[:, 3])
    rows = np.arange(box.shape[0])
    first[rows, np.where(wide, 1, 3)] = middle
    second[rows, np.where(wide, 0, 2)] = middle
    return first, second
