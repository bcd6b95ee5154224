"""Files of attack results: every row is read or named with its reason, whatever the file looks like."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.audit import Counts, Scores, audit, read_audit
from dpcore.audit.examples import example
from dpcore.cli import main
from dpcore.core.errors import DomainError

ROOT = Path(__file__).resolve().parents[2]


def scores(data: bytes, **options: object) -> Scores:
    found = read_audit(data, **options).measurement  # type: ignore[arg-type]  # options of the call
    assert isinstance(found, Scores)
    return found


def counts(data: bytes) -> Counts:
    found = read_audit(data).measurement
    assert isinstance(found, Counts)
    return found


def test_scores_with_labels() -> None:
    found = scores(b"id,score,label\na,0.5,1\nb,-2e1,0\nc,inf,TRUE\nd,-inf,0.0\n")
    assert found.outsiders.tolist() == [-np.inf, -20.0]
    assert found.members.tolist() == [0.5, np.inf]
    assert scores(b"Attack-Score,Is Member\n1,0\n2,1\n").members.tolist() == [2.0]
    assert scores(b"a,b\n0,3\n1,4\n", score="b", label="a").members.tolist() == [4.0]
    assert scores(b"3,0\n4,1\n", score="column 1", label="column 2").members.tolist() == [4.0]
    assert scores(b"score,label\n1,0\n2,1\n", reverse=True).members.tolist() == [-2.0]


def test_excel_semicolons_decimal_commas_and_a_byte_order_mark() -> None:
    data = "\ufeffscore;label\r\n0,75;1\r\n-1,5;0\r\n".encode()
    found = read_audit(data)
    assert isinstance(found.measurement, Scores)
    assert found.measurement.members.tolist() == [0.75]
    assert found.measurement.outsiders.tolist() == [-1.5]
    assert "A byte-order mark at the start of the file was removed." in found.messages
    assert "The fields are separated by semicolons, not by commas." in found.messages
    assert scores(data.decode("utf-8-sig").encode("utf-16")).members.tolist() == [0.75]


def test_bad_rows_are_named_and_good_rows_kept() -> None:
    data = b"score,label\n0.1,0\n0.9,1\n\nabc,1\n,0\nnan,1\n0.5,2\n0.5,yes\n0.5\n0.7,1\n1_0,0\n"
    found = read_audit(data)
    assert isinstance(found.measurement, Scores)
    assert (found.rows, found.complete, found.unscored, found.dropped) == (10, 3, 4, 3)
    assert found.measurement.trials == (3, 4)
    assert found.measurement.unscored == (2, 2)
    assert found.problems == (
        (5, "score must be a number, got 'abc', counted as an error"),
        (6, "score is missing, counted as an error"),
        (7, "score is 'nan', counted as an error"),
        (8, "label must be 0 or 1, got '2'"),
        (9, "label must be 0 or 1, got 'yes'"),
        (10, "label is missing"),
        (12, "score must be a number, got '1_0', counted as an error"),
    )
    assert found.table().columns.tolist() == ["line", "reason"]
    assert "3 of 10 rows read as scores with labels." in found.messages
    assert "4 rows without a score counted as errors of the attacker, which is the safe side." in found.messages
    assert "3 rows left out." in found.messages
    assert "and 4 more" in found.messages[-1]


def test_a_thousand_bad_rows_are_named_and_all_counted() -> None:
    data = b"score,label\n1,0\n2,1\n" + b"x,9\n" * 2500
    found = read_audit(data)
    assert (found.complete, found.dropped, len(found.problems)) == (2, 2500, 1000)
    assert "and 2 497 more" in found.messages[-1]


def test_counts() -> None:
    found = read_audit(b"name,TP,FP,TN,FN\na,80,20,80,20\nb,-1,2,3,4\nc,1,2,3\nd,1.5,2,3,4\ne,3,0,0,5\nf,4,1,9,6\n")
    assert isinstance(found.measurement, Counts)
    assert found.measurement.tp.tolist() == [80, 4]
    assert (found.kind, found.complete, found.dropped) == ("counts", 2, 4)
    lines = [line for line, _ in found.problems]
    assert lines == [3, 4, 5, 6]
    assert "tp must be an integer in [0, 10000000]" in found.problems[0][1]
    assert found.problems[1][1] == "fn is missing"
    assert "outsiders (fp + tn)" in found.problems[3][1]


@pytest.mark.parametrize(
    "data",
    [
        b"fpr,fnr,n0,n1\n0.2,0.2,100,50\n",
        b"alpha,power,outsiders,members\n0.2,0.8,100,50\n",
        b"False positive rate;TPR;negatives;positives\n0,2;0,8;100;50\n",
    ],
)
def test_rates_with_numbers_of_trials(data: bytes) -> None:
    found = counts(data)
    assert (found.tp.tolist(), found.fp.tolist(), found.tn.tolist(), found.fn.tolist()) == ([40], [20], [80], [10])


def test_rates_that_no_count_has_are_rounded_towards_more_errors() -> None:
    found = read_audit(b"fpr,fnr,n\n0.333,0.5,10\n1.2,0.5,10\n0.5,0.5,0\n0.5,inf,10\n0.25,0.25,100\n")
    assert isinstance(found.measurement, Counts)
    assert found.measurement.fp.tolist() == [4, 25]
    assert [line for line, _ in found.problems] == [3, 4, 5]
    assert any("rounded up" in words for words in found.messages)
    assert any("taken as exact" in words for words in found.messages)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file has no row"),
        (b"score,label\n", "0 rows of data"),
        (b"score,label\n1,1\n2,1\n", "none of them is a scored outsider"),
        (b"score,label\nx,0\n2,1\n", "line 2: score must be a number, got 'x', counted as an error"),
        (b"score,label\n1,a\n", "line 2: label must be 0 or 1, got 'a'"),
        (b"tp,fp,tn,fn\n-1,1,1,1\n", "none of them is a test that can be read: line 2: tp must be"),
        (b"a,b\n1,2\n", "reads the columns score and label .* this file has a, b"),
        (b"0.5,1\n0.2,0\n", "this file has column 1, column 2"),
        (b"score\n1\n", "this file has score"),
        (b"PK\x03\x04", "spreadsheet or an archive"),
        (b"score,label\n\0,1\n", "zero bytes"),
        (b"tp,fp,tn,fn\n" + b"1,1,1,1\n" * 10_001, "more than 10 000 tests"),
    ],
    ids=range(12),
)
def test_files_that_cannot_be_used_are_explained(data: bytes, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        read_audit(data)


def test_columns_are_named_in_pairs() -> None:
    with pytest.raises(DomainError, match="Name both columns"):
        read_audit(b"a,b\n1,2\n", score="a")
    with pytest.raises(DomainError, match="there is no column 'c'"):
        read_audit(b"a,b\n1,2\n", score="a", label="c")


def test_the_example_is_what_its_script_writes() -> None:
    made = runpy.run_path(str(ROOT / "data" / "audits" / "make_audits.py"))
    assert made["scores"]() == example()
    found = audit(scores(example()))
    assert found.measurement.trials == (400, 400)
    assert 1.0 < found.mu < 1 / 0.7


# ---- the command line ----------------------------------------------------------------------------------------


def test_the_command_prints_bounds_and_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scores.csv"
    file.write_bytes(example() + b"oops,1\n")
    assert main(["audit", str(file), "--claim", "gdp(1)", "--claim", "gaussian(0.7)", "--delta", "0,1e-5"]) == 0
    out, err = capsys.readouterr()
    (tmp_path / "table.csv").write_text(out, encoding="utf-8")
    table = pd.read_csv(tmp_path / "table.csv")
    assert table.columns.tolist() == [
        "measure",
        "at",
        "value",
        "region",
        "verdict",
        "words",
        "kind",
        "theorem",
        "neighbours",
    ]
    claims = table[table["measure"] == "claim"].set_index("region")["verdict"].to_dict()
    assert claims == {"gdp(1)": "contradicted", "gaussian(0.7)": "not contradicted"}
    proved = table[(table["measure"] == "mu") & (table["kind"] == "lower")]["value"].item()
    assert proved == pytest.approx(audit(scores(example() + b"oops,1\n")).mu, rel=1e-15)
    assert "line 802: score must be a number, got 'oops'" in err.lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.csv"], "No such file"),
        (["scores.csv", "--confidence", "2"], "confidence must be a number in"),
        (["scores.csv", "--claim", "dp("], "expression ends"),
        (["scores.csv", "--delta", "3"], "delta must be a number in"),
        (["scores.csv", "--score", "a"], "Name both columns"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_bytes(example())
    assert main(["audit", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
