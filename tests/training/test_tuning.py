"""The best of several runs: against every ranking of small mechanisms, against Rényi bounds, and by its own formula."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpcore import DomainError, best_of, dp, gdp, parse
from dpcore.curves.composition import compose
from dpcore.curves.selected import RunCount, Selection
from dpcore.regions.guarantees import Pmf
from dpcore.regions.selection import BestOf
from dpcore.training import tuned, tuning_costs

LAWS = [
    RunCount(5.0, 1.0),
    RunCount(3.0, 0.0),
    RunCount(8.0, math.inf),
    RunCount(2.5, 0.4),
    RunCount(40.0, 2.0),
    RunCount(0.7, math.inf),
]


def generating(runs: RunCount, x: np.ndarray) -> np.ndarray:
    """E[x^K], from the definition."""
    if math.isinf(runs.shape):
        return np.exp(runs.mean * (x - 1.0))
    g, s = runs.gamma, runs.shape
    if s == 0.0:
        return np.log(1.0 - (1.0 - g) * x) / math.log(g)
    return ((1.0 - (1.0 - g) * x) ** -s - 1.0) / (g**-s - 1.0)


@pytest.mark.parametrize("runs", LAWS[:5])
def test_the_law_has_its_mean_and_its_probabilities(runs: RunCount) -> None:
    step = 1e-6
    slope = (generating(runs, np.array([1.0])) - generating(runs, np.array([1.0 - step]))) / step
    assert slope[0] == pytest.approx(runs.mean, rel=1e-3)
    share = np.array([0.0, 1e-3, 0.2, 1.0])
    assert runs.some(share) == pytest.approx(1.0 - generating(runs, 1.0 - share), abs=1e-12)
    assert runs.all(share) == pytest.approx(generating(runs, share) - generating(runs, np.zeros(1)), abs=1e-12)


def worst(p: np.ndarray, q: np.ndarray, runs: RunCount, epsilon: np.ndarray) -> np.ndarray:
    """Delta of the best of K runs under the worst ranking, by trying all."""
    worst_delta = np.zeros(epsilon.size)
    for ranking in itertools.permutations(range(p.size)):
        for a, b in ((p, q), (q, p)):
            first, second = (
                np.diff(generating(runs, np.concatenate(([0.0], np.cumsum(law[list(ranking)]))))) for law in (a, b)
            )
            delta = np.maximum(first - np.exp(epsilon)[:, None] * second, 0.0).sum(axis=1)
            worst_delta = np.maximum(worst_delta, delta)
    return worst_delta


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(LAWS))
@example(1, 5, LAWS[2])
def test_no_ranking_reveals_more(seed: int, size: int, runs: RunCount) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(size))
    q = p * np.exp(rng.normal(0.0, 0.7, size))
    q /= q.sum()
    epsilon = np.array([0.0, 0.2, 0.5, 1.0, 1.5, 2.5, 4.0])
    region = BestOf(Pmf(tuple(p.tolist()), tuple(q.tolist())), runs.mean, runs.shape)
    low, high = region.delta_bounds(epsilon)
    assert (worst(p, q, runs, epsilon) <= high + 1e-12).all()
    assert (low <= high).all()


def test_the_lower_side_is_reached_by_a_fine_mechanism() -> None:
    """Of Gaussian noise cut into eight cells the worst ranking reveals about what the lower side says, and not more."""
    from scipy.special import ndtr

    edges = np.concatenate(([-np.inf], np.linspace(-1.5, 2.5, 6), [np.inf]))
    p, q = np.diff(ndtr(edges)), np.diff(ndtr(edges - 1.0))
    runs = RunCount(5.0, 1.0)
    low, _ = BestOf(Pmf(tuple(p.tolist()), tuple(q.tolist())), 5.0, 1.0).delta_bounds(np.array([0.5, 1.0, 1.5]))
    reached = worst(p / p.sum(), q / q.sum(), runs, np.array([0.5, 1.0, 1.5]))
    assert (low <= reached * 1.5 + 1e-9).all()
    assert (low >= 0.2 * reached).all()


@pytest.mark.parametrize("shape", [0.0, 1.0])
@pytest.mark.parametrize("mean", [2.0, 10.0, 300.0])
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_it_is_not_above_the_renyi_bound(mu: float, mean: float, shape: float) -> None:
    """Papernot, Steinke 2022, Theorem 2, with the best of many orders, and the tight conversion."""
    runs, delta = RunCount(mean, shape), 1e-5
    order, other = 1.0 + np.geomspace(0.05, 200.0, 200)[:, None], np.geomspace(1.0, 500.0, 200)[None, :]
    divergence = (
        order * mu**2 / 2
        + (1 + shape) * (1 - 1 / other) * other * mu**2 / 2
        + (1 + shape) * math.log(1 / runs.gamma) / other
        + math.log(mean) / (order - 1)
    )
    bound = divergence + np.log1p(-1 / order) - (math.log(delta) + np.log(order)) / (order - 1)
    low, high = best_of(gdp(mu), mean, shape).epsilon_bounds([delta])
    assert low[0] <= high[0] <= bound.min()
    assert high[0] >= gdp(mu).epsilon(delta)


@pytest.mark.parametrize(("shape", "factor"), [(0.0, 2.0), (1.0, 3.0), (2.0, 4.0)])
def test_pure_privacy_costs_at_most_two_plus_the_shape(shape: float, factor: float) -> None:
    for epsilon, mean in ((0.1, 3.0), (1.0, 20.0), (2.0, 1e5)):
        found = float(best_of(dp(epsilon), mean, shape).epsilon(0.0))
        assert epsilon < found <= factor * epsilon * (1 + 1e-9)
    assert float(best_of(dp(1), 1e6, shape).epsilon(0.0)) == pytest.approx(factor, rel=1e-3)


def test_the_polygon_is_close_to_the_formula() -> None:
    region, runs, delta = gdp(1), RunCount(10.0, 1.0), 1e-5
    ((shift, rest),) = runs.shifts(region.curve)
    assert rest == 0.0
    grid = np.linspace(6.0, 7.0, 2001)
    exact = grid[runs.some(region.delta_bounds(grid - shift)[1]) <= delta][0]
    assert float(best_of(region, 10).epsilon(delta)) == pytest.approx(exact, abs=1e-3)


def test_the_table_of_costs() -> None:
    rows = tuning_costs(parse("poisson_gaussian(1.1, 0.01)^1000"), 20).set_index("law")
    epsilon = rows["epsilon"]
    assert epsilon["one"] < epsilon["logarithmic"] < epsilon["geometric"] < epsilon["poisson"] < epsilon["fixed"]
    assert rows.loc["fixed", "epsilon"] == float(parse("poisson_gaussian(1.1, 0.01)^20000").epsilon(1e-5))
    assert (rows["epsilon_lower"] <= epsilon).all()
    assert set(rows["neighbours"]) == {"add/remove"}
    assert rows.loc["geometric", "words"].startswith("The best of a geometric number of runs, 20 on average: ε at most")
    assert tuned(dp(1), 1, "fixed") == dp(1)
    assert str(tuned(dp(1), 2.5, "fixed")) == "dp(1)^3"
    assert str(tuned(dp(1), 5, "poisson")) == "best_of(dp(1), 5, inf)"


def test_what_is_refused() -> None:
    for call, words in [
        (lambda: best_of(dp(1), 0.5), "mean must be"),
        (lambda: best_of(dp(1), 2, -1), "shape must be"),
        (lambda: tuned(dp(1), 0.5), "runs must be"),
        (lambda: tuned(dp(1), 5, "binomial"), "law"),
    ]:
        with pytest.raises(DomainError, match=words):
            call()
    assert best_of(dp(math.inf), 5).delta(3.0) == 1.0
    assert best_of(dp(0), 5).delta(0.0) == 0.0
    assert 0.0 < best_of(dp(0, 0.1), 5).delta(0.0) <= 0.5


@pytest.mark.long
def test_the_selection_of_a_long_run_is_tight() -> None:
    # gdp(0.598) has larger deltas than this run down to 1e-11; the upper delta of the run once had a floor above 1e-30, and a grid
    # down to that delta was so coarse that the epsilon of the selection was twice as large
    run = parse("poisson_gaussian(1.1, 0.004266666666666667)^14063")
    assert 0.9 < float(tuned(run, 20).epsilon(1e-5)) / float(tuned(gdp(0.598), 20).epsilon(1e-5)) < 1.0


@pytest.mark.parametrize("shape", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("mean", [1.0 + 1e-9, 1.001, 3.0, 1e6])
def test_the_law_in_use_has_at_least_the_mean_wanted(mean: float, shape: float) -> None:
    """In 40 digits: never fewer runs than wanted, hardly more, and the probabilities of the law with exactly this parameter."""
    from mpmath import exp, expm1, log1p, mp, mpf, workdps

    runs = RunCount(mean, shape)
    with workdps(40):
        g, s = exp(mpf(runs.log_gamma)), mpf(shape)
        odds = expm1(-mpf(runs.log_gamma))
        true = odds / -mpf(runs.log_gamma) if shape == 0.0 else s * (1 - g) / (g * (1 - g**s))
        assert 0 <= true / mpf(mean) - 1 < 1e-13
        for share in (1e-12, 1e-3, 0.3, 1.0):
            size = log1p(mpf(share) * odds)
            wanted = size / log1p(odds) if shape == 0.0 else expm1(-s * size) / expm1(-s * log1p(odds))
            assert abs(mpf(float(runs.some(np.array([share]))[0])) / wanted - 1) < 40 * mpf(2) ** -53
    assert mp.dps == 15


@pytest.mark.parametrize(("text", "copies"), [("gaussian(1)", 100), ("exponential(1)", 100), ("laplace(0.5)", 10_000)])
def test_many_copies_of_a_selection_lose_little_by_fewer_statements(text: str, copies: int) -> None:
    whole = parse(f"best_of({text}, 10)").pair
    assert isinstance(whole, Selection)
    fewer = whole.for_copies(copies)
    assert whole.for_copies(99) is whole
    at = np.linspace(0.0, 6.0, 40)
    fine, coarse = whole.delta_bounds(at)[1], fewer.delta_bounds(at)[1]
    assert (
        coarse >= fine * (1 - 5e-3)
    ).all()  # between its statements a polygon is above the bound that all of them state
    ten = [float(compose([(curve.outer, 10)]).epsilon_bounds(np.array([1e-5]))[1][0]) for curve in (whole, fewer)]
    assert ten[0] * (1 - 1e-4) <= ten[1] <= ten[0] * 1.02
