"""Parallel composition, exact: the union of the parts' regions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.theorems import domain
from dpcore.theorems.record import DISJOINT, Theorem, TheoremOracle
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd


def parallel_union(statements: object) -> pd.DataFrame:
    r"""Return the union (convex envelope) of the regions of mechanisms on disjoint parts, which is a single statement.

    A region (epsilon, delta) is the hull of :math:`(0, 1-\delta)` and the equal-error point
    :math:`a = (1-\delta)/(1+e^\varepsilon)` on the diagonal, mirrored. The union keeps the largest delta and the
    smallest a:

    .. math:: \delta^* = \max_l\delta_l, \qquad
              \varepsilon^* = \log\Bigl((1-\delta^*)\max_l\frac{1+e^{\varepsilon_l}}{1-\delta_l} - 1\Bigr)
              \le \max_l\varepsilon_l .

    In words: the exact promise to a person who does not know in which part their record lies; same assumptions as
    `parallel`.
    Reference: hull of two trade-off functions; Dong, Roth, Su (2022), Proposition 2.4, for what makes a function one.

    Parameters
    ----------
    statements : sequence of tuple
        (epsilon, delta) or (epsilon, delta, copies), at least one.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row.
    """
    triples = domain.statements(statements)
    delta = max(failing for _, failing, _ in triples)
    if delta == 1:
        return table("parallel_union", 0.0, 1.0, "exact", "a part with delta 1 promises nothing")
    step, failing, _ = max(triples, key=lambda part: (_log_inverse_error(part[0], part[1]), part[1]))
    note = "union of the parts' regions"
    if failing == delta:
        return table("parallel_union", step, delta, "exact", note)
    scaled = _log_inverse_error(step, failing) + math.log1p(-delta)
    epsilon = scaled + math.log1p(-math.exp(-scaled)) if scaled > math.log(2) else 0.0
    return table("parallel_union", min(max(epsilon, 0.0), step), delta, "exact", note)


def _log_inverse_error(epsilon: float, delta: float) -> float:
    """Return log((1 + e^epsilon) / (1 - delta)), minus the log of the equal-error rate."""
    return epsilon + math.log1p(math.exp(-epsilon)) - math.log1p(-delta)


THEOREM = Theorem(
    name="parallel_union",
    title="Parallel composition, exact",
    formula=r"\Bigl(\log\bigl((1-\delta^*)\max_l\tfrac{1+e^{\varepsilon_l}}{1-\delta_l}-1\bigr),\ \delta^*\Bigr),"
    r"\ \delta^*=\max_l\delta_l",
    meaning="The convex envelope of the parts' regions is again the region of one statement.",
    assumptions=DISJOINT,
    neighbours="add/remove",
    reference="Convex envelope of trade-off functions: Dong, Roth, Su 2022, Proposition 2.4",
    kind="exact",
    # (log 3, 0) and (0, 1/4): (3/4) * 4 - 1 = 2.
    oracles=(TheoremOracle(([(1.0986122886681098, 0.0), (0.0, 0.25)],), 0.6931471805599453, 0.25, 1e-15),),
    function=parallel_union,
)
