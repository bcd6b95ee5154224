r"""Composition by adding, and parallel composition on disjoint parts of the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.theorems import domain
from dpcore.theorems.rounding import sum_up
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd


def basic(statements: object) -> pd.DataFrame:
    r"""Compose (epsilon_l, delta_l)-DP mechanisms by adding: :math:`(\sum\varepsilon_l, \sum\delta_l)`-DP.

    In words: epsilons and deltas add up, whatever the mechanisms are and however adaptively they are
    chosen. Statements are (epsilon, delta) or (epsilon, delta, copies). The sum is tight, hence ``exact``, only if at
    most one epsilon and at most one delta are positive.
    Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor (2006); Dwork, Roth (2014), Theorem 3.16.
    """
    given = domain.statements(statements)
    epsilon = sum_up((step, copies) for step, _, copies in given)
    delta = sum_up((failing, copies) for _, failing, copies in given)
    moving = sum(copies for step, _, copies in given if step > 0)
    failing_parts = sum(copies for _, failing, copies in given if failing > 0)
    tight = (moving <= 1 and failing_parts <= 1) or any(failing == 1 for _, failing, _ in given)
    note = "delta clamped to 1: nothing is promised" if delta > 1 else "sum of all"
    return table("basic", epsilon, min(delta, 1.0), "exact" if tight else "upper", note)


def parallel(statements: object) -> pd.DataFrame:
    r"""Bound mechanisms on disjoint parts of the data: :math:`(\max\varepsilon_l, \max\delta_l)`-DP.

    In words: one person's record touches one part only, so the worst part counts. Needs add/remove neighbours, or a
    partition that does not depend on the value that changes; under substitution a record may leave one part and enter
    another, and the two parts compose. ``exact`` when one statement is the largest in both numbers.
    Reference: McSherry (2009), Theorem 4.
    """
    given = domain.statements(statements)
    epsilon, delta = max(step for step, _, _ in given), max(failing for _, failing, _ in given)
    tight = delta == 1 or any(step == epsilon and failing == delta for step, failing, _ in given)
    note = "one part is the worst in both numbers" if tight else "largest epsilon and largest delta of different parts"
    return table("parallel", epsilon, delta, "exact" if tight else "upper", note)


def parallel_union(statements: object) -> pd.DataFrame:
    r"""Return the union (convex envelope) of the regions of mechanisms on disjoint parts, which is a single statement.

    A region (epsilon, delta) is the hull of :math:`(0, 1-\delta)` and the equal-error point
    :math:`a = (1-\delta)/(1+e^\varepsilon)` on the diagonal, mirrored. The union keeps the largest delta and the
    smallest a:

    .. math:: \delta^* = \max_l\delta_l, \qquad
              \varepsilon^* = \log\Bigl((1-\delta^*)\max_l\frac{1+e^{\varepsilon_l}}{1-\delta_l} - 1\Bigr)
              \le \max_l\varepsilon_l .

    In words: the exact promise to a person who does not know in which part the own record lies; same assumptions as
    `parallel`.
    Reference: hull of two trade-off functions; Dong, Roth, Su (2022), Proposition 2.4, for what makes one.
    """
    given = domain.statements(statements)
    delta = max(failing for _, failing, _ in given)
    if delta == 1:
        return table("parallel_union", 0.0, 1.0, "exact", "a part with delta 1 promises nothing")
    step, failing, _ = max(given, key=lambda part: (_log_inverse_error(part[0], part[1]), part[1]))
    note = "union of the parts' regions"
    if failing == delta:
        return table("parallel_union", step, delta, "exact", note)
    scaled = _log_inverse_error(step, failing) + math.log1p(-delta)
    epsilon = scaled + math.log1p(-math.exp(-scaled)) if scaled > math.log(2) else 0.0
    return table("parallel_union", min(max(epsilon, 0.0), step), delta, "exact", note)


def _log_inverse_error(epsilon: float, delta: float) -> float:
    """Return log((1 + e^epsilon) / (1 - delta)), minus the log of the equal-error rate."""
    return epsilon + math.log1p(math.exp(-epsilon)) - math.log1p(-delta)
