"""The view of the planner page: a plan as carried by its link, and the spec of its figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dpcore.app import work
from dpcore.app.plan_a_release_lists import ANSWER_FIELDS, COLUMN_FIELDS, answer_of, cells_of, column_of
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import value_text
from dpcore.core.results import kept_by, result
from dpcore.planner import PlanAnswer, PlannedRelease, PublicColumn, ReleasePlan, charges, plan_to_toml, solve
from dpcore.specs import Spec, intermediate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.app.your_data_table import OpenTable
    from dpcore.planner import Charge, PlanSolution, PlanTable

LOSS_BUDGET, GAUSSIAN_BUDGET = "ε and δ", "μ"
PICTURES = ("errors", "budget")
FIRST_TABLE = "staff"
FIRST_ANSWERS = """label,answer,column,where
Administration,count,,department = Administration
Production,count,,department = Production
Research,count,,department = Research
Sales,count,,department = Sales
Support,count,,department = Support
Mean salary,mean,salary,
"""
FIRST_COLUMNS = """name,lower,upper,categories
department,,,"Administration, Production, Research, Sales, Support"
salary,20000,120000,
years,0,50,
"""
# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "plan_table": FIRST_TABLE,
    "plan_answers": FIRST_ANSWERS,
    "plan_columns": FIRST_COLUMNS,
    "plan_budget": LOSS_BUDGET,
    "plan_epsilon": "1",
    "plan_mu": "0.3",
    "plan_delta": "1e-6",
    "plan_split": "weights",
    "plan_relation": "add/remove",
    "plan_records": "1",
    "plan_person": "",
    "plan_rows": "1200",
    "plan_picture": "errors",
}
HEIGHT: Final = 330  # the picture, its sentence and the controls fit on one screen
STATUS, INCLUDED = "status", "included"


# ---- the plan ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanRow:
    """One row of the list of answers: its cells, and the answer or what is wrong with it."""

    cells: Mapping[str, str]
    answer: PlanAnswer | None = None
    problem: str = ""


@dataclass(frozen=True)
class PlanDraft:
    """What was typed: every answer, valid or not, the public facts, and the other fields of the plan.

    Attributes
    ----------
    rows : tuple of PlanRow
        The list of answers.
    facts : tuple of dict
        The list of public facts, as typed.
    columns : tuple of PublicColumn
        The valid facts.
    problems : tuple of str
        What is wrong with the others.
    options : dict of str to object
        The other fields of `ReleasePlan`.
    """

    rows: tuple[PlanRow, ...]
    facts: tuple[dict[str, str], ...]
    columns: tuple[PublicColumn, ...]
    problems: tuple[str, ...]
    options: dict[str, Any]

    @property
    def plan(self) -> ReleasePlan | None:
        """The plan of the valid answers; None if there are none."""
        answers = tuple(row.answer for row in self.rows if row.answer is not None)
        return ReleasePlan(answers, self.columns, **self.options) if answers else None

    def column(self, name: str) -> PublicColumn | None:
        """Return what is public about a column; None if nothing is."""
        return next((column for column in self.columns if column.name == name), None)


def draft_of(answers: str, columns: str, options: dict[str, Any], known: Sequence[str] = ()) -> PlanDraft:
    """Return the plan described by two lists and the other fields.

    Parameters
    ----------
    answers, columns : str
        The lists as carried by the link.
    options : dict of str to object
        The other fields of `ReleasePlan`.
    known : sequence of str, default ()
        The columns of the open file; empty if none is open.
    """
    facts, public, problems = [], list[PublicColumn](), list[str]()
    for place, cells in enumerate(cells_of(columns, COLUMN_FIELDS, "public facts"), start=1):
        facts.append(cells)
        try:
            column = column_of(cells)
            if any(one.name == column.name for one in public):
                msg = f"{value_text(column.name)} is described twice."
                raise DomainError(msg)
            public.append(column)
        except DpcoreError as error:
            problems.append(f"Row {place} of the public facts: {error}")
    rows = [_row(cells, tuple(public), options, known) for cells in cells_of(answers, ANSWER_FIELDS, "answers")]
    return PlanDraft(tuple(rows), tuple(facts), tuple(public), tuple(problems), options)


def _row(
    cells: Mapping[str, str], columns: tuple[PublicColumn, ...], options: dict[str, Any], known: Sequence[str]
) -> PlanRow:
    """Return an answer that is checked on its own, so that a wrong one does not affect the others."""
    try:
        answer = answer_of(cells)
        used = [answer.column, answer.by, *answer.condition.columns, *answer.base.columns]
        missing = next((name for name in used if name and known and name not in known), None)
        if missing is not None:
            msg = f"the file has the columns {', '.join(known)[:200]}; there is no column {value_text(missing)}."
            raise DomainError(msg)
        charges(ReleasePlan((answer,), columns, **options))
    except DpcoreError as error:
        words = str(error)
        return PlanRow(cells, problem=words.split("): ", 1)[1] if words.startswith("Answer 1 (") else words)
    return PlanRow(cells, answer)


@dataclass(frozen=True)
class PlanView:
    """A plan, its table if one is open, and the picture to draw."""

    plan: ReleasePlan
    picture: str
    store: work.ResultCache
    table: OpenTable | None = None

    @property
    def spec(self) -> Spec:
        """The spec of the picture."""
        source = self.table.fields if self.table is not None else {}
        known = {name: value for name, value in source.items() if value is not None}
        table = {"draw": "plan", "plan": plan_to_toml(self.plan), "view": self.picture, **known}
        return Spec(table, files=self.table.files if self.table is not None else {})

    @Lazy
    def data(self) -> PlanTable | None:
        """The table columns that the plan uses, read as in the figure's recipe; None without a table."""
        with kept_by(work.keeper(self.store)):
            data: PlanTable | None = intermediate(self.spec, "table_data")
        return data

    @property
    def solution(self) -> PlanSolution:
        """The noise of the plan."""
        with kept_by(work.keeper(self.store)):
            return result(solve, self.plan)

    @property
    def release(self) -> PlannedRelease | None:
        """The plan applied to its table; None without a table."""
        return None if self.data is None else PlannedRelease(self.solution, self.data)

    @Lazy
    def charges(self) -> tuple[Charge, ...]:
        """The answers that are charged together."""
        return charges(self.plan)

    def moved(self, held: Mapping[str, str]) -> PlanView:
        """Return the view with the value of a slider that is held."""
        plan = self.plan
        for slider, text in held.items():
            name = slider.removeprefix("plan_").removesuffix("_slider")
            if name in ("epsilon", "delta", "mu"):
                value: dict[str, Any] = {name: float(text)}
                plan = replace(plan, **value)
            elif name.startswith("weight_") and int(name.removeprefix("weight_")) < len(self.charges):
                places = self.charges[int(name.removeprefix("weight_"))].places
                answers = [
                    replace(answer, weight=float(text)) if place in places else answer
                    for place, answer in enumerate(plan.answers)
                ]
                plan = replace(plan, answers=tuple(answers))
        return replace(self, plan=plan)


def view_of(draft: PlanDraft, table: OpenTable | None, picture: str, store: work.ResultCache) -> PlanView | None:
    """Return the view, with results about a plan without a table in `store`; None if no answer is valid."""
    plan = draft.plan
    return None if plan is None else PlanView(plan, picture, store if table is None else table.store, table)
