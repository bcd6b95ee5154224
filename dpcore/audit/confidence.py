r"""Confidence limits of error rates: one test fixed beforehand, or every threshold of a score at once.

One test. Of n independent trials j are errors. The upper limit of Clopper and Pearson at level e is the b with
P(Bin(n, b) <= j) = e, that is the (1 - e)-quantile of Beta(j + 1, n - j): with a larger rate, so few errors have a
probability of at most e.

Every threshold. Let X_(1) <= ... <= X_(n) be the sorted scores and U_(i) sorted uniform numbers with X_(i) = Q(U_(i)),
Q the quantile function. A test that errs below t and made j errors has t < X_(j+1), so its true rate is
P(X <= t) <= P(X < Q(U_(j+1))) <= U_(j+1); a test that errs above t is the same with 1 - U. Hence, if

.. math:: U_{(i)} \le b_i = \mathrm{Beta}^{-1}(1 - e;\ i,\ n - i + 1) \quad\text{for every rank } i,

the limits of Clopper and Pearson at level e hold for all thresholds together, even for those chosen after looking, and
ties only help. The level e is lowered until this event has the required probability, which is computed, not estimated:
with N(t) the number of uniform numbers up to t, the event says N(b_i) >= i, and N is a Poisson process given its last
value, so its distribution moves from b_i to b_(i+1) by one convolution (`chance_of_a_miss`). Truncations lose only
probability of the good event, which is the safe side.

References: Clopper, Pearson (1934); Berk, Jones (1979) for one level at every rank; Moscovich, Nadler (2017) for the
recursion.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainccinv, gammaln

from dpcore.core.domains import COUNT, SHARE
from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

    IntArray = NDArray[np.int64]

MOST_TRIALS = 10**7
TRIALS = COUNT.but(name="The number of trials", high=MOST_TRIALS)
_LEVEL = SHARE.but(name="The level of a limit", low=1e-12, low_open=False, high_open=True)
MOST_RANKS = 1500  # more ranks change the limits very little and take longer
_SINGLE = 40  # the rarest counts; all of them are ranks
_OUTWARD = 1.0 + 1e-9  # above the error of the quantile function
_NOTHING = 1e-18  # chances that are dropped; they count as misses
_SPREAD = 9.0  # standard deviations of a step of the process that are kept; the rest counts as misses
_DIRECT = 500_000  # products above which a transform convolves faster
_ENOUGH = 0.99  # share of the level that must be used
_ROUNDS = 12  # of the search for the level; fewer only give up some of it
_EVERY = 64  # ranks between two reports of progress


def upper_limits(errors: IntArray, trials: int, level: float) -> FloatArray:
    """Return the upper limit of the error rate of one test that was fixed beforehand, for each number of errors.

    Parameters
    ----------
    errors : ndarray of int
        Numbers of errors, from 0 to `trials`.
    trials : int
        Independent trials.
    level : float
        Probability in (0, 1) with which a limit may be below its rate.

    Returns
    -------
    ndarray of float
        One limit per number of errors.
    """
    _check(trials, level)
    ranks = np.asarray(errors, dtype=np.float64) + 1.0
    limit = betainccinv(np.minimum(ranks, trials), trials - np.minimum(ranks, trials) + 1.0, level)
    return np.asarray(np.where(ranks > trials, 1.0, np.minimum(1.0, limit * _OUTWARD)), dtype=np.float64)


def simultaneous_limits(errors: IntArray, trials: int, level: float) -> FloatArray:
    """Return upper limits of the error rates of thresholds that hold for all thresholds at once.

    Parameters are those of `upper_limits`. With many trials only some ranks are watched; a number of errors between two
    of them gets the limit of the next.
    """
    _check(trials, level)
    watched, limits = _watched(trials, level)
    place = np.searchsorted(watched, np.asarray(errors, dtype=np.int64) + 1)
    return np.append(limits, 1.0)[place]


@lru_cache(maxsize=64)
def _watched(trials: int, level: float) -> tuple[IntArray, FloatArray]:
    watched = ranks(trials)
    return watched, np.minimum(1.0, _quantiles(watched, trials, local_level(trials, level)) * _OUTWARD)


def _quantiles(watched: IntArray, trials: int, level: float) -> FloatArray:
    return np.asarray(betainccinv(watched, trials - watched + 1.0, level), dtype=np.float64)


def ranks(trials: int) -> IntArray:
    """Return the ranks that are watched: all, or about 1500, evenly spaced in standard deviations of their counts."""
    if trials <= MOST_RANKS:
        return np.arange(1, trials + 1, dtype=np.int64)
    places = trials * np.sin(np.linspace(0.0, math.pi / 2, MOST_RANKS)) ** 2
    ends = np.arange(1, _SINGLE + 1)
    every = np.concatenate((np.clip(np.rint(places), 1, trials), ends, trials + 1 - ends))
    return np.unique(every).astype(np.int64)


@lru_cache(maxsize=64)
def local_level(trials: int, level: float) -> float:
    """Return the level e of each limit with which all hold at once with probability 1 - `level` or a little more.

    For one trial it is `level` itself; for 1000 trials about a 47th of it, while a union bound over all thresholds would
    need a 1000th.
    """
    _check(trials, level)
    watched = ranks(trials)
    good, bad = 0.0, 1.0
    # thresholds err together: they count like about 2 log(n)^1.6 independent ones
    e = level / max(1.0, 2.1 * math.log(trials + 1) ** 1.6)
    for _ in range(_ROUNDS):
        missed = chance_of_a_miss(_quantiles(watched, trials, e), watched, trials)
        if missed <= level:
            good = e
            if missed >= _ENOUGH * level:
                break
        else:
            bad = e
        e *= (0.5 + 0.5 * _ENOUGH) * level / max(missed, 1e-3 * level)  # about proportional to e
        if not good < e < bad:
            e = math.sqrt(good * bad) if good else 0.5 * bad
    return good or level / trials  # the union bound always holds


def chance_of_a_miss(limits: FloatArray, watched: IntArray, trials: int) -> float:
    """Return the probability, or a little more, that a sorted uniform number U_(i) exceeds its limit at a watched rank i.

    Parameters
    ----------
    limits : ndarray of float
        Non-decreasing numbers in [0, 1], one for each rank.
    watched : ndarray of int
        Increasing ranks in 1..trials.
    trials : int
        How many uniform numbers there are.

    Returns
    -------
    float
        In [0, 1], never below the truth, up to rounding.
    """
    state, lowest, before = np.ones(1), 0, 0.0  # chances of N = lowest, lowest + 1, ... with no miss so far
    for index, (limit, rank) in enumerate(zip(limits.tolist(), watched.tolist(), strict=True)):
        if index % _EVERY == 0:
            checkpoint(index / watched.size)
        if limit > before:
            step, first = _poisson(trials * (limit - before))
            state, lowest, before = _convolved(state, step), lowest + first, limit
        state = state[max(0, rank - lowest) : max(0, trials - lowest + 1)]
        lowest = max(lowest, rank)
        alive = np.flatnonzero(state > _NOTHING)
        if not alive.size:
            return 1.0
        state = state[: alive[-1] + 1]
    rest = trials - lowest - np.arange(state.size)
    good = float(state @ _chances(rest, trials * (1.0 - before)))
    return min(1.0, max(0.0, 1.0 - good / float(_chances(np.array([trials]), float(trials))[0])))


def _convolved(state: FloatArray, step: FloatArray) -> FloatArray:
    if state.size * step.size <= _DIRECT:
        return np.convolve(state, step)
    size = state.size + step.size - 1
    width = 1 << (size - 1).bit_length()
    both = np.fft.rfft(state, width) * np.fft.rfft(step, width)
    return np.asarray(np.fft.irfft(both, width)[:size], dtype=np.float64)


def _poisson(mean: float) -> tuple[FloatArray, int]:
    """Return the chances of a Poisson number around its mean, and the smallest number among them."""
    reach = _SPREAD * math.sqrt(mean) + 25.0
    first = max(0, math.floor(mean - reach))
    return _chances(np.arange(first, math.ceil(mean + reach) + 1), mean), first


def _chances(numbers: IntArray, mean: float) -> FloatArray:
    if mean <= 0.0:
        return np.asarray(numbers == 0, dtype=np.float64)
    n = numbers.astype(np.float64)
    return np.asarray(np.where(n >= 0, np.exp(n * math.log(mean) - mean - gammaln(n + 1.0)), 0.0), dtype=np.float64)


def _check(trials: int, level: float) -> None:
    TRIALS.check(trials)
    _LEVEL.check(level)
