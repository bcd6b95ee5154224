"""Templates and the label: each is a report that works as it is."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from dpcore.cli import main
from dpcore.core.errors import DpcoreError
from dpcore.ledger import Ledger, open_ledger
from dpcore.planner.label import FACTS, label_report
from dpcore.planner.release.documents import read_plan
from dpcore.site.report import build_report
from dpcore.site.report.templates import TEMPLATES, new_report

LEDGER = Path(__file__).resolve().parents[2] / "data" / "ledgers" / "quarter.csv"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "office" else (pytest.mark.long,)) for name in TEMPLATES]
)
def test_every_template_is_a_page_a_pdf_and_a_docx(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "new" / "report.md"
    assert main(["report", "new", name, "-o", str(report)]) == 0
    outputs = [tmp_path / f"out.{suffix}" for suffix in ("html", "pdf", "docx")]
    words = [word for output in outputs for word in ("-o", str(output))]
    assert main(["report", "build", str(report), *words, "--quiet"]) == 0, capsys.readouterr().err
    page = outputs[0].read_text(encoding="utf-8")
    assert "Numbers in the text" in page
    assert "{{" not in page.replace("<code>{{", "")
    assert len(page) < 500_000
    assert outputs[1].read_bytes().startswith(b"%PDF-")
    if name == "office":  # the text goes on before a figure that no longer fits on its page
        assert len(re.findall(rb"/Type\s*/Page\b", outputs[1].read_bytes())) <= 3
    with zipfile.ZipFile(outputs[2]) as archive:
        text = archive.read("word/document.xml").decode()
        assert "Built by dpcore" in text
        assert any(entry.startswith("word/media/") for entry in archive.namelist())
    with pytest.raises(DpcoreError, match="exists already"):
        new_report(name, report)


def test_a_wrong_template_is_named(tmp_path: Path) -> None:
    with pytest.raises(DpcoreError, match=r"did you mean office\?"):
        new_report("ofice", tmp_path / "r.md")


def test_the_label_marks_what_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "label",
        str(LEDGER),
        "-o",
        str(tmp_path / "label.html"),
        "--epsilon",
        "20",
        "--fact",
        "unit=one <b>patient</b>",
    ]
    assert main(command) == 0
    page = (tmp_path / "label.html").read_text(encoding="utf-8")
    assert "one &lt;b&gt;patient&lt;/b&gt;" in page
    assert page.count("<td>open</td>") >= 10
    assert "ε = " in page
    capsys.readouterr()
    assert main([*command[:4], "--epsilon", "1"]) == 2
    assert "a required condition does not hold: spent.epsilon" in capsys.readouterr().err
    assert main([*command[:4], "--fact", "unt=x"]) == 2
    assert "did you mean unit?" in capsys.readouterr().err


def test_the_source_of_a_label_stands_beside_its_ledger(tmp_path: Path) -> None:
    assert main(["label", str(LEDGER), "-o", str(tmp_path / "label.md")]) == 0
    assert (tmp_path / LEDGER.name).read_bytes() == LEDGER.read_bytes()
    assert build_report(tmp_path / "label.md", tmp_path / "label.html").is_file()
    (tmp_path / LEDGER.name).write_text("label,expression,count\n", encoding="utf-8")
    assert main(["label", str(LEDGER), "-o", str(tmp_path / "label.md")]) == 2


def test_a_label_is_one_page(tmp_path: Path) -> None:
    facts = [
        word for name in ("protected", "unit", "period", "trust") for word in ("--fact", f"{name}={name} of a label")
    ]
    assert main(["label", str(LEDGER), "-o", str(tmp_path / "label.pdf"), "--epsilon", "9", *facts]) == 0
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "label.pdf").read_bytes())) == 1


def test_a_label_of_many_releases_is_one_page(tmp_path: Path) -> None:
    rows = "".join(
        f"Release {place} of a {{{{{{ table }}}}}},laplace(0.0{place % 9 + 1}),{place}\n" for place in range(1, 41)
    )
    (tmp_path / "rows.csv").write_text(f"label,expression,count\n{rows}", encoding="utf-8")
    assert main(["label", str(tmp_path / "rows.csv"), "-o", str(tmp_path / "label.pdf")]) == 0
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "label.pdf").read_bytes())) == 1
    text = label_report(open_ledger(tmp_path / "rows.csv"), ledger_file="rows.csv")
    assert "The first 10 of 40 releases" in text
    assert "Release 10 of" in text
    assert "Release 11 of" not in text
    assert 'spent = \'ledger("rows.csv"' in text, "all are counted"


def test_a_plan_answers_questions() -> None:
    plan = read_plan('epsilon = 1\ndelta = 1e-6\nrows = 1000\n[[answers]]\nkind = "count"\n')
    ledger = Ledger.of(("counts", "laplace(0.1)", 10))
    with_plan = label_report(ledger, ledger_file="rows.csv", plan=plan)
    without = label_report(ledger, ledger_file="rows.csv")
    assert with_plan.count("| open |") < without.count("| open |")
    every = label_report(ledger, ledger_file="rows.csv", plan=plan, facts=dict.fromkeys(FACTS, "said"))
    assert every.count("| open |") < with_plan.count("| open |")
