"""Leakage in time series: every column of Chapter 6 by its oracle and by a second route."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.errors import DomainError
from dpcore.foundations import Plot, Regions, lab
from dpcore.foundations import time_series as ts
from dpcore.language import parse

FIRST = [[1.0, 0.0], [1.0, 0.5]]
SECOND = [[0.5, 0.1], [0.0, 0.5]]
THIRD = [[0.9, 0.5], [0.0, 0.9]]
SIX = 6e-7


def test_sensitivities_and_noise_of_the_figures() -> None:
    model = ts.pair(FIRST, 0.0)
    assert ts.logarithm(0.05) == pytest.approx(3.226844, abs=SIX)
    assert ts.logarithm(0.05, 1.25) == pytest.approx(3.218876, abs=SIX)
    assert model.query == 0.5
    assert model.noise(1) == pytest.approx(0.5 * math.sqrt(2 * math.log(25.2)))
    assert model.columns.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    ("rho", "program", "printed", "corrected"),
    [(-1, 1.0, 2.0, 2.0), (0, 0.744381, 1.571445, 1.747475), (1, 0.619051, 1.336425, 1.571445)],
)
def test_figure_6_1(rho: float, program: float, printed: float, corrected: float) -> None:
    model = ts.pair(FIRST, rho)
    assert ts.code_first(rho, 0.05) == pytest.approx(program, abs=SIX)
    assert model.printed_first() == pytest.approx(printed, abs=SIX)
    assert model.corrected("A1", "N2") == pytest.approx((corrected, 0.05), abs=SIX)
    assert corrected > 1, "the text's epsilon2' < 1 for any rho is false"


@pytest.mark.parametrize(
    ("matrix", "rho", "program", "printed", "corrected"),
    [
        (SECOND, -1, 0.993844, 1.952187, 1.975660),
        (SECOND, 0, 0.813925, 1.148412, 1.408425),
        (SECOND, 1, 0.705950, 0.892972, 1.153134),
        (THIRD, -1, 0.547513, 1.050800, 1.079694),
        (THIRD, 0, 0.526168, 0.920140, 1.002229),
        (THIRD, 1, 0.507139, 0.828576, 0.939354),
    ],
)
def test_figures_6_2_and_6_3(
    matrix: list[list[float]], rho: float, program: float, printed: float, corrected: float
) -> None:
    model = ts.pair(matrix, rho)
    weights, variance = model.backward()
    assert ts.code_last(abs(weights[0]) / 2, variance, 2, 0.05) == pytest.approx(program, abs=SIX)
    assert model.printed_last() == pytest.approx(printed, abs=SIX)
    assert model.corrected("A2", "N1")[0] == pytest.approx(corrected, abs=SIX)


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
    own = frame[frame["series"] == f"ρ = {rho}, drawn by the program"]
    top = own.loc[own["y"].idxmax()]
    assert (top["y"], 0.5 / top["x"]) == (pytest.approx(program, abs=6e-4), pytest.approx(where))
    right = frame[frame["series"] == f"ρ = {rho}, formula corrected"]["y"].max()
    assert right == pytest.approx(corrected, abs=6e-4)
    opposed = _plot("figure_6_5").frame
    falling = opposed[opposed["series"] == f"ρ = {rho}, drawn by the program"]["y"].to_numpy()
    assert (falling[0], falling[-1]) == pytest.approx(ends, abs=6e-4)
    assert np.all(np.diff(falling) < 0)


def test_exact_shift_of_figure_6_1() -> None:
    model = ts.pair(FIRST, 0.0)
    found = [model.mu("A1", known) for known in ("N1", "N2", "N3")]
    assert found == pytest.approx([0.393637, 0.687871, 0.792538], abs=SIX)
    assert model.region("A1", "N3").delta(2.747475) == pytest.approx(1.94838e-4, abs=6e-10)
    one, two = model.noise(1), math.sqrt(model.noise(2) ** 2 + 2 / 4)
    engine = parse(f"gaussian({one!r}, 0.5) * gaussian({two!r}, 1)")
    assert engine.delta(1.0) == pytest.approx(model.region("A1", "N3").delta(1.0), rel=1e-9)


def test_both_times_of_one_record() -> None:
    model = ts.pair(FIRST, 0.0)
    assert model.printed("A4", "N3") == pytest.approx((2.0, 0.274328), abs=SIX)
    region = model.region("A4", "N3")
    assert model.mu("A4", "N3") == pytest.approx(0.556687, abs=SIX)
    assert region.delta(2.0) == pytest.approx(5.889e-5, abs=6e-9)
    assert [region.epsilon(0.05), region.epsilon(0.1)] == pytest.approx([0.616149, 0.367628], abs=SIX)
    assert model.corrected("A4", "N3") == pytest.approx((2.0, 0.1))


@pytest.mark.parametrize(
    ("prior", "value"), [(0.1, 0.0574), (1.0, 0.4145), (10.0, 1.1274), (1e3, 1.4049), (math.inf, 1.40843)]
)
def test_learning_of_time_two_needs_a_prior(prior: float, value: float) -> None:
    model = ts.pair(SECOND, 0.0)
    assert model.corrected("A2", "N1", prior)[0] == pytest.approx(value, abs=6e-5 if prior < math.inf else 6e-6)


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
        assert ts.farthest(pulls) == pytest.approx(brute, rel=1e-12)
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


SETTINGS: list[dict[str, float]] = [
    {},
    {"epsilon_1": 0.3, "delta": 1e-6, "rho": -1.0},
    {"a11": 0.0, "a21": 0.0, "reach": 3.0},
]


@pytest.mark.parametrize("values", SETTINGS)
def test_every_view_is_finite(values: dict[str, float]) -> None:
    chosen = lab("time_series", **values)
    for view in chosen.views:
        picture = chosen.view(view)
        assert picture.takeaway
        if isinstance(picture, Regions):
            assert all(0 <= region.beta(0.1) <= 1 for region in picture.regions.values())
        else:
            assert np.isfinite(picture.frame[["y", "low", "high"]].to_numpy()).all()
    table = chosen.table()
    assert np.isfinite(table["value"]).all()


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
    with pytest.raises(DomainError, match="as many columns as rows"):
        ts.Autoregression(((1.0, 2.0),), ((1.0,),))
    with pytest.raises(DomainError, match="above 0 and finite"):
        ts.pair(FIRST, 0.0, epsilon=(0.0, 1.0))
    with pytest.raises(DomainError, match="variance above 0"):
        ts.pair(FIRST, 0.0).backward(-1.0)
    with pytest.raises(DomainError, match="no attack"):
        ts.pair(FIRST, 0.0).mu("A9", "N1")
    with pytest.raises(DomainError, match="no knowledge"):
        ts.pair(FIRST, 0.0).mu("A1", "N9")
