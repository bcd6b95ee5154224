"""Composition by adding: every epsilon, and every delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.rounding import sum_up
from dpcore.theorems import domain
from dpcore.theorems.record import Account, ClosedFormBound, Promise, Theorem, TheoremOracle
from dpcore.theorems.sharing import statement_epsilon
from dpcore.theorems.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.domain import Statement
    from dpcore.theorems.releases import Releases


def basic(statements: object) -> pd.DataFrame:
    r"""Compose (epsilon_l, delta_l)-DP mechanisms by adding: :math:`(\sum\varepsilon_l, \sum\delta_l)`-DP.

    In words: epsilons and deltas add up, whatever the mechanisms are and however adaptively they are
    chosen. Statements are (epsilon, delta) or (epsilon, delta, copies). The sum is tight, hence ``exact``, only if at
    most one epsilon and at most one delta are positive.
    Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor (2006); Dwork, Roth (2014), Theorem 3.16.

    Parameters
    ----------
    statements : sequence of tuple
        (epsilon, delta) or (epsilon, delta, copies), at least one.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row.

    Examples
    --------
    >>> basic([(0.5, 1e-6, 2), (0.25, 0.0)]).epsilon.tolist()
    [1.25]
    """
    triples = domain.statements(statements)
    total = _statement(triples)
    moving = sum(copies for step, _, copies in triples if step > 0)
    failing_parts = sum(copies for _, failing, copies in triples if failing > 0)
    tight = (moving <= 1 and failing_parts <= 1) or any(failing == 1 for _, failing, _ in triples)
    return table("basic", total.epsilon, total.delta, "exact" if tight else "upper", total.note)


def _statement(statements: Sequence[Statement], _slack: float = 0.0) -> ClosedFormBound:
    epsilon = sum_up((step, copies) for step, _, copies in statements)
    delta = sum_up((failing, copies) for _, failing, copies in statements)
    note = "delta clamped to 1: nothing is promised" if delta > 1 else "sum of all"
    return ClosedFormBound(epsilon, min(delta, 1.0), note)


def basic_epsilon(statements: Sequence[Statement], delta: float) -> float:
    """Return epsilon at `delta` of the sum; inf where the failures exceed `delta`."""
    total = _statement(statements)
    return statement_epsilon(total.epsilon, total.delta, delta)


def _epsilon(releases: Releases, delta: float) -> Promise:
    statements = releases.statements(delta)
    return Promise(basic_epsilon(statements.triples, delta), "upper", statements.note)


THEOREM = Theorem(
    name="basic",
    title="Basic composition",
    formula=r"\Bigl(\sum_l\varepsilon_l,\ \sum_l\delta_l\Bigr)",
    meaning="Every ε adds up, and so does every δ.",
    reference="Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; Dwork, Roth 2014, Theorem 3.16",
    kind="upper",
    oracles=(
        TheoremOracle(([(0.5, 0.25), (0.25, 0.125)],), 0.75, 0.375, 0.0),
        TheoremOracle(([(0.05, 0.0, 20)],), 1.0, 0.0, 1e-15),
    ),
    label="Basic",
    function=basic,
    statement=_statement,
    takes_slack=False,
    listing=lambda listing, _slacks: basic(listing.triples) if listing.triples else None,
    epsilon=_epsilon,
    rough=True,
    because="Losses simply add; nothing else applies to this list.",
    account=Account(
        formula=r"k\varepsilon_0",
        reference="Dwork, Kenthapadi, McSherry, Mironov, Naor 2006",
    ),
)
