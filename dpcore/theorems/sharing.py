r"""How delta is shared between the releases and the theorem: one rule for every page, table and command.

A release of unbounded loss satisfies many statements :math:`(\varepsilon_i,\delta_i)`. The rule: releases of bounded loss
keep the failures they have; **half** of the delta these leave free is shared equally among all releases of unbounded
loss, and the other half stays for the theorem (its slack). The same statements enter every theorem, so that theorems
are compared on the same knowledge and a stronger one is never above a weaker one:

.. math:: \text{optimal} \le \text{simplified} \le \text{basic},\qquad \text{simplified} \le \text{advanced}.

Numbers use the whole statement: (E, D)-DP also promises every delta above D at a slightly smaller epsilon.
"""

from __future__ import annotations

import math

RULE = (
    "A release without a largest loss, such as Gaussian noise, has an ε only at a δ above 0: half of the free δ is shared "
    "equally among these releases, and each theorem uses the other half."
)
_PART = 0.5  # an even split: any other share moves every number of a theorem about statements
_LESS = 1 - 1e-12  # keeps the sum of 10^9 rounded shares below the delta that is free
ROUNDING = 1e-15  # a few units in the last place: a delta that differs by less counts as equal


def share(delta: float, failures: float, copies: int) -> float:
    """Return the delta that each release of unbounded loss gets on top of its own failure probability.

    Parameters
    ----------
    delta : float
        By how much all releases together may exceed e^epsilon, in [0, 1].
    failures : float
        Sum of the failure probabilities that the releases have at every epsilon.
    copies : int
        Number of releases of unbounded loss.

    Returns
    -------
    float
        At most 0 if no delta is free.

    Examples
    --------
    >>> share(1e-6, 0.0, 200)
    2.4999999999975e-09
    """
    return _PART * (delta - failures) * _LESS / copies if copies else 0.0


def statement_epsilon(epsilon: float, delta: float, at: float) -> float:
    r"""Return the smallest epsilon at delta = `at` of the statement (E, D)-DP, rounded up.

    :math:`\delta(x) = D + (1-D)\frac{e^E-e^x}{1+e^E}`, hence :math:`x = E + \log(1-t(1+e^{-E}))`,
    :math:`t=(\delta-D)/(1-D)`; inf where D is above `at`. Five times the double 0.05 is a little above 0.25: a D that
    differs from `at` by rounding counts as reached.
    """
    if at >= 1:
        return 0.0
    if delta > at * (1 + ROUNDING):
        return math.inf
    if math.isinf(epsilon):
        return math.inf
    spare = max(0.0, (at - delta) - ROUNDING * at) / max(1.0 - delta, 1e-300)
    inner = -spare * (1.0 + math.exp(-epsilon)) * (1 - ROUNDING)
    return 0.0 if inner <= -1 else max(0.0, epsilon + math.log1p(inner))
