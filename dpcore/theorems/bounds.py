r"""Closed-form composition bounds: the simplified optimal theorem and the two advanced ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.errors import DomainError
from dpcore.theorems import domain
from dpcore.theorems.rounding import UNIT, log_keep, sum_up, up
from dpcore.theorems.table import stack, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def kov_simplified(statements: object, slack: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose (epsilon_l, delta_l)-DP mechanisms in closed form, at the price of a `slack` added to delta.

    With :math:`A=\sum\varepsilon_l\tanh(\varepsilon_l/2)`, :math:`B=\sum\varepsilon_l^2` and slack
    :math:`\tilde\delta`,

    .. math:: \tilde\varepsilon = \min\Bigl\{\sum\varepsilon_l,\; A+\sqrt{2B\log(1/\tilde\delta)},\;
              A+\sqrt{2B\log(e+\sqrt B/\tilde\delta)}\Bigr\}, \qquad \delta = 1-(1-\tilde\delta)\prod(1-\delta_l).

    In words: the loss is about its mean A plus a few standard deviations sqrt(B). ``note`` names the branch that won.
    One row for each slack in (0, 1]; statements are (epsilon, delta) or (epsilon, delta, copies).
    Reference: Kairouz, Oh, Viswanath (2015), Theorems 3.4 and 3.5.
    """
    given = domain.statements(statements)
    rows = []
    for extra in domain.numbers(slack, "slack", high=1.0, low_open=True):
        epsilon, delta, branch = simplified_statement(given, extra)
        rows.append(table("kov_simplified", epsilon, delta, "upper", f"{branch}, slack {extra!r}"))
    return stack(rows)


def simplified_statement(statements: object, slack: float) -> tuple[float, float, str]:
    """Return the (epsilon, delta) of `kov_simplified` at one slack, both rounded up, and the branch that won."""
    given = domain.statements(statements)
    extra = domain.positive_probability(slack, "slack")
    epsilon, branch = _three_way(given, extra)
    kept = log_keep((failing, copies) for _, failing, copies in given)
    log_rest = -math.inf if extra == 1 else math.log1p(-extra) + kept
    return epsilon, min(1.0, up(-math.expm1(log_rest))), branch


