"""`dpcore plan` and the report of a plan."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from dpcore.cli.program import main
from dpcore.files.data import data_folder
from dpcore.ledger import open_ledger, total
from dpcore.planner import PlanAnswer, PublicColumn, ReleasePlan, plan_report, planned_frame, read_plan
from dpcore.site import build_report

if TYPE_CHECKING:
    from pathlib import Path

STAFF = str(data_folder() / "datasets" / "staff.csv")
OPTIONS = [
    "--answers", "count where department = Sales", "count where department = Support", "mean of salary",
    "--bounds", "salary=0:200000", "--categories", "department=Sales,Support", "--epsilon", "1", "--delta", "1e-6",
]  # fmt: skip


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    assert main(["plan", STAFF, *words]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_the_tables_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    answers = rows(capsys, *OPTIONS)
    assert [row["kind_of_answer"] for row in answers] == ["count", "count", "mean"]
    assert [row["charge"] for row in answers] == ["1", "1", "2"]
    assert [row["parallel"] for row in rows(capsys, *OPTIONS, "--table", "parts")] == ["True", "False"]
    (budget,) = rows(capsys, *OPTIONS, "--table", "budget")
    assert 0.999 < float(budget["epsilon"]) <= 1.0
    numbers = rows(capsys, *OPTIONS, "--simulate", "3")
    assert {row["status"][:15] for row in numbers} == {"simulation only"}
    assert main(["plan", STAFF, *OPTIONS, "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3


def test_what_the_command_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ledger, plan, program, report = (tmp_path / name for name in ("l.csv", "p.toml", "p.py", "r.md"))
    words = [
        "--figure",
        str(tmp_path / "f.svg"),
        "--ledger",
        str(ledger),
        "--save",
        str(plan),
        "--program",
        "opendp",
        "-o",
        str(program),
        "--report",
        str(report),
    ]
    (budget,) = rows(capsys, *OPTIONS, *words, "--table", "budget")
    assert total(open_ledger(ledger), 1e-6).upper == float(budget["epsilon"])
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").startswith("<svg")
    compile(program.read_text(encoding="utf-8"), "p.py", "exec")
    assert report.read_text(encoding="utf-8").startswith("# Planned release of staff.csv")
    assert rows(capsys, "--plan", str(plan), "--table", "budget") == [budget]
    assert read_plan(plan.read_text(encoding="utf-8")).answers[2].kind == "mean"
    (half,) = rows(capsys, "--plan", str(plan), "--table", "budget", "--epsilon", "0.5")
    assert float(half["epsilon"]) <= 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Say what is released"),
        (["--answers", "mena of salary"], "Did you mean mean?"),
        (["--answers", "mean of salary"], "Nothing public is stated about column 'salary'"),
        (["--answers", "mean of pay", "--bounds", "pay=0:1"], "there is no column 'pay'"),
        (["--answers", "mean of salary", "--bounds", "salary=5:1"], "must be below the upper bound"),
        (["--answers", "mean of salary", "--bounds", "salary"], "--bounds takes COLUMN=LOWER:UPPER"),
        (["--answers", "mean of department", "--bounds", "department=0:1"], "(the first in row 1: 'Administration')"),
        ([*OPTIONS, "--mu", "1"], "give one of them"),
        ([*OPTIONS, "-o", "x.py"], "--program"),
        ([*OPTIONS, "--noise", "pink"], "noise must be one of"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["plan", STAFF, *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_report_holds_public_numbers_only_and_becomes_a_page(tmp_path: Path) -> None:
    departments = ("Administration", "Production", "Research", "Sales", "Support")
    counts = tuple(
        PlanAnswer("count", where=f"department = {name}", label=f"{name} | *people*") for name in departments
    )
    columns = (PublicColumn("department", categories=departments), PublicColumn("salary", 0, 200_000))
    plan = ReleasePlan((*counts, PlanAnswer("mean", "salary")), columns, rows=1000)
    text = plan_report(plan, "Pay in *our* company")
    assert "charged once" in text
    assert "- salary: a number from 0 to 200000; values outside are moved to the nearer bound" in text
    assert text == plan_report(plan, "Pay in *our* company")
    (tmp_path / "report.md").write_text(text, encoding="utf-8")
    page = build_report(tmp_path / "report.md", tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Pay in *our* company" in page
    assert "Sales | *people*" in page
    assert "What must hold" in page


def test_planned_errors_need_no_data() -> None:
    plan = ReleasePlan(
        (PlanAnswer("mean", "x"), PlanAnswer("quantile", "x"), PlanAnswer("top choice", "g")),
        (PublicColumn("x", 0, 10), PublicColumn("g", categories=("a", "b"))),
    )
    frame = planned_frame(plan)
    assert frame["relative"].tolist() == [None, None, None]
    assert "to be divided by the number of records" in frame["unit"][0]
    assert (frame["halfwidth"] > 0).all()
    assert frame["share"].sum() == pytest.approx(1.0)
