r"""How much to add to a noisy variance so that an interval keeps its level, however small the true variance is.

The interval uses a variance that is itself noisy. In units of the noise on the estimate let r be the true sampling variance,
G the noise on it with factor k, and A what is added. An interval of reach :math:`h(\sqrt{(r+kG+A)_+})` has the level

.. math:: C(r)=E_G\,P\big(|N(0,r)+Z|\le h(\sqrt{(r+kG+A)_+})\big)

With A = 0 it is below the level for every r, since the probability is concave in the variance. The allowance is the least A
with :math:`\min_r C(r)` at the level. It depends only on k and the level. With strengths :math:`\mu_1,\mu_2` of the two
releases :math:`k=\mu_1^2/\mu_2` (for Laplace noise :math:`\varepsilon_1^2/\varepsilon_2`), whatever n and the range are.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.planner.interval.laws import NoiseLaw

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

_COARSE: Final = 24  # true variances at which the level is checked first
_ROUNDING: Final = 1e-12  # of the integral
_LEAST: Final = 1e-14  # anything smaller, added to a variance, changes no digit of the level
_FINE: Final = 9  # and between two of them


def coverage(noise: str, level: float, k: float, added: float, variances: Any) -> FloatArray:
    """Return the level that an interval keeps if its noisy sampling variance is raised by `added`.

    Parameters
    ----------
    noise : str
        Law of both noises.
    level : float
        Level asked for.
    k : float
        Size of the noise on the sampling variance; all sizes are in units of the noise on the estimate.
    added : float
        What is added to the noisy variance.
    variances : object
        True sampling variances.

    Returns
    -------
    FloatArray
        The level at each variance, for normal sampling.
    """
    law = NoiseLaw(noise)
    place, weight = law.nodes()
    r = np.asarray(variances, dtype=np.float64).reshape(-1, 1)
    used = np.sqrt(np.maximum(r + k * place + added, 0.0))
    return np.asarray(law.within(law.quick_reach(level, used), np.sqrt(r)) @ weight, dtype=np.float64)


@lru_cache(maxsize=1024)
def allowance(noise: str, level: float, k: float) -> float:
    """Return the least allowance, from above: the level is checked on a coarse grid, then finely where it is lowest."""
    coarse = np.concatenate(([0.0], np.geomspace(1e-3, 1e3 * (1 + k), _COARSE)))
    added = _least(noise, level, k, coarse, 0.0)
    for _ in range(2):
        worst = int(np.argmin(coverage(noise, level, k, added, coarse)))
        near = np.linspace(coarse[max(worst - 1, 0)], coarse[min(worst + 1, coarse.size - 1)], _FINE)
        coarse = np.sort(np.concatenate((coarse, near)))
        added = _least(noise, level, k, near, added)
    return added


def _least(noise: str, level: float, k: float, variances: FloatArray, low: float) -> float:
    """Return the least allowance from `low` on with which the level holds at these variances."""

    def enough(added: float) -> bool:
        return bool((coverage(noise, level, k, added, variances) >= level - _ROUNDING).all())

    if low > 0 and enough(low):
        return low
    step = max(0.01 * low, 1e-3 * k * min(k, 1.0))
    high = low + step
    while not enough(high):  # doubles: about a thousand rounds to the largest double
        low, step = high, 2 * step
        high = low + step
        if math.isinf(high):
            msg = f"No allowance reaches the level {numeral(level)}."
            raise DomainError(msg)
    while high - low > max(1e-4 * high, _LEAST):  # halves
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
