r"""How far the tilted transforms of `sandwich_fold` can be off, counted in units of u = 2^-53.

Hypotheses. Operations of doubles have a relative error of at most u, library functions one of at most `LIBRARY` units, and
products of complex numbers one of sqrt(5) u. The Fourier transform of a length 2^a 3^b 5^c is done by passes of radix 2, 3, 4
or 5, with factors right to a unit in the last place.

Transform. In a pass of radix p every number becomes a sum of p numbers times factors of modulus 1. Its error is at most
sqrt(2) (p + 2) u for the sum and (2 + sqrt(5)) u for the factors, times the sum of the sizes of the numbers that went in; and the
sizes that go into all passes on the way to one result add up, from the first pass, to the sum of all sizes. So the transform of a
law has at every frequency an error of at most the sum over the passes: 9.9 u log2(p) for p = 2, less for 3, 4 and 5 (8.9, 6.4 and
6.1); `transform_units` counts 16 log2(N) and the additions of a folded law. If |z - z'| <= e at every frequency,
|z^k - z'^k| <= k e (|z| + e)^(k-1), and k - 1 products add sqrt(5) (k - 1) u |z|^k. The error of a mass after the inverse
transform is at most the mean of these errors, plus e times the mean size for the inverse transform itself.

Weights. The tilted mass q_i e^{t_i}, t_i = (first + i) fl(theta h), is computed as (q_i e^{b}) e^{t_i - t + b} and divided by the
sum, with t the exponent of the largest and b half of its logarithm: whatever t, b and the sum are, they cancel exactly
in the exponent. What remains are the roundings of each weight,

.. math:: e_i = 2\lambda + 4 + |t_i| + |t_i - t| + |t_i - t + b| .

If each weight of a law is off by the factor 1 + e_i u, the masses of k copies are off by at most (1 + u \sum w_i e_i)^k - 1 in total,
and the kernel e^{-\theta x}(1 - e^{-x}) is nowhere above `kernel`, its maximum \theta^\theta/(1+\theta)^{1+\theta}. This is an absolute
error, like that of the transform: no assumption about which copies make up a loss is needed.

Exponent. For a law log(sum), t and b are added up and multiplied by k: k (lambda log n + 4 (log n + |t| + 2 |b|)) for a sum between
1 and n. The product theta h is rounded once for all copies: theta |L| for a loss L of the product. Then e^{-theta (L - reference)},
e^{exponent - theta reference} in two halves, and L = position times h, whose rounding also moves L by u |L|, which changes the
kernel by at most u |L| e^{-(theta+1) x}. With L = epsilon + x and theta x e^{-theta x} <= 1/e all of this is at most

.. math:: 2 |exponent| + 4\theta|reference| + 8\theta|\varepsilon| + 4\lambda + 16 \text{ of the value, and } 2|\varepsilon| + 6
          \text{ of } e^{exponent - \theta\varepsilon} .

Summation. `profile.rounding` bounds the error of the running sums, all of positive terms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.engine.mixture_rounding import LIBRARY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def transform_units(length: int, folds: int = 1) -> float:
    """Bound the error of a transform at each frequency, in units of the sum of all masses; 3 units are those of a product."""
    return 16.0 * math.log2(length) + folds + 3.0


def weight_units(weight: FloatArray, exponent: FloatArray, top: float, half: float) -> float:
    """Bound the mean error of tilted weights, in units."""
    apart = exponent - top
    return 2.0 * LIBRARY + 4.0 + float(weight @ (np.abs(exponent) + np.abs(apart) + np.abs(apart + half))) * 1.01


def exponent_units(count: int, top: float, half: float) -> float:
    """Bound the error of log M of one law of `count` masses, in units."""
    rows = math.log(count + 1.0)
    return LIBRARY * rows + 4.0 * (rows + abs(top) + 2.0 * abs(half))


def value_units(exponent: float, tilted_reference: float) -> float:
    """Bound the relative error of a value beyond that of log M, its sums, and 8 theta abs(epsilon), in units."""
    return 2.0 * abs(exponent) + 4.0 * abs(tilted_reference) + 4.0 * LIBRARY + 16.0


def kernel(theta: float) -> float:
    r"""Return the maximum of :math:`e^{-\theta x}(1 - e^{-x})`, rounded up."""
    return math.exp(theta * math.log(theta / (1.0 + theta))) / (1.0 + theta) * (1.0 + 1e-9) if theta > 0.0 else 1.0
