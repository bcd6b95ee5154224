"""The parts of a sum of integers: k copies of one law each, tilted, with what their rounding depends on."""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.errors import BudgetError
from dpcore.engine import lattice_rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

BITS = 26
"""Means are rounded to this many binary places: differences from them and k times them are then exact."""
_PLACES = 1200
"""Binary places of an exact mean: more than the 1074 of the smallest double."""
_WIDEST_EXACT = 1 << 26
"""Largest value of a part: distances from its centre are then exact."""
IRREGULAR = "The law of this sum on a lattice is too irregular for the method of tilted transforms."


CELLS = 1 << 20
"""Most numbers in a matrix, 8 MB."""


class Irregular(BudgetError):
    """Two tilts disagree about the same masses: a tilted law is not bell-shaped, and neither can be trusted."""


class LatticePart(NamedTuple):
    """k copies of an integer with values ``centre + offset`` (centre: a rounded mean, `slip`: mean - centre)."""

    offset: FloatArray
    weight: FloatArray
    k: int
    centre: int
    slip: float
    raw: FloatArray

    @property
    def top(self) -> int:
        """Largest value; the smallest is 0."""
        return round(float(self.offset[-1] - self.offset[0]))


def _excess_exp(y: FloatArray) -> FloatArray:
    """Return e^y - 1 - y >= 0 without cancellation."""
    series = np.zeros_like(y)
    small = np.where(np.abs(y) < 0.7, y, 0.0)
    for n in range(17, 2, -1):
        series = small / n * (1.0 + series)
    with np.errstate(over="ignore"):
        return np.where(np.abs(y) < 0.7, 0.5 * small * small * (1.0 + series), np.expm1(y) - y)


def excess_sin(z: FloatArray) -> FloatArray:
    """Return sin z - z without cancellation."""
    small = np.where(np.abs(z) < 1.0, z, 0.0)
    square = small * small
    series = np.zeros_like(z)
    for n in range(19, 4, -2):
        series = -square / (n * (n - 1)) * (1.0 + series)
    return np.where(np.abs(z) < 1.0, -small * square / 6.0 * (1.0 + series), np.sin(z) - z)


def lattice_part(index: IntArray, weight: FloatArray, k: int) -> LatticePart:
    """Return one part; its mean is computed in integer multiples of 2^-1200, which represent every double exactly."""
    fraction, power = np.frexp(weight)
    digits = np.ldexp(fraction, 53).astype(np.int64).tolist()
    shifts = (power.astype(np.int64) + (_PLACES - 53)).tolist()
    fixed = [d << s if s >= 0 else d >> -s for d, s in zip(digits, shifts, strict=True)]
    total = sum(fixed)
    moment = sum(f * i for f, i in zip(fixed, index.tolist(), strict=True))
    centre = (moment << BITS) // total
    slip = ((moment << BITS) - centre * total) / total / 2.0**BITS
    normal = np.array([f / total for f in fixed])
    if int(index[-1]) >= _WIDEST_EXACT:
        raise Irregular(IRREGULAR)
    return LatticePart(index - centre / 2.0**BITS, normal, k, centre, slip, np.asarray(weight, dtype=np.float64))


def tilted(part: LatticePart, theta: float) -> tuple[NDArray[np.longdouble], FloatArray]:
    """Return the probabilities of one copy under a tilt, in extended precision, and bounds of their errors in units.

    A common factor is taken out by the sum; the weights of the part are those given, not rounded by their total.
    """
    exponent = np.longdouble(theta) * part.offset.astype(np.longdouble)
    top = float((exponent + np.log(part.raw)).max())
    with np.errstate(under="ignore"):
        half = np.exp(0.5 * (exponent - top))
        raw = half * part.raw * half
    plain = exponent.astype(np.float64)
    return raw / raw.sum(), lattice_rounding.weight_units(plain, top)


def log_mean_exp(part: LatticePart, theta: FloatArray) -> FloatArray:
    """Return log E e^(theta (X - centre)) for one copy, a few tilts at a time."""
    rows = max(1, CELLS // part.offset.size)
    return np.concatenate([_some_log_mean_exp(part, theta[i : i + rows]) for i in range(0, theta.size, rows)])


def _some_log_mean_exp(part: LatticePart, theta: FloatArray) -> FloatArray:
    """Return `log_mean_exp` for all tilts at once; log1p of a small number while the tilt is small."""
    exponent = theta[:, None] * part.offset
    weighted = exponent + np.log(part.weight)
    largest = weighted.max(axis=1)
    with np.errstate(under="ignore"):
        # sums of products in pairs: a matrix product may add one after the other
        small = (_excess_exp(np.minimum(exponent, 30.0)) * part.weight).sum(axis=1) + theta * part.slip
        large = largest + np.log(np.exp(weighted - largest[:, None]).sum(axis=1))
    return np.asarray(np.where(exponent.max(axis=1) < 30.0, np.log1p(small), large), dtype=np.float64)


def leading(distance: IntArray, weight: FloatArray, own: float, k: int, count: int) -> tuple[FloatArray, float]:
    """Return the first coefficients of (sum of w_i x^(d_i))^k, d_0 = 0, positive terms only, and a bound of their errors in units.

    For n <= k the coefficients obey n w_0 b_n = sum over i > 0 of (d_i (k + 1) - n) w_i b_(n - d_i), which follows from
    the derivative of the power; fewer copies are multiplied out.
    """
    if k <= count:
        dense = np.zeros(count)
        dense[distance[distance < count]] = weight[distance < count]
        result, units = np.ones(1), 0.0
        for bit in bin(k)[2:]:
            units = 2.0 * units + result.size + 1.0
            result = np.convolve(result, result)[:count]
            if bit == "1":
                units += own + weight.size + 1.0
                result = np.convolve(result, dense)[:count]
        return np.asarray(np.append(result, np.zeros(count - result.size))), units
    units = lattice_rounding.leading_units(distance, weight, own, k, count)
    rest, away = weight[1:], distance[1:]
    inside = away < count
    rest, away = rest[inside], away[inside]
    lead = int(away.max(initial=0))
    padded = np.zeros(lead + count)
    padded[lead] = exp(k * log1p(-float(weight[1:].sum())))
    share, reach = rest / weight[0], (away * (k + 1.0)) * rest / weight[0]
    for n in range(1, count):
        padded[lead + n] = (reach - n * share) @ padded[lead + n - away] / n
    return np.asarray(padded[lead:]), units
