"""Every theorem about one list of releases as a table: the composition itself first, then the named theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import DELTA
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import kind, settled
from dpcore.language import parse
from dpcore.regions import gate
from dpcore.regions.algebra import factors
from dpcore.theorems.catalogue import composing, promises
from dpcore.theorems.record import BELOW, Promise, reason, row_effort, silent
from dpcore.theorems.releases import Releases

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff

TITLES = {"exact": "Regions composed", **{theorem.name: theorem.short for theorem in composing()}}
"""Short titles of the theorems about a composition, by name."""
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


def theorem_table(mechanism: TradeOff | str, delta: float) -> pd.DataFrame:
    """Tabulate the epsilon that every theorem promises for a region at one delta.

    The theorems are applied to the factors of a product or power, each with its count.

    Parameters
    ----------
    mechanism : TradeOff or str
        A region, or its expression.
    delta : float
        By how much the whole may exceed e^epsilon, in [0, 1].

    Returns
    -------
    DataFrame
        `theorem, title, delta, epsilon, epsilon_lower, kind, note, neighbours`, one row per theorem. The truth lies between
        `epsilon_lower` and every `epsilon` that is ``exact`` or ``upper``. ``approximate`` promises nothing. With
        ``none`` epsilon is inf, and `note` says why: the theorem does not apply, or it takes more operations than one
        row may.

    Examples
    --------
    >>> rows = theorem_table("laplace(0.1)^100", 1e-6).set_index("theorem")
    >>> [round(float(rows.loc[name, "epsilon"]), 3) for name in ("exact", "kov_optimal", "basic")]
    [4.693, 4.775, 10.0]
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    target, parts = DELTA.check(delta), factors(region)
    rows = theorem_rows(parts, target, lambda: composed_total(region, target))
    return rows.assign(neighbours=region.neighbours)


def theorem_rows(parts: Factors, delta: float, total: Callable[[], Total]) -> pd.DataFrame:
    """Return the table of a list of releases, without neighbours; `total` composes the regions themselves."""
    composition, lower = composition_row(total)
    rows = {"exact": composition, **promises(composing(), Releases(parts), delta)}
    columns = [
        list(rows),
        [TITLES[name] for name in rows],
        [delta] * len(rows),
        [row.epsilon + 0.0 for row in rows.values()],
        [lower] * len(rows),
        [row.kind for row in rows.values()],
        [row.note for row in rows.values()],
    ]
    return pd.DataFrame(dict(zip(COLUMNS[:-1], columns, strict=True)))


def composition_row(total: Callable[[], Total]) -> tuple[Promise, float]:
    """Return the row of the composed regions, and the lower end of its bracket: 0 if it is not known."""
    try:
        with row_effort():
            bracket = total()
    except BudgetError as error:
        return silent(reason(error)), 0.0
    return Promise(bracket.upper, bracket.kind, BELOW if math.isinf(bracket.upper) else bracket.method), bracket.lower
