"""Group privacy: what a promise to one person says about k people at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import COPIES, DELTA, LOSS
from dpcore.core.rounding import sum_up, up
from dpcore.theorems.record import SINGLE, Route, Theorem, TheoremOracle
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def group(epsilon: float, delta: float, k: int) -> pd.DataFrame:
    r"""Turn (epsilon, delta)-DP for one person into a statement about groups of k.

    .. math:: \Bigl(k\varepsilon,\; \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Bigr), \qquad
              k\delta \text{ at } \varepsilon = 0 .

    In words: k steps from neighbour to neighbour; each step multiplies the odds and the failures so far. A delta
    above 1 is clamped to 1 and the note says so. The statement is one line of the exact region of `group_exact`.
    Reference: Vadhan (2017), Lemma 2.2; Dwork, Roth (2014), Theorem 2.2 (pure case).

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
        `theorem, epsilon, delta, kind, note`: one row.
    """
    step, failing = LOSS.check(epsilon), DELTA.check(delta)
    size = COPIES.check(k)
    total = sum_up([(step, size)])
    log_sum = math.inf if math.isinf(total) else float(log_geometric(step, np.array([float(size)]))[0])
    log_delta = -math.inf if failing == 0 else math.log(failing) + log_sum
    if failing == 0 or size == 1:
        failures = failing
    elif log_delta > 0:
        failures = math.inf
    else:
        failures = up(
            math.exp(log_delta), error=8 * 2.0**-53 * (abs(log_sum) + abs(math.log(failing))) * math.exp(log_delta)
        )
    clamped = failures > 1
    note = "delta clamped to 1: nothing is promised" if clamped else f"groups of {size}"
    return table("group", total, min(failures, 1.0), "exact" if size == 1 else "upper", note)


def log_geometric(epsilon: float, count: FloatArray) -> FloatArray:
    """Return log(1 + e^epsilon + ... + e^((count-1) epsilon)), -inf for count 0."""
    with np.errstate(divide="ignore"):
        if epsilon == 0:
            return np.asarray(np.log(count), dtype=np.float64)
        # The ratio first: two logarithms of tiny numbers would cancel.
        rest = np.log(np.expm1(-count * epsilon) / math.expm1(-epsilon))
        return np.asarray((count - 1) * epsilon + rest, dtype=np.float64)


THEOREM = Theorem(
    name="group",
    title="Group privacy",
    formula=r"\Bigl(k\varepsilon,\ \delta\tfrac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Bigr)",
    meaning="What the promise to one person says about k people at once.",
    assumptions=SINGLE,
    reference="Vadhan 2017, Lemma 2.2",
    kind="upper",
    oracles=(
        TheoremOracle((2.0, 0.01, 2), 4.0, 0.08389056098930651, 1e-14),
        TheoremOracle((0.5, 0.01, 3), 1.5, 0.053670030991591735, 1e-14),
    ),
    function=group,
    route=Route(
        "dp",
        "group",
        r"\bigl(k\varepsilon,\ \delta\tfrac{e^{k\varepsilon}-1}{e^\varepsilon-1}\bigr)",
        ("dp(2, 0.01)", "delta", 0.08389056098930651, 1e-13, "0.01 (1 + e^2)"),
    ),
)
