"""The law of a noise: its density or masses, tails, quantiles, moments, edges and draws.

A mechanism describes its noise by one `Law`, which serves every picture, test, simulation and comparison. A new one needs
two methods: `density` and `above`; everything else follows from them and may be overridden by a closed form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

    Draws = FloatArray | NDArray[np.int64]

_HALVINGS = 2200  # more than there are powers of two among the doubles
_ROUNDS = 200  # enough halvings to exhaust the doubles between two numbers of similar size
_GAUSS = np.polynomial.legendre.leggauss(16)  # exact for polynomials of degree 31 on each panel
_RARE = 1e-18  # mass of each tail left out of a moment; exponential tails lose some 1e-15 of the variance
_PANELS = 400  # of a moment: one is about a fifth of the scale of exponential tails, where 16 nodes leave only rounding
_MOST_MASSES = 10**6  # integers that a moment sums over: arrays of 8 MB
_FARTHEST = (
    -705.0
)  # logarithm of the smallest rate in the table of an inverse: 7e-307, the smallest doubles with all digits
_NODES = 1024  # neighbouring rates of the table differ by less than a factor of 2, from where Newton converges
_NEWTON = 6  # steps: five leave rounding only, one to spare
_EQUAL = 1e-12  # relative rounding of masses whose ratio is compared


class Law(ABC):
    """The law of a real or integer random number N, such as a noise or a noisy answer.

    Attributes
    ----------
    integer : bool, default False
        Whether N takes integers only; then `density` is the probability of an integer.
    symmetric : bool, default True
        Whether N and 2 `centre` - N have the same law.
    log_concave : bool, default False
        Whether the logarithm of the density is concave; then the likelihood ratio of N + d and N rises, and a
        threshold is the best test between them.
    low, high : float
        The smallest and the largest value, infinite where there is none.
    centre : float, default 0
        A typical value (the median of a symmetric law), where searches start and which pictures include.
    rounding : float, default 4
        Relative error of the masses of integer noise, in units of 2^-53.
    """

    integer: bool = False
    symmetric: bool = True
    log_concave: bool = False
    low: float = -math.inf
    high: float = math.inf
    centre: float = 0.0
    rounding: float = 4.0

    @abstractmethod
    def density(self, x: FloatArray) -> FloatArray:
        """Return the density at x; for integer noise the probability of the integer x."""

    @abstractmethod
    def above(self, x: FloatArray) -> FloatArray:
        """Return P(N > x), with full relative precision where it is small."""

    def below(self, x: FloatArray) -> FloatArray:
        """Return P(N <= x); for symmetric noise the upper tail at the mirrored place, with the same precision."""
        x = np.asarray(x, dtype=np.float64)
        if not self.symmetric:
            return np.asarray(1.0 - self.above(x), dtype=np.float64)
        mirrored = 2 * self.centre - x
        return self.above(np.ceil(mirrored) - 1.0 if self.integer else mirrored)

    def quantile(self, rate: FloatArray) -> FloatArray:
        """Return the smallest x with P(N > x) <= rate, by doubling and halving; the ends at rates of 0 and 1."""
        rate = np.asarray(rate, dtype=np.float64)
        value = np.where(rate >= 1.0, -np.inf, self.high)
        inner = (rate > 0.0) & (rate < 1.0)
        if inner.any():
            value[inner] = self._search(rate[inner])
        return np.asarray(value, dtype=np.float64)

    def lower_quantile(self, rate: FloatArray) -> FloatArray:
        """Return the largest x with P(N < x) <= rate, even for tiny rates: F^-1(rate) of real noise."""
        return 2 * self.centre - self.quantile(rate) if self.symmetric else -Mirrored(self).quantile(rate)

    def _search(self, rate: FloatArray) -> FloatArray:
        step, low = np.ones(rate.shape), np.full(rate.shape, self.centre)
        high = low
        while (more := (self._tail(high) > rate) & np.isfinite(high)).any():  # steps double until they are infinite
            low, high, step = (
                np.where(more, high, low),
                np.where(more, high + step, high),
                np.where(more, 2 * step, step),
            )
        while (more := (self._tail(low) <= rate) & np.isfinite(low)).any():  # steps double until they are infinite
            low, high, step = np.where(more, low - step, low), np.where(more, low, high), np.where(more, 2 * step, step)
        for _ in range(_HALVINGS):
            middle = low + 0.5 * (high - low)
            if not ((middle != low) & (middle != high) & np.isfinite(middle)).any():
                break
            inside = self._tail(middle) <= rate
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        return np.asarray(high, dtype=np.float64)

    def _tail(self, x: FloatArray) -> FloatArray:
        """Return P(N > x), for infinite x as well."""
        finite = np.isfinite(x)
        return np.where(finite, self.above(np.where(finite, x, self.centre)), np.where(x > 0, 0.0, 1.0))

    def edges(self, low: float, high: float) -> FloatArray:  # noqa: ARG002  infinitely many steps are cut to the two
        """Return where the density jumps, at least between `low` and `high`: the finite ends by default."""
        return np.array([end for end in (self.low, self.high) if math.isfinite(end)])

    # ---- moments -----------------------------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """E N: the centre of a symmetric law."""
        return self.centre if self.symmetric else self._moment(lambda x: x)

    @property
    def variance(self) -> float:
        """E (N - E N)^2, by a sum or a quadrature unless overridden by a closed form."""
        mean = self.mean
        return self._moment(lambda x: (x - mean) ** 2)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    @property
    def absolute_deviation(self) -> float:
        """E |N|, by a sum or a quadrature unless overridden by a closed form."""
        return self._moment(np.abs)

    def _moment(self, function: Callable[[FloatArray], FloatArray]) -> float:
        """Return E function(N) over all but the rarest values."""
        rare = np.array([_RARE])
        low, high = float(self.lower_quantile(rare)[0]), float(self.quantile(rare)[0])
        if self.integer:
            if high - low > _MOST_MASSES:
                msg = f"The moments of noise on more than {_MOST_MASSES} integers are not summed; it needs a formula."
                raise DomainError(msg)
            x = np.arange(math.floor(low), math.ceil(high) + 1.0)
            return float(self.density(x) @ function(x))
        cuts = self.edges(low, high)
        inner = np.concatenate((np.linspace(low, high, _PANELS + 1), cuts[(cuts > low) & (cuts < high)], [self.centre]))
        ends = np.unique(inner)
        half, node = 0.5 * np.diff(ends)[:, None], _GAUSS[0]
        x = (ends[:-1, None] + half) + half * node
        return float(np.sum(half * self.density(x.ravel()).reshape(x.shape) * function(x) * _GAUSS[1]))

    def reach(self, miss: float) -> float:
        """Return the least t, up to rounding, with P(|N| > t) <= miss in (0, 1)."""
        low, high = 0.0, 1.0
        while self._beyond(high) > miss:  # doubles; nothing lies beyond infinity
            low, high = high, 2 * high
        return least(lambda t: self._beyond(t) <= miss, low, high)

    def _beyond(self, t: float) -> float:
        above = float(self.above(np.array([t]))[0])
        if self.symmetric and self.centre == 0.0:
            return 2.0 * above
        return above + float(self.below(np.array([math.ceil(-t) - 1.0 if self.integer else -t]))[0])

    # ---- draws and relatives ---------------------------------------------------------------------------------

    def sample(self, rng: Generator, size: int) -> Draws:
        """Return draws: the quantiles of uniform numbers.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        draws = self.quantile(np.maximum(rng.random(size), 2.0**-54))
        return np.asarray(np.rint(draws), dtype=np.int64) if self.integer else draws

    def moved(self, by: float) -> Law:
        """Return the law of N + by."""
        return Moved(self, float(by)) if by else self

    def scaled(self, factor: float) -> Law:
        """Return the law of `factor` N, factor > 0; for integers only 1."""
        if factor == 1.0:
            return self
        if self.integer:
            msg = f"Integer noise cannot be scaled by {numeral(factor)}."
            raise DomainError(msg)
        return Scaled(self, float(factor))


