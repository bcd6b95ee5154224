r"""The k-fold randomized response: a binomial loss law, with every mass good to twelve digits or more.

One answer has the loss :math:`+\varepsilon` with P1-mass :math:`1/(1+e^{-\varepsilon})`, otherwise :math:`-\varepsilon`.
With i of k answers against, the loss is :math:`(k-2i)\varepsilon` and

.. math:: q_i = \binom{k}{i} \frac{e^{(k-i)\varepsilon}}{(1+e^{\varepsilon})^k}, \qquad p_i = q_{k-i}.

Differences of log-gamma lose nine digits at k = 10^6. The saddle-point form keeps them: with
:math:`D(x, m) = x \log(x/m) + m - x` and the error s(n) of Stirling's formula,

.. math:: \log q_i = s(k) - s(i) - s(k-i) - D(i, k\pi) - D(k-i, k(1-\pi)) + \tfrac12 \log\frac{k}{2\pi_0 i (k-i)},

where :math:`\pi = 1/(1+e^\varepsilon)` and :math:`\pi_0 = 3.14\ldots` Both D depend on the mean only through the deviation
:math:`i - k\pi = (k \tanh(\varepsilon/2) - (k-2i))/2`, which is computed from a mean of about 32 digits.

References
----------
.. [1] C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
.. [2] P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy", 2015, Theorem 3.3.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import log, log10, pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.domains import COUNT, LOSS_OR_INF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_CHUNK = 1 << 15  # masses at once: the working arrays stay in the processor's cache
_COUNT = COUNT.but(high=2**52)  # above, k and its neighbours are not all doubles
_LEAST_LOG = -746.0
"""Below this logarithm a mass is zero in double precision."""
_LARGEST_EPSILON = 1e4
"""Any number above about 750 would do: an answer against the truth then has mass zero in double precision."""
_STIRLING = np.array(
    [
        0.0,
        0.08106146679532726,
        0.0413406959554093,
        0.02767792568499834,
        0.020790672103765093,
        0.016644691189821193,
        0.013876128823070748,
        0.01189670994589177,
        0.010411265261972096,
        0.009255462182712733,
        0.00833056343336287,
        0.007573675487951841,
        0.00694284010720953,
        0.006408994188004207,
        0.0059513701127588475,
        0.005554733551962801,
    ]
)
"""s(n) for n below 16 (s(0) is a placeholder), from log-gamma with forty digits."""


def stirling_error(n: FloatArray) -> FloatArray:
    """Return s(n) = log n! - (n + 1/2) log n + n - log(2 pi) / 2 for whole n >= 1, relative error 1e-15."""
    n = np.asarray(n, dtype=np.float64)
    large = np.maximum(n, 16.0)
    inverse = 1.0 / (large * large)
    series = np.full_like(large, 691 / 360360)
    for term in (1188, 1680, 1260, 360, 12):
        series = 1 / term - inverse * series
    series /= large
    return np.where(n < 16.0, _STIRLING[np.minimum(n, 15.0).astype(np.int64)], series)


def deviance(x: FloatArray, mean: FloatArray | float, deviation: FloatArray) -> FloatArray:
    """Return D(x, mean) = x log(x / mean) + mean - x >= 0 for x > 0, given ``deviation`` = x - mean separately.

    Near the mean the three terms cancel; there D is a series in v = (x - mean) / (x + mean), using
    log(x / mean) = 2 (v + v^3 / 3 + v^5 / 5 + ...).
    """
    v = deviation / (x + mean)
    near = np.abs(v) < 0.3
    w = np.where(near, v, 0.0)
    square = w * w
    series = np.zeros_like(w)
    for power in range(33, 1, -2):
        series = square * (1.0 / power + series)
    # series is now v^2/3 + v^4/5 + ...
    close = deviation * w + 2.0 * x * w * series
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(near, close, x * np.log(x / mean) - deviation)


class _Binomial(NamedTuple):
    """A binomial law: its centre in two doubles, its mean k pi, the mean of the complement, and both end masses."""

    k: int
    centre: float
    rest: float
    mean: float
    other: float
    log_first: float
    log_last: float


def _law(epsilon: float, k: int) -> _Binomial:
    """Return the law for one epsilon; its few numbers come from decimal arithmetic and are right to the last digit."""
    epsilon = min(epsilon, _LARGEST_EPSILON)
    with localcontext() as context:
        context.prec = 50 + (int(-log10(epsilon)) if 0.0 < epsilon < 1.0 else 0)
        odds = Decimal(epsilon).exp()
        centre = k * (odds - 1) / (odds + 1) / 2
        high = float(centre)
        mean = k / (odds + 1)
        return _Binomial(
            k,
            high,
            float(centre - Decimal(high)),
            float(mean),
            float(k - mean),
            float(-k * (1 + 1 / odds).ln()),
            float(-k * (1 + odds).ln()),
        )


def _log_mass(law: _Binomial, index: IntArray) -> FloatArray:
    """Return log q_i for an array of i in 0..k."""
    k = law.k
    i = np.clip(index, 1, max(1, k - 1)).astype(np.float64)
    deviation = (law.centre - (0.5 * k - i)) + law.rest
    out = np.where(index <= 0, law.log_first, law.log_last)
    if k > 1:
        inner = (
            float(stirling_error(np.array([float(k)]))[0])
            - stirling_error(i)
            - stirling_error(k - i)
            - deviance(i, law.mean, deviation)
            - deviance(k - i, law.other, -deviation)
            + 0.5 * np.log(k / (2.0 * pi * i * (k - i)))
        )
        out = np.where((index > 0) & (index < k), inner, out)
    return np.asarray(out, dtype=np.float64)


def mass_rounding(mass: FloatArray) -> FloatArray:
    r"""Bound the relative errors of masses from `binomial_masses`, in units of u = 2^-53, above the subnormal ones.

    The proof assumes that library functions err by at most 4 units. The deviation d = i - k pi has an error of 3 (two exact parts
    and a double each, one subtraction, one addition), the mean one of 1. In D(x, m) near the mean, v = d/(x + m) has 6, d v 10, and
    the second term, at most 0.11 of the first and possibly of the other sign, 26: together at most 16. Far from it, \|v\| >= 0.3,
    x log(x/m) has 8.2 and d 3; they cancel to no less than 0.25 and 0.34 of themselves: at most 43. Both D are positive and add up
    to at most \|log q\| + 1. The half logarithm of k/(2 pi_0 i (k - i)) is at most 18 for k < 2^52 and has 4 units of itself and 3
    more, the errors of Stirling's formula are below 1, the five sums have one unit of \|log q\| + 20 each, and the exponential 4.

    Parameters
    ----------
    mass : ndarray of float
        The masses.

    Returns
    -------
    ndarray of float
        48 abs(log mass) + 300, inf for a mass of 0.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(48.0 * np.abs(np.log(mass)) + 300.0, dtype=np.float64)