def kov_simplified_epsilon(statements: object, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Return the envelope of `kov_simplified` over its slack: the best epsilon for a given total delta.

    The bound falls as the slack grows, so the best slack spends all of delta:
    :math:`\tilde\delta = 1-(1-\delta)/\prod(1-\delta_l)`. Below :math:`1-\prod(1-\delta_l)` no slack is left and
    epsilon is inf. In words: tell how much failure is acceptable in total, get the epsilon the closed form can
    promise.
    Reference: Kairouz, Oh, Viswanath (2015), Theorem 3.5.
    """
    given = domain.statements(statements)
    totals = domain.numbers(delta, "delta", high=1.0)
    kept = log_keep((failing, copies) for _, failing, copies in given)
    return stack(_spend(given, kept, total) for total in totals)


def _spend(given: tuple[domain.Statement, ...], kept: float, total: float) -> pd.DataFrame:
    """Return the row of one total delta."""
    name = "kov_simplified"
    if total == 1:
        return table(name, 0.0, 1.0, "upper", "delta is 1: nothing is promised")
    if kept == -math.inf or total < -math.expm1(kept) * (1 - 8 * UNIT):
        return table(
            name, math.inf, total, "upper", "inf: delta is below 1 - prod(1 - delta_l), which no epsilon removes"
        )
    rest = math.log1p(-total)
    # Rounded down: a slack too large would promise too much.
    extra = -math.expm1(rest - kept) * (1 - 8 * UNIT) - 8 * UNIT * (abs(kept) if kept else 0.0)
    if extra <= 0:
        # Without slack the sum of epsilons holds at 1 - prod(1 - delta_l), which rounding cannot tell from delta.
        safe = total if kept == 0 else max(total, up(-math.expm1(kept)))
        epsilon = sum_up((step, copies) for step, _, copies in given)
        return table(name, epsilon, safe, "upper", "sum of epsilon, no slack left")
    epsilon, branch = _three_way(given, extra)
    return table(name, epsilon, total, "upper", f"{branch}, slack {extra!r}")


def _three_way(given: tuple[domain.Statement, ...], slack: float) -> tuple[float, str]:
    """Return the smallest of the three epsilons, rounded up, and the name of its branch."""
    mean = up(math.fsum(copies * step * math.tanh(step / 2) for step, _, copies in given))
    # hypot takes the root of the sum of squares without overflow.
    spread = up(math.hypot(*(step * math.sqrt(copies) for step, _, copies in given)))
    branches = (
        (sum_up((step, copies) for step, _, copies in given), "sum of epsilon"),
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


def advanced_course(epsilon: float, k: int, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose k pure epsilon-DP mechanisms: :math:`(4\varepsilon\sqrt{2k\log(1/\delta)}, \delta)`-DP.

    Holds for :math:`\log(1/\delta) \ge \varepsilon^2 k`. In words: for a small delta epsilon grows like
    the root of k, not like k; the constant is generous.
    Reference: Mironov (2017), Corollary 1.
    """
    step, copies = domain.number(epsilon, "epsilon"), domain.integer(k, "k")
    rows = []
    for failing in domain.numbers(delta, "delta", high=1.0, low_open=True):
        if not course_applies(step, copies, failing):
            bound = math.exp(-min(745.0, step * step * copies)) if step < 1e150 else 0.0
            msg = f"delta must be in (0, exp(-epsilon^2 k)] = (0, {bound:.6g}] for this theorem, got {failing!r}."
            raise DomainError(msg)
        bound = up(4 * step * math.sqrt(-2 * copies * math.log(failing)))
        rows.append(table("advanced_course", bound, failing, "upper", _against_sum(bound, step, copies)))
    return stack(rows)


def course_applies(epsilon: float, k: int, delta: float) -> bool:
    """Return whether log(1/delta) >= epsilon^2 k, beyond doubt by rounding unless epsilon is 0."""
    needed = epsilon * epsilon * float(k) if epsilon < 1e150 else math.inf
    return -math.log(delta) >= up(needed)


def advanced_drv(epsilon: float, delta: float, k: int, slack: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose k (epsilon, delta)-DP mechanisms by the classical advanced theorem.

    .. math:: \bigl(\varepsilon\sqrt{2k\log(1/\tilde\delta)} + k\varepsilon(e^\varepsilon-1),\;
              k\delta+\tilde\delta\bigr)

    with slack :math:`\tilde\delta` in (0, 1]. In words: the mean of the loss plus a few standard deviations; better
    than adding for many mechanisms of small epsilon only.
    Reference: Dwork, Rothblum, Vadhan (2010), Theorem III.3; Dwork, Roth (2014), Theorem 3.20.
    """
    step, failing = domain.number(epsilon, "epsilon"), domain.probability(delta, "delta")
    copies = domain.integer(k, "k")
    growth = math.expm1(step) if step < 700 else (math.inf if step > 0 else 0.0)
    rows = []
    for extra in domain.numbers(slack, "slack", high=1.0, low_open=True):
        bound = up(step * math.sqrt(-2 * copies * math.log(extra)) + copies * step * growth)
        total = sum_up([(failing, copies), (extra, 1)])
        note = f"slack {extra!r}" + (", delta clamped to 1" if total > 1 else "")
        rows.append(
            table("advanced_drv", bound, min(total, 1.0), "upper", f"{note}; {_against_sum(bound, step, copies)}")
        )
    return stack(rows)


def _against_sum(bound: float, epsilon: float, k: int) -> str:
    return "smaller than the sum of epsilon" if bound < epsilon * k else "not smaller than the sum of epsilon"
