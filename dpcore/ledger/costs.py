"""How much each row costs: epsilon of the whole ledger minus epsilon of the ledger without the row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.domains import DELTA
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import FACTS
from dpcore.core.parameter import one_of
from dpcore.core.rounding import sum_up
from dpcore.ledger.bounds import total
from dpcore.ledger.groups import essential
from dpcore.ledger.quick import ListContours
from dpcore.theorems.basic import basic_epsilon
from dpcore.theorems.releases import Statements, statements
from dpcore.theorems.step import steps_at

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpcore.ledger.bounds import Total
    from dpcore.ledger.records import Ledger
    from dpcore.regions.algebra import Factors

COLUMNS = (
    "row",
    "label",
    "expression",
    "count",
    "group",
    "cost",
    "cost_lower",
    "note",
    *FACTS,
)
BY = ("exact", "basic")
MOST_WORK = 1000  # rows with a cost of their own, times different releases, up to which every cost is certified
_NAMED = 5  # rows of a scattered group that are named
_QUICK = "computed without a certificate"


Unit: TypeAlias = "tuple[int, ...]"
"""The rows (from 0) whose cost is asked for together: one row, or all rows of a group."""


class RowCost(NamedTuple):
    """What a row adds, between two bounds; `kind` and `note` as in the table."""

    lower: float
    upper: float
    kind: str
    note: str = ""


NONE = RowCost(0.0, 0.0, "exact", "other rows of its group are worse for every test")


def costs(ledger: Ledger, delta: float, *, by: str = "exact", whole_groups: bool = False) -> pd.DataFrame:
    """Tabulate what every row adds to epsilon at one delta.

    The cost of a row is epsilon of all rows minus epsilon of all others. It is never negative, and at most the row's own
    epsilon if that is pure. Costs do not add up to the total: two rows can hide behind each other, or make each other
    worse. Only by the basic theorem (without groups) do they add up to the sum of all epsilons.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    delta : float
        By how much the whole ledger may exceed e^epsilon, in [0, 1].
    by : str, default "exact"
        ``exact`` composes the regions themselves; ``basic`` uses the basic theorem, with the statement that each
        release has in the whole list.
    whole_groups : bool, default False
        Ask about all rows of a group at once. One row of a group may cost nothing because the others remain, although
        the group costs much.

    Returns
    -------
    DataFrame
        `row, label, expression, count, group, cost, cost_lower, note, kind, theorem, neighbours`; rows are counted from 1, and `row` names all rows of a whole group, such as 1–5. `kind` is
        ``exact``, ``upper`` (the truth lies between `cost_lower` and `cost`), ``approximate`` for long lists, or
        ``none`` with cost inf if no epsilon reaches delta, with or without the row.
    """
    target = DELTA.check(delta)
    one_of("by", BY).check(by)
    units = _units(ledger, whole_groups=whole_groups)
    unit_costs = _by_basic(ledger, target, units) if by == "basic" else _by_regions(ledger, target, units)
    rows = [
        (*_unit(ledger, unit), one.upper, one.lower, one.note, one.kind)
        for unit, one in zip(units, unit_costs, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS[:-2])).assign(theorem=by, neighbours=ledger.neighbours)


def _units(ledger: Ledger, *, whole_groups: bool) -> list[Unit]:
    """Return what has a cost: every row, or every group and every row outside them, in the order of the first rows."""
    if not whole_groups:
        return [(row,) for row in range(len(ledger))]
    alone = [(row,) for row, release in enumerate(ledger.rows) if not release.group]
    return sorted([*alone, *map(tuple, ledger.groups.values())])


def _unit(ledger: Ledger, unit: Unit) -> tuple[int | str, str, str, int, str]:
    """Return what the table says about a unit: its rows, label, expression, count and group."""
    first = ledger.rows[unit[0]]
    if len(unit) == 1:
        return unit[0] + 1, first.label, first.expression, first.count, first.group
    run = unit == tuple(range(unit[0], unit[-1] + 1))
    rest = f" and {len(unit) - _NAMED} more" if len(unit) > _NAMED else ""
    rows = f"{unit[0] + 1}–{unit[-1] + 1}" if run else ", ".join(str(row + 1) for row in unit[:_NAMED]) + rest
    expressions = dict.fromkeys(ledger.rows[row].expression for row in unit)
    count = sum(ledger.rows[row].count for row in unit)
    return rows, f"group {first.group}", "; ".join(expressions), count, first.group


# ---- the regions themselves ----------------------------------------------------------------------------------


def _by_regions(ledger: Ledger, delta: float, units: list[Unit]) -> list[RowCost]:
    """Return the cost of each unit; equal rows share one."""
    if not ledger.rows:
        return []
    whole = total(ledger, delta)
    idle = _idle(ledger)
    kinds: dict[Hashable, int] = {}
    for row, *more in units:
        if not more and row not in idle:
            kinds.setdefault(_kind(ledger, row), row)
    by_kind = dict(zip(kinds, _each(ledger, delta, whole, list(kinds.values())), strict=True))
    unit_costs = []
    for unit in units:
        if len(unit) > 1:
            unit_costs.append(_certified(ledger, delta, whole, unit))
        else:
            unit_costs.append(NONE if unit[0] in idle else by_kind[_kind(ledger, unit[0])])
    return unit_costs


def _kind(ledger: Ledger, row: int) -> Hashable:
    """Return what rows of the same cost have in common."""
    release = ledger.rows[row]
    return str(release.region), release.count, release.group


def _idle(ledger: Ledger) -> set[int]:
    """Return the rows of groups that can be removed without changing anything."""
    idle: set[int] = set()
    for group, rows in ledger.groups.items():
        members = [ledger.member(row) for row in rows]
        places = essential(members, ledger.limit(group))
        idle |= {row for place, row in enumerate(rows) if place not in places}
    return idle


def _each(ledger: Ledger, delta: float, whole: Total, rows: list[int]) -> list[RowCost]:
    """Return the cost of each of these rows, certified if that is not too much work."""
    plain = not ledger.groups
    if plain and all(node.curve.gaussian_mu is not None for node, _ in ledger.factors):
        return _gaussian(ledger, delta, whole, rows)
    if plain and len(rows) * len(ledger.factors) > MOST_WORK:
        quick = ListContours.of(ledger.factors, delta, whole.upper)
        if quick is not None and quick.agrees:
            changes = [[(node, -count) for node, count in ledger.parts(row)] for row in rows]
            everything, *rest = quick.epsilons([[], *changes]).tolist()  # the same nodes for all, so that errors cancel
            return [
                _between(ledger, (row,), RowCost(everything - less, everything - less, "approximate", _QUICK))
                for row, less in zip(rows, rest, strict=True)
            ]
    row_costs = []
    for place, row in enumerate(rows):
        checkpoint(place / len(rows))
        row_costs.append(_certified(ledger, delta, whole, (row,)))
    return row_costs


def _certified(ledger: Ledger, delta: float, whole: Total, unit: Unit) -> RowCost:
    fewer = ledger.without(*unit)
    if _counts(fewer.factors) == _counts(ledger.factors):
        return NONE
    rest = total(fewer, delta)
    if math.isinf(rest.upper):
        return RowCost(math.inf, math.inf, "none", "no ε reaches this δ, with or without the row")
    exact = whole.kind == rest.kind == "exact"
    cost = RowCost(whole.lower - rest.upper, whole.upper - rest.lower, "exact" if exact else "upper")
    return _between(ledger, unit, cost)


def _counts(parts: Factors) -> dict[str, int]:
    return {node.text: count for node, count in parts}


def _between(ledger: Ledger, unit: Unit, cost: RowCost) -> RowCost:
    """Return the cost clipped to what is possible: never negative, and at most the unit's own pure epsilon."""
    curves = [ledger.rows[row].region.curve for row in unit]
    most = math.inf
    if all(math.isfinite(curve.max_loss) and curve.q_inf == 0 for curve in curves):
        parts = [part for row in unit for part in ledger.parts(row)]
        most = max(0.0, sum_up((max(0.0, node.curve.max_loss), count) for node, count in parts))
    lower, upper = (min(max(0.0, bound), most) + 0.0 for bound in cost[:2])
    return cost._replace(lower=min(lower, upper), upper=upper)


