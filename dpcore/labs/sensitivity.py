r"""How far an answer moves when one record changes: local and global sensitivities, as printed and as they are.

The source defines neighbours by substitution (Hamming distance 1) and then computes with removal, once keeping the
divisor n. Here the relation is named: ``substitute`` (one record takes any other value of the range) or ``remove`` (one
record is left out and the query is answered from the n - 1 others).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import Choice
from dpcore.planner.sensitivity.queries import MeanQuery, QuantileQuery, SensitiveQuery, VarianceQuery, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpcore.core.registry import Parameter

    FloatArray = NDArray[np.float64]

QUERIES: Final = ("mean", "median", "variance", "identity")
NEIGHBOURS: Final = ("substitute", "remove")
_SUBSTITUTED: Final[dict[str, SensitiveQuery]] = {
    "mean": MeanQuery(),
    "median": QuantileQuery(0.5),
    "variance": VarianceQuery(),
}
_QUERY = Choice("query", "text", choices=QUERIES)
_NEIGHBOUR = Choice("neighbour", "text", choices=NEIGHBOURS)


def within(parameter: Parameter, value: float) -> float:
    """Return the value as a float, or say which ones the parameter allows."""
    return float(parameter.check(value))


def odd(x: FloatArray) -> int:
    """Return the place of the median among an odd number of records, counted from 1; refuse an even number."""
    if x.size % 2 == 0:
        msg = f"The median needs an odd number of records, got {x.size}."
        raise DomainError(msg)
    return (x.size + 1) // 2


def others_mean(x: FloatArray) -> FloatArray:
    """Return, for every record, the mean of the other ones."""
    return np.asarray((x.sum() - x) / (x.size - 1), dtype=np.float64)


def local(query: str, values: Any, low: float, high: float, neighbour: str = "substitute") -> float:
    r"""Return the local sensitivity: how far one change of one record can move the answer on these data.

    With m_j the mean of the other records and [low, high] the range, under substitution

    - mean: :math:`\frac1n\max_j\max(x_j-low,\ high-x_j)`;
    - median (n odd): the larger of the two gaps beside the median;
    - variance (divisor n - 1): :math:`\frac1n\max_j\max_y|(x_j-m_j)^2-(y-m_j)^2|`;
    - identity: :math:`\max_j\max(x_j-low,\ high-x_j)`.

    Under removal the mean moves by :math:`|x_j-\bar x|/(n-1)`, the median of the even rest is the middle of its two
    middle records, and the variance of the rest has the divisor n - 2; the identity has no removal, since the answers
    differ in length.

    Parameters
    ----------
    query : str
        Mean, median, variance or identity.
    values : object
        The records, all in [low, high]; at least 3 for removal.
    neighbour : str, default "substitute"
        Substitute or remove.

    References
    ----------
    Definition 2.1.1 of the source; the variance by :math:`(n-1)S^2=SS_{-j}+\frac{n-1}n(x_j-m_j)^2`.
    """
    _QUERY.check(query)
    if _NEIGHBOUR.check(neighbour) == "remove":
        return _removed(query, records(values, low, high, least=3))
    x = records(values, low, high, least=2 if query == "variance" else 1)
    if query == "identity":
        return float(np.maximum(x - low, high - x).max())
    if query == "median":
        odd(x)
    return _SUBSTITUTED[query].local(x, low, high)


def _removed(query: str, x: FloatArray) -> float:
    if query == "identity":
        msg = "The identity has no removal: the answers differ in length; choose substitute."
        raise DomainError(msg)
    n = x.size
    if query == "mean":
        return float(np.abs(x - x.mean()).max() / (n - 1))
    if query == "variance":
        now, off = float(x.var(ddof=1)), (x - others_mean(x)) ** 2
        without = ((n - 1) * now - (n - 1) / n * off) / (n - 2)
        return float(np.abs(now - without).max())
    odd(x)  # below, at and above the median: nothing else matters
    return max(abs(float(np.median(x) - np.median(np.delete(x, j)))) for j in (0, n // 2, n - 1))


def largest(query: str, n: int, low: float, high: float, neighbour: str = "substitute") -> float:
    r"""Return the global sensitivity: the largest local one over all data of n records in [low, high].

    With w = high - low: mean w/n, median w (n odd), variance :math:`w^2/n`, identity w. Under removal mean and variance
    keep theirs; the median moves by at most w/2, since the rest has an even number and its median lies in the middle.
    """
    _QUERY.check(query)
    width = high - low
    COUNT.but(name="n").check(n)
    if not width > 0:
        msg = f"low must be below high, got {numeral(low)} and {numeral(high)}."
        raise DomainError(msg)
    if _NEIGHBOUR.check(neighbour) == "remove" and query == "identity":
        return _removed(query, np.zeros(3))
    half = 0.5 if neighbour == "remove" else 1.0
    return {"mean": width / n, "median": half * width, "variance": width**2 / n, "identity": width}[query]


# --- as printed ----------------------------------------------------------------------------------------------------


def printed_local_mean(values: Any) -> float:
    """Return max |x_j| / n, Example 2.1.3 as printed: a record leaves, the divisor stays; it depends on where 0 is."""
    x = np.asarray(values, dtype=np.float64)
    return float(np.abs(x).max() / x.size)


def printed_global_mean(n: int, low: float, high: float) -> float:
    """Return max(|low|, |high|) / n, Example 2.1.3 as printed for the range [low, high]."""
    return max(abs(low), abs(high)) / n


def printed_local_variance(values: Any) -> float:
    r"""Return :math:`\max_j\{x_j^2(1-1/n)-2x_j\bar x_{-j}\}/(n-1)`, Example 2.1.4 as printed.

    There :math:`\bar x_{-j}` is the sum of the others over n, and the term :math:`+\bar x_{-j}^2/(n-1)` is lost, so
    that the value depends on where 0 is and can be negative.
    """
    x = np.asarray(values, dtype=np.float64)
    n, rest = x.size, (x.sum() - x) / x.size
    return float(np.max((x * x * (1 - 1 / n) - 2 * x * rest) / (n - 1)))


def variance_query(values: Any) -> float:
    """Return the sample variance, sum (x_i - mean)^2 / (n - 1)."""
    x = np.asarray(values, dtype=np.float64)
    return float(np.sum((x - x.mean()) ** 2) / (x.size - 1))


def printed_variance_query(values: Any) -> float:
    """Return sum (x_i - mean) / (n - 1), the query of Example 2.1.4 as printed: without the square it is always 0."""
    x = np.asarray(values, dtype=np.float64)
    return float(np.sum(x - x.mean()) / (x.size - 1))


def kept_divisor_variance(values: Any) -> float:
    """Return max (x_j - m_j)^2 / n: what Example 2.1.4 sets out to compute (removal, divisor n - 1 kept)."""
    x = np.asarray(values, dtype=np.float64)
    return float(np.max((x - others_mean(x)) ** 2) / x.size)


def leave_one_out(values: Any, query: Callable[[FloatArray], Any] = np.mean) -> float:
    """Return max_j |f(x) - f(x without record j)|, every record once: what R Code A.0.1 means."""
    x = np.asarray(values, dtype=np.float64)
    return max(abs(float(query(x)) - float(query(np.delete(x, j)))) for j in range(x.size))


def printed_leave_one_out(values: Any, query: Callable[[FloatArray], Any] = np.mean) -> float:
    """Return what the loop of R Code A.0.1 computes.

    ``2:n-1`` is 1, ..., n - 1, so the last record never leaves; at i = 1 the part before is ``1:0``, which is the
    records 1 and none, so the first record stays too. (R drops index 0: c(X[c(1, 0)], X[2:n]) are all records.)
    """
    x = np.asarray(values, dtype=np.float64)
    return max([0.0, *(abs(float(query(x)) - float(query(np.delete(x, j)))) for j in range(1, x.size - 1))])
