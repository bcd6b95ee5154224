"""Answers with added noise: closed forms against simulation, and against a second way to compute them."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from dpcore.curves.gaussian import GaussianCurve
from dpcore.utility import PAIRS, Dataset, UtilityPair, facts, pair
from dpcore.utility.additive import gaussian_floor, pure_floor, unit_sigma
from dpcore.utility.mean import course_floor, joint_quantile
from dpcore.utility.noise import (
    CentredNoise,
    GeometricNoise,
    LaplaceNoise,
    NormalNoise,
    worst_beyond,
    worst_mean,
    worst_quantile,
)

RELEASES = 3000
SMALL = Dataset.example(60)
NOISES = (LaplaceNoise(2.3), GeometricNoise(0.4), NormalNoise(1.7))

CASES = [
    *((name, {}) for name in ("count_laplace", "count_geometric", "count_gaussian", "queries_gaussian")),
    *(
        (f"sum_{m}", {"neighbours": n})
        for m in ("laplace", "geometric", "gaussian")
        for n in ("substitution", "add/remove")
    ),
    ("count_gaussian", {"calibration": "classical"}),
    *(
        (f"histogram_{m}", {"neighbours": n, "unit": u, "after": a})
        for m in ("laplace", "geometric", "gaussian")
        for n, u, a in (
            ("substitution", "counts", "nothing"),
            ("add/remove", "counts", "nothing"),
            ("substitution", "frequencies", "nothing"),
            ("substitution", "counts", "clip"),
            ("add/remove", "counts", "clip"),
            ("substitution", "counts", "renormalise"),
            ("add/remove", "frequencies", "renormalise"),
        )
    ),
    *(
        (f"mean_{m}", {"d": d, "accuracy": a})
        for m in ("laplace", "gaussian")
        for d in (1, 3)
        for a in ("empirical", "statistical")
    ),
    ("mean_gaussian", {"calibration": "classical", "delta": 0.1}),
    *(("queries_gaussian", {"calibration": c, "k": 5}) for c in ("zcdp", "kov")),
    *(("cuts_johnson_lindenstrauss", {"composition": c}) for c in ("basic", "optimal", "exact")),
]


def data_for(chosen: UtilityPair) -> Dataset:
    return Dataset.example(60, getattr(chosen, "d", 1))


def check_against_simulation(chosen: UtilityPair, data: Dataset, seed: int) -> None:
    errors = chosen.errors(data, chosen.release(data, np.random.default_rng(seed), RELEASES))
    for fact in facts(chosen, None, data):
        found = errors[fact.measure]
        assert found.shape == (RELEASES,)
        if chosen.measure_of(fact.measure).statistic == "quantile":
            miss = 1.0 - chosen.measure_of(fact.measure).level
            slack = 4.0 * math.sqrt(miss * (1 - miss) / RELEASES)
            if fact.kind in ("exact", "upper"):
                assert np.mean(found > fact.value * (1 + 1e-12)) <= miss + slack, fact
            if fact.kind == "exact":
                assert np.mean(found >= fact.value * (1 - 1e-12)) >= miss - slack, fact
            continue
        mean, slack = float(found.mean()), 4.0 * float(found.std(ddof=1)) / math.sqrt(RELEASES)
        if fact.kind in ("exact", "upper"):
            assert mean <= fact.value + slack, fact
        if fact.kind in ("exact", "lower"):
            assert mean >= fact.value - slack, fact


@pytest.mark.parametrize(
    ("name", "values"), CASES, ids=lambda x: x if isinstance(x, str) else " ".join(map(str, x.values()))
)
def test_closed_forms_agree_with_simulation(name: str, values: dict[str, object]) -> None:
    for seed, epsilon in enumerate((0.15, 0.6, 0.95 if name.startswith("cuts") else 3.0)):
        chosen = pair(name, epsilon=epsilon, **values)
        check_against_simulation(chosen, data_for(chosen), 10 + seed)


@pytest.mark.parametrize(
    ("name", "values"), CASES, ids=lambda x: x if isinstance(x, str) else " ".join(map(str, x.values()))
)
def test_bounds_lie_on_their_side_of_the_exact_value(name: str, values: dict[str, object]) -> None:
    for epsilon in (0.1, 0.5, 0.9):
        chosen = pair(name, epsilon=epsilon, **values)
        known = chosen.closed_forms(data_for(chosen))
        exact = {f.measure: f.value for f in known if f.kind == "exact"}
        for fact in known:
            if fact.kind == "upper" and fact.measure in exact:
                assert fact.value >= exact[fact.measure]
            if fact.kind == "lower" and fact.measure in exact:
                assert 0 < fact.value <= exact[fact.measure] * (1 + 1e-12)


def test_every_measure_of_plain_noise_has_an_exact_value() -> None:
    for name in ("count_laplace", "sum_geometric", "histogram_laplace", "mean_gaussian", "queries_gaussian"):
        chosen = pair(name)
        exact = {f.measure for f in chosen.closed_forms(SMALL) if f.kind == "exact"}
        assert exact == {m.name for m in chosen.measures}


# --- the laws of noise, a second way -------------------------------------------------------------------------------


def density(noise: CentredNoise, x: float) -> float:
    if isinstance(noise, LaplaceNoise):
        return mpmath.exp(-abs(x) / noise.scale) / (2 * noise.scale)
    assert isinstance(noise, NormalNoise)
    return mpmath.npdf(x, 0, noise.sigma)


def by_quadrature(noise: CentredNoise, count: float, power: int) -> float:
    points = [-mpmath.inf, -count, 0, mpmath.inf] if count else [-mpmath.inf, 0, mpmath.inf]
    return float(mpmath.quad(lambda x: abs(max(x, -count)) ** power * density(noise, x), points))


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_moments_of_clipped_noise(noise: CentredNoise) -> None:
    for count in (0.0, 1.0, 3.0, 40.0):
        first, second = noise.clipped(np.array(count))
        if isinstance(noise, GeometricNoise):
            j = np.arange(-400.0, 401.0)
            weight = (1 - noise.ratio) / (1 + noise.ratio) * noise.ratio ** np.abs(j)
            off = np.maximum(j, -count)
            expected = (weight * np.abs(off)).sum(), (weight * off**2).sum()
        else:
            expected = by_quadrature(noise, count, 1), by_quadrature(noise, count, 2)
        assert (float(first), float(second)) == pytest.approx(expected, rel=1e-10)
    assert float(noise.clipped(np.array(1e6))[1]) == pytest.approx(noise.variance, rel=1e-12)
    assert float(noise.clipped(np.array(1e6))[0]) == pytest.approx(noise.mean_abs, rel=1e-12)


def test_wide_geometric_noise_keeps_the_digits_of_its_tail() -> None:
    noise = GeometricNoise(3e-4)
    for t in (0, 1000, 100_000):
        ratio = mpmath.exp(-mpmath.mpf(3e-4))
        expected = ratio ** (t + 1) / (1 + ratio)
        assert float(noise.above(np.array([float(t)]))[0]) == pytest.approx(float(expected), rel=1e-14)
        assert float(noise.above(np.array([-t - 1.0]))[0]) == pytest.approx(float(1 - expected), rel=1e-15)


def test_the_mean_of_the_worst_of_many() -> None:
    normal = mpmath.quad(lambda t: 1 - mpmath.erf(t / mpmath.sqrt(2)) ** 7, [0, 1, 2, 4, 8, 16])
    assert worst_mean(NormalNoise(1.7), 7) == pytest.approx(1.7 * float(normal), rel=1e-11)
    assert worst_mean(LaplaceNoise(2.0), 3) == pytest.approx(2.0 * (1 + 1 / 2 + 1 / 3), rel=1e-15)
    t = np.arange(400.0)
    geometric = GeometricNoise(0.4)
    direct = (1 - (1 - 2 * geometric.ratio ** (t + 1) / (1 + geometric.ratio)) ** 7).sum()
    assert worst_mean(geometric, 7) == pytest.approx(direct, rel=1e-12)
    assert worst_mean(LaplaceNoise(2.0), 3, np.array([1e3] * 3)) == pytest.approx(
        worst_mean(LaplaceNoise(2.0), 3), rel=1e-12
    )


def test_the_sum_over_very_wide_geometric_noise_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([0.0, 0.0, 300.0, 900.0, 7000.0])
    noise = GeometricNoise(3e-4)
    monkeypatch.setattr("dpcore.utility.noise._MOST_TERMS", 10**7)
    direct = worst_mean(noise, 5), worst_mean(noise, 5, counts)
    monkeypatch.setattr("dpcore.utility.noise._MOST_TERMS", 10)
    assert (worst_mean(noise, 5), worst_mean(noise, 5, counts)) == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
@pytest.mark.parametrize("counts", [None, np.array([0.0, 0.0, 1.0, 2.0, 50.0])], ids=["plain", "clipped"])
def test_quantiles_are_the_smallest_that_keep_the_promise(noise: CentredNoise, counts: np.ndarray | None) -> None:
    for miss in (0.5, 0.05, 1e-6):
        t = worst_quantile(noise, 5, miss, counts)
        assert float(worst_beyond(noise, 5, np.array([t]), counts)[0]) <= miss * (1 + 1e-12)
        below = t - 1 if noise.integer else t * (1 - 1e-9)
        if below >= 0:
            assert float(worst_beyond(noise, 5, np.array([below]), counts)[0]) > miss


def test_a_joint_quantile_of_different_noises() -> None:
    noises: list[CentredNoise] = [LaplaceNoise(1.0), LaplaceNoise(3.0)]
    t = joint_quantile(noises, 0.05)
    assert (1 - math.exp(-t)) * (1 - math.exp(-t / 3)) == pytest.approx(0.95, rel=1e-12)


# --- lower bounds ---------------------------------------------------------------------------------------------------


def test_the_bound_for_unbiased_pure_dp_is_attained_by_debiased_randomized_response() -> None:
    for epsilon in (0.01, 1.0, 5.0):
        truth = 1 / (1 + math.exp(-epsilon))
        assert truth * (1 - truth) / (2 * truth - 1) ** 2 == pytest.approx(pure_floor(epsilon), rel=1e-10)


def test_the_bound_for_gaussian_privacy_is_below_the_noise_and_close_to_it() -> None:
    for mu in (0.01, 0.3, 2.0, 30.0):
        assert 0 <= gaussian_floor(mu) <= 1 / mu**2
    assert gaussian_floor(0.01) == pytest.approx(1e4, rel=1e-4)


def test_the_bounds_of_the_course() -> None:
    for epsilon in (0.01, 0.2, 0.5, 2.0):
        for n in (1, 5, 300):
            k = np.arange(1.0, n + 1)
            direct = (k * k / (4 * (1 + np.exp(np.minimum(2 * k * epsilon, 700.0))))).max() / n**2
            assert course_floor(epsilon, 1.0, n) == pytest.approx(direct, rel=1e-12)
            assert course_floor(epsilon, 1.0, n) <= pure_floor(epsilon) / n**2
    one = Dataset([0.5], 0.0, 1.0)
    said = [f.theorem for f in pair("mean_laplace", epsilon=0.1).closed_forms(one) if "⌈" in f.theorem]
    assert said == []  # errata 47: D^2/(68 eps^2) needs ceil(1/(2 eps)) <= n
    many = [f for f in pair("mean_laplace", epsilon=0.1).closed_forms(SMALL) if "⌈" in f.theorem]
    assert many[0].value == pytest.approx(100**2 / (68 * 0.1**2 * 60**2), rel=1e-12)


# --- what the sources got wrong -------------------------------------------------------------------------------------


def test_frequencies_have_the_error_of_counts_over_n() -> None:
    """Errata 5: frequencies move by 2/n, so their squared error is 8k/(n eps)^2, not the 8k/eps^2 of counts."""
    for epsilon in (0.2, 1.0, 4.0):
        mse = {}
        for unit in ("counts", "frequencies"):
            chosen = pair("histogram_laplace", epsilon=epsilon, unit=unit)
            mse[unit] = next(f.value for f in chosen.closed_forms(SMALL) if f.measure == "mse" and f.kind == "exact")
            assert chosen.region.text == f"histogram({epsilon:g})"
        assert mse["counts"] == pytest.approx(8 * 10 / epsilon**2, rel=1e-14)
        assert mse["frequencies"] == pytest.approx(8 * 10 / (60 * epsilon) ** 2, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "tv"), [(0.5, 0.123849), (1.0, 0.241837), (3.0, 0.609522)])
def test_the_region_of_a_histogram_is_that_of_two_cells(epsilon: float, tv: float) -> None:
    assert pair("histogram_laplace", epsilon=epsilon).region.total_variation == pytest.approx(tv, abs=1e-6)
    one = pair("histogram_laplace", epsilon=epsilon, neighbours="add/remove").region
    assert one.total_variation == pytest.approx(-math.expm1(-epsilon / 2), rel=1e-12)
    assert one.neighbours == "add/remove"


def test_the_region_of_a_geometric_histogram_by_enumeration() -> None:
    epsilon, j = 0.8, np.arange(-150, 151)
    weight = np.tanh(epsilon / 4) * np.exp(-epsilon / 2 * np.abs(j))
    moved = np.tanh(epsilon / 4) * np.exp(-epsilon / 2 * np.abs(j - 1))
    here, there = np.outer(weight, moved), np.outer(moved, weight)
    region = pair("histogram_geometric", epsilon=epsilon).region
    for at in (0.0, 0.3, 0.7):
        direct = np.maximum(there - math.exp(at) * here, 0).sum()
        assert region.delta(at) == pytest.approx(direct, rel=1e-9)
    assert region.neighbours == "substitution"


def test_the_squared_error_of_a_mean_is_a_variance() -> None:
    """Finding 9 of the peers: eps = .5, delta = .1, diameter 10, n = 50 gives .8082, whose root .8990 was shown."""
    data = Dataset(np.linspace(0, 10, 50), 0.0, 10.0)
    chosen = pair("mean_gaussian", epsilon=0.5, delta=0.1, calibration="classical")
    mse = next(f.value for f in chosen.closed_forms(data) if f.measure == "mse")
    assert mse == pytest.approx(0.8082, abs=5e-5)
    assert math.sqrt(mse) == pytest.approx(0.8990, abs=5e-5)
    box = Dataset.example(50, 4)
    per = {f.measure: f.value for f in pair("mean_gaussian", d=4).closed_forms(box) if f.kind == "exact"}
    sigma = 200.0 * unit_sigma(0.5, 1e-5) / 50  # the box of four sides 100 has diameter 200
    assert (per["mse"], per["mse_per_dimension"]) == pytest.approx((4 * sigma**2, sigma**2), rel=1e-12)


def test_the_laplace_mean_spends_epsilon_over_d_in_every_column() -> None:
    data = Dataset(np.array([[0.0, 1.0], [1.0, 5.0]]), np.array([0.0, 1.0]), np.array([1.0, 5.0]))
    noises = pair("mean_laplace", epsilon=0.6, d=2).noises(data, 2)  # type: ignore[attr-defined]
    assert [w / 2 / noise.scale for w, noise in zip((1.0, 4.0), noises, strict=True)] == pytest.approx([0.3, 0.3])
    assert pair("mean_laplace", epsilon=0.6, d=2).region.text == 'assume(laplace(0.3)^2, "substitution")'


def test_three_theorems_for_many_queries() -> None:
    names = ("gdp", "zcdp", "kov")
    queries: dict[str, Any] = {name: pair("queries_gaussian", delta=1e-5, k=10, calibration=name) for name in names}
    sigma = {name: query.sigma for name, query in queries.items()}
    assert sigma == pytest.approx({"gdp": 11.797293, "zcdp": 15.496916, "kov": 21.459686}, rel=1e-6)
    assert all(query.region.delta(1.0) <= 1e-5 for query in queries.values())
    assert queries["gdp"].region.delta(1.0) == pytest.approx(1e-5, rel=1e-9)
    rho = 10 / (2 * sigma["zcdp"] ** 2)
    assert rho + 2 * math.sqrt(rho * math.log(1e5)) == pytest.approx(1.0, rel=1e-12)


def test_the_condition_of_kov_holds_as_corrected_and_not_as_printed() -> None:
    def delta(variance: float, epsilon: float) -> float:
        return float(GaussianCurve(1 / math.sqrt(variance)).delta_bounds(np.array([epsilon]))[1][0])

    for epsilon in np.geomspace(1e-2, 100, 25):
        for target in (0.5, 0.1, 1e-3, 1e-9):
            sigma = math.sqrt(max(4 * math.log(math.e + epsilon / target) / epsilon**2, 2 / epsilon))
            assert delta(sigma**2, float(epsilon)) <= target
            assert pair(
                "queries_gaussian", epsilon=epsilon, delta=target, k=1, calibration="kov"
            ).sigma == pytest.approx(sigma)  # type: ignore[attr-defined]
    printed = max(4 * math.log(math.e + 60 / 0.1) / 60**2, 1 / (4 * 60))
    assert delta(printed, 60.0) == pytest.approx(0.783, abs=1e-3)


def test_the_classical_noise_shows_its_true_region() -> None:
    chosen = pair("mean_gaussian", epsilon=10.0, delta=1e-5, calibration="classical")
    assert chosen.region.delta(10.0) == pytest.approx(2.265e-5, rel=1e-3)
    assert pair("mean_gaussian", epsilon=10.0, delta=1e-5).region.delta(10.0) <= 1e-5


def test_the_exact_region_of_an_integer_sum_knows_the_bounds() -> None:
    data = Dataset([0.0, 3.0, 2.0], 0.0, 3.0)
    chosen = pair("sum_geometric", epsilon=1.0)
    assert chosen.region_at(data).total_variation == pytest.approx(0.401797, abs=1e-6)
    assert chosen.region.total_variation == pytest.approx(math.tanh(0.5), rel=1e-12)


def test_all_pairs_have_their_facts() -> None:
    own = [PAIRS[name] for name, _ in CASES]
    for cls in own:
        for fact in ("name", "title", "query", "mechanism", "formula", "assumptions", "reference", "measure"):
            assert getattr(cls, fact)
        assert all(not p.required and p.meaning for p in cls.parameters())
        chosen = cls()
        assert chosen.measure == chosen.measures[0].name


def test_every_record_is_in_one_bin() -> None:
    values = np.random.default_rng(3).uniform(-0.3, 0.7, 5000)
    values[:2] = -0.3, 0.7
    data = Dataset(values, -0.3, 0.7)
    for bins in (2, 7, 100):
        chosen = pair("histogram_laplace", bins=bins)
        edges = -0.3 + np.arange(bins + 1) / bins
        inside = chosen.answer(data)
        assert inside.sum() == 5000
        assert inside[1] == np.count_nonzero((values >= edges[1]) & (values < edges[2])) + (bins == 2)
        assert len(chosen.labels(data)) == bins
