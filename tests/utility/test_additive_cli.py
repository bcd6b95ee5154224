"""``dpcore utility``: the table, its data and its mistakes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.cli import main
from dpcore.utility import PAIRS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, list[dict[str, str]], str]]

COLUMNS = ["parameter", "value", "measure", "closed_form", "simulated", "standard_error"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, list[dict[str, str]], str]:
        code = main(["utility", *words])
        captured = capsys.readouterr()
        return code, list(csv.DictReader(io.StringIO(captured.out))), captured.err

    return run


def test_the_columns_and_the_seed(run: Run) -> None:
    words = ("histogram_laplace", "--epsilon", "0.5,1", "--bins=4", "--releases", "200", "--seed", "7")
    code, rows, err = run(*words)
    assert (code, err) == (0, "")
    assert list(rows[0])[:6] == COLUMNS
    assert {row["value"] for row in rows} == {"0.5", "1.0"}
    assert all(row[name] for row in rows for name in row)
    assert run(*words)[1] == rows
    assert run(*words[:-1], "8")[1] != rows
    first = next(row for row in rows if row["measure"] == "mse" and row["kind"] == "exact")
    assert float(first["closed_form"]) == 8 * 4 / 0.5**2


def test_another_parameter_moves(run: Run) -> None:
    _, rows, _ = run("histogram_gaussian", "--delta", "1e-6..1e-2/3", "--epsilon", "1", "--releases", "20")
    assert {row["parameter"] for row in rows} == {"delta"}
    assert len({row["value"] for row in rows}) == 3
    _, rows, _ = run("queries_gaussian", "--k", "1,2", "--calibration", "kov", "--releases", "20")
    assert {row["value"] for row in rows} == {"1", "2"}


def test_the_default_is_the_main_parameter(run: Run) -> None:
    code, rows, _ = run("count_geometric", "--releases", "20")
    assert code == 0
    assert {row["parameter"] for row in rows} == {"epsilon"}
    assert len({row["value"] for row in rows}) == 6


def test_the_list_names_every_pair(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, _ = run("--list")
    assert code == 0
    assert [row["name"] for row in rows] == sorted(PAIRS)
    assert main(["utility", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*PAIRS, "--seed"))


def test_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,answer\n20,yes\n30,no\nx,no\n150,yes\n", encoding="utf-8")
    words = ("--epsilon", "1", "--releases", "20", "--data", str(file))
    code, rows, err = run("histogram_laplace", *words, "--column", "age", "--lower", "0", "--upper", "100")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("warning: ")
    assert rows
    code, rows, err = run("histogram_laplace", *words, "--column", "answer", "--categories", "yes,no")
    assert code == 0
    assert "Declared: yes, no, other. 0 answers not in the list counted as 'other', a bin that always exists." in err
    assert rows[0]["theorem"].startswith("3 times")
    code, rows, err = run(
        "histogram_laplace", *words, "--column", "answer", "--categories", "yes,x", "--others", "drop"
    )
    assert "2 not in the list" in err
    assert rows[0]["theorem"].startswith("2 times")


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    """Return a file of 1000 exponential values of mean 10."""
    values = np.random.default_rng(3).exponential(10.0, 1000)
    file = tmp_path / "waiting.csv"
    file.write_text("v\n" + "\n".join(repr(float(v)) for v in values), encoding="utf-8")
    return str(file)


def test_clipped_data_are_told_their_bias(run: Run, waiting: str) -> None:
    words = ("--data", waiting, "--column", "v", "--lower", "0", "--upper", "10", "--epsilon", "1", "--releases", "50")
    for accuracy in ("empirical", "statistical"):
        _, rows, err = run("mean_laplace", *words, "--accuracy", accuracy)
        mse = next(row for row in rows if row["measure"] == "mse" and row["kind"] == "exact")
        assert 13 < float(mse["closed_form"]) < 15
        assert 13 < float(mse["simulated"]) < 15
        assert "moved to the nearer bound" in err


def test_a_bound_moves(run: Run, waiting: str) -> None:
    words = ("--data", waiting, "--lower", "0", "--upper", "10,40,160", "--epsilon", "1", "--releases", "50")
    code, rows, err = run("mean_laplace", *words)
    assert code == 0
    assert "a bound chosen from it reveals something about them" in err
    assert list(rows[0])[-2:] == ["bias_alone", "noise_alone"]
    total = [row for row in rows if row["measure"] == "mse" and row["kind"] == "exact"]
    assert [row["value"] for row in total] == ["10.0", "40.0", "160.0"]
    for row in total:
        assert float(row["closed_form"]) == pytest.approx(float(row["bias_alone"]) + float(row["noise_alone"]))
    bias, noise = ([float(row[name]) for row in total] for name in ("bias_alone", "noise_alone"))
    assert bias == sorted(bias, reverse=True)
    assert noise == sorted(noise)
    assert all(row[name] for row in rows for name in row)


def test_a_count_of_text(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("department\n" + "Sales\nHR\nSales\nCEO\n" * 25, encoding="utf-8")
    words = ("--data", str(file), "--releases", "50", "--epsilon", "1")
    code, rows, err = run("count_laplace", *words, "--equals", "Sales")
    assert (code, rows[0]["measure"]) == (0, "quantile")
    assert "Declared: Sales, other." in err
    code, _, err = run("count_laplace", *words)
    assert code == 2
    assert "--equals ANSWER" in err
    code, _, err = run("count_laplace", *words, "--categories", "HR,CEO", "--equals", "Sales")
    assert code == 2
    assert "equals must be one of the answers HR, CEO, other, got 'Sales'" in err
    code, _, err = run("histogram_laplace", *words)
    assert code == 2
    assert "the mere existence of a bin" in err
    assert "CEO" not in err


@pytest.mark.parametrize("name", sorted(name for name, cls in PAIRS.items() if cls.uses_data))
def test_a_million_made_up_records(run: Run, name: str) -> None:
    code, rows, err = run(name, "--n", "1000000", "--releases", "20")
    assert (code, err) == (0, "")
    assert rows


def test_the_number_of_records_moves(run: Run, waiting: str) -> None:
    _, rows, _ = run("mean_laplace", "--n", "100,1000,100000", "--epsilon", "1", "--releases", "20")
    exact = [row for row in rows if row["measure"] == "mse" and row["kind"] == "exact"]
    assert [row["value"] for row in exact] == ["100", "1000", "100000"]
    assert [float(row["closed_form"]) for row in exact] == [2 * (100 / n) ** 2 for n in (100, 1000, 100_000)]
    _, rows, _ = run(
        "mean_laplace", "--n", "10,900", "--data", waiting, "--lower", "0", "--upper", "10", "--releases", "20"
    )
    assert {row["value"] for row in rows} == {"10", "900"}
    code, _, err = run("mean_laplace", "--n", "1001", "--data", waiting, "--lower", "0", "--upper", "10")
    assert code == 2
    assert "n must be an integer in [1, 1000], got 1001" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a query and mechanism"),
        (("histogram_laplac",), "did you mean histogram_laplace?"),
        (("count_laplace", "--epsilom", "3"), "did you mean --epsilon?"),
        (("count_laplace", "--bogus", "3"), "it takes --epsilon, --probability, --at-least, --equals."),
        (("count_laplace", "stray"), "has no option 'stray'"),
        (("count_laplace", "--epsilon"), "--epsilon needs a value"),
        (("count_laplace", "--epsilon", "1", "--epsilon", "2"), "given twice"),
        (("count_laplace", "--epsilon", "-1"), "epsilon must be a number in [1e-300, 1000]"),
        (("count_laplace", "--epsilon", "a"), "is not a list of numbers"),
        (("count_laplace", "--epsilon", "1:9000:1"), "at most 2000 values"),
        (("histogram_laplace", "--bins", "1.5"), "bins must be an integer"),
        (("histogram_laplace", "--bins", "2,3", "--epsilon", "1,2"), "Only one parameter"),
        (("histogram_laplace", "--after", "clop"), "Did you mean clip?"),
        (("count_laplace", "--releases", "1"), "releases must be"),
        (("count_laplace", "--seed", "-1"), "seed must be"),
        (("count_laplace", "--column", "v"), "name the file with --data"),
        (("mean_laplace", "--n", "0"), "n must be an integer in [1, inf), got 0"),
        (("mean_laplace", "--n", "1.5"), "n must be an integer in [1, inf), got 1.5"),
        (("mean_laplace", "--n", "1000001"), "n must be an integer in [1, 1000000], got 1000001"),
        (("mean_laplace", "--n", "10,20", "--epsilon", "1,2"), "Only one parameter can have several values"),
        (("count_laplace", "--upper", "10,20"), "Bounds do not affect the count"),
        (("mean_laplace", "--lower", "200"), "lower must be below upper, got 200 and 100"),
        (
            ("histogram_laplace", "--data", "x.csv", "--lower", "0", "--upper", "1", "--categories", "A"),
            "give one of them",
        ),
        (("count_laplace", "--data", "no such file.csv"), "No such file"),
        (("cuts_johnson_lindenstrauss", "--data", "x.csv"), "takes no --data"),
        (("cuts_johnson_lindenstrauss", "--n", "50"), "takes no --n"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_mistakes_are_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    code, rows, err = run(*words)
    assert (code, rows) == (2, [])
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    assert said in err


def test_one_bound_is_not_enough(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    code, _, err = run("count_laplace", "--data", str(file), "--lower", "0")
    assert code == 2
    assert "belong together" in err
