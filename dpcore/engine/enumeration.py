r"""Exact products of small loss distributions, by listing every combination.

A *part* is a triple of arrays (loss, p, q): finite losses and their masses under P0 and P1, not necessarily summing to
one (mass at infinite losses is the caller's). In a product the losses add and the masses multiply, so the product of
parts with :math:`m_1, m_2, \dots` atoms has :math:`m_1 m_2 \cdots` of them, and the k-fold power of one part
:math:`\binom{k+m-1}{m-1}`. `count` returns the number in advance.

Two sums of the same numbers in different order differ by rounding: r terms with partial sums up to H in size differ by
at most (r - 1) H 2^-52. Losses closer than max(4, r) H 2^-52 are therefore merged; a real difference of that size could
not be distinguished from rounding, and moves no delta by more than rounding does.
"""

from __future__ import annotations

from functools import cache
from math import comb, fsum, log1p, pi, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import effort
from dpcore.core.domains import COUNT
from dpcore.engine.binomial import deviance, stirling_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    Part = tuple[FloatArray, FloatArray, FloatArray]
    Column = FloatArray | Sequence[float]
    Columns = tuple[Column, Column, Column]

_UNSORTED = 4096
"""Up to this many atoms it is cheaper to keep equal losses than to look for them."""

_COUNT = COUNT.but(low=0)


def count(groups: Iterable[tuple[int, int]]) -> int:
    """Return the number of atoms of a product, before merging, from pairs (atoms of a part, copies of it)."""
    return prod([m if k == 1 else 1 if k == 0 else comb(k + m - 1, m - 1) if m else 0 for m, k in groups])


def merge(loss: FloatArray, p: FloatArray, q: FloatArray, terms: int = 4, *, size: float | None = None) -> Part:
    """Sort atoms by loss and add up those whose losses agree to rounding; a loss of 0 to rounding becomes 0.

    Parameters
    ----------
    loss, p, q : ndarray of float
        The atoms, in any order.
    terms : int, default 4
        How many numbers were added to form each loss.
    size : float, optional
        Bound H of all partial sums; by default the largest loss in absolute value.

    Returns
    -------
    Part
        The merged atoms, losses ascending.
    """
    order = np.argsort(loss)
    loss, p, q = loss[order], p[order], q[order]
    if loss.size < 2:
        return loss, p, q
    largest = max(-float(loss[0]), float(loss[-1])) if size is None else size
    same = max(4, terms) * 2.0**-52 * largest
    starts = np.flatnonzero(np.append(True, np.diff(loss) > same))
    if starts.size < loss.size:
        loss, p, q = loss[starts], np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    return np.where(np.abs(loss) <= same, 0.0, loss), p, q


def product(parts: Sequence[Columns]) -> Part:
    """Return the product of all parts as one (loss, p, q), losses ascending and distinct.

    The empty product is a single loss 0 of mass 1. Relative error of a mass: one unit in the last place per part.
    """
    if few(parts):
        return _equal(parts)
    loss, p, q = np.zeros(1), np.ones(1), np.ones(1)
    size, merged = 0.0, 1
    with np.errstate(under="ignore"):
        for number, (more, more_p, more_q) in enumerate(sorted(parts, key=lambda part: len(part[0]))):
            size += float(np.max(np.abs(more), initial=0.0))
            effort.claim(80.0 * loss.size * len(more), f"A list of {loss.size * len(more)} combinations of losses")
            loss = np.add.outer(more, loss).ravel()
            p = np.multiply.outer(more_p, p).ravel()
            q = np.multiply.outer(more_q, q).ravel()
            # merging early keeps equal parts small; if nothing merges, sorting at every stage would be wasted
            if loss.size > max(_UNSORTED, 2 * merged) and number + 1 < len(parts):
                before = loss.size
                loss, p, q = merge(loss, p, q, len(parts), size=size)
                merged = 0 if loss.size < 0.75 * before else 32 * loss.size
                effort.checkpoint(number / len(parts))
    return merge(loss, p, q, len(parts), size=size)


def few(parts: Sequence[Columns]) -> bool:
    """Return whether the parts have equally many atoms and few enough combinations to list them all before merging."""
    sizes = {len(part[0]) for part in parts}
    return len(sizes) == 1 and 0 < min(sizes) ** len(parts) <= _UNSORTED


def _equal(parts: Sequence[Columns]) -> Part:
    """Return the product of a few parts of one size: all pairs of neighbours at once, then pairs of those."""
    rows = np.array(parts, dtype=np.float64).transpose(1, 0, 2)
    size = float(np.abs(rows[0]).max(axis=1).sum())
    with np.errstate(under="ignore"):
        loss, p, q = _joined(rows[0], np.add), _joined(rows[1], np.multiply), _joined(rows[2], np.multiply)
    return merge(loss, p, q, len(parts), size=size)