class Moved(Law):
    """A law moved along the axis."""

    def __init__(self, law: Law, by: float) -> None:
        self.law, self.by = law, by
        self.integer, self.symmetric, self.log_concave = law.integer, law.symmetric, law.log_concave
        self.low, self.high, self.centre = law.low + by, law.high + by, law.centre + by

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density of the noise at x - by."""
        return self.law.density(np.asarray(x, dtype=np.float64) - self.by)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the upper tail of the noise at x - by."""
        return self.law.above(np.asarray(x, dtype=np.float64) - self.by)

    def below(self, x: FloatArray) -> FloatArray:
        """Return the lower tail of the noise at x - by."""
        return self.law.below(np.asarray(x, dtype=np.float64) - self.by)

    def edges(self, low: float, high: float) -> FloatArray:
        """Return those of the noise, moved."""
        return self.law.edges(low - self.by, high - self.by) + self.by

    @property
    def mean(self) -> float:
        """That of the noise, moved."""
        return self.law.mean + self.by

    @property
    def variance(self) -> float:
        """That of the noise."""
        return self.law.variance

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise, moved."""
        return np.asarray(self.by + self.law.sample(rng, size), dtype=np.float64)


class Mirrored(Law):
    """The law of -N."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.low, self.high, self.centre = -law.high, -law.low, -law.centre
        self.integer, self.symmetric, self.log_concave = law.integer, law.symmetric, law.log_concave

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density at -x."""
        return self.law.density(-np.asarray(x, dtype=np.float64))

    def above(self, x: FloatArray) -> FloatArray:
        """Return the lower tail at -x, without -x itself."""
        place = -np.asarray(x, dtype=np.float64)
        return self.law.below(np.ceil(place) - 1.0 if self.integer else place)


class Scaled(Law):
    """A law stretched around 0."""

    def __init__(self, law: Law, factor: float) -> None:
        self.law, self.factor = law, factor
        self.symmetric, self.log_concave = law.symmetric, law.log_concave
        self.low, self.high, self.centre = factor * law.low, factor * law.high, factor * law.centre

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density at x / factor, over the factor."""
        return np.asarray(
            self.law.density(np.asarray(x, dtype=np.float64) / self.factor) / self.factor, dtype=np.float64
        )

    def above(self, x: FloatArray) -> FloatArray:
        """Return the upper tail at x / factor."""
        return self.law.above(np.asarray(x, dtype=np.float64) / self.factor)

    def below(self, x: FloatArray) -> FloatArray:
        """Return the lower tail at x / factor."""
        return self.law.below(np.asarray(x, dtype=np.float64) / self.factor)

    def edges(self, low: float, high: float) -> FloatArray:
        """Return those of the noise, stretched."""
        return self.factor * self.law.edges(low / self.factor, high / self.factor)

    @property
    def mean(self) -> float:
        """That of the noise, stretched."""
        return self.factor * self.law.mean

    @property
    def variance(self) -> float:
        """That of the noise times the square of the factor."""
        return self.factor**2 * self.law.variance

    @property
    def absolute_deviation(self) -> float:
        """That of the noise, stretched."""
        return self.factor * self.law.absolute_deviation

    @property
    def deviation(self) -> float:
        """That of the noise, stretched."""
        return self.factor * self.law.deviation

    def reach(self, miss: float) -> float:
        """Return that of the noise, stretched."""
        return self.factor * self.law.reach(miss)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise, stretched."""
        return np.asarray(self.factor * self.law.sample(rng, size), dtype=np.float64)


class Masses(Law):
    """An integer law with finitely many values: `masses` are the probabilities of `first`, `first` + 1 and so on.

    They are divided by their sum unless that is 1 up to rounding. Tails are sums from their own end, so that small ones
    keep their digits. Symmetry and log-concavity follow from the masses.
    """

    integer = True

    def __init__(self, first: int, masses: FloatArray) -> None:
        p = np.asarray(masses, dtype=np.float64)
        if p.ndim != 1 or not p.size or not np.all(np.isfinite(p) & (p >= 0)) or not p.sum() > 0:
            msg = f"masses must be a flat list of numbers from 0 upwards with a positive sum, got shape {p.shape}."
            raise DomainError(msg)
        support = np.flatnonzero(p)  # values at the ends that never occur are left out
        self.first = int(first) + int(support[0])
        total = math.fsum(p)
        p = p[support[0] : support[-1] + 1]
        self.masses = p = p if abs(total - 1.0) <= _EQUAL else p / total
        self.low, self.high = float(self.first), float(self.first + p.size - 1)
        self.symmetric = bool(np.allclose(p, p[::-1], rtol=_EQUAL, atol=0.0))
        self.centre = (self.low + self.high) / 2 if self.symmetric else float(self.first + int(np.argmax(p)))
        self.log_concave = bool(np.all(p > 0) and np.all(p[1:-1] ** 2 >= p[:-2] * p[2:] * (1.0 - _EQUAL)))
        self._from_above = np.append(np.cumsum(p[::-1])[::-1], 0.0)
        self._from_below = np.append(0.0, np.cumsum(p))

    def _place(self, x: FloatArray) -> NDArray[np.int64]:
        """Return how many values are at most x."""
        count = np.floor(np.asarray(x, dtype=np.float64)) - self.first + 1.0
        return np.clip(count, 0, self.masses.size).astype(np.int64)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the probability of the integer x, 0 elsewhere."""
        x = np.asarray(x, dtype=np.float64)
        place = np.clip(x - self.first, 0, self.masses.size - 1).astype(np.int64)
        return np.where(place + self.first == x, self.masses[place], 0.0)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the sum of the masses above x."""
        return np.asarray(np.minimum(self._from_above[self._place(x)], 1.0), dtype=np.float64)

    def below(self, x: FloatArray) -> FloatArray:
        """Return the sum of the masses up to x."""
        return np.asarray(np.minimum(self._from_below[self._place(x)], 1.0), dtype=np.float64)

    @property
    def mean(self) -> float:
        """The sum of values times masses."""
        return self._moment(lambda x: x)

    def _moment(self, function: Callable[[FloatArray], FloatArray]) -> float:
        x = np.arange(self.masses.size, dtype=np.float64) + self.first
        return float(np.sum(self.masses * function(x)))

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return draws of the values.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        cumulative = self._from_below[1:-1]
        return np.asarray(self.first + np.searchsorted(cumulative, rng.random(size), side="right"), dtype=np.int64)


class Inverse:
    """F^-1 of a symmetric real law without a closed form, for the many calls of a region: a table, then Newton on log F.

    Every step stays between two places of the table, and log F of a log-concave law is concave, so five steps leave only
    rounding; the caller checks the result against F.
    """

    def __init__(self, law: Law) -> None:
        self.law = law
        self._rates = np.linspace(_FARTHEST, math.log(0.5), _NODES)
        self._places = law.lower_quantile(np.exp(self._rates))

    def __call__(self, rate: FloatArray) -> FloatArray:
        """Return F^-1(rate), from the smaller of rate and 1 - rate."""
        rate = np.asarray(rate, dtype=np.float64)
        upper = rate > 0.5
        place = self._lower(np.where(upper, 1.0 - rate, rate))
        return np.asarray(np.where(upper, 2 * self.law.centre - place, place), dtype=np.float64)

    def _lower(self, rate: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            goal = np.log(rate)
            after = np.clip(np.searchsorted(self._rates, goal), 1, _NODES - 1)
            low, high = self._places[after - 1], self._places[after]
            x = np.interp(goal, self._rates, self._places)
            for _ in range(_NEWTON):
                below = self.law.below(x)
                step = (goal - np.log(below)) * below / self.law.density(x)
                x = np.clip(np.where(np.isfinite(step), x + step, x), low, high)
        beyond = goal < _FARTHEST
        if beyond.any():
            x[beyond] = self.law.lower_quantile(rate[beyond])
        return np.asarray(x, dtype=np.float64)


def least(condition: Callable[[float], bool], low: float, high: float) -> float:
    """Return the upper end of a bisection: a place where the condition holds, next to one where it does not."""
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high
