r"""How far the masses of `lattice` and `lattice_windows` can be off, counted in units of u = 2^-53.

Hypotheses. Operations of doubles have a relative error of at most u, library functions one of at most `LIBRARY` units of u; in extended
precision the same with `FINE` instead of u. A sum of n terms, in pairs or in any order, costs `additions(n)` units. Terms of second
order, and the roundings of the bound itself, are covered by 2 %. The weights of a part are the doubles given; a law is normalised by
their sum.

Products. A product of two positive laws of a and b masses adds at most 256 terms of a block, and the blocks:
`convolution(a, b)` units beyond the errors of its factors, which add. A common factor of all masses is taken out when the total is
made 1; that division costs `additions(n)` + 1. Let a law have masses q_i (1 + t_i) with |t_i| <= e. In K copies of it, outcome by outcome,
the error is a sum of K independent variables between -e and e, and their mean a common factor. By Hoeffding's inequality it is above
x = e sqrt(2 K 740) with a probability of at most 2 e^-740, 1e-21 of a mass of 1e-300: the masses are off by at most
min(K, sqrt(1480 K)) e, `copied`.

Windows. Under the tilt theta, an exact double, mass j is m_j e^(K - theta (j - C)), C the sum of the centres, integers over 2^26.

*Exponent.* Of one part, K is log(1 + S) with S = sum w_i (e^(y_i) - 1 - y_i) + theta slip, y_i = theta o_i, and o_i is exact. The terms
are positive; one has 15 units of its series or its difference, 2 + max(y, 0) of y_i, since |y (e^y - 1)| <= (2 + max(y, 0)) (e^y - 1 - y),
3 of weights, products and the sum. `cumulant_units` counts this over 1 + S, or the same for a sum of exponentials, times k.
Beside it stand 2 |theta (j - C)| + |K - theta (j - C)| + `LIBRARY` + 2 for the factor of a mass.

*Transform.* For one copy with the tilted weights v_i around an exact place, phi = 1 + cos + i sin with cos = -2 sum v_i sin^2(z_i / 2),
sin = sum v_i (sin z_i - z_i) + t rho, z_i = t o_i, and rho the mean, summed in extended precision from weights in extended precision:
errors of v_i in doubles would move the mean of k copies by k times as much. With V = sum v_i o_i^2 and |sin z - z| <= z^2/2,

.. math:: |\Delta\cos| \le t^2V(\lambda + 5 + A/2), \quad |\Delta\sin| \le \tfrac12 t^2V(29 + A) + 3|t\rho| + |t|E_\rho, \quad
          E_\rho = \sum v_i|o_i|(e_i + \mathrm{FINE}(2 + A)) + |\rho|,

A = additions(n), e_i = FINE (|theta o_i| + |theta o_i - top| + 2 lambda + 2) that of a weight. (2 sin^2 has 2 lambda + 4 + A units of
itself, at most z^2/2, and 2 z^2 from its angle. sin z - z has 24 of itself, 3 from z, 2 from its weight.) Values that are not in
phase at a peak 2 pi m / G, of mass r and with b = sum v_i |o_i| over them, add r (5 lambda + 106 + 3 A) + |t| b (9 + A).
|phi|^2 - 1 = 2 cos + cos^2 + sin^2 has three roundings of terms of at most 4 |cos| together (Jensen: cos^2 + sin^2 <= 2 |cos|), so
|phi| is off by 6 |cos| / |phi| more; its logarithm and its angle by lambda + 2 units of themselves, times k, and the sums over the parts.
If phi is off by D, phi^k is off by at most k D (|phi| + D)^(k-1). The node t itself is off by 3 units, which moves the result by at most
3 |t| sum k (|t| V + |rho| + 2 b) / |phi| + 3 |t|. The inverse transform has `transform_units` of the mean of all |phi| (`sandwich_rounding`),
and what wraps around, or is left out where |phi| < e^-55, is at most 3 e^-55. The result is one absolute error for all masses of a window,
which the factor of each mass magnifies by at most e^(REACH^2/2) relative to itself where the tilted law is bell-shaped.

*Ends.* In n w_0 b_n = sum (d_i (k+1) - n) w_i b_(n-d_i) all terms are positive. The difference loses a = g (k+1) / (g (k+1) - n), g the least
d, and b_n depends on at most n / g others: `leading_units`.

Use. A profile is a positive combination of the sums of all masses from one on, because (1 - e^(eps - L))_+ rises with L, and so are e^(sL)
and the sums of rates. `tail_units` is the largest ratio of the error to the mass in any sum from either end: the rounding of
everything that is computed from the law, however small single masses between larger ones may be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.rounding import UNIT
from dpcore.engine.mixture_rounding import LIBRARY, PAIRS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

BLOCK = 256
"""Terms of one direct product: underflow is skipped block by block."""
FINE = float(np.finfo(np.longdouble).eps) / 2.0 / UNIT
"""Unit roundoff of extended precision in units of u: 2^-11 on most machines, 1 where there is none."""
SECOND = 1.02
_LEFT_OUT = 3.0 * math.exp(-55.0) / UNIT
_SMALLEST = 1e-290
"""Sums below it are not compared: single masses far below are not doubles of full precision."""


def additions(count: int) -> float:
    """Bound the error of a sum of `count` positive terms, in units."""
    return min(float(count), PAIRS + math.log2(count + 1.0))


def convolution(a: int, b: int) -> float:
    """Bound the error of a direct product of laws of a and b masses beyond those of its factors, in units."""
    least = min(a, b)
    return float(least) + 1.0 if least < BLOCK else BLOCK + least / BLOCK + 4.0


def copied(units: float, copies: int) -> float:
    """Bound what an error of a law adds to the masses above 1e-300 of a number of copies of it, when their total is made 1."""
    return min(float(copies), 38.5 * math.sqrt(copies)) * units


class TiltedPart(NamedTuple):
    """One copy of a part under a tilt, around an exact place near its mean, and what its rounding depends on.

    `weight` and `offset` are the masses and the distances from that place, `shift` the place in units of 2^-26, `mean` what is left
    of the mean, `blur` its error, `square` the mean square of the distances.
    """

    weight: FloatArray
    offset: FloatArray
    shift: int
    mean: float
    blur: float
    square: float
    distance: IntArray
    values: int

    def out_of_phase(self, period: int) -> tuple[float, float]:
        """Return the mass of the values whose distance from the most frequent one is no multiple of a period, and their mean distance."""
        rare = self.distance % period != 0
        return float(self.weight[rare].sum()), float(self.weight[rare] @ np.abs(self.offset[rare]))


def weight_units(exponent: FloatArray, top: float) -> FloatArray:
    """Bound the errors of tilted weights in extended precision, in units."""
    return np.asarray(FINE * (np.abs(exponent) + np.abs(exponent - top) + 2.0 * LIBRARY + 2.0), dtype=np.float64)


def cumulant_units(exponent: FloatArray, weight: FloatArray, slip: float, value: float) -> float:
    """Bound the error of log E e^(theta (X - centre)) of one copy, in units, from theta times the offsets; `slip` is theta slip."""
    n = exponent.size
    if float(exponent.max()) < 30.0:
        grown = math.exp(value)
        terms = float(weight @ (np.expm1(exponent) - exponent)) + 4.0 * UNIT * float(weight @ np.abs(exponent))
        own = terms * (additions(n) + 22.0 + max(0.0, float(exponent.max())))
        return LIBRARY * abs(value) + (own + 4.0 * abs(slip) + abs(grown - 1.0)) / grown
    weighted = exponent + np.log(weight)
    top = float(weighted.max())
    tilted = np.exp(weighted - top)
    each = np.abs(exponent) + LIBRARY * np.abs(np.log(weight)) + np.abs(weighted) + np.abs(weighted - top) + 1.0
    mean = float(tilted @ each) / float(tilted.sum())
    return mean + additions(n) + LIBRARY * (2.0 + math.log(n + 1.0)) + abs(top) + abs(value)


class NodeErrors:
    """The errors of a transform at some nodes, gathered part by part.

    Parameters
    ----------
    t : ndarray of float
        Distances of the nodes from their peaks.
    period : int
        G; see the module.
    parts : int
        How many parts there are.
    """

    def __init__(self, t: FloatArray, period: int, parts: int) -> None:
        self._t, self._period, self._parts = np.abs(t), period, parts
        self._log, self._units, self._turns = np.zeros_like(t), np.full(t.size, 2.0 * LIBRARY + 6.0), 3.0 * np.abs(t)

    def add(self, part: TiltedPart, k: int, cos: FloatArray, sin: FloatArray) -> None:
        """Count one part with its k copies, from cos and sin of the proof."""
        t, a = self._t, additions(part.values)
        rare, far = part.out_of_phase(self._period)
        square = t * t * part.square
        size = np.maximum(np.hypot(1.0 + cos, sin), 1e-8)
        wrong = (
            square * (LIBRARY + 5.0 + 0.5 * a) + 0.5 * square * (29.0 + a) + 3.0 * t * abs(part.mean) + t * part.blur
        )
        wrong += (
            rare * (5.0 * LIBRARY + 106.0 + 3.0 * a)
            + t * far * (9.0 + a)
            + 2.0 * np.abs(sin)
            + 6.0 * np.abs(cos) / size
        )
        size = size + UNIT * wrong
        log = np.log(size)
        angle = np.abs(np.arctan2(sin, 1.0 + cos))
        self._log += k * log
        self._units += k * (wrong / size + (LIBRARY + 2.0 + self._parts) * (np.abs(log) + angle))
        self._turns += 3.0 * t * k * (t * part.square + abs(part.mean) + 2.0 * far) / size

    def total(self, phases: FloatArray) -> FloatArray:
        """Return the errors at the nodes in units; `phases` is the sum of the sizes of what was added to a phase."""
        units = self._units + self._turns + (self._parts + 4.0) * phases
        return np.asarray(np.exp(np.minimum(self._log, 0.0)) * units, dtype=np.float64)


def window_units(nodes: float, sizes: float, length: int, transform_units: float) -> float:
    """Bound the error of each tilted mass, in units, from the sums of the errors and of the sizes of all nodes."""
    return SECOND * (nodes + transform_units * sizes) / length + _LEFT_OUT


def leading_units(distance: IntArray, weight: FloatArray, units: float, k: int, count: int) -> float:
    """Bound the error of the first coefficients of a power by the recurrence, in units; `units` is that of a weight."""
    gap, rest, n = int(distance[1]), float(weight[1:].sum()), weight.size
    amplified = gap * (k + 1.0) / (gap * (k + 1.0) - count)
    each = 6.0 * amplified + n + 3.0 + 2.0 * units
    start = k * rest / (1.0 - rest) * (units + additions(n)) + (LIBRARY + 1.0) * abs(k * math.log1p(-rest)) + LIBRARY
    return count / gap * each + start


def tail_units(mass: FloatArray, error: FloatArray) -> float:
    """Return the largest ratio of the sums of errors, in units of u, to the sums of masses from either end on."""
    worst = 0.0
    for way in (slice(None), slice(None, None, -1)):
        whole, wrong = np.cumsum(mass[way]), np.cumsum(error[way])
        seen = whole > _SMALLEST
        if seen.any():
            worst = max(worst, float((wrong[seen] / whole[seen]).max()))
    return SECOND * worst
