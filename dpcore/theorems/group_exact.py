"""Group privacy, exact: the best an attacker can do against a chain of k neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import DELTA, LOSS
from dpcore.core.rounding import sum_up
from dpcore.theorems.domain import LATTICE_COPIES
from dpcore.theorems.group import log_geometric
from dpcore.theorems.lattice import reserve
from dpcore.theorems.record import SINGLE, Route, Theorem, TheoremOracle
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd


def group_exact(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Return the exact region of groups of k for an (epsilon, delta)-DP mechanism: :math:`1-(1-f)^{\circ k}`.

    With :math:`S_m=(e^{m\varepsilon}-1)/(e^\varepsilon-1)` the corners are, for m = ceil(k/2)..k and n = k - m,

    .. math:: \bigl((m-n)\varepsilon,\; 1-e^{-n\varepsilon}(1-\delta(S_m+S_n))\bigr)

    as long as :math:`\delta S_{m-1} < (1-\delta)/(1+e^\varepsilon)`: 1 - f is a line of slope e^epsilon up to that
    point and one of slope e^-epsilon after it, and its k-fold composition climbs m times, then n times. In words: the
    best an attacker can do against a chain of k neighbours; every corner is attained.
    Reference: Dong, Roth, Su (2022), Theorem 2.14 (exact for the worst-case mechanism).

    Parameters
    ----------
    epsilon : float
        Of each mechanism, at least 0.
    delta : float
        Of each mechanism, in [0, 1].
    k : int
        Size of the group, from 1.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per corner.
    """
    step, failing = LOSS.check(epsilon), DELTA.check(delta)
    size = LATTICE_COPIES.check(k)
    if step == 0:
        total = min(1.0, size * failing)
        return table("group_exact", 0.0, total, "exact", "no finite loss: one number says it all")
    LOSS.but(name="k * epsilon").check(step * size)
    reserve(size // 2 + 1, "group_exact")
    climbs = np.arange(float(size - size // 2), size + 1.0)
    log_corner = _log_equal_error(step, failing)
    log_failing = math.log(failing) if failing > 0 else -math.inf
    active = climbs[(climbs <= 1) | (log_failing + log_geometric(step, climbs - 1) < log_corner)]
    if failing == 1 or active.size == 0:
        return table("group_exact", 0.0, 1.0, "exact", "the failures of the chain add up to 1: nothing is promised")
    falls = size - active
    with np.errstate(under="ignore"):
        failures = np.exp(log_failing + log_geometric(step, active) - falls * step)
        failures += np.exp(log_failing + log_geometric(step, falls) - falls * step)
        deltas = np.minimum(-np.expm1(-falls * step) + failures, 1.0)
    corners = (active - falls) * step
    if falls[-1] == 0:
        corners[-1] = sum_up([(step, size)])  # rounded down, the largest loss would not cover itself
    return table("group_exact", corners, deltas, "exact", "corner")


def _log_equal_error(epsilon: float, delta: float) -> float:
    """Return log((1 - delta) / (1 + e^epsilon))."""
    return (math.log1p(-delta) if delta < 1 else -math.inf) - epsilon - math.log1p(math.exp(-epsilon))


THEOREM = Theorem(
    name="group_exact",
    title="Group privacy, exact",
    formula=r"1-(1-f)^{\circ k}:\ \bigl((m-n)\varepsilon,\ 1-e^{-n\varepsilon}(1-\delta(S_m+S_n))\bigr),\ m+n=k,\ "
    r"S_m=\tfrac{e^{m\varepsilon}-1}{e^\varepsilon-1}",
    meaning="The best an attacker can do against a chain of k neighbours.",
    assumptions=SINGLE,
    reference="Dong, Roth, Su 2022, Theorem 2.14",
    kind="exact",
    oracles=(
        TheoremOracle((2.0, 0.01, 2), 4.0, 0.08389056098930651, 1e-14),
        # delta = 0, k = 2: total variation 1 - e^-eps.
        TheoremOracle((0.6931471805599453, 0.0, 2), 0.0, 0.5, 1e-15),
    ),
    function=group_exact,
    route=Route(
        "dp",
        "group",
        r"1-(1-f)^{\circ k}",
        ("dp(log(2))", "delta", 0.5, 1e-14, "1 - e^-epsilon at 0, k = 2"),
    ),
)
