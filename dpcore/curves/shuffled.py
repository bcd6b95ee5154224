r"""The curve of a shuffled local answer: what is left of one person's answer among those of n - 1 others.

Each of n people sends an answer through an eps0-private channel R, and a shuffler mixes the answers. Let e = e^{eps0}, and let
r0, r1 be the laws of one person's answer under the two hypotheses. For every input x of another person
R(x) >= max(r0, r1)/e =: theta, so with probability t = theta's total mass that person's answer has the law theta/t,
whatever x is; revealing who answered otherwise only helps the attacker. With m such answers, the person's own
included, the likelihood of the mixture is the mean of r0/theta over all answers, and since
P(Bin(n-1, t) = m-1)/m = P(Bin(n, t) = m)/(nt),

    delta(eps) <= E[(X_1 + ... + X_n)_+] / n,    X = (r0 - e^{eps} r1)/theta with the law theta, 0 with probability 1 - t.

X lies between a = e - e^{eps} and b = 1 - e e^{eps}, and its mean is 1 - e^{eps} for every channel. Between two values with r0 >= r1
(or r1 >= r0) X is linear, so moving mass to the ends raises the mean of every convex function: only the ends (r0, r1)/theta =
(e, 1), (1, e) and (e, e) remain, the first two with equal masses. Exchanging mass c at (e, e), where X = e (1 - e^{eps}), for
ce/(e+1) at a and as much at b, taken from X = 0, keeps the mean and moves mass outwards: it raises the mean of every
convex function again, and sums of independent copies keep that order. So the worst channel has X = a, b with probability
1/(e+1) each: C ~ Bin(n-1, 2/(e+1)) others toss a fair coin, the person tosses one with bias e/(e+1), and the attacker sees
how many of the C + 1 coins show heads.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaln

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, Curve, FloatArray, mirrored_delta

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT = 2.0**-53
_REACH = 38.5  # standard deviations beyond which a normal law has no double left
_COARSE = 128  # numbers of coins that show where the sum has its mass; the cost is least between 64 and 256
_LITTLE = 1e-13  # share of the sum that may come from where only its coarse bound is used
_BLOCK = 200_000  # terms that are summed at a time: a few megabytes
_LARGEST = 709.0  # exponent of e that is still a double
_LOST = 1e-317  # more than what a thousand means of subnormal numbers lose
_WORK = 400.0  # work of one delta, in points of a transform; a fifth of it where the table serves
_TABLE = 1_200_000  # entries of a table of fair coins, 10 MB each of two: up to about a thousand people


class ShuffledCurve(Curve):
    """A bracket of one local answer among those of n people, the same in both directions.

    Parameters
    ----------
    local : float
        Largest loss of one answer before the shuffle, finite and above 0.
    people : int
        Number of people, at least 1.
    """

    exact = False

    def __init__(self, local: float, people: int) -> None:
        self.local, self.people = local, people
        self.max_loss, self.min_loss = local, -local

    def inverse(self) -> Curve:
        """Return itself: exchanging the answers of everybody exchanges the directions."""
        return self

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket of delta at each epsilon, with its rounding; 0 from the largest loss on."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        size = np.abs(epsilon)
        lower, upper = np.zeros(epsilon.size), np.zeros(epsilon.size)
        inside = np.flatnonzero(size < self.local)
        rows = self._rows()
        for start in range(0, inside.size, rows):
            checkpoint()
            block = inside[start : start + rows]
            lower[block], upper[block] = self._brackets(size[block])
        below = epsilon < 0
        if below.any():
            lower[below], upper[below] = (mirrored_delta(epsilon[below], side[below]) for side in (lower, upper))
        return lower, np.minimum(upper, 1.0)

    def _rows(self) -> int:
        """Return how many epsilons are answered between two looks at the budget."""
        return 1

    @abstractmethod
    def _brackets(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket of delta at each epsilon, from 0 to below the largest loss."""


