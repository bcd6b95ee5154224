r"""The ladder: epsilon at one delta as the number of mechanisms grows, one line per theorem.

The numbers are those of `dpcore.composition.totals`, as in a ledger: a theorem that may be stated for any slack is used
at the slack that spends all of delta.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore import gate
from dpcore.algebra import factors
from dpcore.composition.parts import Statements, statement_lists
from dpcore.composition.totals import BELOW, Totals, composed, ordered
from dpcore.composition.ways import LARGEST_K, TITLES
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError, DomainError
from dpcore.kinds import kind, settled
from dpcore.language import parse
from dpcore.limits import checkpoint, limits
from dpcore.theorems import domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.algebra import Factors
    from dpcore.tradeoff import TradeOff

Rung = tuple[int, str, str, float, str, str]  # a row, in the order of COLUMNS, but for the neighbours
KS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
COLUMNS = ("k", "theorem", "title", "epsilon", "kind", "note", "neighbours")


def ladder(
    mechanism: TradeOff | str, delta: float = 1e-6, ks: Sequence[int] | None = None, *, patience: float = 10.0
) -> pd.DataFrame:
    """Tabulate the epsilon every theorem promises for k copies of a mechanism at one delta.

    Parameters
    ----------
    mechanism : a region, or its expression.
    delta : by how much the whole composition may exceed e^epsilon, in [0, 1].
    ks : numbers of copies, by default those of `rungs`. A mechanism whose exact composition takes long is composed at powers of ten only.
    patience : seconds for the exact compositions, and as many for all other theorems; what does not fit says so.

    Returns
    -------
    DataFrame
        `k, theorem, title, epsilon, kind, note, neighbours`, a row for every theorem and k. `kind` is ``exact``, ``upper``,
        ``approximate`` or ``none``; with ``none`` epsilon is inf and `note` says why. inf with another kind means
        that no epsilon reaches this delta.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    wanted = domain.probability(delta, "delta")
    asked = rungs(region, wanted) if ks is None else ks
    counts = [domain.integer(k, "k", high=LARGEST_K) for k in asked]
    parts = factors(region)
    lists = statement_lists(parts, counts, wanted)
    rows = _named(parts, lists, counts, wanted, time.monotonic() + patience)
    with limits(deadline=patience):
        rows += _exact(region, lists, counts, wanted)
    order = {name: place for place, name in enumerate(TITLES)}
    rows.sort(key=lambda row: order[row[1]])
    return pd.DataFrame(rows, columns=list(COLUMNS[:-1])).assign(neighbours=region.neighbours)


def rungs(region: TradeOff, delta: float) -> tuple[int, ...]:
    """Return numbers of copies from 1 to 10^5, two in each decade.

    Where the failures of fewer copies already exceed `delta`, the rungs end there and are closer.
    """
    failing = region.curve.q_inf
    if not 0 < failing < 1 or delta >= 1:
        return KS
    most = int(min(math.log1p(-delta) / math.log1p(-failing), KS[-1]))  # 1 - (1 - failing)^k = delta
    if most >= KS[-1]:
        return KS
    spread = np.unique(np.geomspace(1, max(most, 1), len(KS)).round().astype(np.int64))
    return (*(int(k) for k in spread), max(most, 1) + 1)


def _named(
    parts: Factors, lists: Sequence[Statements | DomainError], counts: Sequence[int], delta: float, ends_at: float
) -> list[Rung]:
    """Return the rows of all theorems but the composition itself."""
    names = [name for name in TITLES if name != "exact"]
    found: list[Rung] = []
    for place, (k, given) in enumerate(zip(counts, lists, strict=True)):
        checkpoint(place / len(counts))
        totals = Totals([(node, count * k) for node, count in parts], delta, given=given, ends_at=ends_at)
        rows = ordered({name: totals.row(name) for name in names})
        found += [(k, name, TITLES[name], row.epsilon + 0.0, row.kind, row.note) for name, row in rows.items()]
    return found


def _exact(
    region: TradeOff, lists: Sequence[Statements | DomainError], counts: Sequence[int], delta: float
) -> list[Rung]:
    """Return the composition of the mechanism itself, unless its statement is all there is."""
    name, title, first = "exact", TITLES["exact"], lists[0]
    if isinstance(first, Statements) and first.attained and len(first.parts) == 1:
        twin = TITLES["dptv"] if first.tv_helps else TITLES["kov_optimal"]
        why = f"Nothing but the statement is known: {twin} is its exact composition."
        return [(k, name, title, math.inf, "none", why) for k in counts]
    cheap = (
        isinstance(region.curve, Polygon)
        or region.curve.gaussian_mu is not None
        or not any(_round(k) for k in counts[1:])
    )
    found: list[Rung] = []
    for place, k in enumerate(counts):
        if not (cheap or _round(k)):
            continue
        try:
            checkpoint(place / len(counts))
            found.append((k, name, title, *_composition(region, k, delta)))
        except BudgetError as error:
            found.append((k, name, title, math.inf, "none", str(error)))
    return found


def _round(k: int) -> bool:
    """Whether k is a power of ten."""
    return str(k).rstrip("0") == "1"


def _composition(region: TradeOff, k: int, delta: float) -> tuple[float, str, str]:
    """Return epsilon of k copies: the same number as that of a ledger of one row."""
    whole = composed([(node, count * k) for node, count in factors(region)])
    sides = settled(gate.epsilon_bounds(whole, np.array([delta])), "upper", exact=whole.curve.exact)
    lower, value = (float(bound[0]) + 0.0 for bound in sides)
    why = BELOW if math.isinf(value) else "exact composition of the mechanism itself"
    return value, kind(lower, value, "upper"), why