def _gaussian(ledger: Ledger, delta: float, whole: Total, rows: list[int]) -> list[RowCost]:
    """Return the costs of Gaussian rows, all at once: without a row, mu^2 falls by that of the row."""

    def square(parts: Factors) -> float:
        return math.fsum(count * node.curve.mu**2 for node, count in parts)  # type: ignore[attr-defined]  # all are Gaussian

    everything = square(ledger.factors)
    mus = np.sqrt(np.maximum(0.0, everything - np.array([square(ledger.parts(row)) for row in rows])))
    mus[mus < 1e-8 * math.sqrt(everything)] = 0.0  # rounding of the difference, if there is only one row
    rest = epsilons_of(mus, np.zeros_like(mus), delta)
    if math.isinf(whole.upper):
        sure = "no ε reaches this δ, with or without the row"
        return [RowCost(math.inf, math.inf, "exact" if one == 0 else "none", "" if one == 0 else sure) for one in rest]
    return [RowCost(cost, cost, "exact") for cost in np.maximum(0.0, whole.upper - rest).tolist()]


# ---- the basic theorem ---------------------------------------------------------------------------------------


def _by_basic(ledger: Ledger, delta: float, units: list[Unit]) -> list[RowCost]:
    """Return the costs by the basic theorem: what a unit adds to the sum."""
    try:
        assigned = statements(ledger.factors, delta)
    except DpcoreError as error:
        return [RowCost(math.inf, math.inf, "none", str(error))] * len(units)
    whole = _sum(assigned, delta)
    step_by_text = {node.text: step for (node, _), (step, _) in zip(ledger.factors, assigned.parts, strict=True)}
    unit_costs = []
    for unit in units:
        if math.isinf(whole):
            unit_costs.append(RowCost(math.inf, math.inf, "none", "the failures of all rows exceed this δ"))
        elif not ledger.rows[unit[0]].group:
            own = sum_up((step_by_text[node.text].epsilon, count) for node, count in ledger.parts(unit[0]))
            unit_costs.append(RowCost(own, own, "upper"))
        else:
            rest = ledger.without(*unit).factors
            steps = [
                (step_by_text.get(node.text) or steps_at(node, [assigned.share])[0], count) for node, count in rest
            ]
            less = whole - _sum(Statements(tuple(steps)), delta)
            unit_costs.append(RowCost(max(0.0, less), max(0.0, less), "upper"))
    return unit_costs


def _sum(assigned: Statements, delta: float) -> float:
    """Return the sum of the epsilons if the sum of the deltas is within `delta`, else inf."""
    epsilon = sum_up((epsilon, count) for epsilon, _, count in assigned.triples)
    return math.inf if math.isinf(basic_epsilon(assigned.triples, delta)) else 0.0 if delta >= 1 else epsilon
