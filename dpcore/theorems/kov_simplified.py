"""The optimal composition in closed form, at the price of a slack added to delta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.domains import DELTA, SLACK
from dpcore.core.numerals import numeral
from dpcore.core.rounding import UNIT, failure, log_keep, sum_up, up
from dpcore.theorems import domain
from dpcore.theorems.basic import basic_epsilon
from dpcore.theorems.record import Account, ClosedFormBound, Promise, Theorem, TheoremOracle
from dpcore.theorems.sharing import ROUNDING, statement_epsilon
from dpcore.theorems.table import stack, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.domain import Statement
    from dpcore.theorems.releases import Releases


def kov_simplified(statements: object, slack: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose (epsilon_l, delta_l)-DP mechanisms in closed form, at the price of a `slack` added to delta.

    With :math:`A=\sum\varepsilon_l\tanh(\varepsilon_l/2)`, :math:`B=\sum\varepsilon_l^2` and slack
    :math:`\tilde\delta`,

    .. math:: \tilde\varepsilon = \min\Bigl\{\sum\varepsilon_l,\; A+\sqrt{2B\log(1/\tilde\delta)},\;
              A+\sqrt{2B\log(e+\sqrt B/\tilde\delta)}\Bigr\}, \qquad \delta = 1-(1-\tilde\delta)\prod(1-\delta_l).

    In words: the loss is about its mean A plus a few standard deviations sqrt(B). ``note`` names the branch that won.
    One row for each slack in (0, 1]; statements are (epsilon, delta) or (epsilon, delta, copies).
    Reference: Kairouz, Oh, Viswanath (2015), Theorems 3.4 and 3.5.

    Parameters
    ----------
    statements : sequence of tuple
        (epsilon, delta) or (epsilon, delta, copies), at least one.
    slack : float or sequence of float
        What is added to delta, in (0, 1]; one row each.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per slack.
    """
    triples = domain.statements(statements)
    return THEOREM.statement_rows(triples, SLACK.array(slack).tolist())


def _statement(statements: Sequence[Statement], slack: float) -> ClosedFormBound:
    """Return the statement at one slack, both numbers rounded up."""
    triples = domain.statements(statements)
    epsilon, branch = _smallest_branch(triples, slack)
    log_success = log_keep((failing, copies) for _, failing, copies in triples)
    log_rest = -math.inf if slack == 1 else math.log1p(-slack) + log_success
    return ClosedFormBound(epsilon, min(1.0, up(-math.expm1(log_rest))), f"{branch}, slack {numeral(slack)}")


