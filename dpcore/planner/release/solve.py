"""The noise of all answers, solved so that their composition stays within the budget; no epsilons are added up.

The unknown is one number: the noise of all charges together grows with it, in the proportions of the split. The budget is
met by the region of the whole ledger of the plan, composed by the engine.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.calibration.search import Axis, Search
from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.rounding import sum_up
from dpcore.ledger import Ledger, Release, total
from dpcore.planner.release.charges import Charge, charges
from dpcore.planner.release.kinds import CellKind
from dpcore.planner.release.noise import (
    NEAREST,
    OUTWARD,
    CellNoise,
    ChoiceNoise,
    cell_noise,
    choice_epsilon,
    expression_of,
    split_error,
    suitable,
)
from dpcore.planner.release.plan import EQUAL, WEIGHTS
from dpcore.theorems.conversion.gaussian import gaussian_mu

if TYPE_CHECKING:
    from dpcore.mechanisms.base import Mechanism
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan

    Kinds = tuple[type[Mechanism], ...]

_CLOSE: Final = 4e-7  # relative width of the bracket of the noise; rounding to six digits costs more
_ROUGH: Final = 1e-4  # width of the brackets of the search, all on the safe side: ten times as fast, at a price of 1e-5
_FARTHEST: Final = math.log(1e9)  # of the noise, on either side of the first guess
_STEPS: Final = 100
_LITTLE: Final = 1e-6  # what the noise grows by if rounding leaves the composition above the budget
_FIRST_STEP: Final = 0.05  # of the search, which starts near its end
_TIE: Final = 1e-5  # relative: a noise must be better by more than the rounding of its parameter to replace another
_MORE: Final = 1e-3  # what the noise grows by if a bracket is too wide
_MOST_REFUSALS: Final = 20
_MOST_SWAPS: Final = (
    20  # charges up to which the noise of each is changed in turn: every change composes all of them again
)


@dataclass(frozen=True)
class PlanSolution:
    """The noise of every charge.

    Attributes
    ----------
    plan : ReleasePlan
        What was solved.
    charges : tuple of Charge
        Its charges.
    kinds : tuple of type of Mechanism
        The noise of each charge.
    ratios : tuple of float
        Standard deviation of the noise of each charge over what one person moves.
    rounding : str
        How the parameters of the noise are rounded: ``nearest`` if that keeps the budget, otherwise ``outward``.
    ledger : Ledger
        One row per answer; its region is that of the whole release.
    """

    plan: ReleasePlan
    charges: tuple[Charge, ...]
    kinds: tuple[type[Mechanism], ...]
    ratios: tuple[float, ...]
    rounding: str

    @Lazy
    def ledger(self) -> Ledger:
        """One row per answer, with the noise rounded to a few digits."""
        return plan_ledger(self.plan, self.charges, self.kinds, self.ratios, self.rounding)

    def charge(self, place: int) -> tuple[int, Charge, float]:
        """Return the number (from 1), the charge and the ratio of the noise of an answer."""
        for number, charge in enumerate(self.charges):
            if place in charge.places:
                return number + 1, charge, self.ratios[number]
        raise IndexError(place)

    def part(self, charge: Charge) -> Ledger:
        """Return the ledger of one charge alone."""
        return replace(self.ledger, rows=tuple(self.ledger.rows[place] for place in charge.places))

    def noise(self, place: int) -> CellNoise | ChoiceNoise:
        """Return the noise of an answer."""
        answer = self.plan.answers[place]
        number, _, ratio = self.charge(place)
        move = self.plan.records * answer.type.move(self.plan, answer)
        if not isinstance(answer.type, CellKind):
            return ChoiceNoise(choice_epsilon(ratio, rounding=self.rounding), move)
        return cell_noise(self.kinds[number - 1], ratio, move, rounding=self.rounding)


def plan_ledger(
    plan: ReleasePlan,
    parts: tuple[Charge, ...],
    kinds: tuple[type[Mechanism], ...],
    ratios: tuple[float, ...],
    rounding: str = "",
) -> Ledger:
    """Return the ledger of a plan: one row per answer, parallel ones with their group and its limit."""
    rows: dict[int, Release] = {}
    for number, (charge, kind, ratio) in enumerate(zip(parts, kinds, ratios, strict=True), start=1):
        for place in charge.places:
            answer = plan.answers[place]
            cell = expression_of(plan, answer, kind, ratio, rounding=rounding)
            inner = answer.type.touched(plan, answer) if isinstance(answer.type, CellKind) else 1
            limit = charge.copies // inner if charge.parallel else None
            rows[place] = Release(
                answer.name,
                cell if inner == 1 else f"{cell}^{inner}",
                note=_note(plan),
                group=f"{number}: {charge.column}" if charge.parallel else "",
                group_limit=limit,
            )
    return Ledger(tuple(rows[place] for place in range(len(plan.answers))), plan.relation)


def _note(plan: ReleasePlan) -> str:
    who = "one record" if plan.records == 1 else f"one person with up to {plan.records} records"
    return f"protects {who}, {plan.relation}"


def solve(plan: ReleasePlan) -> PlanSolution:
    """Return the least noise, in the proportions of the split, that keeps all answers together within the budget.

    Every suitable registered noise is tried for all answers, then, if there are few, for one charge at a time; the one
    with the smallest standard deviations is taken. Only public numbers enter.

    Parameters
    ----------
    plan : ReleasePlan
        The answers and the budget.

    Returns
    -------
    PlanSolution
        The noise of every charge.

    Raises
    ------
    BudgetError
        If no noise keeps the budget.

    Examples
    --------
    >>> from dpcore.planner import PlanAnswer, ReleasePlan
    >>> plan = ReleasePlan((PlanAnswer("count", where="age < 18"),), epsilon=0.5, delta=0)
    >>> solve(plan).ledger.rows[0].expression
    'geometric(0.5)'
    """
    parts = charges(plan)
    options = [suitable(plan, charge) for charge in parts]
    tries = _Tries(plan, parts)
    names = list(dict.fromkeys(kind for kinds in options for kind in kinds))
    for place, kind in enumerate(names):
        checkpoint(0.8 * place / len(names))
        tries.add(tuple(kind if kind in kinds else kinds[0] for kinds in options))
    if tries.best is None:
        raise tries.problem or BudgetError(f"No noise keeps the budget of ε = {nearest(plan.epsilon)}.")
    if len(parts) <= _MOST_SWAPS:
        for place, kinds in enumerate(options):
            for kind in kinds:
                chosen = list(tries.best[0])
                chosen[place] = kind
                tries.add(tuple(chosen))
    return _kept(PlanSolution(plan, parts, tries.best[0], tries.ratios(tries.best[1]), NEAREST))


class _Tries:
    """The choices of noise tried so far, and the one that needs the least noise."""

    def __init__(self, plan: ReleasePlan, parts: tuple[Charge, ...]) -> None:
        self.plan, self.parts, self.shares = plan, parts, _shares(plan, parts)
        self.seen: set[Kinds] = set()
        self.best: tuple[Kinds, float] | None = None
        self.problem: DpcoreError | None = None

    def add(self, kinds: Kinds) -> None:
        """Solve with one choice of noise, if it is new and better than the best so far."""
        if kinds in self.seen:
            return
        self.seen.add(kinds)
        try:
            if self.best is not None and self._gap(kinds, math.log(self.best[1]) - _TIE) > 0.0:
                return  # with as little noise as the best one, it exceeds the budget
            self.best = (kinds, self._solved(kinds))
        except (BudgetError, ArithmeticError) as error:  # such as unbounded noise at delta 0
            self.problem = error if isinstance(error, DpcoreError) else self.problem

    def _solved(self, kinds: Kinds) -> float:
        search = Search(lambda v: self._gap(kinds, v), Axis(-_FARTHEST, _FARTHEST, _CLOSE))
        start = self._pure() if self.best is None else self.best[1]
        if not search.enclose(math.log(start), _FIRST_STEP):
            msg = f"No noise keeps the budget of {budget_words(self.plan)}."
            raise BudgetError(msg)
        search.narrow()
        return math.exp(search.met)

    def _pure(self) -> float:
        """Return the amount of Laplace noise whose epsilons add up to the budget: where the search starts."""
        spent = sum(charge.copies / share for charge, share in zip(self.parts, self.shares, strict=True))
        return math.sqrt(2.0) * spent / (self.plan.epsilon if self.plan.mu is None else self.plan.mu)

    def ratios(self, size: float) -> tuple[float, ...]:
        """Return the ratio of every charge at an amount of noise."""
        return tuple(size * share for share in self.shares)

    def _gap(self, kinds: Kinds, v: float) -> float:
        """Return how far the composition is above the budget at the logarithm of the amount of noise."""
        with effort(tolerance=max(_ROUGH, current().tolerance)):
            return over_budget(self.plan, plan_ledger(self.plan, self.parts, kinds, self.ratios(math.exp(v))))


def _shares(plan: ReleasePlan, parts: tuple[Charge, ...]) -> tuple[float, ...]:
    """Return the proportions of the ratios of the charges."""
    answers = [[plan.answers[place] for place in charge.places] for charge in parts]
    if plan.split == WEIGHTS:
        return tuple(1.0 / max(answer.weight for answer in group) for group in answers)
    return tuple(min(_scale(plan, answer) / split_error(plan, answer, 1.0) for answer in group) for group in answers)


def _scale(plan: ReleasePlan, answer: PlanAnswer) -> float:
    if plan.split == EQUAL:
        return 1.0
    return answer.type.largest(plan, answer) if answer.scale is None else answer.scale


def over_budget(plan: ReleasePlan, ledger: Ledger) -> float:
    """Return how far a ledger is above the budget, as a logarithm; at most 0 if it is certainly within it."""
    if plan.mu is not None:
        known = gaussian_mu(ledger.region)
        return math.inf if known is None else math.log(max(known[0], 1e-300) / plan.mu)
    if plan.delta == 0.0:
        return math.log(max(_largest_loss(ledger), 1e-300) / plan.epsilon)
    reached = float(ledger.region.delta_bounds(np.array([plan.epsilon]))[1][0])
    return math.log((reached + plan.delta) / (2.0 * plan.delta))  # stays smooth where delta falls to 0


def _largest_loss(ledger: Ledger) -> float:
    """Return the largest loss of a ledger, its epsilon at delta 0: the sum of those of its parts, rounded up."""
    curves = [(node.curve, count) for node, count in ledger.factors]
    return (
        math.inf
        if any(curve.q_inf > 0.0 for curve, _ in curves)
        else sum_up((c.max_loss, count) for c, count in curves)
    )


def budget_words(plan: ReleasePlan) -> str:
    """Return the budget as people would write it."""
    if plan.mu is not None:
        return f"μ = {nearest(plan.mu)}"
    return f"ε = {nearest(plan.epsilon)} at δ = {nearest(plan.delta)}"


def _kept(solution: PlanSolution) -> PlanSolution:
    """Return the solution, with a little more noise if the published epsilon would be above the budget or uncertified.

    A bracket may miss the tolerance exactly where the search ended; slightly more noise moves it away from there.
    """
    plan, refusals = solution.plan, 0
    for _ in range(_STEPS):
        more = 1.0 if solution.rounding == NEAREST else 1.0 + _LITTLE
        try:
            fits = over_budget(plan, solution.ledger) <= 0.0
            if fits and (
                plan.mu is not None or plan.delta == 0.0 or total(solution.ledger, plan.delta).upper <= plan.epsilon
            ):
                return solution
        except BudgetError:
            refusals += 1
            if refusals > _MOST_REFUSALS or time.monotonic() > current().ends_at:
                raise
            more = 1.0 + _MORE
        solution = replace(solution, ratios=tuple(ratio * more for ratio in solution.ratios), rounding=OUTWARD)
    msg = f"The composition could not be shown to keep {budget_words(plan)}."
    raise DomainError(msg)
