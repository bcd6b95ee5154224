r"""How far an answer moves when one record is substituted: on these data, near them, and on any data.

*Local* sensitivity is the largest move from the data to a neighbour, *global* the largest local one of any data, and
*smooth* sensitivity :math:`S_\beta(x)=\max_ye^{-\beta d(x,y)}\,\mathrm{local}(y)` lies between them:
its values on neighbours are within a factor :math:`e^\beta`, so noise may be scaled to it.

Mean, trimmed mean and quantile are means of the records of rank a to b. With :math:`x_i` the bounds for ranks outside 1..n and
:math:`l=b-a+1`, k further changes can open a window of l + k steps around these ranks, and one more moves the answer across it:

.. math:: S_\beta=\max_{i\le a,\ j\ge b,\ j-i\ge l}\frac{x_j-x_i}l\,e^{-\beta(j-i-l)}

For the median of an odd number this is the formula of Nissim, Raskhodnikova and Smith (2007), for a = 1 and b = n that of the mean.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpcore.core.domains import COUNT, REAL
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

BETA: Final = Parameter("beta", low=0.0, label="β", meaning="how fast the bound may change: by e^β per record")
TRIM: Final = Parameter(
    "trim",
    low=0.0,
    high=0.5,
    high_open=True,
    label="trim",
    meaning="share of records left out at each end",
    example=0.1,
)
LEVEL: Final = Parameter(
    "probability", low=0.0, high=1.0, low_open=True, high_open=True, label="p", meaning="which quantile", example=0.5
)


def records(values: Any, low: float, high: float, *, least: int = 1) -> FloatArray:
    """Return the records in ascending order; raise if they or the range are wrong."""
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        msg = f"The range must be two finite numbers, low below high, got {numeral(low)} and {numeral(high)}."
        raise DomainError(msg)
    return np.sort(REAL.but(name="values", low=low, high=high, fewest=least).array(values))


@dataclass(frozen=True)
class SensitiveQuery(ABC):
    """A query on n records in [low, high], given in ascending order."""

    name: ClassVar[str]
    fewest: ClassVar[int] = 1

    @property
    def label(self) -> str:
        """What tables and charts call it."""
        return self.name

    @abstractmethod
    def answer(self, x: FloatArray) -> float:
        """Return the answer on the records."""

    @abstractmethod
    def smooth(self, x: FloatArray, low: float, high: float, beta: float) -> float:
        """Return the smooth sensitivity; at beta 0 the global, at infinity the local one."""

    @abstractmethod
    def largest(self, n: int, low: float, high: float) -> float:
        """Return the global sensitivity of n records."""

    def local(self, x: FloatArray, low: float, high: float) -> float:
        """Return the local sensitivity."""
        return self.smooth(x, low, high, math.inf)

    def span(self, low: float, high: float) -> float:
        """Return the distance between the least and the largest answer."""
        return high - low

    def check(self, n: int) -> None:
        """Reject fewer records than the query needs."""
        COUNT.but(name="n").check(n)
        if n < self.fewest:
            msg = f"The {self.label} needs at least {self.fewest} records, got {n}."
            raise DomainError(msg)


# --- means of ranks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankMean(SensitiveQuery):
    """The mean of the records of rank a to b."""

    @abstractmethod
    def ranks(self, n: int) -> tuple[int, int]:
        """Return a and b, counted from 1."""

    def answer(self, x: FloatArray) -> float:
        """Return the mean of the records of rank a to b."""
        first, last = self.ranks(x.size)
        return float(x[first - 1 : last].mean())

    def smooth(self, x: FloatArray, low: float, high: float, beta: float) -> float:
        """Return the formula above; records far from the ranks are left out where they cannot matter."""
        self.check(x.size)
        return smooth_of_ranks(x, self.ranks(x.size), low, high, beta)

    def largest(self, n: int, low: float, high: float) -> float:
        """Return the range over the number of ranks."""
        self.check(n)
        first, last = self.ranks(n)
        return (high - low) / (last - first + 1)


@dataclass(frozen=True)
class MeanQuery(RankMean):
    """The mean."""

    name: ClassVar[str] = "mean"

    def ranks(self, n: int) -> tuple[int, int]:
        """All of them."""
        return 1, n


@dataclass(frozen=True)
class QuantileQuery(RankMean):
    """A quantile: the record of rank ⌈p n⌉, or the middle of the records p n and p n + 1 if p n is an integer."""

    probability: float = LEVEL.field(0.5)

    name: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        """Check the probability."""
        LEVEL.check(self.probability)

    @property
    def label(self) -> str:
        """What tables and charts call it."""
        return "median" if self.probability == 0.5 else f"{nearest(self.probability)}-quantile"

    def ranks(self, n: int) -> tuple[int, int]:
        """One rank, or two."""
        place = self.probability * n
        whole = round(place)
        if abs(place - whole) <= 1e-9 * max(1.0, place) and 1 <= whole < n:
            return whole, whole + 1
        rank = min(n, max(1, math.ceil(place - 1e-9)))
        return rank, rank


@dataclass(frozen=True)
class TrimmedMeanQuery(RankMean):
    """The mean without a share of the records at each end."""

    trim: float = TRIM.field(0.1)

    name: ClassVar[str] = "trimmed mean"

    def __post_init__(self) -> None:
        """Check the share."""
        TRIM.check(self.trim)

    @property
    def label(self) -> str:
        """What tables and charts call it."""
        return f"{nearest(self.trim)}-trimmed mean"

    def ranks(self, n: int) -> tuple[int, int]:
        """All but ⌊trim n⌋ at each end."""
        cut = min(math.floor(self.trim * n + 1e-9), (n - 1) // 2)
        return cut + 1, n - cut


def smooth_of_ranks(x: FloatArray, ranks: tuple[int, int], low: float, high: float, beta: float) -> float:
    """Return the smooth sensitivity of the mean of the records of rank a to b.

    The best j rises with i, so halving the i needs few steps. Of equal records only the one nearest to the ranks
    matters, and none farther away than a window whose discounted width cannot reach the largest one already known.

    Parameters
    ----------
    x : FloatArray
        Records in ascending order.
    ranks : tuple of (int, int)
        a and b, counted from 1.
    low, high : float
        The range.
    beta : float
        At least 0, or infinite for the local sensitivity.
    """
    first, last = ranks
    length = last - first + 1
    framed = np.concatenate(([low], x, [high]))
    local = max(float(framed[last + 1] - framed[first]), float(framed[last] - framed[first - 1]))
    if math.isinf(beta):
        return local / length
    rate = float(BETA.check(beta))
    rows, columns = _distinct(framed, first, last)
    best = max(local, _best(framed, rows, columns[-1:], length, rate), _best(framed, rows[:1], columns, length, rate))
    reach = math.log((high - low) / best) / rate if rate > 0 and best > 0 else math.inf
    rows, columns = rows[rows >= first - 1 - reach], columns[columns <= last + 1 + reach]
    todo = [(0, rows.size - 1, 0, columns.size - 1)]
    while todo:  # every row is the middle one once
        top, bottom, left, right = todo.pop()
        checkpoint(0.5)
        row = (top + bottom) // 2
        here = columns[left : right + 1]
        steps = np.maximum(here - rows[row] - length, 0)
        size = (framed[here] - framed[rows[row]]) * np.exp(-rate * steps)
        place = int(np.argmax(size))
        best = max(best, float(size[place]))
        if top < row:
            todo.append((top, row - 1, left, left + place))
        if row < bottom:
            todo.append((row + 1, bottom, left + place, right))
    return best / length


def _distinct(framed: FloatArray, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, in ascending order, the last place of every value up to rank a and the first one of every value from rank b on."""
    lower, upper = framed[: first + 1], framed[last:]
    rows = np.flatnonzero(np.append(np.diff(lower) > 0, True))
    columns = last + np.flatnonzero(np.concatenate(([True], np.diff(upper) > 0)))
    return rows, columns


