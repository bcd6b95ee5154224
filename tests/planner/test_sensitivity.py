"""Sensitivities against brute force, noise that follows them against pairs of neighbours, errors against draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad

from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.planner.sensitivity import (
    QUERIES,
    MeanQuery,
    QuantileQuery,
    SensitiveQuery,
    SmoothCauchy,
    SmoothGaussian,
    SmoothLaplace,
    TrimmedMeanQuery,
    VarianceQuery,
    mechanism_table,
    sensitive_query,
    sensitivity_table,
    smooth_table,
)
from dpcore.planner.sensitivity.blocking import answer_width, block_answers, block_errors, noisy_quantile
from dpcore.planner.sensitivity.noise import gaussian_delta_bound, laplace_worst_delta
from dpcore.planner.sensitivity.pairs import gaussian_delta, laplace_delta
from dpcore.utility.dataset import Dataset
from dpcore.utility.samples import sample

QUERY_LIST = [
    MeanQuery(),
    QuantileQuery(0.5),
    QuantileQuery(0.25),
    QuantileQuery(0.8),
    TrimmedMeanQuery(0.2),
    TrimmedMeanQuery(0.34),
    VarianceQuery(),
]
GRID = (0.0, 0.25, 0.5, 0.75, 1.0)


# ---- brute force -----------------------------------------------------------------------------------------------


def brute_local(query: SensitiveQuery, records: tuple[float, ...]) -> float:
    """Return the largest move of the answer by substituting one record; a variance is least where it joins the others' mean."""
    x, most = np.array(records), 0.0
    now = query.answer(np.sort(x))
    for j in range(x.size):
        rest = np.delete(x, j)
        for value in (*GRID, *records, rest.mean()):
            most = max(most, abs(query.answer(np.sort(np.append(rest, value))) - now))
    return most


def distance(x: tuple[float, ...], y: tuple[float, ...]) -> int:
    return len(x) - sum((Counter(x) & Counter(y)).values())


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("query", QUERY_LIST, ids=lambda query: query.label)
def test_smooth_sensitivity_is_its_definition_by_brute_force(query: SensitiveQuery, n: int) -> None:
    local = {y: brute_local(query, y) for y in itertools.combinations_with_replacement(GRID, n)}
    rng = np.random.default_rng(n)
    for x in {tuple(sorted(rng.choice(GRID, n).tolist())) for _ in range(12)}:
        ordered = np.array(x)
        assert query.local(ordered, 0.0, 1.0) == pytest.approx(local[x], abs=1e-12)
        for beta in (0.0, 0.05, 0.3, 1.0, 2.5):
            expected = max(value * math.exp(-beta * distance(x, y)) for y, value in local.items())
            assert query.smooth(ordered, 0.0, 1.0, beta) == pytest.approx(expected, rel=1e-12)
    assert query.largest(n, 0.0, 1.0) == pytest.approx(max(local.values()))


def plain_smooth(query: QuantileQuery, x: np.ndarray, low: float, high: float, beta: float) -> float:
    """Return the formula with every pair of ranks tried."""
    first, last = query.ranks(x.size)
    length, framed = last - first + 1, np.concatenate(([low], x, [high]))
    return max(
        (framed[j] - framed[i]) / length * math.exp(-beta * (j - i - length))
        for i in range(first + 1)
        for j in range(last, x.size + 2)
        if j - i >= length
    )


@pytest.mark.parametrize("n", [40, 41])
@pytest.mark.parametrize(
    "query", [q for q in QUERY_LIST if not isinstance(q, VarianceQuery)], ids=lambda query: query.label
)
def test_the_quick_search_misses_nothing(query: QuantileQuery, n: int) -> None:
    rng = np.random.default_rng(n)
    for draw in (rng.random(n), rng.exponential(0.2, n).clip(0, 1), rng.integers(0, 6, n) / 5.0, np.full(n, 0.3)):
        x = np.sort(draw)
        for beta in (1e-3, 0.05, 0.4, 3.0):
            assert query.smooth(x, 0.0, 1.0, beta) == pytest.approx(plain_smooth(query, x, 0.0, 1.0, beta), rel=1e-12)


