"""Figures of a query with its mechanism: lines are the closed forms, points the simulation, a release beside the truth."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import charts
from dpcore.charts.export import specification
from dpcore.charts.pairs import COLUMNS, SIMULATION, pair_figure, pair_grid, pair_table
from dpcore.charts.releases import MOST_BARS, release_figure, release_table
from dpcore.core.errors import DomainError
from dpcore.utility import Dataset, pair
from dpcore.utility.samples import sample

AGES = sample("ages.age")


def data_of(figure: charts.Figure) -> str:
    return json.dumps(specification(figure))


# ---- the utility against a parameter -------------------------------------------------------------------------


def test_the_grid_holds_the_present_value_and_stays_in_the_domain() -> None:
    grid = pair_grid(pair("count_laplace", epsilon=0.1234567), AGES, "epsilon")
    assert 0.1234567 in grid
    assert (grid[0], grid[-1]) == (0.05, 5.0)
    wide = pair_grid(pair("count_laplace", epsilon=70.0), AGES, "epsilon")
    assert wide[-1] == 70.0
    bins = pair_grid(pair("histogram_laplace", bins=10), AGES, "bins")
    assert all(x == round(x) >= 2 for x in bins)
    assert 10.0 in bins
    n = pair_grid(pair("mean_laplace"), AGES, "n")
    assert AGES.n in n
    assert n[-1] >= 10**6
    assert max(pair_grid(pair("count_gaussian"), AGES, "delta")) < 1
    with pytest.raises(DomainError, match="Only a number can move along the axis"):
        pair_grid(pair("histogram_laplace"), AGES, "unit")


def test_lines_are_the_closed_forms_and_points_agree_with_them() -> None:
    query = pair("count_laplace", epsilon=0.5)
    table, notes = pair_table(query, AGES, measure="mse", releases=2000, seed=3)
    assert tuple(table.columns) == COLUMNS
    assert notes == ()
    exact = table[table["label"] == "exact"]
    assert exact["value"].to_numpy() == pytest.approx(2 / exact["parameter"].to_numpy() ** 2, rel=1e-12)
    points = table[table["kind"] == "simulation"]
    assert set(points["label"]) == {SIMULATION}
    assert len(points) >= 9
    off = np.abs(points["value"] - 2 / points["parameter"] ** 2) / ((points["high"] - points["low"]) / 4)
    assert off.max() < 4  # standard errors
    lower = table[table["label"] == "lower bound on any mechanism"]
    assert lower["value"].to_numpy() == pytest.approx(1 / (4 * np.sinh(lower["parameter"].to_numpy() / 2) ** 2))
    again, _ = pair_table(query, AGES, measure="mse", releases=2000, seed=3)
    assert again.equals(table)


def test_the_number_of_records_has_closed_forms_only() -> None:
    table, _ = pair_table(pair("mean_laplace"), AGES, parameter="n")
    assert "simulation" not in set(table["kind"])
    exact = table[table["label"] == "exact"]
    assert exact["value"].to_numpy() == pytest.approx(2 * (200 / exact["parameter"].to_numpy()) ** 2)


def test_lines_with_one_name_are_told_apart() -> None:
    median = pair_figure(pair("median_exponential", epsilon=0.5, within=50.0), AGES, releases=0)
    names = set(median.table["label"])
    assert "upper bound: thesis, Proposition 51, corrected" in names
    assert "upper bound: thesis, Proposition 51, as printed" in names
    mean = pair_figure(pair("mean_laplace"), AGES, releases=0)
    numbered = [name for name in set(mean.table["label"]) if name.startswith("lower bound on any mechanism")]
    assert len(numbered) > 1
    assert all(any(note.startswith(f"{name}: ") for note in mean.notes) for name in numbered)


def test_a_line_that_is_no_bound_says_so() -> None:
    ties = Dataset.coded([0] * 70 + [1] * 30, ["one", "two"])
    table, _ = pair_table(pair("median_exponential", epsilon=1.0, size=2, within=15.0), ties, releases=0)
    printed = table[table["label"] == "no bound: thesis, Proposition 51, as printed"]
    at = printed[printed["parameter"] == 1.0].iloc[0]
    assert at["kind"] == "approximate"
    assert at["value"] == pytest.approx(2 * math.exp(-3.75))  # 0.047
    assert table[table["label"] == "exact"]["value"].to_numpy() == pytest.approx(1.0, rel=1e-12)


def test_places_outside_a_theorem_are_left_out_and_said() -> None:
    query = pair("cuts_johnson_lindenstrauss", vertices=100_000, side=10)
    table, notes = pair_table(query, query.example(), releases=0)
    assert notes
    assert re.match(r"Nothing is drawn at \d+ values of epsilon from 0\.05 to 0\.\d+: vertices must exceed", notes[0])
    assert table["parameter"].min() > query.span[0]


def frame(values: list[float]) -> pd.DataFrame:
    x = np.arange(1.0, len(values) + 1)
    return pd.DataFrame({"parameter": x, "value": values, "kind": "exact", "low": values, "high": values})


def test_zero_has_no_place_on_a_logarithmic_axis() -> None:
    some = charts.utility_figure(frame([1.0, 1e-3, 1e-6, 0.0]))
    assert some.notes == ("One value of 0 or close to it has no place on the log axis; all are in the table.",)
    assert len(some.table) == 4
    assert '"type": "log"' in data_of(some)
    most = charts.utility_figure(frame([1.0, 0.0, 0.0, 0.0]))
    assert most.notes == ()
    spec = specification(most)
    scales = [
        layer["encoding"]["y"]["scale"].get("type")
        for layer in spec["layer"]
        if "scale" in layer["encoding"].get("y", {})
    ]
    assert set(scales) == {None}


def test_bounds_are_said_on_their_safe_side() -> None:
    rows = frame([0.12341, 0.12341])
    assert "0.124 at" in charts.utility_takeaway(rows.assign(kind="upper"), current=1.0)
    assert "0.123 at" in charts.utility_takeaway(rows.assign(kind="lower"), current=1.0)
    assert "0.123 at" in charts.utility_takeaway(rows.assign(kind="exact"), current=1.0)


def test_chances_of_success_are_drawn_on_a_linear_axis() -> None:
    figure = pair_figure(pair("mode_exponential"), AGES, releases=0)
    scales = [layer["encoding"]["y"]["scale"] for layer in specification(figure)["layer"] if "y" in layer["encoding"]]
    assert not [scale for scale in scales if scale.get("type") == "log"]
    assert figure.notes == ()


# ---- one release ---------------------------------------------------------------------------------------------


def test_a_release_beside_the_truth() -> None:
    query = pair("histogram_laplace", epsilon=0.5, bins=10)
    table = release_table(query, AGES, seed=7)
    assert list(table.columns) == ["answer", "true", "released", "difference"]
    assert table["answer"].iloc[0] == "0 to 10"
    assert table["true"].sum() == AGES.n
    noise = np.random.default_rng(7).laplace(0.0, 4.0, (1, 10))[0]
    assert table["difference"].to_numpy() == pytest.approx(noise)
    figure = release_figure(query, AGES, seed=7)
    far = table.iloc[int(np.argmax(table["difference"].abs().to_numpy()))]["answer"]
    assert f"the number for {far} is furthest off" in figure.takeaway
    assert "90 to 100" in data_of(figure)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("count_laplace", {}, "the true answer is 374"),
        ("histogram_laplace", {"bins": MOST_BARS + 1}, "61 numbers are off by"),
        ("median_exponential", {}, "chance of"),
        ("mode_exponential", {"bins": 5}, "chance of"),
    ],
)
def test_every_kind_of_release_is_drawn(name: str, values: dict[str, Any], words: str, dark: bool) -> None:
    figure = release_figure(pair(name, **values), AGES, seed=2, look=charts.Look(dark=dark))
    assert words in figure.takeaway
    assert "NaN" not in data_of(figure)
    assert specification(figure)["description"] == figure.takeaway


def test_a_choice_is_drawn_among_its_exact_chances() -> None:
    query = pair("mode_exponential", epsilon=0.01)
    transport = sample("survey.transport")
    figure = release_figure(query, transport, seed=4)
    assert list(figure.table["option"]) == list(transport.categories)
    assert figure.table["chance"].sum() == pytest.approx(1.0)
    assert figure.table["true"].sum() == figure.table["released"].sum() == 1
    true = str(figure.table.loc[figure.table["true"], "option"].iloc[0])
    assert true == "train"
    released = str(figure.table.loc[figure.table["released"], "option"].iloc[0])
    assert f"says {released}, which had a chance of" in figure.takeaway
    assert charts.render(figure, ".svg").startswith(b"<svg")


def test_what_is_not_certain_is_not_called_certain() -> None:
    ties = Dataset.coded([0] * 70 + [1] * 30, ["one", "two"])
    figure = release_figure(pair("median_exponential", epsilon=1.0, size=2), ties)
    assert "says one, which had a chance of almost 1 (exact); that is the true answer." in figure.takeaway


def test_a_true_answer_beyond_the_bounds_is_not_drawn_at_them() -> None:
    data = Dataset.clipped([1.0, 2.0, 12.0, 14.4, 30.0, 30.0, 31.0], 0.0, 10.0)[0]
    figure = release_figure(pair("median_exponential", size=11, epsilon=1.0), data)
    assert "the true answer is 14, which no release can equal: it lies outside the bounds" in figure.takeaway
    assert not figure.table["true"].any()
