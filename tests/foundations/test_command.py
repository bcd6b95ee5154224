"""The command line of the labs: the printed claims, a picture's numbers, the list, and mistakes in one line."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from dpcore.cli.program import main
from dpcore.foundations import LABS, Plot, lab


def out(capsys: pytest.CaptureFixture[str], *words: str) -> pd.DataFrame:
    assert main(["lab", *words]) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)


def test_the_list_names_every_lab(capsys: pytest.CaptureFixture[str]) -> None:
    listed = out(capsys, "--list")
    assert listed["name"].tolist() == sorted(LABS)
    assert listed.columns.tolist() == ["name", "title", "place", "parameters", "views"]


def test_the_claims_of_a_lab_at_a_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    rows = out(capsys, "mixed_noise", "--epsilon", "1")
    assert rows.columns.tolist() == ["place", "quantity", "printed", "value", "error", "kind", "verdict", "why"]
    assert rows.iloc[0]["verdict"] == "false"
    assert float(rows.iloc[0]["value"]) == pytest.approx(0.0396325930, rel=1e-8)


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
        (("mixed_noise", "--seed", "-1"), "seed must be an integer from 0"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str) -> None:
    assert main(["lab", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err
    assert captured.err.count("\n") == 1
