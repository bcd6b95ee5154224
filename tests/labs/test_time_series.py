"""Leakage in time series: every column of Chapter 6 by its oracle and by a second route."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.labs import Plot, lab
from dpcore.labs import time_series as ts
from dpcore.labs.time_series_scenarios import every
from dpcore.language import parse
from dpcore.planner.series.attacks import farthest
from dpcore.regions.guarantees import GDP

FIRST = [[1.0, 0.0], [1.0, 0.5]]
SECOND = [[0.5, 0.1], [0.0, 0.5]]
THIRD = [[0.9, 0.5], [0.0, 0.9]]
SIX = 6e-7


def test_sensitivities_and_noise_of_the_figures() -> None:
    model = ts.pair(FIRST, 0.0)
    assert model.query == 0.5
    assert model.noise(1) == pytest.approx(0.5 * math.sqrt(2 * math.log(25.2)))
    assert model.columns.tolist() == [2.0, 0.5]


def test_the_leak_stays_below_one_for_no_correlation() -> None:
    """The text says epsilon2' < 1 for any rho; that is the program's curve, not the formula and not the corrected one."""
    for rho in np.linspace(-0.999, 1.0, 9).tolist():
        model = ts.pair(FIRST, rho)
        assert ts.code_first(rho, 0.05) < 1 < model.printed_first() < model.corrected("A1", "N2")[0]


@pytest.mark.parametrize(
    ("rho", "program", "where", "corrected", "ends"),
    [
        (-1, 0.943, 0.4, 1.577, (1.205, 0.407)),
        (0, 1.112, 0.3, 1.785, (1.558, 0.343)),
        (1, 2.051, 0.2, 3.564, (2.713, 0.301)),
    ],
)
def test_figures_6_4_and_6_5(
    rho: float, program: float, where: float, corrected: float, ends: tuple[float, float]
) -> None:
    frame = _plot("figure_6_4").frame
    own = frame[frame["series"] == f"ρ = {rho}, drawn by the printed program"]
    top = own.loc[own["y"].idxmax()]
    assert (top["y"], 0.5 / top["x"]) == (pytest.approx(program, abs=6e-4), pytest.approx(where))
    right = frame[frame["series"] == f"ρ = {rho}, formula corrected"]["y"].max()
    assert right == pytest.approx(corrected, abs=6e-4)
    opposed = _plot("figure_6_5").frame
    falling = opposed[opposed["series"] == f"ρ = {rho}, drawn by the printed program"]["y"].to_numpy()
    assert (falling[0], falling[-1]) == pytest.approx(ends, abs=6e-4)
    assert np.all(np.diff(falling) < 0)


def test_both_releases_are_two_normal_shifts() -> None:
    model = ts.pair(FIRST, 0.0)
    one, two = model.noise(1), math.sqrt(model.noise(2) ** 2 + 2 / 4)
    engine = parse(f"gaussian({one!r}, 0.5) * gaussian({two!r}, 1)")
    assert engine.delta(1.0) == pytest.approx(model.region("A1", "N3").delta(1.0), rel=1e-9)


def test_the_printed_delta_of_both_times_is_more_than_is_needed() -> None:
    """Theorem 6.3.7 treats densities as probabilities; basic composition needs delta1 + delta2 only."""
    model = ts.pair(FIRST, 0.0)
    assert model.corrected("A4", "N3") == pytest.approx((2.0, 0.1))
    claimed = model.printed("A4", "N3") or (0.0, 0.0)
    assert claimed[0] == pytest.approx(2.0)
    assert claimed[1] > 0.1 > model.region("A4", "N3").delta(2.0)


def test_learning_of_time_two_needs_a_prior() -> None:
    """Theorem 6.3.6 takes the innovation as independent of the later value: that is the limit of a flat prior only."""
    model = ts.pair(SECOND, 0.0)
    flat = model.corrected("A2", "N1")[0]
    seen = [model.corrected("A2", "N1", prior)[0] for prior in (0.1, 1.0, 10.0, 1e3, 1e8)]
    assert seen[:4] == sorted(seen[:4])
    assert seen[0] < flat / 20
    assert seen[-1] == pytest.approx(flat, rel=1e-6)


def test_posterior_of_time_one_by_simulation() -> None:
    rng = np.random.default_rng(5)
    model = ts.pair(SECOND, 0.3)
    a, root = np.array(SECOND), np.linalg.cholesky(np.array(model.covariance))
    first = rng.normal(0, math.sqrt(2.0), (200_000, 2))
    later = first @ a.T + rng.normal(size=(200_000, 2)) @ root.T
    total = first.sum(axis=1)
    weights, *_ = np.linalg.lstsq(later, total, rcond=None)
    gain, variance = model.backward(2.0)
    left = total - later @ gain
    assert weights == pytest.approx(gain, abs=0.02)
    assert left.var() == pytest.approx(variance, abs=4 * variance * math.sqrt(2 / 200_000))


def test_leak_of_the_second_release_by_simulation() -> None:
    rng, model = np.random.default_rng(11), ts.pair([[0.7, 0.2], [0.5, 0.4]], 0.4)
    runs = 200_000
    root = np.linalg.cholesky(np.array(model.covariance))
    noise = (rng.normal(size=(runs, 2)) @ root.T).mean(axis=1) + rng.normal(0, model.noise(2), runs)
    shift = (np.array(model.matrix) @ np.array([1.0, 0.0])).mean()
    error = noise.std() / math.sqrt(2 * runs) / noise.std()
    assert shift / noise.std() == pytest.approx(model.mu("A1", "N2"), rel=4 * error)


def test_all_records_move_together_or_against_each_other() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        pulls = rng.normal(size=(5, 2))
        brute = max(math.hypot(*(np.array(signs) @ pulls)) for signs in itertools.product((-1, 1), repeat=5))
        assert farthest(pulls) == pytest.approx(brute, rel=1e-12)
    same = ts.pair(FIRST, 0.0)
    assert same.mu("A3", "N3") == pytest.approx(math.hypot(same.mu("A3", "N1"), same.mu("A3", "N2")))
    mixed = ts.pair([[1.0, -3.0], [1.0, 0.5]], 0.0)
    assert mixed.mu("A3", "N3") < math.hypot(mixed.mu("A3", "N1"), mixed.mu("A3", "N2")) * (1 - 1e-3)


def test_the_printed_variance_breaks_the_guarantee_for_many_records() -> None:
    crowd = ts.many(100, 1.0, delta=1e-5)
    true = crowd.region("A1", "N2").delta(crowd.printed_first())
    assert true > 1000 * 1e-5
    good, delta = crowd.corrected("A1", "N2")
    assert crowd.region("A1", "N2").delta(good) <= delta
    assert crowd.innovation / crowd.n**2 == pytest.approx(0.01)


def test_all_records_cost_more_than_theorem_6_3_8_says() -> None:
    nothing = ts.many(5, 0.0)
    epsilon, delta = nothing.printed("A3", "N3") or (0.0, 0.0)
    assert epsilon == 1.0
    assert nothing.region("A3", "N3").delta(epsilon) > delta, "n epsilon1 is missing in the statement"
    assert nothing.corrected("A3", "N3")[0] == pytest.approx(5.0)


def test_total_dependence_multiplies() -> None:
    engine = parse("laplace(1) * laplace(2)")  # noise made for epsilon 1, moved once and twice as far
    assert engine.epsilon(0.0) == pytest.approx(ts.total_dependence(1.0, 1.0, 2.0))
    assert ts.printed_dependence(1.0, 1.0, 2.0) == 1.5
    assert engine.delta(1.5) > 0.1


@pytest.mark.parametrize("attack", ts.ATTACKS)
@pytest.mark.parametrize("known", ts.KNOWLEDGE)
def test_corrected_statements_hold(attack: str, known: str) -> None:
    model = ts.pair(FIRST, 0.3)
    epsilon, delta = model.corrected(attack, known)
    assert model.region(attack, known).delta(epsilon) <= delta


def _plot(view: str, **values: float) -> Plot:
    picture = lab("time_series", **values).view(view)
    assert isinstance(picture, Plot)
    return picture


def test_the_numbers_of_the_story() -> None:
    story = lab("time_series").story
    models = [ts.pair(FIRST, float(rho)) for rho in np.linspace(-1, 1, 41)]
    corrected = [model.corrected("A1", "N2")[0] for model in models]
    assert f"corrected, it gives {min(corrected):.2f} to {max(corrected):g}" in story.true
    exact = max(model.region("A1", "N2").epsilon(0.05) for model in models)
    assert f"at δ = 0.05 reaches {exact:.2f}" in story.true
    crowd = ts.many(100, 1.0, delta=1e-5)
    assert crowd.region("A1", "N2").delta(crowd.printed_first()) > 1000 * 1e-5
    assert "With 100 records and δ = 1e-5 the true δ is more than 1000 times" in story.matters
    both = ts.pair(FIRST, 0.0)
    claimed, delta = both.printed("A1", "N3") or (0.0, 0.0)
    true = both.region("A1", "N3").epsilon(0.1)
    assert delta > 0.1, "and at a smaller delta than the printed one"
    assert f"ε = {claimed:.2f} where {true:.2f} would do" in story.matters


def test_every_scenario_has_its_columns() -> None:
    found = {row.name: row for row in every(ts.pair(FIRST, 0.0))}
    assert list(found) == [f"{attack}+{known}" for attack in ts.ATTACKS for known in ts.KNOWLEDGE]
    theorems = {"A1+N1", "A1+N2", "A1+N3", "A2+N1", "A2+N2", "A3+N3", "A4+N3"}
    assert {name for name, row in found.items() if row.printed} == theorems
    assert {name for name, row in found.items() if row.program} == {"A1+N2", "A2+N1"}
    assert found["A1+N2"].program == pytest.approx(0.744381, abs=SIX)
    for row in found.values():
        assert row.corrected[0] >= row.epsilon == pytest.approx(GDP(row.mu).epsilon(row.corrected[1]), rel=1e-9)
    other = {row.name: row for row in every(ts.pair(SECOND, 0.0))}
    assert other["A1+N2"].program is None, "the program has another matrix written into it"
    assert other["A2+N1"].program == pytest.approx(0.813925, abs=SIX)
    assert len(every(ts.pair([[1.0, 1.0], [1.0, 1.0]], 0.0))) == 10, "two need the inverse"


def test_the_scenarios_of_the_page() -> None:
    picture = _plot("scenarios")
    sizes = picture.frame.groupby("series")["x"].count().to_dict()
    assert sizes == {"exact": 12, "formula corrected": 12, "formula as printed": 7, "drawn by the printed program": 2}
    assert any("A4+N3 0.5567" in note for note in picture.notes)
    assert any("printed for both is δ = 0.2744" in note for note in picture.notes)


def test_what_the_text_reads_off_figures_6_2_and_6_3_is_false() -> None:
    rows = lab("time_series").table().set_index("place")
    second, third = (rows.loc[f"Section 6.3.2, Figure 6.{i}"] for i in (2, 3))
    assert (second["verdict"], second["printed"]) == ("false", "below 1, falling to 0.7")
    assert second["value"] == pytest.approx(1.952187, abs=SIX)
    assert second["value"] == max(ts.pair(SECOND, rho).printed_last() for rho in (-1.0, -0.5, 0.0, 0.5, 1.0)) > 1
    least = min(ts.pair(SECOND, rho).corrected("A2", "N1")[0] for rho in (-1.0, -0.5, 0.0, 0.5, 1.0))
    assert least == pytest.approx(1.153134, abs=SIX)
    assert "the corrected one to 1.153" in second["why"]
    assert (third["verdict"], float(third["printed"])) == ("misprint", 0.7)
    assert third["value"] == pytest.approx(0.507139, abs=SIX)


def test_story_in_the_table() -> None:
    table = lab("time_series").table()
    assert set(table.loc[table["place"] == "Lemma 6.3.1", "verdict"]) == {"false"}
    assert table.iloc[0]["verdict"] == "false"
    assert lab("time_series").table(1).equals(table)


@pytest.mark.parametrize(
    ("values", "words"),
    [({"rho": 1.5}, r"rho must be a number in \[-1, 1\]"), ({"delta": 0.0}, "delta must be"), ({"a13": 1.0}, "a1")],
)
def test_bad_parameters_are_named(values: dict[str, float], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        lab("time_series", **values)


def test_bad_models_are_named() -> None:
    with pytest.raises(DomainError, match="invertible"):
        ts.pair([[1.0, 1.0], [1.0, 1.0]], 0.0).backward()
    with pytest.raises(DomainError, match="positive semidefinite"):
        ts.pair(FIRST, 1.5)
    with pytest.raises(DomainError, match="must be square, of size 1 to 200, got 1 x 2"):
        ts.Autoregression(((1.0, 2.0),), ((1.0,),))
    with pytest.raises(DomainError, match=r"epsilon must be a number in \(0, inf\), got 0 \(number 1 of 2\)"):
        ts.pair(FIRST, 0.0, epsilon=(0.0, 1.0))
    with pytest.raises(DomainError, match="The variance of the prior must be a number in"):
        ts.pair(FIRST, 0.0).backward(-1.0)
    with pytest.raises(DomainError, match="no attack"):
        ts.pair(FIRST, 0.0).mu("A9", "N1")
    with pytest.raises(DomainError, match="no knowledge"):
        ts.pair(FIRST, 0.0).mu("A1", "N9")
