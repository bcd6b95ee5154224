r"""The curve of shuffled randomized response with more than two answers: a bound, and what one dataset attains.

With k letters the truth has the chance t, every other letter l = t/e, e = e^{eps0}. So each of the n - 1 others answers with
a uniform letter with chance kl, whatever the truth is, and tells the truth otherwise. Reveal who told the truth: what
is left (as in `dpcore.curves.shuffled`) is a mean of independent terms,

    delta(eps) <= E[S_+]/n,    S = (e - E) a + (1 - Ee) b + (1 - E) r,    (a, b, r) multinomial(n; l, l, (k-2) l),    E = e^{eps}:

a and b answers are one of the two letters in question, r one of the others. Given C = a + b, a is a fair count, and S_+ is convex in r.

If all others have the same third letter, nothing has to be revealed: the attacker counts a and b alone, and r is
replaced by its mean (n - C) (k-2) l/(1 - 2l) given C. That dataset is the lower side. The two differ by
the variance of r, a share of order 1/n.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import betainc, betaln

from dpcore.core.effort import checkpoint
from dpcore.curves.shuffled import ShuffledCurve, binomial_window

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray

_UNIT = 2.0**-53
_EDGES = np.concatenate(([-36.0, -30.0, -25.0, -20.0, -16.0, -13.0, -10.0], np.arange(-8.0, 9.0)))
"""Cells of r in standard deviations: between two edges S_+ is below its chord, which costs a sixth of the effect of r's variance."""
_WINDOWS = (
    8.0,
    12.0,
    20.0,
    40.0,
)  # standard deviations of C that are summed: the first that leaves out a share of `_LITTLE`
_LITTLE = 1e-9
_ROUNDING = 1e-11  # relative error of an incomplete beta function, and of sums of them


class _Letters(ShuffledCurve):
    """A mean over the number C of answers that are one of the two letters in question.

    Parameters
    ----------
    local : float
        Loss of one answer before the shuffle, in [1e-6, 8].
    size : int
        Number of possible answers, at least 3.
    people : int
        Number of people, at least 2.
    """

    cells = 1

    def __init__(self, local: float, size: int, people: int) -> None:
        super().__init__(local, people)
        self.size = size
        small = math.exp(-local)
        self.lie = small / (1.0 + (size - 1) * small)
        self.share = (size - 2) * self.lie / (1.0 - 2.0 * self.lie)  # of r among all but a and b
        self.work = 100.0 + 6.0 * self.cells * math.sqrt(2.0 * self.lie * people)
        self._tables: dict[float, _CoinTable] = {}

    def _brackets(self, epsilon: FloatArray) -> Bounds:
        sides = [self._summed(float(one)) for one in epsilon]
        return np.array([low for low, _ in sides]), np.array([high for _, high in sides])

    @abstractmethod
    def _means(self, table: _CoinTable, epsilon: float) -> Bounds:
        """Return E[S_+]/n for each C, both sides."""

    def _summed(self, epsilon: float) -> tuple[float, float]:
        low = high = 0.0
        for reach in _WINDOWS:
            if reach not in self._tables:
                self._tables[reach] = self._table(reach)
            table = self._tables[reach]
            low, high = (float(table.mass @ side) for side in self._means(table, epsilon))
            # S_+ <= (e - E) a
            rest = table.rest * -math.expm1(epsilon - self.local) * math.exp(self.local) / (2.0 * self.people)
            rounding = 10.0 * _ROUNDING + 8.0 * _UNIT * table.mass.size
            low, high = low * (1.0 - rounding), high * (1.0 + rounding) + rest
            if rest <= _LITTLE * high:
                break
        return low, high

    def _table(self, reach: float) -> _CoinTable:
        return _CoinTable(self, reach)

    def _given(self, coins: FloatArray, others: FloatArray, epsilon: float) -> Bounds:
        """Return E[S_+]/n given C and r, with its rounding.

        S = c (a - a0) with c = (e-1)(E+1) and a0 - C/2 = ((e+1) C/2 + r)(E-1)/c; a sum over the fair count a >= h telescopes to
        c (h P(a = h)/2 - (a0 - C/2) P(a >= h)), h the first above a0.
        """
        ratio, small = math.exp(epsilon - self.local), math.exp(-self.local)
        scale = (1.0 - small) * (ratio + small) * math.exp(2.0 * self.local)  # c
        gain = -math.expm1(-epsilon) * math.exp(epsilon)  # E - 1
        ahead = gain / scale * (0.5 * (math.exp(self.local) + 1.0) * coins + others)
        first = np.maximum(np.floor(0.5 * coins + ahead) + 1.0, 1.0)
        inside = first <= coins
        h = np.where(inside, first, 1.0)
        c = np.where(inside, coins, 1.0)
        at = 0.5 * h * np.exp(-np.log1p(c) - betaln(h + 1.0, c - h + 1.0) - c * math.log(2.0))
        tail = ahead * betainc(h, c - h + 1.0, 0.5)
        error = at * _UNIT * (64.0 + 8.0 * c) + tail * _ROUNDING
        factor = np.where(inside, scale / self.people, 0.0)
        return np.maximum(at - tail - error, 0.0) * factor, (np.maximum(at - tail, 0.0) + error) * factor


