"""Tables of a series, and the command `dpcore series`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dpcore.cli.program import main
from dpcore.core.errors import DomainError
from dpcore.files.csv_writer import read_frame
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv
from dpcore.planner.series import (
    Panel,
    SeriesModel,
    fit,
    plan,
    read_panel,
)
from tests.planner.series_models import ONE, SECOND, SIGMA

if TYPE_CHECKING:
    from pathlib import Path

LONG = "who,when,hours\nAnn,2,5\nAnn,1,4\nBob,1,7\nBob,2,9.5\nAnn,10,6\nBob,10,3\n"
WIDE = "who,1,2,10\nAnn,4,5,6\nBob,7,9.5,3\n"


def panel_from(text: str, *columns: str, lower: float = 0.0, upper: float = 10.0) -> Panel:
    return read_panel(read_microdata(open_csv(text.encode())), *columns, lower=lower, upper=upper)


def test_long_and_wide_tables_are_the_same() -> None:
    long, wide = panel_from(LONG, "who", "when", "hours"), panel_from(WIDE, "who")
    assert np.array_equal(long.numbers, wide.numbers)
    assert long.times == wide.times == ("1", "2", "10"), "in the order of their numbers"
    assert long.users == ("Ann", "Bob")


def test_clipped_and_missing_values_are_said() -> None:
    panel = panel_from(
        "who,when,hours\nAnn,1,4\nAnn,2,NA\nBob,1,70\nBob,2,9\nAnn,3,1\nBob,3,2\n", "who", "when", "hours"
    )
    assert np.isnan(panel.numbers[0, 1])
    assert panel.numbers[1, 0] == 10.0
    assert panel.notes[-2:] == (
        "1 of 6 values are missing (the first: row 2).",
        "1 value outside [0, 10] moved to the nearer bound (clipped).",
    )


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("who,when,hours\nAnn,1,x\n", ("who", "when", "hours"), "Row 1: column 'hours' must hold a number, got 'x'"),
        ("who,when,hours\nAnn,1,4\nAnn,1,5\n", ("who", "when", "hours"), "Row 2: user 'Ann' has a value at '1' already, in row 1"),
        ("who,when,hours\nAnn,1,4\n,2,5\n", ("who", "when", "hours"), "Row 2: column 'who' must name a user"),
        ("who,when,hours\nAnn,1,4\nAnn,,5\n", ("who", "when", "hours"), "Row 2: column 'when' must name a time"),
        ("who,when,hours\nAnn,1,4\nBob,1,5\n", ("who", "when", "hours"), "needs 2 to 200 times, got 1"),
        ("who,when,hours\nAnn,1,4\n", ("whom", "when", "hours"), "did you mean who"),
        ("who,when,hours\nAnn,1,4\nAnn,2,5\n", ("who",), "Row 2: user 'Ann' has a row already"),
        ("who,when,hours\nAnn,1,4\nAnn,2,5\n", ("who", "when"), "time and value belong together"),
        ("who,1,2\nAnn,NA,NA\n", ("who",), "every cell is missing"),
    ],
)  # fmt: skip
def test_tables_that_are_no_series(text: str, columns: tuple[str, ...], words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        panel_from(text, *columns)


@pytest.mark.parametrize(
    ("text", "model", "words"),
    [
        ("who,1,2,3\nAnn,4,4,4\nBob,4,4,4\n", "pooled", "All values are 4: a constant series"),
        ("who,1,2\nAnn,4,5\n", "pooled", "at least 3 steps"),
        ("who,1,2,3\nAnn,4,5,6\nBob,4,1,2\n", "full", "needs at least 5 times, got 3"),
        ("who,1,2,3,4,5\nAnn,4,5,6,1,2\nBob,4,,2,3,1\n", "full", "no value of user 'Bob' at '2'"),
        ("who,1,2,3,4,5,6\nAnn,4,5,6,1,2,4\nBob,4,5,6,1,2,3\n", "full", "constant or move together"),
    ],
)
def test_tables_that_cannot_be_fitted(text: str, model: str, words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        fit(panel_from(text, "who"), model)


def shown(capsys: Any, *words: str) -> tuple[int, pd.DataFrame, str]:
    code = main(["series", *words])
    streams = capsys.readouterr()
    return code, read_frame(streams.out) if streams.out else pd.DataFrame(), streams.err


@pytest.fixture
def matrices(tmp_path: Path) -> list[str]:
    (tmp_path / "a.csv").write_text("0.5,0.1\n0,0.5\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text(",x,y\nx,1,0\ny,0,1\n", encoding="utf-8")
    return ["--matrix", str(tmp_path / "a.csv"), "--covariance", str(tmp_path / "s.csv")]


def test_the_command_plans_and_lists(capsys: Any, matrices: list[str], tmp_path: Path) -> None:
    code, table, _ = shown(capsys, *matrices, "--releases", "3", "--epsilon", "2", "--delta", "1e-6")
    model = SeriesModel(SECOND, ONE)
    assert code == 0
    assert table["noise"].tolist() == plan(model, 3, 2.0, 1e-6)["noise"].tolist()
    code, table, _ = shown(
        capsys, *matrices, "--view", "scenarios", "--noise", str(SIGMA), "--delta", "0.05", "--prior", "flat"
    )
    worst_user = table[(table["level"] == "user") & (table["releases"] == "all")].iloc[0]
    assert worst_user["epsilon"] == pytest.approx(0.616149, abs=6e-7)
    path = tmp_path / "t.csv"
    path.write_text(LONG, encoding="utf-8")
    columns = ("--user", "who", "--time", "when", "--value", "hours", "--lower", "0", "--upper", "10")
    code, table, err = shown(capsys, str(path), *columns, "--view", "fit")
    assert (code, table["parameter"].tolist()) == (0, ["intercept", "a", "innovation variance"])
    code, table, err = shown(capsys, str(path), *columns, "--prior", "flat")
    assert (code, table["releases"].tolist()) == (0, [3, 3, 3])
    assert err.startswith(
        "warning: With parameters of the fit within their 95 % intervals, the least noise at event level"
    )


@pytest.mark.parametrize(
    ("a", "s", "more", "words"),
    [
        ("0.5,0.1\n", "1,0\n0,1\n", (), "The matrix A must be square, got 1 row of 2 numbers"),
        ("0.5,0.1\n0,x\n", "1,0\n0,1\n", (), "The matrix A must hold finite numbers, got 'x' in row 2, column 2"),
        ("0.5,0.1\n0,0.5\n", "1,2\n2,1\n", (), "least eigenvalue must be at least 0, got -1"),
        ("0.5,0.1\n0,0.5\n", "1,0.2\n0.1,1\n", (), "must be symmetric, got 0.2 in row 1, column 2 and 0.1 in row 2, column 1"),
        ("0.5,0.1\n0,0.5\n", "1\n", (), "The covariance must be square, of the same size as A, 2 x 2, got 1 x 1"),
        ("1.2,0\n0,0.5\n", "1,0\n0,1\n", (), "largest eigenvalue of A must have a size below 1, got 1.2"),
        ("1,1\n1,1\n", "1,0\n0,1\n", ("--prior", "flat"), "must be invertible"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--prior", "wide"), "A prior is stationary, flat, known or a variance above 0; 'wide' is none of them"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--releases", "201"), "releases must be an integer in [1, 200]"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--view", "scenarios", "--noise", "1,2,3"), "one for each of the 2 releases, got 3"),
    ],
)  # fmt: skip
def test_bad_matrices(capsys: Any, tmp_path: Path, a: str, s: str, more: tuple[str, ...], words: str) -> None:
    files = []
    for name, text in (("--matrix", a), ("--covariance", s)):
        path = tmp_path / f"{name[2:]}.csv"
        path.write_text(text, encoding="utf-8")
        files += [name, str(path)]
    code, table, err = shown(capsys, *files, *more)
    assert (code, len(table)) == (2, 0)
    assert words in err


def test_an_unstable_series_has_numbers_with_other_priors(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1.2\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("1\n", encoding="utf-8")
    words = ("--matrix", str(tmp_path / "a.csv"), "--covariance", str(tmp_path / "s.csv"), "--prior", "flat")
    code, table, err = shown(capsys, *words)
    assert (code, len(table)) == (0, 3)
    assert "unstable" in err


def test_the_command_prints_both_models_and_a_range(capsys: Any) -> None:
    words = ("data/datasets/homes.csv", "--user", "home", "--time", "week", "--value", "electricity", "--lower", "0")
    code, table, err = shown(capsys, *words, "--upper", "150", "--releases", "4", "--view", "models")
    assert (code, len(table), err) == (0, 6, "")
    code, table, err = shown(capsys, *words, "--upper", "150", "--releases", "4", "--model", "full")
    assert (code, len(table)) == (0, 3)
    assert "For 95 % of the series that are plausible after this fit" in err
