"""Planning a release: tools that take your own table and say what can be published about it, and how accurately."""

from __future__ import annotations

from dpcore.planner.release.answer_text import parse_answer
from dpcore.planner.release.charges import Charge, charges
from dpcore.planner.release.conditions import Condition, parse_condition
from dpcore.planner.release.documents import (
    plan_from_dict,
    plan_from_json,
    plan_from_toml,
    plan_to_dict,
    plan_to_json,
    plan_to_toml,
    read_plan,
)
from dpcore.planner.release.plan import PlanAnswer, PublicColumn, ReleasePlan
from dpcore.planner.release.planned import plan_words, planned_frame
from dpcore.planner.release.release import PlannedRelease, plan_release
from dpcore.planner.release.report import plan_report
from dpcore.planner.release.solve import PlanSolution, solve
from dpcore.planner.release.table import PlanTable, read_table

__all__ = [
    "Charge",
    "Condition",
    "PlanAnswer",
    "PlanSolution",
    "PlanTable",
    "PlannedRelease",
    "PublicColumn",
    "ReleasePlan",
    "charges",
    "parse_answer",
    "parse_condition",
    "plan_from_dict",
    "plan_from_json",
    "plan_from_toml",
    "plan_release",
    "plan_report",
    "plan_to_dict",
    "plan_to_json",
    "plan_to_toml",
    "plan_words",
    "planned_frame",
    "read_plan",
    "read_table",
    "solve",
]
