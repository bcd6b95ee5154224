r"""Group privacy: what a promise to one person says about k people at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.theorems import domain
from dpcore.theorems.lattice import reserve
from dpcore.theorems.rounding import sum_up, up
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def group(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Turn (epsilon, delta)-DP for one person into a statement about groups of k.

    .. math:: \Bigl(k\varepsilon,\; \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Bigr), \qquad
              k\delta \text{ at } \varepsilon = 0 .

    In words: k steps from neighbour to neighbour; each multiplies the odds and the failures made so far. A delta
    above 1 is clamped to 1 and the note says so. The statement is one line of the exact region of `group_exact`.
    Reference: Vadhan (2017), Lemma 2.2; Dwork, Roth (2014), Theorem 2.2 (pure case).
    """
    step, failing = domain.number(epsilon, "epsilon"), domain.probability(delta, "delta")
    size = domain.integer(k, "k")
    total = sum_up([(step, size)])
    log_sum = math.inf if math.isinf(total) else float(_log_geometric(step, np.array([float(size)]))[0])
    log_delta = -math.inf if failing == 0 else math.log(failing) + log_sum
    if failing == 0 or size == 1:
        raised = failing
    elif log_delta > 0:
        raised = math.inf
    else:
        raised = up(
            math.exp(log_delta), error=8 * 2.0**-53 * (abs(log_sum) + abs(math.log(failing))) * math.exp(log_delta)
        )
    clamped = raised > 1
    note = "delta clamped to 1: nothing is promised" if clamped else f"groups of {size}"
    return table("group", total, min(raised, 1.0), "exact" if size == 1 else "upper", note)


def group_exact(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Return the exact region of groups of k for an (epsilon, delta)-DP mechanism: :math:`1-(1-f)^{\circ k}`.

    With :math:`S_m=(e^{m\varepsilon}-1)/(e^\varepsilon-1)` the corners are, for m = ceil(k/2)..k and n = k - m,

    .. math:: \bigl((m-n)\varepsilon,\; 1-e^{-n\varepsilon}(1-\delta(S_m+S_n))\bigr)

    as long as :math:`\delta S_{m-1} < (1-\delta)/(1+e^\varepsilon)`: 1 - f is a line of slope e^epsilon up to that
    point and one of slope e^-epsilon after it, and its k-fold composition climbs m times, then n times. In words: the
    best an attacker can do against a chain of k neighbours; every corner is attained.
    Reference: Dong, Roth, Su (2022), Theorem 2.14 (exact for the worst-case mechanism).
    """
    step, failing = domain.number(epsilon, "epsilon"), domain.probability(delta, "delta")
    size = domain.integer(k, "k", high=domain.LARGEST_LATTICE_K)
    if step == 0:
        total = min(1.0, size * failing)
        return table("group_exact", 0.0, total, "exact", "no finite loss: one number says it all")
    domain.number(step * size, "k * epsilon")
    reserve(size // 2 + 1, "group_exact")
    climbs = np.arange(float(size - size // 2), size + 1.0)
    log_corner = _log_equal_error(step, failing)
    log_failing = math.log(failing) if failing > 0 else -math.inf
    active = climbs[(climbs <= 1) | (log_failing + _log_geometric(step, climbs - 1) < log_corner)]
    if failing == 1 or active.size == 0:
        return table("group_exact", 0.0, 1.0, "exact", "the failures of the chain add up to 1: nothing is promised")
    falls = size - active
    with np.errstate(under="ignore"):
        failures = np.exp(log_failing + _log_geometric(step, active) - falls * step)
        failures += np.exp(log_failing + _log_geometric(step, falls) - falls * step)
        deltas = np.minimum(-np.expm1(-falls * step) + failures, 1.0)
    corners = (active - falls) * step
    if falls[-1] == 0:
        corners[-1] = sum_up([(step, size)])  # rounded down, the largest loss would not cover itself
    return table("group_exact", corners, deltas, "exact", "corner")


def _log_geometric(epsilon: float, count: FloatArray) -> FloatArray:
    """Return log(1 + e^epsilon + ... + e^((count-1) epsilon)), -inf for count 0."""
    with np.errstate(divide="ignore"):
        if epsilon == 0:
            return np.asarray(np.log(count), dtype=np.float64)
        # The ratio first: two logarithms of tiny numbers would cancel.
        rest = np.log(np.expm1(-count * epsilon) / math.expm1(-epsilon))
        return np.asarray((count - 1) * epsilon + rest, dtype=np.float64)


def _log_equal_error(epsilon: float, delta: float) -> float:
    """Return log((1 - delta) / (1 + e^epsilon))."""
    return (math.log1p(-delta) if delta < 1 else -math.inf) - epsilon - math.log1p(math.exp(-epsilon))
