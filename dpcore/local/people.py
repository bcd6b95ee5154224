r"""How many people an analyst must ask to tell the two hypotheses apart.

A test of n independent answers may have false alarms (P0 true, rejected) with a rate of at most `alarm` and misses (P1
true, accepted) with a rate of at most `miss`. With :math:`Z_s=\sum_y M_0(y)^{1-s}M_1(y)^s`:

* enough (Chernoff): :math:`n\ge\min_{0<s<1}\frac{s\log(1/\text{miss})+(1-s)\log(1/\text{alarm})}{-\log Z_s}`, from
  :math:`\text{false alarms}\le e^{-s\tau}Z_s^n` and :math:`\text{misses}\le e^{(1-s)\tau}Z_s^n` for the threshold tau on the log likelihood ratio;
* least (data processing): :math:`n\,D(M_0\|M_1)\ge d(1-\text{alarm}\,\|\,\text{miss})`, the same with the roles
  exchanged, and :math:`1-\text{alarm}-\text{miss}\le\sqrt{1-Z_{1/2}^{2n}}`;
* Stein: :math:`n\approx\log(1/\text{miss})/D(M_0\|M_1)`, the leading term as misses go to 0.

References: Cover, Thomas (2006), chapter 11; Chernoff (1952); Le Cam (1986) for the last inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.registry import Parameter
from dpcore.local.measures import MEASURES
from dpcore.regions.guarantees import Pmf
from dpcore.words import grouped, of_100

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import FloatArray
    from dpcore.local.channels import Channel
    from dpcore.local.hypotheses import Hypotheses

MOST_COUNTED = 10**8  # people up to which the binomial test is searched
MOST_COMPOSED = 5_000  # people up to which other tests are searched on request
MOST_QUICK = 400  # people up to which tests of three answers are always searched: a few hundredths of a second
RATE = Parameter("rate", low=0.0, high=0.5, low_open=True, high_open=True)
_TILTS = np.linspace(0.005, 0.995, 199)  # every tilt gives a valid bound; a finer grid lowers it slightly
_COUNTING = 1e-10  # margin for the relative error of a binomial probability
_ROUNDING = 1e-9  # relative: bounds are moved outward by this before they are rounded to whole people


@dataclass(frozen=True)
class People:
    """The number of people, bounded from both sides.

    Attributes
    ----------
    least : float
        Fewer are not enough for any test (lower bound).
    enough : float
        This many are enough (upper bound).
    exact : float or None
        The smallest number that is enough, if both bounds agree; otherwise None.
    stein : float
        The leading term, an approximation. All are infinite if answers reveal nothing.
    """

    least: float
    enough: float
    exact: float | None
    stein: float


def people(
    channel: Channel, question: Hypotheses, alarm: float = 0.05, miss: float = 0.05, *, search: bool = False
) -> People:
    """Return how many answers decide between the hypotheses within these error rates.

    Parameters
    ----------
    channel : Channel
        How people answer.
    question : Hypotheses
        What is to be decided.
    alarm, miss : float, default 0.05
        Rates of false alarms and misses, each in (0, 1/2).
    search : bool, default False
        Narrow the bounds by composing n answers, up to 5000 people (seconds). Up to 400 people and three answers this is
        always done, and for channels of two answers the smallest number always follows from binomial distributions.

    Returns
    -------
    People
        Bounds from both sides.
    """
    first, second = channel.outputs(question)
    alarm = RATE.but(name="The rate of false alarms").check(alarm)
    miss = RATE.but(name="The rate of misses").check(miss)
    if MEASURES["tv"].between(first, second) <= 1e-15:
        return People(math.inf, math.inf, None, math.inf)
    least, enough = _least(first, second, alarm, miss), _enough(first, second, alarm, miss)
    if first.size == 2 and enough <= MOST_COUNTED:
        least, enough = _searched(lambda n: _binomial_misses(first, second, alarm, n), miss, (least, enough))
    elif enough <= (MOST_COMPOSED if search else MOST_QUICK if first.size <= 3 else 0):
        pair = Pmf(tuple(first.tolist()), tuple(second.tolist()))
        least, enough = _searched(lambda n: _composed_misses(pair, alarm, n), miss, (least, enough))
    exact = float(enough) if least == enough else None
    return People(float(least), float(enough), exact, -math.log(miss) / MEASURES["kl"].between(first, second))


def _rates(first: FloatArray, second: FloatArray) -> FloatArray:
    r"""Return -log Z_s at every tilt, from 1 - Z_s = sum of (1-s) M0 + s M1 - M0^(1-s) M1^s, all terms positive."""
    s = _TILTS[:, None]
    both = (first > 0) & (second > 0)
    disjoint = (1 - s) * first[~both] + s * second[~both]
    base = first[both]
    u = (second[both] - base) / base
    closed = s * u - np.expm1(s * np.log1p(u))
    series = s * (1 - s) * u**2 / 2 * (1 - (2 - s) * u / 3 * (1 - (3 - s) * u / 4 * (1 - (4 - s) * u / 5)))
    shared = base * np.where(np.abs(u) < 1e-4, series, closed)
    lost = np.minimum(disjoint.sum(axis=1) + shared.sum(axis=1), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-lost), dtype=np.float64)


def _enough(first: FloatArray, second: FloatArray, alarm: float, miss: float) -> int:
    rates = _rates(first, second)
    exponents = _TILTS * -math.log(miss) + (1 - _TILTS) * -math.log(alarm)
    usable = rates > 0
    least = float(np.min(exponents[usable] / rates[usable])) if usable.any() else math.inf
    return max(1, math.ceil(least * (1 + _ROUNDING)))


def _least(first: FloatArray, second: FloatArray, alarm: float, miss: float) -> int:
    forth, back = MEASURES["kl"].between(first, second), MEASURES["kl"].between(second, first)
    overlap = 1.0 - MEASURES["hellinger"].between(first, second)
    bounds = [_binary(alarm, miss) / forth, _binary(miss, alarm) / back]
    if 0 < overlap < 1:
        bounds.append(math.log1p(-((1 - alarm - miss) ** 2)) / (2 * math.log(overlap)))
    return max(1, math.ceil(max(bounds) * (1 - _ROUNDING)))


def _binary(one: float, other: float) -> float:
    """Return d(1 - one || other), the divergence of two coins."""
    return (1 - one) * (math.log1p(-one) - math.log(other)) + one * (math.log(one) - math.log1p(-other))


def _searched(misses: Callable[[int], tuple[float, float]], miss: float, ends: tuple[int, int]) -> tuple[int, int]:
    """Narrow (least, enough) by certified bounds on the misses of the best test of n answers, which fall with n."""
    least, enough = ends
    cache: dict[int, tuple[float, float]] = {}
    for side in (1, 0):  # first the fewest that are enough, then the most that are not
        low, high = least - 1, enough
        try:
            while high - low > 1:  # halves
                middle = (low + high) // 2
                checkpoint(0.5)
                cache[middle] = cache.get(middle) or misses(middle)
                low, high = (low, middle) if cache[middle][side] <= miss else (middle, high)
        except BudgetError:
            break
        enough, least = (high, least) if side else (enough, high)
    return least, enough


def _binomial_misses(first: FloatArray, second: FloatArray, alarm: float, n: int) -> tuple[float, float]:
    """Return the misses of the best test, which counts one of two answers and is randomised at its threshold."""
    answer = int(second[1] > first[1])  # the answer that favours P1
    p, q = float(first[answer]), float(second[answer])
    low, high = -1, n  # rejecting above `high` keeps the false alarms, rejecting above `low` does not
    while high - low > 1:  # halves
        middle = (low + high) // 2
        low, high = (low, middle) if _above(middle, n, p) <= alarm else (middle, high)
    at = _above(high - 1, n, p) - _above(high, n, p)
    share = min(1.0, (alarm - _above(high, n, p)) / at) if at > 0 else 0.0
    upto, before = _upto(high, n, q), _upto(high - 1, n, q)
    value = upto - share * (upto - before)
    return value * (1 - _COUNTING), value * (1 + _COUNTING)


def _above(k: int, n: int, p: float) -> float:
    """Return P(more than k of n); the incomplete beta function keeps 13 digits, which binomial sums lose."""
    return 1.0 if k < 0 else 0.0 if k >= n else float(betainc(k + 1, n - k, p))


def _upto(k: int, n: int, p: float) -> float:
    """Return P(at most k of n)."""
    return 0.0 if k < 0 else 1.0 if k >= n else float(betainc(n - k, k + 1, 1.0 - p))


def _composed_misses(pair: Pmf, alarm: float, n: int) -> tuple[float, float]:
    """Return the misses of the best test of n answers, from below and from above."""
    curve = pair.pair if n == 1 else (pair**n).pair
    low, high = curve.beta_bounds(np.array([alarm]))
    return float(low[0]), float(high[0])


def people_words(private: People, plain: People, *, alarm: float, miss: float) -> str:
    """Say how many people are needed, with and without privacy.

    Parameters
    ----------
    private, plain : People
        What `people` returns for the channel, and for the channel without privacy.
    alarm, miss : float
        Rates of false alarms and misses.

    Returns
    -------
    str
        Two sentences.
    """
    errors = f"with false alarms of at most {of_100(alarm)} and misses of at most {of_100(miss)}"
    if math.isinf(private.enough):
        return f"No number of people tells the hypotheses apart {errors}: the answers say nothing (exact)."
    if private.exact is not None:
        number = f"{grouped(int(private.exact))} people (exact: one fewer is not enough for any test)"
    else:
        number = f"at least {grouped(int(private.least))} (lower bound) and at most {grouped(int(private.enough))} people (upper bound)"
    open_ = "nothing" if math.isinf(plain.enough) else _range(plain)
    return (
        f"To tell the hypotheses apart {errors}, an analyst needs {number}; Stein's exponent says about "
        f"{grouped(math.ceil(private.stein))} (approximation). Without privacy it would be {open_}."
    )


def _range(number: People) -> str:
    if number.exact is not None:
        return f"{grouped(int(number.exact))} (exact)"
    return f"{grouped(int(number.least))} to {grouped(int(number.enough))} (bounds)"
