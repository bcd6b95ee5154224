"""Advanced composition of pure privacy, with a generous constant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.domains import COPIES, LOSS, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.rounding import up
from dpcore.theorems.advanced_drv import against_sum
from dpcore.theorems.record import ADAPTIVE, ClosedFormBound, Promise, Theorem, TheoremOracle
from dpcore.theorems.releases import equal
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.domain import Statement
    from dpcore.theorems.releases import Releases


def advanced_course(epsilon: float, k: int, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Compose k pure epsilon-DP mechanisms: :math:`(4\varepsilon\sqrt{2k\log(1/\delta)}, \delta)`-DP.

    Holds for :math:`\log(1/\delta) \ge \varepsilon^2 k`. In words: for a small delta epsilon grows like
    the root of k, not like k; the constant is generous.
    Reference: Mironov (2017), Corollary 1.

    Parameters
    ----------
    epsilon : float
        Of each mechanism, at least 0.
    k : int
        How many mechanisms, from 1.
    delta : float or sequence of float
        Of the composition, in (0, exp(-epsilon^2 k)]; one row each.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per delta.
    """
    step, copies = LOSS.check(epsilon), COPIES.check(k)
    return THEOREM.statement_rows([(step, 0.0, copies)], SHARE.but(name="delta").array(delta).tolist())


def _statement(statements: Sequence[Statement], slack: float) -> ClosedFormBound:
    epsilon, failing, k = equal(statements)
    if failing > 0:
        msg = f"It is about δ = 0 per mechanism, here δ = {outward(failing, 4)}."
        raise DomainError(msg)
    if not _holds(epsilon, k, slack):
        bound = math.exp(-min(745.0, epsilon * epsilon * k)) if epsilon < 1e150 else 0.0
        msg = f"delta must be in (0, exp(-epsilon^2 k)] = (0, {outward(bound, 6, up=False)}] for this theorem, got {numeral(slack)}."
        raise DomainError(msg)
    bound = up(4 * epsilon * math.sqrt(-2 * k * math.log(slack)))
    return ClosedFormBound(bound, slack, against_sum(bound, epsilon, k))


def _holds(epsilon: float, k: int, delta: float) -> bool:
    """Return whether log(1/delta) >= epsilon^2 k, with a margin for rounding unless epsilon is 0."""
    least = epsilon * epsilon * float(k) if epsilon < 1e150 else math.inf
    return -math.log(delta) >= up(least)


def _objection(releases: Releases, delta: float) -> str:
    epsilon, failing, k = equal(releases.statements(delta).triples)
    if failing > 0 or not delta > 0:
        actual = f"δ = {outward(failing, 4)}" if failing > 0 else "a total δ of 0"
        return f"It is about δ = 0 per release and a total δ above 0; here {actual}."
    if not _holds(epsilon, k, delta):
        most = outward(-math.log(delta), 4, up=False)
        return f"It holds for ε²k up to log(1/δ) = {most} only, here {nearest(epsilon * epsilon * k, 4)}."
    return ""


def _epsilon(releases: Releases, delta: float) -> Promise:
    statements = releases.statements(delta)
    return Promise(_statement(statements.triples, delta).epsilon, "upper", statements.note)


THEOREM = Theorem(
    name="advanced_course",
    title="Advanced composition of pure privacy",
    formula=r"\bigl(4\varepsilon\sqrt{2k\log(1/\delta)},\ \delta\bigr),\quad\log(1/\delta)\ge\varepsilon^2k",
    meaning="For a small δ the bound ε grows like the root of k.",
    assumptions=ADAPTIVE + " Each is epsilon-DP with delta = 0, and log(1/delta) >= epsilon^2 k.",
    reference="Mironov 2017, Corollary 1",
    kind="upper",
    # 4 * 0.1 * sqrt(2 * 50 * 4) = 8, with delta = e^-4.
    oracles=(TheoremOracle((0.1, 50, 0.018315638888734179), 8.0, 0.018315638888734179, 1e-14),),
    label="Advanced (pure)",
    function=advanced_course,
    statement=_statement,
    unlisted="It is about copies of one mechanism with δ = 0, as long as log(1/slack) ≥ ε²k.",
    objection=_objection,
    epsilon=_epsilon,
    rough=True,
    shown=False,
    because="It bounds the sum of the losses by a few standard deviations.",
    account=None,
)