@pytest.mark.parametrize("query", QUERY_LIST, ids=lambda query: query.label)
def test_neighbours_have_smooth_sensitivities_within_the_factor(query: SensitiveQuery) -> None:
    rng, beta = np.random.default_rng(5), 0.2
    for _ in range(200):
        x = np.sort(rng.random(8) ** 3)
        y = x.copy()
        y[rng.integers(8)] = rng.choice([0.0, 1.0, rng.random()])
        here, there = query.smooth(x, 0.0, 1.0, beta), query.smooth(np.sort(y), 0.0, 1.0, beta)
        assert abs(math.log(here / there)) <= beta * (1 + 1e-9)
        assert here >= query.local(x, 0.0, 1.0) * (1 - 1e-12)
        assert abs(query.answer(x) - query.answer(np.sort(y))) <= min(here, there) * (1 + 1e-12)


def test_quantiles_of_even_and_odd_numbers() -> None:
    assert QuantileQuery(0.5).answer(np.array([1.0, 2.0, 4.0, 8.0])) == 3.0
    assert QuantileQuery(0.5).answer(np.array([1.0, 2.0, 4.0])) == 2.0
    assert QuantileQuery(0.9).ranks(10) == (9, 10)
    assert QuantileQuery(0.95).ranks(10) == (10, 10)
    assert TrimmedMeanQuery(0.1).ranks(20) == (3, 18)


# ---- noise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (1.0, 0.01), (5.0, 1e-5), (20.0, 1e-6)])
def test_noise_keeps_its_delta_at_every_pair_of_widths_and_moves(epsilon: float, delta: float) -> None:
    """Two releases on neighbours: any ratio of widths up to e^beta, any move up to the smaller sensitivity."""
    at = np.array([epsilon])
    for noise, profile in (
        (SmoothLaplace(epsilon, delta), laplace_delta),
        (SmoothGaussian(epsilon, delta), gaussian_delta),
    ):
        assert noise.true_delta <= delta
        assert noise.true_delta >= 0.99 * delta or noise.beta == epsilon / 2
        worst = 0.0
        for share, move in itertools.product(np.linspace(0, 1, 9), np.linspace(0, 1, 5)):
            ratio = math.exp(share * noise.beta)
            for scale, other in ((ratio, 1.0), (1.0, ratio)):
                worst = max(worst, float(profile(at, scale, other, move / noise.scale)[0]))
        assert worst <= noise.true_delta * (1 + 1e-9)
        assert worst >= 0.5 * noise.true_delta  # the bound is not idle


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.45, 1.0, 4.0])
def test_cauchy_noise_never_loses_more_than_epsilon(epsilon: float) -> None:
    noise = SmoothCauchy(epsilon)
    z = np.concatenate((-np.geomspace(1e-6, 1e9, 9000)[::-1], np.geomspace(1e-6, 1e9, 9000)))
    most = 0.0
    for share, move in itertools.product(np.linspace(0, 1, 9), np.linspace(0, 1, 9)):
        ratio, shift = math.exp(share * noise.beta), move / noise.scale
        for scale, other in ((ratio, 1.0), (1.0, ratio)):
            loss = np.log(other / scale) - np.log1p((z / scale) ** 2) + np.log1p(((z - shift) / other) ** 2)
            most = max(most, float(np.abs(loss).max()))
            closed = 2 * math.asinh(math.hypot(shift, scale - other) / (2 * math.sqrt(scale * other)))
            assert float(np.abs(loss).max()) <= closed * (1 + 1e-9)
    assert 0.999 * epsilon < most <= epsilon
    assert noise.true_delta == 0


def test_the_textbook_gaussian_is_five_times_as_noisy() -> None:
    epsilon, delta = 1.0, 1e-6
    textbook = 5 * math.sqrt(2 * math.log(2 / delta)) / epsilon
    assert SmoothGaussian(epsilon, delta).scale < textbook / 4
    assert gaussian_delta_bound(epsilon, SmoothGaussian(epsilon, delta).beta, textbook) < 1e-12


def test_laplace_noise_is_not_private_with_epsilon_alone() -> None:
    assert laplace_worst_delta(1.0, 0.05) > 0
    assert SmoothLaplace(1.0, 1e-6).true_delta > 0
    with pytest.raises(DomainError, match="delta must be"):
        SmoothLaplace(1.0, 0.0).beta  # noqa: B018  # computed when asked for


@pytest.mark.parametrize("cls", [SmoothLaplace, SmoothCauchy, SmoothGaussian])
def test_reaches_are_quantiles(cls: type[SmoothLaplace]) -> None:
    density = {
        SmoothLaplace: lambda z: math.exp(-abs(z)) / 2,
        SmoothCauchy: lambda z: 1 / (math.pi * (1 + z * z)),
        SmoothGaussian: lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi),
    }[cls]
    for level in (0.5, 0.95):
        assert 2 * quad(density, 0, cls.reach(level))[0] == pytest.approx(level, abs=1e-9)


