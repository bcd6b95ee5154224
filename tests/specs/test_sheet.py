"""Tables that describe themselves: one grid for all curves, columns that say what was asked, names that tell files apart."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore import frames, parse, specs
from dpcore.charts.grids import even_grid
from dpcore.core.errors import DomainError
from dpcore.core.kinds import FACTS
from dpcore.files.csv_writer import frame_text, read_frame
from dpcore.specs.sheet import LAST
from dpcore.theorems.composition import headline, ladder
from tests.specs.test_specs import CASES, ROOT

COMPARED: dict[str, tuple[dict[str, Any], str]] = {
    "profile": ({"draw": "profile", "regions": ["laplace(1)^3", "gdp(1)", "dp(1, 0.01)"]}, "epsilon"),
    "deltas": ({"draw": "deltas", "regions": ["dp(0.1)^100", "gdp(1)"]}, "epsilon"),
    "regions": ({"draw": "regions", "regions": ["dp(1)", "gdp(1)"]}, "alpha"),
    "logarithmic": ({"draw": "regions", "regions": ["dp(1)", "gdp(1)"], "log": True}, "alpha"),
    "composition": ({"draw": "composition", "mechanism": "laplace(0.1)", "k": 50}, "alpha"),
    "theorems": ({"draw": "theorems", "mechanism": "dp(0.1)", "k": 100, "delta": 1e-5}, "epsilon"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_curves_that_are_compared_have_one_grid(name: str) -> None:
    spec, across = COMPARED[name]
    rows = specs.sheet(spec)
    rows = rows[rows["kind"] != "none"]
    grids = [tuple(part[across]) for _, part in rows.groupby("label", sort=False)]
    assert len(grids) > 1
    assert len(set(grids)) == 1
    assert len(grids[0]) >= 40
    assert list(grids[0]) == sorted(set(grids[0]))


def test_the_numbers_are_those_of_the_regions() -> None:
    rows = specs.sheet({"draw": "profile", "regions": ["dp(1)^2", "gdp(1)"], "labels": ["twice", "once"]})
    for label, text in (("twice", "dp(1)^2"), ("once", "gdp(1)")):
        part = rows[rows["label"] == label]
        assert set(part["region"]) == {text}
        truth = frames.deltas(parse(text), part["epsilon"].to_numpy())
        for column in ("epsilon", "delta", "delta_lower", *FACTS):
            assert part[column].tolist() == truth[column].tolist()
    pure = specs.sheet({"draw": "profile", "regions": ["dp(1)", "dp(2)"]})
    for epsilon, at in ((1, 0.5), (2, 1.5)):
        row = pure[(pure["region"] == f"dp({epsilon})") & np.isclose(pure["epsilon"], at)]
        delta = (math.exp(epsilon) - math.exp(at)) / (1 + math.exp(epsilon))
        assert row["delta"].to_numpy() == pytest.approx([delta], rel=1e-12)


@pytest.mark.parametrize("step", [{"sigma": 0.9, "q": 0.005}, {"step": "user_gaussian(1.1, 0.01, 3)"}], ids=str)
def test_the_numbers_of_a_training_run_follow_from_its_columns(step: dict[str, Any]) -> None:
    rows = specs.sheet({"draw": "steps", **step, "delta": 1e-4, "steps": [1, 20]})
    for row in rows[rows["title"] == "dpcore"].itertuples():
        assert (row.target, row.target_value) == ("delta", 1e-4)
        low, high = (parse(row.expression) ** row.k).epsilon_bounds(row.target_value)
        assert row.epsilon_lower <= high
        assert low <= row.epsilon
    rates = specs.sheet({"draw": "rates", **step, "steps": 20})
    assert set(rates["expression"]) == set(rows["expression"])
    assert set(rates["k"]) == {20}


@pytest.mark.parametrize("name", CASES)
def test_every_table_says_what_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    spec = CASES[name]
    rows = specs.sheet(spec)
    assert set(rows["figure"]) == {spec["draw"]}
    assert set(rows["version"]) == {dpcore.__version__}
    facts = [column for column in rows.columns if column in FACTS]
    assert facts == [column for column in FACTS if column in facts]
    names = [column for column in ("label", "title", "region") if column in rows.columns]
    assert list(rows.columns[: len(names)]) == names
    own = specs.table(spec)
    own = specs.draw(spec).table if own is None else own
    added = [column for column in LAST if column in rows.columns and column not in own.columns]
    assert list(rows.columns[-len(added) :]) == added
    text = frame_text(rows)
    assert not text.startswith("#")
    assert list(read_frame(text).columns) == list(rows.columns)
    if "mechanism" in spec:
        assert set(rows["expression"]) == {spec["mechanism"]}
        assert "k" in rows.columns
        if isinstance(spec.get("k"), int):
            assert set(rows["k"]) == {spec["k"]}


@pytest.mark.parametrize(
    ("spec", "target"),
    [
        ({"draw": "theorems", "mechanism": "dp(0.1)", "k": 9, "delta": 1e-5}, ("delta", 1e-5)),
        ({"draw": "composition", "mechanism": "dp(0.1)", "k": 9}, ("delta", 1e-6)),
        ({"draw": "ladder", "mechanism": "dp(0.1)", "k": [1, 10], "delta": 1e-4}, ("delta", 1e-4)),
        ({"draw": "profile", "regions": ["dp(1)"]}, ("delta", 1e-6)),
        ({"draw": "curves", "regions": ["gdp(?)"], "values": [1, 2], "measure": "delta", "at": 3}, ("epsilon", 3.0)),
        ({"draw": "curves", "regions": ["gdp(?)"], "values": [1, 2], "measure": "epsilon"}, ("delta", 1e-6)),
        ({"draw": "regions", "regions": ["dp(1)"]}, ("", None)),
    ],
)
def test_the_target_is_the_one_asked_for(spec: dict[str, Any], target: tuple[str, float | None]) -> None:
    rows = specs.sheet(spec)
    assert {*zip(rows["target"], rows["target_value"], strict=True)} == {target}


@pytest.mark.parametrize(
    ("text", "parts"),
    [("dp(1)^3", ("dp(1)", 3)), ("dp(1) * gdp(1)", ("dp(1) * gdp(1)", 1)), ("dp(1)^2 * dp(1)", ("dp(1)", 3))],
)
def test_copies_are_counted_in_the_expression(text: str, parts: tuple[str, int]) -> None:
    rows = specs.sheet({"draw": "profile", "regions": [text]})
    assert (rows["expression"][0], rows["k"][0]) == parts


@pytest.mark.parametrize(("draw", "bound"), [("theorems", "upper"), ("composition", "lower")])
def test_only_what_is_drawn_is_listed_and_the_figure_gives_the_reason_for_the_rest(draw: str, bound: str) -> None:
    spec = {"draw": draw, "mechanism": "dp(0.1)", "k": 10}
    made, rows = specs.draw(spec), specs.sheet(spec)
    own = specs.table(spec)
    own = made.table if own is None else own
    assert "Not drawn: Actual mechanism. Nothing but the statement is known" in " ".join(made.notes)
    for table in (rows, own):
        assert "none" not in set(table["kind"])
        assert "Actual mechanism" not in set(table["label" if "label" in table else "title"])
    assert set(rows[rows["label"] == "CLT, approximate"]["kind"]) == {"approximate"}
    assert set(rows[rows["label"] == "Basic"]["kind"]) == {bound}


def test_the_table_of_regions_holds_the_drawn_border() -> None:
    spec = {"draw": "composition", "mechanism": "dptv(0.1, 0, 0.03)", "k": 100, "theorems": ["exact", "dptv", "basic"]}
    own, points = specs.table(spec), specs.draw(spec).table
    assert own is not None
    assert own.columns.tolist() == ["label", "region", "alpha", "beta", *FACTS]
    assert own[["label", "alpha", "beta"]].equals(points[["label", "alpha", "beta"]])
    assert set(own["region"][own["label"] == "DP-TV"]) == {"dptv(0.1, 0, 0.03)^100"}  # as it was typed
    rows = specs.sheet(spec)
    for label, text in (("DP-TV", "dptv(0.1, 0, 0.03)^100"), ("Basic", "dp(10)")):
        part = rows[rows["label"] == label]
        beta = parse(text).beta(part["alpha"].to_numpy())
        np.testing.assert_allclose(part["beta"], beta, rtol=1e-9, atol=1e-300)
        assert (part["beta"] <= part["beta_upper"]).all()


def test_one_k_has_one_number() -> None:
    """The headline, the sentence of the profile and that of the ladder say the same epsilon."""
    spec = {"mechanism": "dptv(0.1, 0, 0.03)", "k": 100, "delta": 1e-6, "theorems": ["dptv"]}
    said = headline(ladder("dptv(0.1, 0, 0.03)", 1e-6, ks=[100]), 1e-6)
    assert "ε ≤ 3.611 (exact)" in said
    assert "ε is at most 3.611 (exact)" in specs.draw({"draw": "theorems", **spec}).takeaway
    assert "3.611 for k = 100" in specs.draw({**spec, "draw": "ladder", "k": [10, 100, 1000]}).takeaway


def test_names_of_files_tell_figures_apart() -> None:
    base = {"draw": "composition", "mechanism": "dp(0.1, 1e-7)", "k": 100, "delta": 1e-5}
    name = specs.file_name(base)
    assert name == "composition_dp-0.1-1e-7_k-100_delta-1e-5.csv"
    changes: list[dict[str, Any]] = [{"k": 101}, {"delta": 1e-6}, {"mechanism": "dp(0.2, 1e-7)"}, {"draw": "theorems"}]
    others = {specs.file_name(base | change) for change in changes}
    assert len(others | {name}) == 5
    long = [
        specs.file_name({"draw": "regions", "regions": ["dp(1)"] * 20 + [last]}, ".pdf") for last in ("dp(2)", "dp(3)")
    ]
    assert len(set(long)) == 2
    for one in (*long, *others):
        assert re.fullmatch(r"[a-z0-9][a-z0-9._+-]{0,100}", one)


def test_an_even_grid_has_round_steps() -> None:
    for top in (1e-3, 0.7, 1.0, 3.0, 12.345, 99.0, 1e5):
        grid = even_grid(top)
        assert grid[0] == 0.0
        assert top * (1 - 1e-9) <= grid[-1] < 1.1 * top
        assert 41 <= grid.size <= 102
        assert len(repr(float(grid[1])).strip("0.").replace(".", "").split("e")[0]) == 1
    with pytest.raises(DomainError, match="epsilon_max must be"):
        even_grid(0.0)
