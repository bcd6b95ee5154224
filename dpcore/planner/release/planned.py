"""What a plan says before any data are seen: noise, errors and shares of the budget that follow from public numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, WORDS, kind, labelled
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.ledger import total
from dpcore.planner.release.errors import answer_error
from dpcore.planner.release.kinds import CellKind, error_unit
from dpcore.planner.release.noise import CellNoise
from dpcore.planner.release.plan import MISS, SUBSTITUTION
from dpcore.planner.release.solve import PlanSolution, solve
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.planner.release.noise import ChoiceNoise
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan
    from dpcore.planner.release.table import PlanTable

_SMALL: Final = (
    "No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
)  # fmt: skip
_MOST_PARTS: Final = 4  # of a sentence


class PlannedError(NamedTuple):
    """The 95 % half-width of an answer, its unit, how reliable the number is, and the largest possible error."""

    halfwidth: float
    unit: str
    kind: str
    largest: float | None


def planned_error(plan: ReleasePlan, answer: PlanAnswer, noise: CellNoise | ChoiceNoise) -> PlannedError:
    """Return the error of an answer as far as public numbers tell.

    For a ratio without a public number of records it is the error of its cells; for a quantile it counts ranks.
    """
    answer_kind = answer.type
    if not isinstance(answer_kind, CellKind) or not isinstance(noise, CellNoise):
        names = len(plan.column(answer.column).names) if answer.kind == "top choice" else 1
        reach = math.log(names / MISS) / noise.value * noise.sensitivity * (1.0 if names > 1 else 2.0)
        largest = _largest(plan, answer)
        return PlannedError(
            reach, "records" if names > 1 else "ranks", "upper" if names > 1 else "approximate", largest
        )
    reach = noise.law.reach(MISS)
    if answer_kind.cells(plan, answer) == len(answer_kind.labels(plan, answer)):
        largest = _largest(plan, answer)
        return PlannedError(reach * answer_kind.per_cell(plan, answer), error_unit(answer), EXACT, largest)
    try:
        factor = answer_kind.per_cell(plan, answer)
    except DomainError:
        return PlannedError(reach, f"{error_unit(answer)}, to be divided by the number of records", "approximate", None)
    return PlannedError(reach * factor, error_unit(answer), "approximate", _largest(plan, answer))


def _largest(plan: ReleasePlan, answer: PlanAnswer) -> float | None:
    try:
        return answer.type.largest(plan, answer)
    except DomainError:
        return None


def table_error(
    plan: ReleasePlan, answer: PlanAnswer, noise: CellNoise | ChoiceNoise, table: PlanTable
) -> tuple[PlannedError, float]:
    """Return the error of an answer on a table, and what moving values into the bounds adds to it; both depend on the data."""
    error = answer_error(plan, answer, table, noise)
    if answer.kind == "quantile":
        largest: float | None = plan.column(answer.column).span
    else:
        largest = _largest(plan.with_rows(table.rows), answer)
    return PlannedError(error.halfwidth, error_unit(answer), error.kind, largest), error.bias


def planned_frame(plan: ReleasePlan, table: PlanTable | None = None) -> pd.DataFrame:
    """Tabulate the answers of a plan from public numbers alone, so that the table may be published with the release.

    Parameters
    ----------
    plan : ReleasePlan
        The plan; it is solved first.
    table : PlanTable, optional
        The data. The errors are then those on these data, and the table is for the planner's eyes only.

    Returns
    -------
    DataFrame
        `answer, kind_of_answer, charge, parallel` (how many answers share the charge), `apart_on, share` (of the sum of the
        epsilons of all charges), `noise, parameter, value, scale, sensitivity, expression, halfwidth` (of a 95 % interval),
        `unit, error_kind, relative` (half-width over the largest error there can be; None if the number of records is
        not public), with a table `clipping_bias` (what moving values into the bounds adds), `epsilon` of the charge at the
        plan's delta and `kind, theorem, neighbours` of that epsilon.

    Examples
    --------
    >>> from dpcore.planner import PlanAnswer, ReleasePlan
    >>> planned_frame(ReleasePlan((PlanAnswer("count", where="age < 18"),), delta=0)).halfwidth.tolist()
    [3.0]
    """
    solution = result(solve, plan)
    rows: list[dict[str, Any]] = [{}] * len(plan.answers)
    bounds = [_epsilon(solution, number) for number in range(len(solution.charges))]
    whole = sum(high for _, high in bounds)
    for number, (charge, (low, high)) in enumerate(zip(solution.charges, bounds, strict=True)):
        for place in charge.places:
            answer, noise = plan.answers[place], solution.noise(place)
            error, bias = planned_error(plan, answer, noise), dict[str, float]()
            if table is not None:
                error, bias["clipping_bias"] = table_error(plan, answer, noise, table)
            rows[place] = {
                "answer": answer.name,
                "kind_of_answer": answer.kind,
                "charge": number + 1,
                "parallel": len(charge.places),
                "apart_on": charge.column,
                "share": high / whole if 0.0 < whole < math.inf else 1.0 / len(bounds),
                "noise": noise.name,
                "parameter": noise.parameter,
                "value": noise.value,
                "scale": noise.scale,
                "sensitivity": noise.sensitivity,
                "expression": solution.ledger.rows[place].expression,
                "halfwidth": error.halfwidth,
                "unit": error.unit,
                "error_kind": error.kind,
                "relative": None if error.largest is None else error.halfwidth / error.largest,
                **bias,
                "epsilon": high,
                "kind": kind(low, high, "upper"),
                "theorem": solution.ledger.member(place).theorem,
            }
    frame = pd.DataFrame(rows)
    frame["relative"] = frame["relative"].astype(object).where(frame["relative"].notna(), None)
    return labelled(frame, neighbours=solution.ledger.neighbours)


def _epsilon(solution: PlanSolution, number: int) -> tuple[float, float]:
    """Return the two sides of the epsilon of one charge at the plan's delta."""
    region = solution.part(solution.charges[number]).region
    low, high = region.epsilon_bounds(np.array([solution.plan.delta]))
    return float(low[0]), float(high[0])


