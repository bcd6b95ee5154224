r"""How delta is shared between the releases and the theorem, decided once for every page, table and command.

A release of unbounded loss satisfies many statements :math:`(\varepsilon_i,\delta_i)`. The rule: releases of bounded loss
keep the failures they have; **half** of the delta these leave free is shared equally among all releases of unbounded
loss, and the other half stays for the theorem (its slack). The same statements enter every theorem, so that theorems
are compared on the same knowledge and a stronger one is never above a weaker one:

.. math:: \text{optimal} \le \text{simplified} \le \text{basic},\qquad \text{simplified} \le \text{advanced}.

Numbers are those of the whole statement: (E, D)-DP also promises every delta above D at a slightly smaller epsilon.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.theorems.bounds import advanced_course, advanced_drv, kov_simplified_epsilon
from dpcore.theorems.rounding import failure, sum_up, up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.theorems.domain import Statement

RULE = "Half of the δ that is free is shared equally among the releases of unbounded loss; the other half is the theorem's own."
_PART = 0.5
_LESS = 1 - 1e-12  # what is shared stays below what there is, rounding included
_ROUNDING = 1e-15


def share(delta: float, taken: float, copies: int) -> float:
    """Return the delta that each release of unbounded loss is given beside the infinite losses it has.

    Parameters
    ----------
    delta : by how much all releases together may exceed e^epsilon, in [0, 1].
    taken : sum of the failures that the releases have anyway, whatever epsilon is.
    copies : number of releases of unbounded loss.

    Returns
    -------
    float
        At most 0 where nothing is free.

    Examples
    --------
    >>> share(1e-6, 0.0, 200)
    2.4999999999975e-09
    """
    return _PART * (delta - taken) * _LESS / copies if copies else 0.0


def statement_epsilon(epsilon: float, delta: float, at: float) -> float:
    r"""Return the smallest epsilon at delta = `at` of the statement (E, D)-DP, rounded up.

    :math:`\delta(x) = D + (1-D)\frac{e^E-e^x}{1+e^E}`, hence :math:`x = E + \log(1-t(1+e^{-E}))`,
    :math:`t=(\delta-D)/(1-D)`; inf where D is above `at`. Five times the double 0.05 is a little above 0.25: a D that
    differs from `at` by rounding counts as reached.
    """
    if at >= 1:
        return 0.0
    if delta > at * (1 + _ROUNDING):
        return math.inf
    if math.isinf(epsilon):
        return math.inf
    spare = max(0.0, (at - delta) - _ROUNDING * at) / max(1.0 - delta, 1e-300)
    inner = -spare * (1.0 + math.exp(-epsilon)) * (1 - _ROUNDING)
    return 0.0 if inner <= -1 else max(0.0, epsilon + math.log1p(inner))


def basic_epsilon(statements: Sequence[Statement], delta: float) -> float:
    """Return epsilon at `delta` of the basic theorem; inf where the failures exceed `delta`."""
    failing = min(1.0, sum_up((failing, count) for _, failing, count in statements))
    return statement_epsilon(sum_up((step, count) for step, _, count in statements), failing, delta)


def simplified_epsilon(statements: Sequence[Statement], delta: float) -> float:
    """Return epsilon at `delta` of the simplified optimal theorem, its slack spending all that is left."""
    rows = kov_simplified_epsilon(statements, delta)
    total, lost = sum_up((step, count) for step, _, count in statements), failure((d, n) for _, d, n in statements)
    plain = statement_epsilon(total, min(1.0, up(lost)), delta)  # the branch without slack, as a whole statement
    # the row holds at its own delta, which rounding may put above the one asked
    found = float(rows["epsilon"].iloc[0]) if float(rows["delta"].iloc[0]) <= delta * (1 + _ROUNDING) else math.inf
    return min(found, plain, basic_epsilon(statements, delta))


def advanced_epsilon(epsilon: float, failing: float, k: int, delta: float) -> float:
    """Return epsilon at `delta` of the classical advanced theorem for k equal statements; inf without slack."""
    if delta >= 1:
        return 0.0
    slack = (delta - sum_up([(failing, k)])) * (1 - _ROUNDING)
    return float(advanced_drv(epsilon, failing, k, slack)["epsilon"].iloc[0]) if slack > 0 else math.inf


def pure_advanced_epsilon(epsilon: float, k: int, delta: float) -> float:
    """Return epsilon at `delta` of the advanced theorem of pure privacy, where it applies; it uses all of delta."""
    return float(advanced_course(epsilon, k, delta)["epsilon"].iloc[0])