def _edge(log_mass: Callable[[IntArray], FloatArray], inside: int, outside: int, level: float) -> int:
    """Return the index farthest from `inside` towards `outside` whose log-mass reaches `level` (masses fall that way)."""
    if log_mass(np.array([outside]))[0] >= level:
        return outside
    while abs(outside - inside) > 1:  # the gap falls by a factor of 33 each round
        grid = np.unique(np.linspace(inside, outside, 34).astype(np.int64))
        if outside < inside:
            grid = grid[::-1]
        count = int(np.count_nonzero(log_mass(grid) >= level))
        inside, outside = int(grid[max(0, count - 1)]), int(grid[min(grid.size - 1, max(1, count))])
    return inside


def window(epsilon: float, k: int, floor: float = 1e-320) -> tuple[int, int]:
    """Return the first and last i whose P1-mass is at least `floor`, without computing all masses.

    The P0-masses above `floor` are those of the mirrored indices, from k - last to k - first.
    """
    law = _checked(epsilon, k)
    level = max(_LEAST_LOG, log(floor)) if floor > 0 else _LEAST_LOG
    mode = min(k, int((k + 1) * (law.mean / k)))
    return _edge(lambda i: _log_mass(law, i), mode, 0, level), _edge(lambda i: _log_mass(law, i), mode, k, level)


def _checked(epsilon: float, k: int) -> _Binomial:
    return _law(LOSS_OR_INF.check(epsilon), _COUNT.check(k))


def binomial_masses(
    epsilon: float, k: int, floor: float = 1e-320, *, full: bool = False
) -> tuple[IntArray, FloatArray, FloatArray]:
    r"""List the loss law of k-fold :math:`\varepsilon`-randomized response, smallest loss first.

    Parameters
    ----------
    epsilon : float
        Privacy of one answer, in [0, inf].
    k : int
        Number of answers, at least 1.
    floor : float, default 1e-320
        Indices whose two masses are both below it are left out; each such mass is lost, so keep it tiny.
    full : bool, default False
        List all k + 1 indices instead; masses below the range of a double are zero.

    Returns
    -------
    index : ndarray of int
        i, descending, so that the loss (k - 2 i) epsilon ascends. Without `full` it is one interval, or two when P0 and P1
        hardly overlap; it is its own mirror image under i -> k - i.
    p, q : ndarray of float
        Masses under P0 and P1, ``p[j] == q[n-1-j]``; relative error about 1e-13 for masses above 1e-300 (k to 10^9), and at
        most that of `mass_rounding`.
    """
    law = _checked(epsilon, k)
    k = law.k
    first, last = window(epsilon, k, 0.0 if full else floor)
    pieces = [(min(first, k - last), max(last, k - first))]
    if last < k - last - 1:
        pieces = [(first, last), (k - last, k - first)]
    if full:
        pieces = [(0, k)]
    count = sum(high - low + 1 for low, high in pieces)
    effort.claim(40.0 * count, f"A binomial law of {count} losses")
    index = np.concatenate([np.arange(high, low - 1, -1, dtype=np.int64) for low, high in reversed(pieces)])
    q = np.zeros(count)
    # index descends: the positions with first <= i <= last are one stretch
    start, stop = np.searchsorted(-index, [-last, -first + 1])
    with np.errstate(under="ignore"):
        for low in range(int(start), int(stop), _CHUNK):
            part = slice(low, min(low + _CHUNK, int(stop)))
            q[part] = np.exp(_log_mass(law, index[part]))
            if low % (16 * _CHUNK) == 0:
                effort.checkpoint(low / count)
    return index, q[::-1].copy(), q
