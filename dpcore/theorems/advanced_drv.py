"""The classical advanced composition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.domains import COPIES, DELTA, LOSS, SLACK
from dpcore.core.numerals import numeral
from dpcore.core.rounding import sum_up, up
from dpcore.theorems.record import Account, ClosedFormBound, Theorem, TheoremOracle
from dpcore.theorems.releases import equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.domain import Statement


def advanced_drv(epsilon: float, delta: float, k: int, slack: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose k (epsilon, delta)-DP mechanisms by the classical advanced theorem.

    .. math:: \bigl(\varepsilon\sqrt{2k\log(1/\tilde\delta)} + k\varepsilon(e^\varepsilon-1),\;
              k\delta+\tilde\delta\bigr)

    with slack :math:`\tilde\delta` in (0, 1]. In words: the mean of the loss plus a few standard deviations; better
    than adding for many mechanisms of small epsilon only.
    Reference: Dwork, Rothblum, Vadhan (2010), Theorem III.3; Dwork, Roth (2014), Theorem 3.20.

    Parameters
    ----------
    epsilon : float
        Of each mechanism, at least 0.
    delta : float
        Of each mechanism, in [0, 1].
    k : int
        How many mechanisms, from 1.
    slack : float or sequence of float
        What is added to delta, in (0, 1]; one row each.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per slack.
    """
    step, failing = LOSS.check(epsilon), DELTA.check(delta)
    copies = COPIES.check(k)
    return THEOREM.statement_rows([(step, failing, copies)], SLACK.array(slack).tolist())


def _statement(statements: Sequence[Statement], slack: float) -> ClosedFormBound:
    epsilon, failing, k = equal(statements)
    growth = math.expm1(epsilon) if epsilon < 700 else (math.inf if epsilon > 0 else 0.0)
    bound = up(epsilon * math.sqrt(-2 * k * math.log(slack)) + k * epsilon * growth)
    total = sum_up([(failing, k), (slack, 1)])
    note = f"slack {numeral(slack)}" + (", delta clamped to 1" if total > 1 else "")
    return ClosedFormBound(bound, min(total, 1.0), f"{note}; {against_sum(bound, epsilon, k)}")


def against_sum(bound: float, epsilon: float, k: int) -> str:
    """Say whether a bound is better than adding."""
    return "smaller than the sum of epsilon" if bound < epsilon * k else "not smaller than the sum of epsilon"


THEOREM = Theorem(
    name="advanced_drv",
    title="Advanced composition",
    formula=r"\bigl(\varepsilon\sqrt{2k\log(1/\tilde\delta)}"
    r"+k\varepsilon(e^\varepsilon-1),\ k\delta+\tilde\delta\bigr)",
    meaning="The mean of the loss plus a few standard deviations, with generous constants.",
    reference="Dwork, Rothblum, Vadhan 2010, Theorem III.3; Dwork, Roth 2014, Theorem 3.20",
    kind="upper",
    # eps = log 2, k = 2, slack e^-1: log 2 * (2 + 2 * 1), delta 2 * 2^-10 + e^-1.
    oracles=(
        TheoremOracle(
            (0.6931471805599453, 2.0**-10, 2, 0.36787944117144233), 2.7725887222397811, 0.36983256617144233, 1e-14
        ),
    ),
    label="Advanced (DRV)",
    function=advanced_drv,
    statement=_statement,
    unlisted="It is about copies of one mechanism.",
    rough=True,
    shown=False,
    because="It bounds the sum of the losses by its mean and a few standard deviations.",
    account=Account(
        formula=r"\varepsilon_0\sqrt{2k\log(1/\tilde\delta)}+k\varepsilon_0(e^{\varepsilon_0}-1)",
        meaning="The mean of the loss plus a few standard deviations, both bounded generously.",
        reference="Dwork, Rothblum, Vadhan 2010",
    ),
)
