"""The answers about a ledger in words and as one table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.domains import DELTA
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import kind as kind_of
from dpcore.core.notices import notice
from dpcore.ledger.bounds import theorems
from dpcore.ledger.costs import costs
from dpcore.theorems import theorem
from dpcore.theorems.composition.verdict import best, gaps
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.ledger.records import Ledger

_COMPUTED_COLUMNS = ("scope", "label", "theorem", "delta", "epsilon", "epsilon_lower", "kind")
COLUMNS = (*_COMPUTED_COLUMNS, "neighbours")
MOST_ALONE = 200  # different rows whose own epsilon is listed: each is composed by itself
_KINDS = {"exact": "exact", "upper": "upper bound"}
_ITSELF = "It composes the regions of the rows themselves, so nothing known about a release is lost."
_COMPUTED = "Composing the regions themselves, which would be at least as good, was not possible here."


def verdict(rows: pd.DataFrame) -> str:
    """Name the best theorem, say why it is best, and how much more the others cost.

    Parameters
    ----------
    rows : DataFrame
        What `theorems` returns.

    Returns
    -------
    str
        A few sentences.
    """
    return " ".join(part for part in (headline(rows), reason(rows), gaps(rows)) if part)


def headline(rows: pd.DataFrame) -> str:
    """Name the best theorem and its epsilon.

    Parameters
    ----------
    rows : DataFrame
        What `theorems` returns.

    Returns
    -------
    str
        One sentence.
    """
    delta, top = outward(float(rows["delta"].iloc[0]), 6), best(rows)
    if top is None:
        return f"At δ = {delta} no theorem promises any ε; with a larger δ one may."
    return (
        f"At δ = {delta}, **{top['title']}** is best: ε ≤ {outward(float(top['epsilon']), 4)} ({_KINDS[top['kind']]})."
    )


def reason(rows: pd.DataFrame) -> str:
    """Say in a sentence why the best theorem is best.

    Parameters
    ----------
    rows : DataFrame
        What `theorems` returns.

    Returns
    -------
    str
        One or two sentences; empty if no theorem promises anything.
    """
    top = best(rows)
    if top is None:
        return ""
    if top["theorem"] == "exact":
        return _ITSELF
    best_one = theorem(str(top["theorem"]))
    silent = (rows["theorem"] == "exact") & (rows["kind"] == "none")
    return (
        f"{best_one.because or best_one.meaning} {_COMPUTED}" if silent.any() else best_one.because or best_one.meaning
    )


def answers(ledger: Ledger, delta: Sequence[float]) -> pd.DataFrame:
    """Return everything about a ledger in one table.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    delta : sequence of float
        By how much the whole ledger may exceed e^epsilon.

    Returns
    -------
    DataFrame
        `scope, label, theorem, delta, epsilon, epsilon_lower, kind, neighbours`. `scope` is ``best`` (the best theorem about all
        rows; `label` is its title), ``total`` (every theorem about all rows), ``row`` (each row alone) or ``cost``
        (what each row adds to the total). If `kind` is ``exact`` or ``upper``, the truth lies between `epsilon_lower`
        and `epsilon`.
    """
    parts = []
    for place, one in enumerate(DELTA.array(delta).tolist()):
        checkpoint(place / max(1, len(delta)))
        parts += [_totals(ledger, one), _alone(ledger, one), _costs(ledger, one)]
    table: pd.DataFrame = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return table.assign(neighbours=ledger.neighbours)


def _totals(ledger: Ledger, delta: float) -> pd.DataFrame:
    rows = theorems(ledger, delta)
    table: pd.DataFrame = rows.assign(scope="total", label=rows["title"])[list(_COMPUTED_COLUMNS)]
    top = best(rows)
    if top is None:
        return table
    first: pd.DataFrame = table[table["theorem"] == top["theorem"]].assign(scope="best")
    return pd.concat([first, table], ignore_index=True)


def _alone(ledger: Ledger, delta: float) -> pd.DataFrame:
    """Return the epsilon of each row alone, equal rows computed once."""
    cache: dict[str, tuple[float, float, str, str]] = {}
    rows = []
    different = len({(str(release.region), release.count) for release in ledger.rows})
    if different > MOST_ALONE:
        msg = f"The ledger has {grouped(different)} different rows; each alone is listed for up to {MOST_ALONE}."
        notice(msg)
        return pd.DataFrame(columns=list(_COMPUTED_COLUMNS))
    for release in ledger.rows:
        region = release.composed
        if region.text not in cache:
            try:
                low, high = (float(bound[0]) + 0.0 for bound in region.epsilon_bounds([delta]))
                cache[region.text] = (high, low, kind_of(low, high, "upper"), region.theorem)
            except DpcoreError as error:
                cache[region.text] = (math.inf, 0.0, "none", str(error))
        high, low, kind, theorem = cache[region.text]
        rows.append(("row", release.label, theorem, delta, high, low, kind))
    return pd.DataFrame(rows, columns=list(_COMPUTED_COLUMNS))


def _costs(ledger: Ledger, delta: float) -> pd.DataFrame:
    table = costs(ledger, delta).rename(columns={"cost": "epsilon", "cost_lower": "epsilon_lower"})
    rows: pd.DataFrame = table.assign(scope="cost", theorem="exact", delta=delta)[list(_COMPUTED_COLUMNS)]
    return rows
