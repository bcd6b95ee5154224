"""The programs of a plan: with OpenDP they run, and what that library declares is what the plan says.

OpenDP has an environment of its own: ``make interop`` makes it. Otherwise the tests of OpenDP are skipped.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dpcore.files.data import data_folder
from dpcore.ledger import total
from dpcore.planner import PlanAnswer, PlannedRelease, PublicColumn, ReleasePlan, plan_release

if TYPE_CHECKING:
    from pathlib import Path

STAFF = data_folder() / "datasets" / "staff.csv"
COLUMNS = (
    PublicColumn("department", categories=("Administration", "Production", "Research", "Sales", "Support")),
    PublicColumn("salary", 0, 200_000),
    PublicColumn("years", 0, 45),
)
COUNTS = tuple(PlanAnswer("count", where=f'department = "{name}"') for name in COLUMNS[0].categories)
EVERY = (
    *COUNTS,
    PlanAnswer("histogram", "years", bins=4),
    PlanAnswer("sum", "salary", where="department = Sales"),
    PlanAnswer("mean", "salary"),
    PlanAnswer("quantile", "salary", level=0.5),
    PlanAnswer("proportion", where="salary > 60000 and years in [1, 2, 3]"),
    PlanAnswer("variance", "years"),
    PlanAnswer("contingency", "department", by="years", bins=3),
    PlanAnswer("top choice", "department"),
)
PLANS = {
    "five counts and a mean": ReleasePlan((*COUNTS, PlanAnswer("mean", "salary")), COLUMNS),
    "everything": ReleasePlan(EVERY, COLUMNS, epsilon=2.0),
    "substitution": ReleasePlan(EVERY, COLUMNS, epsilon=2.0, relation="substitution"),
    "pure": ReleasePlan(EVERY, COLUMNS, epsilon=2.0, delta=0.0),
    "pure substitution": ReleasePlan(EVERY, COLUMNS, epsilon=2.0, delta=0.0, relation="substitution"),
    "Gaussian": ReleasePlan(EVERY, COLUMNS, mu=0.5),
    "medians": ReleasePlan(
        tuple(PlanAnswer("quantile", "salary", where=f"department = {name}") for name in COLUMNS[0].categories),
        COLUMNS,
        delta=0.0,
        relation="substitution",
    ),
    "persons": ReleasePlan(EVERY, COLUMNS, records=3, person_column="years"),
}
PYTHON = os.environ.get("DPCORE_OPENDP_PYTHON") or (sys.executable if importlib.util.find_spec("opendp") else "")
NUMBER = r"([0-9.e+-]+|inf)"


def run(python: str, release: PlannedRelease, library: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(release.program(library, file=str(STAFF)), encoding="utf-8")
    return subprocess.run([python, str(path)], capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("name", PLANS)
def test_the_numpy_program_runs_and_says_that_it_is_not_for_release(name: str, tmp_path: Path) -> None:
    release = plan_release(STAFF, PLANS[name])
    text = release.program("numpy")
    assert text.count("NOT FOR RELEASE") >= 3
    done = run(sys.executable, release, "numpy", tmp_path)
    assert done.returncode == 0, done.stderr
    for answer in release.plan.answers:
        assert f"{answer.name}: " in done.stdout


@pytest.mark.skipif(not PYTHON, reason="OpenDP is not installed; make interop makes an environment for it")
@pytest.mark.parametrize("name", PLANS)
def test_opendp_declares_what_the_plan_says(name: str, tmp_path: Path) -> None:
    release = plan_release(STAFF, PLANS[name])
    done = run(PYTHON, release, "opendp", tmp_path)
    assert done.returncode == 0, done.stderr
    for answer in release.plan.answers:
        assert f"{answer.name}: " in done.stdout
    declared = float(re.search(rf"adds up to epsilon = {NUMBER}", done.stderr)[1])
    ours = float(re.search(rf"exact composition is epsilon = {NUMBER}", done.stderr)[1])
    assert ours <= (release.plan.epsilon if release.plan.mu is None else total(release.ledger, 1e-6).upper) * (1 + 1e-9)
    if release.plan.delta == 0.0:
        assert declared == pytest.approx(ours, rel=1e-9)  # pure losses add up: nothing to gain
    else:
        # OpenDP adds losses or converts concentrated privacy: never below the exact composition, and not much above
        assert ours * (1 - 1e-9) <= declared <= 1.12 * ours
