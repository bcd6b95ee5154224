"""The release planner: parallel counts are charged once, and the ledger of a plan gives the plan's epsilon."""

from __future__ import annotations

from dpcore.files.data import data_folder
from dpcore.ledger import open_ledger, total
from dpcore.planner import PlanAnswer, PublicColumn, ReleasePlan, charges, plan_release

STAFF = data_folder() / "datasets" / "staff.csv"
DEPARTMENTS = ("Administration", "Production", "Research", "Sales", "Support")
COLUMNS = (PublicColumn("department", categories=DEPARTMENTS), PublicColumn("salary", 0, 200_000))
COUNTS = tuple(PlanAnswer("count", where=f'department = "{name}"') for name in DEPARTMENTS)
ANSWERS = (*COUNTS, PlanAnswer("mean", "salary"))


def test_counts_by_department_are_charged_once() -> None:
    release = plan_release(STAFF, ReleasePlan(ANSWERS, COLUMNS, epsilon=1, delta=1e-6))
    parts = release.parts_frame()
    assert parts["answers"].tolist() == [5, 1]
    assert parts["apart_on"].tolist() == ["department", ""]
    budget = release.budget_frame().iloc[0]
    assert 0.9999 < budget["epsilon"] <= 1.0
    assert budget["added_up"] > 2.9
    assert not release.answers_frame().isna().any(axis=None)


def test_a_replaced_record_is_charged_in_two_departments() -> None:
    plan = ReleasePlan(ANSWERS, COLUMNS, relation="substitution", rows=1200)
    assert [(charge.places, charge.copies) for charge in charges(plan)] == [((0, 1, 2, 3, 4), 2), ((5,), 1)]


def test_the_ledger_rows_give_the_same_epsilon() -> None:
    for relation in ("add/remove", "substitution"):
        release = plan_release(STAFF, ReleasePlan(ANSWERS, COLUMNS, relation=relation))
        again = open_ledger(release.ledger_csv())
        assert total(again, 1e-6) == total(release.ledger, 1e-6)
