"""The plan of a private interval: what is released, with how much noise, and what the interval then covers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.domains import COUNT, DELTA, EPSILON, REAL
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.mechanisms.gaussian import largest_mu
from dpcore.planner.interval.laws import LEVEL, NoiseLaw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

GROUPS = 4096
"""Distinct values that resampling keeps apart; if there are more, neighbouring ones are replaced by their mean."""

_AT_ONCE = 2_000_000  # counts held at a time
_EPSILON = EPSILON.but(low_open=True, infinite=False, high=1e4)
_BOUND = REAL.but(low=-1e12, high=1e12)


@dataclass(frozen=True, slots=True)
class PrivateInterval:
    """Two ends and the estimate between them."""

    low: float
    high: float
    estimate: float


@dataclass(frozen=True, slots=True)
class ResampledCoverage:
    """How many simulated intervals contained the truth; each one uses a fresh sample of the data and fresh noise.

    Attributes
    ----------
    covered, releases : int
        Intervals that contained the truth, and how many there were.
    width : float
        Their mean width.
    low, high : FloatArray
        Ends of the first intervals, for a picture.
    """

    covered: int
    releases: int
    width: float
    low: FloatArray
    high: FloatArray

    @property
    def share(self) -> float:
        """Share of intervals that contained the truth."""
        return self.covered / self.releases

    @property
    def error(self) -> float:
        """Standard error of the share, with one extra outcome of each kind so that 0 and 1 are not certain."""
        smooth = (self.covered + 1) / (self.releases + 2)
        return math.sqrt(smooth * (1 - smooth) / self.releases)


@dataclass(frozen=True)
class IntervalPlan(ABC):
    """A plan for n records between two public bounds; neighbours substitute one record, so n is public.

    Parameters
    ----------
    n : int
        Number of records.
    lower, upper : float
        Public bounds; values outside are moved to the nearer one.
    epsilon, delta : float
        Budget for everything that is released for the interval. Laplace noise does not use delta.
    level : float, default 0.95
        Share of intervals that should contain the truth.
    noise : str, default "gaussian"
        ``gaussian`` (calibrated exactly) or ``laplace``.
    """

    n: int
    lower: float
    upper: float
    epsilon: float
    delta: float = 0.0
    level: float = 0.95
    noise: str = "gaussian"

    name: ClassVar[str]
    fewest: ClassVar[int] = 2
    assumes: ClassVar[str]
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        """Check the parameters."""
        COUNT.but(name="n").check(self.n)
        if self.n < self.fewest:
            msg = f"A private interval for the {self.name} needs at least {self.fewest} records, got {self.n}."
            raise DomainError(msg)
        for name in ("lower", "upper"):
            _BOUND.but(name=name).check(getattr(self, name))
        if not self.lower < self.upper:
            msg = f"lower must be below upper, got {numeral(self.lower)} and {numeral(self.upper)}."
            raise DomainError(msg)
        _EPSILON.check(self.epsilon)
        DELTA.but(high_open=True).check(self.delta)
        LEVEL.check(self.level)
        if self.law.noise == "gaussian" and self.delta == 0:
            msg = "Gaussian noise needs a delta above 0, got 0; Laplace noise needs none."
            raise DomainError(msg)

    @property
    def width(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower

    @Lazy
    def law(self) -> NoiseLaw:
        """Law of the noise."""
        return NoiseLaw(self.noise)

    @Lazy
    def strength(self) -> float:
        """What all releases together may use: the mu of the budget for Gaussian noise, epsilon for Laplace noise."""
        return largest_mu(self.epsilon, self.delta) if self.noise == "gaussian" else self.epsilon

    @property
    def ends(self) -> tuple[float, float]:
        """Least and largest value that the statistic can have."""
        return self.lower, self.upper

    @property
    @abstractmethod
    def region(self) -> TradeOff:
        """Exact region of all that is released."""

    @property
    @abstractmethod
    def covers(self) -> str:
        """What the interval is about, in words."""

    @abstractmethod
    def parts(self) -> dict[str, float]:
        """Return how the budget is used: name of a number -> number."""

    @abstractmethod
    def truth(self, values: FloatArray, counts: FloatArray | None = None) -> float:
        """Return the statistic of records within the bounds; `counts` says how often each occurs."""

    @abstractmethod
    def release(self, values: FloatArray, rng: Generator) -> PrivateInterval:
        """Return one interval of these records, with fresh noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """

    def typical(self, values: FloatArray) -> tuple[float, float, float]:
        """Return half-widths on these data: of the interval, of the sampling error alone, of the noise alone."""
        return self.reaches(self.summary(values))

    @abstractmethod
    def summary(self, values: FloatArray) -> FloatArray:
        """Return what the half-widths need to know about the data, for plans of any size and budget."""

    @abstractmethod
    def reaches(self, summary: FloatArray) -> tuple[float, float, float]:
        """Return the half-widths of `typical` on data with this summary."""

    @abstractmethod
    def simulate(
        self, values: FloatArray, counts: FloatArray, truth: float, rng: Generator
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """Return, for resampled data, whether each interval contains the truth, and both ends.

        Parameters
        ----------
        values : FloatArray
            Distinct records in ascending order.
        counts : FloatArray
            Shape (resamples, values): how often each occurs in each resample.
        truth : float
            The statistic of the data that were resampled.
        rng : Generator
            Source of the noise.
        """

    def coverage(self, values: FloatArray, rng: Generator, releases: int = 2000, kept: int = 100) -> ResampledCoverage:
        """Return how many intervals of resampled data contain the statistic of the data: a simulation.

        Every resample draws n records with replacement from the data, which stand in for the population.

        Parameters
        ----------
        values : FloatArray
            The records, within the bounds.
        rng : Generator
            Source of resamples and noise.
        releases : int, default 2000
            How many intervals.
        kept : int, default 100
            How many intervals to return with their ends.
        """
        distinct, counts = groups(values)
        truth = self.truth(distinct, counts)
        shares = counts / counts.sum()
        hits, lows, highs = [], [], []
        for rows in chunks(releases, distinct.size):
            drawn = rng.multinomial(self.n, shares, rows).astype(np.float64)
            inside, low, high = self.simulate(distinct, drawn, truth, rng)
            hits.append(inside)
            lows.append(low)
            highs.append(high)
        low, high = np.concatenate(lows), np.concatenate(highs)
        return ResampledCoverage(
            int(np.concatenate(hits).sum()), releases, float((high - low).mean()), low[:kept], high[:kept]
        )


def groups(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return distinct values, ascending, and how often each occurs; beyond `GROUPS`, neighbours become their mean."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= GROUPS:
        return distinct, counts.astype(np.float64)
    cut = np.linspace(0, values.size, GROUPS + 1).astype(np.int64)
    ordered, sizes = np.sort(values), np.diff(cut).astype(np.float64)
    return np.add.reduceat(ordered, cut[:-1]) / sizes, sizes


def chunks(releases: int, size: int) -> Iterator[int]:
    """Yield how many resamples to make at a time, so that their counts fit in memory."""
    most, done = max(1, _AT_ONCE // size), 0
    while done < releases:  # a release more each round, at least
        checkpoint(done / releases)
        rows = min(most, releases - done)
        yield rows
        done += rows


def clipped_words(lower: float, upper: float) -> str:
    """Return what a statistic describes if values were moved to the bounds."""
    return f"values moved into [{nearest(lower)}, {nearest(upper)}]"
