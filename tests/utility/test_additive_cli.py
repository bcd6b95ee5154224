"""``dpcore utility``: the table, its data and its mistakes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

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
    code, rows, err = run("histogram_laplace", *words, "--column", "answer")
    assert (code, err) == (0, "")
    assert rows[0]["theorem"].startswith("2 times")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a query and mechanism"),
        (("histogram_laplac",), "did you mean histogram_laplace?"),
        (("count_laplace", "--epsilom", "3"), "did you mean --epsilon?"),
        (("count_laplace", "--bogus", "3"), "it takes --epsilon, --probability, --at-least."),
        (("count_laplace", "stray"), "has no option 'stray'"),
        (("count_laplace", "--epsilon"), "--epsilon needs a value"),
        (("count_laplace", "--epsilon", "1", "--epsilon", "2"), "given twice"),
        (("count_laplace", "--epsilon", "-1"), "epsilon must be a number in (0, 1000]"),
        (("count_laplace", "--epsilon", "a"), "is not a list of numbers"),
        (("count_laplace", "--epsilon", "1:9000:1"), "at most 2000 values"),
        (("histogram_laplace", "--bins", "1.5"), "bins must be an integer"),
        (("histogram_laplace", "--bins", "2,3", "--epsilon", "1,2"), "Only one parameter"),
        (("histogram_laplace", "--after", "clop"), "Did you mean clip?"),
        (("count_laplace", "--releases", "1"), "releases must be"),
        (("count_laplace", "--seed", "-1"), "seed must be"),
        (("count_laplace", "--lower", "0"), "name it with --data"),
        (("count_laplace", "--data", "no such file.csv"), "No such file"),
        (("cuts_johnson_lindenstrauss", "--data", "x.csv"), "takes no --data"),
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
