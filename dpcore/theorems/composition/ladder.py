r"""The ladder: epsilon at one delta as the number of mechanisms grows, one line per theorem.

The numbers are the same as in a ledger: a theorem that holds for any slack is used at the slack that spends all of delta.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.central_limit.convergence import KS
from dpcore.core.domains import COUNT, DELTA
from dpcore.core.effort import checkpoint
from dpcore.curves.polygon import Polygon
from dpcore.language import parse
from dpcore.regions.algebra import factors
from dpcore.theorems.catalogue import drawing, promises
from dpcore.theorems.composition.theorem_regions import LARGEST_K, TITLES, twin
from dpcore.theorems.composition.theorem_table import composed_total, composition_row
from dpcore.theorems.record import silent
from dpcore.theorems.releases import Releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.regions.tradeoff import TradeOff

Rung = tuple[int, str, str, float, str, str]  # a row, in the order of COLUMNS, without the neighbours
COLUMNS = ("k", "theorem", "title", "epsilon", "kind", "note", "neighbours")


def ladder(mechanism: TradeOff | str, delta: float = 1e-6, ks: Sequence[int] | None = None) -> pd.DataFrame:
    """Tabulate the epsilon every theorem promises for k copies of a mechanism at one delta.

    Parameters
    ----------
    mechanism : TradeOff or str
        A region, or its expression.
    delta : float, default 1e-6
        By how much the whole composition may exceed e^epsilon, in [0, 1].
    ks : sequence of int, optional
        Numbers of copies, by default those of `rungs`. A mechanism that is slow to compose exactly is composed at
        powers of ten only.

    Returns
    -------
    DataFrame
        `k, theorem, title, epsilon, kind, note, neighbours`, a row for every theorem and k. `kind` is ``exact``, ``upper``,
        ``approximate`` or ``none``; with ``none`` epsilon is inf and `note` gives the reason. With another kind, inf
        means that no epsilon reaches this delta.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    target = DELTA.check(delta)
    numbers = rungs(region, target) if ks is None else ks
    counts = [COUNT.but(high=LARGEST_K).check(k) for k in numbers]
    copies = Releases.copies(factors(region), counts, target)
    rows = [*_theorem_rungs(copies, counts, target), *_exact(region, copies, counts, target)]
    order = {name: place for place, name in enumerate(TITLES)}
    rows.sort(key=lambda row: order[row[1]])
    return pd.DataFrame(rows, columns=list(COLUMNS[:-1])).assign(neighbours=region.neighbours)


def rungs(region: TradeOff, delta: float) -> tuple[int, ...]:
    """Return numbers of copies from 1 to 10^5, two in each decade.

    If the failures of fewer copies already exceed `delta`, the numbers end there and lie closer together.

    Parameters
    ----------
    region : TradeOff
        The mechanism.
    delta : float
        The delta of the ladder.

    Returns
    -------
    tuple of int
        Ascending.
    """
    failing = region.curve.q_inf
    if not 0 < failing < 1 or delta >= 1:
        return KS
    most = int(min(math.log1p(-delta) / math.log1p(-failing), KS[-1]))  # 1 - (1 - failing)^k = delta
    if most >= KS[-1]:
        return KS
    spread = np.unique(np.geomspace(1, max(most, 1), len(KS)).round().astype(np.int64))
    return (*(int(k) for k in spread), max(most, 1) + 1)


def _theorem_rungs(copies: Sequence[Releases], counts: Sequence[int], delta: float) -> Iterator[Rung]:
    """Yield the rows of all theorems but the composition itself."""
    for place, (k, releases) in enumerate(zip(counts, copies, strict=True)):
        checkpoint(place / len(counts))
        for name, row in promises(drawing(), releases, delta).items():
            yield k, name, TITLES[name], row.epsilon + 0.0, row.kind, row.note


def _exact(region: TradeOff, copies: Sequence[Releases], counts: Sequence[int], delta: float) -> Iterator[Rung]:
    """Yield the composition of the mechanism itself, unless only its statement is known."""
    why = twin(copies[0], delta) if copies else ""
    quick = isinstance(region.curve, Polygon) or region.curve.gaussian_mu is not None
    cheap = quick or not any(_round(k) for k in counts[1:])
    for place, (k, releases) in enumerate(zip(counts, copies, strict=True)):
        if why:
            row = silent(why)
        elif cheap or _round(k):
            checkpoint(place / len(counts))
            row, _ = composition_row(partial(composed_total, releases.region, delta))
        else:
            continue
        note = "exact composition of the mechanism itself" if math.isfinite(row.epsilon) else row.note
        yield k, "exact", TITLES["exact"], row.epsilon, row.kind, note


def _round(k: int) -> bool:
    """Whether k is a power of ten."""
    return str(k).rstrip("0") == "1"
