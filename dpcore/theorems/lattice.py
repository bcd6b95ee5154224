r"""Loss laws of the worst cases of the exact theorems, as masses on a list of drops below the largest loss.

A drop u = L_max - L is used instead of the loss itself: near the largest loss, where the smallest deltas live, sums of
drops keep all their digits while differences of losses do not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import effort
from dpcore.core.errors import BudgetError
from dpcore.engine.binomial import binomial_masses
from dpcore.engine.profile import tables
from dpcore.theorems.table import LARGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_CHUNK = 100_000  # steps of the recurrence between two reports of progress: some 50 milliseconds
_BYTES_PER_ATOM = 100  # some 60 were measured at the peak; the rest is a margin


def reserve(count: int, what: str) -> None:
    """Refuse, with the count, a table of more than 10^7 corners or of more memory than allowed."""
    if count > LARGEST_TABLE:
        msg = f"{what} has {count} corners; at most {LARGEST_TABLE} are listed."
        raise BudgetError(msg)
    effort.claim(_BYTES_PER_ATOM * count, f"{what} with {count} corners")


def deltas_at_drops(drop: FloatArray, mass: FloatArray) -> FloatArray:
    r"""Return \sum_{v < u} q_v (1 - e^{v-u}) at every drop u (ascending), positive terms only."""
    return np.asarray(tables(-drop[::-1], mass[::-1]).delta[:-1][::-1], dtype=np.float64)


def binomial_law(k: int, epsilon: float) -> FloatArray:
    r"""Return P1(L = (k - 2l) epsilon) for l = 0..k, l binomial with success 1/(1+e^epsilon)."""
    return binomial_masses(epsilon, k, full=True)[2][::-1]


def trinomial_masses(k: int, epsilon: float, move: float) -> FloatArray:
    r"""Return P1(L = (k - n) epsilon) for n = 0..k; a step moves by +-epsilon with probability `move`, else stays.

    Coefficients x_n of (c + b z + a z^2)^k, a = c e^{-epsilon}, obey n c x_n = (k-n+1) b x_{n-1} + (2k-n+2) a
    x_{n-2}. The recurrence is run for the ratios c x_n/x_{n-1}, whose errors die out, and the ratios are multiplied
    outward from the mean.
    """
    keep = 1.0 - move
    if k * keep < 1e-17:  # staying changes every delta by less than k * keep relatively: the binomial law
        out = np.zeros(k + 1)
        out[::2] = binomial_law(k, epsilon)[: k // 2 + 1]
        return out
    top = move / (1 + math.exp(-epsilon))
    back = top * top * math.exp(-epsilon)
    ratio = _ratios(k, keep, back) / top
    anchor = min(k - 1, max(0, round(k - k * move * math.tanh(epsilon / 2))))
    anchor += bool(ratio[anchor] > 1)  # when staying is rare every other mass is small: start from a large one
    with np.errstate(under="ignore"):
        mass = _outward(ratio, anchor)
        return mass / _total(mass, epsilon * (k - np.arange(0.0, k + 1)))


def _ratios(k: int, keep: float, back: float) -> FloatArray:
    """Return c x_n / x_{n-1} for n = 1..k, in chunks that report progress."""
    out = np.empty(k)
    value = k * keep
    out[0] = value
    for start in range(2, k + 1, _CHUNK):
        stop = min(k + 1, start + _CHUNK)
        chunk = []
        for n in range(start, stop):
            value = ((k - n + 1) * keep + (2 * k - n + 2) * back / value) / n
            chunk.append(value)
        out[start - 1 : stop - 1] = chunk
        effort.checkpoint(0.5 * stop / (k + 1))
    return out


def _outward(ratio: FloatArray, anchor: int) -> FloatArray:
    """Return masses proportional to the running products of `ratio`, equal to one at `anchor`."""
    mass = np.ones(ratio.size + 1)
    mass[anchor + 1 :] = np.cumprod(ratio[anchor:])
    with np.errstate(divide="ignore"):
        mass[:anchor] = np.cumprod(1.0 / ratio[:anchor][::-1])[::-1]
    return mass


def _total(mass: FloatArray, loss: FloatArray) -> float:
    """Return the mass of both halves of a symmetric law: the loss -L carries e^{-L} times the mass of L."""
    return float(mass.sum() + (mass * np.exp(-loss) * (loss > 0)).sum())


def sum_of_binomials(parts: Sequence[tuple[float, int]]) -> tuple[FloatArray, FloatArray]:
    r"""Return drops (ascending) and P1-masses of the loss of m copies of each epsilon > 0, all sign patterns.

    The list holds every pattern, prod (m + 1) of them before equal drops are merged.
    """
    drop, mass = np.zeros(1), np.ones(1)
    for epsilon, copies in parts:
        drop = (drop[:, None] + 2 * epsilon * np.arange(0.0, copies + 1)).ravel()
        mass = (mass[:, None] * binomial_law(copies, epsilon)).ravel()
    order = np.argsort(drop, kind="stable")
    return _merged(drop[order], mass[order])


def _merged(drop: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Join atoms whose drops differ by rounding only."""
    first = np.flatnonzero(np.concatenate([[True], np.diff(drop) > 1e-14 * drop[1:]]))
    return drop[first], np.asarray(np.add.reduceat(mass, first), dtype=np.float64)
