"""The commands about a file of one's own: what they print, and one sentence for a file or an option that is wrong."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from dpcore.cli.program import main

ROOT = Path(__file__).resolve().parents[2]
AGES, SURVEY, STAFF = (str(ROOT / "data" / "datasets" / f"{name}.csv") for name in ("ages", "survey", "staff"))
BOUNDS = ["--lower", "0", "--upper", "100"]


def table(capsys: pytest.CaptureFixture[str], *words: str) -> pd.DataFrame:
    assert main(list(words)) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_an_interval_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--releases", "200"]
    for options in (
        [AGES, *BOUNDS],
        [AGES, *BOUNDS, "--statistic", "variance", "--noise", "laplace"],
        [AGES, *BOUNDS, "--statistic", "quantile", "--probability", "0.9"],
        [SURVEY, "--column", "cheated", "--statistic", "proportion", "--equals", "yes"],
        [AGES, "--column", "age", "--statistic", "proportion", "--at-least", "65"],
    ):
        rows = table(capsys, "interval", *options, *few).set_index("quantity")
        assert rows.loc["coverage", "value"] > 0.9
        assert rows.loc["coverage", "kind"] == "simulation"
        assert rows.loc["low", "value"] <= rows.loc["estimate", "value"] <= rows.loc["high", "value"]
        assert rows.loc["delta", "value"] <= 1e-6


def test_widths_for_several_sizes_and_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(capsys, "interval", AGES, *BOUNDS, "--n", "100,10000")
    assert sorted(set(rows["parameter"])) == [100.0, 10000.0]
    rows = table(capsys, "interval", AGES, *BOUNDS, "--epsilon", "0.5,2")
    assert sorted(set(rows["parameter"])) == [0.5, 2.0]


def test_sensitivities_and_mechanisms(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(capsys, "sensitivity", STAFF, "--column", "salary", "--lower", "0", "--upper", "200000")
    assert set(rows["statistic"]) == {"mean", "median", "variance", "0.1-trimmed mean"}
    words = ["sensitivity", STAFF, "--column", "salary", "--lower", "0", "--upper", "200000", "--statistic"]
    assert len(table(capsys, *words, "quantile")) == 8
    assert len(table(capsys, *words, "trimmed-mean", "--trim", "0.2", "--blocks", "10")) == 6
    assert len(table(capsys, *words, "variance", "--delta", "0")) == 3


FILES = {
    "text.csv": b"name\nAda\nBo\n",
    "one.csv": b"pay\n5\n",
    "empty.csv": b"",
    "header.csv": b"pay\n",
    "book.xlsx": b"PK\x03\x04rest",
}


@pytest.mark.parametrize("command", ["interval", "sensitivity"])
@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("text.csv", BOUNDS, "gives no number: of its 2 rows, 2 no number (the first: 'Ada' in row 1)."),
        ("one.csv", BOUNDS, "needs at least 2 records, got 1."),
        ("one.csv", ["--lower", "10", "--upper", "0"], "The lower bound must be below the upper bound"),
        ("one.csv", [*BOUNDS, "--column", "salary"], "there is no column 'salary'."),
        ("one.csv", ["--lower", "0"], "Give --lower and --upper"),
        ("one.csv", [*BOUNDS, "--epsilon", "-1"], "epsilon"),
        ("empty.csv", BOUNDS, "The file has no row"),
        ("header.csv", BOUNDS, "0 rows of data"),
        ("book.xlsx", BOUNDS, "save it as CSV (text) first."),
        ("missing.csv", BOUNDS, "missing.csv"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    command: str, file: str, options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    assert main([command, str(tmp_path / file), *options]) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert not out
    assert len(err.strip().splitlines()) == 1


def test_losses_are_counted_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mixed.csv"
    file.write_bytes(b"a;b\n1,5;2\n1.5;2\nx;3\n;4\n250;5\n3;3\n")
    assert main(["interval", str(file), *BOUNDS, "--releases", "50"]) == 0
    err = capsys.readouterr().err
    assert "2 values dropped: 1 no number (the first: 'x' in row 3), 1 empty (the first: row 4)." in err
    assert "In 1 value of column 'a' the comma was read as the decimal sign (the first: '1,5' in row 1)." in err
    assert "1 value above 100 moved" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([*BOUNDS, "--statistic", "proportion"], "A proportion takes no --lower and --upper"),
        ([*BOUNDS, "--equals", "51"], "--equals and --at-least are for a proportion"),
        ([*BOUNDS, "--n", "10,20", "--epsilon", "1,2"], "Only one of --epsilon and --n"),
        (["--statistic", "proportion"], "A proportion needs one condition"),
    ],
)
def test_options_that_do_not_fit_together(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["interval", AGES, *options]) == 2
    assert words in capsys.readouterr().err
