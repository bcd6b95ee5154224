"""Every theorem about one list of releases as a table: the composition itself first, then the named theorems."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore import gate
from dpcore.algebra import factors
from dpcore.composition.totals import BELOW, COMPOSED, Row, Totals, ordered, silent
from dpcore.composition.totals import TITLES as NAMED
from dpcore.errors import BudgetError
from dpcore.kinds import kind, settled
from dpcore.language import parse
from dpcore.limits import current, limits
from dpcore.theorems import domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.algebra import Factors
    from dpcore.tradeoff import TradeOff

TITLES = {"exact": "Regions composed", **NAMED}
COLUMNS = ("theorem", "title", "delta", "epsilon", "epsilon_lower", "kind", "note", "neighbours")


@dataclass(frozen=True)
class Total:
    """Epsilon of all releases at one delta by composing the regions: a bracket of the truth."""

    lower: float
    upper: float
    kind: str
    method: str


def composed_total(region: TradeOff, delta: float) -> Total:
    """Return the bracket of epsilon of a region."""
    sides = settled(gate.epsilon_bounds(region, np.array([delta])), "upper", exact=region.curve.exact)
    lower, upper = (float(bound[0]) + 0.0 for bound in sides)
    return Total(lower, upper, kind(lower, upper, "upper"), region.theorem)


def theorem_table(mechanism: TradeOff | str, delta: float, *, patience: float = 10.0) -> pd.DataFrame:
    """Tabulate the epsilon that every theorem promises for a region at one delta.

    The theorems are applied to the factors of a product or power, each with its count.

    Parameters
    ----------
    mechanism : a region, or its expression.
    delta : by how much the whole may exceed e^epsilon, in [0, 1].
    patience : seconds for composing the regions, and as many for all other theorems together; what does not fit says so.

    Returns
    -------
    DataFrame
        `theorem, title, delta, epsilon, epsilon_lower, kind, note, neighbours`, one row per theorem. The truth lies between
        `epsilon_lower` and every `epsilon` that is ``exact`` or ``upper``. ``approximate`` promises nothing; ``none``
        has epsilon inf, and `note` says why the theorem is silent.

    Examples
    --------
    >>> rows = theorem_table("laplace(0.1)^100", 1e-6).set_index("theorem")
    >>> [round(float(rows.loc[name, "epsilon"]), 3) for name in ("exact", "kov_optimal", "basic")]
    [4.693, 4.775, 10.0]
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    wanted, parts = domain.probability(delta, "delta"), factors(region)
    rows = theorem_rows(parts, wanted, lambda: composed_total(region, wanted), patience=patience)
    return rows.assign(neighbours=region.neighbours)


def theorem_rows(parts: Factors, delta: float, total: Callable[[], Total], *, patience: float) -> pd.DataFrame:
    """Return the table of a list of releases without their neighbours; `total` composes the regions themselves."""
    known, best = _composition(total, patience)
    totals = Totals(parts, delta, ends_at=time.monotonic() + patience)
    # what is composed once more comes last, so that it takes no time from the others
    found = ordered({name: totals.row(name) for name in sorted(NAMED, key=COMPOSED.count)})
    rows = {name: known if name == "exact" else found[name] for name in TITLES}
    floor = best.lower if best is not None else 0.0
    columns = [
        list(rows),
        [TITLES[name] for name in rows],
        [delta] * len(rows),
        [row.epsilon + 0.0 for row in rows.values()],
        [floor] * len(rows),
        [row.kind for row in rows.values()],
        [row.note for row in rows.values()],
    ]
    return pd.DataFrame(dict(zip(COLUMNS[:-1], columns, strict=True)))


def _composition(total: Callable[[], Total], patience: float) -> tuple[Row, Total | None]:
    """Return the row of the regions themselves, and its bracket unless it could not be had."""
    try:
        with limits(deadline=patience):
            found = total()
    except BudgetError as error:
        if time.monotonic() > current().ends_at:
            raise
        return silent(str(error)), None
    return Row(found.upper, found.kind, BELOW if math.isinf(found.upper) else found.method), found