class SmallProduct:
    """The product of a `few` parts with ascending and distinct losses; masses are computed on demand."""

    def __init__(self, parts: Sequence[Columns]) -> None:
        self._parts = parts
        losses = np.array([part[0] for part in parts], dtype=np.float64)
        same = max(4, len(parts)) * 2.0**-52 * float(np.abs(losses).max(axis=1).sum())
        loss = _joined(losses, np.add)
        self._order = np.argsort(loss)
        loss = loss[self._order]
        self._starts = _starts(loss, same)
        self.loss = loss[self._starts]

    @property
    def p(self) -> FloatArray:
        """Masses under P0."""
        return self._masses(1)

    @property
    def q(self) -> FloatArray:
        """Masses under P1."""
        return self._masses(2)

    def _masses(self, column: int) -> FloatArray:
        with np.errstate(under="ignore"):
            rows = np.array([part[column] for part in self._parts], dtype=np.float64)
            masses = _joined(rows, np.multiply)[self._order]
            return masses if self._starts.size == masses.size else np.add.reduceat(masses, self._starts)


class Signed:
    r"""The product of a few symmetric two-point parts, from their losses alone.

    A part has losses :math:`\pm\varepsilon_i` and masses :math:`q = h_i e^{(L - \varepsilon_i)/2}`, so a combination of
    total loss L has :math:`q = \prod h_i\, e^{(L - \sum\varepsilon_i)/2}` and, by symmetry, p is q read backwards.
    """

    def __init__(self, parts: Sequence[Columns]) -> None:
        losses = _largest(parts)
        self._top = float(sum(losses))
        self._highest = float(prod([part[2][1] for part in parts]))
        loss = np.array(losses, dtype=np.float64) @ _signs(len(parts))
        loss.sort()
        starts = _starts(loss, max(4, len(parts)) * 2.0**-52 * self._top)
        self.loss = loss[starts]
        self._copies = np.concatenate((starts[1:], [loss.size])) - starts

    @property
    def p(self) -> FloatArray:
        """Masses under P0."""
        return self.q[::-1]

    @property
    def q(self) -> FloatArray:
        """Masses under P1."""
        return np.asarray(np.exp(0.5 * (self.loss - self._top)) * (self._highest * self._copies), dtype=np.float64)


def _starts(loss: FloatArray, same: float) -> IntArray:
    """Return where each loss begins that is above the one before it by more than `same`."""
    begins = np.ones(loss.size, dtype=bool)
    np.greater(loss[1:] - loss[:-1], same, out=begins[1:])
    return begins.nonzero()[0]


_SIGNED = 30.0
"""Largest sum of losses for which the exponential of half a sum is as exact as a product of masses (1e-14)."""


def signed(parts: Sequence[Columns]) -> bool:
    """Return whether a few symmetric parts are two-point ones with losses small enough for `Signed`."""
    return len(parts[0][0]) == 2 and sum(_largest(parts)) <= _SIGNED


def _largest(parts: Sequence[Columns]) -> list[float]:
    """Return the upper loss of each two-point part."""
    return [part[0][1] for part in parts]


@cache
def _signs(count: int) -> FloatArray:
    """Return the 2^count columns of signs +1 and -1."""
    return np.asarray(2.0 * (np.arange(2**count) >> np.arange(count)[:, None] & 1) - 1.0, dtype=np.float64)


