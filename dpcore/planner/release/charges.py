"""Charges: the units a budget is spent on. Answers about disjoint records are one charge; every other answer is its own.

The answers of a charge get the same noise relative to how far one person moves them, and together reveal no more than
one of them: see `dpcore.planner.release.kinds` for the proof and `dpcore.ledger.groups` for the ledger's rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcore.planner.release.conditions import excluding_column
from dpcore.planner.release.kinds import CellKind
from dpcore.planner.release.plan import SUBSTITUTION

if TYPE_CHECKING:
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan


@dataclass(frozen=True)
class Charge:
    """Answers that are charged together.

    Attributes
    ----------
    places : tuple of int
        The positions of the answers in the plan.
    column : str
        The column whose values keep the records of the answers apart; empty for a single answer.
    copies : int
        How many times the noise of one cell is charged: 2 if a replaced record leaves one cell and enters another.
    """

    places: tuple[int, ...]
    column: str
    copies: int

    @property
    def parallel(self) -> bool:
        """Whether there are several answers."""
        return len(self.places) > 1


@lru_cache(maxsize=256)
def charges(plan: ReleasePlan) -> tuple[Charge, ...]:
    """Return the charges of a plan, in the order of their first answers.

    Parameters
    ----------
    plan : ReleasePlan
        The answers and whom they protect.

    Returns
    -------
    tuple of Charge
        Each answer is in one of them.

    Examples
    --------
    >>> from dpcore.planner import PlanAnswer, ReleasePlan
    >>> plan = ReleasePlan((PlanAnswer("count", where="age < 18"), PlanAnswer("count", where="age >= 18")))
    >>> [(charge.places, charge.column, charge.copies) for charge in charges(plan)]
    [((0, 1), 'age', 1)]
    """
    groups: list[tuple[list[int], str]] = []
    for place, answer in enumerate(plan.answers):
        for group, column in groups:
            shared = _shared_column(plan, answer, [plan.answers[other] for other in group], column)
            if shared:
                groups[groups.index((group, column))] = ([*group, place], shared)
                break
        else:
            groups.append(([place], ""))
    return tuple(Charge(tuple(group), column, _copies(plan, group)) for group, column in groups)


def _shared_column(plan: ReleasePlan, answer: PlanAnswer, members: list[PlanAnswer], column: str) -> str:
    """Return the column on which an answer excludes all members; empty if it does not belong with them."""
    first = members[0]
    if answer.kind != first.kind or not answer.records:
        return ""
    kind = answer.type
    if plan.records > 1 and not isinstance(kind, CellKind):
        return ""  # a person's records may be in several parts, and choices have no cells that add up
    both_ways = plan.relation == SUBSTITUTION and plan.records > 1
    if both_ways and isinstance(kind, CellKind) and any(kind.mixed(plan, one) for one in (answer, *members)):
        return ""  # a cell may both gain and lose: the proof needs gains and losses in different cells
    columns = {excluding_column(answer.records, member.records) for member in members}
    return columns.pop() if len(columns) == 1 and (not column or column in columns) else ""


def _copies(plan: ReleasePlan, places: list[int]) -> int:
    """Return 2 where a replaced record moves two cells of the charge, otherwise 1."""
    kind = plan.answers[places[0]].type
    if plan.relation != SUBSTITUTION:
        return 1
    if len(places) > 1:
        return 2
    return kind.touched(plan, plan.answers[places[0]]) if isinstance(kind, CellKind) else 1
