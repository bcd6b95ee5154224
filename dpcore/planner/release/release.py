"""A plan applied to its table: every answer with its noise and error, the parts of the budget, and a simulation.

Numbers that depend on the data (true answers, clipping, errors of ratios and choices) are for the owner of the table: they
are not protected and must not be published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, facts
from dpcore.core.lazy import Lazy
from dpcore.core.results import result
from dpcore.ledger import to_csv, total
from dpcore.planner.release.choices import ChoiceKind
from dpcore.planner.release.errors import AnswerError, answer_error, releases
from dpcore.planner.release.kinds import error_unit
from dpcore.planner.release.plan import SUBSTITUTION
from dpcore.planner.release.report import plan_report
from dpcore.planner.release.solve import PlanSolution, solve
from dpcore.planner.release.table import PlanTable, read_table
from dpcore.words import grouped

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator

    from dpcore.files.sheet import Sheet
    from dpcore.ledger import Ledger
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan

SIMULATION: Final = "simulation only: floating-point noise of a simulator does not protect anybody; do not publish"
OWNER_ONLY: Final = "depends on the data and is not protected: for the planner's eyes only"


@dataclass(frozen=True, eq=False)
class PlannedRelease:
    """A solved plan and its table.

    Attributes
    ----------
    solution : PlanSolution
        The noise, which follows from public numbers only.
    table : PlanTable
        The data.
    """

    solution: PlanSolution
    table: PlanTable

    def __post_init__(self) -> None:
        """Reject a public number of records that differs from the table's."""
        plan = self.plan
        if plan.relation == SUBSTITUTION and plan.rows is not None and plan.rows != self.table.rows:
            msg = (
                f"rows, the public number of records under substitution, is {grouped(plan.rows)}, but the table has "
                f"{grouped(self.table.rows)} records that count."
            )
            raise DomainError(msg)

    @property
    def plan(self) -> ReleasePlan:
        """What is released."""
        return self.solution.plan

    @property
    def ledger(self) -> Ledger:
        """One row per answer."""
        return self.solution.ledger

    @Lazy
    def errors(self) -> tuple[AnswerError, ...]:
        """How far off every answer is."""
        return tuple(
            answer_error(self.plan, answer, self.table, self.solution.noise(place))
            for place, answer in enumerate(self.plan.answers)
        )

    # ---- tables ----------------------------------------------------------------------------------------------

    def answers_frame(self) -> pd.DataFrame:
        """Tabulate the answers, one row each.

        Returns
        -------
        DataFrame
            `answer, kind_of_answer, column, where, numbers` (how many are published), `charge` (number of the part of
            the budget), `noise, parameter, value, scale` (standard deviation of the noise on a cell), `sensitivity`
            (how far one person moves the cells together), `expression` (region), `unit, expected_error` (mean absolute
            error), `halfwidth` (of a 95 % interval), `halfwidth_all` (of intervals that all hold at once in 95 of 100
            releases), `error_kind, clipping_bias` (largest, of the data), `epsilon` (of the answer alone at the plan's
            delta) and `kind, theorem, neighbours` of that epsilon. Errors and bias are for the planner's eyes only.
        """
        rows = []
        for place, (answer, error) in enumerate(zip(self.plan.answers, self.errors, strict=True)):
            number, _, _ = self.solution.charge(place)
            noise, member = self.solution.noise(place), self.ledger.member(place)
            low, high = (float(side[0]) for side in member.epsilon_bounds(np.array([self.plan.delta])))
            rows.append(
                {
                    "answer": answer.name,
                    "kind_of_answer": answer.kind,
                    "column": answer.column,
                    "where": answer.where,
                    "numbers": len(answer.type.labels(self.plan, answer)),
                    "charge": number,
                    "noise": noise.name,
                    "parameter": noise.parameter,
                    "value": noise.value,
                    "scale": noise.scale,
                    "sensitivity": noise.sensitivity,
                    "expression": self.ledger.rows[place].expression,
                    "unit": error_unit(answer),
                    "expected_error": error.expected,
                    "halfwidth": error.halfwidth,
                    "halfwidth_all": error.halfwidth_all,
                    "error_kind": error.kind,
                    "clipping_bias": error.bias,
                    "epsilon": high,
                    "kind": EXACT if low == high else "upper",
                    **facts(member),
                    "neighbours": self.ledger.neighbours,
                }
            )
        return pd.DataFrame(rows)

    def parts_frame(self) -> pd.DataFrame:
        """Tabulate what the budget is spent on, one row per charge.

        Returns
        -------
        DataFrame
            `charge, answers` (how many), `labels, parallel, apart_on` (the column that keeps them apart), `copies`,
            `noise, expression, epsilon, share` (of the sum of these epsilons) and `kind, theorem, neighbours`. The
            epsilons of the parts, at the plan's delta, do not add up to that of the release.
        """
        rows: list[dict[str, Any]] = []
        for number, charge in enumerate(self.solution.charges, start=1):
            part = self.solution.part(charge)
            low, high = (float(side[0]) for side in part.region.epsilon_bounds(np.array([self.plan.delta])))
            rows.append(
                {
                    "charge": number,
                    "answers": len(charge.places),
                    "labels": "; ".join(self.plan.answers[place].name for place in charge.places),
                    "parallel": charge.parallel,
                    "apart_on": charge.column,
                    "copies": charge.copies,
                    "noise": self.solution.noise(charge.places[0]).name,
                    "expression": str(part.region),
                    "epsilon": high,
                    "share": 0.0,
                    "kind": EXACT if low == high else "upper",
                    **facts(part.region),
                    "neighbours": self.ledger.neighbours,
                }
            )
        whole = sum(row["epsilon"] for row in rows)
        for row in rows:
            row["share"] = row["epsilon"] / whole if 0.0 < whole < np.inf else 1.0 / len(rows)
        return pd.DataFrame(rows)

    def budget_frame(self) -> pd.DataFrame:
        """Tabulate the budget and what the composed release spends, in one row.

        Returns
        -------
        DataFrame
            `epsilon_budget, delta, mu_budget` (0 if the budget is not a mu), `epsilon, epsilon_lower` (of the whole release at delta), `added_up` (what the sum of
            the epsilons of all answers would be), `expression, kind, theorem, neighbours`.
        """
        plan, bracket = self.plan, total(self.ledger, self.plan.delta)
        alone = [float(self.ledger.member(place).epsilon(plan.delta)) for place in range(len(plan.answers))]
        row = {
            "epsilon_budget": plan.epsilon if plan.mu is None else bracket.upper,
            "delta": plan.delta,
            "mu_budget": plan.mu or 0.0,
            "epsilon": bracket.upper,
            "epsilon_lower": bracket.lower,
            "added_up": float(sum(alone)),
            "expression": str(self.ledger.region),
            "kind": bracket.kind,
            "theorem": self.ledger.region.theorem,
            "neighbours": self.ledger.neighbours,
        }
        return pd.DataFrame([row])

    def cells_frame(self, rng: Generator | None = None) -> pd.DataFrame:
        """Tabulate the published numbers: true, clipped and, with a generator, simulated; for the planner's eyes only.

        Parameters
        ----------
        rng : Generator, optional
            Draws the noise of a simulated release.

        Returns
        -------
        DataFrame
            `answer, number` (its name), `true_value, within_bounds` (of values moved to the bounds), `category` (of a
            top choice, whose value is the place of the category), `halfwidth`; with a generator also `simulated, simulated_category, low,
            high` (a 95 % interval); `status`, which says that it is a simulation only, and `kind, theorem, neighbours` of
            the half-width.
        """
        rows: list[dict[str, Any]] = []
        for place, (answer, error) in enumerate(zip(self.plan.answers, self.errors, strict=True)):
            drawn = None
            if rng is not None:
                drawn = releases(self.plan, answer, self.table, self.solution.noise(place), rng, 1)[0]
            for index, label in enumerate(answer.type.labels(self.plan, answer)):
                row = {
                    "answer": answer.name,
                    "number": label,
                    "true_value": error.truth[index],
                    "within_bounds": error.clipped[index],
                    "category": self._category(answer, error.truth[index]),
                    "halfwidth": error.halfwidth,
                }
                if drawn is not None:
                    row |= {
                        "simulated": drawn[index],
                        "simulated_category": self._category(answer, drawn[index]),
                        "low": drawn[index] - error.halfwidth,
                        "high": drawn[index] + error.halfwidth,
                    }
                row |= {"status": OWNER_ONLY if drawn is None else SIMULATION, "kind": error.kind}
                rows.append({**row, "theorem": "law of the noise", "neighbours": self.plan.relation})
        return pd.DataFrame(rows)

    def _category(self, answer: PlanAnswer, value: float) -> str:
        kind = answer.type
        return kind.category(self.plan, answer, value) if isinstance(kind, ChoiceKind) else ""

    def ledger_csv(self) -> str:
        """Return the rows for a ledger as CSV; `dpcore.ledger` reads them back and gives the same epsilon."""
        return to_csv(self.ledger)

    def program(self, library: str, file: str = "table.csv") -> str:
        """Return a Python program that makes the release with ``opendp``, or tries it out with ``numpy``."""
        from dpcore.planner.release.program import program  # noqa: PLC0415  it knows this class

        return program(self, library, file)

    def report(self, title: str = "A planned release") -> str:
        """Return the report as Markdown, with public numbers only; see `dpcore.planner.plan_report`."""
        return plan_report(self.plan, title)


def plan_release(source: Sheet | Path | bytes, plan: ReleasePlan) -> PlannedRelease:
    """Read a table and solve a plan for it.

    Parameters
    ----------
    source : Sheet or Path or bytes
        A CSV file.
    plan : ReleasePlan
        The answers and the budget. Under substitution the number of records is taken from the table unless it is stated.

    Returns
    -------
    PlannedRelease
        The noise and the errors of all answers.
    """
    table = read_table(source, plan)
    whole = plan.with_rows(table.rows) if plan.relation == SUBSTITUTION else plan
    return PlannedRelease(result(solve, whole), table)