class Shuffled(ShuffledCurve):
    """The worst case over all channels with the largest loss `local`, among n people: an upper bound, with its rounding.

    Parameters
    ----------
    local : float
        Largest loss of one answer before the shuffle, finite and above 0.
    people : int
        Number of people, at least 1.
    """

    method = "shuffled answers, worst channel"
    work = _WORK

    def __init__(self, local: float, people: int) -> None:
        super().__init__(local, people)
        self._small = math.exp(-local)

    @Lazy
    def _coins(self) -> tuple[int, FloatArray]:
        """Return the smallest number of fair coins whose probability is a double, and the probabilities from there on."""
        share = 2.0 * self._small / (1.0 + self._small)
        return binomial_window(self.people - 1, share)

    def _rows(self) -> int:
        return max(1, _BLOCK // self._coins[1].size)

    def _brackets(self, epsilon: FloatArray) -> Bounds:
        """Sum over the number of coins; more coins tell less, so a coarse list bounds those that hardly count."""
        first, mass = self._coins
        cuts, weight = self._cells
        starts = cuts[:-1]
        least, most = self._given((first + starts)[None, :], epsilon[:, None])
        bound = weight * most
        ordered = np.sort(bound, axis=1)
        share = np.cumsum(ordered, axis=1)
        skipped = np.sum(share < _LITTLE * share[:, -1:], axis=1)
        counts = bound >= np.take_along_axis(ordered, skipped[:, None], axis=1)
        rounding = 1.0 + _UNIT * (8.0 + 4.0 * mass.size)
        if starts.size == mass.size:  # the list has every number of coins
            return np.sum(mass * least, axis=1) / rounding, np.sum(bound, axis=1) * rounding
        row, inner = np.nonzero(np.repeat(counts, np.diff(cuts), axis=1))
        low, high = self._given(first + inner, epsilon[row])
        ends = np.searchsorted(row, np.arange(epsilon.size))
        rest = np.sum(np.where(counts, 0.0, bound), axis=1)
        lower = np.add.reduceat(mass[inner] * low, ends) / rounding
        return lower, (np.add.reduceat(mass[inner] * high, ends) + rest) * rounding

    @Lazy
    def _cells(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the ends of the cells of the coarse list, and the probability of each cell."""
        mass = self._coins[1]
        cuts = np.unique(np.linspace(0, mass.size, min(mass.size, _COARSE) + 1).astype(np.int64))
        return cuts, np.add.reduceat(mass, cuts[:-1])

    def _given(self, coins: NDArray[np.int64], epsilon: FloatArray) -> Bounds:
        """Return delta given the number of fair coins C, with its rounding; both arguments broadcast.

        Heads are more likely under H1. Above the threshold the sum telescopes: with S(j) = P(Bin(C, 1/2) >= j) it is
        S(h-1) (e - E)/(e+1) - S(h) (E e - 1)/(e+1), E = e^eps, h the least number of heads of C + 1 that accuses; in terms
        of the mass at h - 1 it is mass (e - E)/(e+1) - S(h) (E - 1).
        """
        c = coins.astype(np.float64)
        bias = -np.expm1(epsilon - self.local) / (1.0 + self._small)  # (e - E)/(e + 1)
        # (E - 1/e)/((1 - 1/e)(E + 1)), in a form for losses of every size
        share = np.expm1(-self.local - epsilon) / (math.expm1(-self.local) * (1.0 + np.exp(-epsilon)))
        heads = np.minimum(np.floor(share * (c + 1.0) * (1 + 4 * _UNIT)) + 1.0, c + 1.0)
        point, tail = self._fair(coins, heads)
        at = point * bias
        price = np.expm1(np.minimum(epsilon, _LARGEST))  # beyond, at most one coin is tossed and the tail is 0
        above = tail * price
        error = at * _UNIT * (64.0 + 4.0 * c) + above * (1e-12 + 8.0 * _UNIT * c) + _LOST * (1.0 + price)
        value = at - above
        return np.maximum(value - error, 0.0), np.maximum(value, 0.0) + error

    def _fair(self, coins: NDArray[np.int64], heads: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return P(Bin(C, 1/2) = h - 1) and P(Bin(C, 1/2) >= h)."""
        if self._table is not None:
            first, points, tails = self._table
            place = (coins - first) * points.shape[1] + heads.astype(np.int64)
            return points.ravel().take(place - 1), tails.ravel().take(place)
        c = coins.astype(np.float64)
        log_mass = -np.log1p(c) - betaln(heads, c - heads + 2.0) - c * math.log(2.0)
        tail = np.where(heads <= c, betainc(np.maximum(heads, 1.0), np.maximum(c - heads + 1.0, 0.5), 0.5), 0.0)
        return np.exp(log_mass), tail

    @Lazy
    def _table(self) -> tuple[int, FloatArray, FloatArray] | None:
        """Return the first number of coins C, and tables of P(Bin(C, 1/2) = h) and P(Bin(C, 1/2) >= h), a row for each C; None if too large.

        Each row is the mean of the one before and of the same moved by one head: of positive terms, so that a row adds one unit to
        the relative error of the first one, which `binomial_window` computes (its sums add at most C units).
        """
        first, mass = self._coins
        columns = first + mass.size + 2
        if mass.size * columns > _TABLE:
            return None
        points, tails = np.zeros((mass.size, columns)), np.zeros((mass.size, columns))
        low, start = binomial_window(first, 0.5)
        points[0, low : low + start.size] = start
        tails[0] = points[0, ::-1].cumsum()[::-1]
        tails[0, : low + 1] = 1.0
        for table, before in ((points, 0.0), (tails, 1.0)):
            for previous, row in pairwise(table):
                np.add(previous[1:], previous[:-1], out=row[1:])
                row[0] = previous[0] + before
                np.multiply(row, 0.5, out=row)
        checkpoint()
        return first, points, tails


def binomial_window(trials: int, chance: float) -> tuple[int, FloatArray]:
    """Return the smallest number of successes whose probability is a double, and the probabilities from there on.

    Ratios of neighbours are multiplied outwards from the most likely number, so that every error is relative: at most four
    roundings for each step.
    """
    if trials == 0:
        return 0, np.ones(1)
    mode = min(trials, math.floor((trials + 1) * chance))
    far = math.ceil(_REACH * math.sqrt(trials * chance * (1.0 - chance)) + 400.0)
    low, high = max(0, mode - far), min(trials, mode + far)
    up, down = np.arange(mode + 1.0, high + 1.0), np.arange(float(mode), low, -1.0)
    odds = chance / (1.0 - chance) if chance < 1.0 else math.inf
    with np.errstate(under="ignore"):
        right = np.cumprod((trials - up + 1.0) / up * odds)
        left = np.cumprod(down / ((trials - down + 1.0) * odds))
    mass = np.concatenate((left[::-1], [1.0], right))
    mass /= mass.sum()
    positive = np.flatnonzero(mass > 0.0)
    return low + int(positive[0]), mass[positive[0] : positive[-1] + 1]
