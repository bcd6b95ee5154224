"""The Johnson-Lindenstrauss mechanism for cuts: its exact region, its law, and what composition theorems ask."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.regions.guarantees import DP
from dpcore.utility import Dataset, pair
from dpcore.utility.cuts import excess, relative_quantile, rows_for, weight_for
from dpcore.utility.spread import Spread, spread_delta


def laplacian(weights: np.ndarray) -> np.ndarray:
    return np.diag(weights.sum(axis=0)) - weights


def mixed(weights: np.ndarray, w: float) -> np.ndarray:
    n = len(weights)
    return (w / n + (1 - w / n) * weights) * (1 - np.eye(n))


def random_graph(rng: np.random.Generator, n: int) -> np.ndarray:
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return upper + upper.T


@pytest.mark.parametrize(
    ("rows", "change", "epsilon"), [(20, 0.3, 0.5), (738, 0.006, 0.5), (738, 0.006, 0.0), (1, 5.0, 1.0)]
)
def test_the_profile_in_high_precision(rows: int, change: float, epsilon: float) -> None:
    with mpmath.workdps(40):
        a, c, e = mpmath.mpf(rows) / 2, mpmath.mpf(change), mpmath.mpf(epsilon)
        x1, y1 = (e + a * mpmath.log1p(c)) / c, (a * mpmath.log1p(c) - e) / c
        upper = mpmath.gammainc(a, x1, mpmath.inf, regularized=True)
        upper -= mpmath.e**e * mpmath.gammainc(a, x1 * (1 + c), mpmath.inf, regularized=True)
        lower = mpmath.mpf(0)
        if y1 > 0:
            lower = mpmath.gammainc(a, 0, y1 * (1 + c), regularized=True)
            lower -= mpmath.e**e * mpmath.gammainc(a, 0, y1, regularized=True)
    at = np.array([epsilon])
    assert float(Spread(rows, change).delta_bounds(at)[1][0]) == pytest.approx(float(upper), rel=1e-11)
    assert float(Spread(rows, change).inverse().delta_bounds(at)[1][0]) == pytest.approx(float(lower), rel=1e-11)


def test_betas_and_deltas_are_the_same_curve() -> None:
    for curve in (Spread(30, 0.4), Spread(30, 0.4).inverse()):
        alpha = np.linspace(0, 1, 20001)
        beta = curve.beta_bounds(alpha)[0]
        for epsilon in (-0.5, 0.0, 0.8):
            direct = (1 - beta - math.exp(epsilon) * alpha).max()
            assert float(curve.delta_bounds(np.array([epsilon]))[1][0]) == pytest.approx(direct, abs=1e-7)
    back = Spread(30, 0.4).inverse().beta_bounds(Spread(30, 0.4).beta_bounds(np.array([0.2]))[0])[0]
    assert float(back[0]) == pytest.approx(0.2, rel=1e-10)


def test_two_laws_that_hardly_differ_have_a_margin() -> None:
    low, high = Spread(3, 1e-9).delta_bounds(np.array([0.0, 1e-9]))
    assert not Spread(3, 1e-9).exact
    assert (low <= high).all()
    assert (high - low <= 2.1e-14).all()
    assert (Spread(3, 1e-9).beta_bounds(np.array([0.0, 0.5, 1.0]))[0] <= np.array([1.0, 0.5, 0.0])).all()


def test_no_graph_lets_a_row_change_by_more() -> None:
    rng = np.random.default_rng(4)
    w, n = 3.0, 7
    worst = excess(w, n)
    for weights in [np.zeros((n, n)), *(random_graph(rng, n) for _ in range(20))]:
        weights[0, 1] = weights[1, 0] = 0.0
        other = weights.copy()
        other[0, 1] = other[1, 0] = 1.0
        before, after = laplacian(mixed(weights, w)), laplacian(mixed(other, w))
        inner = np.linalg.svd(np.ones((1, n)))[2][1:]  # the space across the all-ones vector
        here, there = inner @ before @ inner.T, inner @ after @ inner.T
        ratios = np.sort(np.linalg.eigvals(np.linalg.solve(here, there)).real)
        assert ratios[:-1] == pytest.approx(np.ones(n - 2), abs=1e-9)  # one direction changes, and by 1 + c at most
        assert ratios[-1] <= 1 + worst + 1e-9
        if not weights.any():
            assert ratios[-1] == pytest.approx(1 + worst, rel=1e-9)


def test_the_law_of_the_release_is_that_of_a_real_sketch() -> None:
    rng = np.random.default_rng(5)
    n, w, r, count = 8, 2.0, 12, 4000
    graph = mixed(random_graph(rng, n), w)
    i, j = np.triu_indices(n, 1)
    edges = np.sqrt(graph[i, j])[:, None] * (np.eye(n)[i] - np.eye(n)[j])
    side = np.array([1.0, 1.0, 1.0, 0, 0, 0, 0, 0])
    across = edges @ side
    quadratic = ((rng.normal(size=(count, r, len(i))) @ across) ** 2).sum(axis=1) / r
    v = float(across @ across)
    assert v == pytest.approx(side @ laplacian(graph) @ side, rel=1e-12)
    for power, expected in ((1, v), (2, v * v * (1 + 2 / r))):
        sample = quadratic**power
        assert sample.mean() == pytest.approx(expected, abs=4 * sample.std() / math.sqrt(count))


@pytest.mark.parametrize("composition", ["basic", "optimal", "exact"])
def test_the_true_region_keeps_the_promise(composition: str) -> None:
    for epsilon, delta in ((0.1, 1e-6), (0.9, 1e-3)):
        chosen = pair("cuts_johnson_lindenstrauss", epsilon=epsilon, delta=delta, composition=composition)
        true = float(chosen.region.delta(epsilon))
        assert true <= delta
        if composition == "exact":
            assert true == pytest.approx(delta, rel=1e-8)


def test_what_the_three_ways_ask() -> None:
    rows = rows_for(0.2, 0.05)
    assert rows == math.ceil(8 * math.log(40) / 0.04)
    basic, optimal, exact = (weight_for(0.5, 1e-6, rows, 10**6, c) for c in ("basic", "optimal", "exact"))
    assert basic == pytest.approx(4 * math.sqrt(4 * rows * math.log(2e6)) * math.log(4 * rows / 1e-6) / 0.5, rel=1e-14)
    assert optimal == pytest.approx(basic * math.sqrt(math.log(math.e + 1e6) / math.log(2e6)), rel=1e-14)
    assert optimal < basic
    assert exact < optimal / 100  # the row's own region, instead of a bound on each of its rows
    # optimal composition helps only if 2 (1 - eps)/delta > e
    assert weight_for(0.9, 0.2, 50, 10**9, "optimal") > weight_for(0.9, 0.2, 50, 10**9, "basic")


def test_the_rows_compose_as_claimed() -> None:
    r = 50
    for epsilon, delta in ((0.5, 1e-5), (0.9, 1e-3)):
        for inside in (2 / delta, math.e + 2 * epsilon / delta):
            row = epsilon / math.sqrt(4 * r * math.log(inside))
            assert float((DP(row, delta / (2 * r)) ** r).delta(epsilon)) <= delta
            w = 4 / row * math.log(2 / (delta / (2 * r)))
            assert spread_delta(1, 2 / w, row) <= delta / (2 * r)


def test_the_lemma_is_above_the_exact_quantile() -> None:
    for eta in (0.05, 0.3, 0.9):
        for miss in (0.5, 0.05, 1e-4):
            u = relative_quantile(rows_for(eta, miss), miss)
            assert u <= eta


def test_what_is_refused() -> None:
    data = Dataset.example(10)
    with pytest.raises(DomainError, match=r"epsilon of basic composition must be a number in \(0, 1\), got"):
        pair("cuts_johnson_lindenstrauss", epsilon=1.5, composition="basic").closed_forms(data)
    with pytest.raises(DomainError, match="vertices must exceed the weight"):
        pair("cuts_johnson_lindenstrauss", vertices=1000, side=10).closed_forms(data)
    with pytest.raises(DomainError, match="at most half"):
        pair("cuts_johnson_lindenstrauss", side=600_000)