def _best(framed: FloatArray, rows: NDArray[np.int64], columns: NDArray[np.int64], length: int, rate: float) -> float:
    """Return the largest discounted width of some windows, of which one end is given."""
    steps = np.maximum(columns - rows - length, 0)
    return float(np.max((framed[columns] - framed[rows]) * np.exp(-rate * steps)))


# --- the variance -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VarianceQuery(SensitiveQuery):
    r"""The variance with divisor n - 1.

    With m the mean of the other records, moving a record from x to y changes it by :math:`|(x-m)^2-(y-m)^2|/n`. After k further
    changes the largest such number has the k largest (or smallest) records at the other end of the range and is one of

    - :math:`(x_{(n)}-m)^2`, the largest record against its mean, k others changed;
    - :math:`(high-m)^2`, one of the k changed records at the end of the range;
    - :math:`(high-m)^2-(x_j-m)^2`, a record moved to the end of the range, k others changed.
    """

    name: ClassVar[str] = "variance"
    fewest: ClassVar[int] = 2

    def answer(self, x: FloatArray) -> float:
        """Return the variance."""
        return float(x.var(ddof=1))

    def largest(self, n: int, low: float, high: float) -> float:
        """Return the squared range over n."""
        self.check(n)
        return (high - low) ** 2 / n

    def span(self, low: float, high: float) -> float:
        """Return the largest variance of two or more records."""
        return (high - low) ** 2 / 2

    def smooth(self, x: FloatArray, low: float, high: float, beta: float) -> float:
        """Return the largest discounted change, over all numbers k of further changes."""
        self.check(x.size)
        off = x - low
        sides = (off, (high - low) - off[::-1])
        whole = (high - low) ** 2 / x.size
        rate = math.inf if math.isinf(beta) else float(BETA.check(beta))
        best = max(float(_changes(side, high - low, 0, 1)[0]) for side in sides) / x.size
        if math.isinf(rate):
            return best
        done, step = 1, 64
        while done <= x.size and whole * math.exp(-rate * done) > best:  # twice as many records each round
            checkpoint(done / x.size)
            stop = min(done + step, x.size + 1)
            discount = np.exp(-rate * np.arange(done, stop)) / x.size
            best = max(best, *(float(np.max(discount * _changes(side, high - low, done, stop))) for side in sides))
            done, step = stop, 2 * step
        return best


