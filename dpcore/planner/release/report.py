"""The report on a plan: who is protected, what is released with which error, and what it spends, in plain words.

It contains only public numbers: nothing depends on the data, so it can be published with the release.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.ledger import to_csv, total
from dpcore.planner.release.documents import plan_to_json, plan_to_toml
from dpcore.planner.release.plan import SUBSTITUTION
from dpcore.planner.release.planned import amount, planned_frame, protection_words
from dpcore.planner.release.solve import budget_words, solve
from dpcore.utility.dataset import OTHER
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.planner.release.plan import ReleasePlan
    from dpcore.planner.release.solve import PlanSolution

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|$#!~])")

_ERRORS = (
    "Noise alone moves a published number by more than its error in at most 5 of 100 releases. Values outside the public "
    "bounds are moved to the nearer bound first, which the error does not include."
)
_UNITS = (
    "Standard deviation and sensitivity are in the units of what gets the noise. The noise of a choice is the scale at which "
    "worse answers become unlikely."
)


def plan_report(plan: ReleasePlan, title: str = "A planned release") -> str:
    """Return the report on a plan as Markdown with figure blocks, which `dpcore site --spec` builds into a page.

    Parameters
    ----------
    plan : ReleasePlan
        The plan; it is solved first.
    title : str, default "A planned release"
        The heading.

    Returns
    -------
    str
        Markdown.
    """
    solution, frame = result(solve, plan), result(planned_frame, plan)
    parts = [f"# {' '.join(title.split())}", _summary(plan, solution), _protected(plan), _public(plan), _answers(frame)]
    parts += [_budget(plan, solution), _noise(frame), _ledger(plan, solution), _conditions(plan), _appendix(plan)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _summary(plan: ReleasePlan, solution: PlanSolution) -> str:
    spent = total(solution.ledger, plan.delta)
    return (
        f"{len(plan.answers)} answers are published with random noise. Together they satisfy differential privacy with "
        f"ε = {outward(spent.upper, 4)} at δ = {nearest(plan.delta)} ({'exact' if spent.kind == 'exact' else 'upper bound'})."
    )


def _protected(plan: ReleasePlan) -> str:
    lines = ["## Who is protected", protection_words(plan)]
    if plan.records > 1:
        lines.append(
            f"The column {_plain(plan.person_column)} says which person a record belongs to. Records of a person beyond the first "
            f"{plan.records} are left out before anything is computed."
        )
    if plan.relation == SUBSTITUTION:
        rows = f", {grouped(plan.rows)}," if plan.rows is not None else ""
        lines.append(f"The number of records{rows} is public.")
    else:
        lines.append("The number of records is protected too.")
    lines.append(
        "An attacker who knows everything about the table except whether this record is in it, or what it says, learns at most "
        "what the figure below shows."
        if plan.records == 1
        else "An attacker who knows all other records learns at most what the figure below shows about this person."
    )
    return "\n\n".join(lines)


def _public(plan: ReleasePlan) -> str:
    """Return what is stated about the columns; empty if nothing is."""
    lines = []
    for column in plan.columns:
        if column.categories:
            names = ", ".join(_plain(name) for name in column.categories)
            words = f"one of {names}; every other answer counts as {OTHER}"
        else:
            low, high = (nearest(end) for end in column.bounds)
            words = f"a number from {low} to {high}; values outside are moved to the nearer bound"
        lines.append(f"- {_plain(column.name)}: {words}")
    return "\n".join(["## What is public about the columns", "", *lines]) if lines else ""


def _answers(frame: pd.DataFrame) -> str:
    rows = [
        f"| {_plain(str(row['answer']))} | ± {_plain(amount(float(row['halfwidth']), str(row['unit'])))} | "
        f"{row['charge']} | {outward(100 * float(row['share']), 3)} % |"
        for _, row in frame.iterrows()
    ]
    return "\n".join(
        [
            "## What is released, and how accurate it is",
            "",
            _ERRORS,
            "",
            "| answer | error by noise | part of the budget | its share |",
            "|---|---|--:|--:|",
            *rows,
        ]
    )


def _budget(plan: ReleasePlan, solution: PlanSolution) -> str:
    lines = [
        "## The budget",
        f"The budget is {budget_words(plan)}. The regions of all parts were composed; their ε were not just added up.",
    ]
    for number, charge in enumerate(solution.charges, start=1):
        if charge.parallel:
            twice = (
                " It counts twice, since a replaced record may leave one of them and enter another."
                if charge.copies > 1
                else ""
            )
            once = (
                "One record is in one of them only, so they are charged once."
                if plan.records == 1
                else "The noise of each covers all records of a person, and records in several of them reveal no more than all "
                "in one; so they are charged once."
            )
            lines.append(
                f"Part {number} holds {len(charge.places)} answers about disjoint records (apart in the column "
                f"{_plain(charge.column)}). {once}{twice}"
            )
    lines += [
        _figure("plan", "The plan", "Shares of the budget, and the error of each answer.", plan=plan_to_json(plan))
    ]
    region: dict[str, str | float] = {
        "rows": to_csv(solution.ledger),
        "view": "region",
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "relation": plan.relation,
    }
    caption = "An attacker who wrongly accuses some share of the people outside the data misses at least the share of the people inside it that the curve shows."
    lines.append(_figure("ledger", "What all answers reveal together", caption, name="region", **region))
    return "\n\n".join(lines)


def _noise(frame: pd.DataFrame) -> str:
    rows = [
        f"| {_plain(str(row['answer']))} | {nearest(float(row['scale']))} | {nearest(float(row['sensitivity']))} | "
        f"`{row['expression']}` |"
        for _, row in frame.iterrows()
    ]
    return "\n".join(
        [
            "## The noise",
            "",
            _UNITS,
            "",
            "| answer | standard deviation | one person moves it by | noise and region |",
            "|---|--:|--:|---|",
            *rows,
        ]
    )


def _ledger(plan: ReleasePlan, solution: PlanSolution) -> str:
    spent = total(solution.ledger, plan.delta)
    text = to_csv(solution.ledger).strip()
    return (
        f"## For the ledger\n\nThese rows go into the ledger of the data; alone they spend ε = {outward(spent.upper, 6)} at "
        f"δ = {nearest(plan.delta)}. Add to that ledger whatever else is released about the same people.\n\n```text\n{text}\n```"
    )


def _conditions(plan: ReleasePlan) -> str:
    lines = [
        "## What must hold",
        "",
        "- The noise comes from a generator made for releases (such as OpenDP), not from a simulation.",
        "- Bounds, categories and conditions were chosen without looking at the data.",
        "- Nothing else computed from the data is published: no true answers, no numbers of clipped or missing values.",
    ]
    leaks = ", ".join(_plain(column.name) for column in plan.columns if column.from_data)
    if leaks:
        lines[3] += f" **This does not hold for {leaks}**: no noise protects what theirs reveal."
    if plan.records > 1:
        lines.append(f"- Nobody has more than {plan.records} records after the others are left out.")
    return "\n".join(lines)


def _appendix(plan: ReleasePlan) -> str:
    return f"## The plan\n\n```toml\n{plan_to_toml(plan).strip()}\n```"


def _figure(draw: str, title: str, caption: str, *, name: str = "", **fields: str | float) -> str:
    """Return a figure block; its values are written as JSON, which is TOML too for texts and numbers."""
    values = {"name": name or draw, "draw": draw, "title": title, "caption": caption, **fields}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["```figure", *lines, "```"])