def kov_simplified_epsilon(statements: object, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Return the envelope of `kov_simplified` over its slack: the best epsilon for a given total delta.

    The bound falls as the slack grows, so the best slack spends all of delta:
    :math:`\tilde\delta = 1-(1-\delta)/\prod(1-\delta_l)`. Below :math:`1-\prod(1-\delta_l)` no slack is left and
    epsilon is inf. In words: tell how much failure is acceptable in total, get the epsilon the closed form can
    promise.
    Reference: Kairouz, Oh, Viswanath (2015), Theorem 3.5.

    Parameters
    ----------
    statements : sequence of tuple
        (epsilon, delta) or (epsilon, delta, copies), at least one.
    delta : float or sequence of float
        Of the composition, in [0, 1]; one row each.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per delta.
    """
    triples = domain.statements(statements)
    totals = DELTA.array(delta).tolist()
    log_success = log_keep((failing, copies) for _, failing, copies in triples)
    return stack(_envelope_row(triples, log_success, total) for total in totals)


def _envelope_row(triples: Sequence[Statement], log_success: float, total: float) -> pd.DataFrame:
    """Return the row of one total delta."""
    name = "kov_simplified"
    if total == 1:
        return table(name, 0.0, 1.0, "upper", "delta is 1: nothing is promised")
    if log_success == -math.inf or total < -math.expm1(log_success) * (1 - 8 * UNIT):
        return table(
            name, math.inf, total, "upper", "inf: delta is below 1 - prod(1 - delta_l), which no epsilon removes"
        )
    rest = math.log1p(-total)
    # Rounded down: a slack too large would promise too much.
    extra = -math.expm1(rest - log_success) * (1 - 8 * UNIT) - 8 * UNIT * (abs(log_success) if log_success else 0.0)
    if extra <= 0:
        # Without slack the sum of epsilons holds at 1 - prod(1 - delta_l), which rounding cannot tell from delta.
        safe = total if log_success == 0 else max(total, up(-math.expm1(log_success)))
        epsilon = sum_up((step, copies) for step, _, copies in triples)
        return table(name, epsilon, safe, "upper", "sum of epsilon, no slack left")
    epsilon, branch = _smallest_branch(triples, extra)
    return table(name, epsilon, total, "upper", f"{branch}, slack {numeral(extra)}")


def _smallest_branch(triples: Sequence[Statement], slack: float) -> tuple[float, str]:
    """Return the smallest of the three epsilons, rounded up, and the name of its branch."""
    mean = up(math.fsum(copies * step * math.tanh(step / 2) for step, _, copies in triples))
    # hypot takes the root of the sum of squares without overflow.
    spread = up(math.hypot(*(step * math.sqrt(copies) for step, _, copies in triples)))
    branches = (
        (sum_up((step, copies) for step, _, copies in triples), "sum of epsilon"),
        (up(mean + spread * math.sqrt(-2 * math.log(slack))), "log(1/slack)"),
        (up(mean + spread * math.sqrt(2 * _log_shifted(spread, slack))), "log(e + sqrt(B)/slack)"),
    )
    return min(branches)


def _log_shifted(spread: float, slack: float) -> float:
    """Return log(e + spread / slack) without overflow."""
    if spread == 0:
        return 1.0
    larger = math.log(spread) - math.log(slack)
    return larger + math.log1p(math.exp(1 - larger)) if larger > 1 else 1.0 + math.log1p(math.exp(larger - 1))


def _epsilon(releases: Releases, delta: float) -> Promise:
    """Return epsilon at delta, the slack spending all that is left."""
    statements = releases.statements(delta)
    triples = statements.triples
    row = kov_simplified_epsilon(triples, delta).iloc[0]
    total, lost = sum_up((step, count) for step, _, count in triples), failure((d, n) for _, d, n in triples)
    plain = statement_epsilon(total, min(1.0, up(lost)), delta)  # the branch without slack, as a whole statement
    # the row holds at its own delta, which rounding may put above `delta`
    bound = float(row["epsilon"]) if float(row["delta"]) <= delta * (1 + ROUNDING) else math.inf
    return Promise(min(bound, plain, basic_epsilon(triples, delta)), "upper", statements.note)


THEOREM = Theorem(
    name="kov_simplified",
    title="Optimal composition, closed form",
    formula=r"\min\bigl\{\sum\varepsilon_l,\ A+\sqrt{2B\log(1/\tilde\delta)},\ "
    r"A+\sqrt{2B\log(e+\sqrt B/\tilde\delta)}\bigr\},\ "
    r"1-(1-\tilde\delta)\prod(1-\delta_l);\ "
    r"A=\sum\varepsilon_l\tanh\tfrac{\varepsilon_l}{2},\ B=\sum\varepsilon_l^2",
    meaning="The mean of the loss plus a few standard deviations, for a chosen extra δ.",
    reference="Kairouz, Oh, Viswanath 2015, Theorems 3.4 and 3.5",
    kind="upper",
    oracles=(TheoremOracle(([(0.05, 0.0)] * 20, 1e-3), 0.7613352285668463, 1e-3, 1e-14),),
    label="KOV simplified",
    function=kov_simplified,
    statement=_statement,
    epsilon=_epsilon,
    never_above=("basic",),
    because="It bounds the sum of the losses by its mean and a few standard deviations.",
    account=Account(
        formula=r"\min\{k\varepsilon_0,\ k\varepsilon_0\tanh\tfrac{\varepsilon_0}2+\varepsilon_0\sqrt{2k\log(1/\tilde\delta)},\dots\}",
        meaning="A closed form above the optimal composition of (ε, δ) statements.",
        reference="Kairouz, Oh, Viswanath 2015, Theorem 3.5",
    ),
)