def _changes(x: FloatArray, width: float, start: int, stop: int) -> FloatArray:
    """Return n times the largest change after k = start, ..., stop - 1 changes that move the mean of others towards 0.

    Records are in [0, width], in ascending order.
    """
    n, total = x.size, float(x.sum())
    k = np.arange(start, stop)
    top = np.concatenate(([0.0], np.cumsum(x[::-1])))  # sums of the largest
    some, more = top[np.minimum(k, n)], top[np.minimum(k + 1, n)]
    mean_changed = (total - some) / (n - 1)  # k - 1 others at 0, one at the end of the range
    mean_kept = (total - more) / (n - 1)  # k others at 0, one more taken out
    best = np.where(k > 0, (width - mean_changed) ** 2, 0.0)
    use = k < n
    best = np.maximum(best, np.where(use, (x[-1] - mean_kept) ** 2, 0.0))
    # a record of rank n - k or higher moved to the end: the nearest to the mean is the one of rank n - k
    lone = x[np.maximum(n - 1 - k, 0)]
    best = np.maximum(best, np.where(use, (width - mean_kept) ** 2 - (lone - mean_kept) ** 2, 0.0))
    # a record below that rank: (width - x)(width + x - 2 m), m = (c - x)/(n - 1), is concave in x
    c = total - some
    vertex = (c + width) / (n + 1)
    place = np.searchsorted(x, vertex)
    for shift in (-1, 0):
        at = np.clip(place + shift, 0, np.maximum(n - 1 - k, 0))
        mean = (c - x[at]) / (n - 1)
        best = np.maximum(best, np.where(use, (width - mean) ** 2 - (x[at] - mean) ** 2, 0.0))
    return np.asarray(best, dtype=np.float64)
