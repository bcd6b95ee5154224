"""What every theorem says about a whole ledger: its epsilon at one delta, and which theorem is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import DELTA
from dpcore.core.effort import current
from dpcore.theorems.composition.theorem_table import TITLES, Total, composed_total, theorem_rows

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.ledger.records import Ledger

__all__ = ["TITLES", "Total", "theorems", "total"]


def total(ledger: Ledger, delta: float) -> Total:
    """Return the smallest epsilon of a ledger at one delta, by composing the regions themselves.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    delta : float
        By how much the whole ledger may exceed e^epsilon, in [0, 1].

    Returns
    -------
    Total
        A bracket of epsilon, its kind and the method.
    """
    target = DELTA.check(delta)
    key = (target, current().tolerance)
    if key not in ledger.memory:
        ledger.memory[key] = composed_total(ledger.region, target)
    bracket: Total = ledger.memory[key]
    return bracket


def theorems(ledger: Ledger, delta: float) -> pd.DataFrame:
    """Tabulate the epsilon that every theorem promises for the whole ledger at one delta.

    Parameters
    ----------
    ledger : Ledger
        Its rows; parallel groups enter by the region of their worst rows.
    delta : float
        By how much the whole ledger may exceed e^epsilon, in [0, 1].

    Returns
    -------
    DataFrame
        `theorem, title, delta, epsilon, epsilon_lower, kind, note, neighbours`, one row per theorem; see
        `dpcore.theorems.composition.theorem_table`, the same table for an expression.
    """
    target = DELTA.check(delta)
    rows = theorem_rows(ledger.factors, target, lambda: total(ledger, target))
    return rows.assign(neighbours=ledger.neighbours)
