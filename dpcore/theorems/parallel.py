"""Parallel composition: on disjoint parts of the data only the worst part counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.theorems import domain
from dpcore.theorems.record import DISJOINT, Theorem, TheoremOracle
from dpcore.theorems.table import table

if TYPE_CHECKING:
    import pandas as pd


def parallel(statements: object) -> pd.DataFrame:
    r"""Bound mechanisms on disjoint parts of the data: :math:`(\max\varepsilon_l, \max\delta_l)`-DP.

    In words: one person's record touches one part only, so the worst part counts. Needs add/remove neighbours, or a
    partition that does not depend on the value that changes; under substitution a record may leave one part and enter
    another, and the two parts compose. ``exact`` when one statement is the largest in both numbers.
    Reference: McSherry (2009), Theorem 4.

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
    epsilon, delta = max(step for step, _, _ in triples), max(failing for _, failing, _ in triples)
    tight = delta == 1 or any(step == epsilon and failing == delta for step, failing, _ in triples)
    note = "one part is the worst in both numbers" if tight else "largest epsilon and largest delta of different parts"
    return table("parallel", epsilon, delta, "exact" if tight else "upper", note)


THEOREM = Theorem(
    name="parallel",
    title="Parallel composition",
    formula=r"(\max_l\varepsilon_l,\ \max_l\delta_l)",
    meaning="On disjoint parts of the data only the worst part counts.",
    assumptions=DISJOINT,
    neighbours="add/remove",
    reference="McSherry 2009, Theorem 4",
    kind="upper",
    oracles=(TheoremOracle(([(1.0, 1e-6), (0.5, 1e-3)],), 1.0, 1e-3, 0.0),),
    function=parallel,
)
