"""The command line of the labs: the printed claims, a picture's numbers, the list, and mistakes in one line."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from dpcore.cli.program import main
from dpcore.labs import LABS, Plot, lab

FEW = {"mixed_noise": ("--replications", "100"), "intervals": ("--replications", "200")}  # the others are quick


def out(capsys: pytest.CaptureFixture[str], *words: str) -> pd.DataFrame:
    assert main(["lab", *words]) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)


def test_the_list_names_every_lab(capsys: pytest.CaptureFixture[str]) -> None:
    listed = out(capsys, "--list")
    assert listed["name"].tolist() == sorted(LABS)
    assert listed.columns.tolist() == ["name", "title", "place", "parameters", "views"]


def test_the_claims_of_a_lab_at_a_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    rows = out(capsys, "mixed_noise", "--epsilon", "1")
    assert rows.columns.tolist() == ["place", "quantity", "printed", "value", "error", "kind", "verdict", "why", "row"]
    assert rows.iloc[0]["verdict"] == "false"
    assert float(rows.iloc[0]["value"]) == pytest.approx(0.0396325930, rel=1e-8)


def texts(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["lab", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(LABS))
def test_every_lab_prints_its_numbers_without_holes(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The rows and the story's picture, both as CSV and as JSON, which knows no NaN and no infinity."""
    few = FEW.get(name, ())
    for extra in ((), ("--view", LABS[name].views[0])):
        rows = out(capsys, name, *few, *extra)
        told = json.loads(texts(capsys, name, *few, *extra, "--format", "json"), parse_constant=pytest.fail)
        assert len(told) == len(rows) > 0
        for column in ("value", "error") if not extra else rows.columns[rows.dtypes == float]:
            assert np.isfinite(rows[column]).all(), column
            assert [row[column] for row in told] == pytest.approx(rows[column].tolist(), rel=1e-12), column


@pytest.mark.parametrize("name", sorted(name for name, cls in LABS.items() if cls.simulates))
def test_the_same_seed_prints_the_same_rows(capsys: pytest.CaptureFixture[str], name: str) -> None:
    few = FEW.get(name, ())
    first, again = (texts(capsys, name, *few, "--seed", "7") for _ in range(2))
    assert first == again
    assert first != texts(capsys, name, *few, "--seed", "8")


def test_the_numbers_of_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    rows = out(capsys, "time_series", "--view", "figure_6_1", "--seed", "3")
    picture = lab("time_series").view("figure_6_1", 3)
    assert isinstance(picture, Plot)
    assert rows["y"].tolist() == picture.frame["y"].tolist()
    assert out(capsys, "time_series", "--view", "regions").columns.tolist()[1:3] == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Name a lab"),
        (("mixed_nois",), "did you mean mixed_noise?"),
        (("mixed_noise", "--epsilon", "1,2"), "--epsilon takes one value, got 2"),
        (("mixed_noise", "--epsilon", "-1"), "epsilon must be"),
        (("mixed_noise", "--colour", "red"), "mixed_noise has no option"),
        (("mixed_noise", "--view", "none"), "mixed_noise has no picture"),
        (("mixed_noise", "--seed", "-1"), "seed must be an integer in [0, inf), got '-1'"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str) -> None:
    assert main(["lab", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err
    assert captured.err.count("\n") == 1
