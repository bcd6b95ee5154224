"""Numbers about a ledger: what its releases spend together, by which theorem, and what is left of a budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import DELTA, LOSS
from dpcore.ledger import Budget, headline, open_ledger, spending, theorems, total
from dpcore.values.functions.regions import gaussian_quantity
from dpcore.values.quantity import NumberValue, RecordValue, RegionValue, TextValue, given

if TYPE_CHECKING:
    from dpcore.values.evaluation import Scope

FUNCTIONS: Final = ("ledger",)


def ledger(scope: Scope, file: str, delta: float = 1e-6, epsilon: float = math.inf, relation: str = "") -> RecordValue:
    """Return what a file of releases spends at `delta`; with `epsilon`, also what is left of that budget."""
    releases = open_ledger(scope.content(file), relation)
    target = DELTA.check(float(delta))
    spent = total(releases, target)
    neighbours = releases.neighbours
    parts: dict[str, Any] = {
        "epsilon": NumberValue(spent.lower, spent.upper, spent.kind, releases.named_region.theorem, neighbours),
        "delta": given(target),
        "rows": given(len(releases)),
        "releases": given(sum(row.count for row in releases.rows)),
        "neighbours": TextValue(neighbours),
        "region": RegionValue(releases.named_region),
        "theorem": lambda: TextValue(headline(theorems(releases, target)).replace("**", "")),
        "mu": lambda: gaussian_quantity(releases.named_region),
        "labels": TextValue(", ".join(row.label for row in releases.rows)),
        "first_date": TextValue(min(filter(None, (row.date for row in releases.rows)), default="")),
        "last_date": TextValue(max(filter(None, (row.date for row in releases.rows)), default="")),
    }
    if math.isinf(epsilon):
        words = headline(theorems(releases, target)).replace("**", "")
    else:
        state = spending(releases, Budget(LOSS.check(float(epsilon)), target), spent)
        words = state.words
        left = max(0.0, math.nextafter(state.left, 0.0))
        parts |= {
            "budget": given(float(epsilon)),
            "left": NumberValue(
                left, max(left, float(epsilon) - spent.lower), "lower", "what is left at least", neighbours
            ),
        }
    return RecordValue(words, {**parts, "words": TextValue(words)})
