"""``dpcore ledger``: the table, the warnings, and one line for every mistake."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from dpcore import parse
from dpcore.cli.program import main

ROOT = Path(__file__).resolve().parents[2]
QUARTER, SITES = (str(ROOT / "data" / "ledgers" / f"{name}.csv") for name in ("quarter", "sites"))


def table(capsys: pytest.CaptureFixture[str], *words: str) -> pd.DataFrame:
    assert main(["ledger", *words]) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, SITES, "--delta", "1e-6,0")
    assert found.columns.tolist() == [
        "scope",
        "label",
        "theorem",
        "delta",
        "epsilon",
        "epsilon_lower",
        "kind",
        "neighbours",
    ]
    at = found[found["delta"] == 1e-6]
    (best,) = at.loc[at["scope"] == "best", "epsilon"]
    totals = at[(at["scope"] == "total") & at["kind"].isin(["exact", "upper"])]
    assert best == totals["epsilon"].min()
    # two of three sites, the worst ones, and the report about all
    assert best == pytest.approx(parse("laplace(0.5)^7 * gaussian(4)^2").epsilon(1e-6), rel=1e-6)
    assert at.loc[at["scope"] == "row", "label"].tolist() == [
        "Survey north",
        "Survey south",
        "Survey west",
        "Yearly report",
    ]
    assert (at.loc[at["scope"] == "cost", "epsilon"] >= 0).all()


def test_more(capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, QUARTER, "--more", "Cases per district", "--epsilon", "8", "--delta", "1e-6,1e-5")
    assert found["more"].tolist() == [22, 65]
    assert set(found["kind"]) == {"exact"}


def test_json_standard_input_and_relation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"label": "a", "expression": "rr(1)", "count": 1},
        {"label": "b", "expression": "poisson_gaussian(1, 0.5)", "count": 1},
    ]
    for words, code in ((["-"], 2), (["-", "--relation", "add/remove", "--format", "json"], 0)):
        given = io.TextIOWrapper(io.BytesIO(json.dumps(rows).encode()))
        monkeypatch.setattr("sys.stdin", given)
        assert main(["ledger", *words]) == code
        out, err = capsys.readouterr()
        if code:
            assert err.startswith("error: Row 1 (a: rr(1)) speaks of substitution neighbours and Row 2 (b: poisson")
            assert err.count("\n") == 1
        else:
            assert json.loads(out)[0]["scope"] == "best"


def test_filters_run_over_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, QUARTER, "--filter", "--epsilon", "8", "--order", "5", "--each", "1e-10")
    assert list(found.columns[-3:]) == ["kind", "theorem", "neighbours"]
    assert set(found["filter"]) == {"basic", "rdp", "zcdp", "gdp"}
    assert set(found[found["filter"] == "rdp"]["theorem"]) == {"Rényi filter, order 5"}
    assert (found["fits"] <= found["count"]).all()
    assert (found["spent"] <= found["limit"]).all()


def test_the_help_says_what_may_depend_on_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "hold for a list of strengths fixed beforehand" in said
    assert "chosen before the first release" in said


def test_mistakes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "wrong.csv"
    file.write_text("label;expression;count\na;dp(1);2\nb;dp(;1\n" + "c;dp(1);-1\n" * 6, encoding="utf-8-sig")
    assert main(["ledger", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("error: Row 2 (b) is not included: ")
    assert "(and 2 more rows)" in last
    assert last.endswith("--skip.")
    assert main(["ledger", str(file), "--skip"]) == 0
    out, err = capsys.readouterr()
    assert "warning: Row 8 (c) is not included: count must be" in err
    assert "warning: A byte-order mark" in err
    assert "best,Regions composed,exact,1e-06,1.9999" in out
    for words, said in (
        ([str(tmp_path / "none.csv")], "No such file"),
        ([SITES, "--more", "1"], "give its epsilon with --epsilon"),
        ([SITES, "--filter"], "--filter keeps a budget; give its epsilon with --epsilon"),
        ([SITES, "--filter", "--epsilon", "1", "--delta", "1e-6,1e-5"], "one delta, got 2"),
        ([SITES, "--filter", "--epsilon", "1", "--more", "1"], "use one of them"),
        ([SITES, "--order", "3"], "--order belongs to --filter"),
        ([SITES, "--filter", "--epsilon", "1", "--order", "1"], "order must be"),
        ([SITES, "--delta", "2"], "delta must be"),
        ([SITES, "--relation", "x"], "invalid choice"),
    ):
        assert main(["ledger", *words]) == 2
        assert said in capsys.readouterr().err
    file.write_text("label,expression,count\n", encoding="utf-8")
    assert main(["ledger", str(file)]) == 2
    assert "nothing to add up" in capsys.readouterr().err


def test_a_file_of_100_megabytes_is_not_even_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    with file.open("wb") as out:
        out.truncate(100_000_000)
    assert main(["ledger", str(file)]) == 2
    assert "100 000 000 bytes; at most 20 971 520 are read" in capsys.readouterr().err