class ThirdLetter(_Letters):
    """All others have the same third letter, and the attacker counts the two letters in question."""

    certified = True
    method = "shuffled answers, third letter"

    def _means(self, table: _CoinTable, epsilon: float) -> Bounds:
        return self._given(table.coins, table.mean, epsilon)


class UniformLetters(_Letters):
    """The others have any letters: an upper bound."""

    method = "shuffled answers, uniform letters of the others"
    cells = len(_EDGES) + 1

    def _means(self, table: _CoinTable, epsilon: float) -> Bounds:
        table = cast("_CellTable", table)  # made by `_table`
        each = np.stack([self._given(table.coins, edge, epsilon)[1] for edge in table.edges])
        # the chord of each cell; beyond the last edge S_+ is smaller still
        fall = np.diff(each, axis=0) / np.maximum(np.diff(table.edges, axis=0), 1.0)
        cells = table.cells * each[:-1] + table.moments * fall
        least = self._given(table.coins, table.mean, epsilon)[0]  # S_+ is convex in r
        return least, cells.sum(axis=0) + table.last * each[-1]

    def _table(self, reach: float) -> _CoinTable:
        return _CellTable(self, reach)


class _CoinTable:
    """The numbers C that are summed, with their probabilities and the mean of r: they do not depend on epsilon."""

    def __init__(self, curve: _Letters, reach: float) -> None:
        people = curve.people
        first, mass = binomial_window(people, 2.0 * curve.lie)
        coins = first + np.arange(mass.size, dtype=np.float64)
        center, deviation = 2.0 * curve.lie * people, math.sqrt(2.0 * curve.lie * (1.0 - 2.0 * curve.lie) * people)
        keep = np.abs(coins - center) <= reach * deviation + 4.0
        self.rest = float(np.sum(np.where(keep, 0.0, mass * coins)))
        self.coins, self.mass = coins[keep], mass[keep]
        self.trials = people - self.coins
        self.mean = self.trials * curve.share


class _CellTable(_CoinTable):
    """The cells of r for each C: edges, probabilities, and mean distances from the lower edge."""

    def __init__(self, curve: _Letters, reach: float) -> None:
        super().__init__(curve, reach)
        trials, share = self.trials, curve.share
        spread = np.sqrt(self.mean * (1.0 - share))
        edges = np.clip(np.round(self.mean + _EDGES[:, None] * spread), 0.0, trials)
        self.edges = np.concatenate((np.zeros((1, trials.size)), edges))
        # P(r < edge) and E[r; r < edge] = mean P(r' < edge - 1) with r' of one trial less
        below = np.stack([_below(trials, share, edge) for edge in self.edges])
        part = self.mean * np.stack([_below(trials - 1.0, share, edge - 1.0) for edge in self.edges])
        self.cells = np.maximum(np.diff(below, axis=0), 0.0) + 4.0 * _ROUNDING * below[1:]
        inside = np.diff(part, axis=0) - self.edges[:-1] * np.diff(below, axis=0)
        error = 4.0 * _ROUNDING * self.mean * below[1:]
        self.moments = np.clip(inside - error, 0.0, np.diff(self.edges, axis=0) * self.cells)
        self.last = np.maximum(1.0 - below[-1], 0.0) + 4.0 * _ROUNDING


def _below(trials: FloatArray, chance: float, edge: FloatArray) -> FloatArray:
    """Return P(Bin(trials, chance) < edge)."""
    checkpoint()  # a million people have 10^5 numbers C, and each of them about fifty of these
    inner = (edge >= 1.0) & (edge <= trials)
    e, n = np.where(inner, edge, 1.0), np.where(inner, trials, 1.0)
    return np.where(inner, betainc(n - e + 1.0, e, 1.0 - chance), np.where(edge < 1.0, 0.0, 1.0))