def _joined(rows: FloatArray, join: np.ufunc) -> FloatArray:
    """Return all combinations of one value from each row."""
    odd: list[FloatArray] = []
    while len(rows) > 1:  # halves each round
        if len(rows) % 2:
            odd.append(rows[-1])
            rows = rows[:-1]
        rows = join(rows[::2, :, None], rows[1::2, None, :]).reshape(len(rows) // 2, -1)
    out = rows[0]
    for row in odd:
        out = join(row[:, None], out).ravel()
    return np.asarray(out, dtype=np.float64)


def _log_poisson(mass: float, k: int) -> FloatArray:
    """Return log of e^(-m) m^n / n! for n = 0..k with m = k mass, in the saddle-point form (no log-gamma)."""
    mean = k * mass
    n = np.arange(1.0, k + 1)
    with np.errstate(divide="ignore"):
        rest = -stirling_error(n) - 0.5 * np.log(2.0 * pi * n) - deviance(n, mean, n - mean)
    return np.append(-mean, rest)


def _log_total(masses: FloatArray, k: int, infinite: float | None) -> float:
    """Return the logarithm of the factor that turns a product of Poisson masses into a multinomial mass."""
    size = np.array([float(k)])
    total = k * fsum([*masses.tolist(), -1.0])
    if infinite is not None:
        excess = fsum([*masses.tolist(), infinite, -1.0])
        # the masses are brought to their sum 1 - infinite, unless that difference has no digits left: then they are better known
        if abs(excess) < 0.5 * (1.0 - infinite):
            total -= k * log1p(excess / (1.0 - infinite))
    return float(stirling_error(size)[0] + 0.5 * np.log(2.0 * pi * k)) + total


_LARGEST_EXPONENT, _DEVIATIONS = 704.0, 40.0
"""Of masses above 1e-300: the largest sum of their exponents' terms, and what `power_rounding` proves about the numbers of copies."""


def power_rounding(rounding: float, k: int, m: int) -> float:
    r"""Return the relative error of the masses of `power` above 1e-300, in units of 2^-53, from that of its part's m masses.

    With q_i (1 + t_i) for q_i and the sum corrected, the mass of n_1, n_2, ... copies is off by the sum of (n_i - k q_i) t_i. A
    multinomial mass is at most e^(-k KL(n/k, q)), and by Pinsker's inequality KL is at least half the square of the sum of
    \|n_i/k - q_i\|: above 1e-300 the sum of \|n_i - k q_i\| is at most sqrt(2 * 691 k), below 40 sqrt(k). To t_i comes one unit
    for the product k q_i.

    The exponent is log_total plus m logarithms of Poisson masses, which are not positive: no partial sum exceeds 691 + 13 in
    absolute value (13 is above log_total for the lists that are allowed), and each of m additions errs by a unit of that. The
    deviances add up to at most as much. One of them errs by 25 units of itself: next to the mean all terms but small ones have one
    sign; elsewhere (\|v\| >= 0.3) x log(x/mean) and x - mean are together at most 7 times their difference and err by 2 units each,
    and the quotient x/mean by one unit of x, at most 6.4 of the difference. The sum of the masses errs by 4 units of its k copies.
    Each of the m logarithms of 2 pi n, below 20, errs by 30 units with its half and Stirling's term. Masses of one loss, at most
    (k+1)^(m-2) of them, are added.
    """
    added = min(float(k + 1) ** max(m - 2, 0), float(count([(m, k)])))
    exponent = (30.0 + m) * _LARGEST_EXPONENT + 30.0 * m
    return exponent + added + _DEVIATIONS * sqrt(k) * (rounding + 1.0)


def power(loss: FloatArray, p: FloatArray, q: FloatArray, k: int, infinite: tuple[float, float] | None = None) -> Part:
    """Return the k-fold product of one part with itself, by its multinomial masses.

    With n_i copies of atom i the loss is the sum of n_i L_i and the mass k! / (n_1! n_2! ...) q_1^n_1 q_2^n_2 ...,
    written as a product of Poisson masses with means k q_i, each to 1e-14. Relative error about 1e-13 (masses to
    1e-300).

    Rounded masses do not sum to 1 exactly, and k copies would be off by k times that. If the masses of P0 and P1 at infinite
    losses are known, `infinite`, each sum is corrected: the remaining rounding, weighted by the deviations of the numbers of
    copies from their means, grows only with the square root of k (`power_rounding`).
    """
    _COUNT.check(k)
    m = loss.size
    if k == 0 or m == 0:
        return (np.zeros(1), np.ones(1), np.ones(1)) if k == 0 else (loss, p, q)
    atoms = count([(m, k)])
    effort.claim(100.0 * min(atoms, 1e300), f"The list of {atoms} combinations of {k} copies of {m} losses")
    remaining = np.full(1, k, dtype=np.int64)
    total = np.zeros(1)
    lost_p, lost_q = infinite or (None, None)
    log_p, log_q = np.full(1, _log_total(p, k, lost_p)), np.full(1, _log_total(q, k, lost_q))
    for i in range(m):
        table_p, table_q = _log_poisson(float(p[i]), k), _log_poisson(float(q[i]), k)
        if i == m - 1:
            copies = remaining
        else:
            width = remaining + 1
            row = np.repeat(np.arange(remaining.size), width)
            copies = np.arange(row.size) - np.repeat(np.cumsum(width) - width, width)
            remaining, total, log_p, log_q = remaining[row] - copies, total[row], log_p[row], log_q[row]
        total = total + copies * loss[i]
        log_p = log_p + table_p[copies]
        log_q = log_q + table_q[copies]
        effort.checkpoint(i / m)
    with np.errstate(under="ignore"):
        return merge(total, np.exp(log_p), np.exp(log_q), m, size=k * float(np.max(np.abs(loss))))