def plan_words(plan: ReleasePlan, frame: pd.DataFrame) -> str:
    """Say how many numbers a plan publishes, how far off they are and what they spend in total.

    Parameters
    ----------
    plan : ReleasePlan
        The plan; it is solved first.
    frame : DataFrame
        What `planned_frame` returned.

    Returns
    -------
    str
        Two sentences with numbers rounded outward.
    """
    solution = result(solve, plan)
    spent = total(solution.ledger, plan.delta)
    numbers = sum(len(answer.type.labels(plan, answer)) for answer in plan.answers)
    promise = f"μ = {nearest(plan.mu)}" if plan.mu is not None else f"({nearest(plan.epsilon)}, {nearest(plan.delta)})"
    alone = numbers == 1
    return (
        f"{_counted(numbers)} {'number' if alone else 'numbers'} at {promise}: {_error_words(frame)}{'' if alone else ', each'} in "
        f"95 of 100 releases. {'It spends' if alone else 'Together they spend'} ε = {outward(spent.upper, 4)} at "
        f"δ = {nearest(plan.delta)} ({WORDS[spent.kind]}){_parallel_words(solution)}."
    )


def amount(error: float, unit: str) -> str:
    """Return an error, rounded up, with its unit unless that is the column's.

    Examples
    --------
    >>> amount(1.0, "records"), amount(5.001, "records"), amount(312.2, "salary")
    ('1 record', '5.01 records', '313')
    """
    text = outward(error, 3)
    if unit in ("records", "ranks"):
        return f"{text} {unit.removesuffix('s') if text == '1' else unit}"
    return f"{text} {unit}" if "," in unit else text


def _counted(number: int) -> str:
    return _SMALL[number] if number < len(_SMALL) else grouped(number)


def _error_words(frame: pd.DataFrame) -> str:
    """Say how far off the answers are, with one phrase for those of the same kind, error and unit."""
    parts = list[str]()
    for _, same in frame.groupby(["kind_of_answer", "unit", "halfwidth", "error_kind"], sort=False):
        first, names = same.iloc[0], list(same["answer"])
        verb = "" if parts else " is off" if len(names) == 1 else " are off"
        by = "about" if first["error_kind"] == "approximate" else "at most"
        kind_ = str(first["kind_of_answer"])
        several = "contingency tables" if kind_ == "contingency" else f"{kind_}s"
        name = names[0] if len(names) == 1 else f"the {len(names)} {several}"
        parts.append(f"{name}{verb} by {by} {amount(float(first['halfwidth']), str(first['unit']))}")
    rest = len(parts) - _MOST_PARTS
    return ", ".join(parts[:_MOST_PARTS]) + (f", and the table has {rest} more" if rest > 0 else "")


def _parallel_words(solution: PlanSolution) -> str:
    """Say which answers are charged once; return an empty text if there are none."""
    parallel = [charge for charge in solution.charges if charge.parallel]
    if not parallel:
        return ""
    parts = " and ".join(f"the {len(charge.places)} answers by {charge.column}" for charge in parallel)
    if any(charge.copies > 1 for charge in parallel):
        return f"; {parts} are charged as two, because a replaced record may leave one part and enter another"
    if solution.plan.records > 1:
        return f"; {parts} are charged once: their noise covers all records of a person, in one part or in several"
    return f"; {parts} are charged once, because nobody is in two of them"


def protection_words(plan: ReleasePlan) -> str:
    """Return whom a plan protects, in a sentence."""
    if plan.records == 1:
        how = "replaced by another" if plan.relation == SUBSTITUTION else "added or left out"
        return f"One record is protected: it may be {how}."
    how = "replaced by as many others" if plan.relation == SUBSTITUTION else "added or left out"
    return f"One person with up to {plan.records} records is protected: the records may be {how}."