# ---- blocking --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("query", QUERY_LIST, ids=lambda query: query.label)
def test_answers_on_a_block_have_the_width_that_is_said(query: SensitiveQuery, size: int) -> None:
    blocks = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=size)))
    answers = block_answers(query, blocks)
    assert np.ptp(answers) == pytest.approx(answer_width(query, size, 0.0, 1.0))
    assert answers[:5].tolist() == pytest.approx([query.answer(np.sort(row)) for row in blocks[:5]])


def test_the_error_of_blocking_is_that_of_draws() -> None:
    rng = np.random.default_rng(2)
    values = rng.exponential(1.0, 400).clip(0, 5)
    scale, shifts = block_errors(QuantileQuery(0.5), values, (0.0, 5.0), 20, 1.0, rng)
    assert scale == pytest.approx(5 / 20)
    drawn = np.abs(rng.choice(shifts, 200_000) + rng.laplace(0, scale, 200_000))
    for level in (0.5, 0.95):
        assert np.mean(drawn <= noisy_quantile(shifts, scale, level)) == pytest.approx(level, abs=0.004)


# ---- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", QUERIES)
def test_every_mechanism_has_its_region_and_true_promise(statistic: str) -> None:
    data, query = sample("staff.salary"), sensitive_query(statistic)
    table = mechanism_table(data, query, epsilon=1.0, delta=1e-6)
    assert not table.isna().to_numpy().any()
    for row in table.itertuples():
        region = parse(row.region)
        assert float(region.delta(row.epsilon)) <= row.delta * (1 + 1e-9) + 1e-300
        assert row.delta <= 1e-6
        assert 0 < row.error_50 <= row.error_95
    kinds = dict(zip(table["mechanism"], table["kind"], strict=True))
    assert all(kind == "upper" for name, kind in kinds.items() if "smooth" in name)
    pure = mechanism_table(data, query, epsilon=1.0, delta=0.0)
    assert (pure["delta"] == 0).all()
    assert not any("Gaussian" in name or name == "Laplace, smooth" for name in pure["mechanism"])


def test_choosing_mechanisms_have_the_errors_of_draws() -> None:
    data, query = sample("ages.age"), QuantileQuery(0.5)
    truth = query.answer(data.ordered)
    table = mechanism_table(data, query, epsilon=0.05, delta=1e-6).set_index("mechanism")
    from dpcore.utility import pair

    drawn = np.abs(pair("quantile_exponential", epsilon=0.05).release(data, np.random.default_rng(1), 100_000) - truth)
    for level, column in ((0.5, "error_50"), (0.95, "error_95")):
        assert np.mean(drawn <= table.loc["exponential mechanism", column]) == pytest.approx(level, abs=0.006)


def test_smooth_sensitivities_lie_between_local_and_global_and_fall() -> None:
    data = sample("staff.salary")
    rows = smooth_table(data, QuantileQuery(0.5)).pivot(index="parameter", columns="label", values="value")
    assert (np.diff(rows["smooth"]) <= 0).all()
    assert ((rows["local"] <= rows["smooth"]) & (rows["smooth"] <= rows["global"])).all()
    table = sensitivity_table(data)
    assert len(table) == 5 * len(QUERIES)
    assert ((table["share_of_global"] >= 0) & (table["share_of_global"] <= 1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sensitive_query("mode"), "statistic must be"),
        (lambda: sensitive_query("quantile", probability=1.0), "probability must be"),
        (lambda: sensitive_query("trimmed mean", trim=0.5), "trim must be"),
        (lambda: sensitivity_table(Dataset.clipped([5.0], 0.0, 10.0)[0]), "variance needs at least 2 records, got 1"),
        (lambda: mechanism_table(sample("ages.age"), MeanQuery(), epsilon=0.0), "epsilon must be"),
        (
            lambda: mechanism_table(sample("ages.age"), VarianceQuery(), blocks=1500),
            "at least 2 records in every block",
        ),
        (lambda: sensitivity_table(sample("survey.cheated")), "is of numbers"),
    ],
)
def test_what_cannot_be_asked_is_explained(make: object, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        make()


def test_a_constant_column_has_all_numbers() -> None:
    data, _ = Dataset.clipped(np.full(30, 5.0), 0.0, 10.0)
    for statistic in QUERIES:
        table = mechanism_table(data, sensitive_query(statistic))
        assert np.isfinite(table[["scale", "error_50", "error_95"]].to_numpy()).all()
