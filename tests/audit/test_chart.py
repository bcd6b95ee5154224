"""The audit chart: its numbers, its words, and that both axes can draw every kind of measurement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dpcore import parse
from dpcore.audit import Audit, Counts, Scores, audit, simulate, verdict
from dpcore.charts import Look, save
from dpcore.charts.audit import BEST, MEASURED, audit_figure, audit_table, audit_takeaway, proved_label

if TYPE_CHECKING:
    from pathlib import Path

MEASUREMENTS: dict[str, Any] = {
    "scores": simulate(parse("laplace(2)"), np.random.default_rng(1), 500, 400),
    "counts": Counts([80, 40, 95], [20, 3, 60], [80, 97, 40], [20, 60, 5]),
    "one trial": Scores([0.0], [1.0]),
    "nothing found": simulate(parse("gdp(0)"), np.random.default_rng(1), 50, 50),
    "given away": Scores(np.zeros(300), np.ones(300)),
    "reversed": Scores(np.ones(50), np.zeros(50)),
}


def found(name: str = "scores") -> Audit:
    return audit(MEASUREMENTS[name])


@pytest.mark.parametrize("log", [False, True], ids=["linear", "log"])
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_every_measurement_is_drawn(name: str, log: bool) -> None:
    figure = audit_figure(found(name), parse("dp(1)"), [parse("gdp(1)")], log=log, look=Look(dark=log))
    text = json.dumps(figure.chart.to_dict(), allow_nan=False)
    assert "NaN" not in text
    assert not figure.table.isna().any().any()
    assert list(dict.fromkeys(figure.table["label"])) == [
        MEASURED,
        proved_label(found(name)),
        BEST,
        "claim: DP, ε = 1",
        "Gaussian DP, μ = 1",
    ]
    marked = "test breaks the claim" in text
    assert marked == verdict(found(name), parse("dp(1)")).contradicted


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [("laplace(2)", "dp(1)"), ("gaussian(0.5)", "dp(1)"), ("dp(0.1, 0.3)", "dp(1, 0.01)"), ("rr(3)", "gdp(1)")],
)
def test_the_words_about_a_contradiction_stand_where_no_curve_can_be(mechanism: str, claim: str, log: bool) -> None:
    """They end at the right edge, and all of them is beyond the line of blind guessing."""
    measured = audit(simulate(parse(mechanism), np.random.default_rng(1), 2000, 2000))
    spec = audit_figure(measured, parse(claim), log=log).chart.to_dict()
    rows = [row for table in spec["datasets"].values() for row in table]
    (words,) = (row for row in rows if "breaks the claim" in str(row.get("text", "")))
    floor = min(row["alpha"] for row in rows if "alpha" in row)
    start = floor**0.55 if log else 0.45  # the words take up to 0.55 of the axis
    assert words["alpha"] == 1.0
    assert (words["power"] if log else words["beta"]) < 1.0
    assert words["power"] < start if log else words["beta"] > 1.0 - start


def test_the_table_says_what_its_numbers_are() -> None:
    table = audit_table(found(), parse("dp(1)"))
    assert table.columns.tolist() == ["label", "region", "alpha", "beta", "power", "kind", "theorem", "neighbours"]
    kinds = table.groupby("label")["kind"].agg(set).to_dict()
    assert kinds[MEASURED] == {"approximate"}
    assert kinds[proved_label(found())] == {"upper"}
    assert kinds[BEST] == {"lower"}
    assert kinds["claim: DP, ε = 1"] == {"exact"}
    proved = table[table["label"] == proved_label(found())]
    assert proved["alpha"].tolist() == found().proved[0].tolist()
    assert proved["beta"].tolist() == found().proved[1].tolist()
    assert np.allclose(table["power"], 1 - table["beta"])


def test_many_points_are_thinned_and_both_ends_kept() -> None:
    many = audit(simulate(parse("dp(0.5, 0.02)"), np.random.default_rng(1), 5000, 5000))
    table = audit_table(many)
    measured = table[table["label"] == MEASURED]
    assert len(measured) <= 400
    nobody = measured[measured["alpha"] == 0.0]["beta"].min()
    assert nobody == min(b for a, b in zip(*many.measurement.rates(), strict=True) if a == 0.0) < 0.99
    assert measured["alpha"].is_monotonic_increasing


def test_the_sentence() -> None:
    alone, claimed = audit_takeaway(found()), audit_takeaway(found(), parse("dp(1)"), delta=0.01)
    assert alone.startswith("With 95 % confidence no mechanism with ε below")
    assert "claim" not in alone
    assert "at δ = 0.01" in claimed
    assert "The claim dp(1) is contradicted" in claimed
    figure = audit_figure(found(), parse("dp(1)"), delta=0.01)
    assert figure.takeaway == claimed == figure.chart.description
    assert "each of its borders with 95 % confidence" in figure.notes[0]


def test_regions_are_named_and_drawn_once(tmp_path: Path) -> None:
    figure = audit_figure(found(), None, {"smallest μ-GDP": parse("gdp(1)"), "again": parse("gdp(1)")})
    assert "smallest μ-GDP" in set(figure.table["label"])
    assert "again" not in set(figure.table["label"])
    many = audit_figure(found(), parse("dp(0.5)^2000"))
    assert any("corners and is drawn with" in note for note in many.notes)
    save(figure, tmp_path / "audit.svg")
    assert (tmp_path / "audit.svg").stat().st_size > 5000
